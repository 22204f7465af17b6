"""Estimate a survey from what was collected or counted on paper, and write a report about it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.errors import bad
from discreet.operation.reply import Reply, envelope
from discreet.operation.survey import Written, cost_of, read, require_other, writing

if TYPE_CHECKING:
    from discreet.survey.results import Results, Terms
    from discreet.survey.spec import Survey

KINDS = ("population", "respondents")
_PROJECTIONS = ("clip", "simplex")


@dataclass(frozen=True)
class EstimateCall:
    """What is estimated, from which file or counts; as typed.

    `of` says how many people returned slips, beside `yes`; without `yes` what the intervals are of.
    """

    survey_file: Path
    answers_file: Path | None = None
    by: str | None = None
    cross: str | None = None
    of: str | None = None
    yes: str | None = None
    question: str | None = None
    level: str = "0.95"
    project: str | None = None
    from_shuffler: bool = False
    delta: str = "1e-6"
    output: Path | None = None


def estimate(call: EstimateCall) -> "Reply[Results]":
    """The estimates of all questions with their intervals."""
    require_other(call.output, call.survey_file, call.answers_file)
    survey = read(call.survey_file)
    results = _from_counts(call, survey) if call.yes is not None else _from_file(call, survey)
    return Reply(_data(results), results)


def report(call: EstimateCall) -> Reply[Written]:
    """A page about the estimates, how they were protected and what could be wrong with them."""
    from discreet.survey.page import page_digest
    from discreet.survey.report import report_page

    require_other(call.output, call.survey_file, call.answers_file)
    survey = read(call.survey_file)
    if call.answers_file is None:
        raise bad("answers", "must be given", None, "Name the store of the server, or a Parquet file of reports.")
    results = _from_file(call, survey)
    text = report_page(survey, results)
    content = text.encode()
    if call.output is not None:
        with writing(call.output) as draft:
            draft.write_bytes(content)
    file = None if call.output is None else str(call.output)
    data = _data(results) | {"file": file, "sha256": page_digest(text)}
    return Reply(data, Written(content, page_digest(text), call.output))


def _from_counts(call: EstimateCall, survey: "Survey") -> "Results":
    from discreet.survey.results import estimate_counts

    typed = {"answers": call.answers_file, "by": call.by, "cross": call.cross}
    for name, value in {**typed, "from_shuffler": call.from_shuffler or None}.items():
        if value is not None:
            raise bad(name, "must be left out with --yes", str(value), "Give either a file or counts.")
    if call.of is None or call.of in KINDS:
        fix = "Write, for example: --yes 412 --of 1000"
        raise bad("of", "must be the number of slips beside --yes", call.of, fix)
    return estimate_counts(survey, call.yes, call.of, _terms(call, "population"), name=call.question)


def _from_file(call: EstimateCall, survey: "Survey") -> "Results":
    from discreet.survey import results

    if call.answers_file is None:
        fix = "Name the store of the server or a Parquet file, or give counts such as: --yes 412 --of 1000"
        raise bad("answers", "must be given", None, fix)
    if call.question is not None:
        raise bad("question", "goes with --yes alone", call.question, "Leave it out: all questions are estimated.")
    of = call.of or "population"
    if of not in KINDS:
        fix = "Write --of respondents, or give counts such as: --yes 412 --of 1000"
        raise bad("of", "must be population or respondents for a file", call.of, fix)
    terms = _terms(call, of)
    if call.cross is None:
        estimates = results.estimate_file(survey, call.answers_file, terms, by=call.by)
    elif call.by is None:
        estimates = results.estimate_cross(survey, call.answers_file, call.cross, terms)
    else:
        raise bad("cross", "must be given without --by", call.cross, "Leave one of them out.")
    if not call.from_shuffler:
        return estimates
    from discreet.survey.shuffled import shuffled_promise

    return replace(estimates, shuffled=shuffled_promise(survey, call.answers_file, call.delta))


def _terms(call: EstimateCall, of: str) -> "Terms":
    from discreet.survey.results import Terms

    if call.project not in (None, *_PROJECTIONS):
        fix = "Leave it out for unbiased estimates."
        raise bad("project", f"must be one of {', '.join(_PROJECTIONS)}", call.project, fix)
    amounts.inner_probability(call.level, "level")
    return Terms(of, call.level, call.project)


def _data(results: "Results") -> dict[str, Any]:
    return envelope(cost=cost_of(results), **results.to_json(), caveats=list(results.caveats))
