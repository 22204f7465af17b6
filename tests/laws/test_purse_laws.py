"""Laws of purses: what is taken from one never exceeds its cost at any order, in whatever order it is taken."""

import json
from fractions import Fraction as F

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from discreet.ledger import inside as insides
from discreet.ledger.inside import Inside, amount_taken, fits, from_json, holds, to_json
from discreet.ledger.weigh import promise
from discreet.privacy import price, renyi
from discreet.privacy.cost import Apart, Approx, Exponential, Gaussian, Pure, Repeated, Sampled, Together, Zcdp
from discreet.privacy.flat import atoms_of
from discreet.relation import Relation

LAW = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
ORDERS = [F(101, 100), F(3, 2), F(2), F(7, 2), F(8), F(32), F(200), F(10**6)]
ROUNDING = 1 + F(1, 2**40)  # curves are rounded up one by one
STEP = Sampled("0.1", Gaussian(2))
PARTS = Apart((Gaussian(2), Pure("0.4")))

epsilons = st.integers(1, 12).map(lambda n: F(n, 10))
counts = st.integers(1, 4)
any_kind = st.one_of(
    epsilons.map(Pure),
    epsilons.map(Exponential),
    st.sampled_from([Gaussian(1), Gaussian(2), Gaussian(3)]),
    st.integers(1, 20).map(lambda n: Zcdp(F(n, 40))),
    st.builds(Approx, epsilons, st.sampled_from([F(1, 10**10), F(1, 10**9)])),
    st.builds(Repeated, st.sampled_from([STEP, Pure("0.2"), PARTS]), counts),
    st.sampled_from([Sampled("0.1", Pure(1)), Sampled("0.2", Pure(1)), Sampled("0.1", Exponential(1))]),
)
charges = st.lists(any_kind | st.lists(any_kind, min_size=2, max_size=3).map(tuple).map(Together), max_size=14)
parts = st.lists(any_kind, min_size=1, max_size=4)
purses = st.builds(
    lambda some, rho, delta: Together((*some, Zcdp(F(rho, 40)), Approx(0, F(delta, 10**10)))),
    parts,
    st.integers(1, 40),
    st.integers(0, 30),
)
relations = st.sampled_from(list(Relation))


def accepted(reserved, wanted, under):
    """The charges that fit one after the other, as a ledger takes them."""
    inside, taken_in = Inside(), []
    for cost in wanted:
        more = amount_taken(reserved, cost, under)
        if more is not None and holds(reserved, inside + more, under):
            inside += more
            taken_in.append(cost)
    return taken_in


def is_covered(reserved, costs, under):
    """Whether the charges cost no more than was reserved: δ apart, R_α at every order, ρ, and ε where there is one."""
    whole, each = promise(reserved, under), [promise(cost, under) for cost in costs]
    together = Together(tuple(charge.cost for charge in each))
    if (
        sum(charge.delta_apart for charge in each) > whole.delta_apart
        or price.zcdp(together).value > price.zcdp(whole.cost).value
    ):
        return False
    odds = renyi.total_odds(atoms_of(whole.cost))
    if odds is not None and renyi.total_odds(atoms_of(together)).epsilon > odds.epsilon:
        return False
    for order in ORDERS:
        spent = sum(renyi.divergence(charge.cost, order).value for charge in each)
        if spent > renyi.divergence(whole.cost, order).value * ROUNDING:
            return False
    return True


@given(purses | parts.map(tuple).map(Together), charges, relations)
@LAW
def test_charges_that_a_purse_accepts_are_covered_by_its_cost(reserved, wanted, under):
    assert is_covered(reserved, accepted(reserved, wanted, under), under)


def half(rho):
    return lambda atom: rho(atom) / 2


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (insides, "_rho", half(insides._rho)),
        (insides._Rooms, "take", lambda rooms, epsilon, times: 0),
        (insides, "totals", lambda atoms, real=insides.totals: (real(atoms)[0] / 2, *real(atoms)[1:])),
    ],
    ids=["an overflow at half its ρ", "pure slots without end", "Gaussians at half their size"],
)
def test_a_purse_that_counts_too_little_breaks_the_law(monkeypatch, where, name, wrong):
    monkeypatch.setattr(where, name, wrong)
    search = settings(LAW, max_examples=400, phases=[Phase.generate])
    find(
        st.tuples(purses, charges),
        lambda case: not is_covered(case[0], accepted(*case, Relation.ADD_REMOVE), Relation.ADD_REMOVE),
        settings=search,
    )


@given(purses, charges, relations, st.randoms(use_true_random=False))
@LAW
def test_the_order_of_charges_and_json_change_nothing(reserved, wanted, under, chance):
    def summed(costs):
        inside = Inside()
        for cost in costs:
            inside += amount_taken(reserved, cost, under)
        return inside

    shuffled = list(wanted)
    chance.shuffle(shuffled)
    first, other = summed(wanted), summed(shuffled)
    stored = json.loads(json.dumps(to_json(first)))
    assert to_json(other) == stored == to_json(from_json(stored))
    assert holds(reserved, first, under) == holds(reserved, other, under) == holds(reserved, from_json(stored), under)
    assert first.covers(other)
    assert from_json(stored).covers(first)


@given(purses, relations, st.randoms(use_true_random=False))
@LAW
def test_a_purse_holds_its_own_cost_whole_and_in_pieces(reserved, under, chance):
    pieces = list(reserved.costs)
    chance.shuffle(pieces)
    assert fits(reserved, [reserved], under)
    assert fits(reserved, pieces, under)
    assert accepted(reserved, pieces, under) == pieces
