"""`discreet budget`: show what may be spent, what is spent and what that promises; reopen a closed dataset."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.cli.asking import Toml
from discreet.cli.drawing import fact_list
from discreet.cli.reasons import Why, require_why
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.errors import BadValue
from discreet.fix import Fix
from discreet.operation.dataset import open_table
from discreet.operation.reply import envelope
from discreet.privacy import words
from discreet.privacy.cost import Approx, Cost, Pure
from discreet.privacy.odds import reaches
from discreet.relation import Relation
from discreet.terms import Terms, price_text

if TYPE_CHECKING:
    from discreet.ledger.adoption import Forgotten
    from discreet.ledger.filter import Budget as Filter
    from discreet.ledger.standing import Standing
    from discreet.schema import Budget
    from discreet.table import Table


@dataclass(frozen=True)
class Overview:
    """The reply's data, and what its picture says besides."""

    data: dict[str, Any]
    unit: str
    neighbours: str
    delta_parts: str  # what δ is divided into; empty without one


@dataclass(frozen=True)
class Promised:
    """The (ε, δ) that covers all budgets this ledger ever had, and what comes on top of it."""

    epsilon: Fraction
    delta: Fraction
    other_ledgers: int  # over the same rows
    forgotten: "Forgotten | None"  # by adopting older copies


