"""The approximate ± of fitted numbers: order statistics as a slow twin finds them, what they hold, what is refused."""

from fractions import Fraction
from math import ceil, exp, log

import numpy as np
import pytest
from scipy.special import entr

from discreet.errors import BadValue
from discreet.noise.source import SYSTEM
from discreet.release import resimulated
from discreet.release.fit import choice
from discreet.release.known import Known, known_of
from discreet.release.measure import Form, from_top
from discreet.release.plan import plan_of
from discreet.release.resimulated import candidate_tables, largest, least_runs, radii, tail_size
from discreet.release.resimulated import resimulate as simulated
from discreet.release.subject import ReleaseSpec, subject
from discreet.release.tree import tree_sums
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms
from replay import Refusing, Seeded

BRANCHES = tuple(("x", f"r{region}", f"w{region}.{ward}") for region in range(3) for ward in range(2 + region))
GEO = Hierarchy("geo", ("country", "region", "ward"), branches=BRANCHES)
COLUMNS = [
    Column("ward", "category", values=GEO.leaves),
    Column("sex", "category", values=("m", "f")),
    Column("old", "boolean"),
    Column("band", "category", values=tuple(f"b{number}" for number in range(40))),
    Column("home", "text"),
]
SCHEMA = Schema("people", COLUMNS, Unit("person", 1), "add-remove", None, (GEO,))
COUNTS, SIZES = ReleaseSpec("geo", by=("sex",)), ReleaseSpec("geo", groups="home", largest=4)
BANDS = ReleaseSpec("geo", by=("band",))
METHODS = [(COUNTS, method) for method in choice.PLAIN] + [(SIZES, method) for method in choice.FROM_TOP]
NAMES = [*choice.PLAIN, *choice.FROM_TOP]


def release_plan(wanted, *, held=None, epsilon="0.5", delta=0, level="0.95", **given):
    about = subject(wanted, SCHEMA)
    facts = Known() if held is None else known_of(about, **held)
    return plan_of(about, Terms.parse(epsilon, delta, level), known=facts, **given)


def table(plan, seed=5, largest=9):
    """A table that adds up, with many zeros."""
    numbers = np.random.default_rng(seed)
    shape = (len(plan.subject.tree.leaves), plan.subject.cells)
    return tree_sums(plan.subject.tree, numbers.integers(0, largest, shape) * (numbers.random(shape) < 0.6))


def noiseless(plan, exact):
    """What would be measured without noise: the fit gives the table back."""
    if plan.measurement.form is Form.FROM_TOP:
        return from_top(exact)
    return np.concatenate([view.of(exact) for view in plan.measurement.marginals], axis=1)


def all_errors(plan, fitted, runs, source):
    """Every error of every run, kept; the totals in the last column."""
    errors = []
    for _ in range(runs):
        refitted = choice.table_of(plan, plan.measurement(fitted[plan.subject.tree.leaves], source))
        errors.append(np.column_stack([abs(refitted - fitted), abs(refitted.sum(axis=1) - fitted.sum(axis=1))]))
    return np.stack(errors)


def slow(plan, errors, free):
    """The larger of the two order statistics, cell by cell, from sorted lists of all errors."""
    runs, places, width = errors.shape
    alone, pooled = np.zeros((2, places, width), dtype=np.int64)
    for place in range(places):
        level = int(plan.subject.tree.level[place])
        for cell in range(width):
            alone[place, cell] = sorted(errors[:, place, cell])[ceil(plan.terms.level * (runs + 1)) - 1]
            peers = [r for r in range(places) if plan.subject.tree.level[r] == level and free[r, cell]]
            if place in peers:
                rank = ceil(plan.terms.level * (runs + 1) * len(peers))
                pooled[place, cell] = sorted(errors[:, peers, cell].ravel())[rank - 1]
    return alone, pooled


