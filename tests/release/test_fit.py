"""What every method holds the top to: the public total, or else the measured one; and what that is good for."""

import numpy as np
import pytest

from discreet.noise.source import SYSTEM
from discreet.release.fit import choice, integer
from discreet.release.known import NOTHING, known_of
from discreet.release.measure import Form
from discreet.release.plan import plan_of
from discreet.release.subject import ReleaseSpec, subject
from discreet.release.tree import tree_sums
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms
from replay import Replay, fair

BRANCHES = tuple(("x", f"r{leaf // 8}", f"w{leaf}") for leaf in range(40))
GEO = Hierarchy("geo", ("country", "region", "ward"), branches=BRANCHES)
COLUMNS = [
    Column("ward", "category", values=GEO.leaves),
    Column("sex", "category", values=("m", "f")),
    Column("old", "boolean"),
    Column("band", "category", values=tuple(f"b{number}" for number in range(60))),
    Column("home", "text"),
]
SCHEMA = Schema("people", COLUMNS, Unit("person", 1), "add-remove", None, (GEO,))
COUNTS, BOTH, BANDS = (ReleaseSpec("geo", by=by) for by in (("sex",), ("sex", "old"), ("band",)))
SIZES = ReleaseSpec("geo", groups="home", largest=6)
PLAIN_SIZES = ReleaseSpec("geo", groups="home", largest=6, form=Form.PLAIN)
METHODS = [(wanted, method) for wanted in (COUNTS, BOTH, PLAIN_SIZES) for method in choice.PLAIN]
METHODS += [(SIZES, method) for method in choice.FROM_TOP]
NAMES = [f"{what} {method}" for what in ("counts", "several", "sizes") for method in choice.PLAIN]
NAMES += [f"from the top {method}" for method in choice.FROM_TOP]
every_method = pytest.mark.parametrize(("wanted", "method"), METHODS, ids=NAMES)


def release_plan(wanted, *, held=None, epsilon="0.1", delta=0, **given):
    about = subject(wanted, SCHEMA)
    return plan_of(about, Terms.parse(epsilon, delta), known=known_of(about, **held) if held else NOTHING, **given)


def sparse(plan, filled=0.1, seed=1):
    """The leaves' counts, nearly all 0."""
    numbers = np.random.default_rng(seed)
    shape = (len(plan.subject.tree.leaves), plan.subject.cells)
    return numbers.integers(1, 40, shape) * (numbers.random(shape) < filled)


def measured_total(plan, noisy):
    """The slow twin, for one marginal and Laplace noise: the sum at the top, or the number of groups of any size."""
    return int(noisy[0, 0]) if plan.measurement.form is Form.FROM_TOP else sum(map(int, noisy[0]))


def require_total(plan, table, total):
    assert sum(map(int, table[0])) == total
    assert plan.known.violations(plan.subject.tree, table).count == 0


# --- what the top adds up to -----------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("delta", [0, "1e-6"], ids=["Laplace", "Gaussian"])
def test_without_a_public_total_the_top_adds_up_to_the_measured_one(wanted, method, delta):
    plan = release_plan(wanted, method=method, delta=delta, epsilon="0.05")
    noisy = plan.measurement(sparse(plan) + 200, SYSTEM)
    total = choice.top_total(plan, noisy)
    if len(plan.measurement.marginals) == 1 and not plan.terms.delta:
        assert total == measured_total(plan, noisy)
    assert total == plan.margins.totals(noisy)[0] > 0
    require_total(plan, choice.table_of(plan, noisy), total)


@every_method
def test_a_public_total_is_kept_whatever_was_measured(wanted, method):
    plan = release_plan(wanted, method=method, held={"total": 1234})
    noisy = plan.measurement(sparse(plan), SYSTEM)
    for shift in (0, 10**5, -(10**5)):
        assert choice.top_total(plan, noisy + shift) == 1234
        require_total(plan, choice.table_of(plan, noisy + shift), 1234)


@pytest.mark.parametrize(("wanted", "methods"), [(COUNTS, ["flow"]), (SIZES, choice.FROM_TOP)], ids=["counts", "sizes"])
def test_public_totals_of_leaves_are_the_total(wanted, methods):
    for method in methods:
        plan = release_plan(wanted, method=method, held={"leaf_totals": dict.fromkeys(GEO.leaves, 7)})
        noisy = plan.measurement(sparse(plan), SYSTEM)
        assert choice.top_total(plan, noisy) == 280
        require_total(plan, choice.table_of(plan, noisy), 280)


@every_method
def test_a_measured_total_below_0_is_0(wanted, method):
    plan = release_plan(wanted, method=method)
    noisy = plan.measurement(sparse(plan), SYSTEM) - 10**5
    assert plan.margins.totals(noisy)[0] < 0
    assert choice.top_total(plan, noisy) == 0
    assert not choice.table_of(plan, noisy).any()


ZEROS = [each for each in METHODS if each[1] != "joint"]  # which keeps none


@pytest.mark.parametrize(("wanted", "method"), ZEROS, ids=[name for name in NAMES if "joint" not in name])
def test_the_total_is_0_where_no_cell_is_allowed_whatever_was_measured(wanted, method):
    plan = release_plan(wanted, method=method, held={"zeros": [{"country": "x"}]})
    noisy = plan.measurement(np.zeros((40, plan.subject.cells), dtype=np.int64), SYSTEM) + 10**4
    assert choice.top_total(plan, noisy) == 0
    assert not choice.table_of(plan, noisy).any()


@pytest.mark.parametrize(("wanted", "method"), ZEROS, ids=[name for name in NAMES if "joint" not in name])
def test_zeros_elsewhere_leave_the_measured_total(wanted, method):
    plan = release_plan(wanted, method=method, held={"zeros": [{"region": "r1"}]})
    noisy = plan.measurement(sparse(plan) + 200, SYSTEM)
    table = choice.table_of(plan, noisy)
    require_total(plan, table, choice.top_total(plan, noisy))
    assert table[0].any()
    assert not table[plan.subject.tree.leaves][8:16].any()


# --- what it is good for ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_sparse_table_is_nearer_than_the_nearest_of_all(seed):
    """40 × 60 cells, of which 97 in 100 are 0, and noise of scale 30: what is cut at 0 adds up to people who are not
    there, on every level."""
    plan = release_plan(BANDS, method="integer")
    tree = plan.subject.tree
    exact = tree_sums(tree, sparse(plan, filled=0.03))
    noisy = plan.measurement(exact[tree.leaves], Replay(fair(10**6, seed)))
    held, free = choice.table_of(plan, noisy), integer.fit(tree, noisy, plan.weights, total=None)
    off = [[int(np.abs(table - exact)[tree.places(level)].sum()) for level in range(3)] for table in (held, free)]
    people = [abs(int(table[0].sum() - exact[0].sum())) for table in (held, free)]
    assert off[0][2] < 0.7 * off[1][2]
    assert people[0] <= plan.margins.total_radius[0] < people[1]
