"""The worker process, from its parent's side: started when needed, killed when late, never shared by two processes."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.engine import wire
from discreet.ledger import forks
from discreet.schema.limits import Limits

_MOST_REPLY = 2**33
_Pair = tuple[subprocess.Popen[bytes], socket.socket]


class WorkerFailed(Exception):
    """The worker gave no result; `cause` is a public word, used only in errors for the curator."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Process:
    """One worker at a time behind one lock."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._lock = threading.RLock()
        self._pair: list[_Pair] = []  # one worker or none
        self._last = weakref.finalize(self, _end, self._pair)
        forks.call_in_child(self, Process.forget)

    def ask(self, verb: str, *arguments: Any, seconds: float, on_step: Callable[[str], None] | None = None) -> Any:
        """Return the worker's result, or raise `WorkerFailed` without the reason."""
        with self._lock:
            try:
                done, result = self._exchange((verb, seconds, arguments), time.monotonic() + seconds, on_step)
            except (OSError, EOFError, ValueError, TypeError, MemoryError, AttributeError, ImportError):
                done, result = False, "limit"
            except BaseException:  # an interrupt leaves half a message behind
                _end(self._pair)
                raise
            if not done:
                _end(self._pair)
        if not done:
            raise WorkerFailed(result)
        return result

    def start(self) -> None:
        """Start a worker unless one runs; a failure shows when it is asked."""
        with self._lock, contextlib.suppress(OSError):
            self._start()

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            _end(self._pair)

    def forget(self) -> None:
        """Forget the worker in a forked child: it is the parent's, and so are its pipe and lock."""
        self._lock = threading.RLock()
        while self._pair:
            child, channel = self._pair.pop()
            channel.close()
            child.returncode = 0  # not ours to wait for

    def _exchange(self, request: Any, until: float, on_step: Callable[[str], None] | None) -> tuple[bool, Any]:
        channel = self._start()
        channel.settimeout(max(until - time.monotonic(), 1e-3))
        wire.send(channel, request)
        while True:
            kind, content = wire.receive(channel, _MOST_REPLY, until=until)
            if kind != "step":
                return kind == "done", content
            if on_step is not None:
                on_step(content)

    def _start(self) -> socket.socket:
        if self._pair and self._pair[0][0].poll() is None:
            return self._pair[0][1]
        _end(self._pair)
        ours, theirs = socket.socketpair()
        with theirs:
            home = str(Path(__file__).parents[2])
            paths = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
            command = [sys.executable, "-P", "-m", "discreet.engine.worker"]  # -P: no module from the working folder
            facts = [str(number) for number in (theirs.fileno(), self.limits.memory, self.limits.threads)]
            child = subprocess.Popen(
                command + facts,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=os.environ | {"PYTHONPATH": paths, "TZ": "UTC", "OPENBLAS_NUM_THREADS": "1"},
            )
        self._pair.append((child, ours))
        return ours


def _end(pair: "list[_Pair]") -> None:
    while pair:
        child, channel = pair.pop()
        channel.close()
        with contextlib.suppress(OSError):
            child.kill()
        child.wait()


_spare: "list[Process]" = []


def start_ahead(limits: Limits) -> None:
    """Start a worker before there is an engine for it, so that both start at the same time."""
    if not _spare:
        _spare.append(Process(limits))
        _spare[0].start()


def process(limits: Limits) -> Process:
    """The worker that was started ahead, if it has these limits; else one that starts when needed."""
    if not _spare:
        return Process(limits)
    ahead = _spare.pop()
    if ahead.limits != limits:
        ahead.close()
        return Process(limits)
    return ahead
