"""A plan in words and as JSON: caps, sensitivities, mechanisms, scales, steps and shares.  Public facts only."""

from fractions import Fraction
from typing import Any

from discreet import amounts, shares
from discreet.mechanism.additive import Additive
from discreet.mechanism.keys import KeySelection
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy import cost as costs
from discreet.query.aggregate import EXTREMES, coarse_step
from discreet.query.bound import Draft
from discreet.query.canonical import canonical
from discreet.query.joint import Measured
from discreet.query.meaning.domain import domain
from discreet.query.meaning.fold import columns
from discreet.query.nodes import Bins, Call, Case, Col, End, Expr, Extreme, IsNull, Literal, UnitIn
from discreet.query.parts import Distinct, Part, Present, Ranks, Rows, RowSum, Sizes, Tops, Units
from discreet.query.plan import Plan
from discreet.query.recipe import MeanAmong, Picked, Recipe, Single, parts
from discreet.query.sensitivity import rule
from discreet.query.shared import column_shares
from discreet.relation import Relation
from discreet.schema import Column, Null, Schema, Type
from discreet.schema.column import COARSE_STEP, has_undeclared_step
from discreet.schema.unit import ROW
from discreet.schema.words import key


def to_json(plan: Plan) -> dict[str, Any]:
    """The whole path for programs; exact numbers as text, in the units of their columns."""
    draft = plan.draft
    indices = {measured.part: index for index, measured in enumerate(plan.measured)}
    return {
        "question": canonical(draft.question),
        "unit": unit(draft.schema),
        "neighbours": str(draft.schema.relation),
        "row_cap": draft.reach.rows,
        "group_cap": draft.reach.groups,
        "path": [list(pair) for pair in draft.path],
        "epsilon": amounts.text_of(plan.terms.epsilon),
        "delta": amounts.text_of(plan.terms.delta),
        "level": amounts.text_of(plan.terms.level),
        "noise": plan.why,
        "shares": shares.to_json(column_shares(plan)),
        "parts": [_part_json(measured) for measured in plan.measured],
        "columns": [
            {
                "name": output.name,
                "parts": [indices[part] for part in parts(recipe)],
                "sensitivity": _column_sensitivity(recipe, plan),
            }
            for output, recipe in zip(draft.question.outputs, draft.recipes, strict=True)
        ],
        "cost": costs.to_json(plan.cost),
    }


def words(plan: Plan) -> list[str]:
    """The same for people, a sentence or two a line."""
    draft = plan.draft
    who = unit(draft.schema)
    lines = [
        f"Protected: {who}. Neighbouring tables differ by {_neighbours(draft.schema.relation, who)}.",
        _cap(plan),
    ]
    if draft.path:
        named = " and ".join(column for column, _ in draft.path)
        lines.append(f"Charged only to the part of the table named by {named}: other parts can be asked beside it.")
    for measured in plan.measured:
        lines += _part_words(measured)
    lines += undeclared_steps(plan)
    split = column_shares(plan)
    if len(split) > 1:
        lines.append(shares.words(split))
    lines.append(plan.why)
    epsilon, delta = amounts.text_of(plan.terms.epsilon), amounts.text_of(plan.terms.delta)
    lines.append(f"Cost: epsilon {epsilon}, delta {delta} for the whole question.")
    return lines


def caveats(plan: Plan) -> list[str]:
    """The caveats of an answer, the same for every table with this schema."""
    draft, who = plan.draft, unit(plan.draft.schema)
    lines = _row_limit(draft)
    if draft.caps.groups is not None:
        groups = plural(draft.caps.groups, "group")
        lines.append(f"One {who} counts in at most {groups}; ± does not cover what is left out.")
    lines += _extremes(draft)
    for output, recipe in zip(draft.question.outputs, draft.recipes, strict=True):
        if isinstance(recipe, MeanAmong):
            lines.append(
                f"{output.name} divides by the public number of rows, {recipe.n:,}; an empty cell counts as the middle "
                "of its bounds."
            )
        if isinstance(recipe, Picked) and (points := points_apart(recipe.part, draft.schema)) is not None:
            lines.append(
                f"{output.name} is {points}: its ranks are those of values rounded to them. "
                f"{_finer(recipe.part, draft.schema)} make them finer."
            )
    for measured in plan.measured:
        if isinstance(measured.mechanism, KeySelection):
            least = plural(measured.mechanism.least_count(plan.terms.level), "unit")
            chance = amounts.text_of(100 * plan.terms.level)
            lines.append(f"Small groups are missing: one of {least} or more appears in {chance} of 100 answers.")
    if any(isinstance(measured.part, RowSum | Ranks) for measured in plan.measured):
        lines.append("Values outside their public bounds count as the nearer end.")
    return lines + _readable(plan) + _left_out(draft) + _selection_notes(draft)


