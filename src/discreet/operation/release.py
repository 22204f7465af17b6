"""Tables that add up: what they would cost, and building them."""

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
from discreet.operation.dataset import Watch, opened, unwatched
from discreet.operation.folder import built_folder, following, require_writable
from discreet.operation.reply import Reply, envelope

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.release.face import Releasing
    from discreet.release.plan import ReleasePlan
    from discreet.release.quote import ReleaseQuote
    from discreet.release.release import Release

_MOST = 10**15
_UNSPOKEN = ("resimulate", "output", "replaces", "second_ledger", "verb")  # in operations that are offered


@dataclass(frozen=True)
class ReleaseCall:
    """A release and its price; amounts as they were given, since reading them exactly is for `exact`."""

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
        """The same call as an operation to offer."""
        names = [field.name for field in fields(self) if field.name not in _UNSPOKEN]
        return Fix(words, self.verb, {name: getattr(self, name) for name in names} | more)

    @property
    def about(self) -> dict[str, Any]:
        """What `Dataset.release` takes."""
        names = [name.strip() for part in self.by for name in part.split(",")]
        if "" in names:
            fix = "Write, for example: --by sex,age"
            raise bad("by", "must name columns, with commas between", ",".join(self.by), fix)
        size = None if self.largest is None else amounts.whole(self.largest, "largest", 1, 10**5, such_as=8)
        about = {"hierarchy": self.hierarchy, "by": names, "groups": self.groups, "largest": size}
        return about if self.count is None else about | {"count": self.count}

    @property
    def price(self) -> dict[str, Any]:
        """What a plan takes."""
        total = None if self.total is None else amounts.whole(self.total, "total", 0, _MOST, such_as=1000)
        price: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "level": self.level}
        price |= {"total": total, "leaf_totals": self.leaf_totals, "zeros": self.zeros}
        chosen = {"sharing": self.sharing, "method": self.method}
        price |= {name: value for name, value in chosen.items() if value is not None}
        return price | {"share": dict(map(_locked, self.share))}


def plan(call: ReleaseCall) -> "Reply[ReleaseQuote]":
    """Cost and the ± of every level, and the call that builds it, or that still fits.  Costs nothing."""
    with opened(call) as dataset:
        quote = _quoted(_releasing(dataset, call), call)
    offer, left = replace(call, verb="release build"), quote.remaining["epsilon"]
    if quote.fits:
        ways: tuple[Fix, ...] = (offer.fix("To build it:"),)
    else:
        ways = (replace(offer, epsilon=left, delta="0").fix("This fits:"),) if Fraction(left) > 0 else ()
    return Reply(envelope(**quote.to_json()), quote, next=ways)


def place(call: ReleaseCall) -> Path:
    """The folder to write; refused where the release would replace an input of a dataset."""
    from discreet.release.publish import files

    beside = call.metadata.with_suffix(".rehearsal") if call.rehearse else built_folder(call.metadata)
    folder = beside if call.output is None else call.output
    files.require_harmless(folder, files.BUILT, call.metadata)
    return folder


def build(
    call: ReleaseCall, *, agree: "Callable[[ReleaseQuote], object] | None" = None, watch: Watch = unwatched
) -> "Reply[Release]":
    """The release, charged once and written; before that the quote goes to `agree`, which raises where nobody does."""
    folder = place(call)
    with opened(call) as dataset:
        release = _releasing(dataset, call)
        quote = _quoted(release, call)
        require_writable(folder, replaces=call.replaces)
        runs = None if call.resimulate is None else _required_runs(call.resimulate, release.plan(**call.price))
        if agree is not None:
            agree(quote)
        with watch() as progress, _affordable(call):
            built = release.build(**call.price, analyst=call.analyst, progress=progress)
            built = built if runs is None else built.resimulated(runs, progress=progress)
            files = _saved(built, folder)
    ways = (replace(call, rehearse=False).fix("Next:"),) if call.rehearse else following(call.metadata, folder)
    return Reply(_data(built, quote.to_json(), files, folder), built, next=ways)


def _releasing(dataset: "Dataset", call: ReleaseCall) -> "Releasing":
    """The release, refused where it cannot be made or has no price."""
    release = dataset.release(**call.about)
    if len({_locked(typed)[0] for typed in call.share}) < len(call.share):
        raise bad("share", "must name each level once", ", ".join(call.share), "Remove one of the two.")
    if call.epsilon is None:
        fix = replace(call, epsilon="1").fix("Say what to spend:")
        raise BadValue("The release has no price.", "--eps says what all levels together may cost.", fix)
    return release


def _quoted(release: "Releasing", call: ReleaseCall) -> "ReleaseQuote":
    return release.quote(**call.price, analyst=call.analyst)


def _locked(typed: str) -> tuple[str, str]:
    level, _, value = typed.rpartition("=")
    if not level.strip() or not value.strip():
        raise bad("share", "must be LEVEL=SHARE", typed, "Write, for example: --share ward=0.5")
    return level.strip(), value.strip()


@contextlib.contextmanager
def _affordable(call: ReleaseCall) -> Iterator[None]:
    """A release that is too dear is refused with the call that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        from discreet.ledger.refusal import down

        less = Fraction(down(min(error.remaining, error.requested)))
        if less <= 0 or less >= error.requested:
            raise
        cheaper = replace(call, epsilon=down(less), delta="0").fix("Spend less:")
        raise error.with_fix((cheaper, RAISE)) from None


def _required_runs(typed: str, plan: "ReleasePlan") -> int:
    """How often to draw the noise again, refused before anything is spent."""
    from discreet.release.resimulated import MOST_RUNS, least_runs, require_room

    runs = amounts.whole(typed, "resimulate", least_runs(plan.terms.level), MOST_RUNS, such_as=99)
    require_room(plan.terms.level, runs, len(plan.subject.tree) * (plan.subject.cells + 1))
    return runs


def _saved(release: "Release", folder: Path) -> list[Path]:
    """The files of the release, of a rehearsal the page too; what was there is replaced, as was asked beforehand."""
    from discreet.rehearsal.releases import RehearsedRelease

    write = release.publish if isinstance(release, RehearsedRelease) else release.save
    return [folder / path.name for path in write(folder, replace=True)]


def _data(release: "Release", quote: dict[str, Any], files: list[Path], folder: Path) -> dict[str, Any]:
    kept = {name: value for name, value in quote.items() if name not in ("remaining_after", "ok", "format")}
    return envelope(**kept) | {
        "remaining": release.remaining,
        "doubts": release.doubts,
        "receipt": release.receipt,
        "replayed": release.replayed,
        "violations": asdict(release.violations),
        "folder": str(folder),
        "files": [str(path) for path in files],
    }
