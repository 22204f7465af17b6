"""Sentences about a synthetic table that its card and its page share; all of it follows from public facts and released
numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

from discreet.errors import NotPriced
from discreet.learn.privacy import Privacy
from discreet.privacy import odds, words
from discreet.privacy.cost import Approx, Cost, Pure
from discreet.relation import Relation
from discreet.shares import Share, parts_in_words
from discreet.synth.build import has_worthwhile_pair
from discreet.synth.column.absence import absence_zeros
from discreet.synth.doubts import doubts_of
from discreet.synth.measured.facts import Measurement
from discreet.synth.plan import SCORES, SINGLES, SynthPlan
from discreet.synth.synthetic import SyntheticTable
from discreet.terms import price_text

INVENTED = "REHEARSAL: the table is like rows invented from public facts, so it says nothing about the private table."
STEPS = {
    "singles": "Every column by its cells, a first look",
    "scores": "How far each pair of columns is from independent",
    "columns": "Every column by its cells, a second time",
    "pairs": "Tables of the chosen pairs, by groups of cells",
}


@dataclass(frozen=True)
class Step:
    """One step of measuring: how many tables and cells, the range of σ of one count, its share of the price."""

    words: str
    tables: int
    cells: int
    least: float
    largest: float
    share: str

    @property
    def deviation(self) -> str:
        """σ of one count of units; a range where tables differ."""
        low, high = number(self.least), number(self.largest)
        return low if low == high else f"{low} – {high}"


def number(value: float) -> str:
    """A number in three digits, without an exponent where people would write none."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def title(table: SyntheticTable) -> str:
    """What the table is called."""
    return f"Synthetic table of {table.build.plan.subject.schema.name}"


def what(table: SyntheticTable) -> str:
    """What the table is, and at which price."""
    privacy, columns = table.privacy_, len(table.columns)
    many = f"{table.rows:,} row{'s' * (table.rows != 1)} of {columns} column{'s' * (columns != 1)}"
    return (
        f"{many}, drawn from noisy counts and copied from nobody: differentially private with "
        f"{price_text(privacy.to_json())} for each {privacy.unit}."
    )


def promise(privacy: Privacy) -> list[str]:
    """What the promise lets someone conclude about one unit."""
    try:
        reaches = odds.reaches(privacy.cost, privacy.relation, privacy.delta)
    except NotPriced:
        reaches = odds.reaches(_stated_cost(privacy), privacy.relation, privacy.delta)
    person = words.person if privacy.relation is Relation.ADD_REMOVE else words.person_value
    return [
        person(reaches[0].best_guess, seen_by="whoever holds the data"),
        words.odds_moved("This table", reaches),
        "Whatever else is released from the same data comes on top.",
        "Whatever is computed from the table costs nothing and takes nothing from this promise.",
    ]


def _stated_cost(privacy: Privacy) -> Cost:
    return Approx(privacy.epsilon, privacy.delta) if privacy.delta else Pure(privacy.epsilon)


def rows(table: SyntheticTable) -> str:
    """Where the number of rows is from."""
    plan = table.build.plan
    what_is_drawn = f"units ({table.privacy_.unit})" if plan.subject.is_shared else "rows"
    if plan.rows is not None:
        return f"The table was asked to have {plan.rows:,} {what_is_drawn}, a public number."
    return f"The number of {what_is_drawn} is noisy, not the true number."


def method(table: SyntheticTable) -> str:
    """Which pairs were measured, or why none was."""
    chosen, steps = pairs(table.measured), {measurement.step for measurement in table.measured}
    if chosen:
        many = "1 pair of columns was" if len(chosen) == 1 else f"{len(chosen):,} pairs of columns were"
        return f"{many} measured, chosen by noisy scores; a maximum-entropy model joins them, and rows follow it."
    if not table.build.plan.with_pairs:
        why = "as was asked" if table.build.plan.pairs else "for there is no pair of them"
        return f"Columns were measured one by one, {why}. {_apart(table)}"
    if "scores" in steps:
        return f"{_why_none(table)} {_apart(table)}"
    return f"There are too few units for pairs at this price. {_apart(table)}"


