"""`discreet prepare`: make or remove the typed, capped copy of the table."""

from typing import Annotated

import typer

from discreet.cli.asking import Toml
from discreet.cli.drawing import unwrapped_text
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.cli.terminal import bar
from discreet.operation.dataset import open_table
from discreet.operation.reply import envelope


def prepare(
    metadata: Toml,
    clean: Annotated[bool, typer.Option("--clean", help="Remove the copy; the source stays.")] = False,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Make the typed, capped copy of the table that questions run on.

    Questions make it themselves when the source or its metadata have changed; this does so beforehand.

    Example: discreet prepare people.toml
    """
    require_new(output, yes, metadata)
    with open_table(metadata) as table, bar() as advance:
        name = table.schema.name
        if clean:
            table.engine.clean()
        snapshot = None if clean else table.prepare(advance)
    text = f"{name}: the prepared copy is removed." if clean else f"{name}: prepared, snapshot {snapshot}."
    data = envelope(dataset=name, snapshot=snapshot)
    return Reply(data, lambda: unwrapped_text(text), output, replace=yes, toml=metadata)
