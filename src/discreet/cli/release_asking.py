"""What the verbs about a release share: their options, handed to them as one call."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.asking import As, Delta, Eps, Level, Toml
from discreet.cli.flags import Verb, taking
from discreet.operation.release import ReleaseCall

Over = Annotated[str | None, typer.Option("--hierarchy", metavar="NAME", help="Tree to use, if there are several.")]
By = Annotated[list[str] | None, typer.Option("--by", metavar="A,B", help="Public columns that divide each place.")]
Count = Annotated[str | None, typer.Option(metavar="WHAT", help="What is counted: units (each once) or rows.")]
Groups = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of groups whose sizes are counted instead.")]
Largest = Annotated[str | None, typer.Option(metavar="N", help="Largest group size; larger groups count as N.")]
Share = Annotated[
    list[str] | None, typer.Option(metavar="LEVEL=0.2", help="Share of ε for a level; repeat. Others divide the rest.")
]
Sharing = Annotated[str | None, typer.Option(metavar="HOW", help="Division of the rest: even, or least error in sum.")]
Method = Annotated[str | None, typer.Option(metavar="NAME", help="Method that makes it add up; auto by default.")]
Total = Annotated[str | None, typer.Option(metavar="N", help="Total of the whole tree, if it is public.")]
LeafTotals = Annotated[
    Path | None,
    typer.Option("--leaf-totals", metavar="CSV", help="Public CSV with the total of every lowest place."),
]
Zeros = Annotated[Path | None, typer.Option(metavar="CSV", help="Public CSV of impossible combinations, fixed at 0.")]
Runs = Annotated[
    str | None,
    typer.Option(
        "--resimulate", metavar="RUNS", help="Runs for an approximate ± of n from noise drawn again, such as 99."
    ),
]
Folder = Annotated[
    Path | None,
    typer.Argument(metavar="[DIR]", readable=False, help="Built release; NAME.release by default."),
]


def _flags(
    metadata: Toml,
    hierarchy: Over = None,
    by: By = None,
    count: Count = None,
    groups: Groups = None,
    largest: Largest = None,
    share: Share = None,
    sharing: Sharing = None,
    method: Method = None,
    total: Total = None,
    leaf_totals: LeafTotals = None,
    zeros: Zeros = None,
    eps: Eps = None,
    delta: Delta = None,
    level: Level = None,
    analyst: As = None,
) -> dict[str, Any]:
    """The typed options by the names of a `ReleaseCall`."""
    typed = dict(locals())
    return typed | {"epsilon": typed.pop("eps"), "by": tuple(by or ()), "share": tuple(share or ())}


def asking(verb: str) -> Callable[[Verb], Verb]:
    """A decorator: the verb gets these options before its own and takes them as one call."""
    return taking(_flags, partial(ReleaseCall, verb=f"release {verb}"))
