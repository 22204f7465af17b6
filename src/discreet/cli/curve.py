"""`discreet curve`: measure a curve of the lectures, and draw it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import amounts
from discreet.cli.drawing import fact_list, text_table
from discreet.cli.reply import AsJson, Reply, Yes
from discreet.errors import BadValue

if TYPE_CHECKING:
    from discreet.lecture.curve import Curve, Point
    from discreet.operation.promise import PromiseCall

_NAMES = (
    "laplace, gaussian, response, local, shuffled, central, dimensions, bernoulli, composition, sampling, exponential "
    "or descent; or a picture of a promise: worlds, posterior or odometer."
)


def curve(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help=_NAMES)] = None,
    eps: Annotated[
        list[str] | None,
        typer.Option("--eps", "--epsilon", metavar="ε", help="ε to measure at; can be given more than once."),
    ] = None,
    seed: Annotated[str, typer.Option(metavar="N", help="Seed of the invented people; the noise takes none.")] = "1",
    delta: Annotated[str | None, typer.Option(metavar="δ", help="δ of worlds, 0 by default.")] = None,
    budget: Annotated[str | None, typer.Option(metavar="ε", help="Budget of odometer.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Draw it into FILE, .svg or .png; worlds into .html too."),
    ] = None,
    json: AsJson = False,
    yes: Yes = False,
) -> Reply:
    """Measure a curve of the lectures: errors and prices beside their theory.

    Or draw a promise: worlds, posterior or odometer. As .html the ε of worlds can be dragged.

    Example: discreet curve response -o curve.svg
    """
    from discreet.operation.curve import MOST_SEED, CurveCall
    from discreet.operation.curve import curve as operation
    from discreet.operation.promise import PROMISES, PromiseCall, require_fitting

    if name is None:
        raise BadValue(f"curve must be {_NAMES}", "You gave no name.", "Take response, for example.")
    if name in PROMISES:
        return _promise(PromiseCall(name, tuple(eps or ()), delta, budget, output, yes))
    require_fitting(name, delta, budget)
    people = amounts.whole(seed, "seed", 0, MOST_SEED, such_as=1)
    done = operation(CurveCall(name, tuple(eps or ()), people, output, yes))
    return Reply(done.to_json(), lambda: _picture(done.value, output))


def _promise(call: "PromiseCall") -> Reply:
    """The picture's table, what it says, and where it was drawn."""
    from discreet.operation.promise import promise

    done = promise(call)
    drawn = [("drawn", str(call.output))] if call.output is not None else []

    def view() -> Any:
        from rich.console import Group

        table = text_table(done.value.header, done.value.rows, keys=1)
        return Group(done.value.title, "", table, "", fact_list([("result", done.value.caption), *drawn]))

    return Reply(done.to_json(), view)


def _picture(curve: "Curve", file: Path | None) -> Any:
    """The table that is the picture's twin, its result, and what to know."""
    from rich.console import Group
    from rich.padding import Padding

    header = (curve.axis if curve.axis != "epsilon" else "ε", "theory", "measured", "95 % interval")
    parts: list[Any] = [curve.title, ""]
    for series in curve.series:
        slope = "" if series.slope is None else f", slope {series.slope:.3f} ± {series.slope_error or 0:.3f}"
        parts += [f"{series.name}{slope}".replace("-", "−"), text_table(header, _rows(series.points), keys=0), ""]
    facts = [("y", curve.y), ("result", curve.sentence), *([("drawn", str(file))] if file is not None else [])]
    notes = "\n".join(f"· {note}" for note in curve.notes)
    return Group(*parts, fact_list(facts), *([Padding(notes, (1, 0, 0, 0), style="dim")] if notes else []))


def _rows(points: "tuple[Point, ...]") -> Iterator[tuple[str, ...]]:
    for point in points:
        measured = "" if point.measured is None else f"{point.measured:.4g}"
        known = point.low is not None and point.high is not None and point.high > point.low
        yield f"{point.x:,g}", f"{point.theory:.4g}", measured, f"{point.low:.4g} … {point.high:.4g}" if known else ""
