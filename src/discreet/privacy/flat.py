"""A cost as a flat list of atoms, the simple promises that it is composed of, in one fixed order.

Every step replaces a cost by one that it implies, or by an equal one; docs/proofs/privacy/cost.md says why each is
sound.  Numbers here are Fractions without limits, because a group's ε may exceed what anyone may type.
"""

import math
from collections import Counter
from collections.abc import Iterable
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

    def __hash__(self) -> int:  # the hash of a Fraction takes a modular inverse, which is slow
        return hash((*self.epsilon.as_integer_ratio(), *self.delta.as_integer_ratio(), self.range_bounded))


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
    atoms: "Atoms"


@dataclass(frozen=True)
class Choice:
    """One of several compositions, and which may depend on all that was seen before."""

    parts: "tuple[Atoms, ...]"


Atom = Odds | Normal | Concentrated | Thinned | Choice
Atoms = tuple[tuple[Atom, int], ...]  # each atom and its number of repetitions


@lru_cache(maxsize=4096)
def atoms_of(cost: Cost) -> Atoms:
    """The atoms of `cost`; compositions that differ in their order alone have equal atoms."""
    return _canonical(_flat(cost, 1, 1))


def dominant(parts: "tuple[Atoms, ...]") -> "Atoms | None":
    """The part that dominates all others, None if there is none: its price is the price of any of them."""
    worst = parts[0]
    for part in parts:  # a part that dominates all becomes the worst when the loop meets it, and stays so
        worst = part if dominates(part, worst) else worst
    return worst if all(dominates(worst, other) for other in parts) else None


def worst_parts(costs: "tuple[Cost, ...]") -> "tuple[Cost, ...]":
    """The one cost that dominates all others if there is one, else all different costs."""
    distinct = {atoms_of(cost): cost for cost in costs}
    worst = dominant(tuple(distinct))
    return tuple(distinct.values()) if worst is None else (distinct[worst],)


def dominates(worse: Atoms, better: Atoms) -> bool:
    """Whether each promise in `better` has a promise to itself in `worse`, of the same kind and at least as weak."""
    unused = dict(worse)
    for atom, times in better:
        unmatched = times
        for weaker in [candidate for candidate in unused if _is_weaker(candidate, atom)]:
            matched = min(unmatched, unused[weaker])
            unused[weaker] -= matched
            unmatched -= matched
        if unmatched:
            return False
    return True


@lru_cache(maxsize=4096)
def promises_groups(cost: Cost) -> bool:
    """Whether the cost has a group of two or more units inside: a sample contains a group more often than one unit."""
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
    """The cost without outer layers that change nothing, and without a sample that does not amplify."""
    match cost:
        case Group(size=1) | Repeated(times=1) | Sampled(rate=1):
            return bare(cost.cost)
        case Together(costs=(only,)) | Apart(costs=(only,)):
            return bare(only)
        case Sampled() if cost.rate > 0 and promises_groups(cost.cost):
            return bare(cost.cost)
        case _:
            return cost


def _is_weaker(weak: Atom, strong: Atom) -> bool:
    match weak, strong:
        case Odds(), Odds():
            comparable = weak.range_bounded <= strong.range_bounded
            return comparable and weak.epsilon >= strong.epsilon and weak.delta >= strong.delta
        case Normal(), Normal():
            return weak.mu_squared >= strong.mu_squared
        case Concentrated(), Concentrated():
            return weak.rho >= strong.rho
        case _:
            return weak == strong


def _flat(cost: Cost, size: int, times: int) -> "list[tuple[Atom, int]]":
    match cost:
        case Together():
            return [atom for c in cost.costs for atom in _flat(c, size, times)]
        case Repeated():
            return _flat(cost.cost, size, times * cost.times)
        case Group():
            return _flat(cost.cost, size * cost.size, times)
        case Sampled():
            return _sampled_atoms(cost, size, times)
        case Apart():
            return _choice_atoms(cost, size, times)
        case _:
            return [(_leaf_atom(cost, size), times)]


def _leaf_atom(cost: Cost, size: int) -> Atom:
    match cost:
        case Pure() | Response():
            return Odds(convert.group_pure(cost.epsilon, size))
        case Exponential():
            return Odds(convert.group_pure(cost.epsilon, size), range_bounded=1)
        case Approx():
            return Odds(*convert.group_approx(cost.epsilon, cost.delta, size))
        case Zcdp():
            return Concentrated(convert.group_zcdp(cost.rho, size))
        case Gaussian():
            return Normal((1 / convert.group_gaussian(cost.sigma, size)) ** 2)
        case _:
            raise TypeError("not a leaf")


def _sampled_atoms(cost: Sampled, size: int, times: int) -> "list[tuple[Atom, int]]":
    if cost.rate == 0:
        return []
    # A group is in the sample more often than one unit is, so its promise is priced as if all were in.
    if cost.rate == 1 or size > 1 or promises_groups(cost.cost):
        return _flat(cost.cost, size, times)
    inner = atoms_of(cost.cost)
    match inner:
        case ((Thinned() as inner_sample, 1),):
            return [(Thinned(_short_rate(cost.rate * inner_sample.rate), inner_sample.atoms), times)]
        case ():
            return []
        case _:
            return [(Thinned(cost.rate, inner), times)]


def _short_rate(rate: Fraction) -> Fraction:
    """The rate, rounded up where nested samples would make its digits grow without end: dearer, never cheaper."""
    if rate.denominator.bit_length() <= _LONGEST_RATE:
        return rate
    return Fraction(math.ceil(rate * 2**_LONGEST_RATE), 2**_LONGEST_RATE)


def _choice_atoms(cost: Apart, size: int, times: int) -> "list[tuple[Atom, int]]":
    parts = tuple(dict.fromkeys(atoms_of(c) if size == 1 else _canonical(_flat(c, size, 1)) for c in cost.costs))
    parts = tuple(part for part in parts if part)
    worst = dominant(parts) if parts else ()
    if worst is not None:
        return [(atom, count * times) for atom, count in worst]
    if size > 1:  # the units of a group may lie in different parts
        return [(atom, count * times) for part in parts for atom, count in part]
    return [(Choice(tuple(sorted(parts, key=repr))), times)]


def _canonical(atoms: "list[tuple[Atom, int]]") -> Atoms:
    """The atoms merged and sorted, without those that promise everything."""
    mu_squared, rho, counts = totals(atoms)
    if mu_squared:
        counts[Normal(mu_squared)] = 1
    if rho:
        counts[Concentrated(rho)] = 1
    costly = [(atom, times) for atom, times in counts.items() if atom != Odds(Fraction(0))]
    return tuple(sorted(costly, key=repr))


def totals(atoms: Iterable[tuple[Atom, int]]) -> tuple[Fraction, Fraction, Counter[Atom]]:
    """Σμ² of the Gaussians, Σρ of zCDP, and the number of repetitions of every other atom."""
    counts: Counter[Atom] = Counter()
    mu_squared = rho = Fraction(0)
    for atom, times in atoms:
        match atom:
            case Normal():
                mu_squared += times * atom.mu_squared
            case Concentrated():
                rho += times * atom.rho
            case _:
                counts[atom] += times
    return mu_squared, rho, counts
