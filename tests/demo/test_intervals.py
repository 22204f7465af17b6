"""Every interval that the demo prints holds the exact value of the whole table as often as it says, caps and all.

The exact integers come from the engine once; each run has noise of its own and goes through the composing of answers.
The exact values come from the invented table itself.  RUNS runs, and an interval may miss as often as one that holds 95
times of 100 does but for chance: the fewest hits accepted are undercut with probability below 10⁻⁶ over all intervals.
"""

import numpy as np
import pytest
from scipy.stats import binom

from discreet.answer.compose import answer_of
from discreet.dataset import open_dataset
from discreet.demo import hospital, visits
from discreet.demo.curator import QUESTIONS
from discreet.noise.source import SYSTEM
from discreet.query.compile.exacts import exacts_of
from discreet.query.compile.statements import statements

SURELY = 1e-6
MOST_INTERVALS = 40


def least_hits(runs):
    return int(binom.ppf(SURELY / MOST_INTERVALS, runs, 0.95))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("demo")
    hospital.write(place)
    return place


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def simulated(folder, sql, epsilon, runs):
    """That many answers to one question, each as if it were asked for the first time."""
    with open_dataset(folder / hospital.METADATA) as dataset:
        plan = dataset.sql(sql).plan(epsilon=epsilon)
        table, draft = dataset.table, plan.draft
        parts = [measured.part for measured in plan.measured]
        compiled = statements(draft.schema, draft.cells, draft.question.where, draft.caps, parts)
        exact = exacts_of(
            compiled, table.engine.run([statement.sql for statement in compiled], table.prepare()), draft.cells
        )
    return [answer_of(plan, plan.joint(exact, SYSTEM)) for _ in range(runs)]


def wards(table, ward):
    here = table["ward"] == ward
    return {"visits": here.sum(), "nights": table["length_of_stay"][here].mean()}


def sexes(table, sex):
    here = table["sex"] == sex
    return {"patients": len(np.unique(table["patient_id"][here])), "cost": np.sort(table["cost"][here])}


def codes(table, diagnosis):
    return {"visits": (table["diagnosis"] == diagnosis).sum()}


EXACT = dict(zip((sql for _, sql, _ in QUESTIONS), (wards, sexes, codes), strict=True))


def holds(column, row, exact):
    """Whether the interval holds the exact number; one in ranks, whether the value's rank is so near the middle."""
    if column.ranks is None:
        return column.low[row] <= exact <= column.high[row]
    below, upto = (np.searchsorted(exact, column.value[row], side) for side in ("left", "right"))
    return below - column.ranks <= len(exact) / 2 <= upto + column.ranks


def hits(answers, table, exactly):
    """For each interval by its row and column: how many runs printed it, and how many of those hold."""
    exact = {}
    for answer in answers:
        for row, (label,) in enumerate(answer.labels):
            for column in answer.columns:
                printed, held = exact.get((label, column.name), (0, 0))
                right = holds(column, row, exactly(table, label)[column.name])
                exact[label, column.name] = printed + 1, held + bool(right)
    return exact


def require_honest(folder, runs):
    table, intervals, known = hospital.hospital(), 0, {}
    for _, sql, epsilon in QUESTIONS:

        def exactly(table, label, sql=sql):
            return known.setdefault((sql, label), EXACT[sql](table, label))

        for name, (printed, held) in hits(simulated(folder, sql, epsilon, runs), table, exactly).items():
            intervals += 1
            assert held >= least_hits(printed), f"{name}: {held} of {printed}"
    assert 25 <= intervals <= MOST_INTERVALS


def test_intervals_of_the_demo_hold_for_the_whole_table_in_forty_runs(folder):
    require_honest(folder, 40)


@pytest.mark.long
def test_intervals_of_the_demo_hold_for_the_whole_table_in_two_hundred_runs(folder):
    require_honest(folder, 200)


def test_a_cap_that_binds_would_be_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(visits, "MOST_VISITS", 40)
    hospital.write(tmp_path)
    _, sql, epsilon = QUESTIONS[0]
    held = hits(simulated(tmp_path, sql, epsilon, 40), hospital.hospital(), EXACT[sql])
    assert held["emergency", "visits"][1] < least_hits(40)
