"""`discreet synth`: the price of a synthetic table, one charge and its file, and a page with a check or without."""

import json
import re
import shlex
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import CANARY
from discreet.cli import main, terminal
from discreet.rehearsal.stamp import SENTENCE

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]
BUILD = ("synth", "build", "people.toml", "--eps", "1", "-o", "s.parquet")
REPORT = ("synth", "report", "s.parquet", "people.toml")


def spent(told: Told) -> Fraction:
    return Fraction(told("budget", "people.toml")["spent"]["epsilon"])


# --- quote -----------------------------------------------------------------------------------------------------------


def test_a_quote_costs_nothing_and_offers_the_build(people: Path, told: Told) -> None:
    people.with_suffix(".csv").unlink()
    reply = told("synth", "quote", "people.toml", "--eps", "1", "--columns", "age,region", "--max-cells", "5000")
    assert (reply["method"], reply["cells"], reply["fits"]) == ("pairs", 5000, True)
    assert reply["cost"] == {"epsilon": "1", "delta": "1e-9", "neighbours": "add-remove", "unit": "person_id"}
    assert shlex.split(reply["next"][0])[:4] == ["discreet", "synth", "build", "people.toml"]
    assert "--max-cells 5000" in reply["next"][0]
    assert sorted(path.name for path in people.parent.iterdir()) == ["people.toml"]


def test_a_quote_reads_as_lines(people: Path, shown: Shown) -> None:
    out, _ = shown("synth", "quote", "people.toml", "--eps", "1", "--method", "independent")
    assert out.startswith("Synthetic table of 2 columns: ε = 1, δ = 1e-9; of ε = 3 there would remain 2.")
    assert "as was asked" in out
    assert "discreet synth build people.toml --eps 1 --method independent" in out


def test_a_quote_that_does_not_fit_offers_what_does(people: Path, told: Told) -> None:
    reply = told("synth", "quote", "people.toml", "--eps", "30")
    assert reply["fits"] is False
    assert Fraction(shlex.split(reply["next"][0])[-1]) <= 3


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "--eps 1"),
        (("--eps", "1", "--columns", "age,"), "--columns age,region"),
        (("--eps", "1", "--columns", "agee"), "age"),
        (("--eps", "1", "--columns", "person_id"), "identifier"),
        (("--eps", "1", "--method", "aim"), "--method auto"),
        (("--eps", "1", "--max-cells", "1"), "max-cells"),
        (("--eps", "1", "--rows", "0"), "rows"),
        (("--eps", "0"), "epsilon"),
        (("--eps", "1", "--zeros", "people.csv"), ".toml or .json"),
        (("--eps", "1", "--as", "anna"), "ana"),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, tuple) else None,
)
def test_flags_that_break_a_rule_are_refused(people: Path, told: Told, flags: tuple[str, ...], said: str) -> None:
    problem = told("synth", "build", "people.toml", *flags, exit_code=problem_exit(flags))
    assert said in f"{problem['what']} {problem['why']} {problem['fix']}"
    assert not people.with_suffix(".ledger").exists() or spent(told) == 0


def problem_exit(flags: tuple[str, ...]) -> int:
    return 3 if "--zeros" in flags else 2


# --- build -----------------------------------------------------------------------------------------------------------


def test_a_build_is_charged_once_and_written_alike(people: Path, told: Told) -> None:
    first = told(*BUILD)
    content = Path("s.parquet").read_bytes()
    assert (first["replayed"], first["file"], spent(told)) == (False, "s.parquet", 1)
    assert sum(Fraction(measured["share"]) for measured in first["measured"]) == 1
    assert first["privacy"]["receipt"] == first["receipt"]
    second = told(*BUILD, "--yes")
    assert (second["replayed"], second["receipt"], spent(told)) == (True, first["receipt"], 1)
    assert Path("s.parquet").read_bytes() == content
    other = told(*BUILD[:-1], "again.parquet")
    assert (other["replayed"], Path("again.parquet").read_bytes() == content) == (True, True)


def test_people_read_what_was_paid_and_what_can_follow(people: Path, shown: Shown) -> None:
    out, err = shown(*BUILD)
    assert out == "s.parquet\n"
    for said in ("rows of 3 columns", "cost: ε = 1", "protecting each person_id", "receipt: ", "remaining: ε = 2"):
        assert said in err
    assert "discreet synth report s.parquet people.toml --eps 0.1" in err
    assert "replayed: cost 0" in shown(*BUILD, "--yes")[1]