def budget(metadata: Toml, json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """Show what may be spent, what is spent and what that promises.

    What is spent grows with each charge. To change the budget: discreet budget set TOML --epsilon 5 --why "…"; after
    too many failures: discreet budget reopen TOML --why "…"

    Example: discreet budget people.toml
    """
    require_new(output, yes, metadata)
    with open_table(metadata) as table:
        state = overview(table)
    return Reply(state.data, lambda: picture(state), output, replace=yes, toml=metadata)


def reopen(metadata: Toml, why: Why = None, json: AsJson = False) -> Reply:
    """Reopen a dataset that was closed after too many failures.

    Example: discreet budget reopen people.toml --why "the disk was full and is not any more"
    """
    reason = require_why(why, Fix("", "budget reopen", {"metadata": str(metadata)}))
    with open_table(metadata) as table:
        standing = table.standing()
        if standing is None or not standing.closed:
            failures = 0 if standing is None else standing.failures
            what, why_not = f"{table.schema.name} is not closed.", f"Failed answers so far: {failures}."
            raise BadValue(what, why_not, Fix("See where it stands:", "budget"))
        table.ledger.reopen(reason)
        state = overview(table)
    return Reply(state.data, lambda: picture(state))


def overview(table: "Table") -> Overview:
    """The budget, what is spent of it, and what it promises; before the first charge too."""
    from discreet.query.explain import unit

    allowed, standing = table.budget, table.standing()
    data = envelope(
        dataset=table.schema.name,
        cost=Terms(Fraction(0)).cost_json(table.schema.relation, unit(table.schema)),
        remaining=table.remaining(),
        budget={
            "epsilon": amounts.text_of(allowed.epsilon),
            "delta": amounts.text_of(allowed.delta),
            "max_epsilon_per_question": _amount_text(allowed.max_epsilon_per_question),
            "max_delta": amounts.text_of(allowed.max_delta),
        },
        spent=_spent(standing),
        guarantee=_guarantee(_promise_of(table, standing), allowed, table.schema.relation),
        analysts=_analysts(allowed, standing),
        questions=0 if standing is None else standing.charges,
        failures=0 if standing is None else standing.failures,
        closed=standing is not None and standing.closed,
        entries=0 if standing is None else standing.entries,
        head=None if standing is None else standing.head,
    )
    return Overview(data, unit(table.schema), str(table.schema.relation), _delta_parts(allowed.delta))


def _delta_parts(delta: Fraction) -> str:
    """What each part of δ is for."""
    from discreet.ledger import filter as filters

    if not delta:
        return ""
    keys, noise = filters.KEYS * delta, filters.BASIC * delta
    for_groups, for_noise, for_sums = (amounts.text_of(part) for part in (keys, noise, delta - keys - noise))
    return (
        f"{amounts.text_of(delta)} is divided: {for_groups} for groups that are not public, {for_noise} for noise, "
        f"and {for_sums}, which is not in what is left, for adding up many questions"
    )


def _amount_text(value: Fraction | None) -> str | None:
    return None if value is None else amounts.text_of(value)


def _spent(standing: "Standing | None") -> dict[str, str]:
    if standing is None:
        return {"epsilon": "0", "delta": "0"}
    return {
        "epsilon": amounts.text_of(standing.spent.epsilon),
        "delta": amounts.text_of(standing.spent.delta + standing.spent.keys),
    }


def _analysts(allowed: "Budget", standing: "Standing | None") -> list[dict[str, str | None]]:
    """Everyone with a cap or a charge of their own."""
    spent, caps = {} if standing is None else standing.analysts, dict(allowed.analysts)
    return [
        {"name": name, "cap": _amount_text(caps.get(name)), "spent": amounts.text_of(spent.get(name, Fraction(0)))}
        for name in sorted(caps.keys() | spent.keys())
    ]


def _promise_of(table: "Table", standing: "Standing | None") -> Promised:
    """What the entries of the ledger add up to; before the first charge the metadata's budget alone."""
    from discreet.ledger import filter as filters

    if standing is None:
        return Promised(table.budget.epsilon, table.budget.delta, 0, None)
    entries = table.ledger.acts()
    changes = [entry for entry in entries if entry["kind"] in ("open", "budget")]
    budgets = {filters.from_json(entry["rules"]["budget"]) for entry in changes}
    ledgers = {entry["ledger"] for entry in entries if entry["kind"] == "second"}
    return Promised(*_covering_price(budgets), len(ledgers), _forgotten(entries))


def _covering_price(budgets: Iterable["Filter"]) -> tuple[Fraction, Fraction]:
    """An (ε, δ) that covers charges accepted under any of the budgets: docs/proofs/ledger/filter.md, "Changing the
    budget"."""
    from discreet.ledger.filter import EpsilonDelta

    budgets, zero = list(budgets), Fraction(0)
    divided = [budget for budget in budgets if isinstance(budget, EpsilonDelta)]
    keys = max((budget.keys for budget in divided), default=zero)
    basic = max((budget.basic for budget in divided), default=zero)
    orders = sum((share for budget in divided for _, share in budget.shares), zero)
    delta = max([keys + basic + orders, *(budget.delta for budget in budgets)])
    return max(budget.epsilon for budget in budgets), delta


def _forgotten(entries: Sequence[dict[str, Any]]) -> "Forgotten | None":
    """What all adoptions together forgot; the ε is unknown where one of them is."""
    from discreet.ledger.adoption import Forgotten

    adoptions = [entry for entry in entries if entry["kind"] == "adopt" and entry.get("forgets")]
    if not adoptions:
        return None
    prices = [Fraction(entry["forgets_epsilon"]) for entry in adoptions if entry.get("forgets_epsilon") is not None]
    epsilon = sum(prices, Fraction(0)) if len(prices) == len(adoptions) else None
    return Forgotten(sum(entry["forgets"] for entry in adoptions), epsilon)


def _guarantee(promised: Promised, allowed: "Budget", relation: Relation) -> dict[str, Any]:
    """What someone could conclude from all answers that may be given."""
    cost: Cost = Approx(promised.epsilon, promised.delta) if promised.delta else Pure(promised.epsilon)
    odds = reaches(cost, relation)
    best_guess = odds[0].best_guess
    person = words.person if relation is Relation.ADD_REMOVE else words.person_value
    forgotten = promised.forgotten
    guarantee: dict[str, Any] = {
        "epsilon": amounts.text_of(promised.epsilon),
        "delta": amounts.text_of(promised.delta),
        "guess": float(amounts.rounded_up(best_guess, 6)),
        "strength": words.strength(best_guess),
        "odds": [reach.to_json() for reach in odds],
        "other_ledgers": promised.other_ledgers,
        "forgotten": forgotten and {"entries": forgotten.entries, "epsilon": _amount_text(forgotten.epsilon)},
    }
    sentences = [
        person(best_guess, seen_by="whoever holds the data"),
        words.odds_moved("All answers of this ledger together", odds),
    ]
    if (promised.epsilon, promised.delta) != (allowed.epsilon, allowed.delta):
        sentences.append(
            f"That counts every budget that was ever in force, {price_text(guarantee)} in all: "
            "a new one does not undo what was spent under another."
        )
    return guarantee | {"sentences": sentences + _on_top(promised)}


def _on_top(promised: Promised) -> list[str]:
    """What the numbers of this ledger leave out."""
    sentences = []
    if promised.other_ledgers == 1:
        sentences.append("Another ledger over the same rows is recorded in this one; its answers come on top.")
    elif promised.other_ledgers:
        count = f"{promised.other_ledgers:,} other ledgers over the same rows are recorded in this one"
        sentences.append(f"{count}; their answers come on top.")
    if promised.forgotten is not None:
        sentences.append(f"Adopting an older copy forgot {promised.forgotten}; answers paid with it come on top.")
    return sentences


def picture(state: Overview) -> Any:
    """The overview for people."""
    from rich.console import Group
    from rich.padding import Padding

    allowed, guarantee = state.data["budget"], state.data["guarantee"]
    same = (allowed["epsilon"], allowed["delta"]) == (guarantee["epsilon"], guarantee["delta"])
    when = "When all of it is spent" if same else "When all of every budget so far is spent"
    sentences = "\n".join(guarantee["sentences"])
    return Group(fact_list(_facts(state)), Padding(f"{when}: {sentences}", (1, 0, 0, 0)))


def _facts(state: Overview) -> list[tuple[str, str]]:
    data = state.data
    left, per = data["remaining"], data["budget"]["max_epsilon_per_question"]
    questions = "1 question" if data["questions"] == 1 else f"{data['questions']:,} questions"
    lines = [
        (data["dataset"], f"protects each {state.unit}, neighbours by {state.neighbours}"),
        ("budget", price_text(data["budget"]) + (f", one question at most ε = {per}" if per else "")),
        ("spent", f"{price_text(data['spent'])}, added up over {questions}"),
        ("left", f"{price_text(left)}: the largest ε that one more question may take"),
    ]
    if state.delta_parts:
        lines.append(("δ", state.delta_parts))
    for analyst in data["analysts"]:
        cap = "" if analyst["cap"] is None else f" of {analyst['cap']}"
        lines.append((analyst["name"], f"has spent ε = {analyst['spent']}{cap}"))
    if data["failures"]:
        closing = "closed: only the curator opens it again" if data["closed"] else "too many close the dataset"
        lines.append(("failed", f"{data['failures']} answers after their charge; {closing}"))
    head = "no entry yet" if data["head"] is None else f"{data['entries']:,} entries, head {data['head'][:16]}"
    return [*lines, ("ledger", head)]
