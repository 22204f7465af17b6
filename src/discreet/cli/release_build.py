"""`discreet release build`: the quote, a yes, one charge, and a folder of tables that add up."""

import shlex
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import release_plan, terminal
from discreet.cli.asking import Rehearse, opened
from discreet.cli.release_asking import (
    Runs,
    Wanted,
    affordable,
    asking,
    default_folder,
    quoted,
    releasing,
    require_usable,
)
from discreet.cli.reply import AsJson, Reply, envelope
from discreet.cli.second import Second, WhySecond, reason, said_on_purpose
from discreet.cli.typed import whole
from discreet.errors import bad

if TYPE_CHECKING:
    from discreet.release.plan import ReleasePlan
    from discreet.release.release import Release
    from discreet.release.tree import Tree

_LISTED = 12  # places that are shown at the end

Out = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="DIR", help="The folder to write; NAME.release by default.")
]


@asking("build")
def build(
    wanted: Wanted,
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
    real, wanted = wanted, release_plan.Rehearsed(**vars(wanted)) if rehearse else wanted
    beside = wanted.toml.with_suffix(".rehearsal") if rehearse else default_folder(wanted.toml)
    folder = beside if output is None else output
    _require_harmless(folder, wanted.toml)
    with opened(wanted.toml, reason(second_ledger, why, wanted.command()), rehearse=rehearse) as dataset:
        release = releasing(dataset, wanted)
        found = quoted(release, wanted)
        if dry_run:
            return Reply(release_plan.data(found), lambda: "\n".join(found.lines()))
        require_place(folder, replace=yes)
        runs = None if resimulate is None else required_runs(resimulate, release.plan(**wanted.price))
        if not (yes or json or rehearse) and terminal.is_terminal():
            more = [] if resimulate is None else ["--resimulate", resimulate]
            more += [] if output is None else ["-o", str(output)]
            again = wanted.command(*more, "--yes")
            terminal.require_agreed(found.lines(), again=again)
        with terminal.bar() as advance, affordable(wanted), said_on_purpose(wanted.command):
            built = release.build(**wanted.price, analyst=wanted.analyst, progress=advance)
            built = built if runs is None else built.resimulated(runs, progress=advance)
            files = _saved(built, folder)
    data = _data(built, found.to_json(), files, wanted.toml, folder)
    if rehearse:
        data["next"] = [real.command()]
    return Reply(data, lambda: _picture(built), said=lambda: _said(data))


def required_runs(typed: str, plan: "ReleasePlan") -> int:
    """How often to draw the noise again, refused before anything is spent."""
    from discreet.release.resimulated import MOST_RUNS, least_runs, require_room

    runs = whole(typed, "resimulate", least_runs(plan.terms.level), MOST_RUNS, such_as=99)
    require_room(plan.terms.level, runs, len(plan.subject.tree) * (plan.subject.cells + 1))
    return runs


def _require_harmless(folder: Path, toml: Path) -> None:
    """Refuses a folder where the release would replace an input of a dataset."""
    from discreet.release.publish import files

    files.require_harmless(folder, files.BUILT, toml)


def require_place(folder: Path, *, replace: bool) -> None:
    """Refuses, before anything is spent, what could not be written afterwards."""
    from discreet.release.publish.files import PUBLISHED

    require_usable(folder, "output")
    if not folder.absolute().parent.is_dir():
        fix = f"Make it first: mkdir -p {shlex.quote(str(folder.parent))}"
        raise bad("output", "must lie in a folder that exists", str(folder), fix)
    if folder.exists() and not folder.is_dir():
        raise bad("output", "must be a folder", str(folder), "Give another name after -o.")
    if not replace and any((folder / name).exists() for name in PUBLISHED):
        fix = "Add --yes to replace what is in it, or give another folder after -o."
        raise bad("output", "must not hold a release yet", str(folder), fix)
    if find_spec("pyarrow") is None:
        raise bad("output", "needs the package pyarrow", str(folder), "Install discreet[frames].")


def _saved(release: "Release", folder: Path) -> list[Path]:
    """The files of the release, of a rehearsal the page too; what was there is replaced, as was asked beforehand."""
    from discreet.rehearsal.releases import RehearsedRelease

    made = release.publish if isinstance(release, RehearsedRelease) else release.save
    return [_near(path, folder) for path in made(folder, replace=True)]


def _near(path: Path, folder: Path) -> Path:
    """The path as the folder was typed."""
    return folder / path.name


def _data(release: "Release", quote: dict[str, Any], files: list[Path], toml: Path, folder: Path) -> dict[str, Any]:
    kept = {name: value for name, value in quote.items() if name not in ("remaining_after", "ok", "format")}
    return envelope(**kept) | {
        "remaining": release.remaining,
        "doubts": release.doubts,
        "receipt": release.receipt,
        "replayed": release.replayed,
        "violations": asdict(release.violations),
        "folder": str(folder),
        "files": [str(path) for path in files],
        "next": following(toml, folder),
    }


def following(toml: Path, folder: Path) -> list[str]:
    """Commands that work now."""
    place = [] if folder == default_folder(toml) else [str(folder)]
    return [shlex.join(["discreet", "release", verb, str(toml), *place]) for verb in ("check", "publish")]


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
