"""The check of a synthetic table: one purse, two steps that are stored, and numbers with ± that follow from them."""

from typing import TYPE_CHECKING, Any

from discreet.engine.protocol import Progress
from discreet.errors import BadValue, NotAnswerable, bad
from discreet.learn.learner import LATTICE
from discreet.learn.price import price_of
from discreet.learn.privacy import WHOLE, Privacy
from discreet.query.explain import unit
from discreet.synth.build import require_kernels
from discreet.synth.check.estimates import statistics_of
from discreet.synth.check.measuring import Released, measure
from discreet.synth.check.model import SyntheticModel, trial_for
from discreet.synth.check.persons import persons_of
from discreet.synth.check.plan import CheckPlan, compared_of
from discreet.synth.check.quote import CheckQuote, name_words, not_asked, quote_of, title_of
from discreet.synth.check.result import Check
from discreet.table import Table

if TYPE_CHECKING:
    from discreet.synth.synthetic import SyntheticTable

_GROUPS = (
    "Pairs and triples are compared by the groups of cells that the build released; by single cells shares lie further "
    "apart."
)
_COVERS = (
    "Each ± covers the noise of this check, by itself; how other persons, or another synthetic table of the same kind, "
    "would come out is not covered."
)


def check(
    table: "SyntheticTable",
    *,
    epsilon: Any,
    delta: Any = None,
    target: str | None = None,
    on: Any = None,
    analyst: str | None = None,
    progress: Progress | None = None,
) -> Check:
    """How far the synthetic table is from the private one: charged once, and the same check again is free."""
    private = private_table(table)
    plan = plan_of(table, private, epsilon=epsilon, delta=delta, target=target, on=on)
    return private.stamped(_check_of(private, measure(private, plan, analyst, progress)))


def quote_check(
    table: "SyntheticTable",
    *,
    epsilon: Any,
    delta: Any = None,
    target: str | None = None,
    on: Any = None,
    analyst: str | None = None,
) -> CheckQuote:
    """What that check would cost, what it would tell and within which ±; free, and no row is read."""
    private = private_table(table)
    plan = plan_of(table, private, epsilon=epsilon, delta=delta, target=target, on=on)
    return private.stamped(quote_of(private, plan, analyst))


def private_table(table: "SyntheticTable") -> Table:
    """The private table that a synthetic one is compared with; refused where it is not at hand or another."""
    private: Table | None = table.table
    schema = table.build.plan.subject.schema
    if private is None:
        what, why = "The private table is not at hand.", "A check compares the synthetic rows with those of people."
        fix = "Load the synthetic table together with the dataset that it was built from."
        raise BadValue(what, why, fix)
    if private.schema != schema:
        rule = "must be the private table that was synthesised: its public facts are others"
        raise bad("table", rule, private.schema.name, f"Open {schema.name} with the metadata that it had.")
    require_kernels(private)
    return private


def plan_of(
    table: "SyntheticTable",
    private: Table,
    *,
    epsilon: Any,
    delta: Any = None,
    target: str | None = None,
    on: Any = None,
) -> CheckPlan:
    """The plan of a check at that price; it reads no rows.  Refused for a table that has none to compare."""
    if table.rows == 0:
        what, why = "The synthetic table has no rows.", "A check compares their shares, and of no rows there are none."
        raise NotAnswerable(what, why, "Build it again with rows = 1000: an equal build costs nothing.")
    price = price_of(private.terms(epsilon, delta))
    persons = persons_of(private, table.build, on)
    trial = None if target is None else trial_for(table.build, table.privacy_, target, persons.where)
    return CheckPlan(compared_of(table.build, persons, trial), price)


def _check_of(private: Table, released: Released) -> Check:
    plan, schema = released.plan, private.schema
    about, terms = plan.compared, plan.price.terms
    persons = about.persons.checked(private, released.receipt)
    model = None if about.trial is None else about.trial.model
    return Check(
        title_of(plan),
        statistics_of(released),
        not_asked(plan),
        (persons.words, *_rows_words(plan), _GROUPS, _COVERS),
        persons.is_held_out,
        persons.noun,
        _classes(model) if isinstance(model, SyntheticModel) else (),
        float(terms.level),
        terms.cost_json(schema.relation, unit(schema)),
        _privacy(private, released),
        released.receipt,
        released.is_replayed,
    )


def _rows_words(plan: CheckPlan) -> tuple[str, ...]:
    """How a unit with several rows counts."""
    subject = plan.compared.build.plan.subject
    if not subject.is_shared:
        return ()
    each = unit(subject.schema)
    first = f" A model is tried on the first row of each {each} by a keyed hash." if plan.compared.trial else ""
    return (f"Each {each} counts once: its rows share its weight.{first}",)


def _classes(model: SyntheticModel) -> tuple[str, ...]:
    """The classes as texts, the one that most synthetic rows have first."""
    texts = [str(value) for value in model.subject.classes]
    return (texts[model.majority], *(text for place, text in enumerate(texts) if place != model.majority))


def _privacy(private: Table, released: Released) -> Privacy:
    plan, schema = released.plan, private.schema
    terms, subject = plan.price.terms, plan.compared.build.plan.subject
    measured = tuple(f"{name_words(plan, name)}, with {plan.price.law} noise" for name in plan.asked)
    return Privacy(
        terms.epsilon,
        terms.delta,
        schema.relation,
        unit(schema),
        schema.max_rows,
        plan.cost,
        measured,
        LATTICE,
        {"columns": list(subject.column_names), "synthetic_table": plan.compared.build.receipt},
        WHOLE.replace("model", "check"),
        released.receipt,
    )