# --- order statistics ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wanted", "method"), METHODS, ids=NAMES)
@pytest.mark.parametrize(("runs", "level"), [(19, "0.95"), (47, "0.9"), (25, "2/3")])
def test_radii_are_those_of_a_twin_that_keeps_every_run(wanted, method, runs, level):
    plan = release_plan(wanted, method=method, level=level)
    fitted = table(plan)
    alone, pooled = slow(plan, all_errors(plan, fitted, runs, Seeded(1)), np.ones((13, 99), dtype=bool))
    computed = radii(plan, fitted, runs=runs, source=Seeded(1))
    assert np.array_equal(computed[0], alone)
    assert np.array_equal(computed[1], pooled)
    margins = simulated(plan, noiseless(plan, fitted), runs=runs, source=Seeded(1))
    assert np.array_equal(np.column_stack([margins.radius, margins.total_radius]), np.maximum(alone, pooled))
    assert margins.radius.dtype == margins.total_radius.dtype == np.int64
    assert margins.radius.shape == fitted.shape
    assert (margins.runs, margins.level) == (runs, Fraction(level))


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        (COUNTS, {"total": 30}),
        (COUNTS, {"zeros": [{"region": "r2", "sex": "f"}, {"ward": "w0.1"}]}),
        (COUNTS, {"leaf_totals": dict.fromkeys(GEO.leaves, 5)}),
        (SIZES, {"leaf_totals": dict.fromkeys(GEO.leaves, 5)}),
    ],
    ids=["total", "zeros", "leaf totals", "leaf totals of sizes"],
)
def test_public_numbers_have_no_margin_and_are_in_no_pool(wanted, held):
    plan = release_plan(wanted, held=held)
    fitted = choice.table_of(plan, plan.measurement(table(plan)[plan.subject.tree.leaves], SYSTEM))
    tree, facts = plan.subject.tree, plan.known
    free = np.ones((len(tree), plan.subject.cells + 1), dtype=bool)
    if facts.allowed is not None:
        free[:, :-1] = facts.possible(tree)
    free[:, -1] = facts.totals(tree) < 0
    assert not free.all()
    alone, pooled = slow(plan, all_errors(plan, fitted, 39, Seeded(3)), free)
    computed = radii(plan, fitted, runs=39, source=Seeded(3))
    assert np.array_equal(computed[0], alone)
    assert np.array_equal(computed[1], pooled)
    assert not computed[0][~free].any()
    assert not computed[1][~free].any()


def test_the_largest_are_kept_whatever_their_order():
    numbers = np.random.default_rng(2)
    for few, many, step in [(1, 7, 1), (5, 99, 1), (4, 60, 3), (21, 40, 10)]:
        seen = numbers.integers(0, 12, (6, many))
        held = np.full((6, few), -1)
        for start in range(0, many, step):
            held = largest(held, seen[:, start : start + step])
            assert held.shape == (6, few)
        best = np.sort(seen, axis=1)[:, many - few :]
        assert np.array_equal(np.sort(held, axis=1), best)
        assert np.array_equal(held[:, 0], best[:, 0])


@pytest.mark.parametrize("level", ["0.5", "2/3", "0.9", "0.95", "0.99", "0.999", "0.9999"])
def test_the_fewest_runs_are_those_whose_rank_exists(level):
    exact_level = Fraction(level)
    least = least_runs(exact_level)
    assert ceil(exact_level * (least + 1)) <= least
    assert ceil(exact_level * least) > least - 1
    assert tail_size(exact_level, least, 1) >= 1
    assert all(tail_size(exact_level, least, places) >= 1 for places in (0, 2, 3, 1000))


@pytest.mark.parametrize("runs", [19, 99, 1999])
def test_no_more_is_held_than_a_few_errors_for_each_cell(monkeypatch, runs):
    """Whatever is held is counted at each step: 2·⌈0.05·runs⌉ numbers and one run more for each cell and total."""
    plan = release_plan(COUNTS)
    fitted = table(plan)
    monkeypatch.setattr(choice, "table_of", lambda *_: fitted)
    monkeypatch.setattr(type(plan.measurement), "__call__", lambda *_: None)
    sizes = {}

    def watched(held, seen):
        sizes[held.shape] = held.size
        return largest(held, seen)

    monkeypatch.setattr(resimulated, "largest", watched)
    simulated(plan, noiseless(plan, fitted), runs=runs)
    assert 0 < sum(sizes.values()) <= 2 * ceil(0.05 * runs) * (fitted.size + len(fitted))


# --- what holds ------------------------------------------------------------------------------------------------------


ALARM = 1e-8  # for each of 2 × 4 figures
TRIED = [  # sets of runs, and of each figure whose shares vary little enough how much narrower is told
    (BANDS, 150, {0: 0.4, 1: 0.3, 3: 0.2}),
    (SIZES, 60, {0: 0.1}),
]


