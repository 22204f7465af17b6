"""A table whose every cell is a secret that can be recognised, and the search for such secrets in anything said.

Texts are `zqxjkv` and six random letters, so that a token cut short or in other case is found too; numbers have 15
digits.  A token that the question itself holds is no leak.
"""

import csv
import io
import os
import re
import traceback
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from heapq import nsmallest
from pathlib import Path
from typing import Any

from discreet.noise.public import generator

UNITS, MOST_ROWS = 120, 3
NEVER_FOUND = "1e-15"  # δ of a question: no key of so few units is ever released
REGIONS = ("north", "south", "east", "west")
COLUMNS = (
    *("person", "region", "name", "note", "code", "exact", "serial", "amount", "free", "age", "flag", "day", "born"),
    *("at", "hidden"),
)
TOML = """\
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "person"
max_rows = 3
[columns.region]
type = "category"
values = ["north", "south", "east", "west"]
null = "key"
[columns.name]
type = "category"
[columns.note]
type = "text"
[columns.code]
type = "integer"
bounds = [0, 999999999999999]
step = 1000000000
[columns.exact]
type = "integer"
bounds = [0, 999999999999999]
[columns.serial]
type = "integer"
[columns.amount]
type = "number"
bounds = [0, 1e15]
[columns.free]
type = "number"
[columns.age]
type = "integer"
bounds = [0, 110]
bins = [0, 18, 65, 110]
[columns.flag]
type = "boolean"
[columns.day]
type = "date"
bounds = [2020-01-01, 2020-03-31]
[columns.born]
type = "date"
[columns.at]
type = "datetime"
bounds = [2020-01-01 00:00:00, 2020-01-02 00:00:00]
[budget]
epsilon = 1000000
delta = 1e-6
[budget.analysts]
ana = 1000
"""
_WORD = re.compile(r"zqxjkv[a-z]*")
_DIGITS = re.compile("[0-9]{15,}")


class Secrets:
    """Fresh tokens, each handed out once, and the search for them."""

    def __init__(self, seed: int) -> None:
        self._made = generator(seed)
        self.words: list[str] = []
        self.numbers: set[str] = set()
        self.typed: list[str] = []  # all that was asked so far, tokens and what is like them included

    def word(self) -> str:
        token = "zqxjkv" + "".join(chr(97 + int(letter)) for letter in self._made.integers(0, 26, 6))
        self.words.append(token)
        return token

    def number(self) -> str:
        token = str(int(self._made.integers(10**14, 10**15)))
        self.numbers.add(token)
        return token

    def either(self, share: float, otherwise: str) -> str:
        """A token in that share of cells, else a cell that its column's rule allows."""
        return self.word() if self._made.random() < share else otherwise

    def below(self, size: int) -> int:
        return int(self._made.integers(0, size))

    def known(self) -> list[str]:
        """A few tokens that an attacker guessed and types."""
        return [*self.words[20:23], *nsmallest(3, self.numbers)]

    def found(self, said: str, typed: str = "") -> list[str]:
        """The tokens in a text that the caller did not type."""
        lower, given = said.lower(), typed.lower()
        words = {word for word in _WORD.findall(lower) if word not in given} if "zqxjkv" in lower else set()
        runs = _DIGITS.findall(said)
        numbers = {run[i : i + 15] for run in runs for i in range(len(run) - 14)} & self.numbers
        return sorted(words) + sorted(number for number in numbers if number not in typed)

    def leaked(self, said: str) -> list[str]:
        """The tokens in a text that nobody typed so far."""
        return self.found(said) and self.found(said, "\n".join(self.typed))


def table(seed: int) -> tuple[str, Secrets]:
    """The CSV and its secrets: one to three rows a unit."""
    secrets = Secrets(seed)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for _ in range(UNITS):
        person = secrets.word()
        for _ in range(1 + secrets.below(MOST_ROWS)):
            writer.writerow([person, *_cells(secrets)])
    return text.getvalue(), secrets


def _cells(secrets: Secrets) -> list[str]:
    day = f"2020-{1 + secrets.below(6):02}-{1 + secrets.below(28):02}"
    return [
        secrets.either(0.5, REGIONS[secrets.below(4)]),
        secrets.word(),
        secrets.word(),
        secrets.number(),
        secrets.either(0.3, secrets.number()),
        secrets.number(),
        f"{secrets.number()}.{secrets.below(100):02}",
        secrets.either(0.3, f"-{secrets.number()}"),
        secrets.either(0.3, secrets.number() if secrets.below(2) else str(secrets.below(111))),
        secrets.either(0.5, ("true", "false")[secrets.below(2)]),
        secrets.either(0.3, day),
        secrets.either(0.3, f"{1000 + secrets.below(9000)}-01-{1 + secrets.below(28):02}"),
        secrets.either(0.3, f"2020-01-01 {secrets.below(24):02}:{secrets.below(60):02}:{secrets.below(60):02}"),
        secrets.word(),
    ]


def laid(folder: Path, seed: int) -> Secrets:
    """people.csv and people.toml in the folder."""
    text, secrets = table(seed)
    (folder / "people.csv").write_text(text)
    (folder / "people.toml").write_text(TOML)
    return secrets


# --- what was said ---------------------------------------------------------------------------------------------------


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and everything it drags along, shown or not."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        link = waiting.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting += [link.__cause__, link.__context__]


def told_by(error: BaseException) -> str:
    """All that can be read off an error: sentences, arguments, attributes, traceback and notes, of its causes too."""
    parts: list[Any] = []
    for cause in chain(error):
        notes = getattr(cause, "__notes__", ())
        parts += [
            str(cause),
            repr(cause),
            repr(cause.args),
            repr(vars(cause)),
            *notes,
            *traceback.format_exception(cause),
        ]
    return "\n".join(parts)


def left_behind(folder: Path, *, but: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every name below a folder with its file's bytes, except those whose content is private by purpose."""
    private = list(but)
    for path in sorted(folder.rglob("*")):
        inside = (
            path.is_file() and not path.is_symlink() and not any(fnmatch(path.name, pattern) for pattern in private)
        )
        yield str(path.relative_to(folder)), path.read_bytes().decode("latin-1") if inside else ""


def kept_apart(path: Path) -> bool:
    """Whether only its owner can open a file."""
    return not os.stat(path).st_mode & 0o077
