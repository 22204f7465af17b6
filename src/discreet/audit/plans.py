"""Audit what a curator is about to run: a planned release, or a declared survey, with its own code and parameters.

Every row is invented, so an audit reads nobody's data and costs nothing.  The noise, the tree, the cells, the codes and
the price are those of the plan itself; neighbours come from what a unit can do, never from the norm that is claimed.
Of many numbers only those that differ between two neighbours are looked at: the others have the same law on both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet import amounts
from discreet.audit.bounds import ALPHA
from discreet.audit.claim import Claim, audit_exactly
from discreet.audit.features import Outputs
from discreet.audit.forest import exact_layout
from discreet.audit.places import Table, grown, with_more
from discreet.audit.report import Row, rounded_down
from discreet.audit.reporting import Reporting
from discreet.audit.runs import outputs
from discreet.audit.trial import LEAST_RUNS, RUNS, Pair, audit
from discreet.errors import bad
from discreet.local.uses import UsesCode
from discreet.ndarrays import Ints
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.cost import Pure
from discreet.relation import Relation
from discreet.release.face import Releasing
from discreet.release.plan import ReleasePlan
from discreet.survey.question import Question
from discreet.survey.reading import read_survey
from discreet.survey.spec import Survey

_MOST_NUMBERS = 10**7  # of all runs of one side together
_MOST_EXACT = 10**5  # numbers of a release, and reports of a question, whose laws are written down
_WIDEST_REPORT = 7  # bytes: as a number it is exact in 64 bits
_SOME = 5  # units in every cell of a table that is not empty


@dataclass(frozen=True)
class AuditedPlan:
    """The rows of an audit, one or two a claim: by draws, and by exact laws where these are known."""

    name: str
    rows: tuple[Row, ...]

    @property
    def refuted(self) -> bool:
        """Whether a lower bound lies above its claim."""
        return any(row.is_refuted for row in self.rows)

    @property
    def sentence(self) -> str:
        """The result in words that promise no more than was shown."""
        listed = "; ".join(f"{row.name}: {row.claim}, at least {_bound(row)}" for row in self.rows)
        if self.refuted:
            return f"The plan is refuted: {listed}. Do not run it."
        return f"The plan is not refuted, on invented rows: {listed}. That does not prove it."

    def to_json(self) -> dict[str, Any]:
        """One object for programs."""
        rows = [row.to_json() for row in self.rows]
        return {"audit": rows, "refuted": self.refuted, "sentence": self.sentence}


def survey(declared: Survey | Path | str, *, runs: Any = RUNS) -> AuditedPlan:
    """Every question of a survey, on pairs of answers: what its reports cost beside what they claim.

    `declared` is the path of a survey's TOML file.
    """
    size = amounts.whole(runs, "runs", LEAST_RUNS, RUNS * 100, such_as=RUNS)
    questions = (declared if isinstance(declared, Survey) else read_survey(declared)).questions
    rows: list[Row] = []
    for question in questions:
        claim = _question_claim(question)
        code = question.protocol.code
        if code.report_bytes <= _WIDEST_REPORT:
            rows.append(_row_of_draws(claim, size))
        if getattr(code, "outputs", 256**code.report_bytes) <= _MOST_EXACT:
            rows.append(audit_exactly(claim))
    if not rows:
        fix = 'Audit one with values that are reported more shortly, such as method = "hashed".'
        raise bad(
            "declared", f"must have a report of at most {_WIDEST_REPORT} bytes", f"{len(questions)} long ones", fix
        )
    return AuditedPlan("survey", tuple(rows))


def release(planned: ReleasePlan | Releasing, *, runs: Any = RUNS, **price: Any) -> AuditedPlan:
    """The measurement of a planned release, on invented tables over its own tree.

    Give a plan, or a release as `dataset.release(…)` describes it and what `.plan` takes: epsilon=1.
    """
    size = amounts.whole(runs, "runs", LEAST_RUNS, RUNS * 100, such_as=RUNS)
    plan = planned.plan(**price) if isinstance(planned, Releasing) else planned
    if not isinstance(plan, ReleasePlan):
        fix = "Give dataset.release(…) and a price: dp.audit.release(dataset.release(by=…), epsilon=1)."
        raise bad("planned", "must be a release that is planned", type(planned).__name__, fix)
    measurement, pairs = plan.measurement, tuple(neighbours(plan))
    numbers = len(plan.subject.tree) * measurement.columns[-1].stop
    claim = Claim("release", type(measurement), measurement, pairs, pairs)
    rows = [audit_exactly(claim)] if numbers <= _MOST_EXACT else []
    affordable = min(size, _MOST_NUMBERS // numbers)
    if affordable >= LEAST_RUNS:
        rows.append(_row_of_draws(claim, affordable))
    if not rows:
        fix = "Audit the same release over a smaller tree."
        raise bad("planned", f"must have at most {_MOST_EXACT:,} numbers to be audited", f"{numbers:,} numbers", fix)
    return AuditedPlan("release", tuple(rows))


def neighbours(plan: ReleasePlan) -> list[Pair]:
    """Invented tables by leaf and cell that one unit, as the schema declares it, makes of each other."""
    spec, schema, tree = plan.subject.spec, plan.subject.schema, plan.subject.tree
    leaves, cells = len(tree.leaves), plan.subject.cells
    many_rows = schema.unit is not None and (spec.count == "rows" or spec.groups is not None)
    rows = schema.max_rows if many_rows else 1
    starts: list[Table] = [((number,) * cells,) * leaves for number in (0, _SOME)]
    together = [(0, 0)] * rows
    apart = [(leaf % leaves, (leaf + 1) % cells) for leaf in range(rows)]
    last = [(leaves - 1, cells - 1)] * rows
    is_person = spec.groups is not None and (
        schema.unit is None or spec.groups.casefold() != schema.unit.key.casefold()
    )

    def with_unit(table: Table, slots: Sequence[tuple[int, int]]) -> Table:
        if not is_person:
            return with_more(table, *(slots if many_rows and spec.groups is None else slots[:1]))
        for leaf, cell in slots:
            table = grown(table, leaf, cell if table[leaf][cell - 1] else 0)
        return table

    entered = [(start, with_unit(start, slots)) for start in starts for slots in (together, apart, last)]
    if schema.relation is Relation.ADD_REMOVE:
        return entered
    return [(with_unit(start, together), with_unit(start, slots)) for start in starts for slots in (apart, last)]


def _question_claim(question: Question) -> Claim:
    """What the question's protocol promises a person, whatever two answers they might give."""
    protocol, code = question.protocol, question.protocol.code
    per_use = isinstance(code, UsesCode)
    steps = 1 if per_use else code.size - 1
    pairs = tuple(dict.fromkeys(((0, steps), (steps, 0), (0, 1), (code.size - 1 - steps, code.size - 1))))
    cost = Pure(protocol.epsilon) if per_use else protocol.cost
    constructor: Any = type(protocol)
    return Claim(question.name, constructor, Reporting(code, cost, steps), pairs, pairs)


