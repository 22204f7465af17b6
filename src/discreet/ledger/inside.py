"""What was taken from a purse, in the purse's own currency, so that nothing is priced twice.

Σε and Σδ from a pure or approximate purse (Rogers et al. 2016), Σρ from a zCDP purse (Feldman & Zrnic 2021), Σ1/σ² from
a Gaussian purse spent on Gaussians only (Smith & Thakurta 2022), and from any other cost Σδ and the slots taken by the
rest.  All four add up charge by charge; the room that is left follows from the reserved cost and the sum alone.  A zCDP
slot among others also holds, as ρ, what finds no slot of its own kind (docs/proofs/ledger.md).
"""

import math
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeGuard

from discreet.errors import NotPriced
from discreet.ledger.weigh import promise
from discreet.ledger.written import fraction
from discreet.privacy import convert, price, renyi
from discreet.privacy.cost import Approx, Cost, Gaussian, Pure, Response, Together, Zcdp
from discreet.privacy.flat import Atom, Atoms, Choice, Concentrated, Normal, Odds, Thinned, atoms_of, dominates
from discreet.relation import Relation

_LONGEST = 2**4096  # sums are exact up to this denominator, then rounded up to it: digits must not grow without end


@dataclass(frozen=True)
class Inside:
    """What was taken from one purse: amounts by name, or slots."""

    sums: tuple[tuple[str, Fraction], ...] = ()
    slots: Atoms = ()

    def __add__(self, other: "Inside") -> "Inside":
        mine, more = dict(self.sums), dict(other.sums)
        names = sorted(mine.keys() | more.keys())
        sums = tuple((name, _short(mine.get(name, Fraction(0)) + more.get(name, Fraction(0)))) for name in names)
        return Inside(sums, _joined(self.slots, other.slots))

    def covers(self, other: "Inside") -> bool:
        """Whether this is at least as much, name by name and slot by slot."""
        mine = dict(self.sums)
        return all(mine.get(name, 0) >= value for name, value in other.sums) and _slots_hold(self.slots, other.slots)


def taken(reserved: Cost, cost: Cost, under: Relation) -> Inside | None:
    """What a charge of `cost` takes from a purse of `reserved`; None if such a purse has no room for it at all.

    >>> taken(Zcdp(1), Gaussian(2), Relation.ADD_REMOVE).sums
    (('rho', Fraction(1, 8)),)
    """
    plain = _plain(cost, under)
    match reserved:
        case Pure() | Response() | Approx():
            odds = renyi.total_odds(atoms_of(plain))
            return None if odds is None else Inside((("delta", odds.delta), ("epsilon", odds.epsilon)))
        case Zcdp():
            try:
                return Inside((("rho", price.zcdp(plain).value),))
            except NotPriced:
                return None
        case Gaussian():
            match atoms_of(plain):
                case ():
                    return Inside((("mu_squared", Fraction(0)),))
                case ((Normal() as normal, 1),):
                    return Inside((("mu_squared", normal.mu_squared),))
                case _:
                    return None
        case _:
            found = promise(cost, under)
            return Inside((("delta", found.apart),), _terms_taken(found.cost, _whole(reserved, under)[1]))


def holds(reserved: Cost, inside: Inside, under: Relation) -> bool:
    """Whether all that was taken is inside what was reserved."""
    sums = dict(inside.sums)
    match reserved:
        case Pure() | Response():
            return sums.get("epsilon", 0) <= reserved.epsilon and sums.get("delta", 0) == 0
        case Approx():
            return sums.get("epsilon", 0) <= reserved.epsilon and min(sums.get("delta", 0), 1) <= reserved.delta
        case Zcdp():
            return sums.get("rho", 0) <= reserved.rho
        case Gaussian():
            return sums.get("mu_squared", 0) <= reserved.sigma**-2
        case _:
            apart, slots = _whole(reserved, under)
            fit = _zcdp_slot_holds(slots, inside.slots) or _slots_hold(slots, inside.slots)
            return sums.get("delta", 0) <= apart and fit


