"""What is missing in metadata that is valid: each gap with its consequence and a line to paste."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from discreet.metadata.header import like_column, like_unit
from discreet.metadata.read import Metadata, delta_advised, delta_ceiling
from discreet.schema import Column, Type
from discreet.schema.column import COARSE_STEP, has_undeclared_step
from discreet.schema.kind import ORDERED
from discreet.schema.words import key, suggestion, toml_value

_BLANK = " .…"  # a why_public of nothing else is the placeholder of the line to paste
_WHERE_FROM = "Put in place of … where they come from: which law, tariff, map, form or register."

_YOUR_OWN = "  # an example: put your own in place"


@dataclass(frozen=True)
class Gap:
    """One gap: at which key, what follows from it, what to write, and whether questions must wait for it."""

    where: str
    what: str
    fix: str
    blocks: bool = False

    def to_json(self) -> dict[str, Any]:
        """The gap as `check --json` shows it."""
        return asdict(self)


def gaps(metadata: Metadata, header: Sequence[str] | None = None) -> tuple[Gap, ...]:
    """Every gap, those that block first; with the header of the table also what does not match it."""
    listed = [*_of_dataset(metadata, header or ()), *_of_budget(metadata)]
    leaves = {hierarchy.levels[-1].casefold() for hierarchy in metadata.schema.hierarchies}
    for column in metadata.schema.columns:
        listed += _of_column(column, leaves)
    for hierarchy in metadata.schema.hierarchies:
        if not hierarchy.branches:
            what = "Nothing says what lies in what, so no table can add up along it."
            fix = f'Under [{key("hierarchy", hierarchy.name)}] write: tree = "geo.csv"'
            listed.append(Gap(hierarchy.key("tree"), what, fix))
    if header is not None:
        listed += _of_header(metadata, header)
    return tuple(sorted(listed, key=lambda gap: not gap.blocks))


def _of_dataset(metadata: Metadata, header: Sequence[str]) -> Iterator[Gap]:
    if metadata.source is None:
        what = "Nothing says where the table lies, so it must be handed over in Python."
        yield Gap("dataset.source", what, 'Under [dataset] write: source = "people.csv"')
    elif metadata.source_path is None and metadata.address is None:
        what = f"{toml_value(metadata.source)} is an address, and only files can be read, or tables in PostgreSQL."
        fix = 'Fetch the table, and under [dataset] write: source = "people.csv"'
        yield Gap("dataset.source", what, fix, blocks=True)
    if metadata.schema.unit is None:
        what = "Each row is protected on its own; a person with several rows is not."
        declared = {column.name.casefold() for column in metadata.schema.columns}
        named = like_unit([name for name in header if name.casefold() not in declared])
        line = toml_value(named) if named else f"{toml_value('…')}  # the column that says whose row it is"
        yield Gap("unit", what, f"Write:\n[unit]\nkey = {line}\nmax_rows = 5{_YOUR_OWN}")
    if not metadata.schema.columns:
        what = "No column is declared, so only the number of rows can be asked for."
        yield Gap("columns", what, _column_to_paste(metadata, header))


def _column_to_paste(metadata: Metadata, header: Sequence[str]) -> str:
    """Lines that declare a column of the header, as an example: its type is not known."""
    unit = metadata.schema.unit
    free = [name for name in header if unit is None or name.casefold() != unit.key.casefold()]
    named = like_column(free) if unit is None else next(iter(free), None)
    if named is None:
        return f'Write:\n[columns.age]\ntype = "integer"\nbounds = [0, 110]{_YOUR_OWN}'
    kinds = "# put its own type in place: integer, number, boolean, date, datetime or text"
    return f'Write:\n[{key("columns", named)}]\ntype = "category"  {kinds}'


def _of_budget(metadata: Metadata) -> Iterator[Gap]:
    budget = metadata.budget
    if budget is None:
        fix = "Write:\n[budget]\nepsilon = 3\ndelta = 1e-7"
        yield Gap("budget", "There is no budget, so nothing can be asked.", fix, blocks=True)
        return
    if "budget.delta" not in metadata.said:
        what = "Without δ there are only Laplace noise and public keys."
        yield Gap("budget.delta", what, "Under [budget] write: delta = 1e-7, or delta = 0 if that is meant.")
    population = metadata.schema.population
    advised = delta_advised(population)
    limit = toml_value(advised) if population is None else f"1/(100·population) = {advised}"
    what = f"It is above {limit}. A δ near one over the number of units may let one random unit be published."
    if budget.delta > advised:
        yield Gap("budget.delta", what, f"Under [budget] write: delta = {toml_value(round_delta(population))}")
    chosen = "budget.max_delta" in metadata.said or budget.max_delta > delta_ceiling(population)
    if chosen and budget.max_delta > advised:
        yield Gap("budget.max_delta", what, f"Under [budget] write: max_delta = {toml_value(advised)}")


def round_delta(population: int | None) -> Fraction:
    """A δ to advise: the largest power of ten that is at most 10⁻⁷ and within what the population allows."""
    limit = delta_advised(population)
    power = Fraction(1, 10**7)
    while power > limit:
        power /= 10
    return power


def _of_column(column: Column, leaves: set[str]) -> Iterator[Gap]:
    """`leaves` are columns that a hierarchy ends in: its tree is the list of their values."""
    heading = f"Under [{key('columns', column.name)}] write:"
    listed = column.values is not None or column.name.casefold() in leaves
    if column.type in (Type.CATEGORY, Type.TEXT) and not listed:
        what = "Its values are not public, so groups by it cost δ and small ones are left out."
        yield Gap(column.key("values"), what, f'{heading} values = ["north", "south"]{_YOUR_OWN}')
    if column.type in ORDERED and column.bounds is None and column.values is None:
        example = "[2020-01-01, 2029-12-31]" if column.type in (Type.DATE, Type.DATETIME) else "[0, 110]"
        fix = f"{heading} bounds = {example}{_YOUR_OWN}"
        yield Gap(column.key("bounds"), "Without bounds it can only be counted.", fix)
    if has_undeclared_step(column, COARSE_STEP):
        step = toml_value(column.step)
        what = f"It is read in steps of {step}, which follow from its bounds: smaller numbers count as 0."
        yield Gap(column.key("step"), what, f"{heading} step = 0.01  # put in place the step in which it was measured")
    limits = column.bounds or column.values or column.bins
    if limits is not None and not (column.why_public or "").strip(_BLANK):
        what = "Nothing says where its bounds or values come from; read off the data, they would leak."
        yield Gap(column.key("why_public"), what, f'{heading} why_public = "…"\n{_WHERE_FROM}')


def _of_header(metadata: Metadata, header: Sequence[str]) -> Iterator[Gap]:
    schema, names = metadata.schema, {name.casefold() for name in header}
    declared = [(column.name, key("columns", column.name)) for column in schema.columns]
    if schema.unit is not None:
        declared.insert(0, (schema.unit.key, "unit.key"))
    for named, where in declared:
        if named.casefold() not in names:
            similar = suggestion(named, header)
            fix = f"Did you mean {toml_value(similar)}? " if similar else ""
            fix += "Correct the name here, or the header of the table."
            yield Gap(where, f"The table has no column {toml_value(named)}.", fix, blocks=True)
