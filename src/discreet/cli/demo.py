"""`discreet demo`: ask an invented hospital; `discreet demo lecture`: three results of a lecture."""

from pathlib import Path
from typing import Annotated

import typer

from discreet import amounts, outputs
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.operation.reply import envelope

_MOST_SEED = 2**63 - 1

Seed = Annotated[str, typer.Option(metavar="N", help="Seed of the invented tables; the noise takes none.")]


def demo(
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the table, its metadata and its ledger.")
    ] = None,
    seed: Seed = "1",
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Ask an invented hospital three questions and show what is left of its budget.

    Example: discreet demo --folder hospital
    """
    from discreet.cli.terminal import bar
    from discreet.demo.curator import CAVEATS, run_demo, to_json
    from discreet.demo.page import page

    require_new(output, yes)
    people = amounts.whole(seed, "seed", 0, _MOST_SEED, such_as=1)
    with bar() as progress:
        done = run_demo(folder, people, progress)
    last = done.asked[-1].answer
    data = envelope(
        dataset=last.dataset, remaining=last.remaining, receipt=last.receipt, demo=to_json(done), caveats=list(CAVEATS)
    )
    return Reply(data, lambda: page(done), file=output, replace=yes)


def lecture(
    seed: Seed = "1",
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the errors as .png or .svg.")] = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Show a lecture's results: blue eyes, the tax survey, the worth of trust.

    Example: discreet demo lecture --plot errors.png
    """
    from discreet.demo import tour
    from discreet.demo.tour_page import picture, tour_page
    from discreet.plot import style

    require_new(output, yes)
    people = amounts.whole(seed, "seed", 0, _MOST_SEED, such_as=1)
    file = None if plot is None else style.checked_path(plot)
    if file is not None:
        outputs.require_harmless(file, flag="plot")
    figures = tour.tour(people)
    if file is not None:
        with outputs.replacing(file, flag="plot") as draft:
            picture(figures, draft)
    shown = None if file is None else str(file)
    data = envelope(dataset="invented", demo=tour.to_json(figures) | {"plot": shown}, caveats=list(tour.CAVEATS))
    return Reply(data, lambda: tour_page(figures, shown), file=output, replace=yes)
