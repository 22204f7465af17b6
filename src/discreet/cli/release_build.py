"""`discreet release build`: the quote, a yes, one charge, and a folder of tables that add up."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import terminal
from discreet.cli.asking import Rehearse
from discreet.cli.release_asking import Runs, asking
from discreet.cli.reply import AsJson, Reply
from discreet.cli.second import Second, WhySecond, with_second_ledger
from discreet.fix import command_line
from discreet.operation import release as operation
from discreet.operation.release import ReleaseCall

if TYPE_CHECKING:
    from discreet.release.quote import ReleaseQuote
    from discreet.release.release import Release
    from discreet.release.tree import Tree

_LISTED = 12  # places that are shown at the end

Out = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="DIR", help="The folder to write; NAME.release by default.")
]


@asking("build")
def build(
    call: ReleaseCall,
    *,
    resimulate: Runs = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan it and build nothing.")] = False,
    json: AsJson = False,
    output: Out = None,
    yes: Annotated[bool, typer.Option("--yes", help="Build without a question back; replace DIR.")] = False,
    second_ledger: Second = False,
    why: WhySecond = None,
    rehearse: Rehearse = False,
) -> Reply:
    """Build tables that add up: pay once, measure every level, fit, and write a folder.

    On a terminal the plan is shown first and Enter agrees. The same release again costs nothing, and so does another
    --method, --total, --leaf-totals or --zeros on what was measured.

    Example: discreet release build people.toml --by sex --eps 1
    """
    call = replace(call, rehearse=rehearse, resimulate=resimulate, output=output, replaces=yes)
    call = with_second_ledger(call, second_ledger, why)
    if dry_run:
        operation.place(call)
        planned = operation.plan(call)
        return Reply(dict(planned.data), lambda: "\n".join(planned.value.lines()))

    def agree(quote: "ReleaseQuote") -> None:
        again = call.fix("To ask it:", resimulate=resimulate, output=output, yes=True)
        terminal.require_agreed(quote.lines(), again)

    asks_back = not (yes or json or rehearse) and terminal.is_terminal()
    reply = operation.build(call, agree=agree if asks_back else None, watch=terminal.bar)
    data = reply.to_json(command_line)
    return Reply(data, lambda: _picture(reply.value), said=lambda: _said(data))


# --- for people ------------------------------------------------------------------------------------------------------


def _picture(release: "Release") -> Any:
    """The totals of the first places, fitted and estimated."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from discreet.rehearsal.releases import RehearsedRelease
    from discreet.rehearsal.stamp import SENTENCE
    from discreet.release.caps import counted_of

    tree = release.plan.subject.tree
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for name, side in (("place", "left"), ("n", "right"), ("estimate", "right")):
        drawn.add_column(Text(name), justify=side)  # type: ignore[arg-type]
    fitted, measured, radius = release.fitted.sum(axis=1), release.totals, release.total_radius
    listed, public = _first(tree), release.plan.margins.public
    for place in listed:
        level = int(tree.level[place])
        moe = "public" if public[place] >= 0 else f"{int(measured[place]):,} ± {int(radius[place]):,}"
        drawn.add_row(Text("  " * level + tree.names[place]), Text(f"{int(fitted[place]):,}"), Text(moe))
    if len(listed) < len(tree):
        drawn.add_row(Text(f"… and {len(tree) - len(listed):,} places more"), Text(""), Text(""))
    of = counted_of(release.plan.subject)
    stamped = [Text(SENTENCE)] if isinstance(release, RehearsedRelease) else []
    return Group(*stamped, drawn, *([] if of is None else [Text(f"n, estimate: {of}")]))


def _first(tree: "Tree") -> list[int]:
    """Whole levels from the top while they are short, each place above those in it."""
    deepest = max(level for level in range(tree.depth) if level == 0 or tree.first[level + 1] <= _LISTED)
    found, waiting = [], [0]
    while waiting:
        place = waiting.pop()
        found.append(place)
        if tree.level[place] < deepest:
            waiting += reversed(range(int(tree.child[place]), int(tree.child[place + 1])))
    return found


def _said(data: dict[str, Any]) -> Any:
    from rich.console import Group
    from rich.text import Text

    cost, left, broken = data["cost"], data["remaining"], sum(data["violations"].values())
    price = f"ε = {cost['epsilon']}" + ("" if cost["delta"] == "0" else f", δ = {cost['delta']}")
    paid = f"replayed: cost 0 (when first built, {price})" if data["replayed"] else f"cost: {price}"
    lines = [
        "",
        *(f"! {doubt}" for doubt in data["doubts"]),
        f"± of an estimate holds with probability {100 * data['level']:g} %; n adds up.",
        f"{paid}, protecting {data['protects']} ({cost['neighbours']})",
        f"remaining: ε = {left['epsilon']}, δ = {left['delta']}",
        f"receipt: {data['receipt']}",
        f"broken rules: {broken}",
        *(f"· {caveat}" for caveat in data["caveats"]),
    ]
    listed = ["", "Written:", *(f"  {file}" for file in data["files"])]
    listed += ["Next:", *(f"  {line}" for line in data["next"])]
    return Group(
        Text("\n".join(lines), style="dim"),
        Text("\n".join(listed), style="dim", no_wrap=True, overflow="ignore"),
    )
