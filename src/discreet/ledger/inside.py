"""The amount taken from a purse, in the currency of the purse: a charge in it is never converted to another currency.

A purse is a cost that is reserved in advance, from which later charges are paid; a slot is one promise of that cost.
From a pure or approximate purse Σε and Σδ are taken (Rogers et al. 2016), from a zCDP purse Σρ (Feldman & Zrnic 2021),
from a Gaussian purse spent on Gaussians only Σ1/σ² (Smith & Thakurta 2022), and from any other purse Σδ and slots for
the other promises.  Each adds up charge by charge, so the room that is left follows from the reserved cost and the sum.
A zCDP slot among others also takes, as ρ, promises that find no room in a slot of their own kind
(docs/proofs/ledger.md).
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
from discreet.privacy import price, renyi
from discreet.privacy.cost import Approx, Cost, Gaussian, Pure, Response, Together, Zcdp
from discreet.privacy.flat import Atom, Atoms, Choice, Concentrated, Normal, Odds, Thinned, atoms_of, dominates, totals
from discreet.relation import Relation

_LONGEST = 2**4096  # sums are exact up to this denominator, then rounded up to it: digits must not grow without end


@dataclass(frozen=True)
class Inside:
    """The amount taken from one purse: sums by name, and the atoms that occupy its slots."""

    sums: tuple[tuple[str, Fraction], ...] = ()
    slots: Atoms = ()

    def __add__(self, other: "Inside") -> "Inside":
        a, b = dict(self.sums), dict(other.sums)
        names = sorted(a.keys() | b.keys())
        sums = tuple((name, _short(a.get(name, Fraction(0)) + b.get(name, Fraction(0)))) for name in names)
        return Inside(sums, _joined(self.slots, other.slots))

    def covers(self, other: "Inside") -> bool:
        """Whether this is at least as much, name by name and slot by slot."""
        sums = dict(self.sums)
        return all(sums.get(name, 0) >= value for name, value in other.sums) and _slots_hold(self.slots, other.slots)


def amount_taken(reserved: Cost, cost: Cost, relation: Relation) -> Inside | None:
    """The amount that a charge of `cost` takes from a purse of `reserved`; None if it has no amount in that currency.

    Whether the purse has so much is for `holds` to say.

    >>> amount_taken(Zcdp(1), Gaussian(2), Relation.ADD_REMOVE).sums
    (('rho', Fraction(1, 8)),)
    """
    plain = _plain(cost, relation)
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
            behind, slots = promise(cost, relation), _reserved_slots(reserved, relation)[1]
            return Inside((("delta", behind.delta_apart),), _slots_taken(behind.cost, slots))


def holds(reserved: Cost, inside: Inside, relation: Relation) -> bool:
    """Whether the amount taken fits into the reserved cost."""
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
            delta, slots = _reserved_slots(reserved, relation)
            fits = _zcdp_slot_holds(slots, inside.slots) or _slots_hold(slots, inside.slots)
            return sums.get("delta", 0) <= delta and fits


def fits(reserved: Cost, charged: Sequence[Cost], relation: Relation) -> bool:
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
        amount = amount_taken(reserved, cost, relation)
        if amount is None:
            return False
        inside += amount
    return holds(reserved, inside, relation)


def _plain(cost: Cost, relation: Relation) -> Cost:
    """The cost under the ledger's relation, each δ as a failure of its own."""
    behind = promise(cost, relation)
    return Together((behind.cost, Approx(Fraction(0), behind.delta_apart))) if behind.delta_apart else behind.cost


@lru_cache(maxsize=64)
def _reserved_slots(reserved: Cost, relation: Relation) -> tuple[Fraction, Atoms]:
    behind = promise(reserved, relation)
    return behind.delta_apart, atoms_of(behind.cost)


def _short(total: Fraction) -> Fraction:
    return total if total.denominator <= _LONGEST else Fraction(math.ceil(total * _LONGEST), _LONGEST)


def _joined(some: Atoms, more: Atoms) -> Atoms:
    """Both compositions as one, in no order: Gaussians add up, and so does zCDP; other atoms are counted."""
    mu_squared, rho, counts = totals((*some, *more))
    if mu_squared:
        counts[Normal(_short(mu_squared))] = 1
    if rho:
        counts[Concentrated(_short(rho))] = 1
    return tuple(counts.items())


def _slots_hold(slots: Atoms, inside: Atoms) -> bool:
    """Whether each atom has a slot: without those that equal a slot, which are quick to compare, or else all of them.

    Atoms are compared in one order, so that every process that reads the ledger comes to the same decision.
    """
    unused, unmatched = dict(slots), []
    for atom, times in inside:
        equal = min(times, unused.get(atom, 0))
        if equal:
            unused[atom] -= equal
        if times > equal:
            unmatched.append((atom, times - equal))
    free = tuple((atom, times) for atom, times in unused.items() if times)
    return not unmatched or dominates(free, _sorted_atoms(unmatched)) or dominates(slots, _sorted_atoms(inside))


def _sorted_atoms(atoms: Iterable[tuple[Atom, int]]) -> Atoms:
    return tuple(sorted(atoms, key=repr))


# --- promises of other kinds in a zCDP slot ---------------------------------------------------------------------------


