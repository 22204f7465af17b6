"""Releases without the command line: planned, built, checked and published, with the data that `--json` prints."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import BadValue, BudgetExceeded
from discreet.fix import command_line
from discreet.operation import folder as folders
from discreet.operation import release as releases
from discreet.operation.folder import BuiltCall
from discreet.operation.release import ReleaseCall
from fixes import fixes_of, words_of
from release import census

Told = Callable[..., dict[str, Any]]
ROWS = [census.one(n, f"p-{n // 3}", census.WARDS[n // 3 % 5], "fm"[n % 2]) for n in range(300)]
TOML = Path("people.toml")
CALL = ReleaseCall(TOML, by=("sex",), epsilon="1")
FLAGS = ["people.toml", "--by", "sex", "--eps", "1"]


@pytest.fixture
def census_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    toml: Path = census.written(tmp_path, rows=ROWS, more="delta = 1e-7")
    return toml


def test_a_plan_is_what_the_command_line_prints(census_people: Path, told: Told) -> None:
    reply = releases.plan(replace(CALL, share=("ward=0.5",), verb="release plan"))
    assert reply.to_json(command_line) == told("release", "plan", *FLAGS, "--share", "ward=0.5")
    (build,) = reply.next or ()
    assert told(*words_of(build))["ok"]


def test_a_release_goes_its_way_without_the_command_line(census_people: Path, told: Told) -> None:
    releases.build(CALL)
    built = releases.build(replace(CALL, replaces=True))
    assert built.to_json(command_line) == told("release", "build", *FLAGS, "--yes")
    call = BuiltCall(TOML)
    assert folders.check(call).to_json(command_line) == told("release", "check", "people.toml")
    assert [fix.verb for fix in built.next or ()] == ["release check", "release publish"]
    published = folders.publish(call)
    assert published.to_json(command_line) == told("release", "publish", "people.toml", "--yes")


def test_a_release_that_does_not_check_is_a_reply_with_a_problem(census_people: Path, told: Told) -> None:
    releases.build(CALL)
    facts = Path("people.release/release.json")
    facts.write_text(facts.read_text().replace('"epsilon": "1"', '"epsilon": "2"', 1))
    reply = folders.check(BuiltCall(TOML))
    assert (reply.exit, reply.problem and reply.problem.code) == (6, "integrity")
    problem = told("release", "check", "people.toml", exit_code=6)
    assert reply.to_json(command_line) == problem
    assert [fix.arguments["flags"] for fix in fixes_of(problem)] == ["…"]


def test_refusals_carry_calls_that_work(census_people: Path, told: Told) -> None:
    with pytest.raises(BadValue) as unpriced:
        releases.build(replace(CALL, epsilon=None))
    (priced,) = unpriced.value.fixes
    with pytest.raises(BudgetExceeded) as dear:
        releases.build(replace(CALL, epsilon="50"))
    (cheaper,) = dear.value.fixes
    assert not Path("people.release").exists()
    with pytest.raises(BadValue) as unbuilt:
        folders.check(BuiltCall(TOML))
    assert unbuilt.value.fixes[0].verb == "release build"
    assert told(*words_of(priced))["cost"]["epsilon"] == "1"
    assert told(*words_of(replace(cheaper, arguments={**cheaper.arguments, "epsilon": "0.5", "yes": True})))["ok"]


def test_nothing_is_charged_where_nobody_agrees_to_build(census_people: Path) -> None:
    def never(quote: Any) -> None:
        raise BadValue("No.", "No.", "No.")

    with pytest.raises(BadValue, match="No"):
        releases.build(CALL, agree=never)
    assert not census_people.with_suffix(".ledger").exists()
    assert not Path("people.release").exists()
