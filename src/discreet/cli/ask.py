"""`discreet ask`: the quote, a yes, the charge, the answer."""

import dataclasses
import shlex
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import inert, outputs
from discreet.cli import terminal
from discreet.cli.asking import As, AtSize, Delta, Eps, Error, Level, Rehearse, Sql, Toml, read_sql
from discreet.cli.formats import chosen_format, content, exact_cell, guard_caveat, require_possible, require_raw
from discreet.cli.reply import AsJson, OutFile, Reply, require_new
from discreet.cli.second import Second, WhySecond, with_second_ledger
from discreet.engine.process import start_ahead
from discreet.errors import DiscreetError, bad
from discreet.fix import command_line
from discreet.operation import ask as operation
from discreet.operation.question import QuestionCall
from discreet.schema.limits import Limits

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.answer.quote import Quote
    from discreet.operation.reply import Reply as Answered


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
    raw: Annotated[bool, typer.Option("--raw", help="Write texts of csv and tsv as they are, for machines.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the answer as .png or .svg.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Quote it and ask nothing.")] = False,
    json: AsJson = False,
    output: OutFile = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask without a question back; replace FILE.")] = False,
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
    asks_back = not (yes or json or rehearse) and terminal.is_terminal()
    reply = operation.ask(call, agree=_agreement(call) if asks_back else None, watch=terminal.bar)
    return _replied(reply, metadata, form, output, plot, raw=raw, replace=yes)


def _agreement(call: QuestionCall) -> "Callable[[Quote], None]":
    return lambda quote: terminal.require_agreed(quote.lines(), call.fix("To ask it:", yes=True))


def _replied(
    reply: "Answered[Answer]",
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

    answer = reply.value
    shown, lost = marked(answer), None if plot is None else _not_drawn(answer, plot, toml)
    guarded = None if raw else guard_caveat(shown, form)
    data = reply.to_json(command_line) | ({} if plot is None else {"plot": None if lost else str(plot)})
    data |= {} if plot is None or lost else {"plotted": drawn_column(answer).name}
    data["caveats"] = [*data["caveats"], *(said for said in (guarded, lost) if said is not None)]
    notes = [*_notes(shown), *([] if guarded is None else [f"· {guarded}"])]
    notes += [] if plot is None else [lost or f"Drawn: {plot}{_which(answer)}"]
    return Reply(
        data,
        lambda: _picture(shown),
        output,
        replace=replace,
        said=lambda: _said(notes),
        content=_headed(shown, form, content(shown, form, exact_cell) if raw else content(shown, form)),
        toml=toml,
    )


def _headed(answer: "Answer", form: str, made: bytes | None) -> bytes | None:
    """Markdown has no place of its own for what stands above an answer."""
    from discreet.rehearsal.answers import headline

    above = "".join(f"**{line}**\n\n" for line in headline(answer))
    return above.encode() + made if form == "md" and made is not None else made


def _require_place(metadata: Path, form: str, output: Path | None, plot: Path | None, *, replace: bool) -> None:
    """Refuses, before anything is spent, what could not be written afterwards."""
    require_possible(form, output)
    if output is not None and not output.parent.is_dir():
        fix = f"Make it first: mkdir -p {shlex.quote(str(output.parent))}"
        raise bad("output", "must lie in a folder that exists", str(output), fix)
    if plot is not None:
        from discreet.plot import style

        style.checked_path(plot)
        require_new(plot, replace, metadata, flag="plot")
        if find_spec("matplotlib") is None:
            raise bad("plot", "needs the package matplotlib", str(plot), "Install discreet[plot].")


def _not_drawn(answer: "Answer", file: Path, toml: Path) -> str | None:
    """Draws the answer; why not, where it could not be: it is paid for and must be shown all the same."""
    from discreet.answer.show import caption
    from discreet.plot import style
    from discreet.rehearsal.answers import headline

    try:
        with outputs.replacing(file, toml, flag="plot") as draft:
            style.write(answer.plot(), draft, alt=" ".join([*headline(answer), caption(answer)]))
    except DiscreetError as error:
        return f"Not drawn: {error.what} {error.spelt(command_line)}"
    except OSError:
        return f"Not drawn: {file} could not be written. Ask again with another name, which costs nothing."
    return None


def _which(answer: "Answer") -> str:
    """Which column is drawn, where there are several."""
    from discreet.answer.picture import drawn_column

    if len(answer.columns) < 2:
        return ""
    return f" shows {inert.visible(drawn_column(answer).name)} alone; in Python, answer.plot(NAME) draws another."


def _notes(answer: "Answer") -> list[str]:
    """What the ± means, what was paid, what is left."""
    from discreet.answer.show import percent

    cost, left = answer.cost, answer.remaining or {}
    price = f"ε = {cost['epsilon']}" + ("" if cost["delta"] in ("0", None) else f", δ = {cost['delta']}")
    paid = f"replayed: cost 0 (when first asked, {price})" if answer.replayed else f"cost: {price}"
    notes = [
        f"± holds with probability {percent(answer.level)}.",
        f"{paid}, protecting each {cost['unit']} ({cost['neighbours']})",
        f"remaining: ε = {left.get('epsilon')}, δ = {left.get('delta')}",
        f"receipt: {answer.receipt}",
    ]
    return [*notes, *(f"· {caveat}" for caveat in answer.caveats)]


def _said(notes: list[str]) -> Any:
    from rich.text import Text

    return Text("\n".join(["", *notes]), style="dim")


def _picture(answer: "Answer") -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from discreet.answer.show import caps, table
    from discreet.rehearsal.answers import headline

    header, rows = table(answer)
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(header):
        drawn.add_column(Text(name), justify="left" if place < len(answer.keys) else "right")
    for row in rows:
        drawn.add_row(*map(Text, row))
    return Group(*map(Text, headline(answer)), drawn, *map(Text, caps(answer)))
