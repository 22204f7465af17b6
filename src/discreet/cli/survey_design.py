"""`discreet survey design`, `page`, `paper` and `simulate`: what comes before a survey is asked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.drawing import draw, fact_list, require_plot, text_table, unwrapped_text
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import survey as operation
from discreet.operation.survey import DesignCall, PageCall, SimulateCall

if TYPE_CHECKING:
    from discreet.survey.design import Design

SurveyFile = Annotated[Path, typer.Argument(metavar="SURVEY", readable=False, help="TOML file of the survey.")]
Precision = Annotated[str, typer.Option(metavar="POINTS", help="± of a share, in points of 100, at 95 %.")]
DeltaOption = Annotated[str, typer.Option("--delta", metavar="δ", help="δ of reports behind a shuffler.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw what protection costs as .png or .svg.")]
ServerOption = Annotated[str, typer.Option(metavar="URL", help="Origin that the page sends to; its own by default.")]
People = Annotated[str, typer.Option(metavar="N", help="Number of invented people.")]
TruthOption = Annotated[
    list[str] | None,
    typer.Option("--truth", metavar="Q=SHARE", help="Share of the last value, A:0.5,B:0.3 or a mean; repeat."),
]
Seed = Annotated[str | None, typer.Option(metavar="N", help="Seed of the invented answers, not of the noise.")]
Out = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Parquet file to write.")]


def design(
    survey: SurveyFile,
    precision: Precision = "3",
    delta: DeltaOption = "1e-6",
    plot: Plot = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Show how many people a survey needs, with protection and without.

    For the ± of each question at 95 %, whatever the true shares are. Also what a report says about its person, what
    people who lie or do not toss their coins can do, and the same survey with a shuffler or a curator.

    Example: discreet survey design tax.toml --precision 3
    """
    require_new(output, yes, survey)
    require_plot(plot, survey, output, replace=yes)
    reply = operation.design(DesignCall(survey, precision, delta, output, plot))
    data = reply.to_json(command_line)
    notes = []
    if plot is not None:
        failure = _draw(reply.value, plot, survey)
        data["plot"] = None if failure else str(plot)
        notes.append(failure or f"Drawn: {plot}")
    told = (lambda: unwrapped_text("\n".join(notes))) if notes else None
    caveats = data["caveats"]
    return Reply(data, lambda: _picture(reply.value, caveats), output, replace=yes, notes=told, toml=survey)


def page(
    survey: SurveyFile, server: ServerOption = "", json: AsJson = False, output: OutFile = None, yes: Yes = False
) -> Reply:
    """Write the page of a survey, which randomises in the browser, and print its SHA-256.

    One file without any outside request, to be hosted anywhere or opened from disk.

    Example: discreet survey page tax.toml -o page.html
    """
    require_new(output, yes, survey)
    return _document(operation.page(PageCall(survey, server, output)))


def paper(survey: SurveyFile, json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """Write a slip to print, on which people randomise with two coins.

    Every question needs two values, and each costs ε = ln 3.

    Example: discreet survey paper tax.toml -o slip.html
    """
    require_new(output, yes, survey)
    return _document(operation.paper(PageCall(survey, output=output)))


def simulate(
    survey: SurveyFile,
    people: People = "10000",
    truth: TruthOption = None,
    seed: Seed = None,
    json: AsJson = False,
    output: Out = None,
    yes: Yes = False,
) -> Reply:
    """Simulate a survey: invent people with known shares and write their randomised reports.

    Without --truth answers are uniform. Of a number the truth is its mean, and people have a binomial number of steps.
    The file says that its people are invented, and so does every estimate from it.

    Example: discreet survey simulate tax.toml --people 10000 --truth q1=0.02 --seed 7 -o reports.parquet
    """
    require_new(output, yes, survey)
    reply = operation.simulate(SimulateCall(survey, people, tuple(truth or ()), seed, output))
    data = reply.to_json(command_line)
    return Reply(data, lambda: unwrapped_text("\n".join(_simulation_lines(data))))


def _document(reply: Any) -> Reply:
    """The digest on stdout where the document went to a file, else the document itself."""
    written, data = reply.value, reply.to_json(command_line)
    lines = [f"SHA-256 {written.digest}", *data["caveats"], *data.get("next", ())]
    if written.file is None:
        return Reply(data, lambda: "", content=written.content, notes=lambda: unwrapped_text(lines[0]))
    return Reply(data, lambda: unwrapped_text("\n".join([f"Written to {written.file}.", *lines])))


def _simulation_lines(data: dict[str, Any]) -> list[str]:
    truths = [f"{name}: {_shares(shares)}" for name, shares in data["truth"].items()]
    written = f"Reports of {data['people']:,} invented people are in {data['file']}."
    return [written, *truths, *data["caveats"], *data["next"]]


def _shares(shares: dict[str, float]) -> str:
    listed = [f"{value} {share:.4g}" for value, share in list(shares.items())[:8]]
    return ", ".join(listed) + (" …" if len(shares) > 8 else "")


def _draw(plan: "Design", plot: Path, survey: Path) -> str | None:
    from discreet.plot.survey import alt_text, design_picture
    from discreet.survey.design import curves

    drawn = curves(plan)
    return draw(lambda: design_picture(drawn), plot, survey, alt=alt_text(drawn))


def _picture(plan: "Design", caveats: list[str]) -> Any:
    from rich.console import Group
    from rich.text import Text

    from discreet import amounts
    from discreet.local.trusts import NOISE_ALONE

    survey = plan.survey
    epsilon = amounts.text_up(survey.epsilon)
    facts = [("survey", survey.title), ("ε", f"{epsilon} for the whole questionnaire"), ("mode", _mode(plan))]
    rows = [_row(need) for need in plan.needs]
    header = ("question", "method", "±", "people without protection", "people")
    trusts = [
        (row.name, amounts.text_up(row.epsilon), f"{float(row.delta):.1g}", f"{row.radius:.3g}", row.trusted)
        for row in plan.trusts.rows
    ]
    return Group(
        fact_list(facts),
        Text(""),
        text_table(header, rows, keys=2),
        *(Text(line) for need in plan.needs for line in _need_lines(need)),
        Text(f"\nOne yes or no with the whole ε, of {plan.trusts.people:,} people:"),
        text_table(("trust", "ε", "δ", "±", "trusted"), trusts, keys=1),
        Text(f"The ± of local reports is {plan.trusts.factor:.3g} times the curator's. {NOISE_ALONE}"),
        *map(Text, caveats),
    )


def _mode(plan: "Design") -> str:
    return f"{plan.survey.mode}. {plan.survey.why}"


def _row(need: Any) -> tuple[str, ...]:
    precision = (
        f"{float(need.precision):.4g}" if need.worst_share is None else f"{100 * float(need.precision):.4g} points"
    )
    name, method = need.question.name, need.question.protocol.name
    return name, method, precision, f"{need.plain:,}", f"{need.people:,}"


def _need_lines(need: Any) -> list[str]:
    lines = [f"\n{need.question.name}: {need.words}", f"  {need.question.protocol.why}"]
    if need.disobeyed is not None:
        upward, downward = need.disobeyed
        lines.append(f"  5 % who do not toss their coins move a share of ½ by {downward:+.3f} to {upward:+.3f}.")
    return [*lines, f"  {need.poisoned}"]
