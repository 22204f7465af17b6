"""Keys that rows chose, through every output of the command line: nothing reaches a terminal or a spreadsheet raw."""

import csv
import io
import json
from pathlib import Path

import pytest
from rich.text import Text

from discreet.cli import main, reply
from discreet.inert import is_hidden

KEYS = ("=1+1", "\x1b[31mred", "abc\u202edef", "<b>x</b>|", "$a^2$", "a;@x", "two\nlines", "north")
SQL = "SELECT place, COUNT(*) AS n FROM people GROUP BY place ORDER BY place"
TOML = """\
[dataset]
format = 1
name = "people"
source = "people.csv"
[unit]
key = "person"
max_rows = 2
[columns.place]
type = "text"
[budget]
epsilon = 10
delta = 1e-6
"""
FORMS = ("table", "csv", "tsv", "json", "jsonl", "md", "html")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    with (place / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["person", "place"])
        writer.writerows([person, KEYS[person % len(KEYS)]] for person in range(100 * len(KEYS)))
    (place / "people.toml").write_text(TOML)
    return place


@pytest.fixture(autouse=True)
def state(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads of ledgers lie in the same folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))


def asked(capfdbinary: pytest.CaptureFixture[bytes], *more: str) -> tuple[str, str]:
    assert main.status(["ask", "people.toml", SQL, "--eps", "4", *more]) == 0
    out, err = capfdbinary.readouterr()
    return out.decode(), err.decode()


def hidden(text: str) -> list[str]:
    return [letter for letter in text if is_hidden(letter) and letter not in "\n\t"]


def test_every_format_is_free_of_hidden_letters_and_holds_all_keys(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(folder)
    for form in FORMS:
        out, err = asked(capfdbinary, "--format", form)
        assert hidden(out) == hidden(err) == [], form
        assert ("have a ' before them" in err) == (form in ("csv", "tsv"))
        if form == "json":
            assert {row["place"] for row in json.loads(out)["rows"]} == set(KEYS)
        if form in ("csv", "tsv"):
            rows = list(csv.reader(io.StringIO(out), delimiter="," if form == "csv" else "\t"))
            assert rows[0] == ["place", "n", "n_moe", "n_of"]
            assert {row[0] for row in rows[1:]} >= {"'=1+1", "\\x1b[31mred", "a;'@x", "two\\nlines", "north"}
            assert {row[3] for row in rows[1:]} == {"of at most 2 rows per person"}
            raw, err = asked(capfdbinary, "--format", form, "--raw")
            exact = csv.reader(io.StringIO(raw, newline=""), delimiter="," if form == "csv" else "\t")
            assert {row[0] for row in exact} == {"place", *KEYS}
            assert "before them" not in err


def test_raw_is_refused_where_it_means_nothing_and_before_anything_is_spent(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(folder)
    for more in ([], ["--format", "json"]):
        assert main.status(["ask", "people.toml", SQL, "--eps", "3", "--raw", *more]) == 2
    assert b"raw goes with csv and tsv only" in capfdbinary.readouterr().err


def test_the_one_place_that_prints_makes_every_text_visible(capfd: pytest.CaptureFixture[str]) -> None:
    said = Text("a\x1b[2Jb\u202e")
    reply.show(reply.Reply({"a": "\x7f"}, lambda: said, notes=lambda: said), as_json=False)
    out, err = capfd.readouterr()
    assert out == err == "a\\x1b[2Jb\\u202e\n"
    reply.show(reply.Reply({"a": "\x7f\u202e"}, lambda: said), as_json=True)
    assert capfd.readouterr().out == '{"a": "\\u007f\\u202e"}\n'
    for as_json in (False, True):
        main.status(["ask", "\x1b[2J\u202e.toml", SQL, "--eps", "1", *(["--json"] if as_json else [])])
        main.status(["\x1b[2J\u202e"])
        out, err = capfd.readouterr()
        assert hidden(out + err) == []
