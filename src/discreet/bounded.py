"""How far one privacy unit can move a result, and computations that know it.

For neighbouring tables D, D' and a vector of lattice integers f, with d = f(D) − f(D'):

    l0 = ‖d‖₀ ≤ cells touched,   l1 = ‖d‖₁,   l2² = ‖d‖₂²,   linf = ‖d‖_∞

All four are upper bounds in lattice steps, exact integers or Fractions; they come from public caps and bounds only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from discreet.amounts import count, decimal
from discreet.errors import bad
from discreet.relation import Relation, relation

Exact = TypeVar("Exact")
Further = TypeVar("Further")


@dataclass(frozen=True)
class Sensitivity:
    """Upper bounds on every norm of the change, for one relation.

    >>> one_count = Sensitivity(1, 1, 1, 1)
    >>> Sensitivity(3, 3, 9, 3).covers(one_count), one_count.covers(Sensitivity(3, 3, 9, 3))
    (True, False)
    """

    l0: Fraction
    l1: Fraction
    l2_squared: Fraction
    linf: Fraction
    relation: Relation = Relation.ADD_REMOVE

    def __post_init__(self) -> None:
        for name in ("l0", "l1", "l2_squared", "linf"):
            value = getattr(self, name)
            parsed = decimal(value, f"sensitivity {name}")
            if parsed < 0:
                raise bad(f"sensitivity {name}", "must not be negative", value, "Give 0 or more lattice steps.")
            object.__setattr__(self, name, parsed)
        object.__setattr__(self, "relation", relation(self.relation))

    def covers(self, other: "AnySensitivity") -> bool:
        """Whether noise made for this is enough for `other`: same relation, and every norm at least as large."""
        return (
            isinstance(other, Sensitivity)
            and self.relation == other.relation
            and self.l0 >= other.l0
            and self.l1 >= other.l1
            and self.l2_squared >= other.l2_squared
            and self.linf >= other.linf
        )


@dataclass(frozen=True)
class SideBySide:
    """Results side by side, each with its own bounds: wide noise on one does not make up for narrow noise on another.

    >>> narrow, wide = Sensitivity(1, 1, 1, 1), Sensitivity(5, 5, 25, 5)
    >>> SideBySide({"a": narrow, "b": wide}).covers(SideBySide({"a": wide, "b": narrow}))
    False
    """

    parts: Mapping[Any, Sensitivity]

    def covers(self, other: "AnySensitivity") -> bool:
        """Whether both name the same results, and each of these covers its like."""
        return (
            isinstance(other, SideBySide)
            and self.parts.keys() == other.parts.keys()
            and all(part.covers(other.parts[name]) for name, part in self.parts.items())
        )


def scalar(step: Any, under: Any = Relation.ADD_REMOVE) -> Sensitivity:
    """One number that a unit moves by at most `step`."""
    change = decimal(step, "sensitivity")
    return Sensitivity(Fraction(1), change, change * change, change, under)


def cells(touched: int, each: Any, under: Any = Relation.ADD_REMOVE) -> Sensitivity:
    """A vector in which a unit moves at most `touched` cells by at most `each`: l1 = t·e, l2² = t·e².

    >>> cells(4, 1).l1, cells(4, 1).l2_squared
    (Fraction(4, 1), Fraction(4, 1))
    """
    change, touched = decimal(each, "sensitivity"), count(touched, "touched", 0)
    return Sensitivity(Fraction(touched), touched * change, touched * change * change, change, under)


def rows(cap: int, under: Any = Relation.ADD_REMOVE) -> Sensitivity:
    """Counts per cell when a unit has at most `cap` rows: all of them may lie in one cell, so l2 = cap, not √cap."""
    limit = Fraction(count(cap, "cap", 1))
    return Sensitivity(limit, limit, limit * limit, limit, under)


@dataclass(frozen=True)
class RowLimit:
    """Rows of whole units, of which each owns at most `rows`: the bound of a computation on rows, never a norm.

    >>> RowLimit(5).covers(RowLimit(4)), RowLimit(5).covers(Sensitivity(1, 1, 1, 1))
    (True, False)
    """

    rows: int
    relation: Relation = Relation.ADD_REMOVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", count(self.rows, "rows", 1))
        object.__setattr__(self, "relation", relation(self.relation))

    def covers(self, other: "AnySensitivity") -> bool:
        """Whether a mechanism made for this many rows a unit may be given those."""
        return isinstance(other, RowLimit) and self.relation == other.relation and self.rows >= other.rows


AnySensitivity = Sensitivity | SideBySide | RowLimit


@dataclass(frozen=True)
class Bounded(Generic[Exact]):
    """A computation with a leash: lazy, so making one touches nothing; only a view makes one, or `then`.

    `sensitivity` comes from whoever derived how far one unit moves the result, never from the mechanism that will be
    given it: the gate compares the two.  `proof` names the page of a bound that a room has derived itself.
    """

    compute: Callable[[], Exact]
    sensitivity: AnySensitivity
    proof: str = ""

    def then(self, f: Callable[[Exact], Further], sensitivity: AnySensitivity, *, proof: str) -> "Bounded[Further]":
        """f of the result, by a room's own bound on how far one unit moves it, proven on the page `proof`."""
        return Bounded(lambda: f(self.compute()), sensitivity, proof)


def side_by_side(parts: Mapping[str, Bounded[Exact]]) -> Bounded[dict[str, Exact]]:
    """Several computations as one, each with its own bounds; they are computed one after the other.

    >>> both = side_by_side({"a": Bounded(lambda: 1, scalar(1)), "b": Bounded(lambda: 2, scalar(5))})
    >>> both.compute(), both.sensitivity.parts["b"].l1
    ({'a': 1, 'b': 2}, Fraction(5, 1))
    """
    norms = {name: part.sensitivity for name, part in parts.items()}
    if not all(isinstance(own, Sensitivity) for own in norms.values()):
        raise bad("parts", "must each have one sensitivity", sorted(norms), "Take them apart first.")
    proofs = "; ".join(sorted({part.proof for part in parts.values() if part.proof}))
    plain = {name: own for name, own in norms.items() if isinstance(own, Sensitivity)}
    return Bounded(lambda: {name: part.compute() for name, part in parts.items()}, SideBySide(plain), proofs)