def test_the_file_has_a_name_of_its_own_by_default(people: Path, told: Told) -> None:
    assert told(*BUILD[:-2])["file"] == "people.synthetic.parquet"


def test_a_csv_holds_rows_alone_and_the_next_step_is_the_file_with_the_promise(people: Path, told: Told) -> None:
    reply = told(*BUILD[:-1], "s.csv", "--rows", "40")
    lines = Path("s.csv").read_text().splitlines()
    assert lines[0] == '"person_id","region","age"'
    assert len(lines) - 1 == reply["rows"] >= 40
    assert "-o s.parquet" in reply["next"][0]
    told(*shlex.split(reply["next"][0])[1:])
    assert Path("s.parquet").exists()
    assert spent(told) == 1


def test_what_does_not_fit_is_refused_with_what_does(people: Path, told: Told) -> None:
    problem = told("synth", "build", "people.toml", "--eps", "30", exit_code=5)
    assert problem["fixes"][0]["verb"] == "synth build"
    assert Fraction(problem["fixes"][0]["arguments"]["epsilon"]) <= 3
    assert not Path("people.synthetic.parquet").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("people.csv", "a private table"),
        ("people.toml", "must end in"),
        ("people.ledger", "must end in"),
        ("s.xlsx", "must end in .parquet or .csv"),
        ("nowhere/s.parquet", "mkdir -p nowhere"),
        (".", "must end in"),
        ("there.parquet", "--yes"),
        ("x" * 300 + ".parquet", "shorter"),
    ],
    ids=["source", "toml", "ledger", "ending", "folder", "a folder", "there", "long"],
)
def test_places_are_refused_before_the_charge(people: Path, told: Told, name: str, said: str) -> None:
    Path("there.parquet").write_text("mine")
    problem = told(*BUILD[:-1], name, exit_code=2)
    assert said in f"{problem['what']} {problem['fix']}"
    assert not people.with_suffix(".ledger").exists()


def test_impossible_combinations_never_occur(people: Path, told: Told) -> None:
    Path("zeros.toml").write_text('[[zeros]]\nregion = "north"\nage = { from = 0, to = 89 }\n')
    told(*BUILD, "--zeros", "zeros.toml")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table("s.parquet").to_pylist()
    assert not [row for row in table if row["region"] == "north" and row["age"] is not None and row["age"] <= 89]


@pytest.mark.parametrize(
    "content",
    [
        [{"person_id": 1, CANARY: "north"}],
        [{"region": CANARY, "age": 40}],
        [{"region": ["north", CANARY], "age": 40}],
        [{"region": "north", "age": CANARY}],
        [{"region": "north", "age": {CANARY: 1}}],
        [{CANARY: {"from": 1, "to": 2, "x": 3}}],
        {"zeros": [], CANARY: 1},
        [CANARY],
    ],
    ids=repr,
)
def test_a_private_file_in_place_of_zeros_is_not_repeated(people: Path, told: Told, content: Any) -> None:
    """`told` looks for the canary in all that is printed."""
    Path("zeros.json").write_text(json.dumps(content))
    problem = told(*BUILD, "--zeros", "zeros.json", exit_code=2)
    assert "zeros" in problem["what"]


def test_a_second_ledger_over_the_same_rows_is_refused(people: Path, told: Told) -> None:
    told(*BUILD)
    people.with_name("twin.toml").write_text(people.read_text())
    problem = told("synth", "build", "twin.toml", "--eps", "1", exit_code=6)
    assert problem["fixes"][0]["verb"] == "synth build"
    told("synth", "build", "twin.toml", "--eps", "1", "--second-ledger", "--why", "a test")


# --- report ----------------------------------------------------------------------------------------------------------


def test_a_page_without_a_check_is_free(people: Path, told: Told, shown: Shown) -> None:
    told(*BUILD)
    reply = told(*REPORT)
    assert (reply["file"], reply["check"], reply["cost"], spent(told)) == ("s.html", None, None, 1)
    assert "Synthetic table of people" in Path("s.html").read_text(encoding="utf-8")
    assert reply["next"] == ["discreet synth report s.parquet people.toml --eps 0.1"]
    _, err = shown(*REPORT, "-o", "other.html")
    assert "nothing was charged" in err


