"""What leaves beside the answers: time, failures, shared caps, refused sources, sizes; each measured as it stands.

    .venv/bin/python -m benchmarks channels

Every pair is one table with and without a target person, asked through the real path in turns.  AUC is the chance that
a question about the table with the target takes longer than one about the table without; 0.5 tells nothing.
"""

import itertools
import math
import os
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.channel_cells import CONTENTS, refused
from benchmarks.channel_tables import compiled, limits, opened, worker_pid
from benchmarks.report import Report, Table

PLAIN = "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY region"
SLOW = "SELECT COUNT(*) AS n FROM people WHERE lower(upper(lower(upper(note)))) LIKE '%needle%'"
HEAVY = {
    "COUNT(*), AVG by region": PLAIN,
    "WHERE length(note) > 9": "SELECT COUNT(*) AS n FROM people WHERE length(note) > 9",
    "WHERE lower(… note) LIKE": SLOW,
    "COUNT(DISTINCT note)": "SELECT COUNT(DISTINCT note) AS n FROM people",
    "GROUP BY note, private keys": "SELECT note, COUNT(*) AS n FROM people GROUP BY note",
}
FAILURES = 5  # after which a dataset closes, by default
LEAST_EPSILON = 1e-9
_KINDS = ("note", "alone")
_PRICES = (f"0.{i}" for i in itertools.count(10**8))  # no two alike: nothing is replayed


@dataclass(frozen=True)
class Sizes:
    """How large the tables are and how often each is asked."""

    people: int = 20_000
    asks: int = 500
    rows: tuple[int, ...] = (10**3, 10**4, 10**5, 10**6)
    repeats: int = 31
    unit_rows: int = 10**4
    long_text: int = 2**20  # letters of one cell
    row_text: int = 6_000  # letters of each of the unit's cells
    memory: int = 2**26


@dataclass(frozen=True)
class Pair:
    """The note of each of the target's rows, the cap on rows, and the question that is timed."""

    name: str
    target: tuple[str, ...]
    cap: int = 10
    sql: str = PLAIN
    timed: tuple[str, ...] = ("ask", "engine")


# --- time ----------------------------------------------------------------------------------------------------------


def asking(dataset: Any, sql: str) -> Callable[[], object]:
    """A whole ask at a price of its own: what an analyst can time."""
    return lambda: dataset.sql(sql).ask(epsilon=next(_PRICES))


def running(dataset: Any, sql: str) -> Callable[[], object]:
    """The engine's part of it alone: what somebody on the machine might time."""
    statements, engine = compiled(dataset, sql), dataset.table.engine
    return lambda: engine.run(statements)


CLOCKS = {"ask": asking, "engine": running}


def in_turns(first: Callable[[], object], other: Callable[[], object], n: int) -> tuple[list[float], list[float]]:
    """Seconds of n calls of each, in pairs whose order is drawn."""
    times: tuple[list[float], list[float]] = ([], [])
    order = random.Random(7)
    for turn in range(-3, n):
        for side in order.sample((0, 1), 2):
            start = time.perf_counter()
            (first, other)[side]()
            if turn >= 0:
                times[side].append(time.perf_counter() - start)
    return times


def separation(without: list[float], given: list[float]) -> tuple[float, float]:
    """AUC and the two-sided p of Mann and Whitney."""
    from scipy.stats import mannwhitneyu

    test = mannwhitneyu(given, without, alternative="two-sided")
    return float(test.statistic) / (len(given) * len(without)), float(test.pvalue)


def pairs(sizes: Sizes) -> tuple[Pair, ...]:
    """From no target at all to one made for the purpose."""
    many = ("a note",) * sizes.unit_rows
    return (
        Pair("nothing: two equal tables", ()),
        Pair("1 row", ("a note",)),
        Pair(f"{sizes.unit_rows:,} rows, of which 10 count", many),
        Pair(f"{sizes.unit_rows:,} rows, all count", many, cap=sizes.unit_rows, timed=("engine",)),
        Pair(f"a text of {sizes.long_text:,} letters, filtered", ("a" * sizes.long_text,), sql=SLOW),
    )


def timed(sizes: Sizes) -> Table:
    """Each pair, asked and inside the engine."""
    rows = []
    for pair in pairs(sizes):
        with (
            opened(sizes.people, cap=pair.cap) as without,
            opened(sizes.people, pair.target, cap=pair.cap) as given,
        ):
            for where in pair.timed:
                call = CLOCKS[where]
                times = in_turns(call(without, pair.sql), call(given, pair.sql), sizes.asks)
                rows.append(_row(pair.name, where, times))
    rows.append(guessed(sizes))
    meaning = (
        f"A table of {sizes.people:,} rows with and without the target's; questions in turns. ask: from text to stored "
        "answer. Two equal tables say how far files and processes differ by themselves. Last row: the target is there "
        "both times, and the filter asks for another age or for the target's."
    )
    columns = ("the target has", "timed", "N each", "ms without", "ms with", "AUC", "p")
    return Table("Time of an answer", meaning, columns, tuple(rows))


