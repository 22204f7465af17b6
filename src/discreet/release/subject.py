"""The subject of a release: a tree, the cells of each place, the tally of its leaves, and its sensitivity.

    counts        units (each counted once) or rows, by any public columns
    group sizes   groups, such as households, by how many rows they have; protected is each person (the unit has a row
                  for itself and the group is a column) or each group (the group is the unit)

It follows from public facts; what cannot be bounded is refused before any charge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.errors import MetadataError, NotAnswerable, bad
from discreet.ndarrays import Ints
from discreet.query import explain
from discreet.query.bound import caps_and_reach
from discreet.query.compile.exacts import Exacts
from discreet.query.meaning.cells import Cells, Label, cells
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import Bins, Caps, Col, CountRows, CountUnits, Key, Output, Question
from discreet.query.parts import Rows, Sizes, Units
from discreet.query.tally import Tally
from discreet.release.measure import Design, Form, Marginal, all_cells, count_sensitivity, marginal, size_sensitivity
from discreet.release.tree import Tree, from_branches
from discreet.schema import Hierarchy, Schema
from discreet.schema.words import first_twice, suggestion

MOST_CELLS = 2 * 10**7  # of all leaves together
MOST_SIZE = 10**5
MOST_TOGETHER = 2_000  # cells of a place that several marginals are combined for: a dense system of that size
SIZE = "size"


@dataclass(frozen=True)
class ReleaseSpec:
    """A release as it is asked for.

    `hierarchy` may be left out where there is one only; `count` is "units" or "rows"; `groups` names the column of
    groups whose sizes are wanted, up to `largest`; `marginals` are the sets of attributes that are measured beside all
    of them together, each alone if None.
    """

    hierarchy: str | None = None
    by: tuple[str, ...] = ()
    count: str = "units"
    groups: str | None = None
    largest: int | None = None
    marginals: tuple[tuple[str, ...], ...] | None = None
    form: Form | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """What is measured: the tally of the leaves, and the function that arranges its integers by leaf."""

    spec: ReleaseSpec
    schema: Schema
    attributes: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]  # of each attribute, in order
    design: Design
    protects: str  # one sentence
    tally: Tally
    leaf_table: Callable[[Exacts], Ints]

    @property
    def tree(self) -> Tree:
        """The places."""
        return self.design.tree

    @property
    def cells(self) -> int:
        """Cells of one place."""
        return len(self.design.marginals[0].index)


def subject(request: ReleaseSpec, schema: Schema) -> Subject:
    """The subject of a request; refused where the tree, the columns or the unit do not allow it."""
    hierarchy = _hierarchy(request.hierarchy, schema)
    spec = replace(request, hierarchy=hierarchy.name, by=_attributes(request.by, hierarchy, schema))
    tree = from_branches(hierarchy.levels, hierarchy.branches)
    _require_apart(tree.levels, hierarchy)
    leaf = hierarchy.levels[-1]
    order = _order(tree, hierarchy, schema)
    if spec.groups is not None:
        return _sizes(spec, schema, tree, leaf, order)
    if spec.largest is not None:
        fix = "Leave it out, or name the column of groups whose sizes are wanted."
        raise bad("largest", "goes with groups only", spec.largest, fix)
    return _counts(spec, schema, tree, leaf, order)


def _hierarchy(name: str | None, schema: Schema) -> Hierarchy:
    """The hierarchy of that name; the only one if none is named."""
    by_name = {hierarchy.name: hierarchy for hierarchy in schema.hierarchies}
    if not by_name:
        what, why = "No hierarchy is declared.", "A release is made over places that lie in each other."
        lines = ["Declare one, with a public file of its places:", "[hierarchy.geo]", 'levels = ["region", "ward"]']
        raise MetadataError(what, why, "\n".join([*lines, 'tree = "geo.csv"']))
    if name is None and len(by_name) > 1:
        raise bad("hierarchy", "must be named where there are several", name, f"Name one of: {', '.join(by_name)}")
    named = next(iter(by_name)) if name is None else str(name)
    if named not in by_name:
        guess = suggestion(named, by_name) or next(iter(by_name))
        raise bad("hierarchy", f"must be one of {', '.join(by_name)}", named, f"Did you mean {guess!r}?")
    if not by_name[named].branches:
        what, why = f"{by_name[named].key('tree')} must be given.", "Which place lies in which is not known yet."
        header = ",".join(by_name[named].levels)
        fix = f'Write: tree = "geo.csv", a public file with the first line {header} and a line for each lowest place.'
        raise MetadataError(what, why, fix)
    return by_name[named]


def _attributes(by: Sequence[str], hierarchy: Hierarchy, schema: Schema) -> tuple[str, ...]:
    """The attributes, spelt as in the schema."""
    levels = {level.casefold() for level in hierarchy.levels}
    names = []
    for name in (by,) if isinstance(by, str) else by:
        column = schema.find(str(name))
        if str(name).casefold() in levels:
            rule = "must not name a level of the tree, which is there already"
            raise bad("by", rule, name, "Leave it out; places of every level are in the release.")
        if column is None:
            guess = suggestion(str(name), [column.name for column in schema.columns])
            fix = f"Did you mean {guess!r}?" if guess else f"Declare it under [columns.{name}], with its public values."
            raise bad("by", "must name declared columns", name, fix)
        names.append(column.name)
    if (twice := first_twice(names)) is not None:
        raise bad("by", "must name each column once", twice, "Remove one of the two.")
    return tuple(names)


def _require_apart(levels: Sequence[str], hierarchy: Hierarchy) -> None:
    """Refuse a level with the name of the level that is put above several tops."""
    if (twice := first_twice(levels)) is not None:
        what, why = f"No level can be called {twice!r}.", "The level put above several tops has that name."
        raise MetadataError(what, why, f"Give it another name in {hierarchy.key('levels')} and in the tree.")


def _order(tree: Tree, hierarchy: Hierarchy, schema: Schema) -> Ints:
    """For each leaf of the tree, in order, the index of its name among the column's values."""
    column = schema.find(hierarchy.levels[-1])
    values = () if column is None or column.values is None else column.values
    index = {str(value): number for number, value in enumerate(values)}
    names = [tree.names[leaf] for leaf in tree.leaves]
    twice = len(set(names)) < len(names)
    if twice or set(names) != set(index):
        odd = sorted(set(names) ^ set(index))
        what = f"The tree of {hierarchy.name} does not match the values of {hierarchy.levels[-1]}."
        why = "Two leaves have one name." if twice else f"{odd[0]!r} is in one of the two only ({len(odd):,} such)."
        fix = f"Leave values out under [columns.{hierarchy.levels[-1]}], so that they are the leaves, or mend the tree."
        raise MetadataError(what, why, fix)
    return np.array([index[name] for name in names], dtype=np.int64)


