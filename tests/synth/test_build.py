"""Builds through the gate: one purse, equal bytes, odd tables, and refusals that cost nothing."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BadValue, BudgetExceeded, NotAnswerable
from discreet.learn.price import price_of
from discreet.schema import Column, Schema, Unit
from discreet.synth import build as module
from discreet.synth.model.junction import tree_cells
from discreet.synth.plan import plan_of
from discreet.synth.subject import subject_of
from discreet.terms import Terms
from synth.folk import HEAD, fill, person, rows_of, written

PRICES = {"Gaussian": {"epsilon": 5}, "Laplace": {"epsilon": 5, "delta": 0}}
KINDS = {"rows": {}, "persons": {"max_rows": 3}, "replaced": {"max_rows": 2, "neighbours": "replace-one"}}


@pytest.fixture
def people(tmp_path):
    with dp.open(written(tmp_path)) as dataset:
        yield dataset


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A dataset of each kind, and a build of it at each price."""
    datasets = {}
    for kind, options in KINDS.items():
        datasets[kind] = dp.open(written(tmp_path_factory.mktemp(kind), **options))
    yield {
        (kind, law): (people, people.synthesize().build(**price))
        for kind, people in datasets.items()
        for law, price in PRICES.items()
    }
    for people in datasets.values():
        people.close()


def frame_bytes(table):
    return table.to_pandas().to_csv(index=False).encode()


# --- what is released ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", PRICES)
@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_what_was_measured_add_up_to_the_price_to_the_last_unit(opened, kind, law):
    people, table = opened[kind, law]
    assert sum(measured.share for measured in table.measured) == 1
    assert all(measured.share > 0 and measured.deviation > 0 for measured in table.measured)
    purse = people.table.ledger.entry_of(table.build.receipt)
    parts = [entry for entry in people.table.ledger.entries() if entry["kind"] == "part"]
    parts = [entry["cost"] for entry in parts if entry["purse"] == purse["n"]]
    costs = [own for cost in parts for own in cost.get("costs", [cost])]
    if law == "Laplace":
        assert sum(Fraction(cost["epsilon"]) for cost in costs) == Fraction(purse["epsilon"]) == 5
    else:  # σ has twelve digits, rounded up
        sigma = Fraction(purse["cost"]["sigma"])
        taken = sum(sigma**2 / Fraction(cost["sigma"]) ** 2 for cost in costs)
        assert 1 - Fraction(1, 10**9) < taken <= 1