def guessed(sizes: Sizes) -> tuple[str, ...]:
    """A target with a long text: filters that stop before it against filters that come to it."""
    with opened(sizes.people, ("a" * sizes.long_text,)) as dataset:
        other, own = (f"{SLOW} AND age = {age}" for age in (51, 50))
        times = in_turns(asking(dataset, other), asking(dataset, own), sizes.asks)
    return _row("the same text, its person's age asked", "ask", times)


def _row(name: str, where: str, times: tuple[list[float], list[float]]) -> tuple[str, ...]:
    auc, p = separation(*times)
    medians = [f"{1000 * statistics.median(each):.2f}" for each in times]
    return (name, where, str(len(times[0])), *medians, f"{auc:.3f}", f"{p:.1g}")


def grown(sizes: Sizes) -> Table:
    """Time, the prepared file's size and what is told while preparing, against the number of rows."""
    rows = []
    for size in sizes.rows:
        told: list[str] = []
        with opened(size) as dataset:
            medians = [_median(call(dataset, PLAIN), sizes.repeats) for call in (asking, running)]
            prepared = dataset.table.engine.path.stat().st_size
            dataset.table.engine.clean()
            dataset.prepare(lambda step, share, told=told: told.append(f"{step} {share:g}"))
        rows.append((f"{size:,}", *(f"{1000 * each:.2f}" for each in medians), f"{prepared:,}", ", ".join(told)))
    columns = ("rows", "ask ms", "engine ms", "prepared file, bytes", "told while preparing")
    meaning = f"Medians of {sizes.repeats}. Steps and shares are the same for every table; when each comes is not."
    return Table("What grows with the number of rows", meaning, columns, tuple(rows))


def _median(call: Callable[[], object], n: int) -> float:
    times = []
    for _ in range(n):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


# --- memory and failure --------------------------------------------------------------------------------------------


def memory(sizes: Sizes) -> Table:
    """Peak memory of each kind of question with and without a unit of many long rows, and who fails in little."""
    target = tuple(f"{i:08d}" + "x" * sizes.row_text for i in range(sizes.unit_rows))
    with (
        opened(sizes.people, cap=sizes.unit_rows) as without,
        opened(sizes.people, target, cap=sizes.unit_rows) as given,
    ):
        rows = [(name, *_needed(sql, without, given, sizes)) for name, sql in HEAVY.items()]
        rows.append(("preparing", "", "", *(_prepared(dataset, sizes.memory) for dataset in (without, given))))
    columns = ("question", "MiB without", "MiB with", f"in {sizes.memory >> 20} MiB without", "with")
    meaning = (
        f"The unit has {sizes.unit_rows:,} rows, all counted, each with a text of {sizes.row_text:,} letters. Resident "
        "memory of a fresh worker; the last two columns under the smallest limit that can be set."
    )
    return Table("Memory that one unit can take", meaning, columns, tuple(rows))


def _needed(sql: str, without: Any, given: Any, sizes: Sizes) -> list[str]:
    roomy = [peak(dataset, sql, 2**31) for dataset in (without, given)]
    tight = [peak(dataset, sql, sizes.memory) for dataset in (without, given)]
    return [
        *("fails" if peak_bytes is None else f"{peak_bytes / 2**20:.0f}" for peak_bytes in roomy),
        *("fails" if peak_bytes is None else "answers" for peak_bytes in tight),
    ]


def _prepared(dataset: Any, memory: int) -> str:
    """Whether the table can be prepared anew with that limit."""
    from discreet.dataset import open_dataset
    from discreet.errors import SourceUnavailable

    dataset.table.engine.clean()
    with open_dataset(dataset.table.toml, limits=limits(memory)) as reopened:
        try:
            reopened.prepare()
        except SourceUnavailable:
            return "fails"
    return "prepares"


def peak(dataset: Any, sql: str, memory: int) -> int | None:
    """The most resident bytes of a fresh worker with that limit after the question; None if it failed."""
    from discreet.dataset import open_dataset
    from discreet.errors import EngineFailed

    with open_dataset(dataset.table.toml, limits=limits(memory)) as reopened:
        statements = compiled(reopened, sql)
        reopened.prepare()
        try:
            reopened.table.engine.run(statements)
        except EngineFailed:
            return None
        return status(worker_pid(reopened), "VmHWM") * 1024


