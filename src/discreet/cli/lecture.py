"""`discreet lecture`: walk through one of five lectures, in the terminal or as one HTML page."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.drawing import text_table
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.errors import bad
from discreet.fix import command_line
from discreet.operation import lecture as operation

if TYPE_CHECKING:
    from discreet.lecture.catalog import Lecture
    from discreet.lecture.section import Section

Number = Annotated[str, typer.Argument(metavar="NUMBER", help="Which lecture, 1 to 5.")]
_PAGES = (".html", ".htm")


def lecture(number: Number, json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """Walk through a lecture: each figure that it prints beside the one that Discreet computes.

    With -o and a name that ends in .html it becomes one page, with pictures.

    Example: discreet lecture 1 -o lecture.html
    """
    require_new(output, yes)
    if output is not None and output.suffix.lower() not in _PAGES and not json:
        raise bad("output", "must be a file ending in .html", str(output), "Give a name such as lecture.html.")
    reply = operation.lecture(number)
    chosen, sections = reply.value
    data = reply.to_json(command_line)
    if output is None or output.suffix.lower() not in _PAGES:
        return Reply(data, lambda: _picture(chosen, sections), output, replace=yes)
    from discreet.lecture.page import page

    content = page(chosen, sections).encode()
    return Reply(data, lambda: "", output, replace=yes, content=content)


def _picture(chosen: "Lecture", sections: "tuple[Section, ...]") -> Any:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from discreet.lecture.section import stand_ins

    parts: list[Any] = [Text(f"Lecture {chosen.number}. {chosen.title}", style="bold")]
    for section in sections:
        parts += [Text(""), Text(section.title, style="bold"), Text(section.text)]
        rows = [(row.figure, row.printed, row.computed) for row in section.rows]
        parts.append(text_table(("", "the lectures", "Discreet"), rows, keys=1))
        if section.loose:
            parts.append(Text(f"Where a lecture is loose: {section.loose}"))
        for picture in section.pictures:
            table = Padding(text_table(picture.header, picture.short_rows, keys=1), (0, 0, 0, 2))
            parts += [
                Text(picture.title, style="italic"),
                table,
                Padding(Text(picture.caption, style="dim"), (0, 0, 0, 2)),
            ]
        if section.command:
            parts.append(Text(f"See for yourself: {command_line(section.command)}", style="dim", no_wrap=True))
    files = stand_ins(sections)
    return Group(*parts, *([Text(""), Text(files, style="dim")] if files else []))
