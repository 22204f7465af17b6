"""From what a mechanism released to an answer: estimates, words and the clauses that look at released rows."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet import amounts, envelope
from discreet.answer.answer import Answer
from discreet.answer.caps import counted_of
from discreet.answer.column import Column, Plain, column, joined, plain
from discreet.answer.estimate import estimated
from discreet.answer.noisy import Estimates, Noisy
from discreet.answer.stored import opened, question, replayed
from discreet.mechanism.additive import Additive
from discreet.noise.laplace import DiscreteLaplace
from discreet.query import canonical, explain
from discreet.query.after import row_order
from discreet.query.bound import Draft
from discreet.query.compile.aligned import is_aligned
from discreet.query.joint import Measured, Released
from discreet.query.meaning import dates
from discreet.query.meaning.domain import domain
from discreet.query.nodes import After, Question
from discreet.query.parts import Part, Ranks, RowSum
from discreet.query.plan import Plan
from discreet.query.readable import question_text
from discreet.query.recipe import Picked, Recipe, Single, parts
from discreet.query.tags import TAGS
from discreet.schema import Schema, Type
from discreet.terms import LEVEL


def answered(plan: Plan, released: Released) -> Answer:
    """The whole answer, a function of the plan and of released numbers alone."""
    draft = plan.draft
    noisy = noisy_parts(plan, released.parts)
    columns = [
        _column(output.name, recipe, plan, noisy)
        for output, recipe in zip(draft.question.outputs, draft.recipes, strict=True)
    ]
    whole = Answer(
        dataset=draft.schema.name,
        question=question_text(draft.question),
        keys=tuple(key.name for key in draft.question.keys),
        labels=tuple(tuple(_label(label) for label in key) for key in released.keys),
        columns=tuple(columns),
        level=plan.terms.level,
        cost=cost_json(plan),
        caveats=(*explain.caveats(plan), *explain.coarse_steps(plan), *explain.shortened(plan, len(released.keys))),
        plan=explain.to_json(plan) | {"words": explain.words(plan)},
    )
    if draft.question.after == After():
        return whole
    label_ranks = {  # bins and the like sort by their public order, not by their letters
        key.key.name: {_label(label): rank for rank, label in enumerate(key.labels)}
        for key in draft.cells.keys
        if key.labels is not None
    }
    texts = [{name: _text(value) for name, value in row.items()} for row in whole.rows]
    return whole.kept(row_order(texts, draft.question.after, label_ranks=label_ranks))


def _text(value: Any) -> Any:
    """A value as HAVING and ORDER BY see it: several favourites are one text."""
    return joined(tuple(value)) if isinstance(value, list) else value


def shown(stored: bytes, draft: Draft, level: Fraction) -> Answer:
    """What the ledger keeps, as an answer to the question of today's draft; of the first ledgers as it was written."""
    if not stored.startswith(envelope.HEAD):
        return Answer.from_bytes(stored)
    return answered(*replayed(opened(stored), draft, level))


def recalled(stored: bytes, drafted: Callable[[Question], Draft], *, schema: str) -> Answer:
    """The answer to the question that was charged; `drafted` bounds it by today's public facts.

    Where these are not the facts of that day, all that is told is what was told then.
    """
    if not stored.startswith(envelope.HEAD):
        return Answer.from_bytes(stored)
    kept = opened(stored)
    facts = kept.facts
    if facts["schema"] == schema:
        answer = shown(stored, drafted(question(kept)), LEVEL)
    else:
        price = {name: amounts.shown(Fraction(facts[name])) for name in ("epsilon", "delta")}
        answer = Answer("", facts["text"], (), (), (), LEVEL, price, plan={"words": facts["told"]})
    return replace(answer, plan=answer.plan | {"version": kept.version})


def _label(label: Any) -> Plain:
    """A key as JSON and tables can carry it: a number beyond 64 bits as the double that it was."""
    shown = plain(label)
    return float(shown) if isinstance(shown, int) and not -(2**63) <= shown < 2**63 else shown


def noisy_parts(plan: Plan, values: Any) -> dict[Part, Noisy]:
    """Each part's released numbers beside the law of their noise."""
    return {
        one.part: Noisy(values[one.part], one.mechanism, _rounding(one.part, plan.draft.schema))
        for one in plan.measured
        if one.part in values
    }


def cost_json(plan: Plan) -> dict[str, Any]:
    """What is charged, as replies state it."""
    schema = plan.draft.schema
    return plan.terms.cost_json(schema.relation, explain.unit(schema))


def mechanism_words(recipe: Recipe, plan: Plan) -> str:
    """The mechanisms behind a column."""
    by_part = {one.part: one for one in plan.measured}
    return " and ".join(dict.fromkeys(explain.mechanism_name(by_part[part]) for part in parts(recipe)))


def _column(name: str, recipe: Recipe, plan: Plan, noisy: dict[Part, Noisy]) -> Column:
    estimates = estimated(recipe, noisy, plan.terms.level)
    if isinstance(recipe, Picked):
        estimates = _in_its_type(estimates, recipe.part, plan)
    by_part = {one.part: one for one in plan.measured}
    shares = [by_part[part].epsilon for part in parts(recipe)]
    epsilon = None if None in shares else amounts.shown(sum((s for s in shares if s is not None), Fraction(0)))
    law = _law(by_part[recipe.part]) if isinstance(recipe, Single) else {}
    if isinstance(recipe, Picked):
        law = {"step": recipe.part.grid.step}
    of = counted_of(recipe, plan.draft)
    return column(name, estimates, mechanism=mechanism_words(recipe, plan), epsilon=epsilon, of=of, **law)


def _law(one: Measured) -> dict[str, Any]:
    """What is known of a column that is one noisy part: its noise, in steps."""
    if not isinstance(one.mechanism, Additive):
        return {}
    noise = one.mechanism.noise
    flat = isinstance(noise, DiscreteLaplace)
    return {
        "kind": "laplace" if flat else "gaussian",
        "scale": noise.scale if isinstance(noise, DiscreteLaplace) else noise.sigma,
        "step": explain.step(one.part),
        "part": canonical.canonical_json(TAGS.plain(one.part)),
        "signed": isinstance(one.part, RowSum) and one.part.lattice.low < 0,
    }


def _rounding(part: Part, schema: Schema) -> Fraction:
    """How far, in steps, a row may be moved onto the lattice: not at all where every row lies on it already."""
    moved = isinstance(part, RowSum) and not is_aligned(part.item, part.lattice, schema)
    return Fraction(1, 2) if moved else Fraction(0)


def _in_its_type(estimates: Estimates, part: Ranks, plan: Plan) -> Estimates:
    """Chosen grid points as the column has them: dates as dates, whole numbers as such."""
    kind = domain(part.item, plan.draft.schema).type
    values = [typed(Fraction(value), kind) for value in estimates.value if not isinstance(value, tuple)]
    return Estimates(values, estimates.low, estimates.high, estimates.ranks, estimates.shortfall)


def typed(value: Fraction, kind: Type) -> Any:
    """A measured value as its type shows it: days and seconds since 1970 as dates."""
    match kind:
        case Type.DATE:
            return dates.day(int(value))
        case Type.DATETIME:
            return dates.moment(int(value))
        case _:
            return value