def status(pid: int, name: str) -> int:
    """A number of the system's account of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))


def failed(_: Sizes) -> Table:
    """How much failures can tell before the dataset closes: counted, and the closing seen."""
    asks = int(3 / LEAST_EPSILON)
    rows = tuple((f"{n:,}", f"{told(n, FAILURES):.1f}") for n in (5, 10, 100, 10_000, asks))
    meaning = (
        f"log₂ Σ C(n, k) over k ≤ {FAILURES}: that a question did not fail tells something too. The last row is all "
        f"that ε = 3 pays for at {LEAST_EPSILON:g} each. Seen: {closing()}."
    )
    return Table("What failures can tell", meaning, ("questions", "bits at most"), rows)


def told(questions: int, failures: int) -> float:
    """log₂ of the number of ways in which so many questions fail at most so often.

    >>> told(5, 5)
    5.0
    """
    return math.log2(sum(math.comb(questions, k) for k in range(min(failures, questions) + 1)))


def closing() -> str:
    """A dataset whose every question fails, asked until it closes, and what another analyst sees then."""
    from discreet.errors import DiscreetError

    codes: list[str] = []
    with opened(100) as dataset:
        with mock.patch.object(type(dataset.table.engine), "run", side_effect=MemoryError):
            while len(codes) < 2 * FAILURES and "closed" not in codes:
                try:
                    dataset.sql(PLAIN).ask(epsilon=next(_PRICES), analyst="ana")
                except DiscreetError as error:
                    codes.append(error.code)
        left = dataset.table.remaining("ben")["epsilon"]
    return f"{codes.count(codes[0])} times {codes[0]}, then {codes[-1]}, and ε = {left} left for another analyst"


# --- what analysts see of each other, and what the machine shows ----------------------------------------------------


def shared(_: Sizes) -> Table:
    """What another analyst's question changes in what one can see."""
    rows = []
    for setting in (False, True):
        with opened(100, shared=setting) as dataset:
            before = dataset.table.remaining("ben")["epsilon"]
            dataset.sql(PLAIN).ask(epsilon="0.3", analyst="ana")
            after = dataset.table.remaining("ben")["epsilon"]
            repeated = dataset.sql(PLAIN).ask(epsilon="0.3", analyst="ben")
            rows.append((str(setting).lower(), before, after, str(repeated.replayed).lower()))
    columns = ("share_answers", "left for ben", "after ana's 0.3", "ben's equal question is a replay")
    return Table("Shared caps", "One budget, two analysts without caps of their own.", columns, tuple(rows))


def keys(sizes: Sizes) -> Table:
    """Which private keys come back: of those that many people have, and of those that the target has alone."""
    alone = tuple(f"alone {i}" for i in range(10))
    sql, seen, in_order = "SELECT note, COUNT(*) AS n FROM people GROUP BY note", [0, 0], True
    with opened(sizes.people, alone) as dataset:
        common = len({f"note {i % 100}" for i in range(sizes.people)})
        for _ in range(sizes.repeats):
            released = [
                row["note"] for row in dataset.sql(sql).ask(epsilon=20 + float(next(_PRICES))).to_json()["rows"]
            ]
            seen = [
                many + sum(key.startswith(kind) for key in released) for many, kind in zip(seen, _KINDS, strict=True)
            ]
            in_order = in_order and released == sorted(released)
    whole = (common * sizes.repeats, len(alone) * sizes.repeats)
    names = ("many people's", "the target's alone")
    rows = [(name, f"{n:,} of {total:,}") for name, n, total in zip(names, seen, whole, strict=True)]
    order = "always" if in_order else "not always"
    meaning = f"{sizes.repeats} questions by note at ε = 20 and δ = 1e-9 each. In the order of the keys: {order}."
    return Table("Private keys", meaning, ("keys", "released"), tuple(rows))


def beside(_: Sizes) -> Table:
    """Which files lie there and who may read them; what the system tells of the two processes."""
    with opened(1000) as dataset:
        asking(dataset, PLAIN)()
        files = [(path.name, path.stat()) for path in sorted(dataset.table.toml.parent.glob("people.*"))]
        rows = [(name, f"mode {each.st_mode & 0o777:o}", f"{each.st_size:,} bytes") for name, each in files]
        for name, process in (("asking process", os.getpid()), ("worker", worker_pid(dataset))):
            lines = Path(f"/proc/{process}/limits").read_text().splitlines()
            soft, hard = next(line.split()[4:6] for line in lines if line.startswith("Max core file size"))
            rows.append((name, f"core dumps {soft}, hard limit {hard}", f"{status(process, 'VmRSS'):,} KiB resident"))
    meaning = (
        "600 is the owner's alone. Whoever may list the folder sees sizes and times; every user of the machine sees "
        "the resident memory and processor time of both processes."
    )
    return Table("Files and processes", meaning, ("what", "open to", "shows"), tuple(rows))


def report(sizes: Sizes | None = None, contents: dict[str, bytes] | None = None) -> Report:
    """All of it."""
    chosen = sizes or Sizes()
    tables = [part(chosen) for part in (timed, grown, memory, failed, shared, keys, beside)]
    tables.append(refused(CONTENTS if contents is None else contents))
    figures = {table.title: [dict(zip(table.columns, row, strict=True)) for row in table.rows] for table in tables}
    return Report(tuple(tables), figures)
