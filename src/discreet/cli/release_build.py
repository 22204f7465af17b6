"""`discreet release build`: show the plan, wait for agreement, charge once, write a folder of tables that add up."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import terminal
from discreet.cli.asking import Rehearse
from discreet.cli.drawing import text_table, unwrapped_text
from discreet.cli.reasons import Second, WhySecond, with_second_ledger
from discreet.cli.release_asking import Runs, asking
from discreet.cli.reply import AsJson, Reply
from discreet.fix import command_line
from discreet.operation import release as operation
from discreet.operation.release import ReleaseCall
from discreet.terms import price_text

if TYPE_CHECKING:
    from discreet.release.quote import ReleaseQuote
    from discreet.release.release import Release
    from discreet.release.tree import Tree

_LISTED = 12  # places that are shown at most

Out = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="DIR", help="Folder to write; NAME.release by default.")
]


@asking("build")
def build(
    call: ReleaseCall,
    *,
    resimulate: Runs = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and build nothing.")] = False,
    json: AsJson = False,
    output: Out = None,
    yes: Annotated[bool, typer.Option("--yes", help="Build without confirmation; replace DIR.")] = False,
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
        operation.output_folder(call)
        planned = operation.plan(call)
        return Reply(dict(planned.data), lambda: "\n".join(planned.value.lines()))

    def agree(quote: "ReleaseQuote") -> None:
        fix = call.fix("To ask it:", resimulate=resimulate, output=output, yes=True)
        terminal.require_agreed(quote.lines(), fix)

    confirms = not (yes or json or rehearse) and terminal.is_terminal()
    reply = operation.build(call, agree=agree if confirms else None, watch=terminal.bar)
    data = reply.to_json(command_line)
    return Reply(data, lambda: _picture(reply.value), notes=lambda: _notes(data))


# --- for people ------------------------------------------------------------------------------------------------------


def _picture(release: "Release") -> Any:
    """The totals of the first places, fitted and estimated."""
    from rich.console import Group

    from discreet.rehearsal.releases import RehearsedRelease
    from discreet.rehearsal.stamp import SENTENCE
    from discreet.release.caps import counted_of

    tree, fitted = release.plan.subject.tree, release.fitted.sum(axis=1)
    measured, radius, public = release.totals, release.total_radius, release.plan.margins.public
    rows, places = [], _first_places(tree)
    for place in places:
        estimate = "public" if public[place] >= 0 else f"{int(measured[place]):,} ± {int(radius[place]):,}"
        rows.append(("  " * int(tree.level[place]) + tree.names[place], f"{int(fitted[place]):,}", estimate))
    if len(places) < len(tree):
        rows.append((f"… and {len(tree) - len(places):,} places more", "", ""))
    of = counted_of(release.plan.subject)
    stamp = [SENTENCE] if isinstance(release, RehearsedRelease) else []
    table = text_table(("place", "n", "estimate"), rows, keys=1)
    return Group(*stamp, table, *([] if of is None else [f"n, estimate: {of}"]))


def _first_places(tree: "Tree") -> list[int]:
    """Whole levels from the top while they are short; each place before those in it."""
    deepest = max(level for level in range(tree.depth) if level == 0 or tree.first[level + 1] <= _LISTED)
    places, waiting = [], [0]
    while waiting:
        place = waiting.pop()
        places.append(place)
        if tree.level[place] < deepest:
            waiting += reversed(range(int(tree.child[place]), int(tree.child[place + 1])))
    return places


def _notes(data: dict[str, Any]) -> Any:
    from rich.console import Group
    from rich.text import Text

    cost, remaining, broken = data["cost"], data["remaining"], sum(data["violations"].values())
    price = price_text(cost)
    paid = f"replayed: cost 0 (when first built, {price})" if data["replayed"] else f"cost: {price}"
    lines = [
        "",
        *(f"! {doubt}" for doubt in data["doubts"]),
        f"± of an estimate holds with probability {100 * data['level']:g} %; n adds up.",
        f"{paid}, protecting {data['protects']} ({cost['neighbours']})",
        f"remaining: ε = {remaining['epsilon']}, δ = {remaining['delta']}",
        f"receipt: {data['receipt']}",
        f"broken rules: {broken}",
        *(f"· {caveat}" for caveat in data["caveats"]),
    ]
    paths = ["", "Written:", *(f"  {file}" for file in data["files"])]
    commands = ["Next:", *(f"  {line}" for line in data["next"])]
    return Group(Text("\n".join(lines), style="dim"), unwrapped_text("\n".join([*paths, *commands]), "dim"))
