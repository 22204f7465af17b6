"""`discreet release plan`: show the cost and the ± of every level.  Costs nothing, touches no data."""

from dataclasses import replace

from discreet.cli.asking import Rehearse
from discreet.cli.drawing import quote_picture
from discreet.cli.release_asking import asking
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import release as operation
from discreet.operation.release import ReleaseCall


@asking("plan")
def plan(
    call: ReleaseCall,
    *,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
    rehearse: Rehearse = False,
) -> Reply:
    """Show what tables that add up would cost and how exact each level would be.

    Costs nothing and touches no data. --share locks a level's share of ε; the other levels divide the rest.

    Example: discreet release plan people.toml --by sex --eps 1 --share ward=0.5
    """
    require_new(output, yes, call.metadata)
    reply = operation.plan(replace(call, rehearse=rehearse))
    data, picture = reply.to_json(command_line), lambda: quote_picture(reply.value.lines(), reply.next or ())
    return Reply(data, picture, output, replace=yes, toml=call.metadata)
