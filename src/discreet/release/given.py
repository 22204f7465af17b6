"""Read public totals and zeros from public CSV files; the private table itself is refused.

leaf_totals   ward,total       a line for each leaf
zeros         age,married      a line for each impossible combination; an empty cell stands for anything
"""

from pathlib import Path
from typing import Any

from discreet.errors import MetadataError
from discreet.metadata.files import public_rows
from discreet.schema.words import first_twice, toml_value

TOTAL = "total"


def leaf_totals(given: Any, leaf: str, *, source: Path | None) -> Any:
    """The argument itself, or the total of each leaf in the file that it names."""
    if not isinstance(given, str | Path):
        return given
    fix = f"Make the first line {leaf},{TOTAL} and put a {leaf} and its public total on each line below it."
    rows = public_rows(Path(given), "leaf_totals", shown=str(given), source=source, fix=fix)
    if rows[:1] != [[leaf, TOTAL]]:
        raise _refusal("leaf_totals", f"with the columns {toml_value(leaf)} and {toml_value(TOTAL)}", given, fix)
    _require_even("leaf_totals", rows)
    twice = first_twice([row[0] for row in rows[1:]])
    if twice is not None:
        raise MetadataError("leaf_totals must name each leaf once.", f"{toml_value(twice)} is there twice.", fix)
    return {name: number.strip() for name, number in rows[1:]}


def zeros(given: Any, *, source: Path | None) -> Any:
    """The argument itself, or the lines of the file that it names."""
    if not isinstance(given, str | Path):
        return given
    fix = "Make the first line the names of levels and attributes, and put what cannot be on each line below it."
    rows = public_rows(Path(given), "zeros", shown=str(given), source=source, fix=fix)
    if len(rows) < 2 or first_twice(rows[0]) is not None:
        raise _refusal("zeros", "with a header of different names and a line or more", given, fix)
    _require_even("zeros", rows)
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def _require_even(where: str, rows: list[list[str]]) -> None:
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            what, why = f"{where} must have as many cells on each line.", f"Its row {number} has {len(row)}."
            raise MetadataError(what, why, 'Put a value with a comma in quotes: "a, b"')


def _refusal(where: str, rule: str, given: Any, fix: str) -> MetadataError:
    return MetadataError(f"{where} must name a CSV {rule}.", f"You gave {toml_value(str(given))}.", fix)
