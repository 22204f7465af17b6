"""A question as it is asked of synthetic rows: read and bounded by the dialect of private tables, without a price.

It is asked of the public facts with the synthesised columns alone.  Caps in the text bound what one unit moves in a
private table; nobody is in the synthetic rows, so they change nothing here.
"""

from collections.abc import Set
from dataclasses import replace

from discreet.errors import NotAnswerable
from discreet.query.bound import Draft, draft_of
from discreet.query.explain import unit
from discreet.query.meaning.fold import columns
from discreet.query.meaning.names import in_sql
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import Caps
from discreet.query.sql import parse_sql
from discreet.relation import Relation
from discreet.schema import Schema
from discreet.synth.subject import Subject


def draft_for(sql: str, subject: Subject) -> Draft:
    """The question of that text; refused as a private table refuses it, or where it needs a column that is not here."""
    question = replace(parse_sql(sql).question, caps=Caps())
    _require_known(columns((question.outputs, question.keys, question.where)), subject)
    named = resolved(question, subject.schema)
    names = columns((named.outputs, named.keys, named.where))
    _require_synthesised(names, subject)
    return draft_of(question, _synthetic_schema(subject, names))


def _synthetic_schema(subject: Subject, names: Set[str]) -> Schema:
    """The public facts of these columns, without a public number of units: that is of the private rows."""
    own = tuple(column for column in subject.schema.columns if column.name in (names or subject.column_names[:1]))
    return replace(subject.schema, columns=own, hierarchies=(), population=None, relation=Relation.ADD_REMOVE)


def _require_known(names: Set[str], subject: Subject) -> None:
    """Refuses a column that was declared and left out; a table that was loaded has no facts of it but its name."""
    own = {column.name.casefold() for column in subject.schema.columns} | {unit(subject.schema).casefold()}
    typed = {name.casefold() for name in names} - own
    for name in subject.left_out:
        if name.casefold() in typed:
            raise _not_here(name, subject)


def _require_synthesised(names: Set[str], subject: Subject) -> None:
    missing = sorted(names - set(subject.column_names))
    if missing:
        raise _not_here(missing[0], subject)


def _not_here(name: str, subject: Subject) -> NotAnswerable:
    why = subject.left_out.get(name, "It was not among the columns that were named.")
    fix = f"Ask without it, or build a table whose columns hold {in_sql(name)}: that is another charge."
    return NotAnswerable(f"The synthetic table has no {in_sql(name)}.", why, fix)
