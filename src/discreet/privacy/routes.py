"""Every proven way from a cost to its ε or its δ; each is a bound on its own, so price.py takes the least.

Out of the range of one route another stands in, looser, and says so in its text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.privacy import analytic, convert, pld
from discreet.privacy import renyi as curves
from discreet.privacy.cost import Apart, Cost, Group, Sampled
from discreet.privacy.flat import (
    Choice,
    Concentrated,
    Normal,
    Odds,
    Terms,
    Thinned,
    bare,
    promises_groups,
    terms,
    worst_parts,
)

_BISECTIONS, _SPLITS = 24, 6  # inner ε tried for a group, for its ε and for its δ


@dataclass(frozen=True)
class Bound:
    """A number that is surely not too small, and the route that proves it.

    `slack` is the part of δ set aside for the rounding of floats (0 where none were used); `apart` is the δ that a
    Rényi price does not contain and that is paid on top of it.
    """

    value: Fraction
    route: str
    slack: Fraction = Fraction(0)
    apart: Fraction = Fraction(0)


# --- routes to ε -------------------------------------------------------------------------------------------------


def epsilon_routes(wrapped: Cost, at: Fraction) -> Iterator[Bound]:
    """Every price of ε at δ = `at` that is proven for the cost."""
    cost = bare(wrapped)
    found = terms(cost)
    if not found:
        yield Bound(Fraction(0), "closed form: nothing is promised away")
        return
    odds = _whole_odds(cost, found)
    if odds is not None and odds.delta <= at:
        yield Bound(odds.epsilon, "closed form" if _single(found) else "basic composition")
    if at > 0:
        yield from _closed_epsilon(found, at)
        if not _closed_is_best(found):
            yield from _searched_epsilon(found, at)
        yield from _outer_epsilon(cost, at)


def _closed_epsilon(found: Terms, at: Fraction) -> Iterator[Bound]:
    match found:
        case ((Normal() as only, 1),):
            yield Bound(analytic.epsilon_of_square(only.mu_squared, at), "closed form: analytic Gaussian")
        case ((Concentrated() as only, 1),):
            yield Bound(convert.epsilon_of_zcdp(only.rho, at), "closed form: zCDP at its best order")
        case _ if shares := _shares(found):
            value = convert.mixed_epsilon(shares, at)
            if value is not None:
                yield Bound(value, "closed form" if _single(found) else "optimal composition")


def _searched_epsilon(found: Terms, at: Fraction) -> Iterator[Bound]:
    reached = ""
    if _worth_a_distribution(found):
        by_loss = pld.epsilon_at(found, at)
        if by_loss is not None:
            yield Bound(by_loss[0], _distribution_text(by_loss[1]), Fraction(by_loss[1].allowance))
        else:
            reached = " (looser: out of the range of the privacy loss distribution)"
    by_order = curves.epsilon_at(found, at)
    if by_order is not None:
        yield Bound(by_order[0], f"Rényi at order {float(by_order[1]):.6g}{reached}")


def _outer_epsilon(cost: Cost, at: Fraction) -> Iterator[Bound]:
    """Routes that look at the outermost layer alone."""
    match cost:
        case Sampled() if not promises_groups(cost.cost):
            rate, whole = _one_sample(cost)
            if at >= rate:
                yield Bound(Fraction(0), "sampling: the unit is out with probability 1 − rate ≥ 1 − δ")
            else:
                inner = least(epsilon_routes(whole, at / rate))
                if inner is not None:
                    value = convert.sampled_epsilon(inner.value, rate)
                    yield replace(inner, value=value, route=f"amplified by sampling: {inner.route}")
        case Apart():
            parts = [least(epsilon_routes(c, at)) for c in worst_parts(cost.costs)]
            if all(part is not None for part in parts):
                worst = max((part for part in parts if part is not None), key=value_of)
                yield replace(worst, route=f"worst part: {worst.route}")
        case Group() if group_of_samples(cost):  # otherwise the leaves' own group theorems are tighter
            yield from _group_epsilon(cost, at)


def _group_epsilon(cost: Group, at: Fraction) -> Iterator[Bound]:
    """kε₀ with δ(ε₀)·(e^{kε₀} − 1)/(e^{ε₀} − 1) ≤ δ: the least ε₀ found by bisection on the inner curve."""
    curve = _inner_curve(cost.cost)
    enough = _Enough(curve, cost.size, at)
    top = Fraction(1, 64)
    while not enough(top):
        top *= 2
        if top * cost.size > 4000:
            return
    low = top / 2 if top > Fraction(1, 64) else Fraction(0)
    for _ in range(_BISECTIONS):
        middle = (low + top) / 2
        low, top = (low, middle) if enough(middle) else (middle, top)
    made = curve(top)
    yield replace(made, value=cost.size * top, route=f"group of {cost.size} by (kε, δ(e^kε−1)/(e^ε−1)): {made.route}")


@dataclass(frozen=True)
class _Enough:
    curve: Callable[[Fraction], Bound]
    size: int
    most: Fraction

    def __call__(self, at: Fraction) -> bool:
        return convert.group_approx(at, self.curve(at).value, self.size)[1] <= self.most


# --- routes to δ -------------------------------------------------------------------------------------------------


def delta_routes(wrapped: Cost, at: Fraction) -> Iterator[Bound]:
    """Every price of δ at ε = `at` that is proven for the cost."""
    cost = bare(wrapped)
    found = terms(cost)
    if not found:
        yield Bound(Fraction(0), "closed form: nothing is promised away")
        return
    odds = _whole_odds(cost, found)
    if odds is not None:
        if odds.epsilon <= at:
            yield Bound(odds.delta, "closed form" if _single(found) else "basic composition")
        else:
            left = convert.delta_of_pure(odds.epsilon, at)
            yield Bound(odds.delta + (1 - odds.delta) * left, "closed form: the curve of the summed ε")
    yield from _closed_delta(found, at)
    if not _closed_is_best(found):
        yield from _searched_delta(found, at)
    yield from _outer_delta(cost, at)


def _closed_delta(found: Terms, at: Fraction) -> Iterator[Bound]:
    match found:
        case ((Normal() as only, 1),):
            yield Bound(analytic.delta_of_square(only.mu_squared, at), "closed form: analytic Gaussian")
        case ((Concentrated() as only, 1),):
            yield Bound(convert.delta_of_zcdp(only.rho, at), "closed form: zCDP at its best order")
        case _ if shares := _shares(found):
            value = convert.mixed_delta(shares, at)
            yield Bound(value, "closed form" if _single(found) else "optimal composition")


def _searched_delta(found: Terms, at: Fraction) -> Iterator[Bound]:
    reached = ""
    if _worth_a_distribution(found):
        by_loss = pld.delta_at(found, at)
        if by_loss is not None:
            yield Bound(by_loss[0], _distribution_text(by_loss[1]), Fraction(by_loss[1].allowance))
        else:
            reached = " (looser: out of the range of the privacy loss distribution)"
    by_order = curves.delta_at(found, at)
    yield Bound(by_order[0], f"Rényi at order {float(by_order[1]):.6g}{reached}")


def _outer_delta(cost: Cost, at: Fraction) -> Iterator[Bound]:
    match cost:
        case Sampled() if not promises_groups(cost.cost):
            rate, whole = _one_sample(cost)
            inner = least(delta_routes(whole, convert.unsampled_epsilon(at, rate)))
            if inner is not None:
                yield replace(inner, value=rate * inner.value, route=f"amplified by sampling: {inner.route}")
        case Apart():
            parts = [least(delta_routes(c, at)) for c in worst_parts(cost.costs)]
            worst = max((part for part in parts if part is not None), key=value_of)
            yield replace(worst, route=f"worst part: {worst.route}")
        case Group() if group_of_samples(cost):
            for n in range(1, _SPLITS + 1):
                split = at * n / (_SPLITS * cost.size)
                made = _inner_curve(cost.cost)(split)
                value = convert.group_approx(split, made.value, cost.size)[1]
                yield replace(made, value=value, route=f"group of {cost.size} at ε/{cost.size} or less: {made.route}")


# --- what the routes ask ------------------------------------------------------------------------------------------


def _one_sample(cost: Sampled) -> tuple[Fraction, Cost]:
    """The rate and the inside of samples of samples as one sample: priced once, not once a layer."""
    rate, inner = cost.rate, bare(cost.cost)
    while isinstance(inner, Sampled):
        rate, inner = rate * inner.rate, bare(inner.cost)
    return rate, inner


def _inner_curve(cost: Cost) -> Callable[[Fraction], Bound]:
    """δ(ε) of a cost as a function, for bare ε that need not be typeable."""
    trivial = Bound(Fraction(1), "trivial: no promise at this ε")
    return lambda at: min([*delta_routes(cost, at), trivial], key=value_of)


def _closed_is_best(found: Terms) -> bool:
    """Where the closed form is the exact price of the worst mechanism with this promise: no search can beat it."""
    match found:
        case ((Normal() | Concentrated(), 1),):
            return True
        case _:
            return bool(_shares(found)) and not any(isinstance(a, Odds) and a.range_bounded for a, _ in found)


def _shares(found: Terms) -> tuple[convert.Share, ...]:
    """The terms of an optimal composition, if all are pure or approximate and few enough to sum; otherwise none."""
    shares = tuple(convert.Share(a.epsilon, a.delta, times) for a, times in found if isinstance(a, Odds))
    small = all(share.epsilon <= convert.MOST_SUMMED for share in shares)
    whole = small and len(shares) == len(found) and convert.combinations(shares) <= convert.MOST_OPTIMAL
    return shares if whole else ()


def _worth_a_distribution(found: Terms) -> bool:
    """Where a privacy loss distribution can be tighter than the closed forms."""
    return not _shares(found)


def _whole_odds(cost: Cost, found: Terms) -> Odds | None:
    """(ε, δ) by basic composition, the better of the flat list and, for a group of samples, the group's own rule."""
    flat = curves.whole_odds(found)
    match cost:
        case Group() if cost.size > 1:
            inner = _whole_odds(cost.cost, terms(cost.cost))
            if inner is not None:
                grouped = Odds(*convert.group_approx(inner.epsilon, inner.delta, cost.size))
                if flat is None or (grouped.epsilon <= flat.epsilon and grouped.delta <= flat.delta):
                    return grouped
    return flat


def group_of_samples(cost: Cost) -> bool:
    return isinstance(cost, Group) and cost.size > 1 and _thinned_inside(terms(cost.cost))


def _thinned_inside(found: Terms) -> bool:
    return any(
        isinstance(atom, Thinned) or (isinstance(atom, Choice) and any(_thinned_inside(part) for part in atom.parts))
        for atom, _ in found
    )


def _distribution_text(loss: pld.Loss) -> str:
    return f"privacy loss distribution, pessimistic, grid {loss.interval:.2g}, δ set aside {loss.allowance:.1g}"


def _single(found: Terms) -> bool:
    return len(found) == 1 and found[0][1] == 1


def least(found: Iterator[Bound]) -> Bound | None:
    return min(found, key=value_of, default=None)


def value_of(price: Bound) -> Fraction:
    return price.value
