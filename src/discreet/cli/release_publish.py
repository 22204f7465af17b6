"""`discreet release publish`: write everything that is shared, made from the built folder alone."""

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.asking import Toml
from discreet.cli.drawing import unwrapped_text
from discreet.cli.release_asking import Folder
from discreet.cli.reply import AsJson, Reply
from discreet.fix import command_line
from discreet.operation import folder as operation

_CONTENTS = {
    "index.html": "a page to look around in, without any outside request",
    "report.md": "what it is and what it promises, in words",
    "table.csv": "the tables that add up, a row for each number, with its ±",
    "table.parquet": "the same",
    "noisy.csv": "the measurements themselves",
    "noisy.parquet": "the same",
    "release.json": "the facts: cost, noise, shares, method",
}

Out = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="OUT", help="Folder to write; NAME.published by default.")
]


def publish(
    metadata: Toml,
    folder: Folder = None,
    output: Out = None,
    json: AsJson = False,
    yes: Annotated[bool, typer.Option("--yes", help="Replace what is in OUT.")] = False,
) -> Reply:
    """Write tables, measurements, a page and a report to share.

    Costs nothing: all of it is made from what was released. A release that does not check is not published.

    Example: discreet release publish people.toml -o published
    """
    reply = operation.publish(operation.BuiltCall(metadata, folder, output, replaces=yes))
    return Reply(reply.to_json(command_line), lambda: _picture(reply.value))


def _picture(files: list[Path]) -> Any:
    width = max(len(str(path)) for path in files)
    return unwrapped_text("\n".join(f"{path!s:<{width}}  {_CONTENTS.get(path.name, '')}".rstrip() for path in files))
