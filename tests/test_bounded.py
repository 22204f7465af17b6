"""How far one unit can move a result: exact bounds, no bound below the truth, nothing computed early."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.bounded import Bounded, Sensitivity, cells, rows, scalar
from discreet.errors import BadValue
from discreet.relation import Relation

NORMS = ["l0", "l1", "l2_squared", "linf"]
whole = st.integers(0, 50)


def norms(change):
    return sum(map(bool, change)), sum(map(abs, change)), sum(x * x for x in change), max(map(abs, change), default=0)


def bounds(sensitivity):
    return [getattr(sensitivity, name) for name in NORMS]


@pytest.mark.parametrize(("touched", "each"), [(1, 1), (2, 3), (3, 1)])
def test_cells_cover_every_change_of_that_kind_and_are_met(touched, each):
    """Brute force over all changes of 3 cells by at most `each`, at most `touched` of them."""
    changes = [c for c in product(range(-each, each + 1), repeat=3) if norms(c)[0] <= touched]
    worst = [max(norms(c)[i] for c in changes) for i in range(4)]
    assert bounds(cells(touched, each)) == worst


@pytest.mark.parametrize("cap", [1, 2, 4])
def test_rows_cover_every_way_to_spread_them_and_are_met(cap):
    """A unit's rows may all lie in one cell: l2 = cap, not √cap."""
    changes = [c for c in product(range(cap + 1), repeat=3) if sum(c) <= cap]
    worst = [max(norms(c)[i] for c in changes) for i in range(4)]
    limits = bounds(rows(cap))
    assert limits[1:] == worst[1:]
    assert limits[0] >= worst[0]
    assert rows(cap).l2_squared == cap * cap


def test_scalar_moves_one_number():
    assert bounds(scalar("0.5")) == [1, Fraction(1, 2), Fraction(1, 4), Fraction(1, 2)]
    assert scalar(2, "replace-one").relation is Relation.REPLACE_ONE


@given(st.tuples(whole, whole, whole, whole), st.tuples(whole, whole, whole, whole))
def test_covers_is_at_least_as_large_in_every_norm(a, b):
    assert Sensitivity(*a).covers(Sensitivity(*b)) == all(x >= y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("norm", range(4))
def test_one_smaller_norm_is_enough_to_not_cover(norm):
    smaller = [3, 3, 9, 3]
    smaller[norm] -= 1
    assert not Sensitivity(*smaller).covers(Sensitivity(3, 3, 9, 3))


def test_another_relation_is_never_covered():
    assert not Sensitivity(9, 9, 81, 9).covers(Sensitivity(1, 1, 1, 1, Relation.REPLACE_ONE))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), None, True, "x", [1], 10**4000, "9" * 5000])
def test_a_bad_norm_is_refused_by_name(norm, value):
    given_norms = dict.fromkeys(NORMS, 1) | {norm: value}
    with pytest.raises(BadValue) as caught:
        Sensitivity(**given_norms)
    assert caught.value.what.startswith(f"sensitivity {norm} must ")


@pytest.mark.parametrize("cap", [0, -1, True, None, 1.0, "2", float("nan")])
def test_a_bad_row_cap_is_refused(cap):
    with pytest.raises(BadValue, match="cap must be a whole number"):
        rows(cap)


@pytest.mark.parametrize("step", [-1, None, True, float("nan"), "x"])
def test_a_bad_step_is_refused(step):
    with pytest.raises(BadValue, match="sensitivity"):
        scalar(step)
    with pytest.raises(BadValue, match="sensitivity"):
        cells(2, step)


def test_norms_are_exact_fractions():
    assert all(type(bound) is Fraction for bound in bounds(Sensitivity(1, "0.1", 0.1, Fraction(1, 3))))
    assert Sensitivity(1, 0.1, 1, 1).l1 == Fraction(1, 10)


def test_making_a_bounded_computes_nothing():
    def compute():
        raise AssertionError("rows were read")

    lazy = Bounded(compute, scalar(1))
    assert lazy.sensitivity == scalar(1)
    assert "rows" not in repr(lazy.sensitivity)


@pytest.mark.parametrize("touched", ["2", None, float("nan"), 1.5, True, -1])
def test_cells_refuse_what_is_no_number_of_cells(touched):
    with pytest.raises(BadValue, match="touched must be a whole number"):
        cells(touched, 1)
