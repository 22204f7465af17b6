"""What a file says of a synthetic table, and the build made again from it; no private table is needed.

Of the schema unit, relation and the columns that are synthesised are kept, each with all its public facts: cells,
sensitivities and noise follow from these alone.  All that follows is computed anew, and must be what was stated.
"""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet import envelope
from discreet.kernel.encode import MOST_ROWS
from discreet.learn.fit import price_json
from discreet.learn.privacy import INVENTED, REHEARSED, WHOLE
from discreet.learn.saved.rebuild import (
    RECEIPT,
    Unlike,
    expression_from_text,
    fraction_from_text,
    price_from_json,
    schema_from_json,
    used_schema_json,
)
from discreet.privacy import price as prices
from discreet.query.nodes import UnitIn
from discreet.schema import Schema
from discreet.synth.column.column import SynthColumn, synth_column
from discreet.synth.column.stated import MOST_ZEROS
from discreet.synth.column.zeros import Zero
from discreet.synth.plan import SynthPlan, plan_of
from discreet.synth.subject import MOST_COLUMNS, Subject
from discreet.synth.synthetic import SyntheticTable

FORMAT = 1
_MOST_LEFT_OUT, _LONGEST_TEXT = 10_000, 10_000
_MOST_MASKS = 2**15  # columns of all combinations: a tree of 10^8 cells holds none of more than 26
_COVERS = (INVENTED, WHOLE.replace("model", "synthetic table"))
_OPTIONS = ("method", "max_cells", "rows")
_CLOSE = 1e-9  # of a stated σ, which is computed by doubles


def description_of(table: SyntheticTable) -> dict[str, Any]:
    """Format, schema, subject, price, options, promise and measurements, as JSON."""
    plan, privacy = table.build.plan, table.privacy_
    subject = plan.subject
    return {
        **({"rehearsal": True} if privacy.is_invented else {}),
        "synthetic": FORMAT,
        "schema": used_schema_json(subject.schema, subject.column_names, subject.where),
        "subject": subject.to_json(),
        "left_out": [list(pair) for pair in subject.left_out.items()],
        "price": price_json(plan.price),
        "options": {"method": plan.method, "max_cells": plan.max_cells, "rows": plan.rows},
        "privacy": privacy.to_json(),
        "measured": [measurement.to_json() for measurement in table.measured],
        "version": envelope.version(),
    }


def plan_from_json(stated: Mapping[str, Any]) -> SynthPlan:
    """The plan that `description_of` described; ValueError where its facts do not belong together."""
    if stated["synthetic"] != FORMAT:
        raise Unlike("the format is another")
    subject = _subject_from_json(stated["subject"], schema_from_json(stated["schema"]), stated["left_out"])
    options = stated["options"]
    plan = plan_of(subject, price_from_json(stated["price"]), **{key: options[key] for key in _OPTIONS})
    terms = plan.price.terms
    if prices.delta(plan.cost, terms.epsilon).value > terms.delta:
        raise Unlike("the noise is too small for the price")
    return plan


def receipt_of(stated: Mapping[str, Any]) -> str:
    """The receipt; ValueError where it is none of a ledger, or of a rehearsal that the rest does not speak of."""
    receipt, covers = stated["privacy"]["receipt"], stated["privacy"]["covers"]
    if not isinstance(receipt, str) or RECEIPT.fullmatch(receipt) is None or covers not in _COVERS:
        raise Unlike("the receipt is none of a ledger")
    is_stamped = covers == INVENTED, receipt.startswith(REHEARSED), stated.get("rehearsal") is True
    if len(set(is_stamped)) > 1:
        raise Unlike("a rehearsal says so everywhere")
    return receipt


def require_description(table: SyntheticTable, stated: Mapping[str, Any]) -> None:
    """Refuses statements that are not those of the table made again, but for words of another version."""
    own, theirs = _comparable(description_of(table)), _comparable(stated)
    if stated.get("rehearsal") is True:  # whose rows are stamped where a rehearsal is at hand
        own |= {"rehearsal": True, "privacy": {**own["privacy"], "covers": INVENTED}}
    is_same_version = stated["version"] == envelope.version()
    for facts in (own, theirs):
        facts.pop("version")
        if not is_same_version:
            facts["privacy"] = {name: fact for name, fact in facts["privacy"].items() if name != "mechanisms"}
    deviations = [[float(measurement.pop("deviation")) for measurement in facts["measured"]] for facts in (own, theirs)]
    if own != theirs or not all(abs(x - y) <= _CLOSE * abs(x) for x, y in zip(*deviations, strict=True)):
        raise Unlike("what is stated is not what follows")


def _comparable(facts: Mapping[str, Any]) -> dict[str, Any]:
    """A copy whose parts may be changed, as JSON gives it back."""

    copy: dict[str, Any] = json.loads(json.dumps(facts))
    return copy


def _subject_from_json(facts: Mapping[str, Any], schema: Schema, left_out: Sequence[tuple[str, str]]) -> Subject:
    stored, zeros = facts["columns"], facts["zeros"]
    if not 0 < len(stored) <= MOST_COLUMNS or len(left_out) > _MOST_LEFT_OUT:
        raise Unlike("there are too many columns")
    if schema.max_rows > MOST_ROWS or len(zeros) > MOST_ZEROS or sum(map(len, zeros)) > _MOST_MASKS:
        raise Unlike("there are too many rows of a unit, or too many combinations")
    columns = tuple(_column(schema, column) for column in stored)
    names = {column.name for column in columns}
    texts = [text for name, reason in left_out for text in (name, reason)]
    if len(names) < len(columns) or not all(isinstance(text, str) and len(text) <= _LONGEST_TEXT for text in texts):
        raise Unlike("a column has no name of its own")
    zeros = tuple(_zero(columns, zero) for zero in zeros)
    return Subject(schema, columns, zeros, dict(left_out), _part_from_text(facts.get("where")))


def _part_from_text(text: str | None) -> UnitIn | None:
    """The part of the units with that canonical text, which is all that a build may be confined to; None for none."""
    where = expression_from_text(text)
    if where is None:
        return None
    if not isinstance(where, UnitIn) or not all(isinstance(end, Fraction) for end in (where.first, where.end)):
        raise Unlike("the condition is no part of the units")
    if not 0 <= where.first < where.end <= 1:
        raise Unlike("there is no such part of the units")
    return where


def _column(schema: Schema, facts: Mapping[str, Any]) -> SynthColumn:
    """The column as public facts cut it, with the further edges that the file names."""
    own = schema.find(str(facts["name"]))
    if own is None:
        raise Unlike("a column is not declared")
    if "values" not in facts:
        for text in (*facts["edges"], facts["step"]):
            fraction_from_text(text)
    stored = SynthColumn.from_json(facts)
    column = synth_column(own, (stored.edges or ())[:-1])
    if column != stored:
        raise Unlike("a column has other cells than its public facts give")
    return column


def _zero(columns: Sequence[SynthColumn], facts: Mapping[str, Any]) -> Zero:
    by_name = {column.name: column for column in columns}
    for name, part in facts.items():
        codes = by_name[name].cells + 1
        runs = [(int(first), int(last)) for first, last in part["runs"]]
        if part["codes"] != codes or not all(0 <= first <= last < codes for first, last in runs):
            raise Unlike("an impossible combination has other cells")
    zero = Zero.from_json(facts)
    if len(zero.masks) < 2 or all(mask.all() for mask in zero.masks.values()):
        raise Unlike("an impossible combination leaves nothing")
    return zero
