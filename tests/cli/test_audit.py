"""`discreet audit`: one object, honest words, and exit 6 when a claim falls or a planted bug lives."""

import dataclasses
import json
import shlex
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.audit import suite
from discreet.audit.claims import claims
from discreet.audit.mutants import mutants
from discreet.cli import audit, audit_table, main, terminal
from discreet.noise.laplace import DiscreteLaplace

ROW_KEYS = {"name", "claim", "lower_bound", "runs", "event", "verdict"}


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main.status(["audit", *arguments, "--json"])
    text = capfd.readouterr().out
    assert text.count("\n") == 1
    return status, json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_named_claim_is_one_object_of_rows(capfd: pytest.CaptureFixture[str]) -> None:
    status, reply = said(capfd, "laplace-1", "--runs", "2000")
    assert status == 0
    assert reply["ok"] is True
    drawn, exact = reply["audit"]
    assert set(drawn) == set(exact) == ROW_KEYS
    assert (drawn["claim"], drawn["runs"], drawn["verdict"]) == ("ε = 1", 2000, "not refuted")
    assert 0 < drawn["lower_bound"] < 1
    assert (exact["runs"], exact["lower_bound"]) == (0, 1.0)
    assert "mutants" not in reply


def test_beginning_of_a_name_stands_for_all_with_it(capfd: pytest.CaptureFixture[str]) -> None:
    _, reply = said(capfd, "response", "--runs", "200")
    assert {row["name"] for row in reply["audit"]} == {"response-0.5", "response-1", "response-2", "response-five"}


def test_any_beginning_of_a_name_selects_and_a_whole_name_selects_itself_alone(
    capfd: pytest.CaptureFixture[str],
) -> None:
    _, reply = said(capfd, "laplac", "--list")
    assert {"laplace-0.5", "laplace-histogram"} <= set(reply["claims"])
    assert {bug["name"] for bug in reply["mutants"]} == {"laplace-half-scale", "laplace-scale-epsilon", "laplace-by-l2"}
    assert said(capfd, "quantile-0", "--list")[1]["claims"] == ["quantile-0"]


def test_list_names_everything_and_runs_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_run", lambda jobs: pytest.fail("it ran"))
    status, reply = said(capfd, "--list")
    assert status == 0
    assert set(reply["claims"]) == {claim.name for claim in claims()}
    assert [bug["name"] for bug in reply["mutants"]] == [bug.name for bug in mutants()]
    assert main.status(["audit", "--list"]) == 0
    text = capfd.readouterr().out
    assert all(name in text.split() for name in reply["claims"])
    assert all(bug["wrong"] in text for bug in reply["mutants"])


