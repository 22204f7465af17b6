"""Every proven way from a cost to its ε or its δ.  Each gives an upper bound, and price.py takes the least of them.

Where a cost is out of the range of one route, a looser route takes its place and says so in its text.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.privacy import analytic, convert, pld
from discreet.privacy import renyi as curves
from discreet.privacy.convert import Copies
from discreet.privacy.cost import Apart, Cost, Group, Sampled
from discreet.privacy.flat import (
    Atoms,
    Choice,
    Concentrated,
    Normal,
    Odds,
    Thinned,
    atoms_of,
    bare,
    promises_groups,
    worst_parts,
)

_BISECTIONS, _SPLITS = 24, 6  # inner ε tried for a group: when its ε is searched, and when its δ is


@dataclass(frozen=True)
class Bound:
    """A proven upper limit and the route that proves it.

    `slack` is the part of δ set aside for the rounding of floats (0 where none were used); `apart` is the δ that a
    Rényi bound does not contain and that is paid on top of it.
    """

    value: Fraction
    route: str
    slack: Fraction = Fraction(0)
    apart: Fraction = Fraction(0)


TRIVIAL = Bound(Fraction(1), "trivial: no promise at this ε")


@dataclass(frozen=True)
class _Reading:
    """The theorems that read one side of the curve: ε at a given δ, or δ at a given ε."""

    of_gaussian: Callable[[Fraction, Fraction], Fraction]
    of_zcdp: Callable[[Fraction, Fraction], Fraction]
    of_copies: Callable[[tuple[Copies, ...], Fraction], Fraction | None]
    by_distribution: Callable[[Atoms, Fraction], tuple[Fraction, pld.Loss] | None]
    by_order: Callable[[Atoms, Fraction], tuple[Fraction, Fraction] | None]


_EPSILON = _Reading(
    analytic.epsilon_of_square, convert.epsilon_of_zcdp, convert.mixed_epsilon, pld.epsilon_at, curves.epsilon_at
)
_DELTA = _Reading(analytic.delta_of_square, convert.delta_of_zcdp, convert.mixed_delta, pld.delta_at, curves.delta_at)


def epsilon_bounds(wrapped: Cost, delta: Fraction) -> Iterator[Bound]:
    """Every proven bound of the cost's ε at δ."""
    cost = bare(wrapped)
    atoms = atoms_of(cost)
    if not atoms:
        yield Bound(Fraction(0), "closed form: nothing is promised away")
        return
    odds = _total_odds(cost, atoms)
    if odds is not None and odds.delta <= delta:
        yield Bound(odds.epsilon, "closed form" if _is_single(atoms) else "basic composition")
    if delta > 0:
        yield from _direct_bounds(_EPSILON, atoms, delta)
        yield from _outer_epsilon(cost, delta)


def delta_bounds(wrapped: Cost, epsilon: Fraction) -> Iterator[Bound]:
    """Every proven bound of the cost's δ at ε."""
    cost = bare(wrapped)
    atoms = atoms_of(cost)
    if not atoms:
        yield Bound(Fraction(0), "closed form: nothing is promised away")
        return
    odds = _total_odds(cost, atoms)
    if odds is not None:
        if odds.epsilon <= epsilon:
            yield Bound(odds.delta, "closed form" if _is_single(atoms) else "basic composition")
        else:
            excess = convert.delta_of_pure(odds.epsilon, epsilon)
            yield Bound(odds.delta + (1 - odds.delta) * excess, "closed form: the curve of the summed ε")
    yield from _direct_bounds(_DELTA, atoms, epsilon)
    yield from _outer_delta(cost, epsilon)


def _direct_bounds(reading: _Reading, atoms: Atoms, amount: Fraction) -> Iterator[Bound]:
    """Bounds at that ε or δ: the closed form of the atoms; where it is not exact, a loss distribution and an order."""
    copies = _copies(atoms)
    match atoms:
        case ((Normal() as normal, 1),):
            yield Bound(reading.of_gaussian(normal.mu_squared, amount), "closed form: analytic Gaussian")
            return
        case ((Concentrated() as concentrated, 1),):
            yield Bound(reading.of_zcdp(concentrated.rho, amount), "closed form: zCDP at its best order")
            return
        case _ if copies:
            value = reading.of_copies(copies, amount)
            if value is not None:
                yield Bound(value, "closed form" if _is_single(atoms) else "optimal composition")
            if not any(isinstance(atom, Odds) and atom.range_bounded for atom, _ in atoms):
                return  # no search is below the exact curve of the worst mechanism
    note = ""
    if not copies:
        by_distribution = reading.by_distribution(atoms, amount)
        if by_distribution is None:
            note = " (looser: out of the range of the privacy loss distribution)"
        else:
            value, loss = by_distribution
            grid = f"grid {loss.interval:.2g}, δ set aside {loss.allowance:.1g}"
            yield Bound(value, f"privacy loss distribution, pessimistic, {grid}", Fraction(loss.allowance))
    by_order = reading.by_order(atoms, amount)
    if by_order is not None:
        yield Bound(by_order[0], f"Rényi at order {float(by_order[1]):.6g}{note}")


# --- bounds from the outermost layer ---------------------------------------------------------------------------------


