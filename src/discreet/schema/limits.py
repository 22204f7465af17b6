"""The time and memory that the engine may take: public numbers, fixed before any row is read.

Beyond them a question fails, and whether it does may depend on rows; so they are facts of the dataset, in its TOML.
"""

import os
from dataclasses import dataclass

from discreet import amounts
from discreet.errors import bad

GIBIBYTE = 2**30
LEAST_MEMORY = 2**26
MOST_MEMORY = 2**46
MOST_SECONDS = 10**7
MOST_THREADS = 1024


@dataclass(frozen=True)
class Limits:
    """Bytes of memory, seconds for the questions of one `run`, seconds for preparing, and threads.

    >>> Limits(memory=2**30, threads=2).seconds
    60
    """

    memory: int = 0  # 0 stands for half of the machine's memory
    seconds: float = 60
    prepare_seconds: float = 3600
    threads: int = 0  # 0 stands for one per processor

    def __post_init__(self) -> None:
        memory, threads = self.memory or half_of_memory(), self.threads or os.cpu_count() or 1
        object.__setattr__(self, "memory", amounts.count(memory, "memory", LEAST_MEMORY, MOST_MEMORY))
        object.__setattr__(self, "threads", amounts.count(threads, "threads", 1, MOST_THREADS))
        for field in ("seconds", "prepare_seconds"):
            _require_seconds(field, getattr(self, field))


def half_of_memory() -> int:
    """Half of the machine's memory in bytes; 4 GiB where the system does not say."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        memory = 2**33
    return min(max(memory // 2, LEAST_MEMORY), MOST_MEMORY)


def _require_seconds(name: str, value: object) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= MOST_SECONDS:  # type: ignore[operator]  # NaN fails the comparison too
        raise bad(name, f"must be a number of seconds above 0 and at most {MOST_SECONDS}", value, "Give, say, 60.")
