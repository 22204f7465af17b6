"""A cost as the flat list of promises it is composed of, in one fixed order.

Every step replaces a cost by one that it implies, or by an equal one; docs/proofs/privacy/cost.md says why each is
sound. Numbers here are bare Fractions, because a group's ε may exceed what anyone may type.
"""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.privacy import convert
from discreet.privacy.cost import (
    Apart,
    Approx,
    Cost,
    Exponential,
    Gaussian,
    Group,
    Pure,
    Repeated,
    Response,
    Sampled,
    Together,
    Zcdp,
)

_LONGEST_RATE = 4000  # bits


@dataclass(frozen=True)
class Odds:
    """ε-DP; `range_bounded` also of ε-bounded range; with `delta`, ε-DP outside an event of that probability."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    range_bounded: int = 0


@dataclass(frozen=True)
class Normal:
    """A Gaussian with μ² = 1/σ²; all Gaussians of a composition are one."""

    mu_squared: Fraction


@dataclass(frozen=True)
class Concentrated:
    """ρ-zCDP; all of a composition are one."""

    rho: Fraction


@dataclass(frozen=True)
class Thinned:
    """A composition on one Poisson sample, 0 < rate < 1."""

    rate: Fraction
    terms: "Terms"


@dataclass(frozen=True)
class Choice:
    """One of several compositions, and which may depend on all that was seen before."""

    parts: "tuple[Terms, ...]"


Atom = Odds | Normal | Concentrated | Thinned | Choice
Terms = tuple[tuple[Atom, int], ...]  # each atom and how often


@lru_cache(maxsize=4096)
def terms(cost: Cost) -> Terms:
    """The flat list of `cost`, equal for equal compositions in whatever order."""
    return _merged(_flat(cost, 1, 1))


def dominant(parts: "tuple[Terms, ...]") -> "Terms | None":
    """The part that promises no more than any other, if there is one: it prices them all."""
    worst = parts[0]
    for part in parts:  # one that dominates all takes the lead when it is met and keeps it
        worst = part if dominates(part, worst) else worst
    return worst if all(dominates(worst, other) for other in parts) else None


def worst_parts(costs: "tuple[Cost, ...]") -> "tuple[Cost, ...]":
    """The one cost that prices them all, if there is one, else all that differ."""
    distinct = {terms(cost): cost for cost in costs}
    worst = dominant(tuple(distinct))
    return tuple(distinct.values()) if worst is None else (distinct[worst],)


def dominates(worse: Terms, better: Terms) -> bool:
    """Whether each promise of `better` has its own, of the same kind and at least as weak, in `worse`."""
    left = dict(worse)
    for atom, times in better:
        wanted = times
        for found in [f for f in left if _weaker(f, atom)]:
            taken = min(wanted, left[found])
            left[found] -= taken
            wanted -= taken
        if wanted:
            return False
    return True


@lru_cache(maxsize=4096)
def promises_groups(cost: Cost) -> bool:
    """Whether a group of two or more stands anywhere inside: it is sampled more often than one unit is."""
    match cost:
        case Group():
            return cost.size > 1 or promises_groups(cost.cost)
        case Sampled() | Repeated():
            return promises_groups(cost.cost)
        case Together() | Apart():
            return any(promises_groups(c) for c in cost.costs)
        case _:
            return False


def bare(cost: Cost) -> Cost:
    """The cost without the outer layers that change nothing, and without a sample that cannot be amplified."""
    match cost:
        case Group(size=1) | Repeated(times=1) | Sampled(rate=1):
            return bare(cost.cost)
        case Together(costs=(only,)) | Apart(costs=(only,)):
            return bare(only)
        case Sampled() if cost.rate > 0 and promises_groups(cost.cost):
            return bare(cost.cost)
        case _:
            return cost


def _weaker(found: Atom, atom: Atom) -> bool:
    match found, atom:
        case Odds(), Odds():
            same = found.range_bounded <= atom.range_bounded
            return same and found.epsilon >= atom.epsilon and found.delta >= atom.delta
        case Normal(), Normal():
            return found.mu_squared >= atom.mu_squared
        case Concentrated(), Concentrated():
            return found.rho >= atom.rho
        case _:
            return found == atom


def _flat(cost: Cost, size: int, times: int) -> "list[tuple[Atom, int]]":
    match cost:
        case Together():
            return [term for c in cost.costs for term in _flat(c, size, times)]
        case Repeated():
            return _flat(cost.cost, size, times * cost.times)
        case Group():
            return _flat(cost.cost, size * cost.size, times)
        case Sampled():
            return _thinned(cost, size, times)
        case Apart():
            return _chosen(cost, size, times)
        case _:
            return [_leaf(cost, size, times)]


def _leaf(cost: Cost, size: int, times: int) -> "tuple[Atom, int]":
    match cost:
        case Pure() | Response():
            return Odds(convert.group_pure(cost.epsilon, size)), times
        case Exponential():
            return Odds(convert.group_pure(cost.epsilon, size), range_bounded=1), times
        case Approx():
            return Odds(*convert.group_approx(cost.epsilon, cost.delta, size)), times
        case Zcdp():
            return Concentrated(times * convert.group_zcdp(cost.rho, size)), 1
        case Gaussian():
            return Normal(times * (1 / convert.group_gaussian(cost.sigma, size)) ** 2), 1
        case _:
            raise TypeError("not a leaf")


def _thinned(cost: Sampled, size: int, times: int) -> "list[tuple[Atom, int]]":
    if cost.rate == 0:
        return []
    # A group is in the sample more often than one unit is, so its promise is priced as if all were in.
    if cost.rate == 1 or size > 1 or promises_groups(cost.cost):
        return _flat(cost.cost, size, times)
    inner = terms(cost.cost)
    match inner:
        case ((Thinned() as deeper, 1),):
            return [(Thinned(_short(cost.rate * deeper.rate), deeper.terms), times)]
        case ():
            return []
        case _:
            return [(Thinned(cost.rate, inner), times)]


def _short(rate: Fraction) -> Fraction:
    """The rate, or a little more where nested samples would make its digits grow without end: dearer, never cheaper."""
    if rate.denominator.bit_length() <= _LONGEST_RATE:
        return rate
    return Fraction(math.ceil(rate * 2**_LONGEST_RATE), 2**_LONGEST_RATE)


def _chosen(cost: Apart, size: int, times: int) -> "list[tuple[Atom, int]]":
    parts = tuple(dict.fromkeys(terms(c) if size == 1 else _merged(_flat(c, size, 1)) for c in cost.costs))
    parts = tuple(part for part in parts if part)
    worst = dominant(parts) if parts else ()
    if worst is not None:
        return _repeated(worst, times)
    if size > 1:  # the units of a group may lie in different parts
        return [term for part in parts for term in _repeated(part, times)]
    return [(Choice(tuple(sorted(parts, key=repr))), times)]


def _repeated(part: Terms, times: int) -> "list[tuple[Atom, int]]":
    scaled: list[tuple[Atom, int]] = []
    for atom, often in part:
        match atom:
            case Normal():
                scaled.append((Normal(times * atom.mu_squared), often))
            case Concentrated():
                scaled.append((Concentrated(times * atom.rho), often))
            case _:
                scaled.append((atom, often * times))
    return scaled


def _merged(found: "list[tuple[Atom, int]]") -> Terms:
    counts: Counter[Atom] = Counter()
    mu_squared = rho = Fraction(0)
    for atom, times in found:
        match atom:
            case Normal():
                mu_squared += times * atom.mu_squared
            case Concentrated():
                rho += times * atom.rho
            case Odds(epsilon=0, delta=0):
                pass
            case _:
                counts[atom] += times
    if mu_squared:
        counts[Normal(mu_squared)] = 1
    if rho:
        counts[Concentrated(rho)] = 1
    return tuple(sorted(counts.items(), key=repr))