def synthetic_caveats(draft: Draft) -> list[str]:
    """Those that hold of an answer of synthetic rows too: of what was counted, of quantiles, groups and choices."""
    return _row_limit(draft) + _extremes(draft) + _left_out(draft) + _selection_notes(draft)


def _row_limit(draft: Draft) -> list[str]:
    """How many rows of one unit count."""
    if draft.schema.unit is None:
        return []
    limit, who = plural(draft.reach.rows, "row"), unit(draft.schema)
    return [
        f"At most {limit} of one {who} can count; of more, a fixed choice of them does. ± does not cover what is left "
        "out."
    ]


def _extremes(draft: Draft) -> list[str]:
    """Which quantile stands for the largest or smallest value."""
    lines = []
    for output in draft.question.outputs:
        if isinstance(output.aggregate, Extreme):
            q, end = EXTREMES[output.aggregate.end], "largest" if output.aggregate.end is End.MAX else "smallest"
            lines.append(
                f"{output.name} is the {amounts.text_of(q)}-quantile: the {end} value itself belongs to one unit."
            )
    return lines


def _selection_notes(draft: Draft) -> list[str]:
    """That rows were chosen by what is uncertain."""
    after = draft.question.after
    if after.having is None and not (after.order and after.limit is not None):
        return []
    return ["Rows were chosen by their noisy numbers, which favours lucky ones; ± does not know of that."]


def undeclared_steps(plan: Plan, least: Fraction = Fraction(0)) -> list[str]:
    """The steps in which the question's numbers are read, for columns that declare none."""
    return [_read_in_steps(column) for column in _columns(plan) if has_undeclared_step(column, least)]


def coarse_steps(plan: Plan) -> list[str]:
    """The same where a step is 1 or wider, which a reader of the answer must know."""
    return undeclared_steps(plan, COARSE_STEP)


def _read_in_steps(column: Column) -> str:
    """In which steps a number is read, and how to choose others."""
    where, step = key("columns", column.name), _step_text(column.step or Fraction(1))
    return (
        f"{column.name} is read in steps of {step}, at most a millionth of its bounds' width: "
        f"under [{where}] declare the step it was measured in, such as step = 0.01."
    )


def points_apart(part: Ranks, schema: Schema) -> str | None:
    """The points among which a quantile is chosen, in words, where they are coarser than the values themselves."""
    step = coarse_step(part, schema)
    if step is None:
        return None
    kind = {Type.DATE: " days", Type.DATETIME: " seconds"}.get(domain(part.item, schema).type, "")
    return f"chosen among points {_step_text(step)}{kind} apart"


def _finer(part: Ranks, schema: Schema) -> str:
    """What would make its points finer."""
    column = schema.find(part.item.name) if isinstance(part.item, Col) else None
    if column is None:
        return "Narrower limits, as in clamp(…, 0, 100),"
    remedy = "A declared step or narrower bounds" if has_undeclared_step(column) else "Narrower bounds"
    return f"{remedy} under [{key('columns', column.name)}]"


def _step_text(step: Fraction) -> str:
    return f"{step.numerator:,}" if step.denominator == 1 else amounts.text_of(Fraction(f"{float(step):.6g}"))


def group_limit_caveat(plan: Plan, groups: int) -> list[str]:
    """The caveat of an answer with as many groups as it can hold: a function of what was released."""
    limit = plan.joint.max_groups
    if limit is None or groups < limit:
        return []
    return [f"An answer like this holds {limit:,} groups, the first in the order of their keys; others may be missing."]


