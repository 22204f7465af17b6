"""Make an answer from released numbers: estimates, words, and the clauses about released rows."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet import amounts, envelope
from discreet.answer.answer import Answer
from discreet.answer.caps import counted_of
from discreet.answer.column import Column, Plain, column, one_text, plain
from discreet.answer.estimate import estimates_of
from discreet.answer.noisy import Estimates, Noisy
from discreet.answer.stored import read_envelope, stored_plan, stored_question
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


def answer_of(plan: Plan, released: Released) -> Answer:
    """The answer, a function of the plan and of released numbers alone."""
    draft = plan.draft
    noisy = noisy_parts(plan, released.parts)
    columns = [
        _column(output.name, recipe, plan, noisy)
        for output, recipe in zip(draft.question.outputs, draft.recipes, strict=True)
    ]
    answer = Answer(
        dataset=draft.schema.name,
        question=question_text(draft.question),
        keys=tuple(key.name for key in draft.question.keys),
        labels=tuple(tuple(_label(label) for label in key) for key in released.keys),
        columns=tuple(columns),
        level=plan.terms.level,
        cost=cost_json(plan),
        caveats=(
            *explain.caveats(plan),
            *explain.coarse_steps(plan),
            *explain.group_limit_caveat(plan, len(released.keys)),
        ),
        plan=explain.to_json(plan) | {"words": explain.words(plan)},
    )
    if draft.question.after == After():
        return answer
    label_ranks = {  # bins and the like sort by their public order, not by their letters
        key.key.name: {_label(label): rank for rank, label in enumerate(key.labels)}
        for key in draft.cells.keys
        if key.labels is not None
    }
    texts = [{name: _text(value) for name, value in row.items()} for row in answer.rows]
    return answer.take(row_order(texts, draft.question.after, label_ranks=label_ranks))


def _text(value: Any) -> Any:
    """A value for HAVING and ORDER BY: several favourites are one text."""
    return one_text(tuple(value)) if isinstance(value, list) else value


def answer_to(stored: bytes, draft: Draft, level: Fraction) -> Answer:
    """The stored numbers as an answer to the draft's question; an answer of the first ledgers as it was written."""
    if not stored.startswith(envelope.HEAD):
        return Answer.from_bytes(stored)
    return answer_of(*stored_plan(read_envelope(stored), draft, level))


def recalled_answer(stored: bytes, drafted: Callable[[Question], Draft], *, schema: str) -> Answer:
    """The answer to the question that was charged; `drafted` bounds it by today's public facts.

    If these are not the facts of that day, the answer has only the text and the words stored then.
    """
    if not stored.startswith(envelope.HEAD):
        return Answer.from_bytes(stored)
    sealed = read_envelope(stored)
    facts = sealed.facts
    if facts["schema"] == schema:
        answer = answer_to(stored, drafted(stored_question(sealed)), LEVEL)
    else:
        price = {name: amounts.text_of(Fraction(facts[name])) for name in ("epsilon", "delta")}
        answer = Answer("", facts["text"], (), (), (), LEVEL, price, plan={"words": facts["told"]})
    return replace(answer, plan=answer.plan | {"version": sealed.version})


def _label(label: Any) -> Plain:
    """A key as JSON and tables have it: a number beyond 64 bits as the double that it was."""
    value = plain(label)
    return float(value) if isinstance(value, int) and not -(2**63) <= value < 2**63 else value


def noisy_parts(plan: Plan, values: Any) -> dict[Part, Noisy]:
    """Each part's released numbers beside the law of their noise."""
    return {
        measured.part: Noisy(values[measured.part], measured.mechanism, _rounding(measured.part, plan.draft.schema))
        for measured in plan.measured
        if measured.part in values
    }


def cost_json(plan: Plan) -> dict[str, Any]:
    """What is charged, as replies state it."""
    schema = plan.draft.schema
    return plan.terms.cost_json(schema.relation, explain.unit(schema))


def mechanism_words(recipe: Recipe, plan: Plan) -> str:
    """The mechanisms behind a column."""
    by_part = {measured.part: measured for measured in plan.measured}
    return " and ".join(dict.fromkeys(explain.mechanism_name(by_part[part]) for part in parts(recipe)))


def _column(name: str, recipe: Recipe, plan: Plan, noisy: dict[Part, Noisy]) -> Column:
    estimates = estimates_of(recipe, noisy, plan.terms.level)
    if isinstance(recipe, Picked):
        estimates = _in_its_type(estimates, recipe.part, plan)
    by_part = {measured.part: measured for measured in plan.measured}
    shares = [by_part[part].epsilon for part in parts(recipe)]
    epsilon = None if None in shares else amounts.text_of(sum((s for s in shares if s is not None), Fraction(0)))
    law = _law(by_part[recipe.part]) if isinstance(recipe, Single) else {}
    if isinstance(recipe, Picked):
        law = {"step": recipe.part.grid.step}
    of = counted_of(recipe, plan.draft)
    return column(name, estimates, mechanism=mechanism_words(recipe, plan), epsilon=epsilon, of=of, **law)


def _law(measured: Measured) -> dict[str, Any]:
    """The noise of a column that is one noisy part, in steps."""
    if not isinstance(measured.mechanism, Additive):
        return {}
    noise, part = measured.mechanism.noise, measured.part
    is_laplace = isinstance(noise, DiscreteLaplace)
    return {
        "kind": "laplace" if is_laplace else "gaussian",
        "scale": noise.scale if isinstance(noise, DiscreteLaplace) else noise.sigma,
        "step": explain.step(part),
        "part": canonical.canonical_json(TAGS.plain(part)),
        "signed": isinstance(part, RowSum) and part.lattice.low < 0,
    }


def _rounding(part: Part, schema: Schema) -> Fraction:
    """The largest distance, in steps, by which rounding moves a row: 0 if every row lies on the lattice already."""
    is_rounded = isinstance(part, RowSum) and not is_aligned(part.item, part.lattice, schema)
    return Fraction(1, 2) if is_rounded else Fraction(0)


def _in_its_type(estimates: Estimates, part: Ranks, plan: Plan) -> Estimates:
    """Chosen grid points in the type of the column: dates as dates, whole numbers as such."""
    kind = domain(part.item, plan.draft.schema).type
    values = [in_type(Fraction(value), kind) for value in estimates.value if not isinstance(value, tuple)]
    return Estimates(values, estimates.low, estimates.high, estimates.ranks, estimates.shortfall)


def in_type(value: Fraction, kind: Type) -> Any:
    """A measured value in its type: days and seconds since 1970 as dates."""
    match kind:
        case Type.DATE:
            return dates.day(int(value))
        case Type.DATETIME:
            return dates.moment(int(value))
        case _:
            return value
