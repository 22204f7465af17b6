"""Read what was collected: the store of a server or a Parquet file, told apart by their first bytes.

Both give the same thing: a tally for each question, of everyone and of each group.  Reports of another length, cells
without one and bytes that the protocol cannot have drawn are rejected and counted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import IntegrityError, SourceUnavailable, bad
from discreet.inert import visible
from discreet.local.reports import Tally
from discreet.local.words import Bytes
from discreet.ndarrays import Ints
from discreet.survey.question import Question
from discreet.survey.spec import Survey

if TYPE_CHECKING:
    from discreet.engine.reports import Counted

STORE, PARQUET = "store", "parquet"
SURVEY_FACT, INVENTED_FACT = "discreet.survey", "discreet.invented"  # keys in the metadata of a Parquet file
INVENTED = "INVENTED: these reports are of simulated people, so the numbers say nothing about anyone."
_MAGICS = {b"SQLite format 3\x00": STORE, b"PAR1": PARQUET}


@dataclass(frozen=True)
class Collected:
    """Tallies by question; by group and question where a column was asked for."""

    kind: str
    rows: int  # people, whether their reports are valid or not
    tallies: Mapping[str, Tally]
    by_group: Mapping[str, Mapping[str, Tally]] = field(default_factory=dict)
    ungrouped: int = 0  # rows whose group is none of the survey's
    misplaced: int = 0  # rows that answer none or several of the questions of which each person is asked one
    crowds: tuple[int, ...] = ()  # rows of each group in the file, whether the survey names it or not
    refused: Mapping[str, int] = field(default_factory=dict)  # submissions that the server did not take, by reason
    is_invented: bool = False
    is_stamped: bool = True  # the file says which survey it belongs to


def kind_of(path: Path) -> str:
    """ "store" or "parquet", by the first bytes of the file."""
    try:
        with path.open("rb") as file:
            start = file.read(max(map(len, _MAGICS)))
    except OSError:
        what, why = f"{visible(path.name)!r} cannot be read.", "It is not there, is no file, or may not be opened."
        raise SourceUnavailable(what, why, "Name the store of the server, or a Parquet file of reports.") from None
    for magic, kind in _MAGICS.items():
        if start.startswith(magic):
            return kind
    what, why = f"{visible(path.name)!r} holds no reports.", "It begins like neither an SQLite nor a Parquet file."
    raise SourceUnavailable(what, why, "Name the store of the server, or a Parquet file of reports.")


def read_collected(survey: Survey, path: Path, *, by: str | None = None) -> Collected:
    """Read and tally every report; `by` is the survey's column of groups."""
    groups = require_groups(survey, by)
    return _read_store(survey, path, groups) if kind_of(path) == STORE else _read_parquet(survey, path, by, groups)


def read_pairs(survey: Survey, path: Path, first: Question, second: Question) -> tuple[Bytes, Bytes, int]:
    """The reports to two questions, a row for each person, and how many people were rejected for their lengths."""
    if kind_of(path) == STORE:
        from discreet.survey.store import read_reports

        stored = read_reports(path, survey).questions
        return stored[first.name], stored[second.name], 0
    from discreet.engine.reports import read_columns

    _require_own(survey, path)
    columns = read_columns(path, [first.name, second.name])
    pairs = list(zip(columns[first.name], columns[second.name], strict=True))
    whole = [pair for pair in pairs if _has_length(pair[0], first) and _has_length(pair[1], second)]
    rows = tuple(_rows([pair[side] for pair in whole], question) for side, question in enumerate((first, second)))
    return rows[0], rows[1], len(pairs) - len(whole)


def require_groups(survey: Survey, by: str | None) -> tuple[str, ...]:
    """The groups of the survey's public column; none where `by` is None, refused where it is another column."""
    if by is None:
        return ()
    if survey.groups is None or survey.groups[0] != by:
        fix = "Leave --by out." if survey.groups is None else f"Write: --by {survey.groups[0]}"
        raise bad("by", "must be the public column of the survey", by, fix)
    return survey.groups[1]


