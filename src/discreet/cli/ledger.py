"""`discreet ledger`: the entries, their check, their export; and taking over a ledger that was moved."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import amounts, outputs
from discreet.cli import terminal
from discreet.cli.asking import Toml
from discreet.cli.reasons import Why, require_why
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.errors import BadValue, CannotWrite, IntegrityError, LedgerUnavailable, bad
from discreet.fix import UNKNOWN, Fix
from discreet.inert import visible
from discreet.operation.dataset import opened_table
from discreet.operation.reply import envelope

if TYPE_CHECKING:
    from discreet.table import Table

_LONGEST = 60


def ledger(
    metadata: Toml,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check file, chain, prices, sums, answers and head.")
    ] = False,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all entries as JSON lines, for auditors.")
    ] = None,
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", min=1, help="Show the last N entries only.")
    ] = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Every charge and every act of the curator, oldest first.

    A ledger that was edited, cut or put back from an old copy ends with exit code 6 and what differs. One that was
    moved to another machine is taken over with: discreet ledger adopt TOML --why "…"

    Example: discreet ledger people.toml --verify
    """
    require_new(output, yes, metadata)
    require_new(export, yes, metadata, flag="export")
    with opened_table(metadata) as table:
        data = _data(table, verify=verify, last=last)
        if export is not None:
            _export(table, export)
    data["exported"] = None if export is None else str(export)
    return Reply(data, lambda: _picture(data), output, replace=yes, toml=metadata)


def adopt(
    metadata: Toml,
    why: Why = None,
    json: AsJson = False,
    yes: Annotated[bool, typer.Option("--yes", help="Adopt without a question back.")] = False,
) -> Reply:
    """Take a ledger that was moved here as it lies.

    Compare it with an export you trust first: nobody else can tell how much was spent since. The reason becomes an
    entry, and so does what a recorded head knows and this copy does not; on a terminal that is shown before.

    Example: discreet ledger adopt people.toml --why "moved to the new server"
    """
    from discreet.ledger.adoption import forgotten_at
    from discreet.ledger.ledger import Ledger

    reason = require_why(why, Fix("", "ledger adopt", {"metadata": str(metadata)}))
    with opened_table(metadata) as table:
        path = table.ledger_path
        if not path.exists():
            fix = Fix("Copy it there, then:", "ledger adopt", {"why": UNKNOWN})
            raise LedgerUnavailable("There is no ledger to adopt.", f"It belongs at {str(path)!r}.", fix)
        _require_orphan(path)
        lost = forgotten_at(path)
        if lost is not None and terminal.is_terminal() and not (yes or json):
            again = Fix("To ask it:", "ledger adopt", {"metadata": str(metadata), "why": reason, "yes": True})
            terminal.require_agreed([f"This copy does not have {lost}."], again)
        Ledger.adopt(path, why=reason).close()
        data = _data(table, verify=True)
    if lost is not None:
        data["caveats"] = [f"Forgotten: {lost}. Answers that were paid with it may have been seen."]
    return Reply(data | {"exported": None}, lambda: _picture(data))


def abandon(
    metadata: Toml,
    receipt: Annotated[str, typer.Argument(metavar="RECEIPT", help="The receipt of the run, from discreet ledger.")],
    why: Why = None,
    json: AsJson = False,
) -> Reply:
    """End a run that is under way; what was set aside for it stays spent.

    An equal request then begins a new run, with a charge of its own, on the rows as they are.

    Example: discreet ledger abandon people.toml 12-4be0a1c9d2f7 --why "the source was replaced"
    """
    reason = require_why(why, Fix("", "ledger abandon", {"metadata": str(metadata), "receipt": receipt}))
    with opened_table(metadata) as table:
        standing = table.standing()
        runs = {} if standing is None else {run.receipt.name: run for run in table.ledger.open_runs()}
        if receipt not in runs:
            listed = f"Give one of: {', '.join(runs)}" if runs else "No run is under way."
            raise bad("receipt", "must be that of a run under way", receipt, listed)
        runs[receipt].end("abandoned", reason)
        data = _data(table, verify=False)
    return Reply(data | {"exported": None}, lambda: _picture(data))


