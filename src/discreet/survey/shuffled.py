"""The smaller ε of a file that an independent shuffler handed on, towards whoever sees that file alone.

Nobody in the file hides among more people than share everything that is seen of them beside their reports: the crowd of
a person is their group, and the promise is that of the smallest one.
"""

from pathlib import Path
from typing import Any

from discreet import amounts
from discreet.errors import NotAnswerable
from discreet.inert import visible
from discreet.local.response_code import ResponseCode
from discreet.privacy.amplify import shuffled_any, shuffled_response
from discreet.privacy.cost import Approx
from discreet.survey.collected import STORE, kind_of, read_collected
from discreet.survey.spec import Survey


def shuffled_promise(survey: Survey, path: Path, delta: Any) -> Approx:
    """The (ε, δ) towards whoever sees only what an independent shuffler handed on; the local ε is for all others."""
    if kind_of(path) == STORE:
        what = "A server's own store is no file of a shuffler."
        why = "The server saw the token, the time and the address of each report."
        fix = "Leave --from-shuffler out, or give the Parquet file of an independent shuffler."
        raise NotAnswerable(what, why, fix)
    if survey.every == "day":
        what, why = "A daily survey has no shuffled ε.", "A report that is sent each day is seen several times."
        raise NotAnswerable(what, why, "Leave --from-shuffler out.")
    collected = read_collected(survey, path, by=_group_column(survey, path))
    invalid = sum(tally.rejected for tally in collected.tallies.values())
    people = max(1, min(collected.crowds, default=0) - invalid)  # so many at least are whole, in every group
    bound = shuffled_response if _is_response(survey) else shuffled_any
    return bound(survey.epsilon, people, amounts.delta(delta)).cost


def _group_column(survey: Survey, path: Path) -> str | None:
    """The column of groups if the file has it; refused where a file has a column that no shuffler hands on.

    A group is seen, so a person hides among its members alone; a token or an address would tell people apart.
    """
    from discreet.engine.reports import read_names

    group = None if survey.groups is None else survey.groups[0]
    names = read_names(path)
    others = [name for name in names if name != group and survey.question(name) is None]
    if others:
        what = f"The file has columns beside the reports: {visible(', '.join(others[:3]))}."
        why = "Whatever else is known of a row can tell people apart, so nobody hides among the others."
        raise NotAnswerable(what, why, "Leave --from-shuffler out, or let the shuffler hand on the reports alone.")
    return group if group in names else None


def _is_response(survey: Survey) -> bool:
    """Whether a whole submission is one k-ary response, which has the sharper bound."""
    (*others, question) = survey.questions
    return not others and isinstance(question.protocol.code, ResponseCode)