def fits(reserved: Cost, charged: Sequence[Cost], under: Relation) -> bool:
    """Whether charges of those costs all fit into a purse.

    >>> fits(Pure(1), [Pure("0.5"), Pure("0.5")], Relation.ADD_REMOVE)
    True
    >>> fits(Together((Zcdp(1), Approx(0, "1e-9"))), [Gaussian(1), Approx("0.5", "1e-10")], Relation.ADD_REMOVE)
    True
    >>> fits(Zcdp(1), [Gaussian(1), Gaussian(1), Pure("0.1")], Relation.ADD_REMOVE)
    False
    """
    inside = Inside()
    for cost in charged:
        more = taken(reserved, cost, under)
        if more is None:
            return False
        inside += more
    return holds(reserved, inside, under)


def _plain(cost: Cost, under: Relation) -> Cost:
    """The cost under the ledger's relation, each δ as a failure of its own."""
    found = promise(cost, under)
    return Together((found.cost, Approx(Fraction(0), found.apart))) if found.apart else found.cost


@lru_cache(maxsize=64)
def _whole(reserved: Cost, under: Relation) -> tuple[Fraction, Atoms]:
    found = promise(reserved, under)
    return found.apart, atoms_of(found.cost)


def _short(total: Fraction) -> Fraction:
    return total if total.denominator <= _LONGEST else Fraction(math.ceil(total * _LONGEST), _LONGEST)


def _joined(some: Atoms, more: Atoms) -> Atoms:
    """Both compositions as one, in no order: Gaussians add up, and so does zCDP; anything else is counted."""
    mu_squared, rho, counts = _by_kind((*some, *more))
    if mu_squared:
        counts[Normal(_short(mu_squared))] = 1
    if rho:
        counts[Concentrated(_short(rho))] = 1
    return tuple(counts.items())


def _by_kind(found: Atoms) -> tuple[Fraction, Fraction, Counter[Atom]]:
    """Σμ² of the Gaussians, Σρ of zCDP, and how often everything else."""
    counts: Counter[Atom] = Counter()
    mu_squared = rho = Fraction(0)
    for atom, times in found:
        match atom:
            case Normal():
                mu_squared += times * atom.mu_squared
            case Concentrated():
                rho += times * atom.rho
            case _:
                counts[atom] += times
    return mu_squared, rho, counts


def _slots_hold(slots: Atoms, inside: Atoms) -> bool:
    """Whether each term has a slot: equal ones cancel first, which loses no assignment and leaves few to compare.

    What is compared is put in one order, so that every reader comes to the same answer.
    """
    left, rest = dict(slots), []
    for atom, times in inside:
        same = min(times, left.get(atom, 0))
        if same:
            left[atom] -= same
        if times > same:
            rest.append((atom, times - same))
    free = tuple((atom, times) for atom, times in left.items() if times)
    return not rest or dominates(free, _sorted(rest)) or dominates(slots, _sorted(inside))


def _sorted(found: Iterable[tuple[Atom, int]]) -> Atoms:
    return tuple(sorted(found, key=repr))


# --- what a zCDP slot holds of other kinds ---------------------------------------------------------------------------


def _terms_taken(cost: Cost, slots: Atoms) -> Atoms:
    """The terms of a charge; beside a zCDP slot, those of a kind without any slot as ρ, so that sums stay short."""
    found, kinds = atoms_of(cost), {type(slot) for slot, _ in slots}
    if Concentrated not in kinds:
        return found
    own = dict(slots)
    if any(isinstance(atom, Thinned | Choice) and atom not in own for atom, _ in found):
        return ((Concentrated(price.zcdp(cost).value), 1),)
    return _joined((), tuple((atom if type(atom) in kinds else Concentrated(_rho(atom)), n) for atom, n in found))


def _rho(atom: Atom) -> Fraction:
    """ρ of one pure or Gaussian term, as `price.zcdp` has it: ε²/2, of bounded range ε²/8, μ²/2."""
    match atom:
        case Odds(delta=0):
            rule = convert.zcdp_of_exponential if atom.range_bounded else convert.zcdp_of_pure
            return rule(atom.epsilon)
        case Normal():
            return atom.mu_squared / 2
        case _:
            raise TypeError("neither pure nor Gaussian")


