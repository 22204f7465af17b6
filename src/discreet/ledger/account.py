"""Accounts add up charges; of parts that share no unit only the one that spent most counts.

An account is a node: its own charges, and splits of its units by a column.  Per currency

    spent(node) = own charges + Σ over splits of max over parts of spent(part)

because a unit meets every charge of the node and, of each split, the charges of one part only (McSherry 2009).  This
holds under add-remove, for a column that cannot change within a unit.  Under replace-one a unit may leave one part and
enter another, so every part is paid for.  Proof page: docs/proofs/ledger/account.md.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.errors import bad

Path = tuple[tuple[str, str], ...]  # (column, part) pairs; () is the whole table

_MOST_PAIRS = 32
_LONGEST_NAME = 1000


@dataclass(frozen=True)
class Amounts:
    """The weight of a charge: typed ε, typed δ without key selection, δ of key selection, and R_α by order in 2⁻¹²⁸.

    >>> (Amounts(Fraction(1)) + Amounts(Fraction(2))).epsilon
    Fraction(3, 1)
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    keys: Fraction = Fraction(0)
    renyi: tuple[int, ...] = ()

    def __add__(self, other: "Amounts") -> "Amounts":
        return self._each(operator.add, other)

    def __sub__(self, other: "Amounts") -> "Amounts":
        return self._each(operator.sub, other)

    def or_more(self, other: "Amounts") -> "Amounts":
        """The larger of both, currency by currency."""
        return self._each(max, other)

    def _each(self, combine: Callable[[Any, Any], Any], other: "Amounts") -> "Amounts":
        return Amounts(
            combine(self.epsilon, other.epsilon),
            combine(self.delta, other.delta),
            combine(self.keys, other.keys),
            tuple(combine(a, b) for a, b in zip(self.renyi, other.renyi, strict=True)),
        )


def nothing(orders: int) -> Amounts:
    """Zero in every currency of a filter with so many orders."""
    return Amounts(renyi=(0,) * orders)


@dataclass(frozen=True)
class Split:
    """The parts of a node by one column, and per currency the largest amount that a part has spent."""

    worst: Amounts
    parts: "Mapping[str, Account]"


@dataclass(frozen=True)
class Account:
    """One node: the amount spent by the rule above, and its splits."""

    spent: Amounts
    splits: Mapping[str, Split] = field(default_factory=dict)


def empty(orders: int) -> Account:
    """An account on which nothing has been charged."""
    return Account(nothing(orders))


def with_charge(account: Account, path: Path, amounts: Amounts) -> Account:
    """The account with `amounts` charged at `path`.

    >>> north, south = (("region", "north"),), (("region", "south"),)
    >>> amounts = Amounts(Fraction(1))
    >>> with_charge(with_charge(with_charge(empty(0), north, amounts), south, amounts), (), amounts).spent.epsilon
    Fraction(2, 1)
    """
    if not path:
        return Account(account.spent + amounts, account.splits)
    (column, name), inner = path[0], path[1:]
    zero = nothing(len(amounts.renyi))
    split = account.splits.get(column, Split(zero, {}))
    part = with_charge(split.parts.get(name, Account(zero)), inner, amounts)
    worst = split.worst.or_more(part.spent)  # a part only grows, so the old worst is still the worst of the others
    spent = account.spent + worst - split.worst
    grown = Split(worst, {**split.parts, name: part})
    return Account(spent, {**account.splits, column: grown})


def slack(account: Account, path: Path) -> Amounts:
    """How much may be charged at `path` before `spent` moves: Σ along the path of (worst part − this part).

    Charging a at depth 1 adds max(0, a − g₁) above it, then max(0, a − g₁ − g₂) above that, and so on.
    """
    zero = nothing(len(account.spent.renyi))
    if not path:
        return zero
    (column, name), inner = path[0], path[1:]
    split = account.splits.get(column, Split(zero, {}))
    part = split.parts.get(name, Account(zero))
    return split.worst - part.spent + slack(part, inner)


def lies_in(path: Path, outer: Path) -> bool:
    """Whether every unit of `path` is a unit of `outer`: `path` has all pairs of `outer`, and perhaps more.

    >>> lies_in((("region", "north"), ("sex", "f")), (("region", "north"),)), lies_in((), (("region", "north"),))
    (True, False)
    """
    return set(outer) <= set(path)


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= _LONGEST_NAME and text.isprintable()


def parsed_path(value: Any) -> Path:
    """A path from a sequence of (column, part) pairs, each column once, in the order of the columns' names.

    All paths have this one order, because (a, b) and (b, a) name the same cell and must be the same node.

    >>> parsed_path([("sex", "f"), ("region", "north")])
    (('region', 'north'), ('sex', 'f'))
    """
    rule, fix = "must be (column, part) pairs of printable text, each column once", 'Give (("region", "north"),) or ().'
    if not isinstance(value, (tuple, list)) or len(value) > _MOST_PAIRS:
        raise bad("path", rule, value, fix)
    for pair in value:
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not is_pair or not all(_is_name(text) for text in pair):
            raise bad("path", rule, value, fix)
    path = tuple(sorted((column, part) for column, part in value))
    if len({column for column, _ in path}) != len(path):
        raise bad("path", rule, value, fix)
    return path
