"""`discreet release plan`: cost and the ± of every level.  Costs nothing, touches no data."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.cli.asking import Rehearse, drawn_commands
from discreet.cli.release_asking import asking
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import release as operation
from discreet.operation.release import ReleaseCall

if TYPE_CHECKING:
    from discreet.operation.reply import Reply as Planned
    from discreet.release.quote import ReleaseQuote


@asking("plan")
def plan(
    call: ReleaseCall,
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
    require_new(output, yes, call.metadata)
    reply = operation.plan(replace(call, rehearse=rehearse))
    return Reply(reply.to_json(command_line), lambda: _picture(reply), output, replace=yes, toml=call.metadata)


def _picture(reply: "Planned[ReleaseQuote]") -> Any:
    from rich.console import Group
    from rich.text import Text

    return Group(*map(Text, reply.value.lines()), *drawn_commands(reply.next or ()))
