"""`discreet survey estimate` and `report`: what the randomised reports say together."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.drawing import text_table, unwrapped_text
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.cli.survey_design import DeltaOption, SurveyFile
from discreet.errors import fixed_by
from discreet.fix import command_line
from discreet.operation import survey_results as operation
from discreet.operation.survey_results import EstimateCall

if TYPE_CHECKING:
    from discreet.survey.results import Results

AnswersFile = Annotated[
    Path | None,
    typer.Argument(metavar="ANSWERS", readable=False, help="Store of a server, or Parquet file of reports."),
]
By = Annotated[str | None, typer.Option(metavar="COLUMN", help="Public column of groups; an estimate for each.")]
Of = Annotated[
    str | None, typer.Option(metavar="WHAT", help="population or respondents; with --yes the number of slips.")
]
OfPeople = Annotated[str | None, typer.Option("--of", metavar="WHAT", help="population or respondents.")]
YesCount = Annotated[str | None, typer.Option("--yes", metavar="N", help="Slips with the last value, from two coins.")]
QuestionName = Annotated[str | None, typer.Option("--question", metavar="NAME", help="Question of the slips.")]
Level = Annotated[str, typer.Option(metavar="P", help="Level of the intervals.")]
Cross = Annotated[str | None, typer.Option(metavar="Q1,Q2", help="Two questions whose values are crossed.")]
Project = Annotated[
    str | None, typer.Option(metavar="HOW", help="Move estimates into their range: clip or simplex; biased.")
]
FromShuffler = Annotated[
    bool, typer.Option("--from-shuffler", help="Declare that an independent shuffler made the file.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace FILE if it is there.")]


def estimate(
    survey: SurveyFile,
    answers: AnswersFile = None,
    by: By = None,
    of: Of = None,
    yes: YesCount = None,
    question: QuestionName = None,
    level: Level = "0.95",
    cross: Cross = None,
    project: Project = None,
    from_shuffler: FromShuffler = False,
    delta: DeltaOption = "1e-6",
    json: AsJson = False,
    output: OutFile = None,
    replace: Replace = False,
) -> Reply:
    """Estimate the share of every value, or a mean, with intervals.

    From the store of a server, from a Parquet file, or from slips: --yes 412 --of 1000. Estimates are unbiased and may
    lie below 0 or above 1. An estimate whose ± exceeds 1 is not shown.

    Example: discreet survey estimate tax.toml answers.sqlite --by region
    """
    with fixed_by("Add --replace to replace it, or give another name."):
        require_new(output, replace, survey)
    call = EstimateCall(survey, answers, by, cross, of, yes, question, level, project, from_shuffler, delta, output)
    reply = operation.estimate(call)
    data = reply.to_json(command_line)
    return Reply(data, lambda: _picture(reply.value), output, replace=replace, toml=survey)


def report(
    survey: SurveyFile,
    answers: AnswersFile = None,
    by: By = None,
    of: OfPeople = None,
    level: Level = "0.95",
    from_shuffler: FromShuffler = False,
    delta: DeltaOption = "1e-6",
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Write a page about a survey: its estimates, how answers were protected, and what could be wrong.

    One file without any outside request, for an ethics board or for readers.

    Example: discreet survey report tax.toml answers.sqlite -o report.html
    """
    require_new(output, yes, survey)
    terms: Any = {"of": of, "level": level, "from_shuffler": from_shuffler, "delta": delta}
    call = EstimateCall(survey, answers, by, output=output, **terms)
    reply = operation.report(call)
    data, written = reply.to_json(command_line), reply.value
    if written.file is None:
        return Reply(data, lambda: "", content=written.content)
    return Reply(data, lambda: unwrapped_text(f"Written to {written.file}.\nSHA-256 {written.digest}"))


def _picture(results: "Results") -> Any:
    from rich.console import Group
    from rich.text import Text

    has_groups = any(result.group is not None for result in results)
    header = ["question", *(["group"] if has_groups else []), "value", "estimate", "low", "high", "±", "reports"]
    rows = [row for result in results for row in _rows(result, has_groups)]
    return Group(
        text_table(header, rows, keys=2 + has_groups),
        Text(""),
        *map(Text, promise_lines(results)),
        *map(Text, results.caveats),
    )


def promise_lines(results: "Results") -> list[str]:
    """What the intervals are of, and the ε."""
    from discreet import amounts

    what = "noise and the draw of people" if results.terms.of == "population" else "noise alone"
    level = float(amounts.inner_probability(results.terms.level, "level"))
    lines = [f"Intervals at {level:.6g} of the {results.terms.of}: {what}."]
    lines.append(f"ε = {amounts.text_up(results.epsilon)} towards everyone who sees a report.")
    if results.shuffled is not None:
        epsilon, delta = amounts.text_up(results.shuffled.epsilon), float(results.shuffled.delta)
        lines.append(
            f"ε = {epsilon}, δ = {delta:.3g} towards whoever sees only what an independent shuffler hands on, as long "
            "as the others follow the protocol."
        )
    return lines


def _rows(result: Any, has_groups: bool) -> list[tuple[str, ...]]:
    from discreet.survey.results import radius

    start = (result.question, *([result.group or ""] if has_groups else []))
    if result.estimate is None:
        return [(*start, result.reason, "", "", "", "", f"{result.reports:,}")]
    lines = []
    for row in result.estimate:
        value = " × ".join(row.value) if isinstance(row.value, tuple) else str(row.value)
        numbers = (row.estimate, row.low, row.high, radius(row))
        lines.append((*start, value, *(f"{number:.4f}" for number in numbers), f"{result.reports:,}"))
    return lines