# --- counts ----------------------------------------------------------------------------------------------------------


def _counts(spec: ReleaseSpec, schema: Schema, tree: Tree, leaf: str, order: Ints) -> Subject:
    if spec.count not in ("units", "rows"):
        raise bad("count", "must be units or rows", spec.count, "Give units.")
    units = spec.count == "units" and schema.unit is not None
    aggregate = CountUnits() if units else CountRows()
    caps = Caps(groups=1) if units else Caps()
    keys = (Key(leaf, Col(leaf)), *(Key(name, _key_expression(name, schema)) for name in spec.by))
    question = resolved(Question(schema.name, (Output("discreet", aggregate),), keys, caps=caps), schema)
    grouped = cells(question, schema, MOST_CELLS)
    _require_public(grouped)
    caps_of_rows, reach = caps_and_reach(question, schema, grouped)
    sensitivity = count_sensitivity(reach.groups if units else reach.rows, schema.relation)
    names = tuple(key.key.name for key in grouped.keys[1:])
    labels = tuple(key.labels or () for key in grouped.keys[1:])
    design = Design(tree, Form.PLAIN, _marginals(spec, names, labels), sensitivity, sensitivity)
    part = Units() if units else Rows()
    tally = Tally(schema, grouped, None, caps_of_rows, reach, (part,))
    once = ", counted once" if units else "" if schema.unit is None else _rows(reach.rows)
    protects = f"each {explain.unit(schema)}{once}"
    shape = grouped.sizes[0], grouped.size // grouped.sizes[0]

    def leaf_table(exacts: Exacts) -> Ints:
        return np.asarray(exacts.parts[part]).reshape(shape)[order]

    return Subject(spec, schema, names, labels, design, protects, tally, leaf_table)


def _key_expression(name: str, schema: Schema) -> Col | Bins:
    """The column, in its declared bins if it has any."""
    column = schema.find(name)
    return Bins(Col(name)) if column is not None and column.bins is not None and column.values is None else Col(name)


def _rows(limit: int) -> str:
    return f", with at most {limit} row{'' if limit == 1 else 's'}"


def _require_public(grouped: Cells) -> None:
    for key in grouped.keys:
        if key.labels is None:
            why = "A table that adds up lists all its cells beforehand."
            fix = f'Under [columns.{key.key.name}] list them: values = ["…"], or for numbers: bins = [0, 18, 65]'
            raise NotAnswerable(f"The values of {key.key.name} are not public.", why, fix)


