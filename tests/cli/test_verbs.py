"""Every verb: found, loaded alone, and with --json one object whatever happens."""

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import main
from discreet.cli.verbs import VERBS

Told = Callable[..., dict[str, Any]]
ABOUT_A_TABLE = {"check", "prepare", "quote", "ask", "explain", "budget", "budget set", "budget reopen"}
ABOUT_A_TABLE |= {"ledger", "ledger adopt"}
MORE = {
    "quote": ["SELECT COUNT(*) AS n FROM people", "--eps", "1"],
    "ask": ["SELECT COUNT(*) AS n FROM people", "--eps", "1"],
    "explain": ["last"],
    "budget set": ["--epsilon", "5", "--why", "x"],
    "budget reopen": ["--why", "x"],
    "ledger adopt": ["--why", "x"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_help_in_the_list_is_the_first_sentence_of_the_verb(verb: str) -> None:
    module = import_module(f"discreet.cli.{VERBS[verb].module}")
    written = inspect.getdoc(getattr(module, VERBS[verb].function)) or ""
    assert written.splitlines()[0] == VERBS[verb].help
    assert "Example: discreet " + verb in written


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_refuses_an_unknown_flag_in_one_object(verb: str, told: Told) -> None:
    assert f"discreet {verb}" in told(*verb.split(), "--help")["text"]
    assert told(*verb.split(), "--bogus", exit_code=2)["code"] == "usage"


@pytest.mark.parametrize("verb", sorted(ABOUT_A_TABLE))
def test_every_outcome_is_one_object(verb: str, people: Path, told: Told, tmp_path: Path) -> None:
    more = MORE.get(verb, [])
    told(*verb.split(), exit_code=2)
    told(*verb.split(), "nowhere.toml", *more, exit_code=3)
    told(*verb.split(), "people.csv", *more, exit_code=3)
    (tmp_path / "broken.toml").write_text("[dataset\n")
    told(*verb.split(), "broken.toml", *more, exit_code=3)
    (tmp_path / "typo.toml").write_text('[datset]\nname = "people"\n')
    assert "dataset" in told(*verb.split(), "typo.toml", *more, exit_code=3)["fix"]
    assert not (tmp_path / "people.ledger").exists()


@pytest.mark.parametrize("verb", sorted(ABOUT_A_TABLE - {"budget reopen", "ledger adopt", "explain", "check"}))
def test_every_verb_about_a_table_says_the_same_about_itself(verb: str, people: Path, told: Told) -> None:
    reply = told(*verb.split(), "people.toml", *MORE.get(verb, []))
    assert {"ok", "format", "dataset", "cost", "remaining", "receipt", "caveats"} <= set(reply)
    assert (reply["format"], reply["dataset"]) == (1, "people")


@pytest.mark.parametrize("verb", ["prepare", "quote", "ask", "explain", "budget", "ledger"])
def test_a_file_that_is_there_is_kept(verb: str, people: Path, told: Told) -> None:
    more = MORE.get(verb, []) if verb != "explain" else ["SELECT COUNT(*) AS n FROM people"]
    people.with_name("notes.csv").write_text("mine")
    assert "--yes" in told(verb, "people.toml", *more, "-o", "notes.csv", exit_code=2)["fix"]
    assert people.with_name("notes.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["aks"], "ask"),
        (["qoute"], "quote"),
        (["budgett"], "budget"),
        (["budget", "sett", "people.toml"], "budget set"),
        (["budget", "re-open", "people.toml"], "budget reopen"),
        (["ledger", "adpt", "people.toml"], "ledger adopt"),
    ],
    ids=str,
)
def test_misspelt_verb_is_named(typed: list[str], meant: str, told: Told) -> None:
    assert f"'{meant}'?" in told(*typed, exit_code=2)["what"]


def test_json_may_stand_between_the_words_of_a_verb(people: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(["budget", "--json", "set", "people.toml", "--epsilon", "5", "--why", "x"]) == 0
    assert json.loads(capfd.readouterr().out)["budget"]["epsilon"] == "5"


def loaded(*arguments: str) -> set[str]:
    script = f"from discreet.cli.main import status\nstatus({list(arguments)!r})\nimport sys\n"
    script += "print(*sorted(sys.modules), file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(ended.stderr.splitlines()[-1].split())


def test_help_loads_no_verb_and_a_verb_no_other() -> None:
    modules = {f"discreet.cli.{verb.module}" for verb in VERBS.values()}
    assert loaded("--help") & modules == set()
    assert loaded("odds", "--eps", "1") & modules == {"discreet.cli.odds"}


def test_budget_loads_no_parser_and_no_engine(people: Path) -> None:
    assert loaded("budget", "people.toml") & {"sqlglot", "duckdb", "matplotlib", "pandas", "dp_accounting"} == set()
    quoted = loaded("quote", "people.toml", "SELECT COUNT(*) AS n FROM people", "--eps", "1")
    assert quoted & {"duckdb", "matplotlib", "pandas", "polars", "pyarrow", "dp_accounting"} == set()
