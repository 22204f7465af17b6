"""What is missing in metadata that is valid: each gap with its consequence and a line to paste."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from discreet.metadata.read import Metadata, delta_ceiling
from discreet.schema import Column, Type
from discreet.schema.kind import ORDERED
from discreet.schema.words import key, suggestion, written


@dataclass(frozen=True)
class Gap:
    """One gap: at which key, what follows from it, what to write, and whether questions must wait for it."""

    where: str
    what: str
    fix: str
    blocks: bool = False

    def as_json(self) -> dict[str, Any]:
        """The gap as `check --json` shows it."""
        return asdict(self)


def gaps(metadata: Metadata, header: Sequence[str] | None = None) -> tuple[Gap, ...]:
    """Every gap, those that block first; with the header of the table also what does not match it."""
    found = [*_of_dataset(metadata), *_of_budget(metadata)]
    for column in metadata.schema.columns:
        found += _of_column(column)
    for hierarchy in metadata.schema.hierarchies:
        if not hierarchy.branches:
            what = "Nothing says what lies in what, so no table can add up along it."
            fix = f'Under [{key("hierarchy", hierarchy.name)}] write: tree = "geo.csv"'
            found.append(Gap(hierarchy.key("tree"), what, fix))
    if header is not None:
        found += _of_header(metadata, header)
    return tuple(sorted(found, key=lambda gap: not gap.blocks))


def _of_dataset(metadata: Metadata) -> Iterator[Gap]:
    if metadata.source is None:
        what = "Nothing says where the table lies, so it must be handed over in Python."
        yield Gap("dataset.source", what, 'Under [dataset] write: source = "people.csv"')
    if metadata.schema.unit is None:
        what = "Each row is protected on its own; a person with several rows is not."
        yield Gap("unit", what, 'Write:\n[unit]\nkey = "person_id"\nmax_rows = 5')
    if not metadata.schema.columns:
        what = "No column is declared, so only the number of rows can be asked for."
        yield Gap("columns", what, 'Write:\n[columns.age]\ntype = "integer"\nbounds = [0, 110]')


def _of_budget(metadata: Metadata) -> Iterator[Gap]:
    budget = metadata.budget
    if budget is None:
        fix = "Write:\n[budget]\nepsilon = 3\ndelta = 1e-7"
        yield Gap("budget", "There is no budget, so nothing can be asked.", fix, blocks=True)
        return
    if "budget.delta" not in metadata.said:
        what = "Without δ there are only Laplace noise and public keys."
        yield Gap("budget.delta", what, "Under [budget] write: delta = 1e-7, or delta = 0 if that is meant.")
    ceiling = delta_ceiling(metadata.schema.population)
    if budget.max_delta > ceiling:
        what = f"A δ above {written(ceiling)} may let one random unit be published."
        yield Gap("budget.max_delta", what, f"Under [budget] write: max_delta = {written(ceiling)}")


def _of_column(column: Column) -> Iterator[Gap]:
    heading = f"Under [{key('columns', column.name)}] write:"
    if column.type in (Type.CATEGORY, Type.TEXT) and column.values is None:
        what = "Its values are not public, so groups by it cost δ and small ones are left out."
        yield Gap(column.key("values"), what, f'{heading} values = ["north", "south"]')
    if column.type in ORDERED and column.bounds is None and column.values is None:
        example = "[2020-01-01, 2029-12-31]" if column.type in (Type.DATE, Type.DATETIME) else "[0, 110]"
        yield Gap(column.key("bounds"), "Without bounds it can only be counted.", f"{heading} bounds = {example}")
    limits = column.bounds or column.values or column.bins
    if limits is not None and column.why_public is None:
        what = "Nothing says where its bounds or values come from; read off the data, they would leak."
        yield Gap(column.key("why_public"), what, f'{heading} why_public = "published map"')


def _of_header(metadata: Metadata, header: Sequence[str]) -> Iterator[Gap]:
    schema, there = metadata.schema, {name.casefold() for name in header}
    wanted = [(column.name, key("columns", column.name)) for column in schema.columns]
    if schema.unit is not None:
        wanted.insert(0, (schema.unit.key, "unit.key"))
    for named, where in wanted:
        if named.casefold() not in there:
            meant = suggestion(named, header)
            fix = f"Did you mean {written(meant)}? " if meant else ""
            fix += "Correct the name here, or the header of the table."
            yield Gap(where, f"The table has no column {written(named)}.", fix, blocks=True)
