"""Run a command of the user's own: within a time and a size, in a process group that ends with it, never by a shell.

A child that leaves the group, as one started by setsid does, is not ended; only the system could hold it.

    ./tool {table} {repeats}   prints one number a line, and as many lines as repeats

What it prints is read as numbers and never shown, since it may hold rows.  What it writes to stderr is thrown away.
"""

import contextlib
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.errors import BadValue, bad
from discreet.ndarrays import Floats

TABLE, REPEATS = "{table}", "{repeats}"
_PLACES = re.compile(f"{re.escape(TABLE)}|{re.escape(REPEATS)}")
_LINE = 64  # bytes that a number and its line end may take
_SPARE = 1 << 16
_PIECE = 1 << 16
_SHAPE = f"Write it with both places: --command './tool {TABLE} {REPEATS}'."


@dataclass(frozen=True)
class Command:
    """A command line with places for the table's path and the number of repeats."""

    words: tuple[str, ...]

    def line(self, table: Path, repeats: int) -> list[str]:
        """The words with both filled in, at once: a table's path may hold the name of a place."""
        filled = {TABLE: str(table), REPEATS: str(repeats)}
        return [_PLACES.sub(lambda place: filled[place.group()], word) for word in self.words]

    def files(self) -> list[Path]:
        """What is run: the program, wherever it is found, and each other word that is a file, such as a script."""
        words = (shutil.which(self.words[0]) or self.words[0], *self.words[1:])
        return [Path(word) for word in words if os.path.isfile(word)]  # Path.is_file would raise for a long word


def command_of(text: str) -> Command:
    """The command that this text means, split as a shell splits words; nothing of it is run by one.

    >>> command_of("./tool '{table}' --n={repeats}").line(Path("a b.csv"), 5)
    ['./tool', 'a b.csv', '--n=5']
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise bad("command", "must have its quotes closed", text, _SHAPE) from None
    for place in (TABLE, REPEATS):
        if not any(place in word for word in words[1:]):
            raise bad("command", f"must have the place {place} after its first word", text, _SHAPE)
    if "\0" in text:
        raise bad("command", "must be a text without zero bytes", text, _SHAPE)
    return Command(tuple(words))


def printed_numbers(command: Command, table: Path, repeats: int, seconds: float) -> Floats:
    """The numbers that one start prints for that table, as many as repeats."""
    text = _output(command, command.line(table, repeats), repeats * _LINE + _SPARE, seconds)
    lines = text.split(b"\n")
    if lines and not lines[-1].strip():
        lines.pop()
    if len(lines) < repeats:
        why = f"It was asked for {repeats:,} repeats and printed {len(lines):,} lines."
        raise BadValue("command must print a number for each repeat.", why, _SHAPE)
    if len(lines) > repeats:
        why = f"It was asked for {repeats:,} repeats and printed {len(lines):,} lines."
        raise BadValue("command must print nothing but a number for each repeat.", why, "Write notes to stderr.")
    return np.array([_number(line, place) for place, line in enumerate(lines, start=1)])


def _number(line: bytes, place: int) -> float:
    try:
        return float(line) if len(line) < _LINE else _refused_line(place)
    except ValueError:
        return _refused_line(place)


def _refused_line(place: int) -> float:
    why = f"Line {place:,} of what it printed is no number; it is not repeated here, since it may hold rows."
    raise BadValue("command must print one number a line.", why, "Print the answer alone, such as 41 or 40.7.")


def _output(command: Command, words: list[str], most_bytes: int, seconds: float) -> bytes:
    """What it prints until it ends by itself, with status 0."""
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a group of its own, so that all that stays in it can be ended
        )
    except OSError as error:
        why = f"{os.strerror(error.errno) if error.errno else 'The system refused'}: {words[0]}."
        fix = (
            "Check that it is there, that it may be executed (chmod +x) and that its first line names its interpreter."
        )
        raise BadValue("command must be a program that can be started.", why, fix) from None
    try:
        text = _read(process, most_bytes, time.monotonic() + seconds)
    finally:
        status = _end(process)
    if text is None:
        why = f"It did not end within the {seconds:.1f} seconds that were left, and was stopped."
        raise BadValue("command must end in time.", why, "Give more --seconds, or make it faster.")
    if len(text) > most_bytes:
        why = f"It printed more than {most_bytes:,} bytes, and was stopped."
        raise BadValue("command must print one number a line.", why, _SHAPE)
    if status != 0:
        how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
        why = f"It {how}. What it printed is not repeated here, since it may hold rows."
        raise BadValue("command must end with status 0.", why, "Run it once by hand on each of the tables.")
    return text


def _read(process: "subprocess.Popen[bytes]", most_bytes: int, deadline: float) -> bytes | None:
    """What comes until the process ends or prints too much; None if it takes too long."""
    assert process.stdout is not None
    pieces, size = [], 0
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while size <= most_bytes:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            if selector.select(min(left, 0.05)):
                piece = os.read(process.stdout.fileno(), _PIECE)
                if not piece and _has_ended(process, left):
                    break
                if not piece:
                    return None
                pieces.append(piece)
                size += len(piece)
            elif _has_ended(process, 0):  # a child of it still holds the pipe
                break
    return b"".join(pieces)


def _has_ended(process: "subprocess.Popen[bytes]", patience: float) -> bool:
    """Whether it ends within that time; it is left in the table of processes, so that its group keeps its number."""
    deadline = time.monotonic() + patience
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.002)
    return True


def _end(process: "subprocess.Popen[bytes]") -> int:
    """End it and all of its group; its exit status."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    status = process.wait()
    if process.stdout is not None:
        process.stdout.close()
    return status