@pytest.mark.parametrize("law", PRICES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_table_has_public_values_alone(opened, kind, law):
    _, table = opened[kind, law]
    frame = table.to_pandas()
    names = HEAD[1:] if kind == "rows" else HEAD
    assert list(frame.columns) == list(table.columns) == names
    assert len(frame) == table.rows
    assert set(frame["sex"].dropna()) <= {"f", "m"}
    assert set(frame["region"].dropna()) <= {"north", "south", "east"}
    assert set(frame["ill"].dropna()) <= {True, False}
    assert frame["age"].dropna().between(0, 110).all()
    assert (frame["pay"].dropna() * 2 % 1 == 0).all()
    assert frame["pay"].dropna().between(0, 100).all()
    if kind != "rows":
        sizes = frame.groupby("who").size()
        assert sizes.between(1, KINDS[kind]["max_rows"]).all()
        assert sorted(sizes.index) == list(range(len(sizes)))
        assert (frame.groupby("who")["sex"].nunique(dropna=False) == 1).all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_of_the_rows_is_the_same(opened, kind):
    _, table = opened[kind, "Gaussian"]
    frame, arrow = table.to_pandas(), table.to_arrow()
    assert arrow.column_names == list(frame.columns)
    for name in frame.columns:
        own, other = (
            [None if cell is None or cell != cell else cell for cell in cells]
            for cells in (frame[name].astype(object).where(frame[name].notna(), None).tolist(), arrow[name].to_pylist())
        )
        assert own == other


def test_a_build_tells_what_depends_on_what(opened):
    """Pay follows age and illness region, three hundred persons at ε = 5: the synthetic table knows both, in most."""
    _, table = opened["rows", "Gaussian"]
    pairs = {frozenset(own.columns) for own in table.measured if own.step == "pairs"}
    assert frozenset(("age", "pay")) in pairs
    frame = table.to_pandas().dropna(subset=["age", "pay"])
    assert np.corrcoef(frame["age"].astype(float), frame["pay"])[0, 1] > 0.5


# --- the same again --------------------------------------------------------------------------------------------------


def test_an_equal_build_is_replayed_for_nothing(people):
    task = people.synthesize()
    first = task.build(epsilon=5)
    spent = people.budget.spent
    repeated = people.synthesize(rows=None).build(epsilon="5.0")
    assert (first.build.is_replayed, repeated.build.is_replayed) == (False, True)
    assert frame_bytes(first) == frame_bytes(repeated)
    assert first.build.receipt == repeated.build.receipt
    assert people.budget.spent == spent
    assert people.budget.charges == 1


def test_a_replay_reads_no_rows(people, monkeypatch):
    first = people.synthesize().build(epsilon=5)
    monkeypatch.setattr(module, "measure", lambda *_: pytest.fail("rows were looked at"))
    assert frame_bytes(people.synthesize().build(epsilon=5)) == frame_bytes(first)


def test_another_number_of_public_rows_uses_the_same_measurements(people):
    first = people.synthesize().build(epsilon=5)
    few = people.synthesize(rows=20).build(epsilon=5)
    assert few.build.is_replayed
    assert few.rows == 20
    assert first.build.receipt == few.build.receipt
    assert people.budget.charges == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"epsilon": 6},
        {"delta": "1e-7"},
        {"delta": 0},
        {"columns": ["sex", "region"]},
        {"method": "independent"},
        {"max_cells": 2000},
        {"zeros": [{"sex": "m", "ill": True}]},
        {"analyst": "ana"},
    ],
    ids=lambda changed: " ".join(f"{name}={value}" for name, value in changed.items()),
)
def test_another_build_is_another_charge(people, changed):
    people.synthesize().build(epsilon=5)
    options = {name: value for name, value in changed.items() if name not in ("epsilon", "delta", "analyst")}
    price = {"epsilon": 5} | {name: value for name, value in changed.items() if name not in options}
    assert not people.synthesize(**options).build(**price).build.is_replayed
    assert people.budget.charges == 2


@pytest.mark.parametrize("options", [{"method": "independent"}, {"columns": ["sex"]}], ids=["asked", "one column"])
def test_where_no_pair_is_measured_the_cells_of_a_model_change_no_charge(people, options):
    first = people.synthesize(**options).build(epsilon=5)
    other = people.synthesize(**options, max_cells=2000).build(epsilon=5)
    assert (other.build.is_replayed, other.build.receipt) == (True, first.build.receipt)
    assert people.budget.charges == 1


def test_rows_that_changed_after_a_build_are_a_new_build(tmp_path):
    with dp.open(written(tmp_path)) as people:
        first = people.synthesize().build(epsilon=5)
    fill(tmp_path, rows_of(200))
    with dp.open(tmp_path / "people.toml") as people:
        second = people.synthesize().build(epsilon=5)
        assert people.budget.charges == 2
    assert first.build.receipt != second.build.receipt
    assert second.rows < 260 < first.rows


class Stopped(Exception):
    """What a test raises in the middle of a build."""


def stop_after(monkeypatch, step):
    """Builds stop once that step is stored."""
    real = module.Measuring._step

    def stepped(self, name, *given):
        parts = real(self, name, *given)
        if name == step:
            raise Stopped
        return parts

    monkeypatch.setattr(module.Measuring, "_step", stepped)


