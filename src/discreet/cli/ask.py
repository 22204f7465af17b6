"""`discreet ask`: show the quote, wait for agreement, charge, show the answer."""

import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import inert
from discreet.cli import terminal
from discreet.cli.asking import As, AtSize, Delta, Eps, Error, Level, Rehearse, Sql, Toml, read_sql
from discreet.cli.drawing import draw, require_plot, text_table
from discreet.cli.formats import chosen_format, content, exact_cell, guard_caveat, require_possible, require_raw
from discreet.cli.reasons import Second, WhySecond, with_second_ledger
from discreet.cli.reply import AsJson, OutFile, Reply, require_new
from discreet.engine.process import start_ahead
from discreet.errors import bad
from discreet.fix import command_line
from discreet.operation import ask as operation
from discreet.operation.question import QuestionCall
from discreet.schema.limits import Limits
from discreet.terms import price_text

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.answer.quote import Quote
    from discreet.operation.reply import Reply as OperationReply


def ask(
    metadata: Toml,
    sql: Sql,
    eps: Eps = None,
    error: Error = None,
    delta: Delta = None,
    level: Level = None,
    analyst: As = None,
    at_size: AtSize = None,
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="table, csv, tsv, json, jsonl, parquet, arrow, md or html.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Write texts of csv and tsv unchanged, for machines.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the answer as .png or .svg.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the quote and ask nothing.")] = False,
    json: AsJson = False,
    output: OutFile = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask without confirmation; replace FILE.")] = False,
    second_ledger: Second = False,
    why: WhySecond = None,
    rehearse: Rehearse = False,
) -> Reply:
    """Ask a question: pay from the budget, get numbers with their ±.

    On a terminal the quote is shown first and Enter agrees. The same question again costs nothing.

    Example: discreet ask people.toml "SELECT region, COUNT(*) AS n FROM people GROUP BY region" --error n=15
    """
    widths = tuple(error or ())
    call = QuestionCall(metadata, read_sql(sql), eps, widths, delta, level, analyst, at_size, rehearse)
    form, call = chosen_format(format, output), with_second_ledger(call, second_ledger, why)
    require_new(output, yes, metadata)
    if raw:
        require_raw(form, output)
    if dry_run:
        quoted = operation.quote(dataclasses.replace(call, verb="quote"))
        return Reply(dict(quoted.data), lambda: "\n".join(quoted.value.lines()), output, replace=yes, toml=metadata)
    _require_place(metadata, form, output, plot, replace=yes)
    start_ahead(Limits())

    def agree(quote: "Quote") -> None:
        terminal.require_agreed(quote.lines(), call.fix("To ask it:", yes=True))

    confirms = not (yes or json or rehearse) and terminal.is_terminal()
    reply = operation.ask(call, agree=agree if confirms else None, watch=terminal.bar)
    return _reply(reply, metadata, form, output, plot, raw=raw, replace=yes)


def _reply(
    reply: "OperationReply[Answer]",
    toml: Path,
    form: str,
    output: Path | None,
    plot: Path | None,
    *,
    raw: bool,
    replace: bool,
) -> Reply:
    from discreet.answer.picture import drawn_column
    from discreet.rehearsal.answers import marked

    answer, data = reply.value, reply.to_json(command_line)
    shown = marked(answer)
    guard = None if raw else guard_caveat(shown, form)
    notes = _notes(shown) + ([] if guard is None else [f"· {guard}"])
    failure = None
    if plot is not None:
        failure = _draw(answer, plot, toml)
        data["plot"] = None if failure else str(plot)
        data |= {} if failure else {"plotted": drawn_column(answer).name}
        notes.append(failure or f"Drawn: {plot}{_drawn_alone(answer)}")
    data["caveats"] = [*data["caveats"], *(caveat for caveat in (guard, failure) if caveat is not None)]
    return Reply(
        data,
        lambda: _picture(shown),
        output,
        replace=replace,
        notes=lambda: _dim(notes),
        content=_with_headline(shown, form, content(shown, form, exact_cell) if raw else content(shown, form)),
        toml=toml,
    )


def _with_headline(answer: "Answer", form: str, text: bytes | None) -> bytes | None:
    """The text with the headline of a rehearsal above it, for Markdown, which has no other place for one."""
    from discreet.rehearsal.answers import headline

    above = "".join(f"**{line}**\n\n" for line in headline(answer))
    return above.encode() + text if form == "md" and text is not None else text


def _require_place(metadata: Path, form: str, output: Path | None, plot: Path | None, *, replace: bool) -> None:
    """Refuses, before anything is spent, outputs that could not be written afterwards."""
    require_possible(form, output)
    if output is not None and not output.parent.is_dir():
        fix = f"Make it first: mkdir -p {shlex.quote(str(output.parent))}"
        raise bad("output", "must lie in a folder that exists", str(output), fix)
    require_plot(plot, metadata, output, replace=replace)


def _draw(answer: "Answer", file: Path, toml: Path) -> str | None:
    from discreet.answer.show import caption
    from discreet.rehearsal.answers import headline

    return draw(answer.plot, file, toml, alt=" ".join([*headline(answer), caption(answer)]))


def _drawn_alone(answer: "Answer") -> str:
    """A note that names the drawn column if there are several."""
    from discreet.answer.picture import drawn_column

    if len(answer.columns) < 2:
        return ""
    return f" shows {inert.visible(drawn_column(answer).name)} alone; in Python, answer.plot(NAME) draws another."


def _notes(answer: "Answer") -> list[str]:
    """What the ± means, what was paid, what is left."""
    from discreet.answer.show import percent

    cost, remaining = answer.cost, answer.remaining or {}
    price = price_text(cost)
    paid = f"replayed: cost 0 (when first asked, {price})" if answer.replayed else f"cost: {price}"
    notes = [
        f"± holds with probability {percent(answer.level)}.",
        f"{paid}, protecting each {cost['unit']} ({cost['neighbours']})",
        f"remaining: ε = {remaining.get('epsilon')}, δ = {remaining.get('delta')}",
        f"receipt: {answer.receipt}",
    ]
    return [*notes, *(f"· {caveat}" for caveat in answer.caveats)]


def _dim(notes: list[str]) -> Any:
    from rich.text import Text

    return Text("\n".join(["", *notes]), style="dim")


def _picture(answer: "Answer") -> Any:
    from rich.console import Group

    from discreet.answer.show import caps, table
    from discreet.rehearsal.answers import headline

    header, rows = table(answer)
    return Group(*headline(answer), text_table(header, rows, keys=len(answer.keys)), *caps(answer))
