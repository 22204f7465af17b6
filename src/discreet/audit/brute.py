"""Brute force: every neighbouring pair of a tiny world, its exact laws, and the claim held against them.

    log odds    max over outputs of ln(P/Q)                         against ε
    range       max ln(P/Q) − min ln(P/Q)                           against ε of the exponential mechanism
    δ at ε      Σ max(0, P − e^ε·Q)                                 against δ(ε)
    Rényi       ln Σ P^α·Q^(1−α) / (α − 1)                          against R_α

Every number is the lower end of a ball, so a refutation is a proof; a claim met exactly is not refuted.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from flint import arb

from discreet import amounts, real
from discreet.audit.joint import Loss, told_apart
from discreet.audit.laws import OutputLaw, Told
from discreet.audit.report import Row, verdict
from discreet.errors import NotPriced
from discreet.privacy import price
from discreet.privacy.cost import Approx, Cost, Exponential, Gaussian, Zcdp
from discreet.real import ball

BITS = 192
_ORDERS = (Fraction(3, 2), Fraction(2), Fraction(4), Fraction(8))
_DELTAS = (Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**5))
Pairs = Sequence[tuple[Any, Any]]


@dataclass(frozen=True)
class Limit:
    """One number that a cost promises not to pass: `kind` at the ε or the order `at`."""

    kind: str
    claimed: Fraction
    at: Fraction = Fraction(0)

    def __str__(self) -> str:
        amount = f"{amounts.rounded_up(self.claimed, 6):g}"
        match self.kind:
            case "δ":
                return f"δ = {amount} at ε = {float(self.at):.6g}"
            case "Rényi":
                return f"R = {amount} at order {float(self.at):g}"
            case "range":
                return f"range = {amount}"
            case _:
                return f"ε = {amount}"


@dataclass(frozen=True)
class Found:
    """The certified lower end of what one pair does, and the output that shows it."""

    limit: Limit
    value: Fraction | None  # None is +∞
    event: str

    @property
    def refuted(self) -> bool:
        return self.value is None or self.value > self.limit.claimed

    @property
    def ratio(self) -> float:
        """The share of the promise that is used up."""
        if self.value is None or self.limit.claimed == 0:
            return math.inf if self.refuted else 0.0
        return float(self.value / self.limit.claimed)


def limits(cost: Cost) -> list[Limit]:
    """Every number of a cost that an exact law can be held against."""
    found = []
    try:
        found.append(Limit("log odds", price.epsilon(cost, 0).value))
    except NotPriced:
        found += [Limit("δ", price.delta(cost, at).value, at) for at in _points(cost)]
    match cost:
        case Exponential():
            found.append(Limit("range", cost.epsilon))
            found += [Limit("Rényi", price.renyi(cost, at).value, at) for at in _ORDERS]
        case Zcdp() | Gaussian():
            found += [Limit("Rényi", price.renyi(cost, at).value, at) for at in _ORDERS]
    return found


def _points(cost: Cost) -> list[Fraction]:
    match cost:
        case Approx():
            return [cost.epsilon]
        case _:
            points = [p for delta in _DELTAS for p in _epsilons(cost, delta)]
            return [Fraction(round(p * 10**6), 10**6) for p in points if p > Fraction(1, 10**3)]


def _epsilons(cost: Cost, delta: Fraction) -> list[Fraction]:
    """The ε at that δ; none where more than δ stands apart."""
    try:
        return [price.epsilon(cost, delta).value]
    except NotPriced:
        return []


def brute(name: str, cost: Cost, *, pairs: Pairs, law: Callable[[Any], Told]) -> Row:
    """The row of one claim: the pair and limit that come nearest to the promise, or break it by most."""
    held = limits(cost)
    with real.precision(BITS):
        laws = {inputs: law(inputs) for inputs in {side for pair in pairs for side in pair}}
        told = told_apart(laws, pairs)
        found = [_measured(limit, p, q) for one in told for p, q in (one, one[::-1]) for limit in held]
    worst = max(found, key=lambda f: (f.refuted, f.refuted and f.limit.kind == "log odds", f.ratio))
    bound = math.inf if worst.value is None else amounts.float_down(worst.value)
    return Row(name, str(worst.limit), bound, 0, worst.event, verdict(worst.refuted))


def _measured(limit: Limit, p: OutputLaw, q: OutputLaw) -> Found:
    match limit.kind:
        case "δ":
            return Found(limit, hockey_stick(p, q, limit.at), "P > e^ε·Q")
        case "Rényi":
            return Found(limit, renyi(p, q, limit.at), "all y")
        case "range":
            return Found(limit, bounded_range(p, q), "two of y")
        case _:
            value, output = log_odds(p, q)
            return Found(limit, value, f"y of {output}" if isinstance(output, Loss) else f"y = {_named(output)}")


def log_odds(p: OutputLaw, q: OutputLaw) -> tuple[Fraction | None, Any]:
    """(max ln(P/Q) rounded down, the output it is at); None is +∞."""
    best, at = arb(0), next(iter(p))
    for output, chance in p.items():
        other = q.get(output, arb(0)).upper()
        if not chance.lower() > 0:
            continue
        if other == 0:
            return None, output
        ratio = (chance.lower() / other).lower()
        if ratio > best:
            best, at = ratio, output
    return real.exact(best.log().lower()), at


def bounded_range(p: OutputLaw, q: OutputLaw) -> Fraction | None:
    """max ln(P/Q) − min ln(P/Q), rounded down."""
    up, _ = log_odds(p, q)
    down, _ = log_odds(q, p)
    return None if up is None or down is None else up + down


def hockey_stick(p: OutputLaw, q: OutputLaw, epsilon: Fraction) -> Fraction:
    """Σ max(0, P − e^ε·Q), rounded down: the least δ that goes with ε."""
    rise, total = ball(epsilon).exp(), Fraction(0)
    for output, chance in p.items():
        total += max(Fraction(0), real.exact((chance - rise * q.get(output, arb(0))).lower()))
    return total


def renyi(p: OutputLaw, q: OutputLaw, order: Fraction) -> Fraction | None:
    """ln Σ P^α·Q^(1−α) / (α − 1), rounded down; every term is positive, so those left out only lower it."""
    moment, a = arb(0), ball(order)
    for output, chance in p.items():
        other = q.get(output, arb(0))
        if chance.lower() > 0 and other.upper() == 0:
            return None
        if chance.lower() > 0 and other.lower() > 0:
            moment += (chance / other) ** a * other
    return real.exact((moment.log() / (a - 1)).lower()) if moment.lower() > 0 else Fraction(0)


def _named(output: Any) -> str:
    return "".join(map(str, output)) if isinstance(output, str) else str(output).replace("'", "")


# --- tiny worlds -------------------------------------------------------------------------------------------------


def tables(values: int = 3, rows: int = 4) -> list[tuple[int, ...]]:
    """Every table of at most so many rows over so many values, as counts per value."""
    return [h for h in product(range(rows + 1), repeat=values) if sum(h) <= rows]


def one_row_more(values: int = 3, rows: int = 4) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All add-remove neighbours among `tables`."""
    return [(h, _plus(h, v)) for h in tables(values, rows - 1) for v in range(values)]


