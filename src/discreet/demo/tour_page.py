"""The tour as a page in the terminal and as a picture file."""

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet import amounts
from discreet.demo import shares
from discreet.demo.eyes import EPSILON, BlueEyes
from discreet.demo.shares import Errors, ManyCounts
from discreet.demo.survey import TaxSurvey
from discreet.demo.tour import CAVEATS, Tour
from discreet.errors import bad
from discreet.plot.errors import Curve, alt_text, errors_picture
from discreet.plot.style import write

_INKS = ("dark_orange3", "dodger_blue2", "green4")
_BAR, _SHORTEST_BAR = 32, 10
_OVERHANG = 2  # columns by which the last mark of the axis stands out over the longest bar
_ENDLESS = 10_000
_PAGE = 100  # columns a rule is drawn across at most
_EIGHTHS = " ▏▎▍▌▋▊▉"
_DECADES = (-5, 0)  # errors from 10⁻⁵ to 1: five decades share the width of a bar


def tour_page(figures: Tour, plot: str | None) -> Any:
    """The whole page."""
    from rich.console import Group
    from rich.text import Text

    marks = ("*", *"·" * len(CAVEATS))
    notes = Text("\n".join(f"{mark} {note}" for mark, note in zip(marks, CAVEATS, strict=False)), style="dim")
    return Group(
        Text("Discreet: answers about everyone, secrets about no one.", style="bold"),
        *_part("1", "How many people have blue eyes?", f"one count at ε = {amounts.text_of(EPSILON)}"),
        *_eyes(figures.eyes),
        *_part("2", "Did you dodge your tax?", "everybody throws two coins: ε = ln 3"),
        *_survey(figures.survey),
        *_part("3", "What is trust worth?", f"the typical error of a share at ε = {amounts.text_of(shares.EPSILON)}"),
        *_errors(figures.errors, figures.many),
        Text(),
        notes,
        Text(_next(plot), style="dim"),
    )


def picture(figures: Tour, path: Path) -> None:
    """The errors drawn into a PNG or SVG file."""
    curves = [_curve(errors) for errors in figures.errors]
    delta = amounts.text_of(shares.DELTA)
    caption = (
        f"ε = {amounts.text_of(shares.EPSILON)} for each; the Gaussian also δ = {delta}. Lines: the formula. "
        f"Points: root mean square of {shares.REPEATS} runs, bars 95 %.\n"
        "Neighbours replace one answer. Invented people."
    )
    title = "Trusting nobody costs a factor √n: a curator's error shrinks like 1/n"
    try:
        write(errors_picture(curves, title=title, caption=caption), path, alt=alt_text(curves))
    except OSError:
        raise bad("plot", "must be a file that can be written", str(path), "Choose another place.") from None


@dataclass(frozen=True)
class _ByWidth:
    """What `draw` returns for the number of columns of the console."""

    draw: Callable[[int], Any]

    def __rich_console__(self, console: Any, options: Any) -> Any:
        yield self.draw(options.max_width)


def _part(number: str, question: str, promise: str) -> tuple[Any, Any]:
    from rich.text import Text

    title = Text.assemble((f"{number}  ", "bold cyan"), (question, "bold"), (f"  {promise}", "dim"))
    return Text(), _ByWidth(lambda columns: _with_rule(title, columns))


def _with_rule(title: Any, columns: int) -> Any:
    """The title with a rule after it, or alone where it needs the whole line."""
    from rich.constrain import Constrain
    from rich.rule import Rule

    if title.cell_len + 2 > columns:
        return title
    return Constrain(Rule(title, align="left", style="dim"), min(columns, _PAGE))


def _eyes(eyes: BlueEyes) -> list[Any]:
    from rich.text import Text

    names = ("people", "exact*", "noise scale", "± before", "answer", "off by")
    rows = [
        (
            f"{town.people:,}",
            Text(f"{town.exact:,}", style="dim"),
            amounts.text_of(eyes.scale),
            f"± {eyes.radius}",
            Text.assemble((f"{town.answer:,}", "bold"), f" ± {eyes.radius}"),
            f"{town.answer - town.exact:+,}",
        )
        for town in eyes.towns
    ]
    return [
        _table(names, rows),
        Text(
            f"One person moves a count by 1: noise of scale 1/ε = {amounts.text_of(eyes.scale)}, in village and city."
        ),
        Text(f"Stated before: 95 of 100 answers within ± {eyes.radius}, off by {eyes.mean_abs:.1f} on average."),
        Text(f"Measured on {eyes.repeats:,} more: {100 * eyes.within:.1f} of 100, off by {eyes.measured_abs:.1f}."),
    ]


def _survey(survey: TaxSurvey) -> list[Any]:
    from rich.text import Text

    estimate = survey.estimate
    names = ("people", "exact*", "said yes", "± before", "estimate", "interval after")
    row = (
        f"{survey.people:,}",
        Text(_percent(survey.exact), style="dim"),
        _percent(survey.said_yes / survey.people),
        f"± {_points(survey.before)} points",
        Text(_percent(estimate.value), style="bold"),
        f"{_percent(estimate.low)} to {_percent(estimate.high)}",
    )
    return [
        _table(names, [row]),
        Text("Heads: the truth.  Tails: a second coin answers.  Estimate = 2·yes − ½."),
        Text.assemble(
            f"Someone who suspects you with {_percent(survey.prior)}: ",
            (f"{100 * float(survey.after_yes):.2f} %", "bold"),
            f" after a yes, {100 * float(survey.after_no):.2f} % after a no.",
        ),
        Text(f"A trusted curator's count at the same ε: ± {_points(survey.central)} points."),
    ]


