"""Amounts and accounts as JSON, with exact numbers as text."""

from fractions import Fraction
from typing import Any

from discreet.ledger.account import Account, Amounts, Split, nothing


def fraction(stored: str) -> Fraction:
    """The number that `str` of a Fraction wrote."""
    top, _, bottom = stored.partition("/")
    return Fraction(int(top), int(bottom or 1))


def amounts_json(weight: Amounts) -> dict[str, Any]:
    """Amounts as an entry carries them."""
    parts = {name: str(getattr(weight, name)) for name in ("epsilon", "delta", "keys")}
    return {**parts, "renyi": [str(value) for value in weight.renyi]}


def amounts_of(data: dict[str, Any]) -> Amounts:
    """The amounts of an entry; none is negative."""
    weight = Amounts(
        fraction(data["epsilon"]),
        fraction(data["delta"]),
        fraction(data["keys"]),
        tuple(int(value) for value in data["renyi"]),
    )
    if weight.epsilon < 0 or weight.delta < 0 or weight.keys < 0 or min(weight.renyi, default=0) < 0:
        raise ValueError("a negative amount")
    return weight


def account_json(account: Account) -> dict[str, Any]:
    """A node: what was spent there, and its splits by column and part."""
    splits = {
        column: {name: account_json(part) for name, part in split.parts.items()}
        for column, split in account.splits.items()
    }
    spent = amounts_json(account.spent)
    return {"spent": spent, "splits": splits} if splits else {"spent": spent}


def account_of(data: dict[str, Any]) -> Account:
    """The node that `account_json` described; the worst part of each split follows from its parts.

    >>> from discreet.ledger.account import empty, with_charge
    >>> tree = with_charge(empty(0), (("region", "north"),), Amounts(Fraction(1, 3)))
    >>> account_of(account_json(tree)) == tree
    True
    """
    spent, splits = amounts_of(data["spent"]), {}
    for column, parts in data.get("splits", {}).items():
        nodes = {name: account_of(part) for name, part in parts.items()}
        worst = nothing(len(spent.renyi))
        for node in nodes.values():
            worst = worst.or_more(node.spent)
        splits[column] = Split(worst, nodes)
    return Account(spent, splits)