_WRITTEN = {
    Type.INTEGER: "whole numbers as 1234",
    Type.NUMBER: "numbers as 1234.5",
    Type.BOOLEAN: "booleans as true or false",
    Type.DATE: "dates as 2020-12-31",
    Type.DATETIME: "datetimes as 2020-12-31 23:59:59",
}


def _readable(plan: Plan) -> list[str]:
    """How cells must be written to be read at all, for the types that the question looks at."""
    types = dict.fromkeys(column.type for column in _columns(plan) if column.type in _WRITTEN)
    forms = ", ".join(_WRITTEN[kind] for kind in types)
    return [f"A cell that cannot be read counts as empty: {forms}."] if types else []


def _columns(plan: Plan) -> list[Column]:
    """The declared columns that the question looks at, by name."""
    schema, question = plan.draft.schema, plan.draft.question
    names = sorted(columns((question.outputs, question.keys, question.where)))
    return [column for name in names if (column := schema.find(name)) is not None]


def _left_out(draft: Draft) -> list[str]:
    """Which rows belong to no group: those whose key is empty, not listed or outside the bins."""
    keys = [cells for cells in draft.cells.keys if not cells.with_null and _may_be_empty(cells.key.item)]
    if not keys:
        return []
    names = " or ".join(cells.key.name for cells in keys)
    listed = any(_is_listed(cells.key.item, draft.schema) for cells in keys)
    ways = ["empty", *(["not listed in the metadata"] if listed else [])]
    ways += ["outside its bins"] if any(isinstance(cells.key.item, Bins) for cells in keys) else []
    sentence = f"Rows whose {names} is {' or '.join(ways)} are left out; ± does not cover that."
    computed = columns(tuple(cells.key.item for cells in keys if not isinstance(cells.key.item, Col)))
    with_group = [name for name in sorted(computed) if (column := draft.schema.find(name)) and column.null is Null.KEY]
    return [
        sentence
        + "".join(f" An empty {name} is a group only where {name} itself is grouped by." for name in with_group)
    ]


def _may_be_empty(item: Expr | Bins) -> bool:
    """Whether a key can be NULL, whatever its columns hold."""
    match item:
        case IsNull() | UnitIn():
            return False
        case Literal(value):
            return value is None
        case Case(branches, otherwise):
            return any(_may_be_empty(result) for _, result in branches) or _may_be_empty(otherwise)
        case Call("coalesce", items):
            return all(map(_may_be_empty, items))
        case _:
            return True


def _is_listed(item: Expr | Bins, schema: Schema) -> bool:
    """Whether it looks at a column whose values are listed: a cell of another counts as empty."""
    return any(column is not None and column.values is not None for column in map(schema.find, columns(item)))


def _cap(plan: Plan) -> str:
    """How much of one unit counts."""
    draft = plan.draft
    if draft.schema.unit is None:
        return "Cap: none is needed, for every row is protected by itself."
    rows, groups = draft.reach.rows, plural(draft.reach.groups, "group")
    counting = f"Cap: at most {plural(rows, 'row')} of one {unit(draft.schema)} {'counts' if rows == 1 else 'count'}"
    return counting + (f", in at most {groups}." if draft.question.keys else ".")


def unit(schema: Schema) -> str:
    """Who is protected, in one word."""
    return ROW if schema.unit is None else schema.unit.key


def mechanism_name(measured: Measured) -> str:
    """The mechanism of a part, in one or two words."""
    match measured.mechanism:
        case Additive():
            return "Laplace" if isinstance(measured.mechanism.noise, DiscreteLaplace) else "Gaussian"
        case KeySelection():
            return "threshold"
        case _:
            return "exponential"


def step(part: Part) -> Fraction:
    """What one lattice step of the part means."""
    match part:
        case RowSum():
            return part.lattice.step
        case Ranks():
            return part.grid.step
        case _:
            return Fraction(1)


def scale(measured: Measured) -> Fraction | None:
    """The width of additive noise in units of the column; None where a value is chosen."""
    noise = measured.mechanism.noise if isinstance(measured.mechanism, Additive | KeySelection) else None
    if noise is None:
        return None
    width = noise.scale if isinstance(noise, DiscreteLaplace) else noise.sigma
    return width * step(measured.part) if isinstance(measured.part, RowSum) else width


