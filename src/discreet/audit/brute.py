"""Brute force: compare a claim with the exact laws of every neighbouring pair of a tiny world.

    log odds    max over outputs of ln(P/Q)                         against ε
    range       max ln(P/Q) − min ln(P/Q)                           against ε of the exponential mechanism
    δ at ε      Σ max(0, P − e^ε·Q)                                 against δ(ε)
    Rényi       ln Σ P^α·Q^(1−α) / (α − 1)                          against R_α

Every number is the lower end of a ball, so a refutation is a proof; a claim met exactly is not refuted.
"""

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from flint import arb

from discreet import amounts, real
from discreet.audit.joint import Loss, side_laws
from discreet.audit.laws import ExactLaw, OutputLaw
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
    """A number that a cost promises not to exceed: `kind`, at `point`, which is an ε or an order."""

    kind: str
    claimed: Fraction
    point: Fraction = Fraction(0)

    def __str__(self) -> str:
        amount = f"{amounts.rounded_up(self.claimed, 6):g}"
        match self.kind:
            case "δ":
                return f"δ = {amount} at ε = {float(self.point):.6g}"
            case "Rényi":
                return f"R = {amount} at order {float(self.point):g}"
            case "range":
                return f"range = {amount}"
            case _:
                return f"ε = {amount}"


@dataclass(frozen=True)
class Reading:
    """The certified lower end of one measure of a pair, and the output that attains it."""

    limit: Limit
    value: Fraction | None  # None is +∞
    event: str

    @property
    def is_refuted(self) -> bool:
        return self.value is None or self.value > self.limit.claimed

    @property
    def ratio(self) -> float:
        """The share of the promise that is used up."""
        if self.value is None or self.limit.claimed == 0:
            return math.inf if self.is_refuted else 0.0
        return float(self.value / self.limit.claimed)


def limits(cost: Cost) -> list[Limit]:
    """Every number of a cost that an exact law can be held against."""
    numbers = []
    try:
        numbers.append(Limit("log odds", price.epsilon(cost, 0).value))
    except NotPriced:
        numbers += [Limit("δ", price.delta(cost, epsilon).value, epsilon) for epsilon in _points(cost)]
    match cost:
        case Exponential():
            numbers.append(Limit("range", cost.epsilon))
            numbers += [Limit("Rényi", price.renyi(cost, order).value, order) for order in _ORDERS]
        case Zcdp() | Gaussian():
            numbers += [Limit("Rényi", price.renyi(cost, order).value, order) for order in _ORDERS]
    return numbers


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


def brute(name: str, cost: Cost, *, pairs: Pairs, law: Callable[[Any], ExactLaw]) -> Row:
    """The row of one claim: the pair and limit that come nearest to the promise, or break it by most."""
    cost_limits = limits(cost)
    with real.precision(BITS):
        laws = {inputs: law(inputs) for inputs in {side for pair in pairs for side in pair}}
        sides = side_laws(laws, pairs)
        readings = [_reading(limit, *s) for p, q in sides for s in ((p, q), (q, p)) for limit in cost_limits]
    worst = max(readings, key=lambda f: (f.is_refuted, f.is_refuted and f.limit.kind == "log odds", f.ratio))
    bound = math.inf if worst.value is None else amounts.float_down(worst.value)
    return Row(name, str(worst.limit), bound, 0, worst.event, verdict(worst.is_refuted))


def _reading(limit: Limit, p: OutputLaw, q: OutputLaw) -> Reading:
    match limit.kind:
        case "δ":
            return Reading(limit, hockey_stick(p, q, limit.point), "P > e^ε·Q")
        case "Rényi":
            return Reading(limit, renyi(p, q, limit.point), "all y")
        case "range":
            return Reading(limit, bounded_range(p, q), "two of y")
        case _:
            value, output = log_odds(p, q)
            event = f"y of {output}" if isinstance(output, Loss) else f"y = {_output_text(output)}"
            return Reading(limit, value, event)


def log_odds(p: OutputLaw, q: OutputLaw) -> tuple[Fraction | None, Any]:
    """(max ln(P/Q) rounded down, the output that attains it); None is +∞."""
    best, best_output = arb(0), next(iter(p))
    for output, chance in p.items():
        opposite = q.get(output, arb(0)).upper()
        if not chance.lower() > 0:
            continue
        if opposite == 0:
            return None, output
        ratio = (chance.lower() / opposite).lower()
        if ratio > best:
            best, best_output = ratio, output
    return real.exact(best.log().lower()), best_output


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
    """ln Σ P^α·Q^(1−α) / (α − 1), rounded down; every term is positive, so omitted ones only lower it."""
    moment, a = arb(0), ball(order)
    for output, chance in p.items():
        opposite = q.get(output, arb(0))
        if chance.lower() > 0 and opposite.upper() == 0:
            return None
        if chance.lower() > 0 and opposite.lower() > 0:
            moment += (chance / opposite) ** a * opposite
    return real.exact((moment.log() / (a - 1)).lower()) if moment.lower() > 0 else Fraction(0)


def _output_text(output: Any) -> str:
    return "".join(map(str, output)) if isinstance(output, str) else str(output).replace("'", "")


# --- tiny worlds -------------------------------------------------------------------------------------------------


def tables(values: int = 3, rows: int = 4) -> list[tuple[int, ...]]:
    """Every table of at most so many rows over so many values, as counts per value."""
    return [h for h in product(range(rows + 1), repeat=values) if sum(h) <= rows]


def one_row_more(values: int = 3, rows: int = 4) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All add-remove neighbours among `tables`."""
    return [(h, _with_unit(h, {v})) for h in tables(values, rows - 1) for v in range(values)]


def one_row_other(values: int = 3, rows: int = 4) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All replace-one neighbours among `tables`."""
    moves = [({v}, {w}) for v in range(values) for w in range(v)]
    return [(_with_unit(h, old), _with_unit(h, new)) for h in tables(values, rows - 1) for old, new in moves]


def keys_entered(values: Sequence[int], keys: int, groups: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All counts per key over the values, and those with a unit more in 1 to `groups` of the keys."""
    return [(h, _with_unit(h, new)) for h in product(values, repeat=keys) for new in _key_sets(keys, groups) if new]


def keys_exchanged(values: Sequence[int], keys: int, groups: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All counts per key in which a unit leaves up to `groups` keys and enters up to `groups` others."""
    moves = [
        (old, new)
        for old in _key_sets(keys, groups)
        for new in _key_sets(keys, groups)
        if not old & new and sorted(old) < sorted(new)
    ]
    return [(_with_unit(h, old), _with_unit(h, new)) for h in product(values, repeat=keys) for old, new in moves]


def nearby(values: Sequence[int], length: int, step: int = 1) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of vectors over the values that differ by at most `step` in every place: scores and questions."""
    points = list(product(values, repeat=length))
    return [
        (x, y) for x in points for y in points if x < y and all(abs(a - b) <= step for a, b in zip(x, y, strict=True))
    ]


def _key_sets(keys: int, groups: int) -> list[frozenset[int]]:
    return [frozenset(chosen) for size in range(groups + 1) for chosen in combinations(range(keys), size)]


def _with_unit(table: tuple[int, ...], keys: Set[int]) -> tuple[int, ...]:
    """The counts with a unit more in each of the keys."""
    return tuple(count + (1 if key in keys else 0) for key, count in enumerate(table))
