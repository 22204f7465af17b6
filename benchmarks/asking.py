"""Questions on tables of people: engine time beside plain DuckDB, what preparing and asking add, and peers.

All bound whole persons, each with at most `CAP` rows; plain DuckDB bounds nothing.  Everything that is compared takes
turns in one run.
"""

import statistics
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import people
from benchmarks.environment import PeerUnavailable, python_of
from benchmarks.harness import Job, Process, Timings, interleaved, started

OURS, PLAIN = "discreet", "duckdb"
QUESTIONS = ("count", "count by region", "sum by region", "median", "median by region", "units by region")
PREPARE, PREPARE_BESIDE = "prepare", "sum by region"
PEERS = {  # what each can answer with whole persons bounded
    "opendp_polars": QUESTIONS,
    "smartnoise": tuple(question for question in QUESTIONS if not question.startswith("median")),
}
_TIMES = {"count": 20}  # a question of about a millisecond is timed over this many


@dataclass(frozen=True)
class Sizes:
    """Rows of the tables, and how often each thing is run."""

    engine: tuple[int, ...] = (10**6, 10**7)
    prepare: tuple[int, ...] = (3, 1)  # times, for each of them
    tiny: int = 1000
    asks: int = 31
    beside: tuple[tuple[int, tuple[str, ...]], ...] = (
        (10**5, ("smartnoise",)),
        (10**6, ("opendp_polars", "smartnoise")),
    )
    rounds: int = 5
    peer_rounds: int = 3
    limit: float = 120.0  # wall seconds that a peer may take for one question


@dataclass(frozen=True)
class Run:
    """CPU and wall seconds of jobs that took turns."""

    cpu: Timings
    wall: Timings

    def milliseconds(self, job: Job) -> tuple[float, float]:
        """CPU and wall time of one asking, medians of the rounds."""
        cpu, wall = (1000 * statistics.median(each[job]) / job.n for each in (self.cpu, self.wall))
        return cpu, wall


@dataclass(frozen=True)
class Measured:
    """All runs, by the rows of their table, and what could not be measured."""

    engine: dict[int, Run]
    prepare: dict[int, Run]
    asks: Run
    beside: dict[int, Run]
    notes: tuple[str, ...]
    sizes: Sizes


@dataclass(frozen=True)
class Watched:
    """A worker whose wall seconds are kept too."""

    process: Process
    walls: dict[Job, list[float]] = field(default_factory=dict)

    def seconds(self, job: Job) -> float:
        """CPU seconds, the wall seconds set aside."""
        told = self.process.answer(job)
        self.walls.setdefault(job, []).append(float(told["wall"]))
        return float(told["seconds"])

    def tried(self, job: Job, limit: float) -> bool:
        """Whether it does the job in so many wall seconds; a worker that does not is ended."""
        late = threading.Timer(limit, self.process.running.kill)
        late.start()
        try:
            self.process.answer(job)
        except RuntimeError:
            return False
        finally:
            late.cancel()
        return True


def plain(question: str, rows: int) -> Job:
    """The unprotected question on the source."""
    return Job(PLAIN, question, str(rows), _TIMES.get(question, 1))


def engine(question: str, rows: int) -> Job:
    """What our question compiles to, on the prepared table."""
    return Job(OURS, f"engine {question}", str(rows), _TIMES.get(question, 1))


def ask(question: str, rows: int) -> Job:
    """Our question from text to stored answer."""
    return Job(OURS, f"ask {question}", str(rows), 1)


def prepare(rows: int) -> Job:
    """Our reading, typing, capping and writing of the source."""
    return Job(OURS, PREPARE, str(rows), 1)


def peer(name: str, question: str, rows: int) -> Job:
    """A peer's answer."""
    return Job(name, question, str(rows), 1)


def turns(jobs: Sequence[Job], workers: dict[str, Watched], rounds: int) -> Run:
    """The jobs by turns; every wall time but those of the rounds is left out."""
    cpu = interleaved(jobs, workers, rounds)
    return Run(cpu, {job: workers[job.worker].walls[job][-rounds:] for job in jobs})


def measured(sizes: Sizes) -> Measured:
    """All of it; a peer that cannot be set up, fails or is too slow is left out and named."""
    for rows in {*sizes.engine, sizes.tiny, *(rows for rows, _ in sizes.beside)}:
        people.made(rows)
    engines, prepared = {}, {}
    with ExitStack() as open_workers:
        own = {name: _started(name, open_workers) for name in (PLAIN, OURS)}
        for rows, times in zip(sizes.engine, sizes.prepare, strict=True):
            print(f"  {rows:,} rows …", file=sys.stderr)
            prepared[rows] = _prepared(rows, own, times)
            jobs = [make(question, rows) for question in QUESTIONS for make in (plain, engine)]
            engines[rows] = turns(jobs, own, sizes.rounds)
        asks = turns([ask(question, sizes.tiny) for question in QUESTIONS], own, sizes.asks)
    notes: list[str] = []
    beside = {rows: _beside(rows, names, sizes, notes) for rows, names in sizes.beside}
    return Measured(engines, prepared, asks, beside, tuple(notes), sizes)


def _prepared(rows: int, workers: dict[str, Watched], times: int) -> Run:
    """Preparing by turns with the plain question; not warmed up, as it happens once."""
    jobs = (plain(PREPARE_BESIDE, rows), prepare(rows))
    cpu: dict[Job, list[float]] = {job: [] for job in jobs}
    workers[PLAIN].seconds(jobs[0])
    for _ in range(times):
        for job in jobs:
            cpu[job].append(workers[job.worker].seconds(job))
    return Run(cpu, {job: workers[job.worker].walls[job][-times:] for job in jobs})


def _beside(rows: int, names: Sequence[str], sizes: Sizes, notes: list[str]) -> Run:
    """Our whole `ask`, plain DuckDB and the peers by turns."""
    with ExitStack() as open_workers:
        workers = {name: _started(name, open_workers) for name in (PLAIN, OURS)}
        for name in names:
            try:
                workers[name] = _started(name, open_workers)
            except PeerUnavailable as problem:
                notes.append(f"Not measured: {problem}")
        able = list(_able(rows, [name for name in names if name in workers], workers, sizes.limit, notes))
        own = [make(question, rows) for question in QUESTIONS for make in (plain, ask)]
        return turns([*own, *able], workers, sizes.peer_rounds)


def _able(
    rows: int, names: Sequence[str], workers: dict[str, Watched], limit: float, notes: list[str]
) -> Iterator[Job]:
    """The peers' jobs that end well and in time; after one that does not, a peer is asked no more."""
    for name in names:
        for question in PEERS[name]:
            print(f"  {name}: {question} at {rows:,} rows …", file=sys.stderr)
            job = peer(name, question, rows)
            if not workers[name].tried(job, limit):
                notes.append(f"Not measured: {name}, {question} at {rows:,} rows, failed or took over {limit:g} s.")
                break
            yield job


def _started(worker: str, open_workers: ExitStack) -> Watched:
    own = {OURS: "benchmarks.curator", PLAIN: "benchmarks.plain"}
    python = Path(sys.executable) if worker in own else python_of(worker)
    module = own.get(worker, f"benchmarks.peers.{worker}.worker")
    return Watched(open_workers.enter_context(started(python, module)))