def test_a_check_is_charged_once_and_stands_on_the_page(people: Path, told: Told, shown: Shown) -> None:
    told(*BUILD)
    first = told(*REPORT, "--eps", "0.5", "-o", "r.html")
    assert (first["replayed"], first["cost"]["epsilon"], spent(told)) == (False, "0.5", Fraction("1.5"))
    assert first["check"]["receipt"] == first["receipt"]
    content = Path("r.html").read_bytes()
    assert first["receipt"].encode() in content
    second = told(*REPORT, "--eps", "0.5", "-o", "r.html", "--yes")
    assert (second["replayed"], second["receipt"], spent(told)) == (True, first["receipt"], Fraction("1.5"))
    _, err = shown(*REPORT, "--eps", "0.5", "-o", "r.html", "--yes")
    assert "replayed" in err
    assert first["receipt"] in err


@pytest.mark.parametrize("epsilon", ["0.0002", "0.001"])
def test_a_check_that_noise_drowns_is_told_as_json(people: Path, told: Told, epsilon: str) -> None:
    """The ± of a correlation has no end where the noisy number of units is less than its own ±, as it mostly is."""
    number = '[columns.number]\ntype = "integer"\nbounds = [0, 600]\n'
    people.write_text(people.read_text().replace("[budget]", f"{number}[budget]", 1))
    first, *lines = people.with_suffix(".csv").read_text().splitlines()
    rows = [f"{first},number", *(f"{line},{number}" for number, line in enumerate(lines))]
    people.with_suffix(".csv").write_text("\n".join(rows) + "\n")
    told(*BUILD)
    reply = told(*REPORT, "--eps", epsilon)
    (gap,) = [own for own in reply["check"]["statistics"] if own["statistic"] == "correlation"]
    assert gap["moe"] is None or gap["moe"] > 1
    assert told(*REPORT, "--eps", epsilon, "--yes")["check"]["statistics"] == reply["check"]["statistics"]


def test_a_check_that_does_not_fit_offers_one_that_does(people: Path, told: Told) -> None:
    told(*BUILD)
    problem = told(*REPORT, "--eps", "50", exit_code=5)
    assert problem["fixes"][0]["verb"] == "synth report"
    assert Fraction(problem["fixes"][0]["arguments"]["epsilon"]) <= 2
    assert not Path("s.html").exists()
    assert spent(told) == 1