@pytest.fixture(scope="module", params=TRIED, ids=["counts", "sizes"])
def sets(request):
    """Errors of one release more and the radii of 5 runs at level 2/3, where the fitted table is the exact one.

    Four figures of each set of runs: the cells of a region and those of a ward by their own errors, a region's total,
    and the cells of all wards by their pools.  Sets are independent; the columns of one set meet in its total.
    """
    wanted, many, narrower = request.param
    plan = release_plan(wanted, epsilon="0.3", level="2/3")
    fitted, wards, held = table(plan), plan.subject.tree.places(2), [[], [], [], []]
    for _ in range(many):
        alone, pooled = radii(plan, fitted, runs=5)
        (errors,) = all_errors(plan, fitted, 1, SYSTEM)
        seen = [(2, slice(-1)), (-1, slice(-1)), (1, slice(-1, None)), (wards, slice(-1))]
        for each, holds, radius in zip(held, seen, (alone, alone, alone, pooled), strict=True):
            each.append((errors[holds].ravel(), radius[holds].ravel()))
    return [[np.stack(part) for part in zip(*figure, strict=True)] for figure in held], narrower


def too_few(errors, radius):
    """Whether shares so small would hardly come if each held with probability 2/3 or more.

    For n independent shares of the mean m: P[mean ≤ m] ≤ exp(−n·KL(m, 2/3)), whatever their law (Hoeffding 1963).
    """
    mean = float(np.mean(errors <= radius))
    chance = 2 / 3
    far = entr(mean) + entr(1 - mean) + mean * log(chance) + (1 - mean) * log(1 - chance)
    return mean < chance and exp(len(errors) * far) < ALARM


def test_margins_hold_as_often_as_they_say_where_the_fitted_table_is_the_exact_one(sets):
    """N = 150 sets of runs of counts, 60 of sizes; false alarms below 8·10⁻⁸ in all."""
    figures, _ = sets
    assert {len(errors) for errors, _ in figures} in ({150}, {60})
    assert not any(too_few(*figure) for figure in figures)


def test_narrower_margins_hold_too_rarely(sets):
    """Pools of few runs are wide: by the factor (R + 1)/R in rank.  Each is told but for a chance below 10⁻⁸."""
    figures, narrower = sets
    assert all(too_few(figures[figure][0], factor * figures[figure][1]) for figure, factor in narrower.items())


@pytest.mark.parametrize(("wanted", "method"), METHODS, ids=NAMES)
def test_the_total_at_the_top_errs_by_what_each_run_measured_of_it(wanted, method):
    plan = release_plan(wanted, method=method)
    fitted, source = table(plan, largest=300), Seeded(7)
    total = int(fitted[0].sum())
    measurements = [plan.measurement(fitted[plan.subject.tree.leaves], source) for _ in range(19)]
    measured = [int(plan.margins.totals(noisy)[0]) for noisy in measurements]
    margins = simulated(plan, noiseless(plan, fitted), runs=19, source=Seeded(7))
    assert margins.total_radius[0] == max(abs(number - total) for number in measured) > 0


@pytest.mark.parametrize(("wanted", "method"), METHODS, ids=NAMES)
def test_without_noise_there_is_no_margin(wanted, method):
    """At ε = 60,000 for three levels of one marginal, noise other than 0 has a chance below e^-10000."""
    plan = release_plan(wanted, method=method, epsilon=60_000)
    margins = simulated(plan, noiseless(plan, table(plan)), runs=19)
    assert not margins.radius.any()
    assert not margins.total_radius.any()


def test_several_marginals_at_once_have_margins_too():
    plan = release_plan(ReleaseSpec("geo", by=("sex", "old")))
    assert len(plan.measurement.marginals) == 3
    fitted = table(plan)
    alone, pooled = slow(plan, all_errors(plan, fitted, 19, Seeded(6)), np.ones((13, 5), dtype=bool))
    margins = simulated(plan, noiseless(plan, fitted), runs=19, source=Seeded(6))
    assert np.array_equal(margins.radius, np.maximum(alone, pooled)[:, :-1])


def test_a_cell_that_never_moves_takes_the_margin_of_its_level(monkeypatch):
    """What the pool is for: the fit holds one ward at 0 in every run, and the other wards move."""
    plan = release_plan(COUNTS)
    fitted = table(plan)
    numbers = iter(range(100))

    def again(*_):
        moved = fitted + 10 * (next(numbers) % 2) + 1
        moved[-1] = fitted[-1]
        return moved

    monkeypatch.setattr(choice, "table_of", again)
    alone, pooled = radii(plan, fitted, runs=19)
    assert not alone[-1].any()
    assert (pooled[-1, :-1] == 11).all()


# --- the nearest table of all ---------------------------------------------------------------------------------------


