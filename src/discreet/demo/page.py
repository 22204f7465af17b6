"""The curator's demo as a terminal page: questions, answers with their ±, what they cost, what to try next."""

from collections.abc import Iterator
from typing import Any

from discreet.answer import table
from discreet.answer.show import caps
from discreet.demo.curator import CAVEATS, Asked, CuratorDemo, activation
from discreet.terms import price_text


def page(demo: CuratorDemo) -> Any:
    """The whole page."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = [
        Text("Discreet: answers about everyone, secrets about no one.", style="bold"),
        Text(
            f"An invented hospital: {demo.toml.with_suffix('.csv')}, with its public facts in {demo.toml}.", style="dim"
        ),
    ]
    for number, asked in enumerate(demo.asked, 1):
        parts += _question(number, asked)
    last = demo.asked[-1].answer
    left = "" if last.remaining is None else f"Left of the budget: ε = {last.remaining['epsilon']}. "
    parts += [
        Text(),
        Text(f"{left}± holds 95 times of 100.", style="bold"),
        Text("\n".join(f"· {note}" for note in CAVEATS), style="dim"),
        Text("\nNext, try:"),
        *(Text(f"  {command}", no_wrap=True, overflow="ignore") for command in demo.next_steps),
    ]
    if (activate := activation()) is not None:
        parts.append(Text(f"To write `discreet` alone, first run: {activate}", no_wrap=True, overflow="ignore"))
    return Group(*parts)


def _question(number: int, asked: Asked) -> Iterator[Any]:
    from rich.table import Table
    from rich.text import Text

    paid = f"cost {price_text(asked.answer.cost)}"
    yield Text()
    yield Text.assemble((f"{number}  {asked.title}", "bold"))
    yield Text(f"   {asked.sql}", style="dim", no_wrap=True, overflow="ignore")
    header, rows = table(asked.answer)
    grid = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for place, name in enumerate(["", *header]):
        keys = 1 + len(asked.answer.keys)
        grid.add_column(Text(name), justify="left" if place < keys else "right", no_wrap=True)
    for row in rows:
        grid.add_row(" ", *map(Text, row))
    yield grid
    yield from (Text(f"    {line}") for line in caps(asked.answer))
    payment = "asked before: nothing new is charged" if asked.answer.replayed else paid
    yield Text(f"   {payment}; receipt {asked.answer.receipt}", style="dim")
