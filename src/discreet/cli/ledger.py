"""`discreet ledger`: list, verify and export the entries; take over a moved ledger; end a run."""

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
from discreet.operation.dataset import open_table
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
    """List every charge and every act of the curator, oldest first.

    For a ledger that was edited, cut or restored from an old copy the exit code is 6, and what differs is shown. One
    that was moved to another machine is taken over with: discreet ledger adopt TOML --why "…"

    Example: discreet ledger people.toml --verify
    """
    require_new(output, yes, metadata)
    require_new(export, yes, metadata, flag="export")
    with open_table(metadata) as table:
        data = _data(table, verify=verify, last=last)
        if export is not None:
            _export(table, export)
    data["exported"] = None if export is None else str(export)
    return Reply(data, lambda: _picture(data), output, replace=yes, toml=metadata)


def adopt(
    metadata: Toml,
    why: Why = None,
    json: AsJson = False,
    yes: Annotated[bool, typer.Option("--yes", help="Adopt without confirmation.")] = False,
) -> Reply:
    """Take over a ledger that was moved here.

    Compare it with an export you trust first: nobody else can tell how much was spent since. The ledger records the
    reason, and the charges that this copy lacks and a recorded head has; on a terminal they are shown before.

    Example: discreet ledger adopt people.toml --why "moved to the new server"
    """
    from discreet.ledger.adoption import forgotten_at
    from discreet.ledger.ledger import Ledger

    reason = require_why(why, Fix("", "ledger adopt", {"metadata": str(metadata)}))
    with open_table(metadata) as table:
        path = table.ledger_path
        if not path.exists():
            fix = Fix("Copy it there, then:", "ledger adopt", {"why": UNKNOWN})
            raise LedgerUnavailable("There is no ledger to adopt.", f"It belongs at {str(path)!r}.", fix)
        _require_orphan(path)
        forgotten = forgotten_at(path)
        if forgotten is not None and terminal.is_terminal() and not (yes or json):
            fix = Fix("To ask it:", "ledger adopt", {"metadata": str(metadata), "why": reason, "yes": True})
            terminal.require_agreed([f"This copy does not have {forgotten}."], fix)
        Ledger.adopt(path, why=reason).close()
        data = _data(table, verify=True)
    if forgotten is not None:
        data["caveats"] = [f"Forgotten: {forgotten}. Answers that were paid with it may have been seen."]
    return Reply(data | {"exported": None}, lambda: _picture(data))


def abandon(
    metadata: Toml,
    receipt: Annotated[str, typer.Argument(metavar="RECEIPT", help="Receipt of the run, from discreet ledger.")],
    why: Why = None,
    json: AsJson = False,
) -> Reply:
    """End a run that is under way; what was set aside for it stays spent.

    An equal request then begins a new run, with a charge of its own, on the rows as they are.

    Example: discreet ledger abandon people.toml 12-4be0a1c9d2f7 --why "the source was replaced"
    """
    reason = require_why(why, Fix("", "ledger abandon", {"metadata": str(metadata), "receipt": receipt}))
    with open_table(metadata) as table:
        standing = table.standing()
        runs = {} if standing is None else {run.receipt.name: run for run in table.ledger.open_runs()}
        if receipt not in runs:
            fix = f"Give one of: {', '.join(runs)}" if runs else "No run is under way."
            raise bad("receipt", "must be that of a run under way", receipt, fix)
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
    return envelope(
        dataset=table.schema.name,
        remaining=table.remaining(),
        entries=[] if standing is None else list(map(_entry, table.ledger.entries(last))),
        head=None if standing is None else standing.head,
        verified=verify,
    )


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    """One entry for the list: who asked which question, its price, and its state."""
    memo = entry.get("memo")
    text = (memo.get("text") or memo.get("question")) if isinstance(memo, dict) else memo or None
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
        "receipt": f"{entry['n']}-{entry['hash'][:12]}" if "state" in entry else None,
        "hash": entry["hash"],
    }


@functools.lru_cache(maxsize=4096)
def _amount(text: str | None) -> str | None:
    from fractions import Fraction

    return None if text is None else amounts.text_of(Fraction(text))


def _export(table: "Table", file: Path) -> None:
    lines = [] if table.standing() is None else list(table.ledger.export())
    try:
        with outputs.replacing(file, table.toml, flag="export") as draft:
            draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError:
        fix = "Check that you may write there and that the disk is not full, or give another name after --export."
        raise CannotWrite("The entries were not exported.", f"The file is {str(file)!r}.", fix) from None


class _Lines:
    """Lines without a layout: a table of rich takes a millisecond a row, and a ledger has many."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.segment import Segment

        yield Segment("".join(f"{line}\n" for line in self._lines))


def _picture(data: dict[str, Any]) -> Any:
    from rich.console import Group

    rows = [("n", "time", "kind", "state", "ε", "analyst", "question"), *map(_row, data["entries"])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = (">", "<", "<", "<", ">", "<", "<")  # numbers right
    form = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
    lines = [form.format(*row).rstrip() for row in rows]
    head = data["head"]
    ending = ["", f"head {head}" if head else "No entry yet: the ledger is made with the first charge."]
    ending += ["Verified: file, chain, prices, sums, answers and head agree."] if data["verified"] else []
    ending += [f"· {caveat}" for caveat in data["caveats"]]
    return Group(*([_Lines(lines)] if data["entries"] else []), "\n".join(ending))


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    text = entry["question"] or entry["why"] or (f"of {entry['charge']}" if entry["charge"] else "")
    text += f" (beside {entry['other']})" if entry["other"] else ""
    time, state = entry["time"][:19].replace("T", " "), (entry["state"] or "").lower()
    analyst = _short(entry["analyst"] or "")
    row = (str(entry["number"]), time, entry["kind"], state, entry["epsilon"] or "", analyst, _short(text))
    return tuple(map(visible, row))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    if not flat.isprintable():
        flat = "".join(letter if letter.isprintable() else "?" for letter in flat)
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}…"