def _slots_taken(cost: Cost, slots: Atoms) -> Atoms:
    """The atoms of a charge.  Beside a zCDP slot, atoms of a kind without a slot become ρ, so that sums stay short; the
    whole charge does if it has a sample or a choice without an equal slot."""
    atoms, kinds = atoms_of(cost), {type(slot) for slot, _ in slots}
    if Concentrated not in kinds:
        return atoms
    reserved = dict(slots)
    if any(isinstance(atom, Thinned | Choice) and atom not in reserved for atom, _ in atoms):
        return ((Concentrated(price.zcdp(cost).value), 1),)
    return _joined((), tuple((atom if type(atom) in kinds else Concentrated(_rho(atom)), n) for atom, n in atoms))


def _rho(atom: Atom) -> Fraction:
    """ρ of one pure or Gaussian atom."""
    rho = price.zcdp_of_atoms(((atom, 1),))
    if rho is None:
        raise TypeError("neither pure nor Gaussian")
    return rho


def _zcdp_slot_holds(slots: Atoms, inside: Atoms) -> bool:
    """Whether there is a zCDP slot with room for all promises that find none in a slot of their own kind.

    Gaussians take their own slot first.  Several pure atoms may share a pure slot, largest first, each in the slot with
    the least room for it; those of bounded range try slots of their own first.  Samples and choices need equal slots.
    """
    reserved_mu_squared, reserved_rho, reserved = totals(slots)
    if reserved_rho == 0:
        return False
    mu_squared, rho, counts = totals(inside)
    rho += _rho(Normal(max(mu_squared - reserved_mu_squared, Fraction(0))))
    pure = _Rooms((odds.epsilon, times) for odds, times in _odds(reserved) if not odds.range_bounded)
    bounded = _Rooms((odds.epsilon, times) for odds, times in _odds(reserved) if odds.range_bounded)
    for odds, times in sorted(_odds(counts), key=lambda item: (item[0].range_bounded, -item[0].epsilon)):
        unplaced = bounded.take(odds.epsilon, times) if odds.range_bounded else times
        rho += pure.take(odds.epsilon, unplaced) * _rho(odds)
    others_fit = all(times <= reserved[atom] for atom, times in counts.items() if not _is_pure(atom))
    return rho <= reserved_rho and others_fit


def _odds(counts: Counter[Atom]) -> list[tuple[Odds, int]]:
    return [(atom, times) for atom, times in counts.items() if _is_pure(atom)]


def _is_pure(atom: Atom) -> TypeGuard[Odds]:
    return isinstance(atom, Odds) and atom.delta == 0


class _Rooms:
    """The room in pure slots: each ε that is left, with the number of slots that have it, least first."""

    def __init__(self, slots: Iterable[tuple[Fraction, int]]) -> None:
        self._rooms = sorted(slots)

    def take(self, epsilon: Fraction, times: int) -> int:
        """Take ε so many times, each time from the slot with the least room for it; return how often none had room."""
        while epsilon and times and (index := bisect_left(self._rooms, (epsilon, 0))) < len(self._rooms):
            room, slots = self._rooms.pop(index)
            per_slot = min(room // epsilon, times)
            filled = min(slots, times // per_slot)
            times -= per_slot * filled
            if filled < slots:
                self._rooms.insert(index, (room, slots - filled))
            insort(self._rooms, (room - per_slot * epsilon, filled))
        return times


# --- JSON both ways --------------------------------------------------------------------------------------------------


def to_json(inside: Inside) -> dict[str, Any]:
    """A JSON object with exact numbers as text."""
    sums = {name: str(value) for name, value in inside.sums}
    return {**sums, "slots": _atoms_json(_sorted_atoms(inside.slots))} if inside.slots else sums


def from_json(data: dict[str, Any]) -> Inside:
    """The amount that `to_json` described, its slots sorted.

    >>> some = amount_taken(Together((Pure(1), Gaussian(2))), Together((Pure("0.5"), Gaussian(4))), Relation.ADD_REMOVE)
    >>> from_json(to_json(some)) == some
    True
    """
    sums = tuple(sorted((name, _amount(value)) for name, value in data.items() if name != "slots"))
    return Inside(sums, _atoms_from(data.get("slots", [])))


def _atoms_json(atoms: Atoms) -> list[Any]:
    return [[times, *_atom_json(atom)] for atom, times in atoms]


def _atom_json(atom: Atom) -> list[Any]:
    match atom:
        case Odds():
            return ["odds", str(atom.epsilon), str(atom.delta), atom.range_bounded]
        case Normal():
            return ["gaussian", str(atom.mu_squared)]
        case Concentrated():
            return ["zcdp", str(atom.rho)]
        case Thinned():
            return ["sampled", str(atom.rate), _atoms_json(atom.atoms)]
        case Choice():
            return ["choice", *map(_atoms_json, atom.parts)]
        case _:
            raise TypeError("not an atom")


def _atoms_from(data: list[Any]) -> Atoms:
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
            return Thinned(_amount(rate), _atoms_from(inner))
        case "choice", _:
            return Choice(tuple(_atoms_from(part) for part in parts))
        case _:
            raise ValueError("not an atom")
