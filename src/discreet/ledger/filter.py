"""The two kinds of budget, and the test whether a charge still fits.

    ε only   accepted iff Σε ≤ ε and no δ at all
    (ε, δ)   δ = δ_keys + δ_basic + Σδ_k;  accepted iff  Σδ of key selection ≤ δ_keys  and
             [ (Σε ≤ ε and Σδ ≤ δ_basic)  or  ΣR_{α_k} ≤ B_k for some k ]

with B_k = ε − (ln(1/δ_k) − ln α_k)/(α_k − 1) − ln(1 − 1/α_k), rounded down.  The next question, its cost and whether
there is one may depend on all answers so far: each condition is a fully adaptive filter by itself (Rogers et al. 2016;
Feldman & Zrnic 2021) and a transcript belongs to one that holds at its end, so the δ's add up.  Proof page:
docs/proofs/ledger/filter.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import arb

from discreet import amounts
from discreet.errors import bad
from discreet.ledger.account import Account, Amounts, Path, slack
from discreet.privacy import renyi
from discreet.privacy.certify import down
from discreet.real import ball

KEYS, BASIC = Fraction(1, 2), Fraction(1, 4)  # of δ
# Orders around the best one for many small charges: how far from 1, as a multiple of the best, and their part of δ.
SPREAD = (
    (Fraction(1), Fraction(1, 8)),
    (Fraction(3, 2), Fraction(1, 16)),
    (Fraction(5, 2), Fraction(1, 32)),
    (Fraction(5), Fraction(1, 32)),
)
_DIGITS = 12
_FINE = 10**30  # an amount of ε that is no short fraction is rounded up to 30 places, so that sums stay short
_FINE_DELTA = 10**400
UNITS = 2**128  # R_α is counted in whole units, so that it adds up fast and exactly
_SHORT = 1000  # denominators up to here are kept: three charges of 1/3 are 1


@dataclass(frozen=True)
class RenyiOrder:
    """A Rényi order α_k, its part δ_k, and the limit B_k that follows from ε, in units of 2⁻¹²⁸."""

    order: Fraction
    delta: Fraction
    limit: int


@dataclass(frozen=True)
class EpsilonOnly:
    """Σε ≤ ε, and nothing with a δ."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", amounts.epsilon(self.epsilon))

    @property
    def delta(self) -> Fraction:
        """0: no charge may have a δ."""
        return Fraction(0)

    @property
    def orders(self) -> tuple[RenyiOrder, ...]:
        """No orders: only Σε is compared."""
        return ()


