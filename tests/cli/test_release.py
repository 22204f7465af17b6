"""`discreet release`: the plan, one charge, the check, the files; data on stdout, the rest on stderr."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import CANARY
from cli.screen import type_answer
from discreet.cli.verbs import VERBS
from discreet.engine import Engine
from release import census

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]
RELEASE = ("plan", "build", "check", "publish")
PLAN, BUILD, CHECK, PUBLISH = (("release", verb) for verb in RELEASE)
BY_SEX = ("people.toml", "--by", "sex", "--eps", "1")
ROWS = [census.one(n, f"{CANARY}-{n // 3}", census.WARDS[n // 3 % 5], "fm"[n % 2]) for n in range(300)]
FILES = ["table.parquet", "noisy.parquet", "release.json"]


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A census in a folder of its own that is also the present one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    toml: Path = census.written(tmp_path, rows=ROWS, more="delta = 1e-7\n[budget.analysts]\nana = 1")
    return toml


def spent(told: Told) -> str:
    return str(told("budget", "people.toml")["spent"]["epsilon"])


# --- plan ------------------------------------------------------------------------------------------------------------


def test_plan_has_the_keys_of_the_public_face_and_touches_nothing(people: Path, told: Told) -> None:
    people.with_suffix(".csv").unlink()
    reply = told(*PLAN, *BY_SEX, "--share", "ward=0.5")
    assert reply["cost"] == {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "person"}
    assert (reply["remaining"]["epsilon"], reply["remaining_after"]["epsilon"]) == ("3", "2")
    assert reply["receipt"] is None
    assert [level["level"] for level in reply["levels"]] == ["country", "region", "ward"]
    assert all(
        {"level", "cells", "epsilon", "moe", "total_moe", "share", "locked"} <= set(level) for level in reply["levels"]
    )
    assert [level["locked"] for level in reply["levels"]] == [False, False, True]
    assert sorted(path.name for path in people.parent.iterdir()) == ["geo.csv", "people.toml"]


def test_plan_for_people_is_a_table_and_the_line_that_builds_it(people: Path, shown: Shown, told: Told) -> None:
    out, _ = shown(*PLAN, *BY_SEX, "--share", "ward=0.5", "--total", "300", "--level", "0.9")
    lines = out.splitlines()
    assert any(line.split()[:3] == ["level", "places", "cells"] for line in lines)
    assert any(line.split()[:5] == ["ward", "5", "10", "1/2", "locked"] for line in lines)
    for said in (
        "90 times of 100",
        "Shares: country and region take 1/4 of ε each, ward takes 1/2 (locked).",
        "after it 2",
        "300, which is public",
    ):
        assert said in out
    command = shlex.split(lines[-1])
    assert command[:3] == ["discreet", "release", "build"]
    assert told(*command[1:])["receipt"]


def test_plan_follows_its_flags(people: Path, told: Told) -> None:
    few, many = told(*PLAN, *BY_SEX), told(*PLAN, "people.toml", "--by", "sex,age", "--eps", "1")
    assert [level["cells"] for level in few["levels"]] == [2, 4, 10]
    assert [level["cells"] for level in many["levels"]] == [6, 12, 30]
    assert told(*PLAN, "people.toml", "--by", "sex", "--by", "age", "--eps", "1")["levels"] == many["levels"]
    sizes = told(*PLAN, "people.toml", "--groups", "household", "--largest", "4", "--eps", "1")
    assert [level["cells"] for level in sizes["levels"]] == [4, 8, 20]
    assert sizes["protects"] == "each person, with at most 1 row"
    assert told(*PLAN, *BY_SEX, "--level", "0.99")["levels"][0]["moe"] > few["levels"][0]["moe"]
    least = told(*PLAN, *BY_SEX, "--sharing", "least")["levels"]
    assert least[0]["share"] < least[1]["share"] < least[2]["share"]
    assert told(*PLAN, *BY_SEX, "--method", "topdown")["method"] == "topdown"
    assert told(*PLAN, *BY_SEX, "--as", "ana")["remaining"]["epsilon"] == "1"
    assert told(*PLAN, *BY_SEX, "--hierarchy", "geo", "--count", "rows")["title"] == "release of rows over geo by sex"


def test_missing_price_is_refused_with_a_line_that_runs(people: Path, told: Told) -> None:
    fix = told(*PLAN, "people.toml", "--by", "sex", "--share", "ward=0.4", exit_code=2)["fix"]
    told(*shlex.split(fix.partition("discreet ")[2]))


# --- build -----------------------------------------------------------------------------------------------------------


def test_build_makes_one_charge_and_a_folder_beside_the_metadata(people: Path, told: Told) -> None:
    planned = told(*PLAN, *BY_SEX)
    reply = told(*BUILD, *BY_SEX)
    assert (reply["cost"], reply["remaining"]) == (planned["cost"], planned["remaining_after"])
    assert reply["violations"] == {"sums": 0, "signs": 0, "fractions": 0, "totals": 0, "zeros": 0}
    assert [Path(file).name for file in reply["files"]] == FILES
    assert all(Path(file).is_file() for file in reply["files"])
    assert (reply["folder"], reply["replayed"]) == ("people.release", False)
    assert (reply["levels"], reply["caveats"]) == (planned["levels"], planned["caveats"])
    assert spent(told) == "1"
    for line in reply["next"]:
        told(*shlex.split(line)[1:])


def test_release_built_again_is_free_and_has_the_same_bytes(people: Path, told: Told) -> None:
    told(*BUILD, *BY_SEX)
    before = Path("people.release/table.parquet").read_bytes()
    assert "--yes" in told(*BUILD, *BY_SEX, exit_code=2)["fix"]
    rebuilt = told(*BUILD, *BY_SEX, "--yes")
    assert rebuilt["replayed"] is True
    assert Path("people.release/table.parquet").read_bytes() == before
    other = told(*BUILD, *BY_SEX, "--method", "chebyshev", "-o", "other.release")
    assert other["replayed"] is True
    assert other["next"][0].endswith("release check people.toml other.release")
    assert spent(told) == "1"


def test_public_files_of_totals_and_zeros_hold_at_no_charge(people: Path, told: Told, shown: Shown) -> None:
    Path("the totals.csv").write_text("ward,total\nn1,60\nn2,60\nn3,60\ns1,60\ns2,60\n")
    Path("zeros.csv").write_text("ward,sex\nn1,m\n")
    files = ("--leaf-totals", "the totals.csv", "--zeros", "zeros.csv")
    planned = told(*PLAN, *BY_SEX, *files)
    assert planned["known"] == {"total": 300, "leaf_totals": 5, "zeros": 1}
    built = told(*shlex.split(planned["next"][0])[1:])
    assert (built["method"], built["violations"]["totals"], built["violations"]["zeros"]) == ("flow", 0, 0)
    assert told(*BUILD, *BY_SEX, "--yes")["replayed"] is True
    out, err = shown(*BUILD, *BY_SEX, *files, "--yes")
    assert [line.split()[1:] for line in out.splitlines()[1:3]] == [["300", "public"], ["180", "public"]]
    assert "not protected here" in err
    told(*CHECK, "people.toml")
    told(*PUBLISH, "people.toml")
    assert "lowest place (5 in all)" in Path("people.published/report.md").read_text()


def test_table_is_on_stdout_and_all_else_on_stderr(people: Path, shown: Shown) -> None:
    out, err = shown(*BUILD, *BY_SEX)
    assert out.splitlines()[0].split() == ["place", "n", "estimate"]
    *lines, counted = out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["x", "north", "n1", "n2", "n3", "south", "s1", "s2"]
    assert all(" ± " in line for line in lines[1:])
    assert counted.startswith("n, estimate: seen in at most ")
    for said in ("cost: ε = 1", "remaining: ε = 2", "receipt: ", "broken rules: 0", "table.parquet", "release check"):
        assert said in err


def test_dry_run_of_build_shows_the_plan(people: Path, told: Told) -> None:
    planned = told(*PLAN, *BY_SEX)
    assert planned.pop("next")
    assert told(*BUILD, *BY_SEX, "--dry-run") == planned
    assert not Path("people.release").exists()


def test_too_dear_a_release_is_refused_with_one_that_fits(people: Path, told: Told) -> None:
    told(*BUILD, *BY_SEX)
    refused = told(*BUILD, "people.toml", "--eps", "2.5", "-o", "b.release", exit_code=5)
    line = next(line for line in refused["fix"].splitlines() if "discreet release" in line)
    assert told(*shlex.split(line.partition("discreet ")[2]), "-o", "b.release")["remaining"]["epsilon"] == "0"


def test_analyst_pays_from_an_own_cap(people: Path, told: Told) -> None:
    assert told(*BUILD, "people.toml", "--eps", "0.75", "--as", "ana")["remaining"]["epsilon"] == "0.25"
    assert "ana" in told(*BUILD, "people.toml", "--eps", "0.1", "--as", "anna", "--yes", exit_code=2)["fix"]
    assert told("budget", "people.toml")["analysts"] == [{"name": "ana", "cap": "1", "spent": "0.75"}]


REFUSED = [
    (["-o", "nowhere/a"], "mkdir -p nowhere"),
    (["-o", "people.csv"], "another name"),
    (["-o", "x" * 300], "shorter"),
    (["--format", "csv"], "--help"),
    (["--seed", "1"], "--help"),
    (["--share", "ward"], "--share ward=0.5"),
    (["--share", "ward=0.2", "--share", "ward=0.3"], "Remove one"),
    (["--largest", "x"], "8"),
]


@pytest.mark.parametrize(("more", "fix"), REFUSED, ids=[" ".join(more)[:40] for more, _ in REFUSED])
def test_wrong_outputs_and_flags_are_refused_before_the_charge(
    people: Path, told: Told, more: list[str], fix: str
) -> None:
    assert fix in told(*BUILD, *BY_SEX, *more, exit_code=2)["fix"]
    assert sorted(path.name for path in people.parent.iterdir()) == ["geo.csv", "people.csv", "people.toml"]


def test_folder_that_holds_no_release_keeps_its_files(people: Path, told: Told) -> None:
    Path("mine").mkdir()
    Path("mine/report.md").write_text("mine")
    assert "--yes" in told(*BUILD, *BY_SEX, "-o", "mine", exit_code=2)["fix"]
    assert not people.with_suffix(".ledger").exists()
    assert Path("mine/report.md").read_text() == "mine"
    Path("mine/report.md").rename("mine/notes.md")
    told(*BUILD, *BY_SEX, "-o", "mine")
    assert Path("mine/notes.md").read_text() == "mine"


def test_interrupt_ends_with_130_and_the_charge_stays(
    people: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Engine, *_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "run", interrupted)
        assert told(*BUILD, *BY_SEX, exit_code=130)["code"] == "interrupted"
    assert not Path("people.release").exists()
    assert spent(told) == "1"
    assert told(*BUILD, *BY_SEX)["replayed"] is False
    assert spent(told) == "1"


def test_full_disk_loses_no_release(people: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("discreet.durable.replacing_files", full)
        assert told(*BUILD, *BY_SEX, exit_code=7)["code"] == "cannot-write"
    assert not Path("people.release").exists()
    assert told(*BUILD, *BY_SEX)["replayed"] is True
    assert spent(told) == "1"


def test_explain_tells_how_a_release_was_measured(people: Path, told: Told, shown: Shown) -> None:
    receipt = told(*BUILD, *BY_SEX)["receipt"]
    for which in ("last", receipt, receipt.partition("-")[0]):
        reply = told("explain", "people.toml", which)
        assert reply["receipt"] == receipt
        assert reply["explain"]["question"] == "release of units over geo by sex"
        assert any("Laplace noise of scale 3" in line for line in reply["explain"]["words"])
    assert "Protected: each person" in shown("explain", "people.toml", "last")[0]
    assert "release of units over geo by sex" in shown("ledger", "people.toml")[0]


# --- check and publish -----------------------------------------------------------------------------------------------


def test_check_passes_what_was_built_and_reads_no_table(people: Path, told: Told, shown: Shown) -> None:
    told(*BUILD, *BY_SEX)
    people.with_suffix(".csv").unlink()
    reply = told(*CHECK, "people.toml")
    assert set(reply["violations"].values()) == {0}
    assert reply["problems"] == []
    assert reply["cost"]["epsilon"] == "1"
    out, _ = shown(*CHECK, "people.toml", "people.release")
    assert "16 numbers of 8 places on 3 levels, every rule is kept." in out


def _changed(column: str, change: Callable[[list[Any]], list[Any]]) -> None:
    """One column of the built table, otherwise, with a digest that fits."""
    import pyarrow
    from pyarrow import parquet

    from discreet.release.publish.files import digest

    file = Path("people.release/table.parquet")
    table = parquet.read_table(file)
    place = table.column_names.index(column)
    table = table.set_column(place, column, pyarrow.array(change(table[column].to_pylist())))
    parquet.write_table(table, file)
    facts = json.loads(Path("people.release/release.json").read_text())
    facts["files"]["table.parquet"]["sha256"] = digest(file)
    Path("people.release/release.json").write_text(json.dumps(facts))


BROKEN: dict[str, tuple[str, Callable[[list[Any]], list[Any]]]] = {
    "sums": ("n", lambda values: [values[0] + 1, *values[1:]]),
    "signs": ("n", lambda values: [*values[:-1], -1]),
    "fractions": ("n", lambda values: [float(values[0]) + 0.5, *map(float, values[1:])]),
    "margins": ("n_moe", lambda values: [values[0] - 1, *values[1:]]),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_broken_rule_ends_with_6_and_names_file_and_number(people: Path, told: Told, shown: Shown, rule: str) -> None:
    told(*BUILD, *BY_SEX)
    _changed(*BROKEN[rule])
    reply = told(*CHECK, "people.toml", exit_code=6)
    assert (reply["code"], reply["dataset"]) == ("integrity", "people")
    assert reply["violations"][rule] > 0
    assert any(line.startswith("table.parquet: ") for line in reply["problems"])
    out, _ = shown(*CHECK, "people.toml", exit_code=6)
    assert reply["problems"][0] in out
    assert told(*PUBLISH, "people.toml", exit_code=6)["code"] == "integrity"
    assert not Path("people.published").exists()


def test_edited_file_is_seen_by_its_bytes(people: Path, told: Told) -> None:
    told(*BUILD, *BY_SEX)
    file = Path("people.release/noisy.parquet")
    file.write_bytes(file.read_bytes() + b"x")
    assert "noisy.parquet: was changed" in " ".join(told(*CHECK, "people.toml", exit_code=6)["problems"])
    file.unlink()
    assert "noisy.parquet: is missing." in told(*CHECK, "people.toml", exit_code=6)["problems"]


def test_release_of_another_table_does_not_check(people: Path, told: Told) -> None:
    told(*BUILD, *BY_SEX)
    people.write_text(people.read_text().replace('name = "people"', 'name = "others"'))
    assert "dataset" in told(*CHECK, "people.toml", exit_code=6)["problems"][0]


def test_publish_lists_the_files_and_costs_nothing(people: Path, told: Told, shown: Shown) -> None:
    told(*BUILD, *BY_SEX)
    reply = told(*PUBLISH, "people.toml", "-o", "out")
    names = {"index.html", "report.md", "table.csv", "table.parquet", "noisy.csv", "noisy.parquet", "release.json"}
    assert {Path(file).name for file in reply["files"]} == {path.name for path in Path("out").iterdir()} == names
    assert "--yes" in told(*PUBLISH, "people.toml", "-o", "out", exit_code=2)["fix"]
    out, _ = shown(*PUBLISH, "people.toml", "people.release", "-o", "out", "--yes")
    assert "out/index.html" in out
    assert spent(told) == "1"
    page = Path("out/index.html").read_text()
    assert CANARY not in page
    header = Path("out/table.csv").read_text().splitlines()[0].replace('"', "").split(",")
    assert header[-6:] == ["n", "n_moe", "n_low", "n_high", "n_estimate", "n_of"]


@pytest.mark.parametrize("verb", ["check", "publish"])
def test_folder_without_a_release_is_refused_with_the_command_that_builds_one(
    people: Path, told: Told, verb: str
) -> None:
    fix = told("release", verb, "people.toml", exit_code=2)["fix"]
    told(*shlex.split(fix.partition("discreet ")[2]))
    told("release", verb, "people.toml")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"kind": "release", "format": 99}'])
def test_file_that_holds_no_facts_ends_with_6(people: Path, told: Told, content: str) -> None:
    Path("people.release").mkdir()
    Path("people.release/release.json").write_text(content)
    assert "discreet release build people.toml" in told(*CHECK, "people.toml", exit_code=6)["fix"]
    assert "discreet release build people.toml" in told(*PUBLISH, "people.toml", exit_code=6)["fix"]


# --- the verbs themselves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb.startswith("release ")])
def test_every_outcome_is_one_object(verb: str, people: Path, told: Told, tmp_path: Path) -> None:
    more = ["--eps", "1"] if verb in ("release plan", "release build") else []
    told(*verb.split(), exit_code=2)
    told(*verb.split(), "nowhere.toml", *more, exit_code=3)
    told(*verb.split(), "people.csv", *more, exit_code=3)
    (tmp_path / "broken.toml").write_text("[dataset\n")
    told(*verb.split(), "broken.toml", *more, exit_code=3)
    assert not (tmp_path / "people.ledger").exists()


def test_help_of_a_first_word_lists_the_second(shown: Shown) -> None:
    out, _ = shown("release", "--help")
    assert [line.split(":")[0] for line in out.splitlines()] == [f"discreet release {verb}" for verb in RELEASE]


def test_second_word_is_named_where_it_is_missing_or_misspelt(told: Told) -> None:
    for words in (["release"], ["release", "people.toml"]):
        assert "plan, build, check, publish" in told(*words, exit_code=2)["what"]
    assert "'release build'?" in told("release", "biuld", "people.toml", exit_code=2)["what"]


def test_plan_loads_no_engine_no_compiler_and_no_frames(people: Path) -> None:
    script = "from discreet.cli.main import status\nimport sys\n"
    script += f"status({[*PLAN, *BY_SEX]!r})\nprint(*sorted(sys.modules), file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(ended.stderr.splitlines()[-1].split())
    assert "discreet.release.plan" in loaded
    assert loaded & {"duckdb", "numba", "cvxpy", "ortools", "pandas", "polars", "pyarrow", "dp_accounting"} == set()


# --- on a terminal ---------------------------------------------------------------------------------------------------


def test_enter_agrees_to_the_plan(people: Path, told: Told) -> None:
    status, screen = type_answer(people.parent, [*BUILD, *BY_SEX], answer=b"\n")
    assert status == 0, screen
    assert screen.index("± total") < screen.index("leaves it: ") < screen.index("receipt: ")
    assert spent(told) == "1"


@pytest.mark.parametrize("answer", [b"n\n", b"\x03", b"\x04"], ids=["n", "ctrl-c", "ctrl-d"])
def test_any_reply_but_enter_leaves_the_release_unbuilt_and_uncharged(people: Path, answer: bytes) -> None:
    more = ["--resimulate", "19", "-o", "b.release"]
    status, screen = type_answer(people.parent, [*BUILD, *BY_SEX, *more], answer=answer)
    assert status == 130, screen
    assert "nothing was charged" in screen
    assert "--resimulate 19 -o b.release --yes" in screen.replace("\r\n", "")
    assert not people.with_suffix(".ledger").exists()


def test_bar_is_drawn_where_building_takes_long(people: Path) -> None:
    before = "import discreet.cli.terminal as t; t.PATIENCE = 0.0"
    status, screen = type_answer(people.parent, [*BUILD, *BY_SEX, "--yes"], before=before)
    assert status == 0, screen
    assert "making it add up" in screen


def test_a_plan_that_does_not_fit_offers_no_command_that_fails(people: Path, told: Told, shown: Shown) -> None:
    out, _ = shown(*PLAN, "people.toml", "--by", "sex", "--eps", "50")
    assert "It does not fit: epsilon 3 is left." in out
    assert "To build it:" not in out
    assert "This fits:" in out
    reply = told(*PLAN, "people.toml", "--by", "sex", "--eps", "50")
    assert reply["fits"] is False
    told(*shlex.split(reply["next"][0])[1:])