def one_row_other(values: int = 3, rows: int = 4) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All replace-one neighbours among `tables`."""
    return [(_plus(h, v), _plus(h, w)) for h in tables(values, rows - 1) for v in range(values) for w in range(v)]


def keys_entered(values: Sequence[int], keys: int, groups: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All counts per key over the values, and those with a unit more in 1 to `groups` of the keys."""
    return [(h, _in(h, new)) for h in product(values, repeat=keys) for new in _some(keys, groups) if new]


def keys_exchanged(values: Sequence[int], keys: int, groups: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All counts per key in which a unit leaves up to `groups` keys and enters up to `groups` others."""
    moves = [
        (old, new)
        for old in _some(keys, groups)
        for new in _some(keys, groups)
        if not old & new and sorted(old) < sorted(new)
    ]
    return [(_in(h, old), _in(h, new)) for h in product(values, repeat=keys) for old, new in moves]


def nearby(values: Sequence[int], length: int, step: int = 1) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of vectors over the values that differ by at most `step` in every place: scores and questions."""
    points = list(product(values, repeat=length))
    return [
        (x, y) for x in points for y in points if x < y and all(abs(a - b) <= step for a, b in zip(x, y, strict=True))
    ]


def _some(keys: int, groups: int) -> list[frozenset[int]]:
    return [frozenset(some) for size in range(groups + 1) for some in combinations(range(keys), size)]


def _in(table: tuple[int, ...], keys: frozenset[int]) -> tuple[int, ...]:
    return tuple(count + (1 if key in keys else 0) for key, count in enumerate(table))


def _plus(table: tuple[int, ...], value: int) -> tuple[int, ...]:
    return tuple(count + (1 if v == value else 0) for v, count in enumerate(table))
