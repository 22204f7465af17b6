"""Compute the amount that a charge takes from a purse, and whether all amounts taken fit into it.

A purse is a cost that is reserved in advance, from which later charges are paid.  The kind of the reserved cost decides
what is added up, charge by charge (docs/proofs/ledger.md):

    pure, response, approximate   Σε and Σδ; a Gaussian or zCDP charge is not taken (Rogers et al. 2016)
    zCDP                          Σρ; a charge with a δ is not taken (Feldman & Zrnic 2021)
    Gaussian                      Σ1/σ²; only Gaussian charges, and free ones, are taken (Smith & Thakurta 2022)
    any other                     Σδ, and the other promises of all charges, which must fit into slots

The δ of the reserved cost is set aside; each of its other promises is a slot, which holds one promise of its own kind.
If one of the slots is zCDP, pure promises may share a slot, and pure and Gaussian promises without room in slots of
their own kind are converted to ρ and taken from the zCDP slot.  A charge with a sample or a choice that equals no slot
is converted to ρ as a whole.
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
    """The amount taken from one purse: sums by name, and the atoms (simple promises) that must fit into its slots."""

    sums: tuple[tuple[str, Fraction], ...] = ()
    slots: Atoms = ()

    def __add__(self, other: "Inside") -> "Inside":
        a, b = dict(self.sums), dict(other.sums)
        names = sorted(a.keys() | b.keys())
        sums = tuple((name, _rounded_up(a.get(name, Fraction(0)) + b.get(name, Fraction(0)))) for name in names)
        return Inside(sums, _joined(self.slots, other.slots))

    def covers(self, other: "Inside") -> bool:
        """Whether this is at least as much: its sums are as large, and its atoms hold the atoms of `other`."""
        sums = dict(self.sums)
        return all(sums.get(name, 0) >= value for name, value in other.sums) and _slots_hold(self.slots, other.slots)


def amount_taken(reserved: Cost, cost: Cost, relation: Relation) -> Inside | None:
    """The amount that a charge of `cost` takes from a purse of `reserved`.

    None if it cannot be stated in what such a purse adds up.  `holds` says whether the purse has room for it.

    >>> amount_taken(Zcdp(1), Gaussian(2), Relation.ADD_REMOVE).sums
    (('rho', Fraction(1, 8)),)
    """
    cost_in_relation = _with_delta_apart(cost, relation)
    match reserved:
        case Pure() | Response() | Approx():
            odds = renyi.total_odds(atoms_of(cost_in_relation))
            return None if odds is None else Inside((("delta", odds.delta), ("epsilon", odds.epsilon)))
        case Zcdp():
            try:
                return Inside((("rho", price.zcdp(cost_in_relation).value),))
            except NotPriced:
                return None
        case Gaussian():
            match atoms_of(cost_in_relation):
                case ():
                    return Inside((("mu_squared", Fraction(0)),))
                case ((Normal() as normal, 1),):
                    return Inside((("mu_squared", normal.mu_squared),))
                case _:
                    return None
        case _:
            promised, slots = promise(cost, relation), _reserved_slots(reserved, relation)[1]
            return Inside((("delta", promised.delta_apart),), _atoms_taken(promised.cost, slots))


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
            slots_fit = _zcdp_slot_holds(slots, inside.slots) or _slots_hold(slots, inside.slots)
            return sums.get("delta", 0) <= delta and slots_fit


def fits(reserved: Cost, charged: Sequence[Cost], relation: Relation) -> bool:
    """Whether charges of these costs fit into a purse of `reserved`, all together.

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


def _with_delta_apart(cost: Cost, relation: Relation) -> Cost:
    """The cost under the ledger's relation, with its δ added up to one Approx(0, δ) beside the rest."""
    promised = promise(cost, relation)
    delta = promised.delta_apart
    return Together((promised.cost, Approx(Fraction(0), delta))) if delta else promised.cost


@lru_cache(maxsize=64)
def _reserved_slots(reserved: Cost, relation: Relation) -> tuple[Fraction, Atoms]:
    """The δ of a reserved cost, and its slots: the atoms of the rest."""
    promised = promise(reserved, relation)
    return promised.delta_apart, atoms_of(promised.cost)


def _rounded_up(total: Fraction) -> Fraction:
    """The total, rounded up if its denominator is longer than `_LONGEST`."""
    return total if total.denominator <= _LONGEST else Fraction(math.ceil(total * _LONGEST), _LONGEST)


