"""Derive from a question the parts to measure and how far one unit can move them, without data or ε.

Refuses what cannot be bounded, saying where and how to fix it.  A charge is confined to a branch of the table only
where a unit cannot change branches: `path` names columns that are fixed per unit, with a public value each.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.bounded import Sensitivity, SideBySide
from discreet.errors import NotAnswerable
from discreet.query.aggregate import recipe
from discreet.query.caps import require_storable
from discreet.query.compile.spelling import nearest_integer
from discreet.query.excluded import with_kept
from discreet.query.meaning.cells import Cells, cells
from discreet.query.meaning.domain import domain
from discreet.query.meaning.fold import is_fixed
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import And, Caps, Col, Compare, Constant, Expr, In, Literal, Question, UnitIn
from discreet.query.parts import Part, Present, Ranks, Tops
from discreet.query.recipe import Recipe
from discreet.query.sensitivity import Reach, sensitivity
from discreet.query.split import weights
from discreet.query.tally import Tally
from discreet.relation import Relation, unit_cut
from discreet.schema import Schema

Path = tuple[tuple[str, str], ...]
MOST_CHOICES = 20_000


@dataclass(frozen=True)
class Need:
    """A part, how much its noise matters, and how far one unit can move it."""

    part: Part
    weight: Fraction
    sensitivity: Sensitivity


@dataclass(frozen=True)
class Draft:
    """A bounded question: all that a plan needs but its terms."""

    question: Question
    schema: Schema
    cells: Cells
    caps: Caps  # as compiled: `groups` is None where nothing needs to be ranked
    reach: Reach
    recipes: tuple[Recipe, ...]  # one an output
    needs: tuple[Need, ...]
    path: Path

    @property
    def tally(self) -> Tally:
        """What an engine counts for it."""
        parts = tuple(need.part for need in self.needs)
        return Tally(self.schema, self.cells, self.question.where, self.caps, self.reach, parts)

    @property
    def sensitivity(self) -> SideBySide:
        """How far one unit can move each part; what the gate compares a plan's noise with."""
        return self.tally.sensitivity


def draft_of(question: Question, schema: Schema) -> Draft:
    """The question with its caps, parts and sensitivities; refused where one unit could move it without limit."""
    question = resolved(question, schema)
    groups = with_kept(cells(question, schema), question.where, schema)
    caps, reach = caps_and_reach(question, schema, groups)
    recipes = tuple(recipe(output.aggregate, question, schema) for output in question.outputs)
    require_storable(groups, recipes)
    part_weights = weights(recipes)
    if not groups.public:
        part_weights[Present()] = Fraction(1, reach.groups**2)  # as dear as one count, however many groups a unit is in
    _require_choosable(groups, part_weights)
    needs = tuple(Need(part, weight, sensitivity(part, reach)) for part, weight in part_weights.items())
    return Draft(question, schema, groups, caps, reach, recipes, needs, path(question.where, schema))


def _require_choosable(groups: Cells, parts: Iterable[Part]) -> None:
    """Refuses quantiles and most frequent values of too many groups: each group's is a choice of its own."""
    if groups.size > MOST_CHOICES and any(isinstance(part, Ranks | Tops) for part in parts):
        why = f"A value is chosen in each of {groups.size:,} groups, and at most {MOST_CHOICES:,} choices are made."
        raise NotAnswerable("There are too many groups to choose values in.", why, "Group by fewer or coarser columns.")


def caps_and_reach(question: Question, schema: Schema, grouped: Cells) -> tuple[Caps, Reach]:
    """The caps as they are compiled, and where one unit can be under them."""
    rows = _cap(question.caps.rows, schema.max_rows, "rows", "max_rows in the metadata")
    if not question.keys or all(is_fixed(key.item, schema) for key in question.keys):
        possible = 1
    else:
        possible = min(rows, grouped.size) if grouped.public else rows
    groups = min(possible, _cap(question.caps.groups, 10**9, "groups", "the largest number there is"))
    single = grouped.public and grouped.size == 1
    return Caps(rows, groups if groups < possible else None), Reach(rows, groups, single, schema.relation)


def _cap(cap: int | None, largest: int, counted: str, origin: str) -> int:
    if cap is None:
        return largest
    if not 1 <= cap <= largest:
        why = f"A cap on {counted} of one unit is at least 1 and at most {origin}, {largest}."
        raise NotAnswerable(f"A cap of {cap} {counted} cannot be kept.", why, f"Give a cap between 1 and {largest}.")
    return cap


def path(where: Expr | None, schema: Schema) -> Path:
    """The branches of the table a question is confined to: `column = public value`, all of them ANDed, columns fixed.

    A branch is named by what is stored, so that conditions that the same cells satisfy have one name, and never by the
    order in which the metadata lists values.  Under replace-one a unit may change branches.  The two sides of a cut
    through the units' ids are branches too (docs/proofs/learn/heldout/split.md).
    """
    if where is None or schema.relation is not Relation.ADD_REMOVE:
        return ()
    branches: dict[str, str] = {}
    for condition in where.parts if isinstance(where, And) else (where,):
        branch = _branch(condition, schema)
        if branch is not None:
            branches.setdefault(*branch)
    return tuple(sorted(branches.items()))


def _branch(condition: Expr, schema: Schema) -> tuple[str, str] | None:
    match condition:
        case Compare("=", Col(name), Literal(value)) | In(Col(name), (Literal(value),)):
            return _branch_name(name, value, schema)
        case Col(name):
            return _branch_name(name, True, schema)
        case UnitIn(first, end) if (first == 0) != (end == 1):
            return (unit_cut(end), "below") if first == 0 else (unit_cut(first), "above")
    return None


def _branch_name(name: str, value: Constant, schema: Schema) -> tuple[str, str] | None:
    """The column and its branch: the index of a text among all sorted, the step at which a number is stored."""
    column, values = schema.find(name), domain(Col(name), schema).values
    if column is None or not column.fixed_per_unit or values is None or value not in values:
        return None
    match value:
        case str():
            return column.name, str(sorted(map(str, values)).index(value))
        case bool() | int():
            return column.name, str(nearest_integer(Fraction(value) / (column.step or 1)))
        case _:
            return None
