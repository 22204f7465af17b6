"""The process that reads the rows: limited in memory and processor time, silent, and ended with its parent.

Run as `python -m discreet.engine.worker FD MEMORY THREADS`; it serves requests on the socket FD.  A reply is
("step", …), ("done", result) or ("failed", cause), the cause one of three public words; after a failure it ends.
"""

import contextlib
import os
import resource
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from discreet.engine import connect, wire
from discreet.engine.prepare import COUNTED, FACTS, is_key

MOST_REQUEST = 2**31
_ALLOWANCE = 2**30  # address space of threads and libraries that the engine's own limit does not count
_PER_THREAD = 2**28
_HELD_SHARE = 8  # of the limit of memory, for rows of the last pass; what a kernel makes of them takes about as much
_ENDED = 0
_GRACE = 5  # seconds of processor time beyond what the parent waits


@dataclass
class Worker:
    """One connection to one prepared file, kept open between questions."""

    channel: socket.socket
    memory: int
    threads: int
    opened: tuple[Any, ...] = ()
    connection: Any = field(default=None, repr=False)
    held: Any = field(default=None, repr=False)

    def look(self, sources: list[str], statements: list[str]) -> list[list[tuple[Any, ...]]]:
        """Run statements about the source's names and types, not its rows."""
        with contextlib.closing(self._preparing(":memory:", sources, "")) as connection:
            return [connection.execute(statement).fetchall() for statement in statements]

    def prepare(
        self, path: str, sources: list[str], spill: str, keys: dict[str, str], steps: list[tuple[str, list[str]]]
    ) -> None:
        """Write the prepared file at `path`; keys are session variables, so that no SQL holds one."""
        self.close()
        with contextlib.closing(self._preparing(path, sources, spill)) as connection:
            for name, key in keys.items():
                connection.execute(f"SET VARIABLE {name} = ?", [key])
            for name, statements in steps:
                wire.send(self.channel, ("step", name))
                for statement in statements:
                    connection.execute(statement)
            connection.execute("CHECKPOINT")

    def facts(self, path: str) -> dict[str, str]:
        """Read the facts in the file, opened anew since another file may lie there now."""
        self.close()
        self.connection = connect.asking(path, memory=self.memory, threads=self.threads)
        self.opened = (path, _facts(self.connection))
        return dict(self.opened[1])

    def record(self, path: str, statement: str) -> None:
        """Replace the facts in the file."""
        self.close()
        with contextlib.closing(self._preparing(path, [], "")) as connection:
            connection.execute(statement)

    def run(self, path: str, expected: dict[str, str], statements: list[str]) -> list[dict[str, Any]]:
        """Run statements and return each one's columns, if the file's facts are those expected."""
        self._open(path, expected)
        return [_columns(self.connection, statement) for statement in statements]

    def load(self, kernel: str) -> None:
        """Import the kernel before the time of a pass begins."""
        from discreet.kernel.contract import kernel_of

        kernel_of(kernel)

    def sum(self, path: str, expected: dict[str, str], reading: Any, where: str) -> Any:
        """Sum a kernel over all units here, so that only one vector leaves."""
        from discreet.engine.chunks import chunks
        from discreet.kernel.add import sum_of_chunks
        from discreet.kernel.contract import kernel_of

        self._open(path, expected)
        rows = (path, sorted(expected.items()), reading.read, where)
        units = self._held_chunks().chunks(rows, lambda place: chunks(self.connection, reading.read, where, place))
        return sum_of_chunks(kernel_of(reading.kernel), units, reading.public)

    def _held_chunks(self) -> Any:
        """Chunks of the last pass; they are dropped with the file."""
        from discreet.engine.held import HeldChunks

        if self.held is None:
            self.held = HeldChunks(self.memory // _HELD_SHARE)
        return self.held

    def rows(self, path: str, expected: dict[str, str], reading: Any, where: str, place: Any) -> Any:
        """Read the next whole units; also return the place after them."""
        from discreet.engine.chunks import chunk_at

        self._open(path, expected)
        return chunk_at(self.connection, reading, where, place)

    def _open(self, path: str, expected: dict[str, str]) -> None:
        """Open the file; ValueError unless its facts are those expected."""
        if self.opened[:1] != (path,) or not expected.items() <= self.opened[1].items():
            self.facts(path)
        if not expected.items() <= self.opened[1].items():
            raise ValueError

    def close(self) -> None:
        """Close the file."""
        if self.connection is not None:
            self.connection.close()
        self.opened, self.connection, self.held = (), None, None

    def _preparing(self, path: str, sources: list[str], spill: str) -> Any:
        return connect.preparing(path, sources, memory=self.memory, threads=self.threads, spill=spill)


def _columns(connection: Any, statement: str) -> dict[str, Any]:
    """The columns of one SELECT: whole numbers as int64, a NULL among them refused; keys k0, k1, … as objects."""
    import duckdb
    import numpy as np

    parsed = connection.extract_statements(statement)
    if len(parsed) != 1 or parsed[0].type != duckdb.StatementType.SELECT:
        raise ValueError
    result = connection.execute(parsed[0])
    kinds = [(column[0], str(column[1])) for column in result.description]
    rows = result.fetchall() if any(is_key(name) for name, _ in kinds) else None
    plain = result.fetchnumpy() if rows is None else {}
    columns = {}
    for index, (name, kind) in enumerate(kinds):
        if is_key(name):
            columns[name] = np.fromiter((row[index] for row in rows or ()), dtype=object, count=len(rows or ()))
        elif kind != "BIGINT":
            raise TypeError
        elif rows is None:
            if np.ma.is_masked(plain[name]):
                raise TypeError
            columns[name] = np.asarray(plain[name], dtype=np.int64)
        else:
            columns[name] = np.array([int(row[index]) for row in rows], dtype=np.int64)
    if len(columns) != len(kinds):
        raise ValueError
    return columns


def _facts(connection: Any) -> dict[str, str]:
    """The facts in the file; ValueError where its tables no longer hold as many rows as they say."""
    result = connection.execute(f"SELECT * FROM {FACTS}")
    names = [column[0] for column in result.description]
    facts = dict(zip(names, result.fetchall()[0], strict=True))
    for name, table in COUNTED.items() if "format" in facts else ():  # files of format 2 say nothing of either
        if facts.pop(name, None) != str(connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]):
            raise ValueError
    return facts


