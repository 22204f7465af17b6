"""What the verbs about a release share: their flags, the release they mean, its folder, and command lines to paste."""

import contextlib
import inspect
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.asking import As, Delta, Eps, Level, Toml
from discreet.cli.fixes import refitted
from discreet.cli.reply import Reply
from discreet.cli.typed import whole
from discreet.errors import BadValue, BudgetExceeded, bad

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.release.face import Releasing
    from discreet.release.quote import ReleaseQuote

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

_MOST = 10**15


@dataclass(frozen=True)
class Wanted:
    """A release and its price as they were typed."""

    verb: str
    toml: Path
    hierarchy: str | None = None
    by: tuple[str, ...] = ()
    count: str | None = None
    groups: str | None = None
    largest: str | None = None
    share: tuple[str, ...] = ()
    sharing: str | None = None
    method: str | None = None
    total: str | None = None
    leaf_totals: Path | None = None
    zeros: Path | None = None
    eps: str | None = None
    delta: str | None = None
    level: str | None = None
    analyst: str | None = None

    def command(self, *more: str) -> str:
        """The command line that says the same, safe to paste into a shell."""
        flags = [("--hierarchy", self.hierarchy), *(("--by", one) for one in self.by), ("--count", self.count)]
        flags += [("--groups", self.groups), ("--largest", self.largest)]
        flags += [*(("--share", one) for one in self.share), ("--sharing", self.sharing), ("--method", self.method)]
        files = (("--leaf-totals", self.leaf_totals), ("--zeros", self.zeros))
        flags += [("--total", self.total), *((flag, str(file)) for flag, file in files if file is not None)]
        flags += [("--eps", self.eps), ("--delta", self.delta), ("--level", self.level)]
        flags += [("--as", self.analyst)]
        words = [word for flag, value in flags if value is not None for word in (flag, value)]
        return shlex.join(["discreet", "release", self.verb, str(self.toml), *words, *more])

    @property
    def about(self) -> dict[str, Any]:
        """What `Dataset.release` takes."""
        names = [name.strip() for one in self.by for name in one.split(",")]
        if "" in names:
            fix = "Write, for example: --by sex,age"
            raise bad("by", "must name columns, with commas between", ",".join(self.by), fix)
        size = None if self.largest is None else whole(self.largest, "largest", 1, 10**5, such_as=8)
        found = {"hierarchy": self.hierarchy, "by": names, "groups": self.groups, "largest": size}
        return found if self.count is None else found | {"count": self.count}

    @property
    def price(self) -> dict[str, Any]:
        """What a plan takes."""
        total = None if self.total is None else whole(self.total, "total", 0, _MOST, such_as=1000)
        found: dict[str, Any] = {"epsilon": self.eps, "delta": self.delta, "level": self.level}
        found |= {"total": total, "leaf_totals": self.leaf_totals, "zeros": self.zeros}
        chosen = {"sharing": self.sharing, "method": self.method}
        found |= {name: value for name, value in chosen.items() if value is not None}
        return found | {"share": dict(map(_locked, self.share))}


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
    """What was typed, by the names of `Wanted`."""
    given = dict(locals())
    return given | {"toml": given.pop("metadata"), "by": tuple(by or ()), "share": tuple(share or ())}


def asking(verb: str) -> Callable[[Callable[..., Reply]], Callable[..., Reply]]:
    """A verb that has these flags before its own, and takes them as one `Wanted`."""

    def with_flags(function: Callable[..., Reply]) -> Callable[..., Reply]:
        shared = inspect.signature(_flags).parameters
        own = inspect.signature(function).parameters
        every = [*shared.values(), *(own[name] for name in own if name != "wanted")]

        def run(**typed: Any) -> Reply:
            flags = _flags(**{name: typed.pop(name) for name in shared})
            return function(Wanted(verb, **flags), **typed)

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__annotations__ = {one.name: one.annotation for one in every} | {"return": Reply}
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]  # what the command line is made of
        return run

    return with_flags


def _locked(typed: str) -> tuple[str, str]:
    level, _, value = typed.rpartition("=")
    if not level.strip() or not value.strip():
        raise bad("share", "must be LEVEL=SHARE", typed, "Write, for example: --share ward=0.5")
    return level.strip(), value.strip()


def releasing(dataset: "Dataset", wanted: Wanted) -> "Releasing":
    """The release, refused where it cannot be made or has no price."""
    found = dataset.release(**wanted.about)
    if len({_locked(one)[0] for one in wanted.share}) < len(wanted.share):
        raise bad("share", "must name each level once", ", ".join(wanted.share), "Remove one of the two.")
    if wanted.eps is None:
        why = "--eps says what all levels together may cost."
        raise BadValue("The release has no price.", why, f"Say what to spend: {replace(wanted, eps='1').command()}")
    return found


def quoted(release: "Releasing", wanted: Wanted) -> "ReleaseQuote":
    """The quote at the price that was typed."""
    return release.quote(**wanted.price, analyst=wanted.analyst)


def default_folder(toml: Path) -> Path:
    """Where a built release lies: beside the metadata."""
    return toml.parent / f"{toml.stem}.release"  # a name that no file can have is refused by its reader


def require_usable(folder: Path, flag: str) -> None:
    """Refuses a name that no folder can have, or that lies where nobody may look."""
    try:
        (folder / "release.json").lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError):
        rule, fix = "must be the name of a folder that you may use", "Give a shorter name, in a folder of your own."
        raise bad(flag, rule, str(folder), fix) from None


@contextlib.contextmanager
def affordable(wanted: Wanted) -> Iterator[None]:
    """A release that is too dear is refused with the line that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        from discreet.ledger.refusal import down

        less = Fraction(down(min(error.remaining, error.requested)))
        if less <= 0 or less >= error.requested:
            raise
        cheaper = replace(wanted, eps=down(less), delta="0").command()
        raise refitted(error, f"Spend less: {cheaper}\nOr let the curator raise the budget.") from None
