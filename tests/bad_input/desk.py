"""A folder with a table of which one question is paid for, commands given there, and what they must say."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import main
from fixes import fixes_of
from people_toml import people_toml

CELL = re.compile(r"zq\d+x\d+", re.IGNORECASE)  # every cell of every table here looks like this
ROWS = "".join(f"zq{row}x0,zq{row}x1,zq{row}x2\n" for row in range(20))
TABLE = f"person_id,region,age\n{ROWS}"
TOML = people_toml("epsilon = 3", key="person_id")
COUNT = "SELECT COUNT(*) AS n FROM people"
ASK = ("ask", "people.toml", COUNT, "--eps", "0.1")
INIT = ("init", "people.csv", "-o", "new.toml", "--unit", "person_id", "--max-rows", "2", "--column", "age:text")


@dataclass(frozen=True)
class Desk:
    """A folder with a table of which one question is paid for, and commands given there."""

    folder: Path
    capfd: pytest.CaptureFixture[str]

    def said(self, arguments: Sequence[str], exit_code: int) -> tuple[str, str]:
        """What a command prints, on stdout and on stderr."""
        status = main.status(list(arguments))
        out, err = self.capfd.readouterr()
        assert status == exit_code, (arguments, out, err)
        assert not CELL.search(out + err), (arguments, out, err)
        assert "Traceback" not in out + err
        return out, err

    def answered(self, *arguments: str) -> dict[str, Any]:
        """The reply of a command that succeeds."""
        out, _ = self.said([*arguments, "--json"], 0)
        reply: dict[str, Any] = json.loads(out)
        assert reply["ok"] is True
        return reply

    def refused(self, *arguments: str, exit_code: int, code: str) -> dict[str, Any]:
        """The error object of a command that fails, which shows the same to people."""
        out, _ = self.said([*arguments, "--json"], exit_code)
        problem = checked(out, exit_code, code)
        fixes_of(problem)
        out, err = self.said(arguments, exit_code)
        assert problem["fix"].splitlines()[0] in out + err
        assert not out or arguments[0] == "check"
        return problem

    def books(self) -> tuple[int, Any]:
        """How many entries the ledger has, and what is left."""
        reply = self.answered("ledger", "people.toml", "--verify")
        return len(reply["entries"]), reply["remaining"]


def checked(out: str, exit_code: int, code: str) -> dict[str, Any]:
    """The one error object in what was printed, if it is whole."""
    assert out.count("\n") == 1, out
    problem: dict[str, Any] = json.loads(out)
    assert (problem["ok"], problem["exit"], problem["code"]) == (False, exit_code, code), problem
    assert all(problem[part].strip() for part in ("what", "why", "fix")), problem
    return problem


@contextmanager
def swapped(path: Path, put: Callable[[Path], object]) -> Iterator[None]:
    """Something else in the place of a file, which comes back unharmed."""
    aside = path.with_name(f"{path.name}.aside")
    path.rename(aside)
    try:
        put(path)
        yield
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
        aside.rename(path)


def text(content: str | bytes) -> Callable[[Path], object]:
    """Puts a file with that content there."""
    return lambda path: path.write_bytes(content.encode() if isinstance(content, str) else content)
