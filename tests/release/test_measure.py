"""What one unit can move, by brute force over all small tables; the promise of a measurement; shares of levels."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.noise.source import SYSTEM
from discreet.privacy import price
from discreet.privacy.cost import Pure
from discreet.relation import Relation
from discreet.release.measure import (
    Design,
    Form,
    all_cells,
    count_sensitivity,
    from_top,
    gaussian,
    laplace,
    marginal,
    shares,
    size_sensitivity,
)
from discreet.release.tree import from_branches, tree_sums

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
TREE = from_branches(("country", "region", "ward"), [("x", "n", "n1"), ("x", "n", "n2"), ("x", "s", "s1")])
LARGEST = 2  # sizes above count as this
PLACES = list(product(range(3), range(2)))  # ward and group: all that one row can say


def sizes(people):
    """Groups by ward and size 1 … LARGEST, larger ones in the last."""
    rows = [row for person in people for row in person]
    table = np.zeros((3, LARGEST), dtype=np.int64)
    for ward, group in set(rows):
        table[ward, min(rows.count((ward, group)), LARGEST) - 1] += 1
    return table


def counts(people):
    table = np.zeros((3, 1), dtype=np.int64)
    for ward, _ in (row for person in people for row in person):
        table[ward] += 1
    return table


def norms(change):
    size = np.abs(change)
    return int(np.count_nonzero(change)), int(size.sum()), int((size * size).sum()), int(size.max(initial=0))


def furthest(measured, rows, relation):
    """The largest norm of the change of any level, over small tables and all that one person can be."""
    persons = [[], *([place] for place in PLACES)] if rows == 1 else [[], *map(list, product(PLACES, repeat=2))]
    others = [[[place] for place in some] for size in range(3) for some in product(PLACES, repeat=size)]
    largest = (0, 0, 0, 0)
    for rest, old, new in product(others, persons, persons):
        if relation is ADD and old and new:
            continue
        change = tree_sums(TREE, measured([*rest, old])) - tree_sums(TREE, measured([*rest, new]))
        for level in range(TREE.depth):
            largest = tuple(map(max, largest, norms(change[TREE.places(level)])))
    return largest


def claimed(sensitivity):
    return sensitivity.l0, sensitivity.l1, sensitivity.l2_squared, sensitivity.linf


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(
    ("measured", "claim"),
    [
        (counts, count_sensitivity),
        (sizes, size_sensitivity),
        (lambda people: from_top(sizes(people)), count_sensitivity),
    ],
    ids=["counts", "sizes", "from the top"],
)
def test_no_person_moves_a_level_further_than_is_claimed(measured, claim, relation):
    moved, bound = furthest(measured, 1, relation), claimed(claim(1, relation))
    assert all(move <= other for move, other in zip(moved, bound, strict=True))
    assert moved[1] == bound[1]  # l1, which Laplace noise is made for, is reached


@pytest.mark.parametrize(
    ("measured", "claim"), [(sizes, size_sensitivity), (lambda x: from_top(sizes(x)), count_sensitivity)]
)
def test_no_person_with_two_rows_moves_a_level_further_than_is_claimed(measured, claim):
    moved, bound = furthest(measured, 2, ADD), claimed(claim(2, ADD))
    assert all(move <= other for move, other in zip(moved, bound, strict=True))
    assert moved[1] == bound[1]


def test_over_all_levels_a_person_moves_sizes_by_2l_and_from_the_top_by_l():
    before, after = sizes([[(0, 0)]]), sizes([[(0, 0)], [(0, 0)]])
    assert np.abs(tree_sums(TREE, before) - tree_sums(TREE, after)).sum() == 2 * TREE.depth
    assert np.abs(tree_sums(TREE, from_top(before)) - tree_sums(TREE, from_top(after))).sum() == TREE.depth
    full = [[(0, 0)]] * LARGEST
    assert np.array_equal(sizes(full), sizes([*full, [(0, 0)]]))  # the largest size takes all above
    first = np.abs(tree_sums(TREE, from_top(sizes([]))) - tree_sums(TREE, from_top(sizes([[(0, 0)]])))).sum()
    assert first == TREE.depth  # a group that was not there


def design(rows=1):
    return Design(TREE, Form.PLAIN, (all_cells((), 1),), count_sensitivity(rows, ADD), count_sensitivity(rows, ADD))


def test_a_marginal_adds_up_the_cells_that_it_does_not_tell_apart():
    table = np.arange(12).reshape(2, 6)
    cube = table.reshape(2, 3, 2)
    assert np.array_equal(marginal(["age"], ["age", "sex"], [3, 2]).of(table), cube.sum(axis=2))
    assert np.array_equal(marginal(["sex"], ["age", "sex"], [3, 2]).of(table), cube.sum(axis=1))
    assert np.array_equal(marginal([], ["age", "sex"], [3, 2]).of(table), table.sum(axis=1, keepdims=True))
    assert np.array_equal(marginal(["age", "sex"], ["age", "sex"], [3, 2]).of(table), table)


def test_marginals_are_measured_side_by_side_each_at_its_share():
    views = (marginal(["sex"], ["age", "sex"], [3, 2]), all_cells(["age", "sex"], 6))
    measured = Design(TREE, Form.PLAIN, views, count_sensitivity(1, ADD), count_sensitivity(1, ADD))
    measurement = laplace(measured, Fraction(6 * 10**5), [[Fraction(1, 6), Fraction(1, 6)]] * 3)
    assert sum(cost.epsilon for cost in measurement.cost.costs) == 6 * 10**5
    exact = np.arange(18).reshape(3, 6)
    table = tree_sums(TREE, exact)
    numbers = measurement(exact, SYSTEM)  # noise of scale 1e-5 is 0 but for e^-1e5
    assert np.array_equal(numbers[:, measurement.columns[0]], table.reshape(-1, 3, 2).sum(axis=1))
    assert np.array_equal(numbers[:, measurement.columns[1]], table)


def test_noise_is_added_to_every_place_of_every_level():
    measurement = laplace(design(), Fraction(3, 10), [[Fraction(1, 3)]] * 3)
    assert measurement.cost.costs == (Pure(Fraction(1, 10)),) * 3
    assert [level.noise.scale for (level,) in measurement.mechanisms] == [10, 10, 10]
    exact = np.array([[1000], [2000], [4000]])
    noisy = measurement(exact, SYSTEM)
    assert noisy.shape == (len(TREE), 1)
    assert (np.abs(noisy - tree_sums(TREE, exact)) < 10 * 50).all()  # e^-50 each
    assert len(set(map(int, (noisy - tree_sums(TREE, exact))[:, 0]))) > 1  # six equal draws at scale 10: below 1e-6


def test_from_the_top_measures_groups_of_at_least_each_size():
    assert from_top(np.array([[3, 2, 1]])).tolist() == [[6, 3, 1]]
    measured = Design(TREE, Form.FROM_TOP, (all_cells((), 2),), size_sensitivity(1, ADD), count_sensitivity(1, ADD))
    measurement = laplace(measured, Fraction(3 * 10**5), [[Fraction(1, 3)]] * 3)
    exact = np.array([[3, 2], [0, 1], [5, 0]])
    assert np.array_equal(
        measurement(exact, SYSTEM), tree_sums(TREE, from_top(exact))
    )  # noise of scale 1e-5 is 0 but for e^-1e5


def test_gaussian_levels_cost_no_more_than_the_typed_price():
    measurement = gaussian(design(2), 1, "1e-6", [[share] for share in shares(TREE, 0.5)])
    assert price.delta(measurement.cost, 1).value <= Fraction(1, 10**6)
    assert price.delta(measurement.cost, Fraction(99, 100)).value > Fraction(1, 10**6)  # and not much less
    sigmas = [level.noise.sigma for (level,) in measurement.mechanisms]
    assert sigmas == sorted(sigmas, reverse=True)


def test_a_table_of_another_shape_is_refused_by_its_shape():
    measurement = laplace(design(), Fraction(1), [[Fraction(1, 3)]] * 3)
    with pytest.raises(BadValue, match="row for each leaf"):
        measurement(np.zeros((2, 1), dtype=np.int64), SYSTEM)


def test_shares_add_up_to_one_and_locked_ones_stay():
    for power in (0, 1 / 3, 0.5):
        assert sum(shares(TREE, power)) == 1
    level_shares = shares(TREE, 0.5, {"region": Fraction(1, 2)})
    assert level_shares[1] == Fraction(1, 2)
    assert level_shares[0] < level_shares[2]
    assert sum(level_shares) == 1


@pytest.mark.parametrize(
    "locked",
    [
        {"city": Fraction(1, 2)},
        {"ward": Fraction(0)},
        {"ward": Fraction(1)},
        {"ward": Fraction(3, 2)},
        {"country": Fraction(1, 3), "region": Fraction(1, 3), "ward": Fraction(1, 4)},
    ],
)
def test_shares_that_leave_nothing_are_refused(locked):
    with pytest.raises(BadValue, match="share"):
        shares(TREE, 0, locked)
