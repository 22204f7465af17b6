"""When two tables are neighbours.

One ledger has one relation.  Moving one unit's value is one removal and one addition, so a promise under add-remove
holds for replace-one only as a promise for a group of two.
"""

from enum import StrEnum
from typing import Any

from discreet.errors import bad


class Relation(StrEnum):
    """Neighbouring tables differ by one whole privacy unit."""

    ADD_REMOVE = "add-remove"  # the unit is there or not; the number of units is private
    REPLACE_ONE = "replace-one"  # the unit's value is another one; the number of units is public


def relation(value: Any) -> Relation:
    """The relation of that name."""
    try:
        return Relation(value)
    except ValueError:
        rule = "must be 'add-remove' or 'replace-one'"
        raise bad("relation", rule, value, "Use 'add-remove' unless the number of units is public.") from None
