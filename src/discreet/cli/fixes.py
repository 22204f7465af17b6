"""Refusals whose fix is a command line that works: with the file, the numbers and the question filled in."""

import contextlib
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from discreet import exact
from discreet.errors import BudgetExceeded, Closed, DiscreetError, NotAnswerable

if TYPE_CHECKING:
    from discreet.cli.asking import Wanted
    from discreet.dataset import Asking

_SHARES = (Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(1, 10))  # of what is left
_SET = "discreet budget set …"
_NEARLY = 1 - Fraction(1, 10**6)  # of a price that may take all there is: what is left after it is then above 0


# --- for the curator -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def curated(toml: Path) -> Iterator[None]:
    """Fixes that name a method, or a verb without its file, end with the whole command."""
    file = shlex.quote(str(toml))
    try:
        yield
    except Closed as error:
        fix = f'The curator finds the cause and reopens it: discreet budget reopen {file} --why "…"'
        raise Closed(error.what, error.why, fix) from None
    except DiscreetError as error:
        fix = re.sub(r"Ledger\.adopt\(.*\)\.?", lambda _: f'discreet ledger adopt {file} --why "…"', error.fix)
        if _SET in fix:
            fix = _with_file(fix, toml)
        if fix == error.fix:
            raise
        raise refitted(error, fix) from None


def refitted(error: DiscreetError, fix: str) -> DiscreetError:
    """The same refusal with another fix."""
    kind, (what, why, _, *more) = type(error), error.__reduce__()[1]
    return kind(what, why, fix, *more)


def _with_file(fix: str, toml: Path) -> str:
    before, _, flags = fix.partition(_SET)
    flags = re.sub(r"--analyst (.*) --why", lambda cap: f"--analyst {shlex.quote(cap[1])} --why", flags)
    flags = flags.replace("--why …", '--why "…"').strip()
    if flags == '--why "…"':
        flags = f"{shlex.join(_edited(toml))} {flags}"
    return f"{before}discreet budget set {shlex.quote(str(toml))} {flags}"


def _edited(toml: Path) -> list[str]:
    """The numbers of the metadata that are not those of the ledger, as flags; whatever is set, all the rest follows."""
    from discreet import metadata
    from discreet.ledger.ledger import Ledger
    from discreet.table import Table

    table = Table(metadata.load(toml), toml)
    try:
        with Ledger.open(table.ledger_path) as ledger:
            old = ledger.standing().rules
    except DiscreetError:  # it can be read no more: a refusal of its own, next time
        return ["--epsilon", typed(table.budget.epsilon)]
    new, flags = table.opening.rules, []
    if new.budget.epsilon != old.budget.epsilon:
        flags += ["--epsilon", typed(table.budget.epsilon)]
    if new.budget.delta != old.budget.delta:
        flags += ["--delta", typed(table.budget.delta)]
    if new.max_epsilon is not None and new.max_epsilon != old.max_epsilon:
        flags += ["--max-eps-per-question", typed(new.max_epsilon)]
    for name, cap in new.analysts:
        flags += [] if old.cap(name) == cap else ["--analyst", f"{name}={typed(cap)}"]
    return flags or ["--epsilon", typed(table.budget.epsilon)]


def typed(value: Fraction) -> str:
    """The number as a flag takes it, exactly.

    >>> typed(Fraction(1, 10**7)), typed(Fraction(1, 3))
    ('1e-7', '1/3')
    """
    text = exact.shown(value)
    return text if Fraction(text) == value else str(value)


# --- for whoever asks ----------------------------------------------------------------------------------------------


def require_delta(question: "Asking", wanted: "Wanted") -> None:
    """Refuses groups that only a δ can find where there is none, with the command that allows one."""
    table, cells = question.table, question.draft.cells
    if cells.public or _delta(question, wanted):
        return
    names = ", ".join(one.key.name for one in cells.keys if one.labels is None)
    why = f"The values of {names} are not public, and to find them privately takes a delta above 0."
    if table.budget.delta:
        more = replace(wanted, delta=typed(table.delta())).command()
        fix = f'List them in the metadata: values = ["…"], or ask with a delta: {more}'
    else:
        from discreet.metadata.gaps import round_delta

        file, delta = shlex.quote(str(wanted.toml)), typed(round_delta(table.schema.population))
        allow = f'discreet budget set {file} --delta {delta} --why "…"'
        fix = f'List them in the metadata: values = ["…"], or let the curator allow a delta: {allow}'
    raise NotAnswerable("These groups cannot be found without a delta.", why, fix)


def _delta(question: "Asking", wanted: "Wanted") -> Fraction:
    """The δ that the question will take: as typed, as its text says, or by default."""
    return question.table.delta(question.options.delta if wanted.delta is None else wanted.delta)


@contextlib.contextmanager
def affordable(wanted: "Wanted", question: "Asking") -> Iterator[None]:
    """A question that is too dear is refused with the line that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        less = cheaper(question, wanted, left=error.remaining, price=error.requested)
        if less is None:
            raise
        fix = f"Ask for less: {less.command()}\nOr let the curator raise the budget."
        raise refitted(error, fix) from None


def cheaper(question: "Asking", wanted: "Wanted", *, left: Fraction, price: Fraction) -> "Wanted | None":
    """The same question at a price that fits, where so much pure ε is left; None where there is none."""
    from discreet.ledger.refusal import down

    if left <= 0:
        return None
    if question.draft.cells.public:
        return replace(wanted, eps=down(left), error=(), delta="0") if left < price else None
    standing = question.table.standing()
    if standing is None:
        return replace(wanted, eps=down(left), error=()) if left < price else None
    asked = _delta(question, wanted)
    delta = min(asked, question.table.budget.max_delta, standing.remaining_keys)
    most = min(left, price)
    for share in _SHARES:
        less = Fraction(down(most * share))
        if delta > 0 and less > 0 and _fits(question, wanted, less * _NEARLY, Fraction(down(delta))):
            smaller = wanted.delta if delta == asked else down(delta)
            return replace(wanted, eps=down(less), error=(), delta=smaller)
    return None


def _fits(question: "Asking", wanted: "Wanted", epsilon: Fraction, delta: Fraction) -> bool:
    """Whether something would be left after the question at that price."""
    try:
        made = question.plan(epsilon=epsilon, delta=delta, level=wanted.level)
        left = question.table.ledger.remaining_after(
            made.draft.path, made.cost, epsilon=made.terms.epsilon, delta=made.terms.delta, analyst=wanted.analyst
        )
    except DiscreetError:
        return False
    return left > 0
