"""The engine of a rehearsal has the same worker, on invented rows, and shows why the worker failed.

A worker does not send its exception.  So after a failure, unless time ran out, the same request runs once more in this
process and raises the exception here.
"""

import pickle
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, cast

from discreet.engine import Engine
from discreet.engine.process import Process, WorkerFailed
from discreet.engine.worker import Worker

_EXPECTED = ("facts", "record")  # whose failures the engine itself knows what to do with


class RevealingEngine(Engine):
    """An engine whose failures have a cause; for invented rows only."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.process = cast("Process", _Telling(self.process))


class _Telling:
    """A worker's process that tells what went wrong."""

    def __init__(self, inside: Process) -> None:
        self._inside = inside

    def ask(self, verb: str, *arguments: Any, seconds: float, on_step: Callable[[str], None] | None = None) -> Any:
        """As `Process.ask`; the exception that led to `WorkerFailed` is raised in its place if it occurs again."""
        begun = time.monotonic()
        try:
            return self._inside.ask(verb, *arguments, seconds=seconds, on_step=on_step)
        except WorkerFailed as gone:
            reply = gone
        if verb not in _EXPECTED and time.monotonic() - begun < seconds:
            self._repeat(verb, arguments)
        raise reply

    def close(self) -> None:
        """As `Process.close`."""
        self._inside.close()

    def _repeat(self, verb: str, arguments: tuple[Any, ...]) -> None:
        """Run the same request in this process, and pickle arguments and result as on the way to a worker."""
        pickle.dumps(arguments)
        limits = self._inside.limits
        with closing(Worker(cast("Any", _Deaf()), limits.memory, limits.threads)) as worker:
            here = (":memory:", *arguments[1:]) if verb == "prepare" else arguments
            pickle.dumps(getattr(worker, verb)(*here))


class _Deaf:
    """A channel that discards every message."""

    def sendall(self, message: bytes) -> None:
        """Discard the message."""
