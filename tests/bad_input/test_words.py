"""Bad metadata, questions and prices: refused with what was meant, before anything is charged."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bad_input.desk import ASK, COUNT, TOML, Desk, checked, swapped, text

# --- the metadata ------------------------------------------------------------------------------------------------

TYPOS = {  # what is written instead, and what the fix must say
    "a key": ("max_rows = 2", "max_row = 2", "Did you mean 'max_rows'? Write: max_rows = 2"),
    "a table": ("[budget]", "[bugdet]", "Did you mean 'budget'?"),
    "a type": ('type = "integer"', 'type = "interger"', "integer"),
    "a word for a number": ("max_rows = 2", 'max_rows = "two"', "max_rows = 5"),
    "a word for bounds": ("[0, 110]", '"all"', "bounds = [0, 110]"),
    "bounds the wrong way round": ("[0, 110]", "[110, 0]", "bounds"),
    "a number for a text": ('"people.csv"', "7", "source"),
    "a bracket that is not closed": ("[unit]", "[unit", "Put text in quotes"),
    "a key twice": ("max_rows = 2", "max_rows = 2\nmax_rows = 3", "once"),
    "a budget that is no number": ("epsilon = 3", "epsilon = nan", "epsilon = 1"),
    "a budget that is true": ("epsilon = 3", "epsilon = true", "epsilon = 1"),
    "a budget below nothing": ("epsilon = 3", "epsilon = -3", "epsilon = 1"),
    "no budget": ("[budget]\nepsilon = 3", "", "[budget]"),
    "no text at all": (TOML, "", 'name = "people"'),
    "no text but bytes": (TOML, "\ufffe\x00", "Put text in quotes"),
}


@pytest.mark.parametrize("name", TYPOS)
def test_typo_in_the_metadata_is_refused_with_what_was_meant(desk: Desk, name: str) -> None:
    old, new, meant = TYPOS[name]
    assert old in TOML
    with swapped(desk.folder / "people.toml", text(TOML.replace(old, new))):
        assert meant in desk.refused("check", "people.toml", exit_code=3, code="metadata")["fix"]
        assert meant in desk.refused(*ASK, exit_code=3, code="metadata")["fix"]


@pytest.mark.parametrize("put", [lambda path: None, Path.mkdir, text(b"\xff\xfe\x00")])
def test_metadata_that_cannot_be_read_are_refused(desk: Desk, put: Callable[[Path], object]) -> None:
    with swapped(desk.folder / "people.toml", put):
        desk.refused("check", "people.toml", exit_code=3, code="metadata")
        desk.refused(*ASK, exit_code=3, code="metadata")


# --- the question and its price ----------------------------------------------------------------------------------

QUESTIONS = {
    "nothing": "",
    "blanks": " \n\t ",
    "100 KB": "SELECT " + "COUNT(*), " * 10_000 + "COUNT(*) FROM people",
    "5000 conditions": f"{COUNT} WHERE " + " AND ".join(["age > 1"] * 5_000),
    "5000 brackets": "(" * 5_000,
    "3000 times not": f"{COUNT} WHERE {'NOT ' * 3_000} age > 1",
    "control characters": "\x01\x02\x00ÿþ",
    "half a character": "SELECT \udcff",
    "a zero byte in a text": f"{COUNT} WHERE region = '\x00'",
    "pictures": "💣" * 100,
    "an open quote": f"{COUNT} WHERE region = 'north",
    "an open comment": f"{COUNT} /*",
    "another statement": "DROP TABLE people",
    "two statements": f"{COUNT}; {COUNT}",
    "a file": "SELECT COUNT(*) FROM read_csv('people.csv')",
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_text_that_is_no_question_is_refused(desk: Desk, name: str) -> None:
    for verb in ("quote", "ask", "explain"):
        desk.refused(verb, "people.toml", QUESTIONS[name], "--eps", "0.1", exit_code=4, code="not-answerable")


def test_bytes_that_are_no_text_are_refused_from_stdin_too(desk: Desk) -> None:
    command = [sys.executable, "-c", "from discreet.cli.main import run; run()", "ask", "people.toml", "-"]
    given = b"SELECT COUNT(*) AS n FROM people WHERE region = '\xff\xfe'"
    done = subprocess.run([*command, "--eps", "0.1", "--json"], input=given, capture_output=True, timeout=60)
    assert done.returncode == 4, done
    checked(done.stdout.decode(), 4, "not-answerable")
    assert done.stderr == b""


NO_EPSILON = [
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e-400",
    "1e999",
    "0x1p3",
    "0x10",
    "true",
    "",
    "1,5",
    "1_0",
    "1/0",
    "9" * 99,
]
NO_DELTA = ["nan", "inf", "-1e-9", "1", "1e-3", "1e999", "0x1", "true", "", "1e-7"]  # the last: the budget has none
NO_LEVEL = ["nan", "inf", "0", "1", "-0.5", "95", "95%", "0x1p-1", "true", ""]
NO_ERROR = ["nan", "inf", "0", "-1", "", "n=", "=5", "m=5", "n=true", "n=0x5", "n=5,n=6"]


@pytest.mark.parametrize(
    "flags",
    [
        *(["--eps", value] for value in NO_EPSILON),
        *(["--eps", "0.1", "--delta", value] for value in NO_DELTA),
        *(["--eps", "0.1", "--level", value] for value in NO_LEVEL),
        *(["--error", value] for value in NO_ERROR),
        ["--eps", "0.1", "--error", "n=5"],
        [],
    ],
    ids=" ".join,
)
def test_text_that_is_no_number_is_refused_before_anything_is_charged(desk: Desk, flags: list[str]) -> None:
    desk.refused("ask", "people.toml", COUNT, *flags, exit_code=2, code="bad-value")


@pytest.mark.parametrize("value", ["nan", "inf", "1e999", "0x1p3", "true", "", "-1", "0", "1e7"])
def test_budget_is_not_set_to_what_no_budget_can_be(desk: Desk, value: str) -> None:
    arguments = ("budget", "set", "people.toml", "--epsilon", value, "--why", "a try")
    assert desk.refused(*arguments, exit_code=2, code="bad-value")["what"].startswith("--epsilon must be")
