"""Intervals of a check hold what they are about: many draws of its noise on one table, by its own mechanisms."""

from math import comb

import numpy as np
import pytest

import discreet as dp
from discreet.bounded import RowLimit
from discreet.relation import Relation
from discreet.synth.check.check import plan_of
from discreet.synth.check.estimates import statistics_of
from discreet.synth.check.measuring import Released, comparison, count_public, units_of
from discreet.synth.check.plan import COUNT
from replay import Seeded
from synth.check import twin
from synth.check.held import HeldView
from synth.folk import rows_of, written

DRAWS, LEVEL = 120, 0.95
COLUMNS = ["sex", "region", "age", "pay", "ill"]
AREA_SHORT = 0.02  # its interval is approximate: docs/proofs/learn/heldout/score.md


def least_hits(draws, level):
    """The hits below which an interval of that level stays with a chance of at most 1e-6."""
    chances = [comb(draws, hits) * level**hits * (1 - level) ** (draws - hits) for hits in range(draws + 1)]
    return int(np.searchsorted(np.cumsum(chances), 1e-6))


def view_cells(row):
    """A written row as a view hands it out."""
    _, sex, region, age, pay, ill = row
    numbers = [float("nan") if cell == "" else float(cell) for cell in (age, pay, ill)]
    return [["f", "m"].index(sex), ["north", "south", "east"].index(region), *numbers]


@pytest.mark.parametrize(
    ("delta", "max_rows"),
    [pytest.param(0, 1, marks=pytest.mark.long), ("1e-7", 3)],
    ids=["Laplace", "Gaussian, several rows"],
)
def test_intervals_hold_as_often_as_they_say(tmp_path, delta, max_rows):
    """120 draws; a false alarm of at most 1e-6 for each number, some 25 to 30 of them in all."""
    rows = rows_of(150, max_rows)
    with dp.open(written(tmp_path, rows, max_rows=max_rows, budget="delta = 1e-6\nmax_delta = 1e-6\n")) as people:
        table = people.synthesize().build(epsilon=20)
        plan = plan_of(table, people.table, epsilon=40, delta=delta, target="ill")
        sharp = plan_of(table, people.table, epsilon=10**5, delta=0, target="ill")
    units = {}
    for row in rows:
        units.setdefault(row[0], []).append(view_cells(row))
    view = HeldView(list(units.values()), COLUMNS, RowLimit(max_rows, Relation.ADD_REMOVE))
    truth = {(own.name, own.columns): own.value for own in statistics_of(draw(sharp, view, 0))}
    hits = dict.fromkeys(truth, 0)
    for seed in range(DRAWS):
        for own in statistics_of(draw(plan, view, seed)):
            hits[own.name, own.columns] += own.low - 1e-3 <= truth[own.name, own.columns] <= own.high + 1e-3
    least = least_hits(DRAWS, LEVEL)
    asked = {(own.name, own.columns) for own in statistics_of(draw(plan, view, 0))}
    short = {name: hits[name] for name in asked if hits[name] < least - (AREA_SHORT * DRAWS if name[0] == "auc" else 0)}
    assert not short
    assert {"cells", "pairs", "triples", "correlation", "accuracy", "each column"} <= {name for name, _ in asked}


def draw(plan, view, seed):
    """What a run of that plan would release, by noise from a seed; exact numbers are kept by the noisy count."""
    source, names = Seeded(seed), plan.compared.build.plan.subject.column_names
    count = view.sum("marginals", names, count_public(plan.compared.build))
    numbers = {COUNT: plan.mechanism(COUNT)(count.compute(), source)}
    for name in plan.asked[1:]:
        numbers[name] = plan.mechanism(name)(comparison(view, plan, name, units_of(numbers[COUNT])).compute(), source)
    return Released(plan, numbers, "none", False)


def test_the_exact_numbers_of_the_intervals_are_those_of_plain_loops(tmp_path):
    rows = rows_of(60)
    with dp.open(written(tmp_path, rows)) as people:
        table = people.synthesize().build(epsilon=20)
        plan = plan_of(table, people.table, epsilon=10**5, delta=0)
    view = HeldView([[view_cells(row)] for row in rows], COLUMNS, RowLimit(1))
    told = {own.name: own.value for own in statistics_of(draw(plan, view, 1)) if not own.columns}
    real = twin.real_units(rows, COLUMNS, 1)
    synthetic = twin.synthetic_units(table.build, 1)
    pairs = plan.compared.tables["pairs"]
    exact = np.mean([twin.distance(real, synthetic, clique, pairs.groups) for clique in pairs.cliques])
    assert told["pairs"] == pytest.approx(exact, abs=1e-3)