def test_a_class_is_predicted_from_synthetic_rows(people: Path, told: Told) -> None:
    told(*BUILD)
    reply = told(*REPORT, "--eps", "1", "--target", "region")
    assert any("accuracy" in row["statistic"] for row in reply["check"]["statistics"])


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--delta", "1e-8"), "--eps 0.1"),
        (("--target", "region"), "--eps 0.1"),
        (("--eps", "0"), "epsilon"),
        (("-o", "people.csv"), ".html"),
        (("-o", "s.parquet"), ".html"),
        (("-o", "there.html"), "--yes"),
        (("-o", "nowhere/r.html"), "mkdir"),
        (("--eps", "0.1", "--as", "anna"), "ana"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_reports_that_break_a_rule_cost_nothing(people: Path, told: Told, flags: tuple[str, ...], said: str) -> None:
    told(*BUILD)
    Path("there.html").write_text("mine")
    problem = told(*REPORT, *flags, exit_code=2)
    assert said in f"{problem['what']} {problem['fix']}"
    assert spent(told) == 1
    assert Path("there.html").read_text() == "mine"


def test_files_that_are_none_are_refused(people: Path, told: Told) -> None:
    told(*BUILD)
    told("synth", "report", "nowhere.parquet", "people.toml", exit_code=2)
    told("synth", "report", "people.csv", "people.toml", exit_code=2)
    Path("cut.parquet").write_bytes(Path("s.parquet").read_bytes()[:-100])
    assert told("synth", "report", "cut.parquet", "people.toml", "--eps", "0.1", exit_code=6)["code"] == "integrity"
    assert spent(told) == 1


def test_a_file_of_other_public_facts_is_refused(people: Path, told: Told) -> None:
    told(*BUILD)
    people.write_text(people.read_text().replace("[0, 110]", "[0, 120]"))
    problem = told(*REPORT, "--eps", "0.1", exit_code=2)
    assert "public facts" in problem["what"]


def test_on_a_terminal_the_price_of_a_check_is_agreed_first(
    people: Path, told: Told, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    told(*BUILD)
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda: "n")
    assert main.status([*REPORT, "--eps", "0.5"]) == 130
    said = capfd.readouterr().err
    assert "ε = 0.5" in said
    assert "discreet synth report s.parquet people.toml --eps 0.5 --yes" in said
    assert spent(told) == 1
    monkeypatch.setattr("builtins.input", lambda: "")
    assert main.status([*REPORT, "--eps", "0.5"]) == 0
    capfd.readouterr()
    assert spent(told) == Fraction("1.5")


# --- rehearsal -------------------------------------------------------------------------------------------------------


def test_a_rehearsal_charges_nothing_and_stamps_all_that_leaves_it(people: Path, told: Told, shown: Shown) -> None:
    people.with_suffix(".csv").unlink()
    reply = told("synth", "build", "people.toml", "--eps", "1", "--rehearse")
    assert (next(iter(reply)), reply["file"]) == ("rehearsal", "people.rehearsal.parquet")
    assert reply["receipt"].startswith("rehearsal-")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = parquet.ParquetFile("people.rehearsal.parquet")
    assert set(file.read().column("rehearsal").to_pylist()) == {"invented"}
    assert json.loads(file.metadata.metadata[b"discreet"])["rehearsal"] is True
    page = told(*shlex.split(reply["next"][0])[1:])
    assert next(iter(page)) == "rehearsal"
    assert "<title>REHEARSAL: " in Path("people.rehearsal.html").read_text(encoding="utf-8")
    _, err = shown(*shlex.split(reply["next"][0])[1:], "-o", "again.html")
    assert err.strip().startswith(SENTENCE)
    shown("synth", "build", "people.toml", "--eps", "1", "--rehearse", "-o", "r.csv")
    header, *lines = Path("r.csv").read_text().splitlines()
    assert header.endswith('"rehearsal"')
    assert all(line.endswith('"invented"') for line in lines)
    assert not people.with_suffix(".ledger").exists()


def test_a_rehearsal_replaces_nothing_and_is_not_taken_for_real(people: Path, told: Told) -> None:
    told(*BUILD)
    told(*BUILD, "--rehearse", "--yes", exit_code=2)
    told("synth", "build", "people.toml", "--eps", "1", "--rehearse")
    problem = told("synth", "report", "people.rehearsal.parquet", "people.toml", exit_code=2)
    assert "--rehearse" in problem["fix"]
    told(*REPORT, "--rehearse", exit_code=2)


def test_no_output_replaces_the_second_table_or_the_zeros(people: Path, told: Told) -> None:
    """The second table lies where no metadata do, and nothing was asked of it: only its own metadata name it."""
    folder, rows = people.parent, people.parent / "apart" / "visits.csv"
    rows.parent.mkdir()
    rows.write_text("person_id,reason\n1,cold\n")
    people.write_text(re.sub(r"max_rows = \d+", "max_rows = 1", people.read_text()))
    visits = people.read_text().replace('name = "people"', 'name = "visits"')
    head, _, _ = visits.partition("[columns")
    head = re.sub(r'source = ".*"', 'source = "apart/visits.csv"', head)
    declared = '[columns.reason]\ntype = "category"\nvalues = ["cold"]\n[budget]\nepsilon = 3\ndelta = 1e-7\n'
    (folder / "visits.toml").write_text(head + declared)
    for verb in ("quote", "build"):
        words = ("synth", verb, "people.toml", "--child", "visits.toml", "--eps", "1", "--yes")
        problem = told(*words, "-o", "apart/visits.csv", exit_code=2)
        assert "private table" in problem["what"]
        assert rows.read_text().startswith("person_id")
    zeros = folder / "zeros.json"
    zeros.write_text("[]")
    problem = told(
        "synth", "quote", "people.toml", "--eps", "1", "--zeros", "zeros.json", "--yes", "-o", "zeros.json", exit_code=2
    )
    assert "file of zeros" in problem["what"]
    assert zeros.read_text() == "[]"


@pytest.mark.parametrize("name", [".", "", "/", ".."])
@pytest.mark.parametrize("verb", ["quote", "build", "report"])
def test_names_that_are_no_files_are_refused(verb: str, name: str) -> None:
    inputs = (name, name) if verb == "report" else (name,)
    assert main.status(["synth", verb, *inputs, "--eps", "1", "--json"]) in (2, 3)
