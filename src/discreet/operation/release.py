"""Plan and build a release: tables that add up."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.errors import BadValue, BudgetExceeded, bad
from discreet.fix import Fix
from discreet.operation.cheaper import RAISE
from discreet.operation.dataset import Watch, no_watch, open_called
from discreet.operation.folder import built_folder, following, require_writable
from discreet.operation.reply import Reply, envelope

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.release.face import Releasing
    from discreet.release.plan import ReleasePlan
    from discreet.release.quote import ReleaseQuote
    from discreet.release.release import Release

_LARGEST_TOTAL = 10**15
_NOT_IN_FIXES = ("resimulate", "output", "replaces", "second_ledger", "verb")


@dataclass(frozen=True)
class ReleaseCall:
    """A release and its price; amounts as they were typed, which `amounts` parses."""

    metadata: Path
    hierarchy: str | None = None
    by: tuple[str, ...] = ()
    count: str | None = None
    groups: str | None = None
    largest: str | None = None
    share: tuple[str, ...] = ()  # LEVEL=SHARE
    sharing: str | None = None
    method: str | None = None
    total: str | None = None
    leaf_totals: Path | None = None
    zeros: Path | None = None
    epsilon: str | None = None
    delta: str | None = None
    level: str | None = None
    analyst: str | None = None
    rehearse: bool = False
    resimulate: str | None = None  # how often the noise is drawn again, for an approximate ± of what is fitted
    output: Path | None = None  # the folder to write
    replaces: bool = False  # what is in that folder
    second_ledger: str | None = None  # why these rows have two ledgers
    verb: str = "release build"  # the operation that fixes offer to call again

    def fix(self, words: str, **more: Any) -> Fix:
        """The same call as a fix."""
        names = [field.name for field in fields(self) if field.name not in _NOT_IN_FIXES]
        return Fix(words, self.verb, {name: getattr(self, name) for name in names} | more)

    @property
    def about(self) -> dict[str, Any]:
        """The arguments of `Dataset.release`."""
        names = [name.strip() for part in self.by for name in part.split(",")]
        if "" in names:
            fix = "Write, for example: --by sex,age"
            raise bad("by", "must name columns, with commas between", ",".join(self.by), fix)
        size = None if self.largest is None else amounts.whole(self.largest, "largest", 1, 10**5, such_as=8)
        about = {"hierarchy": self.hierarchy, "by": names, "groups": self.groups, "largest": size}
        return about if self.count is None else about | {"count": self.count}

    @property
    def price(self) -> dict[str, Any]:
        """The arguments of a plan."""
        total = None if self.total is None else amounts.whole(self.total, "total", 0, _LARGEST_TOTAL, such_as=1000)
        price: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "level": self.level}
        price |= {"total": total, "leaf_totals": self.leaf_totals, "zeros": self.zeros}
        chosen = {"sharing": self.sharing, "method": self.method}
        price |= {name: value for name, value in chosen.items() if value is not None}
        return price | {"share": dict(map(_level_share, self.share))}


def plan(call: ReleaseCall) -> "Reply[ReleaseQuote]":
    """Cost and the ± of every level, and the call that builds it, or that still fits.  Costs nothing."""
    with open_called(call) as dataset:
        quote = _releasing(dataset, call).quote(**call.price, analyst=call.analyst)
    offer, remaining = replace(call, verb="release build"), quote.remaining["epsilon"]
    if quote.fits:
        fixes: tuple[Fix, ...] = (offer.fix("To build it:"),)
    else:
        fixes = (replace(offer, epsilon=remaining, delta="0").fix("This fits:"),) if Fraction(remaining) > 0 else ()
    return Reply(envelope(**quote.to_json()), quote, next=fixes)


def output_folder(call: ReleaseCall) -> Path:
    """The folder to write; refused if the release would replace an input of a dataset."""
    from discreet.release.publish import files

    default = call.metadata.with_suffix(".rehearsal") if call.rehearse else built_folder(call.metadata)
    folder = default if call.output is None else call.output
    files.require_harmless(folder, files.BUILT, call.metadata)
    return folder


def build(
    call: ReleaseCall, *, agree: "Callable[[ReleaseQuote], object] | None" = None, watch: Watch = no_watch
) -> "Reply[Release]":
    """Charge once, build and write; before that `agree` gets the quote, and raises if the user does not agree."""
    folder = output_folder(call)
    with open_called(call) as dataset:
        releasing = _releasing(dataset, call)
        quote = releasing.quote(**call.price, analyst=call.analyst)
        require_writable(folder, replaces=call.replaces)
        runs = None if call.resimulate is None else _required_runs(call.resimulate, releasing.plan(**call.price))
        if agree is not None:
            agree(quote)
        with watch() as progress, _affordable(call):
            release = releasing.build(**call.price, analyst=call.analyst, progress=progress)
            release = release if runs is None else release.resimulated(runs, progress=progress)
            files = _save(release, folder)
    fixes = (replace(call, rehearse=False).fix("Next:"),) if call.rehearse else following(call.metadata, folder)
    return Reply(_data(release, quote.to_json(), files, folder), release, next=fixes)


def _releasing(dataset: "Dataset", call: ReleaseCall) -> "Releasing":
    """The release; refused if it cannot be made or has no price."""
    release = dataset.release(**call.about)
    if len({_level_share(text)[0] for text in call.share}) < len(call.share):
        raise bad("share", "must name each level once", ", ".join(call.share), "Remove one of the two.")
    if call.epsilon is None:
        fix = replace(call, epsilon="1").fix("Say what to spend:")
        raise BadValue("The release has no price.", "--eps says what all levels together may cost.", fix)
    return release


def _level_share(text: str) -> tuple[str, str]:
    level, _, value = text.rpartition("=")
    if not level.strip() or not value.strip():
        raise bad("share", "must be LEVEL=SHARE", text, "Write, for example: --share ward=0.5")
    return level.strip(), value.strip()


@contextlib.contextmanager
def _affordable(call: ReleaseCall) -> Iterator[None]:
    """Refuse a release that exceeds the budget with the call that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        from discreet.ledger.refusal import down

        epsilon = Fraction(down(min(error.remaining, error.requested)))
        if epsilon <= 0 or epsilon >= error.requested:
            raise
        cheaper = replace(call, epsilon=down(epsilon), delta="0").fix("Spend less:")
        raise error.with_fix((cheaper, RAISE)) from None


def _required_runs(text: str, plan: "ReleasePlan") -> int:
    """The number of times to draw the noise again; refused before anything is spent."""
    from discreet.release.resimulated import MOST_RUNS, least_runs, require_room

    runs = amounts.whole(text, "resimulate", least_runs(plan.terms.level), MOST_RUNS, such_as=99)
    require_room(plan.terms.level, runs, len(plan.subject.tree) * (plan.subject.cells + 1))
    return runs


def _save(release: "Release", folder: Path) -> list[Path]:
    """Write the files of the release, for a rehearsal the page too; older ones are replaced, as was asked before."""
    from discreet.rehearsal.releases import RehearsedRelease

    write = release.publish if isinstance(release, RehearsedRelease) else release.save
    return [folder / path.name for path in write(folder, replace=True)]


def _data(release: "Release", quote: dict[str, Any], files: list[Path], folder: Path) -> dict[str, Any]:
    facts = {name: value for name, value in quote.items() if name not in ("remaining_after", "ok", "format")}
    return envelope(**facts) | {
        "remaining": release.remaining,
        "doubts": release.doubts,
        "receipt": release.receipt,
        "replayed": release.replayed,
        "violations": asdict(release.violations),
        "folder": str(folder),
        "files": [str(path) for path in files],
    }
