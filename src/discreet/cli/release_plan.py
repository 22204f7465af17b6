"""`discreet release plan`: cost and the ± of every level.  Costs nothing, touches no data."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.cli.asking import Rehearse, opened
from discreet.cli.release_asking import Wanted, asking, quoted, releasing
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, envelope, require_new

if TYPE_CHECKING:
    from discreet.release.quote import ReleaseQuote


@dataclass(frozen=True)
class Rehearsed(Wanted):
    """A release that is only rehearsed, as its command lines say."""

    def command(self, *more: str) -> str:
        """As `Wanted.command`, with the flag."""
        return super().command("--rehearse", *more)


@asking("plan")
def plan(
    wanted: Wanted,
    *,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
    rehearse: Rehearse = False,
) -> Reply:
    """What tables that add up would cost, and how exact each level would be.

    Costs nothing and touches no data. --share locks a level's part of ε; what is not locked shares the rest.

    Example: discreet release plan people.toml --by sex --eps 1 --share ward=0.5
    """
    require_new(output, yes, wanted.toml)
    wanted = Rehearsed(**vars(wanted)) if rehearse else wanted
    with opened(wanted.toml, rehearse=rehearse) as dataset:
        found = quoted(releasing(dataset, wanted), wanted)
    offered = replace(wanted, verb="build") if found.fits else _cheaper(wanted, found)
    lines = [] if offered is None else [offered.command()]
    return Reply(data(found) | {"next": lines}, lambda: _picture(found, lines), output, replace=yes, toml=wanted.toml)


def _cheaper(wanted: Wanted, found: "ReleaseQuote") -> Wanted | None:
    left = found.remaining["epsilon"]
    return replace(wanted, verb="build", eps=left, delta="0") if Fraction(left) > 0 else None


def data(found: "ReleaseQuote") -> dict[str, Any]:
    """The quote for programs."""
    return envelope(**found.to_json())


def _picture(found: "ReleaseQuote", offered: list[str]) -> Any:
    from rich.console import Group
    from rich.text import Text

    said = [Text(""), Text("To build it:" if found.fits else "This fits:")] if offered else []
    commands = (Text(f"  {line}", no_wrap=True, overflow="ignore") for line in offered)
    return Group(*map(Text, found.lines()), *said, *commands)