def test_help_is_plain_about_names(capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(["audit", "--help"]) == 0
    text = " ".join(capfd.readouterr().out.split())
    assert "list[str]" not in text
    assert "planted bugs run when named" in text


def test_runs_may_be_written_with_an_exponent(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd, "laplace-1", "--runs", "1e3")[1]["audit"][0]["runs"] == 1000


def test_difference_names_both_places(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd, "fork-repeats-noise")[1]["mutants"][0]["event"].startswith("y[0] − y[1]")


def test_names_stay_whole_on_a_narrow_terminal_and_in_a_file(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    from discreet.audit.report import Row

    names = ("replace-one-as-add-remove", "permute-and-flip-as-exponential")
    rows = tuple(Row(name, "ε = 0.5 at δ = 1e-6", 1.25, 20_000, "y[0] − y[1] ≥ 3", "not refuted") for name in names)
    for width in (40, 60, 200):
        console = Console(width=width, color_system=None)
        with console.capture() as drawn:
            console.print(audit_table.rows_table("claims", rows))
        assert all(name in drawn.get() for name in names)
        assert "…" not in drawn.get()
        assert max(map(len, drawn.get().splitlines())) <= width
    assert main.status(["audit", "permute", "--runs", "200"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert any(line.startswith("permute-and-flip-as-exponential  ") and line.endswith("refuted") for line in lines)


def test_named_planted_bug_is_caught_and_exits_0(capfd: pytest.CaptureFixture[str]) -> None:
    status, reply = said(capfd, "float-laplace", "exponential-without-2", "one-sided-noise")
    assert status == 0
    assert reply["audit"] == []
    assert all(row["verdict"] == "refuted" and row["wrong"] for row in reply["mutants"])
    assert next(row for row in reply["mutants"] if row["name"] == "one-sided-noise")["lower_bound"] is None


def test_all_flag_runs_claims_and_planted_bugs(capfd: pytest.CaptureFixture[str]) -> None:
    status, reply = said(capfd, "--all", "--runs", "200")
    assert status == 0
    assert {row["name"] for row in reply["audit"]} == {claim.name for claim in claims()}
    assert [row["name"] for row in reply["mutants"]] == [bug.name for bug in mutants()]


def too_loud(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers a Laplace claim whose noise is half as wide as it says."""
    true = next(claim for claim in claims() if claim.name == "laplace-1")
    noise = DiscreteLaplace(Fraction(1, 2))
    broken = dataclasses.replace(true, name="broken", mechanism=dataclasses.replace(true.mechanism, noise=noise))
    monkeypatch.setattr(suite, "claims", lambda: (broken,))


def test_refuted_claim_exits_6_with_its_rows(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    too_loud(monkeypatch)
    status, reply = said(capfd, "--runs", "4000")
    assert status == 6
    assert (reply["ok"], reply["code"], reply["exit"]) == (False, "refuted", 6)
    assert "broken" in reply["why"]
    assert {row["verdict"] for row in reply["audit"]} == {"refuted"}
    assert main.status(["audit", "--runs", "4000"]) == 6
    assert "A claim is refuted." in capfd.readouterr().out


def test_surviving_bug_exits_6(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    bug = next(b for b in mutants() if b.name == "laplace-half-scale")
    dull = dataclasses.replace(bug, name="dull", pairs=((3, 3),))
    monkeypatch.setattr(suite, "mutants", lambda: (dull,))
    monkeypatch.setattr(suite, "claims", lambda: ())
    status, reply = said(capfd, "--all")
    assert status == 6
    assert "dull" in reply["why"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["lapalce-1"],
        [""],
        ["--runs", "199"],
        ["--runs", "0"],
        ["--runs", "10000001"],
        ["--runs", "x"],
        ["--runs", "200.5"],
    ],
)
def test_bad_name_and_bad_runs_exit_2(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    status, reply = said(capfd, *arguments)
    assert status == 2
    assert reply["code"] == "bad-value"
    assert reply["fix"]
    assert "nput should" not in reply["what"]


def test_misspelt_name_gets_a_suggestion(capfd: pytest.CaptureFixture[str]) -> None:
    _, reply = said(capfd, "lapalce-1")
    assert "laplace-1" in reply["fix"]


def test_table_says_not_refuted_and_what_that_means(capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(["audit", "two-coins", "fork-repeats-noise", "--runs", "400"]) == 0
    text = capfd.readouterr().out
    assert "not refuted" in text
    assert "not that the claim is true" in text
    assert "exact" in text
    assert "1 of 1" in text
    assert "verified" not in text


def test_bar_appears_on_a_terminal_only_and_leaves_stdout_alone(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main.status(["audit", "two-coins", "--runs", "1e5", "--json"]) == 0
    out = capfd.readouterr()
    assert json.loads(out.out)["ok"] is True
    assert "two-coins" in out.err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert main.status(["audit", "two-coins", "--runs", "200", "--json"]) == 0
    assert capfd.readouterr().err == ""


def test_a_markdown_file_gets_the_tables_as_markdown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "audit.md"
    assert main.status(["audit", "two-coins", "fork-repeats-noise", "--runs", "400", "-o", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Claims and lower bounds\n")
    assert "1 claims, 0 refuted. 1 of 1 planted bugs caught." in text
    assert f"`discreet audit -o {file} --yes two-coins fork-repeats-noise`" in text
    assert "| two-coins | ε = 1.09862 | 1.098 | exact |" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.count(" | ") for row in rows} == {5, 6}
    assert capfd.readouterr().out == ""


TOOLS = Path(__file__).parents[1] / "audit" / "tools"


@pytest.fixture
def person(tmp_path: Path) -> list[str]:
    """Nobody, and one person with three visits."""
    header = "who,visit\n"
    (tmp_path / "nobody.csv").write_text(header)
    (tmp_path / "ada.csv").write_text(header + "".join(f"Ada,{day}\n" for day in range(3)))
    return ["--pair", str(tmp_path / "nobody.csv"), str(tmp_path / "ada.csv"), "--claim", "0.5"]


def tool(name: str) -> list[str]:
    return ["--command", f"{shlex.quote(sys.executable)} {shlex.quote(str(TOOLS / name))} {{table}} {{repeats}}"]


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("scale.py", ""),
        ("rows.py", ""),
        ("floats.py", "lowest set bit"),
        ("seeded.py", "repeats an earlier start"),
        ("clocked.py", "in the same second"),
    ],
)
def test_a_program_with_a_planted_mistake_is_refuted(
    name: str, event: str, person: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    status, reply = said(capfd, *tool(name), *person, "--runs", "6000")
    assert (status, reply["code"], reply["ok"]) == (6, "refuted", False)
    (row,) = reply["audit"]
    assert row["verdict"] == "refuted"
    assert row["lower_bound"] > 0.5
    assert event in row["event"]
    assert ("seeded by the clock" in row["sentence"]) == (name == "clocked.py")


def test_a_right_program_is_not_refuted_and_the_plan_comes_first(
    person: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main.status(["audit", *tool("right.py"), *person, "--runs", "1e4"]) == 0
    out = capfd.readouterr()
    assert "about 10,000 runs on each table: Laplace noise on a count for 1.5 times the claimed ε" in out.err
    assert "is not refuted" in out.out
    assert "verified" not in out.out
    status, reply = said(capfd, *tool("right.py"), *person, "--runs", "2000")
    assert (status, reply["plan"]["runs"]) == (0, 2000)
    assert set(reply["audit"][0]) == {*ROW_KEYS, "sentence"}


def test_a_program_of_twice_its_claim_is_refuted_by_its_numbers(
    person: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """At a small ε whole answers repeat by chance, as often on both tables: that event must not hide the numbers.

    200,000 runs see ε = 0.5 above a claim of 0.25 with chance ≥ 1 − 1e-6.
    """
    pair = [*person[:-1], "0.25"]
    status, reply = said(capfd, *tool("right.py"), *pair, "--runs", "200000")
    assert status == 6
    assert "repeats" not in reply["audit"][0]["event"]


@pytest.mark.long
def test_a_right_program_is_not_refuted_in_100_audits(person: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """By chance once in 10⁶ audits at most."""
    for _ in range(100):
        assert said(capfd, *tool("right.py"), *person, "--runs", "4000")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--command", "./t {table} {repeats}"], "command needs two tables"),
        (["--command", "./t {table} {repeats}", "--pair", "x.csv", "y.csv"], "command needs a claimed ε"),
        (["--command", "./t {table}", "PAIR"], "{repeats}"),
        (["--command", "./t {table} {repeats}", "--pair", "x.csv", "y.csv", "--claim", "1"], "pair must be two files"),
        (["--command", "./t {table} {repeats}", "PAIR", "--claim", "-1"], "claim must be"),
        (["--command", "./t {table} {repeats}", "PAIR", "--delta", "2"], "delta must be"),
        (["--command", "./t {table} {repeats}", "PAIR", "--seconds", "0"], "seconds must be"),
        (["--command", "./t {table} {repeats}", "PAIR", "--runs", "5"], "runs must be"),
        (["--command", "./t {table} {repeats}", "PAIR"], "can be started"),
        (["laplace-1", "--command", "./t {table} {repeats}", "PAIR"], "command must stand alone"),
        (["--claim", "1"], "claim is about a program"),
        (["PAIR"], "is about a program"),
    ],
)
def test_what_a_program_lacks_is_said(
    arguments: list[str], words: str, person: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    filled = [word for argument in arguments for word in (person if argument == "PAIR" else [argument])]
    status, reply = said(capfd, *filled)
    assert (status, reply["code"]) == (2, "bad-value")
    assert words in f"{reply['what']} {reply['why']}"


def test_two_tables_alike_are_refused(person: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    status, reply = said(capfd, *tool("right.py"), "--pair", person[1], person[1], "--claim", "1")
    assert status == 2
    assert "tables that differ" in reply["what"]


def test_the_tables_are_never_written_over(person: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    status, reply = said(capfd, *tool("right.py"), *person, "-o", person[2], "--yes")
    assert status == 2
    assert "output must not be" in reply["what"]
    assert Path(person[2]).read_text().startswith("who,visit")


def test_the_program_is_never_written_over(
    person: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program, script = tmp_path / "lap", tmp_path / "lap.py"
    script.write_bytes((TOOLS / "right.py").read_bytes())
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    link = tmp_path / "lap2"
    link.hardlink_to(program)
    for command, output in ((program, program), (program, link), (f"sh {script}", script)):
        before = output.read_bytes()
        status, reply = said(
            capfd, "--command", f"{command} {{table}} {{repeats}}", *person, "-o", str(output), "--yes"
        )
        assert status == 2
        assert "output must not be a file that the command runs" in reply["what"]
        assert output.read_bytes() == before


def test_a_program_that_prints_rows_is_not_quoted(
    person: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "leak.py").write_text("import sys\nprint(open(sys.argv[1]).read() + '\\x1b[31msecret\\n' * 30)\n")
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'leak.py'))} {{table}} {{repeats}}"
    assert main.status(["audit", "--command", command, *person]) == 2
    out = capfd.readouterr()
    assert "secret" not in out.out + out.err
    assert "\x1b" not in out.out + out.err