def measures(part: Part) -> str:
    """What a part is, in words."""
    match part:
        case Rows(of=()):
            return "rows"
        case Rows():
            return "rows whose value is not empty"
        case Units():
            return "units"
        case Distinct():
            return "different values"
        case RowSum():
            return "a sum"
        case Ranks(q=q):
            return f"the {amounts.text_of(q)}-quantile"
        case Tops(k=k):
            return "the most frequent value" if k == 1 else f"the {k} most frequent values"
        case Present():
            return "which groups there are"
        case Sizes():
            return "groups by their size"


def _part_json(measured: Measured) -> dict[str, Any]:
    unit_step = step(measured.part) if isinstance(measured.part, RowSum) else Fraction(1)
    sensitivity, width = measured.sensitivity, scale(measured)
    facts: dict[str, Any] = {
        "measures": measures(measured.part),
        "rule": rule(measured.part),
        "sensitivity": {
            "l0": amounts.text_of(sensitivity.l0),
            "l1": amounts.text_of(sensitivity.l1 * unit_step),
            "l2_squared": amounts.text_of(sensitivity.l2_squared * unit_step**2),
            "linf": amounts.text_of(sensitivity.linf * unit_step),
        },
        "mechanism": mechanism_name(measured),
        "scale": None if width is None else amounts.text_of(width),
        "step": amounts.text_of(step(measured.part)),
        "epsilon": None if measured.epsilon is None else amounts.text_of(measured.epsilon),
        "cost": costs.to_json(measured.mechanism.cost),
    }
    if isinstance(measured.mechanism, KeySelection):
        facts["threshold"] = measured.mechanism.threshold
    if isinstance(measured.part, Ranks):
        facts["grid_points"] = measured.part.grid.points
    return facts


def _column_sensitivity(recipe: Recipe, plan: Plan) -> str | None:
    """How far one unit moves the exact column in all, where that is one number: Σ over groups of the changes."""
    sensitivities = {measured.part: measured.sensitivity for measured in plan.measured}
    match recipe:
        case Single():
            return amounts.text_of(sensitivities[recipe.part].l1 * recipe.step)
        case MeanAmong():
            return amounts.text_of(sensitivities[recipe.total].l1 * recipe.total.lattice.step / recipe.n)
        case _:
            return None


def _part_words(measured: Measured) -> list[str]:
    unit_step = step(measured.part) if isinstance(measured.part, RowSum) else Fraction(1)
    sensitivity = amounts.text_of(measured.sensitivity.l1 * unit_step)
    share = "" if measured.epsilon is None else f", epsilon {amounts.text_of(measured.epsilon)}"
    moves = f"Sensitivity {sensitivity}: {rule(measured.part)}."
    return [f"Measured: {measures(measured.part)}. {moves}", f"  {_noise_words(measured)}{share}."]


def _noise_words(measured: Measured) -> str:
    match measured.mechanism:
        case Additive():
            width = "scale" if isinstance(measured.mechanism.noise, DiscreteLaplace) else "sigma"
            steps = f"drawn in steps of {amounts.text_of(step(measured.part))}"
            return f"{mechanism_name(measured)} noise of {width} {_short(scale(measured))}, {steps}"
        case KeySelection():
            is_laplace = isinstance(measured.mechanism.noise, DiscreteLaplace)
            noise = f"{'Laplace noise of scale' if is_laplace else 'Gaussian noise of sigma'} {_short(scale(measured))}"
            return f"Released if its units and {noise} are above {measured.mechanism.threshold}"
        case _ if isinstance(measured.part, Ranks):
            grid = measured.part.grid
            return (
                f"Chosen by the exponential mechanism among {grid.points:,} points {amounts.text_of(grid.step)} apart"
            )
        case _:
            return "Chosen by the exponential mechanism among public values"


def _short(value: Fraction | None) -> str:
    return "" if value is None else f"{float(value):.6g}"


def plural(count: int, noun: str) -> str:
    """The count and the noun, with its s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _neighbours(relation: Relation, who: str) -> str:
    return f"one whole {who}, there or not" if relation is Relation.ADD_REMOVE else f"the rows of one {who}, replaced"
