"""Sum the CPU seconds of each folder of tests, fail above twice its budget, and end a test that hangs, by its name.

A pytest plugin for runs where `DISCREET_CI` is set; `budget.toml` beside it holds the numbers.  CPU time is that of the
process that runs a test, with all its threads, and of its children that have ended, with theirs.  Imports at collection
belong to no folder.  Tests marked `long` are neither summed nor ended: the budgets are those of `-m "not long"`.
"""

import faulthandler
import os
import resource
import signal
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

TOLERANCE = 2  # the CPU time of one test varies by half on a shared machine
GRACE = 30  # seconds until a process is ended from C, should a call into C keep the timer's thread from running
SENT = "cpu_seconds"  # under this name a worker of xdist hands its sums to the controller


@dataclass(frozen=True)
class Budget:
    """What `budget.toml` says: CPU seconds by folder, and the seconds that one test may last."""

    cpu_seconds: Mapping[str, float]
    test_seconds: float

    @classmethod
    def read(cls, path: Path) -> "Budget":
        return cls(**tomllib.loads(path.read_text()))

    def errors(self, spent: Mapping[str, float]) -> list[str]:
        """One sentence for each folder that took more than twice its budget, or has none."""
        complaints = []
        for folder, seconds in sorted(spent.items()):
            budget = self.cpu_seconds.get(folder)
            if budget is None:
                complaints.append(f"{folder} has no budget in budget.toml; it took {seconds:.1f} CPU seconds.")
            elif seconds > TOLERANCE * budget:
                complaints.append(
                    f"{folder} took {seconds:.1f} CPU seconds, more than {TOLERANCE} times its budget of {budget:g}."
                )
        return complaints


def folder_of(path: Path, tests: Path) -> str:
    """`tests/answer` for all that is below that folder, `tests` for the files beside it."""
    return "/".join((tests.name, *path.relative_to(tests).parts[:-1][:1]))


def folders(tests: Path) -> set[str]:
    """Every folder that needs a budget."""
    return {folder_of(path, tests) for path in tests.rglob("test_*.py")}


def cpu_seconds() -> float:
    """CPU seconds, user and system, of this process and of its children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


class Recorder:
    """The plugin: xdist workers sum and send, the controller adds up and judges; without xdist it does both."""

    def __init__(self, tests: Path) -> None:
        self._tests, self._budget = tests, Budget.read(tests / "budget.toml")
        self._spent: Counter[str] = Counter()
        self._stderr = os.dup(2)  # tests run while 2 is captured

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if item.get_closest_marker("long"):
            return (yield)
        before = cpu_seconds()
        with ended_after(self._budget.test_seconds, item.nodeid, self._stderr):
            result = yield
        self._spent[folder_of(item.path, self._tests)] += cpu_seconds() - before
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._spent.update(getattr(node, "workeroutput", {}).get(SENT, {}))  # nothing from a worker that crashed

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str) -> None:
        pytest.exit(f"The process that ran {crashitem} ended before it.", returncode=pytest.ExitCode.TESTS_FAILED)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[SENT] = dict(self._spent)
        elif self._budget.errors(self._spent) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._spent:
            return
        terminalreporter.section("CPU seconds of each folder, and its budget")
        for folder, seconds in sorted(self._spent.items()):
            budget = self._budget.cpu_seconds.get(folder, "none")
            terminalreporter.write_line(f"{folder:24} {seconds:8.1f} {budget:>8}")
        terminalreporter.write_line(f"{'all':24} {self._spent.total():8.1f}")
        for error in self._budget.errors(self._spent):
            terminalreporter.write_line(f"ERROR {error}", red=True)


@contextmanager
def ended_after(seconds: float, name: str, stderr: int) -> Iterator[None]:
    """End this process if the block lasts longer, after its name and the stack of each thread are on `stderr`.

    Not by SIGALRM, which tests use themselves.  xdist then reports the worker as crashed while it ran that test.
    """
    timer = Timer(seconds, _end, [f"{name} did not end within {seconds:g} seconds.", stderr])
    timer.daemon = True
    timer.start()
    faulthandler.dump_traceback_later(seconds + GRACE, file=stderr, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        timer.cancel()


def _end(message: str, stderr: int) -> None:
    os.write(stderr, f"\n{message}\n".encode())
    faulthandler.dump_traceback(file=stderr)
    own = os.getpid()
    descendants = list(_descendants(own))  # a forked one would hold the line to the controller open
    if os.fork():
        os._exit(1)
    while os.getppid() == own:  # a test whose child is killed before it goes on, and might pass
        time.sleep(0.01)
    for process in descendants:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
    os._exit(0)


def _descendants(process: int) -> Iterator[int]:
    """Children, their children and so on; none where the system does not list them (other than Linux)."""
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # that thread or process has just ended
            for child in map(int, listed.read_text().split()):
                yield from _descendants(child)
                yield child