@dataclass(frozen=True)
class EpsilonDelta:
    """(ε, δ) with δ parted beforehand: `keys`, `basic`, and (order, δ) pairs in `shares`."""

    epsilon: Fraction
    delta: Fraction
    keys: Fraction
    basic: Fraction
    shares: tuple[tuple[Fraction, Fraction], ...]
    orders: tuple[RenyiOrder, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        epsilon, delta = amounts.epsilon(self.epsilon), _open_delta(self.delta)
        keys, basic = amounts.probability(self.keys, "keys"), amounts.probability(self.basic, "basic")
        shares = tuple((renyi.order(order), _open_delta(part)) for order, part in self.shares)
        total = keys + basic + sum((part for _, part in shares), Fraction(0))
        if total > delta:
            rule = f"must not be parted into more than itself, {amounts.text_of(delta)}"
            raise bad(
                "delta", rule, amounts.text_of(total), "Give keys, basic and shares that add up to delta or less."
            )
        orders = tuple(
            RenyiOrder(order, part, math.floor(limit(epsilon, order, part) * UNITS)) for order, part in shares
        )
        if any(k.limit <= 0 for k in orders) or len({k.order for k in orders}) != len(orders):
            rule = "must be distinct, each with a positive limit"
            raise bad("orders", rule, tuple(map(str, dict(shares))), "Leave the orders out: budget() chooses them.")
        values = {"epsilon": epsilon, "delta": delta, "keys": keys, "basic": basic, "shares": shares, "orders": orders}
        for name, value in values.items():
            object.__setattr__(self, name, value)


Budget = EpsilonOnly | EpsilonDelta


def budget(epsilon: Any, delta: Any = 0, *, ceiling: Fraction = amounts.DELTA_CEILING) -> Budget:
    """The budget of that size, δ parted by default: ½ keys, ¼ basic, ¼ over four orders.

    >>> budget(1)
    EpsilonOnly(epsilon=Fraction(1, 1))
    >>> [str(k.order) for k in budget(1, "1e-7").orders]
    ['30', '45', '74', '147']
    """
    total, total_delta = amounts.epsilon(epsilon), amounts.delta(delta, ceiling=ceiling)
    if total_delta == 0:
        return EpsilonOnly(total)
    best = _best_order(total, SPREAD[0][1] * total_delta) - 1
    shares: dict[Fraction, Fraction] = {}
    for multiple, part in SPREAD:
        order = _short_order(1 + multiple * best)
        if order <= renyi.MOST_ORDER and order not in shares and limit(total, order, part * total_delta) > 0:
            shares[order] = part * total_delta
    return EpsilonDelta(total, total_delta, KEYS * total_delta, BASIC * total_delta, tuple(shares.items()))


def limit(epsilon: Fraction, order: Fraction, delta: Fraction) -> Fraction:
    """B = ε − (ln(1/δ) − ln α)/(α − 1) − ln(1 − 1/α), rounded down: R_α ≤ B is (ε, δ)-DP.

    Canonne, Kamath & Steinke 2020, Proposition 12, solved for the divergence.
    """

    def value() -> arb:
        alpha = ball(order)
        return ball(epsilon) + (ball(delta).log() + alpha.log()) / (alpha - 1) - (-1 / alpha).log1p()

    return down(value)


def accepts(allowed: Budget, spent: Amounts) -> bool:
    """Whether the budget allows so much to be spent in all.

    >>> accepts(budget(1), Amounts(Fraction(1))), accepts(budget(1), Amounts(Fraction(1) + Fraction(1, 10**9)))
    (True, False)
    """
    match allowed:
        case EpsilonOnly():
            return spent.epsilon <= allowed.epsilon and spent.delta == 0 and spent.keys == 0
        case EpsilonDelta():
            basic = spent.epsilon <= allowed.epsilon and spent.delta <= allowed.basic
            by_order = any(value <= k.limit for value, k in zip(spent.renyi, allowed.orders, strict=True))
            return spent.keys <= allowed.keys and (basic or by_order)
        case _:
            raise TypeError("not a budget")


def remaining(allowed: Budget, account: Account, path: Path = ()) -> Fraction:
    """The largest single pure ε that would still be accepted at `path`: exact for Σε, 12 digits rounded down for R_α.

    >>> from discreet.ledger.account import empty
    >>> remaining(budget("0.3"), empty(0))
    Fraction(3, 10)
    """
    room = _room(allowed, account, path)
    if room.keys < 0 or (isinstance(allowed, EpsilonOnly) and room.delta < 0):
        return Fraction(0)
    best = charged_epsilon_down(room.epsilon) if room.delta >= 0 else Fraction(0)
    best = min(max(best, Fraction(0)), amounts.MAX_EPSILON)
    for rest, k in zip(room.renyi, allowed.orders, strict=True):
        if rest > 0 and best < amounts.MAX_EPSILON and _response(best, k.order) <= rest:
            best = max(best, _largest_response(rest, k.order))
    return best if best >= amounts.MIN_EPSILON else Fraction(0)


def remaining_delta(allowed: Budget, account: Account, path: Path = ()) -> tuple[Fraction, Fraction]:
    """What is left of δ_basic and of δ_keys at `path`, not below 0."""
    room = _room(allowed, account, path)
    return max(room.delta, Fraction(0)), max(room.keys, Fraction(0))


def _room(allowed: Budget, account: Account, path: Path) -> Amounts:
    """Per currency, limit − spent + what may be charged at the path before `spent` moves."""
    match allowed:
        case EpsilonOnly():
            limits = Amounts(allowed.epsilon)
        case EpsilonDelta():
            limits = Amounts(allowed.epsilon, allowed.basic, allowed.keys, tuple(k.limit for k in allowed.orders))
        case _:
            raise TypeError("not a budget")
    return limits - account.spent + slack(account, path)


# --- amounts short enough to be added for ever ---------------------------------------------------------------------


def charged_epsilon(epsilon: Fraction) -> Fraction:
    """ε as it is charged: itself if it has 30 decimal places or a denominator of 1000 at most, else rounded up so.

    All sums then have denominators that divide 10³⁰·lcm(1, …, 1000), whatever anyone types.
    """
    return epsilon if _is_short(epsilon, _FINE) else Fraction(math.ceil(epsilon * _FINE), _FINE)


def charged_epsilon_down(epsilon: Fraction) -> Fraction:
    """The largest ε up to this one that is charged as itself: the same, rounded down."""
    return epsilon if _is_short(epsilon, _FINE) else Fraction(math.floor(epsilon * _FINE), _FINE)


def charged_delta(delta: Fraction) -> Fraction:
    """δ as it is charged, to 400 places, rounded up."""
    return delta if _is_short(delta, _FINE_DELTA) else Fraction(math.ceil(delta * _FINE_DELTA), _FINE_DELTA)


def charged_renyi(divergence: Fraction) -> int:
    """R_α as it is charged: in units of 2⁻¹²⁸, rounded up."""
    return math.ceil(divergence * UNITS)


def _is_short(value: Fraction, fine: int) -> bool:
    return value.denominator <= _SHORT or fine % value.denominator == 0


# --- choosing orders and reading R_α backwards: floats propose, balls decide -----------------------------------------


def _best_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Nearly the order with the most room for small charges, the largest B/α."""
    e, ln_delta = float(epsilon), math.log(delta.numerator) - math.log(delta.denominator)

    def worth(x: float) -> float:
        excess = math.exp(x)  # α − 1
        alpha = 1 + excess
        return (e + (ln_delta + math.log(alpha)) / excess - math.log(excess / alpha)) / alpha

    return 1 + Fraction(math.exp(max((n / 16 for n in range(-320, 640)), key=worth)))


def _short_order(order: Fraction) -> Fraction:
    """A whole order from 16 on, where sampled costs are exact; below, a multiple of 2⁻²⁰ above 1."""
    if order >= 16:
        return Fraction(round(order))
    return max(Fraction(round(order * 2**20), 2**20), 1 + Fraction(1, 2**20))


def _response(epsilon: Fraction, order: Fraction) -> int:
    return charged_renyi(renyi.response(epsilon, order)) if epsilon else 0


def _largest_response(room: int, order: Fraction) -> Fraction:
    """The largest ε of 12 digits whose randomized response has R_α ≤ room, certified."""

    def fits(epsilon: Fraction) -> bool:
        return _response(epsilon, order) <= room

    if fits(amounts.MAX_EPSILON):
        return amounts.MAX_EPSILON
    low, high = 1e-10, 1e6
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _rough_response(middle, float(order)) <= room / UNITS else (low, middle)
    return _last_that_fits(-Fraction(amounts.rounded_up(-Fraction(low), _DIGITS)), fits)


def _last_that_fits(start: Fraction, fits: Callable[[Fraction], bool]) -> Fraction:
    """From a proposal to the last decimal of 12 digits that fits: doubling steps, then halving ones."""
    unit = Fraction(10) ** (amounts.rounded_up(start, _DIGITS).adjusted() - _DIGITS + 1)
    sign = 1 if fits(start) else -1
    step = 1
    while fits(start + sign * step * unit) == (sign == 1):
        step *= 2
        if start - step * unit <= 0 and sign == -1:
            return Fraction(0)
    inner, outer = (step // 2, step) if sign == 1 else (step, step // 2)  # inner fits, outer does not
    while abs(outer - inner) > 1:
        middle = (inner + outer) // 2
        inner, outer = (middle, outer) if fits(start + sign * middle * unit) else (inner, middle)
    return start + sign * inner * unit


def _rough_response(epsilon: float, order: float) -> float:
    excess = order - 1
    if order * epsilon < 60:
        inner = 2 * math.sinh(order * epsilon / 2) * math.sinh(excess * epsilon / 2) / math.cosh(epsilon / 2)
        return math.log1p(inner) / excess
    return epsilon + (math.log1p(math.exp((1 - 2 * order) * epsilon)) - math.log1p(math.exp(-epsilon))) / excess


def _open_delta(value: Any) -> Fraction:
    parsed = amounts.probability(value, "delta")
    if not 0 < parsed < 1:
        raise bad("delta", "must be above 0 and below 1 in each part", value, "Give a number such as 1e-7.")
    return parsed


# --- JSON both ways --------------------------------------------------------------------------------------------------


def to_json(allowed: Budget) -> dict[str, Any]:
    """A JSON object with exact numbers as text; limits follow from the rest."""
    match allowed:
        case EpsilonOnly():
            return {"epsilon": str(allowed.epsilon)}
        case EpsilonDelta():
            parts = {name: str(getattr(allowed, name)) for name in ("epsilon", "delta", "keys", "basic")}
            return {**parts, "shares": [[str(order), str(part)] for order, part in allowed.shares]}
        case _:
            raise TypeError("not a budget")


def from_json(data: Any) -> Budget:
    """The budget that `to_json` described."""
    if isinstance(data, dict) and set(data) == {"epsilon"}:
        return EpsilonOnly(Fraction(data["epsilon"]))
    if isinstance(data, dict) and set(data) == {"epsilon", "delta", "keys", "basic", "shares"}:
        epsilon, delta, keys, basic = (Fraction(data[name]) for name in ("epsilon", "delta", "keys", "basic"))
        shares = tuple((Fraction(order), Fraction(part)) for order, part in data["shares"])
        return EpsilonDelta(epsilon, delta, keys, basic, shares)
    raise bad("budget", "must be what the ledger wrote", data, "Restore the ledger from its last good copy.")