def tally_of_counts(question: Question, reports: Sequence[Any], times: Ints) -> Tally:
    """The tally of distinct reports and how often each occurs.

    Counts of reports add up, so that those of the j-th bit of the times are counted once and weighed 2^j.
    """
    fitting = np.array([_has_length(report, question) for report in reports], dtype=np.bool_)
    rows = _rows([report for report, fits in zip(reports, fitting, strict=True) if fits], question)
    weights, rejected = times[fitting], int(times[~fitting].sum())
    total = question.tally(rows[:0])
    for bit in range(int(weights.max(initial=0)).bit_length()):
        part = question.tally(rows[(weights >> bit) & 1 == 1])
        total += Tally(part.code, part.about, part.counts << bit, part.reports << bit, part.rejected << bit)
    return replace(total, rejected=total.rejected + rejected)


def _read_store(survey: Survey, path: Path, groups: Sequence[str]) -> Collected:
    from discreet.survey.store import read_rejected, read_reports

    stored = read_reports(path, survey)
    members = {group: stored.groups == group for group in groups}

    def tallies(chosen: Any) -> dict[str, Tally]:
        return {q.name: q.tally(stored.questions[q.name][chosen]) for q in survey.questions}

    return Collected(
        STORE,
        len(stored.groups),
        tallies(slice(None)),
        by_group={group: tallies(rows) for group, rows in members.items()},
        ungrouped=len(stored.groups) - sum(int(rows.sum()) for rows in members.values()) if groups else 0,
        refused=read_rejected(path, survey),
    )


def _read_parquet(survey: Survey, path: Path, by: str | None, groups: Sequence[str]) -> Collected:
    from discreet.engine.reports import count_rows, read_counts

    facts = _require_own(survey, path)
    names = [question.name for question in survey.questions]
    sampled = names if survey.mode == "sampled" else []
    counts = read_counts(path, names, by, sampled)

    def tallies(group: str | None) -> dict[str, Tally]:
        return {q.name: _tally_in(q, counts[q.name], group) for q in survey.questions}

    first = counts[survey.questions[0].name]
    rows = int(first.times.sum())
    crowds: Counter[str | None] = Counter()
    for group, times in zip(first.groups, first.times, strict=True):
        crowds[group] += int(times)
    return Collected(
        PARQUET,
        rows,
        tallies(None),
        by_group={group: tallies(group) for group in groups},
        ungrouped=rows - sum(crowds[group] for group in groups) if groups else 0,
        misplaced=count_rows(path) - rows if sampled else 0,
        crowds=tuple(crowds.values()),
        is_invented=INVENTED_FACT in facts,
        is_stamped=SURVEY_FACT in facts,
    )


def _tally_in(question: Question, counted: "Counted", group: str | None) -> Tally:
    """The tally of a group; of everyone where it is None."""
    chosen = [index for index, own in enumerate(counted.groups) if group is None or own == group]
    return tally_of_counts(question, [counted.reports[index] for index in chosen], counted.times[chosen])


def _require_own(survey: Survey, path: Path) -> dict[str, str]:
    """The facts in a file's metadata; refused where they name another survey."""
    from discreet.engine.reports import read_facts

    facts = read_facts(path)
    digest = facts.get(SURVEY_FACT, survey.digest)
    if digest != survey.digest:
        what = f"{visible(path.name)!r} holds the reports of another survey."
        why = f"They were made for survey {visible(digest[:16])}…, and this survey is {survey.digest[:16]}…."
        raise IntegrityError(what, why, "Use the survey file as it was when the reports were made.")
    return facts


def _has_length(report: Any, question: Question) -> bool:
    return isinstance(report, bytes) and len(report) == question.report_bytes


def _rows(reports: Sequence[Any], question: Question) -> Bytes:
    return np.frombuffer(b"".join(reports), dtype=np.uint8).reshape(len(reports), question.report_bytes)
