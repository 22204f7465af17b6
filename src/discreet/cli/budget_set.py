"""`discreet budget set`: change the budget in the metadata and in the ledger, or in neither.

    new TOML beside the old one → entry in the ledger → new TOML in place of the old one

If it stops in between, the ledger and the metadata disagree and every question is refused; the same command again
finds the entry and only puts the file in place.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import amounts, durable
from discreet.cli.asking import Toml
from discreet.cli.budget import overview, picture
from discreet.cli.reasons import Why, require_why
from discreet.cli.reply import AsJson, Reply
from discreet.errors import BadValue, CannotWrite, bad
from discreet.fix import UNKNOWN, Fix
from discreet.operation.dataset import fixes_about, open_table, require_metadata_file

if TYPE_CHECKING:
    from discreet.ledger.rules import Opening
    from discreet.table import Table

_FLAGS = {"epsilon": "--epsilon", "delta": "--delta", "max_epsilon_per_question": "--max-eps-per-question"}


def set_budget(
    metadata: Toml,
    epsilon: Annotated[str | None, typer.Option("--epsilon", "--eps", metavar="ε", help="The whole budget.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="δ", help="Its δ, such as 1e-7.")] = None,
    analyst: Annotated[
        list[str] | None, typer.Option(metavar="NAME=ε", help="What one analyst may spend; repeat.")
    ] = None,
    max_eps_per_question: Annotated[
        str | None,
        typer.Option("--max-eps-per-question", "--max-epsilon-per-question", metavar="ε", help="Cap of one question."),
    ] = None,
    why: Why = None,
    json: AsJson = False,
) -> Reply:
    """Change the budget or a cap, in the metadata and in the ledger.

    What was spent stays spent. Comments in the file stay, and the reason is kept in the ledger.

    Example: discreet budget set people.toml --epsilon 5 --why "second survey year"
    """
    typed = {"epsilon": epsilon, "delta": delta, "max_epsilon_per_question": max_eps_per_question}
    numbers = {name: _number(name, value) for name, value in typed.items() if value is not None}
    caps = dict(map(_cap, analyst or ()))
    act = _act(metadata, typed | {"analyst": tuple(analyst or ())})
    reason = require_why(why, act)
    if not numbers and not caps:
        fix = replace(act, arguments={**act.arguments, "why": UNKNOWN})
        raise BadValue("Nothing is to be changed.", "No number was given.", fix)
    require_metadata_file(metadata)
    with fixes_about(metadata):
        changed = _change(metadata, numbers, caps, reason)
    with open_table(metadata) as table:
        state = overview(table)
    state.data["changed"] = changed
    return Reply(state.data, lambda: picture(state))


def _number(name: str, typed: str) -> Fraction:
    """The number behind a flag; refused here, since a slip of the command line is none of the metadata."""
    if name == "delta":
        return amounts.decimal(typed, _FLAGS[name], fix="Give a number such as 1e-7.")
    return amounts.epsilon(typed, _FLAGS[name])


def _act(metadata: Path, typed: dict[str, Any]) -> Fix:
    """The change as it was typed; an example where nothing was."""
    flags = {name: value for name, value in typed.items() if value}
    return Fix("Write, for example:", "budget set", {"metadata": str(metadata), **(flags or {"epsilon": "5"})})


def _cap(typed: str) -> tuple[str, Fraction]:
    name, _, value = typed.rpartition("=")
    if not name.strip() or not value.strip():
        raise bad("analyst", "must be NAME=ε", typed, "Write, for example: --analyst ana=1")
    return name.strip(), amounts.epsilon(value.strip(), f"cap of {name.strip()}")


def _change(toml: Path, numbers: dict[str, Fraction], caps: dict[str, Fraction], reason: str) -> bool:
    """Make the change; whether there was any to make."""
    from discreet import metadata
    from discreet.metadata import edit, files
    from discreet.table import Table

    text = files.toml_text(toml)
    before = metadata.parse(text, file=toml.name, folder=toml.parent)
    new_text = edit.with_budget(text, numbers, caps, file=toml.name)
    after = Table(metadata.parse(new_text, file=toml.name, folder=toml.parent), toml)
    first = after.opening if before.budget is None else Table(before, toml).opening
    with _beside(toml, new_text if new_text != text else None) as put_in_place:
        has_entry = _write_entry(after, first, reason)
        put_in_place()
    return has_entry or new_text != text


def _write_entry(after: "Table", first: "Opening", reason: str) -> bool:
    """Write the entry unless the ledger has these rules already; a missing ledger is made with `first`."""
    from discreet.ledger.ledger import Ledger

    opening, path = after.opening, after.ledger_path
    if not path.exists() or path.stat().st_size == 0:
        with Ledger.create(path, first) as ledger:
            ledger.set_budget(opening.rules, reason)
        return True
    with Ledger.open(path) as ledger:
        rules = ledger.standing().rules
        with Ledger.open(path, replace(opening, rules=rules)):  # the same dataset, unit and neighbours
            pass
        if rules == opening.rules:
            return False
        ledger.set_budget(replace(opening.rules, failures=rules.failures), reason)
    return True


@contextlib.contextmanager
def _beside(toml: Path, text: str | None) -> Iterator[Any]:
    """Writes the new file beside the old one, durably, and gives the function that puts it in place."""
    if text is None:
        yield lambda: None
        return
    place = toml.resolve()  # a link stays one
    draft = durable.draft_name(place)
    try:
        try:
            durable.write(draft, text.encode())
            draft.chmod(place.stat().st_mode & 0o777)
        except OSError:
            fix = "Check that you may write there and that the disk is not full."
            raise CannotWrite("The metadata was not written.", f"The file is {str(toml)!r}.", fix) from None
        yield lambda: _replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)


def _replace(draft: Path, place: Path) -> None:
    try:
        draft.replace(place)
    except OSError:
        why = "The ledger has the new budget and the metadata has the old one, so every question is refused."
        fix = "Check that you may write in its folder, and give the same command again."
        raise CannotWrite(f"{place.name} could not be replaced.", why, fix) from None
