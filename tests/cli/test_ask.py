"""`discreet ask`: from the quote to the numbers; data on stdout, the rest on stderr, the charge exactly once."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cli.screen import type_answer
from discreet import inert
from discreet.answer import Answer, Estimates, column
from discreet.cli import main
from discreet.cli.formats import FORMATS, content, exact_cell
from discreet.engine import Engine
from fixes import REASON, words_in

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]
COUNTS = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"


def spent(told: Told) -> str:
    return str(told("budget", "people.toml")["spent"]["epsilon"])


def test_answer_has_the_keys_of_the_public_face_and_is_charged_once(people: Path, told: Told) -> None:
    quoted = told("quote", "people.toml", COUNTS, "--eps", "1")
    reply = told("ask", "people.toml", COUNTS, "--eps", "1")
    assert reply["cost"] == quoted["cost"]
    assert reply["remaining"] == quoted["remaining_after"]
    assert reply["receipt"].startswith("2-")
    assert [row["region"] for row in reply["rows"]] == ["north", "south", "east"]
    assert all(list(row) == ["region", "n", "n_moe"] and row["n_moe"] > 0 for row in reply["rows"])
    assert [set(column) >= {"name", "mechanism", "scale", "step", "epsilon"} for column in reply["columns"]] == [True]
    assert (reply["level"], reply["replayed"], bool(reply["caveats"])) == (0.95, False, True)
    replay = told("ask", "people.toml", COUNTS, "--eps", "1")
    assert replay["replayed"] is True
    assert replay["rows"] == reply["rows"]
    assert replay["receipt"] == reply["receipt"]
    assert spent(told) == "1"


def test_table_is_on_stdout_and_all_else_on_stderr(people: Path, shown: Shown) -> None:
    out, err = shown("ask", "people.toml", COUNTS, "--eps", "1")
    *lines, counted = out.splitlines()
    assert [line.split()[0] for line in lines] == ["region", "north", "south", "east"]
    assert all(" ± " in line for line in lines[1:])
    assert counted == "n: of at most 2 rows per person_id"
    for said in ("95 %", "cost: ε = 1", "remaining: ε = 2", "receipt: 2-", "person_id", "· "):
        assert said in err
    out_again, err_again = shown("ask", "people.toml", COUNTS, "--eps", "1")
    assert out_again == out
    assert "replayed: cost 0" in err_again


def test_every_format_holds_the_same_rows(people: Path, told: Told, capfd: Any) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = told("ask", "people.toml", COUNTS, "--eps", "1")["rows"]
    values = [(row["region"], row["n"], row["n_moe"]) for row in rows]
    for name in FORMATS:
        file = people.parent / f"answer.{name}"
        assert main.status(["ask", "people.toml", COUNTS, "--eps", "1", "-o", file.name]) == 0
        piped = main.status(["ask", "people.toml", COUNTS, "--eps", "1", "--format", name]) == 0
        assert piped
        content = file.read_bytes()
        capfd.readouterr()
        match name:
            case "csv" | "tsv":
                read = list(csv.DictReader(io.StringIO(content.decode()), delimiter="," if name == "csv" else "\t"))
                assert [(r["region"], int(r["n"]), int(r["n_moe"])) for r in read] == values
            case "json":
                assert json.loads(content)["rows"] == rows
            case "jsonl":
                counted = [row | {"n_of": "of at most 2 rows per person_id"} for row in rows]
                assert [json.loads(line) for line in content.splitlines()] == counted
            case "parquet" | "arrow":
                read_table = pyarrow.parquet.read_table if name == "parquet" else _arrow
                table = read_table(pyarrow.BufferReader(content))
                assert table.to_pylist() == rows
                assert json.loads(table.schema.metadata[b"discreet"])["dataset"] == "people"
            case _:
                assert all(str(n) in content.decode() and f"± {moe}" in content.decode() for _, n, moe in values)
    assert spent(told) == "1"


def _arrow(source: Any) -> Any:
    import pyarrow

    return pyarrow.ipc.open_file(source).read_all()


@pytest.mark.parametrize(("name", "separator"), [("csv", ","), ("tsv", "\t")])
def test_the_empty_text_and_an_empty_cell_are_written_apart(name: str, separator: str) -> None:
    counts = column("n", Estimates([1, 2, 3], [0, 1, 2], [2, 3, 4]), mechanism="")
    cost = {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "row"}
    labels = (("",), (None,), ('a, "b',))
    answer = Answer("people", "[]", ("town",), labels, (counts,), Fraction(95, 100), cost)
    lines = [["town", "n", "n_moe"], ['""', "1", "1"], ["", "2", "1"], ['"a, ""b"', "3", "1"]]
    for cell in (inert.cell, exact_cell):
        assert (content(answer, name, cell) or b"").decode() == "".join(separator.join(line) + "\n" for line in lines)


def test_format_goes_to_a_pipe_byte_for_byte(people: Path) -> None:
    run = [sys.executable, "-c", "from discreet.cli.main import run; run()", "ask", "people.toml", COUNTS, "--eps", "1"]
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    import os

    process = subprocess.run(
        [*run, "--format", "md"], capture_output=True, timeout=60, check=True, env={**os.environ, **ascii_only}
    )
    assert "± " in process.stdout.decode("utf-8")


def test_json_and_a_file_give_both(people: Path, told: Told) -> None:
    reply = told("ask", "people.toml", COUNTS, "--eps", "1", "-o", "answer.csv")
    assert (people.parent / "answer.csv").read_text().splitlines()[1].startswith(f"north,{reply['rows'][0]['n']},")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plot_flag_draws_a_picture(people: Path, told: Told, suffix: str) -> None:
    assert told("ask", "people.toml", COUNTS, "--eps", "1", "--plot", f"a.{suffix}")["plot"] == f"a.{suffix}"
    assert (people.parent / f"a.{suffix}").stat().st_size > 1000


def test_question_comes_from_stdin(people: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNTS + "\n"))
    assert told("ask", "people.toml", "-", "--error", "n=20")["rows"][0]["n_moe"] <= 20
    monkeypatch.setattr(sys, "stdin", io.StringIO(" \n"))
    assert "discreet ask" in told("ask", "people.toml", "-", "--eps", "1", exit_code=2)["fix"]


def test_analyst_pays_from_an_own_cap(people: Path, told: Told) -> None:
    assert told("ask", "people.toml", COUNTS, "--eps", "0.75", "--as", "ana")["remaining"]["epsilon"] == "0.25"
    refused = told("ask", "people.toml", COUNTS, "--eps", "0.5", "--as", "ana", exit_code=5)
    assert refused["code"] == "budget-exceeded"
    line = next(line for line in refused["fix"].splitlines() if "discreet ask" in line)
    reply = told(*words_in(line.partition("discreet ")[2]))
    assert reply["remaining"]["epsilon"] == "0"
    assert told("budget", "people.toml")["analysts"] == [{"name": "ana", "cap": "1", "spent": "1"}]


# --- refused before anything is spent ------------------------------------------------------------------------------


REFUSED = [
    (["--format", "exel"], "--format"),
    (["--plot", "a.pdf"], ".png"),
    (["--plot", "nowhere/a.png"], "folder"),
    (["-o", "nowhere/a.csv"], "mkdir -p nowhere"),
    (["-o", "people.csv"], "another name"),
    (["-o", "old.png"], "--yes"),
    (["--plot", "old.png"], "--yes"),
    (["--level", "2"], "0.95"),
]


@pytest.mark.parametrize(("more", "fix"), REFUSED, ids=[" ".join(more) for more, _ in REFUSED])
def test_output_that_cannot_be_written_is_refused_before_the_charge(
    people: Path, told: Told, more: list[str], fix: str
) -> None:
    (people.parent / "old.png").write_bytes(b"mine")
    before = people.with_suffix(".csv").read_bytes()
    assert fix in told("ask", "people.toml", COUNTS, "--eps", "1", *more, exit_code=2)["fix"]
    assert not people.with_suffix(".ledger").exists()
    assert not list(people.parent.glob("people.*.prepared"))
    assert people.with_suffix(".csv").read_bytes() == before
    assert (people.parent / "old.png").read_bytes() == b"mine"


def test_ask_takes_no_seed(people: Path, told: Told) -> None:
    assert told("ask", "people.toml", COUNTS, "--eps", "1", "--seed", "1", exit_code=2)["code"] == "usage"


def test_too_dear_a_question_costs_nothing(people: Path, told: Told) -> None:
    told("ask", "people.toml", COUNTS, "--eps", "2.5")
    refused = told("ask", "people.toml", COUNTS, "--eps", "1", exit_code=5)
    assert "--eps 0.5" in refused["fix"]
    assert spent(told) == "2.5"


def test_misspelt_analyst_is_refused_with_the_command_for_a_new_one(people: Path, told: Told) -> None:
    fix = told("ask", "people.toml", COUNTS, "--eps", "0.1", "--as", "anna o", exit_code=2)["fix"]
    told(*words_in(fix.partition("discreet ")[2]))
    told("ask", "people.toml", COUNTS, "--eps", "0.1", "--as", "anna o")


# --- groups that are not public ------------------------------------------------------------------------------------

NAMES = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
WITH_NO_DELTA = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta = 0)"


@pytest.fixture
def towns(people: Path) -> Path:
    people.write_text(people.read_text().replace("[budget]", '[columns.town]\ntype = "text"\n[budget]'))
    table = people.with_suffix(".csv")
    table.write_text(table.read_text().replace("canary-4711", "Ashford").replace("name", "town"))
    return people


def test_question_that_lacks_a_delta_is_refused_with_the_command_that_has_one(towns: Path, told: Told) -> None:
    for sql, flags in ((NAMES, ["--delta", "0"]), (NAMES.replace("SELECT", WITH_NO_DELTA, 1), [])):
        fix = told("ask", "people.toml", sql, "--eps", "0.5", *flags, exit_code=4)["fix"]
        words = words_in(fix.rpartition("discreet ")[2])
        assert words == ["ask", "people.toml", sql, "--eps", "0.5", "--delta", "1e-9"]
        assert told(*words)["cost"]["delta"] == "1e-9"


@pytest.mark.parametrize("verb", ["quote", "ask", "explain"])
def test_budget_without_a_delta_is_refused_with_the_command_that_allows_one(towns: Path, told: Told, verb: str) -> None:
    text = towns.read_text().replace("delta = 1e-7\n", "")
    towns.write_text(text.replace("[unit]", "population = 10_000_000\n[unit]"))  # so 1e-7 would be too much
    fix = told(verb, "people.toml", NAMES, "--eps", "0.5", exit_code=4)["fix"]
    words = words_in(fix.rpartition("discreet ")[2])
    assert words == ["budget", "set", "people.toml", "--delta", "1e-9", "--why", REASON]
    told(*words)
    assert told(verb, "people.toml", NAMES, "--eps", "0.5")["cost"]["delta"] == "1e-11"


def test_delta_under_a_budget_without_one_is_refused_with_the_command_too(towns: Path, told: Told) -> None:
    towns.write_text(towns.read_text().replace("delta = 1e-7\n", ""))
    fix = told("ask", "people.toml", NAMES, "--eps", "0.5", "--delta", "1e-9", exit_code=2)["fix"]
    told(*words_in(fix.rpartition("discreet ")[2]))
    told("ask", "people.toml", NAMES, "--eps", "0.5", "--delta", "1e-9")


def test_too_dear_a_question_about_private_keys_is_refused_with_one_that_fits(towns: Path, told: Told) -> None:
    told("ask", "people.toml", NAMES, "--eps", "2.5")
    fix = told("ask", "people.toml", NAMES, "--eps", "1", exit_code=5)["fix"]
    words = words_in(fix.splitlines()[0].partition("discreet ")[2])
    assert words == ["ask", "people.toml", NAMES, "--eps", "0.5"]
    assert told(*words)["remaining"]["epsilon"] == "0"


def test_too_large_a_delta_is_refused_with_one_that_fits(towns: Path, told: Told) -> None:
    told("ask", "people.toml", NAMES, "--eps", "0.5", "--delta", "4e-8")
    fix = told("ask", "people.toml", NAMES, "--eps", "0.5", "--delta", "3e-8", exit_code=5)["fix"]
    words = words_in(fix.splitlines()[0].partition("discreet ")[2])
    assert words[:5] == ["ask", "people.toml", NAMES, "--eps", "0.5"]
    told(*words)


# --- what goes wrong after it --------------------------------------------------------------------------------------


def test_interrupt_ends_with_130_and_the_charge_stays(
    people: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Engine, *_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "run", interrupted)
        assert told("ask", "people.toml", COUNTS, "--eps", "1", exit_code=130)["code"] == "interrupted"
    assert spent(told) == "1"
    assert told("ask", "people.toml", COUNTS, "--eps", "1")["replayed"] is False
    assert spent(told) == "1"


def test_bug_in_the_engine_shows_nothing_and_the_charge_stays(
    people: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Engine, *_: Any, **__: Any) -> Any:
        raise ValueError("canary-4711")

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "run", broken)
        assert told("ask", "people.toml", COUNTS, "--eps", "1", exit_code=7)["code"] == "engine-failed"
    assert spent(told) == "1"


def test_picture_that_cannot_be_drawn_loses_no_answer(
    people: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.plot import style

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(style, "write", full)
    reply = told("ask", "people.toml", COUNTS, "--eps", "1", "--plot", "a.png")
    assert reply["plot"] is None
    assert reply["rows"]
    assert any("Not drawn" in caveat for caveat in reply["caveats"])


# --- on a terminal -------------------------------------------------------------------------------------------------


def test_enter_agrees_to_the_quote(people: Path, told: Told) -> None:
    status, screen = type_answer(people.parent, ["ask", "people.toml", COUNTS, "--eps", "1"], answer=b"\n")
    assert status == 0, screen
    assert screen.index("epsilon 1") < screen.index("leaves it: ") < screen.index("receipt: ")
    assert spent(told) == "1"


@pytest.mark.parametrize("answer", [b"n\n", b"\x03", b"\x04"], ids=["n", "ctrl-c", "ctrl-d"])
def test_any_reply_but_enter_leaves_the_question_unasked_and_uncharged(people: Path, answer: bytes) -> None:
    status, screen = type_answer(people.parent, ["ask", "people.toml", COUNTS, "--eps", "1"], answer=answer)
    assert status == 130, screen
    assert "Nothing was asked and nothing was charged." in screen
    assert "--yes" in screen
    assert not people.with_suffix(".ledger").exists()


def test_yes_flag_asks_without_a_prompt(people: Path) -> None:
    status, screen = type_answer(people.parent, ["ask", "people.toml", COUNTS, "--eps", "1", "--yes"])
    assert status == 0, screen
    assert "leaves it" not in screen


def test_binary_formats_are_not_written_to_a_terminal(people: Path) -> None:
    status, screen = type_answer(people.parent, ["ask", "people.toml", COUNTS, "--eps", "1", "--format", "parquet"])
    assert status == 2, screen
    assert "-o answer.parquet" in screen
    assert not people.with_suffix(".ledger").exists()


@pytest.mark.parametrize("name", ["", " ", "\t"])
@pytest.mark.parametrize("verb", [["ask"], ["quote"], ["release", "plan"], ["release", "build"]], ids=" ".join)
def test_blank_analyst_is_refused_with_a_fix(verb: list[str], name: str, people: Path, told: Told) -> None:
    sql = [COUNTS] if verb[0] != "release" else []
    reply = told(*verb, "people.toml", *sql, "--eps", "1", "--as", name, exit_code=2)
    assert reply["what"] == "--as must be a name."
    assert "--as ana" in reply["fix"]
    assert not people.with_suffix(".ledger").exists()


@pytest.mark.parametrize(
    "sql", ['SELECT COUNT(*) AS "" FROM people', 'SELECT region AS " ", COUNT(*) AS n FROM people']
)
def test_blank_column_name_is_refused_before_a_charge(sql: str, people: Path, told: Told) -> None:
    assert told("ask", "people.toml", sql, "--eps", "1", exit_code=4)["what"] == "A name is blank."
    assert not people.with_suffix(".ledger").exists()


@pytest.mark.parametrize("name", ["a.png", "./a.png", "soft.png", "hard.png"])
def test_one_file_for_the_picture_and_the_output_is_refused_before_the_charge(
    people: Path, told: Told, name: str
) -> None:
    if name in ("soft.png", "hard.png"):
        Path("a.png").write_bytes(b"")
        Path("soft.png").symlink_to("a.png")
        Path("hard.png").hardlink_to("a.png")
    flags = ("--plot", "a.png", "-o", name, "--format", "csv", "--yes")
    problem = told("ask", "people.toml", COUNTS, "--eps", "1", *flags, exit_code=2)
    assert problem["what"] == "plot must be another file than the output."
    assert not Path("people.ledger").exists()


def test_plot_says_which_of_several_columns_it_shows(people: Path, told: Told, shown: Shown) -> None:
    two = "SELECT COUNT(*) AS n, SUM(age) AS total FROM people"
    said = shown("ask", "people.toml", two, "--eps", "1", "--plot", "two.png")[1]
    assert "Drawn: two.png shows n alone" in said
    assert told("ask", "people.toml", two, "--eps", "1", "--plot", "three.png")["plotted"] == "n"
    assert "alone" not in shown("ask", "people.toml", COUNTS, "--eps", "1", "--plot", "one.png")[1]


def test_a_replay_charges_nothing_and_says_what_it_cost_first(people: Path, told: Told) -> None:
    first = told("ask", "people.toml", COUNTS, "--eps", "1")
    replay = told("ask", "people.toml", COUNTS, "--eps", "1")
    assert (first["charged"], first["replayed"]) == ("1", False)
    assert (replay["charged"], replay["cost"]["epsilon"], replay["replayed"]) == ("0", "1", True)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people GROUP BY",
        "SELECT COUNT(*) AS n FROM people AS",
        "SELECT COUNT(*) AS n FROM people p WHERE people.age > 1",
    ],
)
def test_broken_sql_is_refused_before_the_charge(people: Path, told: Told, sql: str) -> None:
    told("ask", "people.toml", sql, "--eps", "1", exit_code=4)
    assert not people.with_suffix(".ledger").exists()
