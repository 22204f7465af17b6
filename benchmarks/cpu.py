"""CPU seconds of a process with all its children, also of children that are still at work.

An engine in a worker process of its own is charged to whoever asked it.  Standard library only, for any environment.
"""

import os
import resource
import time
from pathlib import Path

_SCHEDULED = 2  # of the three CPU clocks of a process on Linux, the exact one: clock_getcpuclockid(3)


class Family:
    """A clock of CPU seconds, user and system, of this process, its ended children and its running descendants.

    Reading it costs a millisecond or so, which it leaves out.
    """

    def __init__(self) -> None:
        self._looking = 0.0

    def __call__(self) -> float:
        own = time.process_time()
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        running = sum(_of(process) for process in descendants(os.getpid()))
        seconds = own - self._looking + ended.ru_utime + ended.ru_stime + running
        self._looking += time.process_time() - own
        return seconds


def descendants(process: int) -> list[int]:
    """Children, their children and so on; none where the system does not list them (other than Linux)."""
    processes: list[int] = []
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(child) for child in listed.read_text().split()]
        except OSError:  # that thread or process has just ended
            continue
        for child in children:
            processes += [child, *descendants(child)]
    return processes


def _of(process: int) -> float:
    """CPU seconds of another process, to the nanosecond; 0 if it has just ended and then counts among the ended."""
    try:
        return time.clock_gettime((~process << 3) | _SCHEDULED)
    except OSError:
        return 0.0
