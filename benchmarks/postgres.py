"""Questions on a table in a PostgreSQL server beside the plain query on the same server, and what preparing adds.

The plain query bounds nobody; ours is asked of the prepared schema, through the engine, and its integers come back.
Both take turns in one run, by the clock on the wall: the work is the server's.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.engine.postgres.server import running

from benchmarks.report import Aim, Report, Table
from discreet.engine import Limits, PostgresEngine
from discreet.metadata.address import parse
from discreet.query.bound import draft_of
from discreet.query.compile.exacts import exacts_of
from discreet.query.compile.postgres import POSTGRES
from discreet.query.compile.statements import statements
from discreet.query.sql import parse_sql as question
from discreet.schema import Column, Schema, Unit

ROWS, PEOPLE, CAP, ROUNDS = 10**6, 2 * 10**5, 8, 5
AIM = Aim(at_most=3.0)
SCHEMA = Schema(
    "people",
    [
        Column("region", "category", values=tuple(f"r{i}" for i in range(10))),
        Column("age", "integer", bounds=(0, 110)),
        Column("income", "number", bounds=(0, 100_000), step=1),
    ],
    Unit("who", CAP),
)
FILL = (
    "CREATE TABLE people AS SELECT (hashint8(i) & 2147483647)::bigint % {people} AS who, "
    "'r' || (hashint8(i * 3 + 1) & 2147483647) % 10 AS region, (hashint8(i * 5 + 2) & 2147483647) % 111 AS age, "
    "((hashint8(i * 7 + 3) & 2147483647) % 10000000 / 100.0)::float8 AS income FROM generate_series(1, {rows}) AS s (i)"
)
QUESTIONS = {  # ours, and plain
    "count": ("SELECT COUNT(*) AS n FROM people", "SELECT count(*) FROM people"),
    "count by region": (
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
        "SELECT region, count(*) FROM people GROUP BY region",
    ),
    "sum by region": (
        "SELECT region, SUM(income) AS s FROM people GROUP BY region",
        "SELECT region, sum(income) FROM people GROUP BY region",
    ),
    "sum of a product": ("SELECT SUM(age * income) AS s FROM people", "SELECT sum(age * income) FROM people"),
    "filtered": (
        "SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 20 AND 40 AND region = 'r3'",
        "SELECT count(*) FROM people WHERE age BETWEEN 20 AND 40 AND region = 'r3'",
    ),
    "median by region": (
        "SELECT region, MEDIAN(age) AS m FROM people GROUP BY region",
        "SELECT region, percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM people GROUP BY region",
    ),
    "units by region": (
        "SELECT region, COUNT(DISTINCT who) AS n FROM people GROUP BY region",
        "SELECT region, count(DISTINCT who) FROM people GROUP BY region",
    ),
}


def report(rows: int = ROWS, rounds: int = ROUNDS) -> Report:
    """Milliseconds of each question, ours and plain, their ratio, and the seconds of preparing."""
    with running(logged=False) as server, tempfile.TemporaryDirectory() as folder, server.connect() as connection:
        connection.execute(FILL.format(people=PEOPLE, rows=rows))
        connection.execute("ANALYZE people")
        connection.execute("SET jit = off")
        limits = Limits(memory=2**30, seconds=600)
        with PostgresEngine(Path(folder), "people", SCHEMA, parse(server.url("people")), limits) as engine:
            preparing = _seconds(engine.prepare)
            digest = _seconds(engine.prepare)
            figures = {name: _measured(engine, connection, *both, rounds) for name, both in QUESTIONS.items()}
    lines = tuple(
        (
            name,
            f"{ours * 1000:.0f}",
            f"{plain * 1000:.0f}",
            f"{ours / plain:.2f}",
            "yes" if AIM.met(ours / plain) else "no",
        )
        for name, (ours, plain) in figures.items()
    )
    columns = ("question", "discreet ms", "plain ms", "ratio", f"≤ {AIM.at_most:g}")
    title = f"PostgreSQL, {rows:,} rows of {PEOPLE:,} people, at most {CAP} each"
    table = Table(title, f"Medians of {rounds} rounds by the clock.", columns, lines)
    notes = (f"Preparing took {preparing:.1f} s, and seeing that nothing changed in its content {digest:.1f} s.",)
    ratios = {name: ours / plain for name, (ours, plain) in figures.items()}
    return Report((table,), {"ratios": ratios, "prepare_seconds": preparing, "digest_seconds": digest}, notes)


def _measured(engine: PostgresEngine, connection: Any, ours: str, plain: str, rounds: int) -> tuple[float, float]:
    draft = draft_of(question(ours).question, SCHEMA)
    parts = [need.part for need in draft.needs]
    compiled = statements(SCHEMA, draft.cells, draft.question.where, draft.caps, parts, POSTGRES)
    snapshot = engine.snapshot

    def asked() -> None:
        exacts_of(compiled, engine.run([statement.sql for statement in compiled], snapshot), draft.cells)

    def plainly() -> None:
        connection.execute(plain).fetchall()

    asked(), plainly()
    taken = [(_seconds(asked), _seconds(plainly)) for _ in range(rounds)]
    return statistics.median(first for first, _ in taken), statistics.median(other for _, other in taken)


def _seconds(do: Callable[[], Any]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started
