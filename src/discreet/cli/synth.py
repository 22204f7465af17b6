"""`discreet synth quote`, `build` and `report`: the price of a synthetic table, one charge and a file, and its page."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import terminal
from discreet.cli.asking import As, Delta, Eps, Rehearse, Toml
from discreet.cli.drawing import quote_picture, unwrapped_text
from discreet.cli.flags import taking
from discreet.cli.reasons import Second, WhySecond, with_second_ledger
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import synth as operation
from discreet.operation import synth_report as reporting
from discreet.operation.synth import SynthCall
from discreet.operation.synth_children import require_no_input
from discreet.operation.synth_report import SynthReportCall
from discreet.terms import price_text

if TYPE_CHECKING:
    from discreet.synth.check.quote import CheckQuote
    from discreet.synth.quote import SynthQuote
    from discreet.synth.synthetic import SyntheticTable

Columns = Annotated[
    str | None, typer.Option(metavar="A,B", help="Columns of the table; all with public facts by default.")
]
Method = Annotated[str | None, typer.Option(metavar="NAME", help="auto, or independent for columns without any pairs.")]
MaxCells = Annotated[str | None, typer.Option(metavar="N", help="Most cells of the fitted tree; 1e6 by default.")]
Rows = Annotated[
    str | None,
    typer.Option(
        metavar="N", help="Rows to draw, or persons where one has several, if that is public; else a noisy number."
    ),
]
Zeros = Annotated[Path | None, typer.Option(metavar="FILE", help="Public .toml or .json of impossible combinations.")]
Child = Annotated[
    Path | None, typer.Option(metavar="TOML", help="Metadata of a second table with rows of the same units.")
]
Out = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="File to write, .parquet or .csv; NAME.synthetic.parquet."),
]
SyntheticFile = Annotated[
    Path, typer.Argument(metavar="TABLE", readable=False, help="Parquet file of a synthetic table.")
]
CheckEps = Annotated[
    str | None,
    typer.Option("--eps", "--epsilon", metavar="ε", help="ε to spend on a check; without it nothing is charged."),
]
Target = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Class to predict: train on synthetic rows, try on real ones.")
]
Page = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Page to write; NAME.html beside TABLE.")
]


_OF_TWO = 'read both with pandas.read_parquet; in Python tables.report("report.html") writes a page about them'


def _flags(
    metadata: Toml,
    columns: Columns = None,
    eps: Eps = None,
    delta: Delta = None,
    method: Method = None,
    max_cells: MaxCells = None,
    rows: Rows = None,
    zeros: Zeros = None,
    child: Child = None,
    analyst: As = None,
    rehearse: Rehearse = False,
) -> dict[str, Any]:
    """The typed options by the names of a `SynthCall`."""
    typed = dict(locals())
    return typed | {"epsilon": typed.pop("eps")}


@taking(_flags, partial(SynthCall, verb="synth quote"))
def quote(*, call: SynthCall, json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """Show what a synthetic table would cost, how it would be measured and with which noise.

    Costs nothing and touches no data.

    Example: discreet synth quote people.toml --eps 1
    """
    require_new(output, yes, call.metadata)
    require_no_input(call, output)
    reply = operation.quote(call)
    data, picture = reply.to_json(command_line), lambda: quote_picture(_lines(reply.value), reply.next or ())
    return Reply(data, picture, output, replace=yes, toml=call.metadata)


@taking(_flags, SynthCall)
def build(
    *,
    call: SynthCall,
    json: AsJson = False,
    output: Out = None,
    yes: Annotated[bool, typer.Option("--yes", help="Build without confirmation; replace FILE.")] = False,
    second_ledger: Second = False,
    why: WhySecond = None,
) -> Reply:
    """Build a synthetic table: pay once, measure, fit, and write invented rows.

    On a terminal the quote is shown first and Enter agrees. The same build again costs nothing, and on one machine
    and version of the packages it writes the same bytes, with --yes over the same FILE.  One that was interrupted goes
    on where it stood.

    Example: discreet synth build people.toml --eps 1 -o synthetic.parquet
    """
    call = with_second_ledger(replace(call, output=output, replaces=yes), second_ledger, why)

    def agree(priced: "SynthQuote") -> None:
        terminal.require_agreed(_lines(priced), call.fix("To build it:", output=output, yes=True))

    confirms = not (yes or json or call.rehearse) and terminal.is_terminal()
    reply = operation.build(call, agree=agree if confirms else None, watch=terminal.bar)
    data = reply.to_json(command_line)
    files = "\n".join([data["file"], *(own["file"] for own in data.get("children", {}).values())])
    return Reply(data, lambda: unwrapped_text(files), notes=lambda: _notes(data, _method(reply.value)))


def report(
    synthetic_file: SyntheticFile,
    metadata: Toml,
    eps: CheckEps = None,
    delta: Delta = None,
    target: Target = None,
    analyst: As = None,
    rehearse: Rehearse = False,
    json: AsJson = False,
    output: Page = None,
    yes: Annotated[bool, typer.Option("--yes", help="Check without confirmation; replace FILE.")] = False,
    second_ledger: Second = False,
    why: WhySecond = None,
) -> Reply:
    """Write a page about a synthetic table: its promise, what was measured, what it is not for, and a check.

    A check compares it with the private table and is charged to --eps; on a terminal its quote is shown first and Enter
    agrees. Without --eps the page has no check, and nothing is charged.

    Example: discreet synth report synthetic.parquet people.toml --eps 0.1 -o report.html
    """
    call = SynthReportCall(synthetic_file, metadata, eps, delta, target, analyst, rehearse, output, yes)
    call = with_second_ledger(call, second_ledger, why)

    def agree(priced: "CheckQuote") -> None:
        terminal.require_agreed(str(priced).splitlines(), call.fix("To check it:", output=output, yes=True))

    confirms = not (yes or json or rehearse) and terminal.is_terminal()
    reply = reporting.report(call, agree=agree if confirms else None, watch=terminal.bar)
    data, words = reply.to_json(command_line), () if reply.value is None else reply.value.words()
    return Reply(data, lambda: unwrapped_text(data["file"]), notes=lambda: _page_notes(data, words))


# --- for people ------------------------------------------------------------------------------------------------------


def _lines(priced: "SynthQuote") -> list[str]:
    return str(priced).splitlines()


def _notes(data: dict[str, Any], method: str) -> Any:
    """How many rows there are, what they cost, whom that protects, and what can follow."""
    from rich.console import Group
    from rich.text import Text

    cost, remaining = data["cost"], data["remaining"]
    price = price_text(cost)
    paid = f"replayed: cost 0 (when first built, {price})" if data["replayed"] else f"cost: {price}"
    left = f"remaining: ε = {remaining['epsilon']}, δ = {remaining['delta']}"
    if data.get("rehearsal"):
        paid, left = f"cost: nothing was charged; without --rehearse {price}", "remaining: as before"
    lines = [
        "",
        f"{_rows(data)} {_pairs(data, method)}",
        *data["doubts"],
        *data["words"],
        f"{paid}, protecting each {cost['unit']} ({cost['neighbours']})",
        left,
        f"receipt: {data['receipt']}",
    ]
    following = [_OF_TWO] if "children" in data else data["next"]
    commands = ["", "Next:", *(f"  {line}" for line in following)] if following else []
    return Group(Text("\n".join(lines), style="dim"), unwrapped_text("\n".join(commands), "dim"))


def _page_notes(data: dict[str, Any], words: Sequence[str]) -> Any:
    """What the check says and cost, or that there is none, and what can follow."""
    from rich.console import Group
    from rich.text import Text

    remaining = f"remaining: ε = {data['remaining']['epsilon']}, δ = {data['remaining']['delta']}"
    told = list(words) or ["The page has no check, and nothing was charged."]
    if data.get("rehearsal"):
        from discreet.rehearsal.stamp import SENTENCE

        told, remaining = list(dict.fromkeys([SENTENCE, *told])), "remaining: as before"
    commands = ["", "Next:", *(f"  {line}" for line in data["next"])] if data["next"] else []
    return Group(Text("\n".join(["", *told, remaining]), style="dim"), unwrapped_text("\n".join(commands), "dim"))


def _method(table: "SyntheticTable") -> str:
    """How the table was measured, as its card says it."""
    from discreet.synth.report import words

    return words.method(table)


def _rows(data: dict[str, Any]) -> str:
    """How many rows each file has, of which units, and what joins two files."""
    own = f"{_counted(data['rows'], 'row')} of {_counted(len(data['columns']), 'column')}"
    key = data["columns"][0]
    children = data.get("children", {})
    if data["units"] != data["rows"] and not children:
        return f"{own}, of {_counted(data['units'], 'unit')} ({data['cost']['unit']})."
    others = [
        f" {name}: {_counted(facts['rows'], 'row')} of {_counted(len(facts['columns']), 'column')} in {facts['file']}; "
        f"{facts['columns'][0]} says which {key} each belongs to."
        for name, facts in children.items()
    ]
    return "".join([f"{data['dataset']}: {own} in {data['file']}." if children else f"{own}.", *others])


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _pairs(data: dict[str, Any], method: str) -> str:
    """Which pairs were measured, or why none was and what joins columns nevertheless."""
    chosen = [" × ".join(part["columns"]) for part in data["measured"] if part["step"] == "pairs"]
    if not chosen:
        return method
    listed = ", ".join(chosen[:6])
    were = "1 pair was" if len(chosen) == 1 else f"{len(chosen)} pairs were"
    return f"{were} measured: {listed}{', …' if len(chosen) > 6 else ''}."
