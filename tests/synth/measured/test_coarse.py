"""Groups of cells: made from released shares, in order where cells have one, and never across profiles."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.synth.measured import coarse
from discreet.synth.measured.coarse import LEAST, grouped, most_groups, most_least_groups


@st.composite
def columns(draw):
    """Shares of cells with the empty one, their profiles, and how many groups are asked for."""
    cells = draw(st.integers(1, 40))
    seed, concentration = draw(st.integers(0, 2**32)), draw(st.sampled_from([0.05, 0.5, 5.0]))
    chance = np.random.default_rng(seed)
    own = chance.dirichlet(np.full(cells + 1, concentration)) * (chance.random(cells + 1) < 0.8)
    own = own / own.sum() if own.sum() else np.full(cells + 1, 1 / (cells + 1))
    profile = np.sort(chance.integers(0, draw(st.integers(1, 3)), cells + 1))
    if draw(st.booleans()):
        profile = chance.permutation(profile)
    return own, profile, draw(st.integers(LEAST, 30)), draw(st.booleans())


@given(columns())
def test_every_cell_has_a_group_and_profiles_are_never_joined(column):
    own, profile, count, is_ordered = column
    group = grouped(own, count, is_ordered=is_ordered, profiles=profile)
    assert group.shape == own.shape
    assert sorted(set(group.tolist())) == list(range(int(group.max()) + 1))
    assert all(len(set(profile[group == number])) == 1 for number in set(group.tolist()))


@given(columns())
def test_groups_of_cells_in_order_are_neighbours(column):
    own, profile, count, _ = column
    group = grouped(own, count, is_ordered=True, profiles=profile)
    assert (np.diff(group[:-1]) >= 0).all()
    assert (np.diff(group[:-1]) <= 1).all()


@given(columns())
def test_the_fewest_groups_are_within_what_profiles_need(column):
    own, profile, _, is_ordered = column
    group = grouped(own, LEAST, is_ordered=is_ordered, profiles=profile)
    assert int(group.max()) + 1 <= most_least_groups(profile, is_ordered=is_ordered)


@given(columns())
def test_an_unordered_column_has_as_many_groups_as_asked_for_and_those_of_its_profiles(column):
    own, profile, count, _ = column
    group = grouped(own, count, is_ordered=False, profiles=profile)
    assert int(group.max()) + 1 <= count + len(set(profile.tolist())) + 1


def test_a_cell_that_holds_a_groups_share_is_alone():
    own = np.array([0.02, 0.03, 0.5, 0.05, 0.4, 0.0])
    ordered = grouped(own, 5, is_ordered=True, profiles=np.zeros(6, dtype=int))
    assert ordered.tolist()[:5] == [0, 0, 1, 2, 3]
    apart = grouped(own, 3, is_ordered=False, profiles=np.zeros(6, dtype=int))
    assert apart[2] != apart[4]
    assert len({apart[0], apart[1], apart[3]}) == 1


def test_an_empty_cell_with_a_share_is_a_group_alone_and_without_one_joins_its_profile():
    profile = np.array([0, 0, 1, 1])
    assert grouped(np.array([0.3, 0.3, 0.3, 0.1]), 2, is_ordered=True, profiles=profile).tolist() == [0, 0, 1, 2]
    joined = grouped(np.array([0.4, 0.3, 0.3, 0.0]), 2, is_ordered=True, profiles=profile)
    assert joined[-1] == joined[2]
    alone = grouped(np.array([0.4, 0.3, 0.3, 0.0]), 2, is_ordered=True, profiles=np.array([0, 0, 1, 2]))
    assert alone[-1] not in alone[:-1]


def test_the_number_of_groups_grows_with_the_cube_root_and_has_a_floor():
    assert most_groups(-5.0, 1.0) == most_groups(0.0, 1.0) == LEAST
    assert most_groups(1000.0, 1.0) == 8
    assert most_groups(8000.0, 1.0) == most_groups(1000.0, 8.0) == 16


def test_groups_are_made_of_released_numbers_and_public_facts_alone():
    """Nothing in the module can reach a row: it knows numbers and arrays of them."""
    imported = {name for name, thing in vars(coarse).items() if inspect.ismodule(thing)}
    assert imported <= {"np"}
    assert list(inspect.signature(grouped).parameters) == ["shares", "count", "is_ordered", "profiles"]


@pytest.mark.parametrize("is_ordered", [True, False])
def test_the_same_shares_give_the_same_groups(is_ordered):
    own = np.random.default_rng(3).dirichlet(np.ones(50))
    first, second = (grouped(own.copy(), 9, is_ordered=is_ordered, profiles=np.zeros(50, dtype=int)) for _ in range(2))
    assert np.array_equal(first, second)
