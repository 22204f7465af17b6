"""Columns that cannot be synthesised, each with its reason: public facts alone decide it.

A synthetic table holds nothing but public values.  So a column needs values or bounds that somebody declared, not too
many of them, and numbers that doubles tell apart with room to spare.
"""

from discreet import amounts
from discreet.errors import BadValue
from discreet.schema import Column, Type
from discreet.schema.kind import number_of
from discreet.schema.words import key, toml_value

MOST_CELLS = 10_000
FURTHEST_STEP = 2**50  # kernels read doubles, and cut cells halfway between two steps
_FURTHEST_INTEGER = 2**62
_EXAMPLES = {
    Type.INTEGER: "[0, 110]",
    Type.NUMBER: "[0, 5000]",
    Type.DATE: "[2020-01-01, 2029-12-31]",
    Type.DATETIME: "[2020-01-01T00:00:00, 2029-12-31T23:59:59]",
}


def require_cells(column: Column) -> None:
    """Refuses a column without public cells, or with too many."""
    if column.type is Type.BOOLEAN:
        return
    if column.values is not None:
        _require_few(column, len(column.values), "values")
    elif column.type in (Type.CATEGORY, Type.TEXT):
        raise _without_values(column)
    elif column.bounds is None:
        why = "Its cells can only be cut from public bounds, for the least and the largest cell are single persons'."
        fix = f"{_under(column)} bounds = {_EXAMPLES[column.type]}"
        raise _refusal(column, "must have public bounds to be synthesised", why, fix)
    if column.bins is not None:
        _require_few(column, len(column.bins) - 1, "bins")
    _require_near(column)


def _without_values(column: Column) -> BadValue:
    rule, fix = "must have public values to be synthesised", f'Leave it out, or {_under(column, "w")} values = ["…"]'
    if column.type is Type.TEXT:
        why = "It is free text, and a text that nobody listed could tell of one person."
        return _refusal(column, rule, why, fix)
    why = "It lists no public values, and those that the table holds could be of one person alone."
    return _refusal(column, rule, why, fix)


def _require_few(column: Column, count: int, what: str) -> None:
    if count > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS:,} {what} to be synthesised"
        why = f"It has {count:,}: so many tell persons apart as an identifier does, and noise drowns their counts."
        fix = f"Leave it out, or group them in another column and list those groups: {what} = […]"
        raise _refusal(column, rule, why, fix)


def _require_near(column: Column) -> None:
    """Refuses numbers of which doubles, or 64-bit integers, do not tell two neighbours apart."""
    lattice = column.lattice
    if lattice is None:
        return
    furthest = lattice.largest * lattice.step
    if lattice.largest <= FURTHEST_STEP and (column.type is not Type.INTEGER or furthest < _FURTHEST_INTEGER):
        return
    rule = "must keep its numbers within 2^50 steps to be synthesised, and whole numbers within 2^62"
    why = f"They reach {toml_value(lattice.largest)} steps of {toml_value(lattice.step)}, where numbers lose digits."
    fix = "Leave it out, or store the column as a distance from a public middle value."
    if column.bounds is not None and furthest < _FURTHEST_INTEGER:
        low, high = (number_of(end) for end in column.bounds)
        coarser = 2 * amounts.power_of_two_below(max(abs(low), abs(high)) / FURTHEST_STEP)
        if coarser <= high - low and column.values is None:
            fix = f"{_under(column)} step = {toml_value(coarser)}"
    raise _refusal(column, rule, why, fix)


def _under(column: Column, first: str = "W") -> str:
    return f"{first}rite under [{key('columns', column.name)}]:"


def _refusal(column: Column, rule: str, why: str, fix: str) -> BadValue:
    return BadValue(f"column {column.name!r} {rule}.", why, fix, rule)