def _require_orphan(path: Path) -> None:
    """Refuses to adopt a ledger that opens as it is."""
    from discreet.ledger.ledger import Ledger

    try:
        Ledger.open(path).close()
    except IntegrityError:
        return
    raise BadValue("There is nothing to adopt.", "The ledger is the one that was used here last.", "Go on asking.")


def _data(table: "Table", *, verify: bool, last: int | None = None) -> dict[str, Any]:
    standing = table.standing()
    if verify and standing is not None:
        table.ledger.verify()
    entries = [] if standing is None else [_entry(one) for one in table.ledger.entries(last)]
    return envelope(
        dataset=table.schema.name,
        remaining=table.remaining(),
        entries=entries,
        head=None if standing is None else standing.head,
        verified=verify,
    )


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    """One entry for a list: who asked what, at which price, and how far it got."""
    memo = entry.get("memo")
    text = (memo.get("text") or memo.get("question")) if isinstance(memo, dict) else memo or None
    charged = "state" in entry
    return {
        "number": entry["n"],
        "time": entry["time"],
        "kind": entry["kind"],
        "state": entry.get("state"),
        "epsilon": _amount(entry.get("epsilon")),
        "delta": _amount(entry.get("delta")),
        "analyst": entry.get("analyst"),
        "question": text,
        "why": entry.get("why"),
        "charge": entry.get("charge", entry.get("purse")),
        "other": entry.get("ledger"),
        "forgets": entry.get("forgets"),
        "receipt": f"{entry['n']}-{entry['hash'][:12]}" if charged else None,
        "hash": entry["hash"],
    }


@functools.lru_cache(maxsize=4096)
def _amount(text: str | None) -> str | None:
    from fractions import Fraction

    return None if text is None else amounts.shown(Fraction(text))


def _export(table: "Table", file: Path) -> None:
    lines = [] if table.standing() is None else list(table.ledger.export())
    try:
        with outputs.replacing(file, table.toml, flag="export") as draft:
            draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError:
        fix = "Check that you may write there and that the disk is not full, or give another name after --export."
        raise CannotWrite("The entries were not exported.", f"The file is {str(file)!r}.", fix) from None


class _Lines:
    """Lines drawn as they are: a table of rich takes a millisecond a row, and a ledger has many."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.segment import Segment

        yield Segment("".join(f"{line}\n" for line in self._lines))


def _picture(data: dict[str, Any]) -> Any:
    from rich.console import Group
    from rich.text import Text

    rows = [("n", "time", "kind", "state", "ε", "analyst", "question"), *map(_row, data["entries"])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    form = "  ".join(f"{{:{'>' if at in (0, 4) else '<'}{width}}}" for at, width in enumerate(widths))  # numbers right
    lines = [form.format(*row).rstrip() for row in rows]
    head = data["head"]
    ending = ["", f"head {head}" if head else "No entry yet: the ledger is made with the first charge."]
    ending += ["Verified: file, chain, prices, sums, answers and head agree."] if data["verified"] else []
    ending += [f"· {caveat}" for caveat in data["caveats"]]
    return Group(*([_Lines(lines)] if data["entries"] else []), Text("\n".join(ending)))


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    said = one["question"] or one["why"] or (f"of {one['charge']}" if one["charge"] else "")
    said += f" (beside {one['other']})" if one["other"] else ""
    first = str(one["number"]), one["time"][:19].replace("T", " "), one["kind"], (one["state"] or "").lower()
    row = (*first, one["epsilon"] or "", _short(one["analyst"] or ""), _short(said))
    return tuple(map(visible, row))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    if not flat.isprintable():
        flat = "".join(letter if letter.isprintable() else "?" for letter in flat)
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}…"
