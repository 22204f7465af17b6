"""`discreet attack`: try what an attacker would, without noise and under it, beside guessing and the ceiling."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.attack import words
from discreet.attack.result import RAW
from discreet.cli import terminal
from discreet.cli.drawing import draw, require_plot, text_table, unwrapped_text
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import attack as operation
from discreet.operation.attack import AttackCall

if TYPE_CHECKING:
    from discreet.attack.result import Result

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the attack.")]
Epsilon = Annotated[
    str | None, typer.Option("--eps", "--epsilon", metavar="ε", help="ε of the private column of the example; 1.")
]
Seed = Annotated[str, typer.Option(metavar="N", help="Seed of the invented rows; the noise takes none.")]
On = Annotated[Path | None, typer.Option(metavar="FILE", help="Release, synthetic table or model of your own.")]
Curator = Annotated[bool, typer.Option("--curator", help="Say that the rows behind --on are yours to see.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the result as .png or .svg.")]


def attack(
    name: Name,
    eps: Epsilon = None,
    seed: Seed = "7",
    on: On = None,
    curator: Curator = False,
    plot: Plot = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Run an attack on its built-in example, without noise and at one ε, or on a file of your own.

    Beside it stand blind guessing and the most that the promise leaves to any attacker.

    Example: discreet attack subset_sums --eps 1 --plot sums.svg
    """
    require_new(output, yes)
    require_plot(plot, None, output, replace=yes)
    with terminal.bar() as advance:
        advance(name, 0.0)
        reply = operation.attack(AttackCall(name, eps, seed, on, curator, plot, output))
    result, data, notes = reply.value, reply.to_json(command_line), []
    if plot is not None:
        failure = draw(result.picture, plot, None, alt=words.alt_text(result))
        data["result"]["plot"] = None if failure else str(plot)
        notes.append(failure or f"Drawn: {plot}")
    told = (lambda: unwrapped_text("\n".join(notes))) if notes else None
    return Reply(data, lambda: _picture(result, data["caveats"]), output, replace=yes, notes=told)


def attack_list(json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """List the attacks, and what each can be tried on besides its built-in example.

    Example: discreet attack list
    """
    require_new(output, yes)
    reply = operation.attack_list()
    rows = [(name, entry.title, ", ".join(entry.on)) for name, entry in reply.value.items()]
    return Reply(
        reply.to_json(command_line),
        lambda: text_table(("attack", "what it does", "--on"), rows, keys=3),
        output,
        replace=yes,
    )


def _picture(result: "Result", caveats: list[str]) -> Any:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    head = [Text(words.STAMP, style="bold")] if result.of_real_data else []
    told = "\n".join(f"· {note}" for note in (*result.notes, *[note for note in caveats if note != words.STAMP]))
    return Group(
        *head,
        Text(result.metric, style="bold"),
        _table(result),
        Padding(Text(words.comparison(result)), (1, 0)),
        Padding(Text(told), (0, 0), style="dim"),
    )


def _table(result: "Result") -> Any:
    """A line for each column of the result: its number and interval, and the ceiling where there is one."""
    rows = [] if result.raw is None else [(result.without, words.with_interval(result, RAW, result.raw), "")]
    for epsilon, value in result.private.items():
        ceiling = words.number(result.ceiling.get(epsilon))
        rows.append((f"ε = {epsilon}", words.with_interval(result, epsilon, value), ceiling))
    if result.baseline is not None:
        rows.append(("blind guessing", words.number(result.baseline), ""))
    return text_table(("published", "the attack", f"at {_side(result)}"), rows, keys=1)


def _side(result: "Result") -> str:
    return "most" if result.better == "higher" else "least"
