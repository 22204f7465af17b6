"""`discreet release check`: a built release read back and held against the tree.  Reads no private table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.asking import Toml
from discreet.cli.release_asking import Folder
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation.folder import BuiltCall
from discreet.operation.folder import check as check_release

if TYPE_CHECKING:
    from discreet.release.read import Checked

_SHOWN = 20


def check(
    metadata: Toml, folder: Folder = None, json: AsJson = False, output: OutFile = None, yes: Yes = False
) -> Reply:
    """Whether a built release keeps every rule: sums, signs, margins.

    Every place must be there once and be the sum of those in it, every number whole and not negative, every ± as
    planned, every file as it was written. If anything fails, the exit code is 6.

    Example: discreet release check people.toml
    """
    require_new(output, yes, metadata)
    call = BuiltCall(metadata, folder)
    reply = check_release(call)
    data = reply.to_json(command_line)
    return Reply(data, lambda: _picture(reply.value, call.place), output, exit=reply.exit, replace=yes, toml=metadata)


def _picture(found: "Checked", folder: Path) -> Any:
    from rich.text import Text

    facts = found.facts
    if not found.problems:
        places, cells, levels = facts["places"], facts["cells"], len(facts["levels"])
        numbers = f"{places * cells:,} numbers of {places:,} places on {levels} levels"
        rules = "\n".join(f"{name:<10} {count}" for name, count in found.violations.items())
        return Text(f"{folder}: {numbers}, every rule is kept.\n\nrule       broken\n{rules}")
    told = [f"  {problem}" for problem in found.problems[:_SHOWN]]
    if len(found.problems) > _SHOWN:
        told.append(f"  … and {len(found.problems) - _SHOWN} more: see --json.")
    return Text("\n".join([f"{folder}: the release does not check.", "", *told]))