def _why_none(table: SyntheticTable) -> str:
    """Why no pair was measured although all were scored."""
    plan = table.build.plan
    scores = next(part for part in table.build.parts if part.tally["name"] == "scores")
    if not has_worthwhile_pair(plan, scores, 1 - SINGLES - SCORES):
        return "No pair of columns was worth its noise."
    return (
        f"No pair of columns that was worth its noise fits in tables of at most {plan.max_cells:,} cells; a build with "
        "a larger max_cells has room for more."
    )


def _apart(table: SyntheticTable) -> str:
    """What joins columns of which no pair was measured."""
    subject = table.build.plan.subject
    if subject.absence is not None:
        return "Nothing joins columns but who has rows in the second table, and impossible combinations."
    if subject.zeros:
        return "Nothing joins columns but the combinations that were declared impossible."
    return "Columns are drawn independently of each other."


def noise(plan: SynthPlan) -> str:
    """What ± covers and what it does not."""
    return (
        f"{plan.price.law} noise was added to every count; σ is its standard deviation, and 95 of 100 measured counts "
        f"lie within ± {sure(plan):.3g} σ of the private ones. That covers the noise of what was measured. It covers "
        "neither who happens to be in the private table, nor what the model leaves out; a check measures the latter, "
        "for a charge of its own."
    )


def sure(plan: SynthPlan) -> float:
    """Standard deviations within which 95 of 100 noises lie: ln 20 of a scale, which is σ/√2, under Laplace's law."""
    return log(20) / sqrt(2) if plan.price.is_pure else 1.96


def steps(measured: Sequence[Measurement]) -> list[Step]:
    """The steps in their order, each as a whole."""
    names = list(dict.fromkeys(measurement.step for measurement in measured))
    own = [[measurement for measurement in measured if measurement.step == name] for name in names]
    parts = [sum((measurement.share for measurement in each), Fraction(0)) for each in own]
    shares = parts_in_words([Share(name, part) for name, part in zip(names, parts, strict=True)])
    return [
        Step(
            STEPS.get(name, name),
            each[0].cells if name == "scores" else len(each),
            sum(measurement.cells for measurement in each),
            min(measurement.deviation for measurement in each),
            max(measurement.deviation for measurement in each),
            share,
        )
        for name, each, share in zip(names, own, shares, strict=True)
    ]


def pairs(measured: Sequence[Measurement]) -> list[Measurement]:
    """The pairs whose tables were measured."""
    return [measurement for measurement in measured if measurement.step == "pairs"]


def left_out(table: SyntheticTable) -> list[str]:
    """The columns that are not there, each with its reason."""
    return [f"{name}: {reason}" for name, reason in table.build.plan.subject.left_out.items()]


def not_for(table: SyntheticTable) -> list[str]:
    """Uses that neither the promise nor the model carries."""
    unit, chosen = table.privacy_.unit, pairs(table.measured)
    joint = (
        "Effects that three columns have together, and pairs that were not measured: the model knows of them only "
        "what the measured pairs imply."
        if chosen
        else "Anything about two columns together: no pair was measured."
    )
    within = (
        f"How rows of one unit ({unit}) go together, beyond their number and the columns that are the same in all of "
        "them: given these, each row is drawn by itself."
    )
    return [
        "Single persons: a row is drawn. It can equal a private row by chance, and proves nothing about anyone.",
        "Rare groups: where fewer persons than a few times σ are counted, a number is mostly noise.",
        joint,
        *([within] if table.build.plan.subject.is_shared else []),
        "Tests and intervals as of real rows: they take noise for signal. Replicates show what noise does, but not "
        "what the model leaves out; the private table can be asked.",
        "Decisions about one person: only shares of groups follow the private table.",
        "Linking with other data: a match with a row is a coincidence.",
    ]


def receipt(privacy: Privacy) -> str:
    """Where it was charged."""
    if privacy.is_invented:
        return f"It was charged to a ledger that was thrown away: receipt {privacy.receipt}."
    return f"It was charged once: receipt {privacy.receipt}."


def impossible(table: SyntheticTable) -> list[str]:
    """How many combinations never occur, where any was declared."""
    subject = table.build.plan.subject
    own = () if subject.absence is None else absence_zeros(subject.absence, subject.columns, subject.schema.max_rows)
    zeros = len(subject.zeros) - len(own)
    several = (
        "s that were declared impossible never occur" if zeros > 1 else " that was declared impossible never occurs"
    )
    return [f"{zeros:,} combination{several}.", *doubts_of(table.build)] if zeros > 0 else []
