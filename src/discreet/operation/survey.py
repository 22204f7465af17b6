"""Plan a survey, write its page and its slip, and simulate people who answer it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import amounts, outputs
from discreet.engine.files import cannot_write
from discreet.errors import bad
from discreet.fix import Fix
from discreet.operation.reply import Reply, envelope

if TYPE_CHECKING:
    from discreet.survey.design import Design
    from discreet.survey.results import Results
    from discreet.survey.simulation import Simulation
    from discreet.survey.spec import Survey


@dataclass(frozen=True)
class DesignCall:
    """The survey, the ± in points of 100, and the δ of a shuffler; the files to write."""

    survey_file: Path
    precision: str = "3"
    delta: str = "1e-6"
    output: Path | None = None
    plot: Path | None = None


@dataclass(frozen=True)
class PageCall:
    """The survey, the origin that its page posts to, and the file to write."""

    survey_file: Path
    server: str = ""
    output: Path | None = None


@dataclass(frozen=True)
class SimulateCall:
    """The survey, how many people are invented, their truth as typed, and the file to write."""

    survey_file: Path
    people: str
    truth: tuple[str, ...] = ()
    seed: str | None = None
    output: Path | None = None


@dataclass(frozen=True)
class Written:
    """A document, its SHA-256 and the file that holds it, if one was written."""

    content: bytes
    digest: str
    file: Path | None


def design(call: DesignCall) -> "Reply[Design]":
    """How many people each question needs, with protection and without."""
    from discreet.survey.design import NO_SHUFFLER, design_of

    for file in (call.output, call.plot):
        require_other(file, call.survey_file)
    survey = read(call.survey_file)
    plan = design_of(survey, call.precision, call.delta)
    data = envelope(cost=cost_of(survey), **plan.to_json(), caveats=[NO_SHUFFLER], plot=None)
    return Reply(data, plan, next=(Fix("Next:", "survey page", {**_about(call), "output": "page.html"}),))


def page(call: PageCall) -> Reply[Written]:
    """The page that randomises in the browser, and its SHA-256."""
    from discreet.survey import page as pages

    survey = read(call.survey_file)
    text = pages.page(survey, call.server)
    written = _write(call, text, pages.page_digest(text))
    caveats = [] if call.server else ["The page sends to the server that it is loaded from; --server names another."]
    if call.server.startswith("http://"):
        caveats.append("Whoever is on the line sees the randomised reports; https hides them.")
    return Reply(_document(call, survey, written, caveats), written)


def paper(call: PageCall) -> Reply[Written]:
    """The slip with two coins, and its SHA-256."""
    from discreet.survey import paper as papers
    from discreet.survey.page import page_digest

    survey = read(call.survey_file)
    text = papers.slip(survey)
    written = _write(call, text, page_digest(text))
    several = {"question": survey.questions[0].name} if len(survey.questions) > 1 else {}
    arguments = {**_about(call), "yes": "412", "of": "1000", **several}
    return Reply(_document(call, survey, written, []), written, next=(Fix("Then:", "survey estimate", arguments),))


def simulate(call: SimulateCall) -> "Reply[Simulation]":
    """Write the randomised reports of invented people."""
    from discreet.engine.reports import write_reports
    from discreet.survey import simulation
    from discreet.survey.collected import INVENTED, INVENTED_FACT, SURVEY_FACT

    if call.output is None:
        raise bad("output", "must be given", None, "Write, for example: -o reports.parquet")
    require_other(call.output, call.survey_file)
    survey = read(call.survey_file)
    people = simulation.simulate(survey, call.people, call.truth, call.seed)
    facts = {SURVEY_FACT: survey.digest, INVENTED_FACT: "simulated people"}
    with writing(call.output) as draft:
        write_reports(draft, people.reports, people.groups, facts)
    truths = {q.name: people.truths[q.name].to_json(q) for q in survey.questions}
    count = len(next(iter(people.reports.values())))
    data = envelope(
        cost=cost_of(survey), file=str(call.output), people=count, truth=truths, invented=True, caveats=[INVENTED]
    )
    following = {**_about(call), "rows_file": str(call.output)}
    return Reply(data, people, next=(Fix("Next:", "survey estimate", following),))


def read(path: Path) -> "Survey":
    """The survey that a file describes."""
    from discreet.survey.reading import read_survey

    return read_survey(path)


def cost_of(source: "Survey | Results") -> dict[str, Any]:
    """What a whole submission costs its person."""
    return {
        "epsilon": amounts.text_up(source.epsilon, 6),
        "delta": "0",
        "neighbours": "replace-one",
    }


def require_other(output: Path | None, *others: Path | None, flag: str = "output") -> None:
    """Refuses an output that is one of the other files of a call, through links too, or would be the log of one."""
    if output is None:
        return
    for other in filter(None, others):
        if outputs.is_same_file(output, other) or outputs.is_log_of(output, other):
            raise bad(flag, "must not replace another file of the call or its log", str(output), "Give another name.")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A draft that stands whole at `path` when the block has ended; refused where it cannot be written."""
    try:
        with outputs.replacing(path) as draft:
            yield draft
    except OSError:
        raise cannot_write(path) from None


def _write(call: PageCall, text: str, digest: str) -> Written:
    require_other(call.output, call.survey_file)
    content = text.encode()
    if call.output is not None:
        with writing(call.output) as draft:
            draft.write_bytes(content)
    return Written(content, digest, call.output)


def _document(call: PageCall, survey: "Survey", written: Written, caveats: list[str]) -> dict[str, Any]:
    file = None if call.output is None else str(call.output)
    facts = {"survey": survey.digest, "sha256": written.digest, "file": file, "bytes": len(written.content)}
    return envelope(cost=cost_of(survey), title=survey.title, **facts, caveats=caveats)


def _about(call: DesignCall | PageCall | SimulateCall) -> dict[str, str]:
    return {"metadata": str(call.survey_file)}