def sparse(held=None):
    """A plan, and measurements of a nearly empty table whose noise adds up to far more than there is."""
    plan = release_plan(BANDS, epsilon="0.1", held=held)
    leaves = np.zeros((len(plan.subject.tree.leaves), plan.subject.cells), dtype=np.int64)
    leaves[:, 0] = 3
    return plan, plan.measurement(leaves, Seeded(4))


def test_where_the_nearest_table_has_too_many_it_is_tried_too_and_the_larger_radius_taken():
    plan, noisy = sparse()
    fitted, nearest = candidate_tables(plan, noisy)
    assert np.array_equal(fitted, choice.table_of(plan, noisy))
    assert nearest[0].sum() > plan.margins.totals(noisy)[0] + plan.margins.total_radius[0]
    told, source = [], Seeded(9)
    margins = simulated(plan, noisy, runs=19, source=source, progress=lambda step, share: told.append(share))
    same_source = Seeded(9)
    first, two = (np.maximum(*radii(plan, each, runs=19, source=same_source)) for each in (fitted, nearest))
    assert np.array_equal(margins.radius, np.maximum(first, two)[:, :-1])
    assert (two > first).mean() > 0.2
    assert told == pytest.approx([run / 38 for run in range(1, 39)])


def test_the_fitted_table_is_tried_alone_where_the_nearest_has_not_too_many():
    plan, noisy = sparse({"total": 27})
    assert len(candidate_tables(plan, noisy)) == 1
    full = release_plan(COUNTS)
    assert len(candidate_tables(full, noiseless(full, table(full, largest=300)))) == 1
    sizes = release_plan(SIZES)
    assert (
        len(candidate_tables(sizes, sizes.measurement(np.zeros((9, sizes.subject.cells), dtype=np.int64), Seeded(4))))
        == 1
    )


# --- progress and refusals -------------------------------------------------------------------------------------------


def test_progress_is_told_after_each_run_up_to_the_whole():
    plan, told = release_plan(COUNTS), []
    simulated(plan, noiseless(plan, table(plan)), runs=20, progress=lambda step, share: told.append((step, share)))
    assert told == [("drawing the noise again", run / 20) for run in range(1, 21)]


def test_the_table_that_is_given_stays_as_it_is_and_another_call_draws_anew():
    plan = release_plan(BANDS, epsilon="0.01")
    fitted = table(plan)
    before = fitted.copy()
    first, second = (simulated(plan, noiseless(plan, fitted), runs=19).radius for _ in range(2))
    assert np.array_equal(fitted, before)
    assert not np.array_equal(first, second)  # 520 maxima of noise of scale 300: equal less than once in 10¹⁰⁰


@pytest.mark.parametrize("runs", [0, -1, 18, 10_001, 10**400, True, 99.0, "99", None, np.nan, [99]])
def test_bad_runs_are_refused_before_any_noise(runs):
    plan = release_plan(COUNTS)
    with pytest.raises(BadValue, match=r"runs at the level 0\.95 must be a whole number between 19 and 10000"):
        simulated(plan, noiseless(plan, table(plan)), runs=runs, source=Refusing())


def test_the_fewest_runs_follow_from_the_level():
    plan = release_plan(COUNTS, level="0.99")
    with pytest.raises(BadValue, match="between 99 and 10000"):
        simulated(plan, noiseless(plan, table(plan)), runs=98, source=Refusing())
    assert simulated(plan, noiseless(plan, table(plan))).runs == 99
    with pytest.raises(BadValue, match=r"level must not need more than 10,000 runs.*0\.99995.*at most 0\.9999\."):
        simulated(release_plan(COUNTS, level="0.99995"), noiseless(plan, table(plan)), runs=10_000, source=Refusing())


def test_measurements_of_another_plan_are_refused():
    plan = release_plan(COUNTS)
    noisy = noiseless(plan, table(plan))
    for given in (noisy[:, :1], noisy[1:], noisy.astype(float)):
        with pytest.raises(BadValue, match="noisy must be 13 rows of 2 whole numbers"):
            simulated(plan, given, source=Refusing())


def test_more_errors_than_fit_into_memory_are_refused_before_any_noise(monkeypatch):
    plan = release_plan(COUNTS)
    monkeypatch.setattr(resimulated, "MOST_KEPT", 5 * 13 * 3)
    assert simulated(plan, noiseless(plan, table(plan)), runs=99).runs == 99
    with pytest.raises(BadValue, match=r"runs must not hold more than 195 errors.*You gave 119\. Give fewer; 19 are"):
        simulated(plan, noiseless(plan, table(plan)), runs=119, source=Refusing())