@pytest.mark.parametrize("step", ["singles", "scores", "tables"])
def test_a_build_that_stopped_goes_on_with_its_rows_and_its_numbers(tmp_path, monkeypatch, step):
    """The source changed meanwhile: the rows are those that the build began with, and nothing is paid twice."""
    with dp.open(written(tmp_path)) as people, monkeypatch.context() as patch:
        stop_after(patch, step)
        with pytest.raises(Stopped):
            people.synthesize().build(epsilon=5)
    fill(tmp_path, rows_of(40))
    released = []
    with dp.open(tmp_path / "people.toml") as people:
        table = people.synthesize().build(epsilon=5)
        assert people.budget.charges == 1
        assert people.budget.spent.epsilon == 5
        released = [part.values.tolist() for part in table.build.parts]
        assert 230 < table.rows < 370  # 300 ± 12 standard deviations of the noise
        kinds = [entry["kind"] for entry in people.table.ledger.entries()]
        assert kinds.count("part") == 4
        assert people.synthesize().build(epsilon=5).build.is_replayed is False  # of the rows as they are now
    assert len(released) >= 3


def test_a_build_begun_at_another_default_delta_is_finished_at_its_own(tmp_path, monkeypatch):
    toml = written(tmp_path, budget="delta = 1e-6\n")
    with dp.open(toml) as people, monkeypatch.context() as patch:
        stop_after(patch, "singles")
        with pytest.raises(Stopped):
            people.synthesize().build(epsilon=5)
        begun = people.table.ledger.entries()
        (cost,) = [entry["cost"] for entry in begun if entry["kind"] == "purse"]
    monkeypatch.setattr(type(people.table), "terms", with_delta(type(people.table).terms, Fraction(1, 10**9)))
    with dp.open(toml) as people:
        table = people.synthesize().build(epsilon=5)
        assert people.budget.charges == 1
        assert table.privacy_.delta == Fraction(1, 10**8)
        (after,) = [entry["cost"] for entry in people.table.ledger.entries() if entry["kind"] == "purse"]
    assert cost == after


def with_delta(real, delta):
    """Terms with another δ where none was typed."""

    def terms(self, epsilon, typed=None, *given, **named):
        own = real(self, epsilon, typed, *given, **named)
        return replace(own, delta=delta) if typed is None else own

    return terms


# --- odd tables ------------------------------------------------------------------------------------------------------

ODD = {
    "nobody": [],
    "one person": rows_of(1),
    "all rows of one": [[7, *person(number)] for number in range(90)],
    "unknown texts": [[number, "zq", "zq", 50, 20, 1] for number in range(90)],
    "empty cells": [[number, "", "", "", "", ""] for number in range(90)],
    "cells of other types": [[number, 3, 4.5, "old", "much", "perhaps"] for number in range(90)],
    "numbers far away": [[number, "f", "east", 10**9, -(10**9), 1] for number in range(90)],
}


@pytest.mark.parametrize(("law", "max_rows"), [("Gaussian", 1), ("Laplace", 3)])
@pytest.mark.parametrize("odd", ODD)
def test_odd_tables_are_synthesised_like_any(tmp_path, odd, law, max_rows, recwarn):
    """No row can make a build fail or warn."""
    with dp.open(written(tmp_path, ODD[odd], max_rows=max_rows)) as people:
        table = people.synthesize().build(**PRICES[law])
        frame = table.to_pandas()
        assert len(frame) >= 1
        assert people.budget.charges == 1
        assert sum(measured.share for measured in table.measured) == 1
        if odd == "empty cells":
            assert frame["sex"].isna().mean() > 0.5
        assert "zq" not in frame.to_csv()
    assert [str(warning.message) for warning in recwarn] == []