def _row_of_draws(claim: Claim, runs: int) -> Row:
    """The row whose bound came nearest to the claim, or furthest above it, of all pairs."""
    rows = [_row_of_pair(claim, pair, runs, ALPHA / len(claim.pairs)) for pair in claim.pairs]
    return max(rows, key=lambda row: (row.is_refuted, row.lower_bound))


def _row_of_pair(claim: Claim, pair: Pair, runs: int, alpha: float) -> Row:
    columns = _moved_columns(claim, pair)

    def draw(inputs: Any, n: int, source: Source) -> Outputs:
        drawn = outputs(claim.mechanism, inputs, n, source)
        return drawn if columns is None else drawn[:, columns]

    return audit(claim.name, claim.cost, draw=draw, pairs=(pair,), runs=runs, alpha=alpha, source=SYSTEM)


def _moved_columns(claim: Claim, pair: Pair) -> Ints | None:
    """Which numbers of a release differ between the two; None where an output is one number."""
    if isinstance(claim.mechanism, Reporting):
        return None
    first, second = (exact_layout(claim.mechanism, side)[0] for side in pair)
    moved = np.flatnonzero(first != second)
    return moved if moved.size else np.array([0])


def _bound(row: Row) -> str:
    return f"{rounded_down(row.lower_bound):g} ({f'{row.runs:,} runs' if row.runs else 'exact law'})"
