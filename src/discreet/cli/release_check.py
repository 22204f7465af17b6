"""`discreet release check`: read a built release and compare it with the tree.  Reads no private table."""

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.asking import Toml
from discreet.cli.release_asking import Folder
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import folder as operation

if TYPE_CHECKING:
    from discreet.release.read import Checked

_SHOWN = 20


def check(
    metadata: Toml, folder: Folder = None, json: AsJson = False, output: OutFile = None, yes: Yes = False
) -> Reply:
    """Check a built release against every rule: sums, signs, margins.

    Every place must occur once and be the sum of those in it, every number must be whole and not negative, every ± as
    planned, every file as it was written. If anything fails, the exit code is 6.

    Example: discreet release check people.toml
    """
    require_new(output, yes, metadata)
    call = operation.BuiltCall(metadata, folder)
    reply = operation.check(call)
    data, picture = reply.to_json(command_line), lambda: _picture(reply.value, call.release_folder)
    return Reply(data, picture, output, exit=reply.exit, replace=yes, toml=metadata)


def _picture(checked: "Checked", folder: Path) -> str:
    facts, problems = checked.facts, checked.problems
    if not problems:
        places, cells, levels = facts["places"], facts["cells"], len(facts["levels"])
        numbers = f"{places * cells:,} numbers of {places:,} places on {levels} levels"
        rules = "\n".join(f"{name:<10} {count}" for name, count in checked.violations.items())
        return f"{folder}: {numbers}, every rule is kept.\n\nrule       broken\n{rules}"
    lines = [f"  {problem}" for problem in problems[:_SHOWN]]
    if len(problems) > _SHOWN:
        lines.append(f"  … and {len(problems) - _SHOWN} more: see --json.")
    return "\n".join([f"{folder}: the release does not check.", "", *lines])
