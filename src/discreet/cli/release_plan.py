"""`discreet release plan`: cost and the ± of every level.  Costs nothing, touches no data."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.cli.asking import opened
from discreet.cli.release_asking import Wanted, asking, quoted, releasing
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, envelope, require_new

if TYPE_CHECKING:
    from discreet.release.quote import ReleaseQuote


@asking("plan")
def plan(
    wanted: Wanted,
    *,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """What tables that add up would cost, and how exact each level would be.

    Costs nothing and touches no data. --share locks a level's part of ε; what is not locked shares the rest.

    Example: discreet release plan people.toml --by sex --eps 1 --share ward=0.5
    """
    require_new(output, yes, wanted.toml)
    with opened(wanted.toml) as dataset:
        found = quoted(releasing(dataset, wanted), wanted)
    to_build = replace(wanted, verb="build").command()
    return Reply(
        data(found) | {"next": [to_build]}, lambda: _picture(found, to_build), output, replace=yes, toml=wanted.toml
    )


def data(found: "ReleaseQuote") -> dict[str, Any]:
    """The quote for programs."""
    return envelope(**found.to_json())


def _picture(found: "ReleaseQuote", to_build: str) -> Any:
    from rich.console import Group
    from rich.text import Text

    command = Text(f"  {to_build}", no_wrap=True, overflow="ignore")
    return Group(*map(Text, found.lines()), "", Text("To build it:"), command)
