"""`discreet budget`: what may be spent, what is spent, what that promises; and opening a closed dataset again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.cli.asking import Toml, Why
from discreet.cli.reasons import require_why
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.errors import BadValue
from discreet.fix import Fix
from discreet.operation.dataset import opened_table
from discreet.operation.reply import envelope
from discreet.privacy import words
from discreet.privacy.cost import Approx, Cost, Pure
from discreet.privacy.odds import reaches
from discreet.relation import Relation

if TYPE_CHECKING:
    from discreet.ledger.adoption import Forgotten
    from discreet.ledger.filter import Budget as Filter
    from discreet.ledger.standing import Standing
    from discreet.schema import Budget
    from discreet.table import Table


@dataclass(frozen=True)
class Overview:
    """All numbers of one reply, as text."""

    data: dict[str, Any]
    unit: str
    neighbours: str
    parts: str  # of δ, in words; empty without one


@dataclass(frozen=True)
class Promised:
    """The (ε, δ) of all that this ledger ever allowed, and what comes on top of it."""

    epsilon: Fraction
    delta: Fraction
    other_ledgers: int  # over the same rows
    forgotten: "Forgotten | None"  # by adopting older copies


def budget(metadata: Toml, json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """What may be spent, what is spent, and what that promises.

    Moves only when something is charged. To change it: discreet budget set TOML --epsilon 5 --why "…"; after too many
    failures: discreet budget reopen TOML --why "…"

    Example: discreet budget people.toml
    """
    require_new(output, yes, metadata)
    with opened_table(metadata) as table:
        found = overview(table)
    return Reply(found.data, lambda: picture(found), output, replace=yes, toml=metadata)


def reopen(metadata: Toml, why: Why = None, json: AsJson = False) -> Reply:
    """Open a dataset again that too many failures have closed.

    Example: discreet budget reopen people.toml --why "the disk was full and is not any more"
    """
    reason = require_why(why, Fix("", "budget reopen", {"metadata": str(metadata)}))
    with opened_table(metadata) as table:
        standing = table.standing()
        if standing is None or not standing.closed:
            failures = 0 if standing is None else standing.failures
            what, why_not = f"{table.schema.name} is not closed.", f"Failed answers so far: {failures}."
            raise BadValue(what, why_not, Fix("See where it stands:", "budget"))
        table.ledger.reopen(reason)
        found = overview(table)
    return Reply(found.data, lambda: picture(found))


def overview(table: "Table") -> Overview:
    """Where the table stands, before the first charge too."""
    from discreet.query.explain import unit

    allowed, standing = table.budget, table.standing()
    data = envelope(
        dataset=table.schema.name,
        cost={"epsilon": "0", "delta": "0", "neighbours": str(table.schema.relation), "unit": unit(table.schema)},
        remaining=table.remaining(),
        budget={
            "epsilon": amounts.shown(allowed.epsilon),
            "delta": amounts.shown(allowed.delta),
            "max_epsilon_per_question": _shown(allowed.max_epsilon_per_question),
            "max_delta": amounts.shown(allowed.max_delta),
        },
        spent=_spent(standing),
        guarantee=_guarantee(_promised(table, standing), allowed, table.schema.relation),
        analysts=_analysts(allowed, standing),
        questions=0 if standing is None else standing.charges,
        failures=0 if standing is None else standing.failures,
        closed=standing is not None and standing.closed,
        entries=0 if standing is None else standing.entries,
        head=None if standing is None else standing.head,
    )
    return Overview(data, unit(table.schema), str(table.schema.relation), _parted(allowed.delta))


def _parted(delta: Fraction) -> str:
    """What the parts of δ are for."""
    from discreet.ledger import filter as filters

    if not delta:
        return ""
    keys, noise = filters.KEYS * delta, filters.BASIC * delta
    groups, one, many = (amounts.shown(part) for part in (keys, noise, delta - keys - noise))
    return (
        f"{amounts.shown(delta)} is parted: {groups} for groups that are not public, {one} for noise, "
        f"and {many}, which is not in what is left, for adding up many questions"
    )


def _shown(value: Fraction | None) -> str | None:
    return None if value is None else amounts.shown(value)


def _spent(standing: "Standing | None") -> dict[str, str]:
    if standing is None:
        return {"epsilon": "0", "delta": "0"}
    return {
        "epsilon": amounts.shown(standing.spent.epsilon),
        "delta": amounts.shown(standing.spent.delta + standing.spent.keys),
    }


def _analysts(allowed: "Budget", standing: "Standing | None") -> list[dict[str, str | None]]:
    """Everyone with a cap or a charge of their own."""
    spent, caps = {} if standing is None else standing.analysts, dict(allowed.analysts)
    return [
        {"name": name, "cap": _shown(caps.get(name)), "spent": amounts.shown(spent.get(name, Fraction(0)))}
        for name in sorted(caps.keys() | spent.keys())
    ]


def _promised(table: "Table", standing: "Standing | None") -> Promised:
    """What the entries of the ledger say; before the first charge the metadata's budget alone."""
    from discreet.ledger import filter as filters

    if standing is None:
        return Promised(table.budget.epsilon, table.budget.delta, 0, None)
    entries = table.ledger.acts()
    budgets = {filters.from_json(one["rules"]["budget"]) for one in entries if one["kind"] in ("open", "budget")}
    others = {one["ledger"] for one in entries if one["kind"] == "second"}
    return Promised(*_covering(budgets), len(others), _forgotten(entries))


