"""Shares of one budget: exact parts, as a sentence and as JSON.

The columns of a question, the levels of a release and the steps of a run state their shares through here alone.  Parts
are exact and add up to 1; they are shown as fractions if all of them are short ones, else in per cent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import bad
from discreet.inert import visible
from discreet.terms import Terms

EPSILON, PRECISION = "ε", "1/σ²"  # what is shared: ε adds up over Laplace noise and choices, 1/σ² over Gaussian noise
_LONGEST_DENOMINATOR = 9
_TOLD = Fraction(1, 20_000)  # half of the last of four places: a part so near to a short fraction is told as that


@dataclass(frozen=True)
class Share:
    """What one of several takes of a whole.

    `epsilon` is what it may cost by itself, None where that is not known; `delta` is a δ of its own, None where it has
    none.  Beside `locked` shares, which the caller gave, others follow from them.
    """

    name: str
    part: Fraction
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    locked: bool = False
    of: str = EPSILON


def shares_of(parts: Mapping[str, Any], terms: Terms) -> tuple[Share, ...]:
    """The shares that a room declares for the steps of its purse: (part·ε, part·δ) each, which add up to (ε, δ).

    >>> [str(share.epsilon) for share in shares_of({"structure": 0.3, "fit": 0.7}, Terms(Fraction(2)))]
    ['3/5', '7/5']
    """
    fix = 'Give, for example: {"structure": 0.3, "fit": 0.7}'
    if not isinstance(parts, Mapping) or not parts:
        raise bad("shares", "must give a number for each step", parts, fix)
    exact_parts = {name: _part(name, value, fix) for name, value in parts.items()}
    total = sum(exact_parts.values(), Fraction(0))
    if total != 1:
        raise bad("shares", "must add up to 1", amounts.text_of(total), fix)
    return tuple(Share(name, part, part * terms.epsilon, part * terms.delta) for name, part in exact_parts.items())


def _part(name: str, value: Any, fix: str) -> Fraction:
    rule = f"of {name} must be a number above 0 and at most 1"
    part = amounts.decimal(value, "shares", rule, fix)
    if not 0 < part <= 1:
        raise bad("shares", rule, value, fix)
    return part


# --- told ------------------------------------------------------------------------------------------------------------


def words(shares: Sequence[Share]) -> str:
    """One sentence with the share of each name; equal shares are stated together.

    >>> words([Share("income", Fraction(2, 3)), Share("n", Fraction(1, 3))])
    'Shares: income takes 2/3 of ε, n takes 1/3.'
    >>> words([Share("top", Fraction(1, 4)), Share("ward", Fraction(1, 2), locked=True), Share("town", Fraction(1, 4))])
    'Shares: top and town take 1/4 of ε each, ward takes 1/2 (locked).'
    """
    equal_shares: dict[tuple[str, bool], list[str]] = {}
    for share, part in zip(shares, parts_in_words(shares), strict=True):
        equal_shares.setdefault((part, share.locked), []).append(visible(share.name))
    clauses = []
    for index, ((part, locked), names) in enumerate(equal_shares.items()):
        amount = f"{part} of {shares[0].of}" if index == 0 else part
        taking = f"takes {amount}" if len(names) == 1 else f"take {amount} each"
        clauses.append(f"{name_list(names)} {taking}{' (locked)' if locked else ''}")
    return f"Shares: {', '.join(clauses)}."


def parts_in_words(shares: Sequence[Share]) -> list[str]:
    """Each part of the whole: 2/3 where all of them are so short, else 66.67 %.

    >>> parts_in_words([Share("a", Fraction("0.3")), Share("b", Fraction("0.7"))])
    ['30 %', '70 %']
    """
    short = [share.part.limit_denominator(_LONGEST_DENOMINATOR) for share in shares]
    if all(part and abs(part - share.part) <= _TOLD for part, share in zip(short, shares, strict=True)):
        return [str(part) for part in short]
    return [f"{round(100 * float(share.part), 2):g} %" for share in shares]


def to_json(shares: Sequence[Share]) -> list[dict[str, Any]]:
    """An object for each share: its part and its ε in four digits, ε rounded up; a δ where it has one of its own."""
    return [
        {
            "name": share.name,
            "share": round(float(share.part), 4),
            "locked": share.locked,
            "epsilon": _amount(share.epsilon),
            **({} if share.delta is None else {"delta": _amount(share.delta)}),
        }
        for share in shares
    ]


def _amount(value: Fraction | None) -> str | None:
    return None if value is None else amounts.text_up(value)


def name_list(names: Sequence[str]) -> str:
    """The names as one subject.

    >>> name_list(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
