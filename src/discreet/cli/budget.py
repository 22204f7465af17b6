"""`discreet budget`: what may be spent, what is spent, what that promises; and opening a closed dataset again."""

import shlex
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import exact
from discreet.cli.asking import Toml, Why, opened_table
from discreet.cli.reasons import require_why
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, envelope, require_new
from discreet.errors import BadValue
from discreet.privacy import words
from discreet.privacy.cost import Approx, Cost, Pure
from discreet.privacy.odds import reaches
from discreet.relation import Relation

if TYPE_CHECKING:
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
    reason = require_why(why, "discreet", "budget", "reopen", str(metadata))
    with opened_table(metadata) as table:
        standing = table.standing()
        if standing is None or not standing.closed:
            failures = 0 if standing is None else standing.failures
            what = f"{table.schema.name} is not closed."
            raise BadValue(
                what,
                f"Failed answers so far: {failures}.",
                f"See where it stands: discreet budget {shlex.quote(str(metadata))}",
            )
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
            "epsilon": exact.shown(allowed.epsilon),
            "delta": exact.shown(allowed.delta),
            "max_epsilon_per_question": _shown(allowed.max_epsilon_per_question),
            "max_delta": exact.shown(allowed.max_delta),
        },
        spent=_spent(standing),
        guarantee=_guarantee(allowed, table.schema.relation),
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
    groups, one, many = (exact.shown(part) for part in (keys, noise, delta - keys - noise))
    return (
        f"{exact.shown(delta)} is parted: {groups} for groups that are not public, {one} for noise, "
        f"and {many}, which is not in what is left, for adding up many questions"
    )


def _shown(value: Fraction | None) -> str | None:
    return None if value is None else exact.shown(value)


def _spent(standing: "Standing | None") -> dict[str, str]:
    if standing is None:
        return {"epsilon": "0", "delta": "0"}
    return {
        "epsilon": exact.shown(standing.spent.epsilon),
        "delta": exact.shown(standing.spent.delta + standing.spent.keys),
    }


def _analysts(allowed: "Budget", standing: "Standing | None") -> list[dict[str, str | None]]:
    """Everyone with a cap or a charge of their own."""
    spent, caps = {} if standing is None else standing.analysts, dict(allowed.analysts)
    return [
        {"name": name, "cap": _shown(caps.get(name)), "spent": exact.shown(spent.get(name, Fraction(0)))}
        for name in sorted(caps.keys() | spent.keys())
    ]


def _guarantee(allowed: "Budget", under: Relation) -> dict[str, Any]:
    """What the whole budget lets someone conclude, once it is spent."""
    cost: Cost = Approx(allowed.epsilon, allowed.delta) if allowed.delta else Pure(allowed.epsilon)
    moved = reaches(cost, under)
    right = moved[0].best_guess
    person = words.person if under is Relation.ADD_REMOVE else words.person_value
    return {
        "epsilon": exact.shown(allowed.epsilon),
        "delta": exact.shown(allowed.delta),
        "guess": float(exact.rounded_up(right, 6)),
        "strength": words.strength(right),
        "odds": [one.as_json() for one in moved],
        "sentences": [
            person(right, seen_by="whoever holds the data"),
            words.odds_moved("All answers together", moved),
        ],
    }


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
    sentences = "\n".join(found.data["guarantee"]["sentences"])
    return Group(table, Padding(f"When all of it is spent: {sentences}", (1, 0, 0, 0)))


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


def _amount(amounts: dict[str, str]) -> str:
    leak = "" if amounts["delta"] == "0" else f", δ = {amounts['delta']}"
    return f"ε = {amounts['epsilon']}{leak}"