def test_a_column_with_a_single_value_is_drawn_and_never_paired(tmp_path):
    columns = '[columns.land]\ntype = "category"\nvalues = ["here"]\n'
    rows = [[*row, "here"] for row in rows_of(200)]
    toml = written(tmp_path, [], columns=columns)
    lines = [",".join([*HEAD, "land", "mark"]), *(",".join([*map(str, row), str(tmp_path)]) for row in rows)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    with dp.open(toml) as people:
        table = people.synthesize().build(epsilon=20)
        assert (table.to_pandas()["land"].dropna() == "here").all()
        assert table.to_pandas()["land"].notna().mean() > 0.9


@pytest.mark.parametrize("epsilon", ["0.001", "500"])
@pytest.mark.parametrize("law", PRICES)
def test_prices_of_any_size_give_a_table(people, epsilon, law, recwarn):
    table = people.synthesize().build(**(PRICES[law] | {"epsilon": epsilon}))
    assert len(table.to_pandas()) == table.rows
    assert [str(warning.message) for warning in recwarn] == []


# --- refused before anything is spent --------------------------------------------------------------------------------


def refusal(people, price=None, **options):
    with pytest.raises((BadValue, BudgetExceeded, NotAnswerable)) as caught:
        people.synthesize(**options).build(**(price or {"epsilon": 1}))
    assert people.budget is None or people.budget.charges == 0
    return str(caught.value)


def test_a_column_without_public_cells_is_refused_before_anything_is_spent(tmp_path):
    columns = '[columns.note]\ntype = "text"\n[columns.far]\ntype = "integer"\n'
    with dp.open(written(tmp_path, columns=columns)) as people:
        assert "public values" in refusal(people, columns=["sex", "note"])
        assert "public bounds" in refusal(people, columns=["sex", "far"])
        assert set(people.synthesize().subject.left_out) == {"who", "note", "far"}


def wide(columns, values, max_rows=1):
    """A subject of so many columns with so many values each."""
    listed = tuple(f"v{number}" for number in range(values))
    own = tuple(Column(f"c{number}", "category", values=listed) for number in range(columns))
    return subject_of(Schema("wide", own, Unit("who", max_rows)))


def test_a_domain_that_no_pass_counts_is_refused_before_anything_is_spent():
    with pytest.raises(BadValue, match="Name fewer columns"):
        plan_of(wide(120, 9000), price_of(Terms.parse(1, "1e-9")))


def test_prices_at_which_rows_would_be_noise_are_refused_before_anything_is_spent(people):
    assert "give rows" in refusal(people, {"epsilon": "1e-7"})
    assert "name fewer columns" in refusal(people, {"epsilon": "1e-9", "delta": 0}, rows=10)


def test_prices_at_which_no_score_can_be_drawn_are_refused_before_anything_is_spent():
    subject, price = wide(60, 2, max_rows=3), price_of(Terms.parse("0.01", 0))
    with pytest.raises(BadValue, match="1,830 pairs of columns: noise would hide"):
        plan_of(subject, price)
    assert plan_of(subject, price, method="independent").singles_share == 1
    assert plan_of(subject, price_of(Terms.parse("0.01", "1e-9"))).with_pairs


def test_combinations_that_leave_no_row_are_refused_before_anything_is_spent(people):
    every = ["north", "south", "east", None]
    zeros = [{"sex": "m", "region": every}, {"sex": ["f", None], "region": every}]
    assert "leave some rows possible" in refusal(people, zeros=zeros)


def test_combinations_that_need_a_huge_tree_are_refused_before_anything_is_spent(people):
    zeros = [{"sex": "m", "region": "east", "age": (0, 3), "pay": (0, 7), "ill": True}]
    assert "max_cells" in refusal(people, zeros=zeros, max_cells=1000)


def test_options_that_mean_nothing_are_refused_before_anything_is_spent(people):
    assert "method" in refusal(people, method="gan")
    assert "max_cells" in refusal(people, max_cells=1)
    assert "rows" in refusal(people, rows=0)
    assert "columns" in refusal(people, columns=[])
    assert "epsilon" in refusal(people, {"epsilon": 0})
    refusal(people, {"epsilon": 5000})


# --- impossible combinations -----------------------------------------------------------------------------------------


def test_two_combinations_of_the_same_columns_are_both_kept(people):
    """And no row is lost for it: the model itself gives them no chance."""
    zeros = [{"sex": "m", "region": ["north", "south"]}, {"sex": "f", "region": "east"}]
    table = people.synthesize(zeros=zeros).build(epsilon=5)
    frame = table.to_pandas()
    assert not ((frame["sex"] == "m") & frame["region"].isin(["north", "south"])).any()
    assert not ((frame["sex"] == "f") & (frame["region"] == "east")).any()
    assert table.rows == table.build.synthesis.rows


def test_combinations_hold_where_columns_are_independent_too(people):
    zeros = [{"sex": "m", "ill": True}]
    frame = people.synthesize(zeros=zeros, method="independent").build(epsilon=50).to_pandas()
    assert not ((frame["sex"] == "m") & frame["ill"]).any()


# --- quotes ----------------------------------------------------------------------------------------------------------


def test_a_quote_is_free_and_says_what_is_needed_for_pairs(people, monkeypatch):
    monkeypatch.setattr(type(people.table), "view", lambda *_, **__: pytest.fail("rows were looked at"))
    cheap, dear = (people.synthesize().quote(epsilon=epsilon) for epsilon in ("0.01", 10))
    assert people.budget is None
    assert cheap.units_for_pairs > 1000 > dear.units_for_pairs
    assert f"{cheap.units_for_pairs:,} units" in str(cheap)
    assert "no pair is measured" in str(cheap)
    assert cheap.deviation > dear.deviation
    told = json.loads(json.dumps(cheap.to_json()))
    assert told["cost"]["epsilon"] == "0.01"
    assert told["fits"] is True
    alone = people.synthesize(method="independent").quote(epsilon=1)
    assert alone.units_for_pairs is None
    assert "as was asked" in str(alone)


def test_below_the_number_of_units_that_a_quote_names_no_scores_are_measured(people):
    table = people.synthesize().build(epsilon="0.05")
    assert {own.step for own in table.measured} == {"singles", "columns"}
    assert sum(own.share for own in table.measured) == 1


def test_a_quote_that_does_not_fit_says_so(tmp_path):
    with dp.open(written(tmp_path, epsilon=2)) as people:
        assert people.synthesize().quote(epsilon=1, delta=0).fits
        assert not people.synthesize().quote(epsilon=3, delta=0).fits


def test_a_delta_above_that_of_the_budget_is_told_at_the_budgets(tmp_path):
    """The ledger weighs noise at its own δ, so a quote says what it is there, and whether that fits."""
    with dp.open(written(tmp_path, epsilon=4, budget="delta = 1e-9\n")) as people:
        dear, cheap, usual = (
            people.synthesize().quote(epsilon=epsilon, delta=delta)
            for epsilon, delta in (("3.9", "1e-6"), (1, "1e-6"), (1, None))
        )
        assert usual.ledger_epsilon is None
        assert "budget's δ" not in str(usual)
        assert Fraction(dear.ledger_epsilon) > 4
        assert not dear.fits
        assert f"At the budget's δ the same noise has ε = {dear.ledger_epsilon}." in str(dear)
        assert 1 < Fraction(cheap.ledger_epsilon) < Fraction("1.5")
        assert cheap.fits
        with pytest.raises(BudgetExceeded):
            people.synthesize().build(epsilon="3.9", delta="1e-6")
        people.synthesize().build(epsilon=1, delta="1e-6")
        assert cheap.remaining_after["epsilon"] == people.table.remaining()["epsilon"]


def test_what_is_stated_of_a_build_is_what_was_measured(people):
    """σ as `measured` states it is that of the noise that was drawn."""
    table = people.synthesize().build(epsilon=5)
    quote = people.synthesize().quote(epsilon=5)
    assert quote.deviation == pytest.approx(max(own.deviation for own in table.measured if own.step == "singles"))
    assert {own.step for own in table.measured} <= {"singles", "scores", "columns", "pairs"}
    assert json.dumps([own.to_json() for own in table.measured])


def test_groups_are_fewer_where_combinations_would_join_columns_to_too_many_cells(tmp_path):
    """And never too few for the profiles, which is what a plan allows for."""
    zeros = [{"sex": "m", "region": "east", "age": (0, 3), "pay": (0, 7)}]
    with dp.open(written(tmp_path, epsilon=10_000)) as people:
        free, tight = (people.synthesize(zeros=zeros, max_cells=cells).build(epsilon=3000) for cells in (10**6, 1000))
    assert free.build.synthesis.fitted.tree.cells > 1000
    assert tree_cells(tight.build.synthesis.fitted.tree.sizes, tight.build.plan.subject.zero_pairs) <= 1000
    for table in (free, tight):
        frame = table.to_pandas()
        both = (frame["sex"] == "m") & (frame["region"] == "east")
        assert not (both & frame["age"].between(0, 3) & frame["pay"].between(0, 7)).any()