def _cause(error: BaseException) -> str:
    """The public word for why preparing failed; questions are never told it."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        return "limit"
    full_disk = ("No space left", "Could not write", "Could not sync")
    return "write" if any(words in str(error) for words in full_disk) else "source"


def _limit_memory(memory: int, threads: int) -> None:
    """Forbid core dumps and files that others can read, and limit the address space."""
    os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import duckdb  # noqa: F401  # loaded now, so that its own address space is not counted
    import numpy as np  # noqa: F401

    used = 0
    with contextlib.suppress(OSError), open("/proc/self/statm") as pages:
        used = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    if used:  # elsewhere address space says nothing about memory
        limit = used + memory + _ALLOWANCE + _PER_THREAD * threads
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _limit_time(seconds: float, threads: int) -> None:
    """Limit processor time, so that the process ends even if its parent is gone and cannot kill it."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    limit = spent.ru_utime + spent.ru_stime + (seconds + _GRACE) * (threads + 1)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, resource.RLIM_INFINITY))


def _leave_with_parent(channel: socket.socket) -> None:
    watch = select.poll()
    watch.register(channel, 0)  # hang-up is reported unasked
    while not watch.poll(1000):
        pass
    os._exit(_ENDED)


def _serve(worker: Worker) -> None:
    verbs: dict[str, Callable[..., Any]] = {
        "look": worker.look,
        "prepare": worker.prepare,
        "facts": worker.facts,
        "record": worker.record,
        "run": worker.run,
        "load": worker.load,
        "sum": worker.sum,
        "rows": worker.rows,
    }
    while True:
        verb, seconds, arguments = wire.receive(worker.channel, MOST_REQUEST)
        _limit_time(seconds, worker.threads)
        wire.send(worker.channel, ("done", verbs[verb](*arguments)))


def main() -> None:
    """Serve requests until the parent hangs up or one fails."""
    number, memory, threads = map(int, sys.argv[1:4])
    channel = socket.socket(fileno=number)
    threading.Thread(target=_leave_with_parent, args=(channel,), daemon=True).start()
    _limit_memory(memory, threads)
    try:
        _serve(Worker(channel, memory, threads))
    except EOFError:
        os._exit(_ENDED)
    except BaseException as error:
        with contextlib.suppress(BaseException):
            wire.send(channel, ("failed", _cause(error)))
        os._exit(_ENDED)


if __name__ == "__main__":
    main()
