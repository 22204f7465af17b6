"""A plan in words and as JSON: caps, sensitivity and its rule, mechanism, scale, step, split.  Public facts only."""

from fractions import Fraction
from typing import Any

from discreet import amounts, shares
from discreet.mechanism.additive import Additive
from discreet.mechanism.keys import KeySelection
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy import cost as costs
from discreet.query.aggregate import EXTREMES, coarse_step
from discreet.query.canonical import canonical
from discreet.query.joint import Measured
from discreet.query.meaning.domain import domain
from discreet.query.meaning.fold import columns
from discreet.query.nodes import Bins, Call, Case, Col, End, Expr, Extreme, IsNull, Literal
from discreet.query.parts import Distinct, Part, Present, Ranks, Rows, RowSum, Sizes, Tops, Units
from discreet.query.plan import Plan
from discreet.query.recipe import MeanAmong, Picked, Recipe, Single, parts
from discreet.query.sensitivity import rule
from discreet.query.shared import column_shares
from discreet.relation import Relation
from discreet.schema import Column, Null, Schema, Type
from discreet.schema.column import COARSE_STEP, has_undeclared_step
from discreet.schema.words import key


def to_json(plan: Plan) -> dict[str, Any]:
    """The whole path for programs; exact numbers as text, in the units of their columns."""
    draft = plan.draft
    places = {one.part: place for place, one in enumerate(plan.measured)}
    return {
        "question": canonical(draft.question),
        "unit": unit(draft.schema),
        "neighbours": str(draft.schema.relation),
        "row_cap": draft.reach.rows,
        "group_cap": draft.reach.groups,
        "path": [list(pair) for pair in draft.path],
        "epsilon": amounts.shown(plan.terms.epsilon),
        "delta": amounts.shown(plan.terms.delta),
        "level": amounts.shown(plan.terms.level),
        "noise": plan.why,
        "shares": shares.to_json(column_shares(plan)),
        "parts": [_part_json(one) for one in plan.measured],
        "columns": [
            {
                "name": output.name,
                "parts": [places[part] for part in parts(recipe)],
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
    for one in plan.measured:
        lines += _part_words(one)
    lines += undeclared_steps(plan)
    split = column_shares(plan)
    if len(split) > 1:
        lines.append(shares.words(split))
    lines.append(plan.why)
    epsilon, delta = amounts.shown(plan.terms.epsilon), amounts.shown(plan.terms.delta)
    lines.append(f"Cost: epsilon {epsilon}, delta {delta} for the whole question.")
    return lines


def caveats(plan: Plan) -> list[str]:
    """What a reader of the numbers must know: the same for every table with this schema."""
    draft, who = plan.draft, unit(plan.draft.schema)
    found = []
    if draft.schema.unit is not None:
        found.append(
            f"At most {plural(draft.reach.rows, 'row')} of one {who} can count; of more, a fixed choice of them does. "
            "± does not cover what is left out."
        )
    if draft.caps.groups is not None:
        most = plural(draft.caps.groups, "group")
        found.append(f"One {who} counts in at most {most}; ± does not cover what is left out.")
    for output in draft.question.outputs:
        if isinstance(output.aggregate, Extreme):
            q, end = EXTREMES[output.aggregate.end], "largest" if output.aggregate.end is End.MAX else "smallest"
            found.append(
                f"{output.name} is the {amounts.shown(q)}-quantile: the {end} value itself belongs to one unit."
            )
    for output, recipe in zip(draft.question.outputs, draft.recipes, strict=True):
        if isinstance(recipe, MeanAmong):
            found.append(
                f"{output.name} divides by the public number of rows, {recipe.n:,}; an empty cell counts as the middle "
                "of its bounds."
            )
        if isinstance(recipe, Picked) and (points := points_apart(recipe.part, draft.schema)) is not None:
            found.append(
                f"{output.name} is {points}: its ranks are those of values rounded to them. "
                f"{_finer(recipe.part, draft.schema)} make them finer."
            )
    for one in plan.measured:
        if isinstance(one.mechanism, KeySelection):
            least = plural(one.mechanism.kept_from(plan.terms.level), "unit")
            chance = amounts.shown(100 * plan.terms.level)
            found.append(f"Small groups are missing: one of {least} or more appears in {chance} of 100 answers.")
    if any(isinstance(one.part, RowSum | Ranks) for one in plan.measured):
        found.append("Values outside their public bounds count as the nearer end.")
    found += _readable(plan)
    found += _left_out(plan)
    after = draft.question.after
    if after.having is not None or (after.order and after.limit is not None):
        found.append("Rows were chosen by their noisy numbers, which favours lucky ones; ± does not know of that.")
    return found


def undeclared_steps(plan: Plan, least: Fraction = Fraction(0)) -> list[str]:
    """In which steps numbers are read for which none is declared, of those that the question looks at."""
    schema, question = plan.draft.schema, plan.draft.question
    found = map(schema.find, sorted(columns((question.outputs, question.keys, question.where))))
    return [_read_in_steps(column) for column in found if column is not None and has_undeclared_step(column, least)]


def coarse_steps(plan: Plan) -> list[str]:
    """The same where a step is 1 or wider: what a reader of the answer must know."""
    return undeclared_steps(plan, COARSE_STEP)


def _read_in_steps(column: Column) -> str:
    """That a number is read to the nearest of such steps, and how to choose others."""
    where, step = key("columns", column.name), _apart(column.step or Fraction(1))
    return (
        f"{column.name} is read in steps of {step}, at most a millionth of its bounds' width: "
        f"under [{where}] declare the step it was measured in, such as step = 0.01."
    )


def points_apart(part: Ranks, schema: Schema) -> str | None:
    """Among which points a quantile is chosen, in words, where they are coarser than the values themselves."""
    apart = coarse_step(part, schema)
    if apart is None:
        return None
    kind = {Type.DATE: " days", Type.DATETIME: " seconds"}.get(domain(part.item, schema).type, "")
    return f"chosen among points {_apart(apart)}{kind} apart"


def _finer(part: Ranks, schema: Schema) -> str:
    """What would make its points finer."""
    column = schema.find(part.item.name) if isinstance(part.item, Col) else None
    if column is None:
        return "Narrower limits, as in clamp(…, 0, 100),"
    what = "A declared step or narrower bounds" if has_undeclared_step(column) else "Narrower bounds"
    return f"{what} under [{key('columns', column.name)}]"


def _apart(step: Fraction) -> str:
    return f"{step.numerator:,}" if step.denominator == 1 else amounts.shown(Fraction(f"{float(step):.6g}"))


def shortened(plan: Plan, groups: int) -> list[str]:
    """What to know of an answer with so many groups, where it holds no more: a function of what was released."""
    most = plan.joint.most
    if most is None or groups < most:
        return []
    return [f"An answer like this holds {most:,} groups, the first in the order of their keys; others may be missing."]


_WRITTEN = {
    Type.INTEGER: "whole numbers as 1234",
    Type.NUMBER: "numbers as 1234.5",
    Type.BOOLEAN: "booleans as true or false",
    Type.DATE: "dates as 2020-12-31",
    Type.DATETIME: "datetimes as 2020-12-31 23:59:59",
}


def _readable(plan: Plan) -> list[str]:
    """How cells must be written to be read at all, for the types that the question looks at."""
    schema, question = plan.draft.schema, plan.draft.question
    found = [schema.find(name) for name in sorted(columns((question.outputs, question.keys, question.where)))]
    types = dict.fromkeys(column.type for column in found if column is not None and column.type in _WRITTEN)
    said = ", ".join(_WRITTEN[kind] for kind in types)
    return [f"A cell that cannot be read counts as empty: {said}."] if types else []


def _left_out(plan: Plan) -> list[str]:
    """Which rows belong to no group: those whose key is empty, not listed or outside the bins."""
    draft = plan.draft
    keys = [one for one in draft.cells.keys if not one.with_null and _may_be_empty(one.key.item)]
    if not keys:
        return []
    names = " or ".join(one.key.name for one in keys)
    listed = any(_is_listed(one.key.item, draft.schema) for one in keys)
    ways = ["empty", *(["not listed in the metadata"] if listed else [])]
    ways += ["outside its bins"] if any(isinstance(one.key.item, Bins) for one in keys) else []
    said = f"Rows whose {names} is {' or '.join(ways)} are left out; ± does not cover that."
    computed = columns(tuple(one.key.item for one in keys if not isinstance(one.key.item, Col)))
    kept = [name for name in sorted(computed) if (column := draft.schema.find(name)) and column.null is Null.KEY]
    return [said + "".join(f" An empty {name} is a group only where {name} itself is grouped by." for name in kept)]


def _may_be_empty(item: Expr | Bins) -> bool:
    """Whether a key can be NULL, whatever its columns hold."""
    match item:
        case IsNull():
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
    found = map(schema.find, columns(item))
    return any(column is not None and column.values is not None for column in found)


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
    return "row" if schema.unit is None else schema.unit.key


def mechanism_name(one: Measured) -> str:
    """The mechanism of a part, in one or two words."""
    match one.mechanism:
        case Additive():
            return "Laplace" if isinstance(one.mechanism.noise, DiscreteLaplace) else "Gaussian"
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


def scale(one: Measured) -> Fraction | None:
    """The width of additive noise in units of the column; None where a value is chosen."""
    noise = one.mechanism.noise if isinstance(one.mechanism, Additive | KeySelection) else None
    if noise is None:
        return None
    wide = noise.scale if isinstance(noise, DiscreteLaplace) else noise.sigma
    return wide * step(one.part) if isinstance(one.part, RowSum) else wide


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
            return f"the {amounts.shown(q)}-quantile"
        case Tops(k=k):
            return "the most frequent value" if k == 1 else f"the {k} most frequent values"
        case Present():
            return "which groups there are"
        case Sizes():
            return "groups by their size"


def _part_json(one: Measured) -> dict[str, Any]:
    unit_step = step(one.part) if isinstance(one.part, RowSum) else Fraction(1)
    moved, wide = one.sensitivity, scale(one)
    found: dict[str, Any] = {
        "measures": measures(one.part),
        "rule": rule(one.part),
        "sensitivity": {
            "l0": amounts.shown(moved.l0),
            "l1": amounts.shown(moved.l1 * unit_step),
            "l2_squared": amounts.shown(moved.l2_squared * unit_step**2),
            "linf": amounts.shown(moved.linf * unit_step),
        },
        "mechanism": mechanism_name(one),
        "scale": None if wide is None else amounts.shown(wide),
        "step": amounts.shown(step(one.part)),
        "epsilon": None if one.epsilon is None else amounts.shown(one.epsilon),
        "cost": costs.to_json(one.mechanism.cost),
    }
    if isinstance(one.mechanism, KeySelection):
        found["threshold"] = one.mechanism.threshold
    if isinstance(one.part, Ranks):
        found["grid_points"] = one.part.grid.points
    return found


def _column_sensitivity(recipe: Recipe, plan: Plan) -> str | None:
    """How far one unit moves the exact column in all, where that is one number: Σ over groups of the changes."""
    moved = {one.part: one.sensitivity for one in plan.measured}
    match recipe:
        case Single():
            return amounts.shown(moved[recipe.part].l1 * recipe.step)
        case MeanAmong():
            return amounts.shown(moved[recipe.total].l1 * recipe.total.lattice.step / recipe.n)
        case _:
            return None


def _part_words(one: Measured) -> list[str]:
    unit_step = step(one.part) if isinstance(one.part, RowSum) else Fraction(1)
    moved = amounts.shown(one.sensitivity.l1 * unit_step)
    own = "" if one.epsilon is None else f", epsilon {amounts.shown(one.epsilon)}"
    return [f"Measured: {measures(one.part)}. Sensitivity {moved}: {rule(one.part)}.", f"  {_noise_words(one)}{own}."]


def _noise_words(one: Measured) -> str:
    match one.mechanism:
        case Additive():
            width = "scale" if isinstance(one.mechanism.noise, DiscreteLaplace) else "sigma"
            steps = f"drawn in steps of {amounts.shown(step(one.part))}"
            return f"{mechanism_name(one)} noise of {width} {_short(scale(one))}, {steps}"
        case KeySelection():
            flat = isinstance(one.mechanism.noise, DiscreteLaplace)
            noise = f"{'Laplace noise of scale' if flat else 'Gaussian noise of sigma'} {_short(scale(one))}"
            return f"Released if its units and {noise} are above {one.mechanism.threshold}"
        case _ if isinstance(one.part, Ranks):
            grid = one.part.grid
            return f"Chosen by the exponential mechanism among {grid.points:,} points {amounts.shown(grid.step)} apart"
        case _:
            return "Chosen by the exponential mechanism among public values"


def _short(value: Fraction | None) -> str:
    return "" if value is None else f"{float(value):.6g}"


def plural(count: int, what: str) -> str:
    """So many of something, with its s."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _neighbours(relation: Relation, who: str) -> str:
    return f"one whole {who}, there or not" if relation is Relation.ADD_REMOVE else f"the rows of one {who}, replaced"
