"""Whatever a metadata file holds, it is either read or refused as metadata; no cell of the table it names is told."""

import json
import os
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet import metadata
from discreet.errors import DiscreetError, MetadataError
from discreet.metadata.keys import TABLES
from discreet.noise.public import generator
from fuzz.tokens import COLUMNS, TOML, Secrets, chain, laid, left_behind, told_by
from fuzz.watch import MOST_CPU, Hang, surrounded, watchdog, watched

PIECE, SHORT, LONG = 750, 2, 40
BASE = (
    TOML.encode()
    + b"""\
[hierarchy.geo]
levels = ["country", "region"]
branches = [["x", "north"], ["x", "south"], ["y", "east"], ["y", "west"]]
"""
)
VALUES = (
    *("0", "-1", "1", "3", "2.5", "1e-7", "1e400", "1e-400", "nan", "-inf", "inf", "-0.0", "9223372036854775807"),
    *("9223372036854775808", "1" + "0" * 5000, "0x1F", "0o17", "1_000", "true", "false", '""', '" "', '"a"', '"1/3"'),
    *('"1/0"', '"NaN"', '"é"', '"\\u0000"', '"\\u202e"', '"people.csv"', '"./people.csv"', '"x/../people.csv"'),
    *('"/etc/passwd"', '"link.csv"', '"folder"', '"pipe"', '"people.toml"', '"' + "x" * 5000 + '"', "'''a\nb'''", "[]"),
    *("[0]", "[0, 0]", "[1, 0]", "[0, 110]", "[-1e308, 1e308]", "[0, nan]", '["a", "a"]', '["a", "A"]', '["a", 1]'),
    *("[[]]", "[[1, 2], [3]]", "{}", "{ a = 1 }", "{ a = { b = 1 } }", "2020-01-01", "2020-01-01T00:00:00Z"),
    *("2020-01-01T00:00:00+14:00", "0001-01-01", "12:30:00", "[2020-01-01, 2020-12-31]", "[2021-01-01, 2020-01-01]"),
    *("[0001-01-01, 9999-12-31]", "[2020-01-01, 2020-01-01T00:00:00]", "[0, 18, 65, 110]", "[0.1, 0.2]", '["0.1", 2]'),
    *('"category"', '"integer"', '"number"', '"boolean"', '"date"', '"datetime"', '"text"', '"float"', '"replace-one"'),
    *(
        '"key"',
        '"drop"',
        '"region"',
        '"Region"',
        '"person"',
        '"rowid"',
        '"age_moe"',
        '"discreet_x"',
        "[" * 200 + "]" * 200,
    ),
)
FITTING = {  # values that a key may well have, so that many files are read
    "name": ('"people"', '"People"', '"p_1"'),
    "source": ('"people.csv"', '"absent.csv"', '"folder"', '"pipe"', '"link.csv"'),
    "type": ('"category"', '"integer"', '"number"', '"date"', '"text"'),
    "bounds": ("[0, 110]", "[-5, 1e6]", '["1/3", 2]', "[2020-01-01, 2020-12-31]", "[0, 4611686018427387904]"),
    "values": ('["north", "south", "east", "west"]', '["north", "south", "east", "west", "Ω"]', "[1, 2]"),
    "step": ("1", "0.5", "7", '"1/3"'),
    "max_rows": ("1", "2", "1000000"),
    "epsilon": ("0.5", '"1/3"', "1000", "1e-9"),
    "delta": ("0", "1e-9", "1e-400"),
    "key": ('"person"', '"hidden"', '"absent"'),
    "null": ('"key"', '"drop"'),
    "bins": ("[0, 110]", "[0, 5, 6]", "[0.5, 1.5]"),
    "ana": ("1", "0.001"),
}
NAMES = (
    *(key for keys in TABLES.values() for key in keys),
    *(
        "Type",
        "values from",
        "",
        "é",
        "a.b",
        "x" * 300,
        "rowid",
        "age_moe",
        "discreet_unit",
        "REGION",
        "person",
        "__class__",
    ),
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "cp037", "utf-7")
_BYTES = (
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x91\x8d",
    b'"',
    b"'''",
    b"[",
    b"]",
    b"[[x]]\n",
    b"=",
    b"#",
    b"\r",
    b"\n",
    b".",
)


class Mutator:
    """Accidents of a file, drawn from one seeded generator."""

    def __init__(self, seed: int) -> None:
        self._drawn = generator(seed)

    def below(self, size: int) -> int:
        return int(self._drawn.integers(0, size))

    def one(self, options: Any) -> Any:
        return options[self.below(len(options))]

    def mutated(self) -> bytes:
        text = BASE
        for _ in range(self.one((1, 1, 2, 3))):
            rule: Callable[[bytes], bytes] = self.one((self._value, self._value, self._key, self._line, self._bytes))
            text = rule(text)
        return text.decode("utf-8", "replace").encode(self.one(ENCODINGS), "replace") if self.below(20) == 0 else text

    def _value(self, text: bytes) -> bytes:
        lines = text.split(b"\n")
        line_number = self.one([i for i, line in enumerate(lines) if b" = " in line] or [0])
        key = lines[line_number].split(b" = ")[0]
        fitting = FITTING.get(key.decode("latin-1"), VALUES) if self.below(3) else VALUES
        lines[line_number] = key + b" = " + self.one(fitting).encode()
        return b"\n".join(lines)

    def _key(self, text: bytes) -> bytes:
        lines = text.split(b"\n")
        name = self.one(NAMES)
        line = f"{json.dumps(name) if self.below(2) else name} = {self.one(VALUES)}"
        return b"\n".join([*lines[: (line_number := self.below(len(lines) + 1))], line.encode(), *lines[line_number:]])

    def _line(self, text: bytes) -> bytes:
        lines = text.split(b"\n")
        a, b = self.below(len(lines)), self.below(len(lines))
        kind = self.below(4)
        if kind == 0:
            del lines[a]
        elif kind == 1:
            lines[a], lines[b] = lines[b], lines[a]
        elif kind == 2:
            lines.insert(a, lines[b])
        else:
            heading = self.one(
                ("columns", "budget", "unit", "dataset", "hierarchy", "columns.age", "columns.hidden", "a.b")
            )
            lines.insert(a, f"[{heading}]".encode())
        return b"\n".join(lines)

    def _bytes(self, text: bytes) -> bytes:
        position = self.below(len(text) + 1)
        return text[:position] + self.one(_BYTES) + text[position + self.below(3) :]