def _covering(budgets: Iterable["Filter"]) -> tuple[Fraction, Fraction]:
    """An (ε, δ) that covers charges accepted under any of the budgets: docs/proofs/ledger/filter.md, "Changing the
    budget"."""
    from discreet.ledger.filter import EpsilonDelta

    every, none = list(budgets), Fraction(0)
    parted = [one for one in every if isinstance(one, EpsilonDelta)]
    keys, basic = max((one.keys for one in parted), default=none), max((one.basic for one in parted), default=none)
    orders = sum((part for one in parted for _, part in one.shares), none)
    return max(one.epsilon for one in every), max([keys + basic + orders, *(one.delta for one in every)])


def _forgotten(entries: Sequence[dict[str, Any]]) -> "Forgotten | None":
    """What all adoptions together forgot; the ε is unknown where one of them is."""
    from discreet.ledger.adoption import Forgotten

    lost = [one for one in entries if one["kind"] == "adopt" and one.get("forgets")]
    if not lost:
        return None
    known = [Fraction(one["forgets_epsilon"]) for one in lost if one.get("forgets_epsilon") is not None]
    epsilon = sum(known, Fraction(0)) if len(known) == len(lost) else None
    return Forgotten(sum(one["forgets"] for one in lost), epsilon)


def _guarantee(promised: Promised, allowed: "Budget", under: Relation) -> dict[str, Any]:
    """What all that may be answered lets someone conclude, once it is."""
    cost: Cost = Approx(promised.epsilon, promised.delta) if promised.delta else Pure(promised.epsilon)
    moved = reaches(cost, under)
    right = moved[0].best_guess
    person = words.person if under is Relation.ADD_REMOVE else words.person_value
    lost = promised.forgotten
    found: dict[str, Any] = {
        "epsilon": amounts.shown(promised.epsilon),
        "delta": amounts.shown(promised.delta),
        "guess": float(amounts.rounded_up(right, 6)),
        "strength": words.strength(right),
        "odds": [one.to_json() for one in moved],
        "other_ledgers": promised.other_ledgers,
        "forgotten": None if lost is None else {"entries": lost.entries, "epsilon": _shown(lost.epsilon)},
    }
    sentences = [
        person(right, seen_by="whoever holds the data"),
        words.odds_moved("All answers of this ledger together", moved),
    ]
    if (promised.epsilon, promised.delta) != (allowed.epsilon, allowed.delta):
        sentences.append(
            f"That counts every budget that was ever in force, {_amount(found)} in all: a new one does not undo what "
            "was spent under another."
        )
    return found | {"sentences": sentences + _on_top(promised)}


def _on_top(promised: Promised) -> list[str]:
    """What the numbers of this ledger leave out."""
    found = []
    if promised.other_ledgers == 1:
        found.append("Another ledger over the same rows is recorded in this one; its answers come on top.")
    elif promised.other_ledgers:
        count = f"{promised.other_ledgers:,} other ledgers over the same rows are recorded in this one"
        found.append(f"{count}; their answers come on top.")
    if promised.forgotten is not None:
        found.append(f"Adopting an older copy forgot {promised.forgotten}; answers paid with it come on top.")
    return found


def picture(found: Overview) -> Any:
    """The same for people."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    for name, line in _lines(found):
        table.add_row(name, line)
    allowed, guarantee = found.data["budget"], found.data["guarantee"]
    same = (allowed["epsilon"], allowed["delta"]) == (guarantee["epsilon"], guarantee["delta"])
    when = "When all of it is spent" if same else "When all of every budget so far is spent"
    sentences = "\n".join(guarantee["sentences"])
    return Group(table, Padding(f"{when}: {sentences}", (1, 0, 0, 0)))


def _lines(found: Overview) -> list[tuple[str, str]]:
    data = found.data
    left, per = data["remaining"], data["budget"]["max_epsilon_per_question"]
    questions = "1 question" if data["questions"] == 1 else f"{data['questions']:,} questions"
    lines = [
        (data["dataset"], f"protects each {found.unit}, neighbours by {found.neighbours}"),
        ("budget", _amount(data["budget"]) + (f", one question at most ε = {per}" if per else "")),
        ("spent", f"{_amount(data['spent'])}, added up over {questions}"),
        ("left", f"{_amount(left)}: the largest ε that one more question may take"),
    ]
    if found.parts:
        lines.append(("δ", found.parts))
    for one in data["analysts"]:
        cap = "" if one["cap"] is None else f" of {one['cap']}"
        lines.append((one["name"], f"has spent ε = {one['spent']}{cap}"))
    if data["failures"]:
        state = "closed: only the curator opens it again" if data["closed"] else "too many close the dataset"
        lines.append(("failed", f"{data['failures']} answers after their charge; {state}"))
    head = "no entry yet" if data["head"] is None else f"{data['entries']:,} entries, head {data['head'][:16]}"
    return [*lines, ("ledger", head)]


def _amount(cost: dict[str, str]) -> str:
    leak = "" if cost["delta"] == "0" else f", δ = {cost['delta']}"
    return f"ε = {cost['epsilon']}{leak}"
