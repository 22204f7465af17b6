"""`discreet demo`: three questions of a first lecture, answered by the real mechanisms on invented people."""

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.reply import AsJson, OutFile, Reply, Yes, envelope, require_new
from discreet.cli.typed import whole

_MOST_SEED = 2**63 - 1


def demo(
    seed: Annotated[str, typer.Option(metavar="N", help="Makes the invented tables; the noise takes no seed.")] = "1",
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the errors as .png or .svg.")] = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """A short tour: blue eyes, the tax survey, and what trust is worth.

    Example: discreet demo --plot errors.png
    """
    from discreet.demo import tour
    from discreet.demo.drawn import drawn, picture
    from discreet.plot import style

    require_new(output, yes)
    people = whole(seed, "seed", 0, _MOST_SEED, such_as=1)
    file = None if plot is None else style.checked_path(plot)
    figures = tour.tour(people)
    if file is not None:
        picture(figures, file)
    shown = None if file is None else str(file)
    data = envelope(dataset="invented", demo=tour.as_json(figures) | {"plot": shown}, caveats=list(tour.CAVEATS))
    return Reply(data, lambda: drawn(figures, shown), file=output, replace=yes)
