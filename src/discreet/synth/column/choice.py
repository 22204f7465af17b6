"""Which columns of a table are synthesised: those that were named, or all that have public cells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.errors import BadValue, bad
from discreet.schema import Column, Schema
from discreet.schema.words import first_twice, key, suggestion, toml_value
from discreet.synth.column.column import SynthColumn, synth_column

Cuts = Mapping[str, Iterable[Fraction]]


@dataclass(frozen=True)
class Chosen:
    """The columns of a synthetic table, and for each one that was left out the reason."""

    columns: tuple[SynthColumn, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)


def columns_of(schema: Schema, names: Sequence[str] | None = None, cuts: Cuts | None = None) -> Chosen:
    """The named columns, refused where one has no public cells; without names all that have, with the others' reasons.

    `cuts` are further edges by the name of the column.
    """
    edges = cuts or {}
    if names is None:
        return _all_columns(schema, edges)
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise bad("columns", "must be a list of names", names, f"Give, for example, {_example(schema)}.")
    columns = [_column(schema, name) for name in names]
    twice = first_twice(column.name for column in columns)
    if twice is not None:
        raise bad("columns", "must name each column once", twice, f"Leave out {twice!r} where it is repeated.")
    return Chosen(tuple(synth_column(column, edges.get(column.name, ())) for column in columns))


def _all_columns(schema: Schema, cuts: Cuts) -> Chosen:
    columns, left_out = [], {}
    if schema.unit is not None:
        left_out[schema.unit.key] = "It is the unit's key, an identifier, which only says whose a row is."
    for column in schema.columns:
        try:
            columns.append(synth_column(column, cuts.get(column.name, ())))
        except BadValue as refusal:
            left_out[column.name] = refusal.why
    if not columns:
        raise _none_public(schema)
    return Chosen(tuple(columns), left_out)


def _none_public(schema: Schema) -> BadValue:
    """The refusal where no column has public cells, or none is declared at all."""
    names = [column.name for column in schema.columns]
    if not names:
        what, why = f"The metadata of {schema.name} declare no columns.", "A synthetic table has only public values."
        return BadValue(what, why, 'Declare one, for example:\n[columns.age]\ntype = "integer"\nbounds = [0, 110]')
    rule, table = "must hold one with public values or bounds", key("columns", names[0])
    return bad("columns", rule, names, f'In the metadata of {schema.name}, under [{table}] write: values = ["…"]')


def _column(schema: Schema, name: Any) -> Column:
    column = schema.find(name) if isinstance(name, str) else None
    if column is not None:
        return column
    if schema.unit is not None and isinstance(name, str) and name.casefold() == schema.unit.key.casefold():
        rule = "must not hold the unit's key, an identifier, which only says whose a row is"
        raise bad("columns", rule, name, "Leave it out: the synthetic table numbers its own units.")
    raise bad("columns", "must be declared columns", name, near_name(schema, name))


def near_name(schema: Schema, name: Any, known: Iterable[str] | None = None) -> str:
    """A fix for a name that is no declared column, or none of those that are known."""
    names = [column.name for column in schema.columns] if known is None else known
    similar = suggestion(name, names) if isinstance(name, str) else None
    return f"Did you mean {similar!r}?" if similar else f"Name a declared column, as in {_example(schema)}."


def _example(schema: Schema) -> str:
    return f"columns = {toml_value([column.name for column in schema.columns[:2]])}"
