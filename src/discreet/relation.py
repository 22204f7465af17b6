"""When two tables are neighbours.

One ledger has one relation.  Moving one unit's value is one removal and one addition, so a promise under add-remove
holds for replace-one only as a promise for a group of two.  A cut through the units' own ids leaves every unit on one
side, so under add-remove neighbours differ on one side only.
"""

from enum import StrEnum
from fractions import Fraction
from typing import Any

from discreet.errors import bad

_UNIT_CUT = "discreet_unit at "  # begins the name of a split by the units' own ids; no column's name begins so


class Relation(StrEnum):
    """Neighbouring tables differ by one whole privacy unit."""

    ADD_REMOVE = "add-remove"  # the unit is there or not; the number of units is private
    REPLACE_ONE = "replace-one"  # the unit's value is another one; the number of units is public

    @property
    def changes(self) -> int:
        """How often a unit's amount is taken away or added: under replace-one its own is, and another's."""
        return 1 if self is Relation.ADD_REMOVE else 2


def relation(value: Any) -> Relation:
    """The relation of that name."""
    try:
        return Relation(value)
    except ValueError:
        rule = "must be 'add-remove' or 'replace-one'"
        raise bad("relation", rule, value, "Use 'add-remove' unless the number of units is public.") from None


def unit_cut(share: Fraction) -> str:
    """The name of the split of all units into those with ids below that share of all ids and those above.

    Every unit has one id in a snapshot, so it is in one of the two parts.
    """
    return f"{_UNIT_CUT}{share}"


def is_unit_cut(column: str) -> bool:
    """Whether a split is one by the units' own ids."""
    return column.startswith(_UNIT_CUT)