def _zcdp_slot_holds(slots: Atoms, inside: Atoms) -> bool:
    """Whether there is a zCDP slot, and room in it for all that finds no slot of its own kind.

    Gaussians take their own slot first.  Several pure terms may share a pure slot, largest first, each in the slot with
    the least room for it; those of bounded range try slots of their own first.  Samples and choices need equal slots.
    """
    own_mu_squared, own_rho, own = _by_kind(slots)
    if own_rho == 0:
        return False
    mu_squared, rho, counts = _by_kind(inside)
    rho += _rho(Normal(max(mu_squared - own_mu_squared, Fraction(0))))
    pure = _Rooms((odds.epsilon, times) for odds, times in _odds(own) if not odds.range_bounded)
    bounded = _Rooms((odds.epsilon, times) for odds, times in _odds(own) if odds.range_bounded)
    for odds, times in sorted(_odds(counts), key=lambda one: (one[0].range_bounded, -one[0].epsilon)):
        left = bounded.take(odds.epsilon, times) if odds.range_bounded else times
        rho += pure.take(odds.epsilon, left) * _rho(odds)
    return rho <= own_rho and all(times <= own[atom] for atom, times in counts.items() if not _is_pure(atom))


def _odds(counts: Counter[Atom]) -> list[tuple[Odds, int]]:
    return [(atom, times) for atom, times in counts.items() if _is_pure(atom)]


def _is_pure(atom: Atom) -> TypeGuard[Odds]:
    return isinstance(atom, Odds) and atom.delta == 0


class _Rooms:
    """What is left of pure slots: each ε with the number of slots that have it left, least first."""

    def __init__(self, slots: Iterable[tuple[Fraction, int]]) -> None:
        self._rooms = sorted(slots)

    def take(self, epsilon: Fraction, times: int) -> int:
        """Take ε so many times, each time from one slot, those with the least room first; how often none had room."""
        while epsilon and times and (place := bisect_left(self._rooms, (epsilon, 0))) < len(self._rooms):
            room, slots = self._rooms.pop(place)
            each = min(room // epsilon, times)
            filled = min(slots, times // each)
            times -= each * filled
            if filled < slots:
                self._rooms.insert(place, (room, slots - filled))
            insort(self._rooms, (room - each * epsilon, filled))
        return times


# --- JSON both ways --------------------------------------------------------------------------------------------------


def to_json(inside: Inside) -> dict[str, Any]:
    """A JSON object with exact numbers as text."""
    sums = {name: str(value) for name, value in inside.sums}
    return {**sums, "slots": _terms_json(_sorted(inside.slots))} if inside.slots else sums


def from_json(data: dict[str, Any]) -> Inside:
    """What `to_json` described.

    >>> some = taken(Together((Pure(1), Gaussian(2))), Together((Pure("0.5"), Gaussian(4))), Relation.ADD_REMOVE)
    >>> from_json(to_json(some)) == some
    True
    """
    sums = tuple(sorted((name, _amount(value)) for name, value in data.items() if name != "slots"))
    return Inside(sums, _terms(data.get("slots", [])))


def _terms_json(found: Atoms) -> list[Any]:
    return [[times, *_atom_json(atom)] for atom, times in found]


def _atom_json(atom: Atom) -> list[Any]:
    match atom:
        case Odds():
            return ["odds", str(atom.epsilon), str(atom.delta), atom.range_bounded]
        case Normal():
            return ["gaussian", str(atom.mu_squared)]
        case Concentrated():
            return ["zcdp", str(atom.rho)]
        case Thinned():
            return ["sampled", str(atom.rate), _terms_json(atom.atoms)]
        case Choice():
            return ["choice", *map(_terms_json, atom.parts)]
        case _:
            raise TypeError("not an atom")


def _terms(data: list[Any]) -> Atoms:
    return tuple((_atom(*atom), _times(times)) for times, *atom in data)


def _amount(stored: str) -> Fraction:
    value = fraction(stored)
    if value < 0:
        raise ValueError("a negative amount")
    return value


def _times(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("not a number of times")
    return value


def _atom(kind: str, *parts: Any) -> Atom:
    match kind, parts:
        case "odds", (epsilon, delta, bounded):
            return Odds(_amount(epsilon), _amount(delta), int(bounded))
        case "gaussian", (mu_squared,):
            return Normal(_amount(mu_squared))
        case "zcdp", (rho,):
            return Concentrated(_amount(rho))
        case "sampled", (rate, inner):
            return Thinned(_amount(rate), _terms(inner))
        case "choice", _:
            return Choice(tuple(_terms(part) for part in parts))
        case _:
            raise ValueError("not an atom")