def _marginals(spec: ReleaseSpec, names: Sequence[str], labels: Sequence[Sequence[Label]]) -> tuple[Marginal, ...]:
    """The requested marginals and all attributes together; by default each attribute alone and all together."""
    sizes = [len(each) for each in labels]
    chosen = spec.marginals
    if chosen is None:
        chosen = () if len(names) < 2 else tuple((name,) for name in names)
    name_of = {name.casefold(): name for name in names}
    for attributes in chosen:
        if isinstance(attributes, str) or (
            unknown := [name for name in attributes if str(name).casefold() not in name_of]
        ):
            listed = ", ".join(names) or "none, for by is empty"
            rule = f"must be sets of attributes among: {listed}"
            raise bad(
                "marginals",
                rule,
                attributes if isinstance(attributes, str) else unknown[0],
                'Give, for example: [("sex",)]',
            )
    chosen = tuple(tuple(name_of[str(name).casefold()] for name in attributes) for attributes in chosen)
    views = [
        marginal(attributes, names, sizes)
        for attributes in dict.fromkeys(tuple(sorted(set(attributes))) for attributes in chosen)
    ]
    everything = all_cells(names, int(np.prod(sizes, dtype=np.int64)))
    different = {view.index.tobytes(): view for view in reversed(views)}  # an attribute of one label parts nothing
    coarse = tuple(view for view in reversed(different.values()) if view.size < everything.size)
    if coarse and everything.size > MOST_TOGETHER:
        if spec.marginals is None:
            return (everything,)
        rule = f"must be left out above {MOST_TOGETHER:,} cells a place, which cannot be brought together"
        raise bad("marginals", rule, f"{everything.size:,} cells", "Release fewer attributes, or coarser bins.")
    return (*coarse, everything)


def _dense(shape: tuple[int, int], sparse: Any) -> Ints:
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (sparse.cell, sparse.bucket), sparse.count)
    return table


# --- sizes -----------------------------------------------------------------------------------------------------------


def _sizes(spec: ReleaseSpec, schema: Schema, tree: Tree, leaf: str, order: Ints) -> Subject:
    largest = spec.largest
    if not isinstance(largest, int) or isinstance(largest, bool) or not 1 <= largest <= MOST_SIZE:
        fix = "Give the largest size that is of interest, such as 8; larger groups count as that."
        raise bad("largest", f"must be a whole number from 1 to {MOST_SIZE}", largest, fix)
    if spec.by:
        raise bad("by", "cannot stand beside groups", spec.by, "Release sizes and attributes one after the other.")
    if spec.count != "units":
        raise bad("count", "cannot stand beside groups", spec.count, "Leave it out: groups are counted by their size.")
    group = str(spec.groups)
    of_unit = schema.unit is not None and group.casefold() == schema.unit.key.casefold()
    column = None if of_unit else schema.find(group)
    _require_grouped(group, of_unit or column is not None, leaf, schema)
    caps = Caps(groups=1) if of_unit else Caps()
    question = resolved(
        Question(schema.name, (Output("discreet", CountRows()),), (Key(leaf, Col(leaf)),), caps=caps), schema
    )
    grouped = cells(question, schema, MOST_CELLS // largest)
    caps_of_rows, reach = caps_and_reach(question, schema, grouped)
    form = _form(spec.form, Form.PLAIN if of_unit else Form.FROM_TOP)
    leaf_sensitivity = (
        count_sensitivity(1, schema.relation) if of_unit else size_sensitivity(reach.rows, schema.relation)
    )
    if of_unit and form is Form.FROM_TOP:
        fix = "Leave it out: a whole group moves one size only."
        raise bad("form", "must be plain where groups are protected", str(form), fix)
    level_sensitivity = leaf_sensitivity if form is Form.PLAIN else count_sensitivity(reach.rows, schema.relation)
    design = Design(tree, form, (all_cells((SIZE,), largest),), leaf_sensitivity, level_sensitivity)
    part = Sizes(None if column is None else column.name, largest)
    tally = Tally(schema, grouped, None, caps_of_rows, reach, (part,))
    shape = (grouped.sizes[0], largest)

    def leaf_table(exacts: Exacts) -> Ints:
        return _dense(shape, exacts.parts[part])[order]

    who = explain.unit(schema)
    protects = f"each {who} as a whole" if of_unit else f"each {who}{_rows(reach.rows)}"
    named = replace(spec, groups=who if column is None else column.name)
    return Subject(named, schema, (SIZE,), (tuple(range(1, largest + 1)),), design, protects, tally, leaf_table)


def _form(form: Form | str | None, usual: Form) -> Form:
    if form is None:
        return usual
    if form not in tuple(Form):
        raise bad("form", f"must be {' or '.join(Form)}", form, "Leave it out.")
    return Form(form)


def _require_grouped(group: str, is_declared: bool, leaf: str, schema: Schema) -> None:
    """Refuse groups that are no column, that are the places themselves, or whose unit is not declared."""
    if schema.unit is None:
        what, why = (
            "Sizes of groups need a unit.",
            "Without one it is not known who is protected: each member, or a group.",
        )
        raise MetadataError(what, why, 'Say whose row it is:\n[unit]\nkey = "person_id"\nmax_rows = 1')
    if not is_declared:
        guess = suggestion(group, [schema.unit.key, *(column.name for column in schema.columns)])
        declared = f'Declare it:\n[columns.{group}]\ntype = "text"'
        fix = f"Did you mean {guess!r}?" if guess else declared
        raise bad("groups", "must be a declared column, or the unit's key", group, fix)
    if group.casefold() == leaf.casefold():
        raise bad("groups", "must not be the places themselves", group, "Name the column of households or the like.")
