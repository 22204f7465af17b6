"""Parts of held rows: the units whose ids lie in a range, which is a run of rows, as rows lie in the order of ids."""

import numpy as np

from discreet.engine.arrays_cells import Held
from discreet.errors import bad
from discreet.query.layout import id_range
from discreet.query.nodes import And, Expr, UnitIn


def is_part(where: Expr | None) -> bool:
    """Whether a condition is one on the units' ids alone, or none at all."""
    parts = where.parts if isinstance(where, And) else (where,)
    return where is None or all(isinstance(part, UnitIn) for part in parts)


def require_part(held: Held, where: Expr | None) -> None:
    """Refuses a condition that arrays do not know, and a part of rows whose ids are their places.

    A place moves with the rows before it, so that one row could change the part of others.
    """
    if not is_part(where):
        raise bad("where", "must be left out with arrays", type(where).__name__, "Use the engine on files.")
    if where is not None and not held.has_hashed_ids:
        raise bad("where", "must be left out where rows have no keyed ids", "a part of the units", "Give units.")


def part_of(held: Held, where: Expr | None) -> Held:
    """The rows of the units in that part."""
    if where is None:
        return held
    first, end = 0, len(held.unit)
    for part in where.parts if isinstance(where, And) else (where,):
        if not isinstance(part, UnitIn):
            raise TypeError
        low, high = id_range(part)
        first = max(first, int(np.searchsorted(held.unit, low))) if part.first > 0 else first
        end = min(end, int(np.searchsorted(held.unit, high))) if part.end < 1 else end
    rows = slice(first, max(first, end))
    cells = {name: column[rows] for name, column in held.cells.items()}
    return Held(held.unit[rows], held.rank[rows], cells, held.has_hashed_ids)