def _outer_epsilon(cost: Cost, delta: Fraction) -> Iterator[Bound]:
    match cost:
        case Sampled() if not promises_groups(cost.cost):
            rate, inside = _one_sample(cost)
            if delta >= rate:
                yield Bound(Fraction(0), "sampling: the unit is out with probability 1 − rate ≥ 1 − δ")
            else:
                inner = least(epsilon_bounds(inside, delta / rate))
                if inner is not None:
                    value = convert.sampled_epsilon(inner.value, rate)
                    yield replace(inner, value=value, route=f"amplified by sampling: {inner.route}")
        case Apart():
            yield from _worst_part(least(epsilon_bounds(part, delta)) for part in worst_parts(cost.costs))
        case Group() if is_group_of_samples(cost):  # otherwise the group theorems of the atoms are tighter
            yield from _group_epsilon(cost, delta)


def _outer_delta(cost: Cost, epsilon: Fraction) -> Iterator[Bound]:
    match cost:
        case Sampled() if not promises_groups(cost.cost):
            rate, inside = _one_sample(cost)
            inner = least(delta_bounds(inside, convert.unsampled_epsilon(epsilon, rate)))
            if inner is not None:
                yield replace(inner, value=rate * inner.value, route=f"amplified by sampling: {inner.route}")
        case Apart():
            yield from _worst_part(least(delta_bounds(part, epsilon)) for part in worst_parts(cost.costs))
        case Group() if is_group_of_samples(cost):
            for n in range(1, _SPLITS + 1):
                split = epsilon * n / (_SPLITS * cost.size)
                inner = least_delta(cost.cost, split)
                value = convert.group_approx(split, inner.value, cost.size)[1]
                yield replace(inner, value=value, route=f"group of {cost.size} at ε/{cost.size} or less: {inner.route}")


def _worst_part(bounds: Iterable[Bound | None]) -> Iterator[Bound]:
    """The largest of the bounds; none if a part has none."""
    parts = list(bounds)
    proven = [part for part in parts if part is not None]
    if len(proven) == len(parts):
        worst = max(proven, key=value_of)
        yield replace(worst, route=f"worst part: {worst.route}")


def _group_epsilon(cost: Group, delta: Fraction) -> Iterator[Bound]:
    """kε₀ with δ(ε₀)·(e^{kε₀} − 1)/(e^{ε₀} − 1) ≤ δ: the least ε₀ found by bisection on the inner curve."""

    def is_enough(epsilon: Fraction) -> bool:
        return convert.group_approx(epsilon, least_delta(cost.cost, epsilon).value, cost.size)[1] <= delta

    top = Fraction(1, 64)
    while not is_enough(top):
        top *= 2
        if top * cost.size > 4000:
            return
    low = top / 2 if top > Fraction(1, 64) else Fraction(0)
    for _ in range(_BISECTIONS):
        middle = (low + top) / 2
        low, top = (low, middle) if is_enough(middle) else (middle, top)
    inner = least_delta(cost.cost, top)
    yield replace(inner, value=cost.size * top, route=f"group of {cost.size} by (kε, δ(e^kε−1)/(e^ε−1)): {inner.route}")


def _one_sample(cost: Sampled) -> tuple[Fraction, Cost]:
    """The rate and the cost of nested samples as one sample, so that they are priced once and not once per layer."""
    rate, inner = cost.rate, bare(cost.cost)
    while isinstance(inner, Sampled):
        rate, inner = rate * inner.rate, bare(inner.cost)
    return rate, inner


def least_delta(cost: Cost, epsilon: Fraction) -> Bound:
    """The least proven δ at any ε ≥ 0, at most 1."""
    return min([*delta_bounds(cost, epsilon), TRIVIAL], key=value_of)


def _copies(atoms: Atoms) -> tuple[Copies, ...]:
    """The atoms for optimal composition, if all are pure or approximate and few enough to sum; otherwise none."""
    copies = tuple(Copies(a.epsilon, a.delta, times) for a, times in atoms if isinstance(a, Odds))
    if len(copies) < len(atoms) or any(each.epsilon > convert.MOST_SUMMED for each in copies):
        return ()
    return copies if convert.combinations(copies) <= convert.MOST_OPTIMAL else ()


def _total_odds(cost: Cost, atoms: Atoms) -> Odds | None:
    """(ε, δ) by basic composition: of the atoms, or by the group theorem for a group where that is better."""
    flat = curves.total_odds(atoms)
    match cost:
        case Group() if cost.size > 1:
            inner = _total_odds(cost.cost, atoms_of(cost.cost))
            if inner is not None:
                grouped = Odds(*convert.group_approx(inner.epsilon, inner.delta, cost.size))
                if flat is None or (grouped.epsilon <= flat.epsilon and grouped.delta <= flat.delta):
                    return grouped
    return flat


def is_group_of_samples(cost: Cost) -> bool:
    return isinstance(cost, Group) and cost.size > 1 and _has_samples(atoms_of(cost.cost))


def _has_samples(atoms: Atoms) -> bool:
    return any(
        isinstance(atom, Thinned) or (isinstance(atom, Choice) and any(_has_samples(part) for part in atom.parts))
        for atom, _ in atoms
    )


def _is_single(atoms: Atoms) -> bool:
    return len(atoms) == 1 and atoms[0][1] == 1


def least(bounds: Iterable[Bound]) -> Bound | None:
    return min(bounds, key=value_of, default=None)


def value_of(bound: Bound) -> Fraction:
    return bound.value
