"""A fit made again from its public facts, its price and its released numbers; no table and no schema of one is needed.

What is kept of the schema are the unit, the relation, and the columns that the model uses, each with all its public
facts: sensitivities and noise follow from these alone.  The rebuilt facts must be those that were stored.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.learn.fit import Fit, price_json
from discreet.learn.learner import Learner, Plan, Released, facts_of
from discreet.learn.learners import learner_of
from discreet.learn.price import Price
from discreet.learn.privacy import GIVEN, INVENTED, REHEARSED, WHOLE, privacy_of
from discreet.learn.subject import Subject, subject_of
from discreet.ledger.unbooked import NOWHERE
from discreet.privacy import price as prices
from discreet.query.canonical import TAGS as QUESTION_TAGS
from discreet.query.nodes import Expr
from discreet.relation import Relation
from discreet.schema import Column, Empty, Null, Schema, Type, Unit
from discreet.tagged import Form, Single, Tags
from discreet.terms import Terms

_COLUMN = "name type bounds values step bins why_public fixed_per_unit null empty"
_FORMS = {
    Schema: Form("schema", "name columns unit relation=neighbours"),
    Unit: Form("unit", "key max_rows"),
    Column: Form("column", _COLUMN),
}
_TAGS = Tags(_FORMS, tuple(Single(kind.__name__.casefold(), kind, str, kind) for kind in (Type, Null, Empty, Relation)))
_COVERS = (GIVEN, WHOLE, INVENTED)
RECEIPT = re.compile(rf"({re.escape(REHEARSED)})?\d{{1,18}}-[0-9a-f]{{12}}", re.ASCII)
_SPARE_CELLS = 2**8  # beyond the numbers of a model
_FRACTION = re.compile(r"-?\d{1,1000}(/\d{1,1000})?", re.ASCII)


class Unlike(ValueError):
    """Facts that do not belong together."""


def description_of(fit: Fit) -> dict[str, Any]:
    """Facts, schema, price and promise of a fit, as JSON."""
    subject = fit.plan.subject
    return {
        "facts": fit.facts.to_json(),
        "schema": schema_json(subject),
        "price": price_json(fit.plan.price),
        "privacy": fit.privacy.to_json(),
    }


def rebuild(stored: Mapping[str, Any], released: Released) -> Fit:
    """The fit that `description_of` describes; ValueError where its parts do not belong together.

    The promise is computed anew from the plan.  Whether it is the stated one is for `verify` to say.
    """
    facts = stored["facts"]
    subject = subject_from_json(facts["subject"], stored["schema"])
    learner = learner_of(facts["learner"], facts["options"])
    if facts_of(learner, subject).to_json() != facts:
        raise Unlike("the facts are not those of the columns")
    _require_proportionate(learner, subject, released)
    plan = learner.plan(subject, price_from_json(stored["price"]))
    _require_paid(plan)
    covers, receipt = str(stored["privacy"]["covers"]), str(stored["privacy"]["receipt"])
    if covers not in _COVERS:
        raise Unlike("nothing is known of what the promise covers")
    if receipt != NOWHERE and RECEIPT.fullmatch(receipt) is None:
        raise Unlike("the receipt is none of a ledger")
    fit = Fit(facts_of(learner, subject), plan, released, privacy_of(plan, receipt=receipt, covers=covers))
    _require_scores(fit)
    return fit


def _require_paid(plan: Plan) -> None:
    """Refuses ε and δ that the noise does not give."""
    terms = plan.price.terms
    if prices.delta(plan.cost, terms.epsilon).value > terms.delta:
        raise Unlike("the noise is too small for the price")


def _require_proportionate(learner: Learner, subject: Subject, released: Released) -> None:
    """Refuses a plan of many cells beside few numbers: planning takes time and memory for each cell, and a small file
    must take little of both.

    Every model but a forest has a number for each cell, and a forest one for each leaf; what a forest holds of cells is
    bounded by its plan.  How long a condition may be is a rule of subjects.
    """
    numbers, options = sum(values.size for values in released.values()), learner.options()
    lines, bins = max(len(subject.classes) - 1, 1), options.get("bins")
    if "trees" in options:
        trees, depth = options["trees"] or 1, options["depth"] or 0
        if trees * len(subject.classes) << depth > numbers:
            raise Unlike("there are more leaves than numbers")
    else:
        cells = 0
        for feature in subject.features:
            cells += 1 if bins is None and feature.is_number else feature.cells(bins or 0)
            if cells * lines > numbers + _SPARE_CELLS:
                raise Unlike("there are more cells than numbers")


def schema_json(subject: Subject) -> Any:
    """The schema without the columns that the model does not use, as JSON."""
    return used_schema_json(subject.schema, subject.columns, subject.where)


def used_schema_json(schema: Schema, names: Iterable[str], where: Expr | None) -> Any:
    """The schema with these columns and those of the condition alone, as JSON."""
    used = {name.casefold() for name in (*names, *_columns_in(QUESTION_TAGS.plain(where)))}
    columns = tuple(column for column in schema.columns if column.name.casefold() in used)
    return _TAGS.plain(Schema(schema.name, columns, schema.unit, schema.relation))


def schema_from_json(stored: Any) -> Schema:
    """The schema that `used_schema_json` gave; ValueError where it is none."""
    _require_short_numbers(stored)
    schema = _TAGS.value(stored)
    if not isinstance(schema, Schema):
        raise Unlike("there is no schema")
    return schema


def _columns_in(stored: Any) -> Iterator[str]:
    """The names of columns in the JSON of an expression."""
    if isinstance(stored, list):
        for part in stored:
            yield from _columns_in(part)
    elif isinstance(stored, dict):
        if stored.get("is") == "column":
            yield stored["name"]
        yield from _columns_in(list(stored.values()))


def subject_from_json(facts: Mapping[str, Any], stored_schema: Any) -> Subject:
    """The subject that its facts and `schema_json` describe; ValueError where they do not belong together."""
    schema = schema_from_json(stored_schema)
    columns = [*facts["features"], facts["target"]]
    names = {column["column"]: column["name"] for column in columns}
    features = [column["column"] for column in facts["features"]]
    where = expression_from_text(facts["where"])
    return subject_of(schema, facts["target"]["column"], features, max_rows=facts["max_rows"], where=where, names=names)


def expression_from_text(text: str | None) -> Expr | None:
    """The expression with that canonical text; None for none."""
    if text is None:
        return None
    stored = json.loads(text)
    _require_short_numbers(stored)
    where: Expr = QUESTION_TAGS.value(stored)
    return where


def _require_short_numbers(stored: Any) -> None:
    """Refuses texts that are short and would be long numbers, such as 1e999999999."""
    if isinstance(stored, list):
        for part in stored:
            _require_short_numbers(part)
    elif isinstance(stored, dict):
        if stored.get("is") == "fraction":
            fraction_from_text(stored["of"])
        _require_short_numbers(list(stored.values()))


def fraction_from_text(text: Any) -> Fraction:
    """The number that `str` of a fraction wrote; ValueError for any other text."""
    if not isinstance(text, str) or _FRACTION.fullmatch(text) is None:
        raise Unlike("a number is not written as one")
    return Fraction(text)


def price_from_json(stored: Mapping[str, Any]) -> Price:
    """The price that `price_json` described; ValueError where it is none."""
    terms = Terms.parse(fraction_from_text(stored["epsilon"]), fraction_from_text(stored["delta"]))
    sigma = None if stored["sigma"] is None else amounts.positive(fraction_from_text(stored["sigma"]), "sigma")
    return Price(terms, sigma, is_rho=stored["rho"] is True)


def _require_scores(fit: Fit) -> None:
    """Refuses numbers that make no model: it must score a row at the first and one at the last value of each column."""
    subject = fit.plan.subject
    ends = {feature.name: feature.values or feature.bounds or () for feature in subject.features}
    fit.model.scores(subject.encoded({name: [values[0], values[-1]] for name, values in ends.items()}))