def _joined(some: Atoms, more: Atoms) -> Atoms:
    """The atoms of both, unsorted: all Gaussians as one atom, all zCDP as one, and equal others counted."""
    mu_squared, rho, counts = totals((*some, *more))
    if mu_squared:
        counts[Normal(_rounded_up(mu_squared))] = 1
    if rho:
        counts[Concentrated(_rounded_up(rho))] = 1
    return tuple(counts.items())


def _slots_hold(slots: Atoms, taken: Atoms) -> bool:
    """Whether each atom has a slot to itself, of the same kind and at least as large.

    Atoms that equal a slot are matched first, because that is quick, and the rest is compared with the slots that are
    left.  If this finds no match, all atoms are compared with all slots.  Atoms are sorted before they are compared, so
    that every process that reads the ledger comes to the same decision.
    """
    unused, unmatched = dict(slots), []
    for atom, times in taken:
        equal = min(times, unused.get(atom, 0))
        if equal:
            unused[atom] -= equal
        if times > equal:
            unmatched.append((atom, times - equal))
    free = tuple((atom, times) for atom, times in unused.items() if times)
    return not unmatched or dominates(free, _sorted_atoms(unmatched)) or dominates(slots, _sorted_atoms(taken))


def _sorted_atoms(atoms: Iterable[tuple[Atom, int]]) -> Atoms:
    return tuple(sorted(atoms, key=repr))


# --- promises of other kinds in a zCDP slot ---------------------------------------------------------------------------


def _atoms_taken(cost: Cost, slots: Atoms) -> Atoms:
    """The atoms that a charge without δ takes; if there is a zCDP slot, some of them are converted to ρ.

    Then an atom whose kind has no slot becomes ρ, so that sums stay short.  The whole charge becomes ρ if it contains a
    sample or a choice that no slot equals.
    """
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


def _zcdp_slot_holds(slots: Atoms, taken: Atoms) -> bool:
    """Whether there is a zCDP slot, with room for all promises that find no room in slots of their own kind.

    Gaussians fill the Gaussian slot first.  Several pure atoms may share a pure slot: the largest is placed first, each
    in the fullest slot that still has room for it.  Atoms of bounded range are placed after the others, in slots of
    bounded range first.  Samples and choices need equal slots.
    """
    reserved_mu_squared, reserved_rho, reserved = totals(slots)
    if reserved_rho == 0:
        return False
    mu_squared, rho, counts = totals(taken)
    rho += _rho(Normal(max(mu_squared - reserved_mu_squared, Fraction(0))))
    pure = _Rooms((odds.epsilon, times) for odds, times in _pure_atoms(reserved) if not odds.range_bounded)
    bounded = _Rooms((odds.epsilon, times) for odds, times in _pure_atoms(reserved) if odds.range_bounded)
    for odds, times in sorted(_pure_atoms(counts), key=lambda item: (item[0].range_bounded, -item[0].epsilon)):
        unplaced = bounded.take(odds.epsilon, times) if odds.range_bounded else times
        rho += pure.take(odds.epsilon, unplaced) * _rho(odds)
    others_fit = all(times <= reserved[atom] for atom, times in counts.items() if not _is_pure(atom))
    return rho <= reserved_rho and others_fit


def _pure_atoms(counts: Counter[Atom]) -> list[tuple[Odds, int]]:
    """The pure atoms among these, each with its number of repetitions."""
    return [(atom, times) for atom, times in counts.items() if _is_pure(atom)]


def _is_pure(atom: Atom) -> TypeGuard[Odds]:
    return isinstance(atom, Odds) and atom.delta == 0


class _Rooms:
    """The room in pure slots: each ε that is left in a slot, with the number of such slots, the least ε first."""

    def __init__(self, slots: Iterable[tuple[Fraction, int]]) -> None:
        self._rooms = sorted(slots)

    def take(self, epsilon: Fraction, times: int) -> int:
        """Take ε `times` times, each from the fullest slot that has room for it; return how often no slot had room."""
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
    """The amount as a JSON object, with exact numbers as text and sorted atoms."""
    sums = {name: str(value) for name, value in inside.sums}
    return {**sums, "slots": _atoms_json(_sorted_atoms(inside.slots))} if inside.slots else sums


def from_json(data: dict[str, Any]) -> Inside:
    """The amount that `to_json` wrote, its atoms in the order written; ValueError or TypeError for bad data.

    >>> reserved, cost = Together((Pure(1), Gaussian(2))), Together((Pure("0.5"), Gaussian(4)))
    >>> amount = amount_taken(reserved, cost, Relation.ADD_REMOVE)
    >>> from_json(to_json(amount)) == amount
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