def surroundings(folder: Path) -> Secrets:
    """The table, and what a careless file name might meet beside it."""
    secrets = laid(folder, seed=7)
    (folder / "link.csv").symlink_to(folder / "people.csv")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    return secrets


def outcome(path: Path) -> tuple[str, str]:
    """Whether the file was read or refused, and all that was said; a valid one is used as far as no row is read."""
    schema, refusal = None, None
    try:
        schema = metadata.load(path)
    except MetadataError as error:
        refusal = error
    if schema is None:
        assert refusal is not None
        assert all((refusal.what, refusal.why, refusal.fix))
        return "refused", told_by(refusal) + json.dumps(refusal.to_json())
    said = [repr(schema), *(repr(gap) for gap in metadata.gaps(schema, list(COLUMNS)))]
    with dp.open(path) as dataset:
        try:
            said += [repr(dataset) if schema.budget else "", dataset.sql("SELECT COUNT(*) AS n FROM people").explain()]
        except DiscreetError as error:
            said.append(told_by(error))
    return "read", "\n".join(said)


def fuzzed(folder: Path, piece: int, patch: pytest.MonkeyPatch) -> dict[str, int]:
    surrounded(folder, patch)
    secrets, path = surroundings(folder), folder / "mutated.toml"
    counts, wrong, slowest = {"read": 0, "refused": 0}, [], (0.0, -1)
    with watched(folder, secrets) as told_meanwhile:
        for number in range(piece * PIECE, (piece + 1) * PIECE):
            content = Mutator(9_000_000 + number).mutated()
            path.write_bytes(content)
            begun = time.thread_time()
            try:
                with watchdog():
                    which, said = outcome(path)
            except (Exception, Hang) as error:  # one report of all that went wrong, not of the first
                causes = [type(cause).__name__ for cause in chain(error)]
                wrong.append(f"{number}: {causes} {str(error)[:200]}: {changed(content)}")
                continue
            counts[which] += 1
            slowest = max(slowest, (time.thread_time() - begun, number)) if which == "refused" else slowest
            if leaks := secrets.found(said, content.decode("latin-1")):
                wrong.append(f"{number} tells {leaks}: {changed(content)}")
    assert not wrong, "\n".join([f"{len(wrong)} of {PIECE}", *wrong])
    assert told_meanwhile == []
    files = left_behind(folder, but=("people.csv",))
    assert [name for name, text in files if secrets.found(name) or secrets.found(text)] == []
    assert slowest[0] < MOST_CPU, f"{slowest[1]} was refused after {slowest[0]:.2f} s of CPU"
    return counts


def changed(content: bytes) -> list[str]:
    """The lines that the base does not have."""
    known = set(BASE.split(b"\n"))
    return [repr(line[:150]) for line in content.split(b"\n") if line not in known][:4]


@pytest.mark.parametrize("piece", range(SHORT))
def test_a_mutated_file_is_read_or_refused_as_metadata(piece, tmp_path, capfd, monkeypatch):
    counts = fuzzed(tmp_path, piece, monkeypatch)
    assert min(counts.values()) > PIECE // 20, counts
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
@pytest.mark.parametrize("piece", range(SHORT, LONG))
def test_a_mutated_file_of_a_long_run_is_read_or_refused_as_metadata(piece, tmp_path, capfd, monkeypatch):
    fuzzed(tmp_path, piece, monkeypatch)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("table", TABLES)
def test_every_value_under_every_key_is_read_or_refused(table, tmp_path):
    surroundings(tmp_path)
    path = tmp_path / "mutated.toml"
    heading = {"columns": "columns.extra", "hierarchy": "hierarchy.extra"}.get(table, table)
    kept = BASE.decode() if table in ("columns", "hierarchy") else without(table)
    for key, value in product(TABLES[table], VALUES):
        other = 'type = "integer"\n' if table == "columns" and key != "type" else ""
        path.write_text(f"{kept}\n[{heading}]\n{other}{key} = {value}\n")
        assert outcome(path)[0] in ("read", "refused")


def without(table: str) -> str:
    """The base without one of its tables."""
    kept, inside = [], False
    for line in BASE.decode().split("\n"):
        if line.startswith("["):
            inside = line.strip("[]").split(".")[0] == table
        if not inside:
            kept.append(line)
    return "\n".join(kept)
