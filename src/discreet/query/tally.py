"""A tally: integers that an engine is to count, and how far one unit can move each of them.

It is a value.  An engine compiles it by its own total operations, refuses what it cannot count before anything is
charged, and reads rows only when the gate computes it.
"""

from dataclasses import dataclass

from discreet.bounded import SideBySide
from discreet.query.meaning.cells import Cells
from discreet.query.nodes import Caps, Expr
from discreet.query.parts import Part
from discreet.query.sensitivity import Reach, sensitivity
from discreet.schema import Schema


@dataclass(frozen=True)
class Tally:
    """Every part in every cell, over the capped rows that satisfy `where`; `reach` is where one unit can be."""

    schema: Schema
    cells: Cells
    where: Expr | None
    caps: Caps
    reach: Reach
    parts: tuple[Part, ...]

    @property
    def sensitivity(self) -> SideBySide:
        """How far one unit can move each part; what the gate compares a mechanism with."""
        return SideBySide({part: sensitivity(part, self.reach) for part in self.parts})
