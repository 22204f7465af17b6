"""The privacy unit, and all public facts of a table with a hash that changes only when an answer could."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from discreet import amounts
from discreet.errors import BadValue
from discreet.relation import Relation
from discreet.schema.column import Column, Empty, require_room
from discreet.schema.hierarchy import Hierarchy
from discreet.schema.kind import Type
from discreet.schema.words import choice, key, name, refusal, suggestion, toml_value

FORMAT = 1
ROW = "row"  # what the unit of a table without a key is called
MOST_ROWS = 10**9
MOST_UNITS = 10**12
RELATIONS = {
    "add_or_remove": "add-remove",
    "unbounded": "add-remove",
    "bounded": "replace-one",
    "substitute": "replace-one",
    "swap": "replace-one",
    "change_one": "replace-one",
}


@dataclass(frozen=True)
class Unit:
    """Rows with the same `key` are one protected unit, which counts with at most `max_rows` rows.

    >>> Unit("person_id", 5).max_rows
    5
    """

    key: str
    max_rows: int

    def __post_init__(self) -> None:
        fix = 'Write, for example: key = "person_id"'
        object.__setattr__(self, "key", name(self.key, key("unit", "key"), fix))
        if self.key.casefold() == ROW:
            rule = f"must not be called {ROW!r}, which is what a ledger calls the unit of a table without a key"
            raise refusal(key("unit", "key"), rule, self.key, "Rename the column, for example to person.")
        rows = _whole(self.max_rows, key("unit", "max_rows"), 1, MOST_ROWS, "max_rows = 5")
        object.__setattr__(self, "max_rows", rows)


@dataclass(frozen=True)
class Schema:
    """Everything planning may look at.  Without a unit each row is one, and the row cap is 1.

    >>> people = Schema("people", [Column("age", "integer", bounds=(0, 110))], Unit("person_id", 5))
    >>> people.max_rows, people.find("AGE").name
    (5, 'age')
    """

    name: str
    columns: tuple[Column, ...] = ()
    unit: Unit | None = None
    relation: Relation = Relation.ADD_REMOVE
    population: int | None = None
    hierarchies: tuple[Hierarchy, ...] = ()

    def __post_init__(self) -> None:
        for field, value in (
            ("name", _dataset_name(self.name)),
            ("hierarchies", tuple(self.hierarchies)),
            ("columns", tuple(_with_leaves(column, self.hierarchies) for column in self.columns)),
            ("relation", Relation(choice(self.relation, key("dataset", "neighbours"), tuple(Relation), RELATIONS))),
        ):
            object.__setattr__(self, field, value)
        if self.population is not None:
            units = _whole(self.population, key("dataset", "population"), 2, MOST_UNITS, "population = 60000")
            object.__setattr__(self, "population", units)
        _require_one_each(self)
        for column in self.columns:
            require_room(column, self.max_rows)
        for hierarchy in self.hierarchies:
            _require_leaf(self, hierarchy)

    @property
    def max_rows(self) -> int:
        """The row cap of one unit."""
        return 1 if self.unit is None else self.unit.max_rows

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name.casefold(): column for column in self.columns}

    @cached_property
    def places(self) -> dict[str, int]:
        """Each column's place in the order of their names, which no reordering of the TOML changes."""
        return {name: place for place, name in enumerate(sorted(column.name for column in self.columns))}

    def find(self, column: str) -> Column | None:
        """The column of that name, upper and lower case alike; None if it is not declared, so does not exist."""
        return self._by_name.get(column.casefold())

    def canonical(self) -> str:
        """JSON that is equal for schemas that answer alike: sorted, exact, and without `why_public`."""
        facts = {
            "format": FORMAT,
            "name": self.name,
            "neighbours": str(self.relation),
            "population": self.population,
            "unit": None if self.unit is None else {"key": self.unit.key, "max_rows": self.unit.max_rows},
            "columns": {column.name: _facts(column) for column in self.columns},
            "hierarchies": {
                tree.name: {"levels": tree.levels, "branches": sorted(tree.branches)} for tree in self.hierarchies
            },
        }
        return json.dumps(facts, sort_keys=True, separators=(",", ":"))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal: part of every replay key."""
        return hashlib.sha256(self.canonical().encode("ascii")).hexdigest()


def _with_leaves(column: Column, hierarchies: Iterable[Hierarchy]) -> Column:
    """The column; where a tree ends in it and it lists no values, they are the leaves of the tree."""
    for tree in hierarchies:
        ends = tree.levels[-1].casefold() == column.name.casefold() and bool(tree.branches)
        if ends and column.type is Type.CATEGORY and column.values is None:
            return replace(column, values=tree.leaves)
    return column


def _facts(column: Column) -> dict[str, Any]:
    unusual = {} if column.empty is Empty.VALUE else {"empty": str(column.empty)}
    return unusual | {
        "type": str(column.type),
        "bounds": None if column.bounds is None else [toml_value(end) for end in column.bounds],
        "values": None if column.values is None else sorted(toml_value(value) for value in column.values),
        "step": None if column.step is None else str(column.step),
        "bins": None if column.bins is None else [toml_value(edge) for edge in column.bins],
        "fixed_per_unit": column.fixed_per_unit,
        "null": str(column.null),
    }


def _dataset_name(given: Any) -> str:
    where, fix = key("dataset", "name"), 'Write, for example: name = "people"'
    named = name(given, where, fix)
    if not named.isidentifier():
        plain = "".join(letter if letter.isalnum() else "_" for letter in named)
        plain = plain if plain.isidentifier() else f"t_{plain}"
        fix = f"Write: name = {toml_value(plain)}" if plain.isidentifier() else fix
        raise refusal(where, "must be letters, digits and _, not beginning with a digit", given, fix)
    return named


def _require_one_each(schema: Schema) -> None:
    seen: dict[str, str] = {}
    for column in schema.columns:
        other = seen.setdefault(column.name.casefold(), column.name)
        if other is not column.name:
            rule = f"must differ from {key('columns', other)} in more than upper and lower case"
            raise refusal(key("columns", column.name), rule, column.name, "Remove one of the two.")
    if schema.unit is not None and schema.unit.key.casefold() in seen:
        rule = "must not be declared as a column too: no answer may be about one unit"
        declared = f"[{key('columns', seen[schema.unit.key.casefold()])}]"
        raise refusal(key("unit", "key"), rule, schema.unit.key, f"Remove {declared}.")
    names = [tree.name for tree in schema.hierarchies]
    if len(set(names)) < len(names):
        raise refusal("hierarchy", "must have different names", names, "Rename one.")


def _require_leaf(schema: Schema, hierarchy: Hierarchy) -> None:
    lowest = hierarchy.levels[-1]
    column = schema.find(lowest)
    if column is None:
        suggested = suggestion(lowest, [column.name for column in schema.columns])
        hint = f"Did you mean {suggested!r}? Otherwise declare" if suggested else "Declare"
        fix = f'{hint} it:\n[{key("columns", lowest)}]\ntype = "category"'
        raise refusal(hierarchy.key("levels"), "must end with a declared column", lowest, fix)
    if column.type not in (Type.CATEGORY, Type.TEXT):
        rule = "must end with a category column"
        raise refusal(
            hierarchy.key("levels"), rule, lowest, f'Under [{key("columns", lowest)}] write: type = "category"'
        )
    leaves = set(hierarchy.leaves)
    missing = [value for value in column.values or () if leaves and value not in leaves]
    if missing:
        rule = f"must hold every value of {key('columns', lowest)}"
        fix = f"Add a branch that ends with {toml_value(missing[0])}."
        raise refusal(hierarchy.key("tree" if hierarchy.tree else "branches"), rule, missing[0], fix)


def _whole(value: Any, where: str, lowest: int, highest: int, example: str) -> int:
    try:
        return amounts.count(value, where, lowest, highest)
    except BadValue:
        rule = f"must be a whole number between {lowest} and {highest}"
        raise refusal(where, rule, value, f"Write, for example: {example}") from None
