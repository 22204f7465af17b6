"""Accounts against the slow rule they stand for: look at every kind of unit there can be."""

from fractions import Fraction as F
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadValue
from discreet.ledger.account import Account, Amounts, empty, nothing, parsed_path, slack, with_charge

CALM = settings(deadline=None)
COLUMNS = {"age": ["young", "old"], "region": ["north", "south", "east"], "sex": ["f", "m"]}
amounts = st.builds(
    lambda e, d, k, r: Amounts(F(e, 10), F(d, 10**9), F(k, 10**9), (r,)), *[st.integers(0, 9) for _ in range(4)]
)
paths = st.lists(st.sampled_from(sorted(COLUMNS)), unique=True, max_size=3).flatmap(
    lambda columns: st.tuples(*[st.tuples(st.just(c), st.sampled_from(COLUMNS[c])) for c in sorted(columns)])
)
charges = st.lists(st.tuples(paths, amounts), max_size=12)


def account_of(charges):
    account = empty(1)
    for path, amount in charges:
        account = with_charge(account, path, amount)
    return account


def spent_by_rule(charges):
    """own + Σ over splits of max over parts, currency by currency, straight from the list of charges."""
    own = [a for path, a in charges if not path]
    total = sum(own, nothing(1))
    for column in {path[0][0] for path, _ in charges if path}:
        below = {}
        for path, a in charges:
            if path and path[0][0] == column:
                below.setdefault(path[0][1], []).append((path[1:], a))
        worst = nothing(1)
        for inner in below.values():
            worst = worst.or_more(spent_by_rule(inner))
        total += worst
    return total


@given(charges)
@CALM
def test_spent_is_own_charges_plus_the_worst_part_of_each_split(charges):
    assert account_of(charges).spent == spent_by_rule(charges)


@given(charges)
@CALM
def test_no_unit_meets_more_than_what_is_spent(charges):
    spent = account_of(charges).spent
    for parts in product(*COLUMNS.values()):
        unit = dict(zip(COLUMNS, parts, strict=True))
        met = sum((a for path, a in charges if all(unit[c] == p for c, p in path)), nothing(1))
        assert met.or_more(spent) == spent


@given(charges, paths, amounts)
@CALM
def test_slack_is_what_can_be_charged_before_the_total_moves(charges, path, amount):
    account = account_of(charges)
    room, after = slack(account, path), with_charge(account, path, amount).spent
    for name in ("epsilon", "delta", "keys"):
        grown = getattr(account.spent, name) + max(F(0), getattr(amount, name) - getattr(room, name))
        assert getattr(after, name) == grown
    assert after.renyi[0] == account.spent.renyi[0] + max(0, amount.renyi[0] - room.renyi[0])


@given(charges, st.randoms(use_true_random=False))
@CALM
def test_order_of_charges_does_not_matter(charges, chance):
    shuffled = list(charges)
    chance.shuffle(shuffled)
    assert account_of(charges).spent == account_of(shuffled).spent


@given(charges, paths, amounts)
@CALM
def test_spent_only_grows(charges, path, amount):
    account = account_of(charges)
    after = with_charge(account, path, amount).spent
    assert after.or_more(account.spent) == after


def test_a_charge_leaves_the_old_account_as_it_was():
    before = with_charge(empty(0), (("sex", "f"),), Amounts(F(1)))
    with_charge(before, (("sex", "f"),), Amounts(F(1)))
    assert before.spent == Amounts(F(1))


def test_splits_by_two_columns_add_up():
    account = empty(0)
    for path in [(("sex", "f"),), (("sex", "m"),), (("region", "north"),), (("region", "south"),)]:
        account = with_charge(account, path, Amounts(F(1)))
    assert account.spent.epsilon == 2


def test_currencies_may_have_different_worst_parts():
    account = with_charge(empty(0), (("sex", "f"),), Amounts(F(3), F(1, 10)))
    account = with_charge(account, (("sex", "m"),), Amounts(F(1), F(2, 10)))
    assert account.spent == Amounts(F(3), F(2, 10))
    assert isinstance(account, Account)


def test_the_same_cell_is_the_same_node_in_whatever_order_it_is_named():
    assert parsed_path([("b", "2"), ("a", "1")]) == parsed_path((("a", "1"), ["b", "2"])) == (("a", "1"), ("b", "2"))


@pytest.mark.parametrize(
    "path",
    [None, "north", [("a",)], [("a", 1)], [("a", "1"), ("a", "2")], [("a", "x\n")], [("a", "1")] * 40, {"a": "1"}],
)
def test_a_value_that_is_no_path_is_refused(path):
    with pytest.raises(BadValue, match="path must be"):
        parsed_path(path)
