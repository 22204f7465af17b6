"""Tables over a tree in the audit: many runs at once, joint laws, what a unit can do; and that it would find bugs."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb

from discreet import real
from discreet.audit import brute, laws, places
from discreet.audit.bounds import lower_end, upper_end
from discreet.audit.claim import Claim, audit_draws, audit_exactly
from discreet.audit.claims import claims
from discreet.audit.forest import StandIn, draw_measurements, exact_layout, forest
from discreet.audit.joint import Loss, Moves, _loss, joint, side_laws
from discreet.audit.places import DEEP, DEEP_SHARES, FLAT, plain_design
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Ints
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM, Source
from discreet.privacy import price
from discreet.privacy.cost import Gaussian
from discreet.relation import Relation
from discreet.release.measure import Measurement, count_sensitivity, laplace

CLAIMS = [claim for claim in claims() if isinstance(claim.mechanism, Measurement)]
NAMED = {claim.name: claim for claim in CLAIMS}
HALF = Fraction(1, 2)


# --- many runs at once ---


def test_forest_is_so_many_copies_of_the_tree() -> None:
    """Its places are those of each copy in turn, level by level, below parents of the same copy."""
    wood = forest(DEEP, 3)
    assert len(wood) == 3 * len(DEEP)
    path = [wood.path(place) for place in range(len(wood))]
    for level in range(DEEP.depth):
        own = [DEEP.path(place) for place in range(len(DEEP))[DEEP.places(level)]]
        assert path[wood.places(level)] == 3 * own
    tops = np.arange(len(wood))
    while (wood.parent[tops] >= 0).any():
        tops = np.where(wood.parent[tops] >= 0, wood.parent[tops], tops)
    for level in range(DEEP.depth):
        assert tops[wood.places(level)].tolist() == np.repeat(range(3), np.diff(DEEP.first)[level]).tolist()
    single = forest(DEEP, 1)
    for name in ("parent", "first", "child", "leaves"):
        assert np.array_equal(getattr(single, name), getattr(DEEP, name)), name


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.name)
def test_every_run_holds_the_numbers_of_a_single_call(claim: Claim) -> None:
    """Without noise all runs are what one call says, place by place and view by view."""
    silent = replace(claim.mechanism, mechanisms=tuple((StandIn(None),) * len(m) for m in claim.mechanism.mechanisms))
    for side in {side for pair in claim.pairs for side in pair}:
        single = silent(np.array(side), SYSTEM).reshape(-1)
        assert np.array_equal(draw_measurements(silent, side, 3, SYSTEM), np.tile(single, (3, 1)))
        assert np.array_equal(exact_layout(claim.mechanism, side)[0], single)


@pytest.mark.parametrize("name", ["release-1", "release-marginals", "release-gaussian-sizes"])
def test_numbers_of_the_runs_follow_their_laws(name: str) -> None:
    """N = 4,000; P[y ≥ exact] of each number and of neighbouring pairs, 10⁻⁷ a claim; one tenth off must fail."""
    claim, n = NAMED[name], 4_000
    side = claim.pairs[-1][1]
    numbers = laws.numbers(claim.mechanism, side)
    up = draw_measurements(claim.mechanism, side, n, SYSTEM) >= np.array([number.exact for number in numbers])
    chances = [float(laws.above(number.noise, -1)) for number in numbers]
    level = 1e-7 / (4 * len(numbers))
    told = [(int(up[:, i].sum()), p) for i, p in enumerate(chances)]
    told += [(int((up[:, i] & up[:, i - 1]).sum()), p * chances[i - 1]) for i, p in enumerate(chances)]
    for hits, chance in told:
        assert lower_end(hits, n, level) <= chance <= upper_end(hits, n, level)
        assert not lower_end(hits, n, level) <= chance + 0.1 <= upper_end(hits, n, level)


# --- numbers without noise ---


@dataclass(frozen=True, eq=False)
class Bare(Measurement):
    """The top gets no noise where nobody is."""

    def __call__(self, exact: Any, source: Source) -> Ints:
        noisy = super().__call__(exact, source)
        return noisy if np.asarray(exact).any() else np.concatenate([np.zeros_like(noisy[:1]), noisy[1:]])


@dataclass(frozen=True, eq=False)
class Lonely(Measurement):
    """The top gets no noise where one unit is, and that of two levels elsewhere."""

    def __call__(self, exact: Any, source: Source) -> Ints:
        noisy, units = super().__call__(exact, source), int(np.asarray(exact).sum())
        noisy[0] = 1 if units == 1 else noisy[0] + noisy[1]
        return noisy


@pytest.mark.parametrize(("wrong", "units"), [(Bare, 0), (Lonely, 1), (Lonely, 0)])
def test_number_that_code_leaves_without_noise_is_refused_by_exact_laws(wrong: type[Measurement], units: int) -> None:
    """An exact 0 is not the number of the first mechanism, nor 1 that of the second."""
    right = laplace(plain_design(DEEP, count_sensitivity(1, Relation.ADD_REMOVE)), Fraction(1), DEEP_SHARES)
    bare = wrong(right.tree, right.form, right.marginals, right.leaf_sensitivity, right.mechanisms)
    tables = [table for table in places.small_tables(DEEP, 1, 1) if np.sum(table) == units]
    world = places.entering(tables, places.tables_with_unit)
    assert not audit_exactly(Claim("right", laplace, right, (), world)).is_refuted
    with pytest.raises(TypeError, match="no exact law"):
        audit_exactly(Claim("bare", laplace, bare, (), world))


def test_counts_as_large_as_the_numbers_of_stand_ins_are_refused() -> None:
    right = laplace(plain_design(DEEP, count_sensitivity(1, Relation.ADD_REMOVE)), Fraction(1), DEEP_SHARES)
    largest = 2**50 - 1
    assert exact_layout(right, ((largest,), (0,), (0,), (0,)))[1].tolist() == [0, 1, 1, 1, 2, 2, 2]
    with pytest.raises(TypeError, match="no exact law"):
        exact_layout(right, ((largest,), (1,), (0,), (0,)))


# --- joint laws ---


MOVES = (DiscreteLaplace(Fraction(2)), 1), (DiscreteLaplace(Fraction(3)), -2), (DiscreteLaplace(Fraction(2)), 1)
NORMAL = (RoundedGaussian(Fraction(2)), 1), (RoundedGaussian(Fraction(3)), -2)


def product_law(moves: Moves, side: int, window: range) -> laws.OutputLaw:
    """The slow twin: every combination of numbers, none joined."""
    return laws.independent([laws.window_law(noise, side * step, window) for noise, step in moves])


def test_joint_law_of_laplace_noise_loses_nothing() -> None:
    with real.precision(brute.BITS):
        short, long = joint(MOVES, brute.BITS), tuple(product_law(MOVES, side, range(-4, 4)) for side in (0, 1))
        assert len(short[0]) < 20 < len(long[0])
        assert abs(sum(short[0].values()) - 1) < 1e-50
        assert abs(sum(short[1].values()) - 1) < 1e-50
        for order in ((0, 1), (1, 0)):
            shortened, truth = ([each[side] for side in order] for each in (short, long))
            exactly = brute.log_odds(*shortened)[0]
            assert exactly is not None
            assert exactly == pytest.approx(5 / 3, abs=1e-15)
            assert exactly <= Fraction(5, 3)
            assert float(brute.log_odds(*truth)[0] or 0) == pytest.approx(5 / 3, abs=1e-15)
            for epsilon in (Fraction(0), HALF, Fraction(1)):
                apart = [float(brute.hockey_stick(*laws_, epsilon)) for laws_ in (shortened, truth)]
                assert apart[0] == pytest.approx(apart[1], rel=1e-12)
            divergence = [float(brute.renyi(*laws_, Fraction(4)) or 0) for laws_ in (shortened, truth)]
            assert divergence[0] == pytest.approx(divergence[1], rel=1e-12)


@pytest.mark.parametrize("loss", [700, 720, 1_000, 10**5, 10**7, 10**30])
def test_odds_beyond_floats_are_not_taken_for_even_ones(loss: int) -> None:
    """Noise of scale 1/loss, moved by 1: e^loss is no float from 710 on, and no ball at last."""
    with real.precision(brute.BITS):
        sides = joint(((DiscreteLaplace(Fraction(1, loss)), 1),), brute.BITS)
        for p, q in (sides, sides[::-1]):
            odds, _ = brute.log_odds(p, q)
            assert odds is None or 0.999 * min(loss, 10**15) < odds <= loss


def test_outputs_of_one_side_alone_keep_their_sign_and_are_not_even() -> None:
    """Chances that may be 0, as balls or exactly, have no logarithm; odds past e^(10⁶) have a float for one."""
    some, none, perhaps = arb(1) / 2, arb(0), arb(0, 1e-50)
    for little in (none, perhaps):
        assert _loss(({"y": some}, {"y": little}), "y") == 1e6
        assert _loss(({"y": little}, {"y": some}), "y") == -1e6
        assert abs(_loss(({"y": little}, {"y": little}), "y")) == 1e6
    with real.precision(brute.BITS):
        p, q = joint(((DiscreteGaussian(Fraction(1, 10)), 1),), brute.BITS)  # whose tails are differences
        assert Loss(0) not in p
        assert all(float(brute.log_odds(*sides)[0] or 0) == pytest.approx(550) for sides in ((p, q), (q, p)))


def test_equal_losses_beyond_floats_are_joined_and_others_are_not() -> None:
    """Losses ±800 and ±900 beside each other: ±1700, ±100; twice ±800 has one output of loss 0, not two."""
    noises = [DiscreteLaplace(Fraction(1, size)) for size in (800, 900)]
    with real.precision(brute.BITS):
        other = joint(((noises[0], 1), (noises[1], -1)), brute.BITS)
        twice = joint(((noises[0], 1), (noises[0], 1)), brute.BITS)
        for sides, losses in ((other, (1700, 100, -100, -1700)), (twice, (1600, 0, -1600))):
            assert set(sides[0]) == {Loss(loss * 2**30) for loss in losses}
            for p, q in (sides, sides[::-1]):
                assert float(brute.log_odds(p, q)[0] or 0) == pytest.approx(losses[0], abs=1e-9)
                assert abs(sum(p.values()) - 1) < 1e-50


def test_joint_law_of_gaussian_noise_loses_little_and_never_gains() -> None:
    with real.precision(96):
        short, long = joint(NORMAL, 96), tuple(product_law(NORMAL, side, range(-26, 27)) for side in (0, 1))
        for epsilon in (Fraction(0), HALF, Fraction(3, 2)):
            shortened, truth = (float(brute.hockey_stick(*each, epsilon)) for each in (short, long))
            assert 0.97 * truth < shortened <= truth * (1 + 1e-9)
        for order in (Fraction(2), Fraction(4)):
            shortened, truth = (float(brute.renyi(*each, order) or 0) for each in (short, long))
            assert 0.97 * truth < shortened <= truth * (1 + 1e-9)


def test_numbers_that_do_not_move_are_left_out_and_like_pairs_are_told_once() -> None:
    noise = DiscreteLaplace(Fraction(1))
    sides = {key: tuple(laws.Number(noise, count) for count in key) for key in product(range(3), repeat=3)}
    with real.precision(64):
        told = side_laws(sides, [((0, 0, 0), (0, 0, 1)), ((2, 1, 0), (2, 2, 0)), ((0, 0, 0), (1, 1, 0))])
    assert len(told) == 2
    assert [len(p) for p, _ in told] == [2, 3]  # e^±1, and e^±2 and 1
    with pytest.raises(TypeError, match="of one kind"):
        side_laws({0: {}, 1: ()}, [(0, 1)])


# --- what a unit can do ---


def groups_of(table: places.Table) -> list[list[int]]:
    """The sizes of all groups of each leaf."""
    return [[size for size, many in enumerate(row, 1) for _ in range(many)] for row in table]


def sized(groups: list[list[int]], largest: int) -> places.Table:
    return tuple(tuple(sum(min(g, largest) == size for g in leaf) for size in range(1, largest + 1)) for leaf in groups)


@pytest.mark.parametrize("rows", [1, 2])
def test_persons_join_groups_as_lists_of_sizes_say(rows: int) -> None:
    for table in places.small_tables(FLAT, 3, 2):
        sizes, last = set(), [groups_of(table)]
        for _ in range(rows):
            after = []
            for groups in last:
                for leaf, here in enumerate(groups):
                    for place in range(len(here) + 1):
                        own = [g + (i == place) for i, g in enumerate([*here, 0])]
                        after.append([*groups[:leaf], [g for g in own if g], *groups[leaf + 1 :]])
            last = after
            sizes |= {sized(groups, 3) for groups in last}
        assert places.tables_with_person(table, rows) == sizes


def test_units_are_counted_in_every_leaf_and_cell() -> None:
    nobody = places.empty_table(FLAT, 2)
    assert len(places.tables_with_unit(nobody)) == 4
    assert len(places.tables_with_unit(nobody, 2)) == 4 + 10
    assert len(places.exchanging([nobody], places.tables_with_unit)) == 6
    assert all(np.abs(np.subtract(a, b)).sum() == 2 for a, b in places.exchanging([nobody], places.tables_with_unit))


def test_leaves_lie_at_two_depths_in_the_order_that_is_said() -> None:
    assert [DEEP.names[leaf] for leaf in DEEP.leaves] == ["s", "n1", "n2", "t1"]
    assert DEEP.level[DEEP.leaves].tolist() == [1, 2, 2, 2]


# --- the claims ---


@pytest.mark.parametrize("claim", [c for c in CLAIMS if not isinstance(c.cost, Gaussian)], ids=lambda c: c.name)
def test_exact_laws_reach_the_claim(claim: Claim) -> None:
    """Every share is used up by one unit, so none could be smaller and no noise less."""
    assert audit_exactly(claim).lower_bound > 0.999999 * float(price.epsilon(claim.cost, 0).value)


@pytest.mark.parametrize("name", ["release-gaussian-two-rows", "release-gaussian-sizes"])
def test_exact_laws_come_near_a_gaussian_claim(name: str) -> None:
    """Within a twentieth: rounding to whole numbers hides a little, and so does joining outputs."""
    row = audit_exactly(NAMED[name])
    said = float(row.claim.split(" = ")[1].split(" at")[0])
    assert 0.95 * said < row.lower_bound <= said


def test_gaussian_levels_are_held_to_their_one_mu() -> None:
    """μ² of all levels and views adds up to that of the typed price, ε = 1 at δ = 1/100."""
    cost = NAMED["release-gaussian-sizes"].cost
    assert isinstance(cost, Gaussian)
    assert float(price.delta(cost, 1).value) == pytest.approx(0.01, rel=1e-6)
    assert price.delta(cost, 1).value <= Fraction(1, 100)


def broken(claim: Claim, level: int, noise: DiscreteLaplace) -> Claim:
    """The claim with other noise on one level than it pays for."""
    mechanism = claim.mechanism
    wrong = tuple(Additive(additive.sensitivity, additive.cost, noise) for additive in mechanism.mechanisms[level])
    mechanisms = (*mechanism.mechanisms[:level], wrong, *mechanism.mechanisms[level + 1 :])
    return replace(claim, mechanism=replace(mechanism, mechanisms=mechanisms))


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("name", ["release-1", "release-replace-one", "release-sizes"])
def test_level_with_hardly_any_noise_is_found_by_draws_and_by_law(name: str, level: int) -> None:
    """N = 2,000; noise of scale 1/10 is 0 but for a chance of 10⁻⁴, so an event of chances near 1 and 0 is there."""
    bug = broken(NAMED[name], level, DiscreteLaplace(Fraction(1, 10)))
    assert price.epsilon(bug.cost, 0) == price.epsilon(NAMED[name].cost, 0)
    assert audit_draws(bug, runs=2_000).verdict == "refuted"
    assert audit_exactly(bug).verdict == "refuted"
