"""What the verbs about a release share: their flags, taken as one call."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.asking import As, Delta, Eps, Level, Toml
from discreet.cli.reply import Reply
from discreet.operation.release import ReleaseCall

Over = Annotated[str | None, typer.Option("--hierarchy", metavar="NAME", help="Which tree, if there are several.")]
By = Annotated[list[str] | None, typer.Option("--by", metavar="A,B", help="Public columns to part each place by.")]
Count = Annotated[str | None, typer.Option(metavar="WHAT", help="units (each counted once) or rows.")]
Groups = Annotated[str | None, typer.Option(metavar="COLUMN", help="Sizes of groups instead, such as household.")]
Largest = Annotated[str | None, typer.Option(metavar="N", help="The largest size; what is larger counts as N.")]
Share = Annotated[
    list[str] | None, typer.Option(metavar="LEVEL=0.2", help="Lock a level's share of ε; repeat. The rest is shared.")
]
Sharing = Annotated[str | None, typer.Option(metavar="HOW", help="Share the rest: even, or least error in sum.")]
Method = Annotated[str | None, typer.Option(metavar="NAME", help="How it is made to add up; auto by default.")]
Total = Annotated[str | None, typer.Option(metavar="N", help="The number at the top, if it is public.")]
LeafTotals = Annotated[
    Path | None,
    typer.Option("--leaf-totals", metavar="CSV", help="A public file with the total of every lowest place."),
]
Zeros = Annotated[
    Path | None, typer.Option(metavar="CSV", help="A public file of what cannot be: a line for each combination.")
]
Runs = Annotated[
    str | None,
    typer.Option(
        "--resimulate", metavar="RUNS", help="Add an approximate ± of n, by drawing the noise again; 99 does."
    ),
]
Folder = Annotated[
    Path | None, typer.Argument(metavar="[DIR]", readable=False, help="The built release; NAME.release by default.")
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
    """What was typed, by the names of a `ReleaseCall`."""
    given = dict(locals())
    return given | {"epsilon": given.pop("eps"), "by": tuple(by or ()), "share": tuple(share or ())}


def asking(verb: str) -> Callable[[Callable[..., Reply]], Callable[..., Reply]]:
    """A verb that has these flags before its own, and takes them as one call."""

    def with_flags(function: Callable[..., Reply]) -> Callable[..., Reply]:
        shared = inspect.signature(_flags).parameters
        own = inspect.signature(function).parameters
        every = [*shared.values(), *(own[name] for name in own if name != "call")]

        def run(**typed: Any) -> Reply:
            flags = _flags(**{name: typed.pop(name) for name in shared})
            return function(ReleaseCall(**flags, verb=f"release {verb}"), **typed)

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__annotations__ = {one.name: one.annotation for one in every} | {"return": Reply}
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]  # what the command line is made of
        return run

    return with_flags
