"""Public facts about a private table, the only facts that planning reads.

Nothing here opens the table.  A refusal names the key as the TOML spells it, `columns.age.bounds`, and ends with a line
to paste there.
"""

from discreet.schema.budget import Budget
from discreet.schema.column import Column, Empty, Lattice, Null
from discreet.schema.hierarchy import Hierarchy
from discreet.schema.kind import Type
from discreet.schema.unit import Schema, Unit

__all__ = ["Budget", "Column", "Empty", "Hierarchy", "Lattice", "Null", "Schema", "Type", "Unit"]
