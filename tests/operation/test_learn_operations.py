"""Models without the command line: planned, fitted, scored and verified, with the data that `--json` prints."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import BadValue, BudgetExceeded, CannotWrite, IntegrityError
from discreet.fix import command_line
from discreet.operation import learn as learning
from discreet.operation import model as models
from discreet.operation import score as scores
from discreet.operation.learn import LearnCall
from discreet.operation.model import ModelCall
from discreet.operation.score import ScoreCall
from fixes import words_of
from learn.folk import write_people

Told = Callable[..., dict[str, Any]]
TOML, FILE = Path("people.toml"), Path("income.dp")
CALL = LearnCall(TOML, "naive-bayes", "income", "region,age", epsilon="1", output=FILE)
FLAGS = ["people.toml", "--model", "naive-bayes", "--target", "income", "--features", "region,age", "--eps", "1"]


@pytest.fixture
def folk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return write_people(tmp_path)


def test_a_plan_is_what_the_command_line_prints(folk: Path, told: Told) -> None:
    reply = learning.plan(replace(CALL, verb="learn plan"))
    assert reply.to_json(command_line) == told("learn", "plan", *FLAGS)
    (fit,) = reply.next or ()
    assert told(*words_of(fit))["ok"]


def test_a_model_goes_its_way_without_the_command_line(folk: Path, told: Told) -> None:
    learning.fit(CALL)
    fitted = learning.fit(replace(CALL, replaces=True))
    assert fitted.to_json(command_line) == told("learn", "fit", *FLAGS, "-o", "income.dp", "--yes")
    assert [fix.verb for fix in fitted.next or ()] == ["learn score", "learn card", "learn verify", "learn predict"]
    call = ModelCall(FILE, Path("people.csv"), TOML)
    verified = models.verify(call)
    assert verified.to_json(command_line) == told("learn", "verify", "income.dp", "--ledger", "people.toml")
    assert models.card(call).to_json(command_line) == told("learn", "card", "income.dp")
    assert models.predict(call).to_json(command_line) == told("learn", "predict", "income.dp", "people.csv")


def test_scores_and_rates_are_what_the_command_line_prints(folk: Path, told: Told) -> None:
    learning.fit(CALL)
    call = ScoreCall(TOML, FILE, metric="accuracy", epsilon="1")
    scores.score(call)
    flags = ["people.toml", "income.dp", "--eps", "1"]
    assert scores.score(call).to_json(command_line) == told("learn", "score", *flags, "--metric", "accuracy")
    call = ScoreCall(TOML, FILE, by="region", epsilon="1", verb="learn fairness")
    scores.fairness(call)
    assert scores.fairness(call).to_json(command_line) == told("learn", "fairness", *flags, "--by", "region")


@pytest.mark.parametrize("what", [{"metric": "auc", "bins": "8"}, {"by": "region", "of": "population"}], ids=str)
def test_a_quote_offers_the_call_that_it_is_of(folk: Path, told: Told, what: dict[str, str]) -> None:
    learning.fit(CALL)
    call = ScoreCall(TOML, FILE, **what, epsilon="1", at_size="300", verb="learn quote")
    reply = scores.quote(call)
    assert reply.to_json(command_line) == told(*words_of(call.fix("")))
    (fix,) = reply.next or ()
    asked = told(*words_of(fix))
    assert (asked["cost"], asked["remaining"]) == (reply.value.cost, reply.value.remaining_after)
    dear = scores.quote(replace(call, epsilon="500"))
    assert not dear.value.fits
    (cheaper,) = dear.next or ()
    assert told(*words_of(cheaper))["remaining"]["epsilon"] == "0"
    assert scores.quote(call).next == ()


def test_scores_and_rates_beyond_the_budget_are_refused_with_a_call_that_fits(folk: Path, told: Told) -> None:
    learning.fit(CALL)
    with pytest.raises(BudgetExceeded) as dear:
        scores.score(ScoreCall(TOML, FILE, metric="accuracy", epsilon="500"))
    assert told(*words_of(dear.value.fixes[0]))["receipt"]
    with pytest.raises(BudgetExceeded) as spent:
        scores.fairness(ScoreCall(TOML, FILE, by="region", epsilon="1", verb="learn fairness"))
    assert spent.value.remaining == 0


def test_refusals_carry_calls_that_work(folk: Path, told: Told) -> None:
    with pytest.raises(BadValue) as unpriced:
        learning.fit(replace(CALL, epsilon=None))
    with pytest.raises(BudgetExceeded) as dear:
        learning.fit(replace(CALL, epsilon="500"))
    assert not FILE.exists()
    for refused in (unpriced, dear):
        (fix,) = refused.value.fixes
        assert told(*words_of(replace(fix, arguments={**fix.arguments, "epsilon": "0.5", "yes": True})))["ok"]


def test_a_model_that_could_not_be_written_is_written_again_for_nothing(
    folk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr("discreet.outputs.replacing", full)
        with pytest.raises(CannotWrite) as refused:
            learning.fit(CALL)
    (fix,) = refused.value.fixes
    assert (fix.verb, fix.arguments["output"]) == ("learn fit", "…")
    assert learning.fit(CALL).data["replayed"] is True


def test_nothing_is_charged_where_nobody_agrees_to_fit(folk: Path) -> None:
    def never(quote: Any) -> None:
        raise BadValue("No.", "No.", "No.")

    with pytest.raises(BadValue, match="No"):
        learning.fit(CALL, agree=never)
    assert not folk.with_suffix(".ledger").exists()
    assert not FILE.exists()


def test_a_broken_file_is_refused_by_every_operation(folk: Path) -> None:
    FILE.write_bytes(b"discreet model 1\n")
    for operation in (models.predict, models.card, models.verify):
        with pytest.raises(IntegrityError):
            operation(ModelCall(FILE, Path("people.csv")))