def _errors(curves: tuple[Errors, ...], many: tuple[ManyCounts, ...]) -> list[Any]:
    from rich.text import Text

    ratio = curves[0].points[-1].stated / curves[-1].points[-1].stated
    return [
        _ByWidth(lambda columns: _bars(curves, columns)),
        Text("Errors are of order 1/(ε·√n) with randomized response, 1/(ε·n) with a curator."),
        Text(f"Among {shares.SIZES[-1]:,} people, trusting nobody costs {ratio:,.0f} times the error."),
        Text(_many(many)),
    ]


def _bars(curves: tuple[Errors, ...], columns: int) -> Any:
    """The errors as a table; bars use the width that the numbers leave, and are left out where it is too narrow."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    points = [_points(point.measured) for errors in curves for point in errors.points]
    widths = [
        max(len(f"{size:,}") for size in shares.SIZES),
        max(len(errors.name) for errors in curves),
        max(map(len, ("points", *points))),
    ]
    length = min(_BAR, columns - sum(widths) - 4 * 2 - _OVERHANG)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("people", justify="right", no_wrap=True)
    table.add_column("mechanism", no_wrap=True)
    if length >= _SHORTEST_BAR:
        table.add_column(_axis(length), no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    for row, size in enumerate(shares.SIZES):
        for place, (errors, ink) in enumerate(zip(curves, _INKS, strict=True)):
            people, off = f"{size:,}" if place == 0 else "", errors.points[row].measured
            bar = [Text(_bar(off, length), style=ink)] if length >= _SHORTEST_BAR else []
            table.add_row(people, Text(errors.name, style=ink), *bar, _points(off))
    measured = f"measured on {shares.REPEATS} runs of every mechanism."
    note = f"Each mark is ten times the last; {measured}" if length >= _SHORTEST_BAR else measured.capitalize()
    return Group(table, Text(note))


def _many(many: tuple[ManyCounts, ...]) -> str:
    first, last = many[0], many[-1]
    wins = next(row.counts for row in many if row.gaussian < row.laplace)
    single = f"A person in one count: Laplace errs less, {first.laplace:.1f} against {first.gaussian:.1f}."
    several = f"In {wins} or more the Gaussian does (δ = {amounts.text_of(shares.DELTA)}): in {last.counts},"
    return f"{single}\n{several} {last.gaussian:.0f} against {last.laplace:.0f} in each."


def _next(plot: str | None) -> str:
    drawing = "--plot errors.png draws part 3" if plot is None else f"part 3 is drawn in {plot}"
    return f"\nNext: discreet odds --eps 0.1 --prior 0.02 · {drawing}"


def _table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """A column a name; if that is too wide, a line a name; if that is too wide, such lines for each row by itself."""
    from rich.console import Group

    def fitting(columns: int) -> Any:
        tables = (_grid(names, rows, 3), _transposed_table(names, rows))
        single = Group(*(_transposed_table(names, [row]) for row in rows))
        return next((table for table in tables if _full_width(table) <= columns), single)

    return _ByWidth(fitting)


def _grid(header: Sequence[Any], rows: Sequence[Sequence[Any]], space: int, **first: Any) -> Any:
    """A table with `space` between its columns; `first` styles the first column."""
    from rich.table import Table

    table = Table(box=None, padding=(0, space, 0, 0), header_style="dim")
    for index, name in enumerate(header):
        table.add_column(name, no_wrap=True, **({"justify": "right"} if index or not first else first))
    for row in rows:
        table.add_row(*row)
    return table


def _transposed_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    header, *lines = zip(names, *rows, strict=True)
    return _grid(header, lines, 2, style="dim")


def _full_width(table: Any) -> int:
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(width=_ENDLESS)
    return Measurement.get(console, console.options, table).maximum


def _axis(length: int) -> str:
    """Powers of ten above bars of that length, each at its place; where two would touch, the larger one."""
    low, high = _DECADES
    marks = [" "] * (length + _OVERHANG + 1)
    free = len(marks)
    for power in range(high, low, -1):
        label = f"{100 * 10.0**power:g}"
        start = max(0, round(length * (power - low) / (high - low)) - 1)
        if start + len(label) < free:
            marks[start : start + len(label)] = label
            free = start
    return "".join(marks).rstrip()


def _bar(error: float, length: int) -> str:
    """A bar that grows with the logarithm of the error up to `length` cells, in eighths of a cell."""
    low, high = _DECADES
    share = (math.log10(max(error, 10.0**low)) - low) / (high - low)
    eighths = round(min(1.0, share) * length * 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _percent(share: float | Fraction) -> str:
    return f"{100 * float(share):.3g} %"


def _points(error: float) -> str:
    return f"{100 * error:.2g}"


def _curve(errors: Errors) -> Curve:
    return Curve(errors.name, errors.order, *zip(*map(astuple, errors.points), strict=True))
