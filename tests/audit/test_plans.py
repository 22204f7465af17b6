"""Audits of a curator's own plans: sound ones stand, those with noise for other neighbours fall, nothing is paid."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit.plans import neighbours
from discreet.errors import DiscreetError
from discreet.learn.price import Price, price_of
from discreet.local.response_code import ResponseCode
from discreet.privacy.cost import Pure
from discreet.relation import Relation
from discreet.release.plan import ReleasePlan
from discreet.terms import Terms

RUNS = 2_000
PEOPLE = """
[dataset]
format = 1
name = "people"
source = "people.csv"
[unit]
key = "person_id"
max_rows = 2
[columns.region]
type = "category"
values = ["north", "south"]
why_public = "regions are on every map"
[columns.sex]
type = "category"
values = ["f", "m"]
why_public = "asked of everybody"
[columns.house]
type = "integer"
bounds = [0, 9]
[budget]
epsilon = 5
delta = 1e-7
[hierarchy.geo]
levels = ["country", "region"]
branches = [["land", "north"], ["land", "south"]]
"""
SURVEY = """
title = "Tax"
epsilon = "2"
mode = "split"
[questions.dodged]
text = "Did you ever dodge a tax?"
values = ["no", "yes"]
required = true
[questions.why]
text = "Why?"
values = ["greed", "need", "by mistake", "on principle"]
required = true
"""


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "people.toml").write_text(PEOPLE)
    (tmp_path / "people.csv").write_text("person_id,region,sex,house\n1,north,f,3\n")
    with dp.open(tmp_path / "people.toml") as dataset:
        yield dataset


def released(dataset: Any, price: Any, **options: Any) -> ReleasePlan:
    plan: ReleasePlan = dataset.release(**options).plan(**price)
    return plan


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 1, "delta": "1e-8"}])
@pytest.mark.parametrize("options", [{}, {"by": ["sex"]}, {"count": "rows"}, {"by": ["sex"], "count": "rows"}])
def test_a_planned_release_stands_and_costs_nothing(people: Any, options: Any, price: Any) -> None:
    spent = people.table.remaining(None)
    audit = dp.audit.release(people.release(**options), runs=RUNS, **price)
    assert not audit.refuted
    assert {row.runs > 0 for row in audit.rows} == {True, False}
    assert max(row.lower_bound for row in audit.rows) > 0.1
    assert "not refuted, on invented rows" in audit.sentence
    assert people.table.remaining(None) == spent


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 1, "delta": "1e-8"}])
def test_a_release_with_noise_for_other_neighbours_is_refuted(people: Any, price: Any) -> None:
    """Whoever may have nine rows is protected by noise for two."""
    plan = released(people, price, count="rows")
    many_rows = replace(plan.subject.schema, unit=replace(plan.subject.schema.unit, max_rows=9))  # type: ignore[type-var]
    audit = dp.audit.release(replace(plan, subject=replace(plan.subject, schema=many_rows)), runs=RUNS)
    assert audit.refuted
    assert "Do not run it" in audit.sentence


def test_replaced_units_leave_one_cell_for_another(people: Any) -> None:
    plan = released(people, {"epsilon": 1}, by=["sex"])
    exchanged = replace(plan.subject, schema=replace(plan.subject.schema, relation=Relation.REPLACE_ONE))
    for first, second in neighbours(replace(plan, subject=exchanged)):
        assert np.sum(first) == np.sum(second)
        assert np.abs(np.subtract(first, second)).sum() == 2


def test_neighbours_differ_by_the_rows_of_one_unit(people: Any) -> None:
    price = {"epsilon": 1}
    for options, rows in (({}, 1), ({"count": "rows"}, 2), ({"by": ["sex"], "count": "rows"}, 2)):
        moved = {int(np.subtract(more, less).sum()) for less, more in neighbours(released(people, price, **options))}
        assert moved == {rows}


def test_a_declared_survey_stands_question_by_question(tmp_path: Path) -> None:
    (tmp_path / "tax.toml").write_text(SURVEY)
    audit = dp.audit.survey(tmp_path / "tax.toml", runs=RUNS)
    assert not audit.refuted
    assert {row.name for row in audit.rows} == {"dodged", "why"}
    assert any(row.runs == 0 for row in audit.rows)
    assert set(audit.to_json()) == {"audit", "refuted", "sentence"}


def test_a_survey_whose_code_tells_the_truth_is_refuted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tax.toml").write_text(SURVEY)

    def truth(self: ResponseCode, answers: Any, source: Any) -> Any:
        return np.asarray(answers, dtype=np.uint8)[:, None]

    monkeypatch.setattr(ResponseCode, "draw", truth)
    assert dp.audit.survey(tmp_path / "tax.toml", runs=RUNS).refuted


def test_bad_input_is_refused(people: Any, tmp_path: Path) -> None:
    refused: tuple[Any, ...] = (
        lambda: dp.audit.release(5),
        lambda: dp.audit.synthesis(5),
        lambda: dp.audit.synthesis(people.synthesize(), epsilon=0),
        lambda: dp.audit.release(people.release()),
        lambda: dp.audit.release(people.release(), epsilon=1, runs=5),
        lambda: dp.audit.survey(tmp_path / "nowhere.toml"),
        lambda: dp.audit.survey(tmp_path / "tax.toml", runs=0),
    )
    for call in refused:
        with pytest.raises(DiscreetError) as refusal:
            call()
        assert refusal.value.fix


@pytest.mark.parametrize("method", ["auto", "independent"])
@pytest.mark.parametrize("delta", [0, "1e-8"])
def test_a_planned_synthetic_table_stands(people: Any, method: str, delta: Any) -> None:
    spent = people.table.remaining(None)
    audit = dp.audit.synthesis(people.synthesize(method=method), runs=RUNS, epsilon=4, delta=delta)
    assert not audit.refuted
    assert audit.rows[0].lower_bound > 0.1
    assert people.table.remaining(None) == spent


@dataclass(frozen=True)
class Understated(Price):
    """Noise for its terms, at the cost of an ε of 1."""

    @property
    def cost(self) -> Any:
        delta = self.terms.delta
        return Pure(Fraction(1)) if self.is_pure else price_of(Terms.parse(1, delta)).cost


@pytest.mark.parametrize("delta", [0, "1e-8"])
@pytest.mark.parametrize("method", ["auto", "independent"])
def test_a_synthetic_table_with_too_little_noise_is_refuted(people: Any, method: str, delta: Any) -> None:
    plan = people.synthesize(method=method).plan(epsilon=12, delta=delta)
    audit = dp.audit.synthesis(replace(plan, price=Understated(plan.price.terms, plan.price.sigma)), runs=RUNS)
    assert audit.refuted
