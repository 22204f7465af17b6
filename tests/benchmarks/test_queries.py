"""The questions' tables, clocks and reports: tiny tables, pretended times, no peer installed or fetched."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.asking import PEERS, QUESTIONS, Measured, Run, Sizes, Watched
from benchmarks.harness import Job

from benchmarks import asking, cpu, curator, environment, harness, people, plain, queries
from discreet import metadata

ROWS = 20_000


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "discreet-benchmarks"


def test_table_has_ten_rows_per_person_very_unevenly() -> None:
    table = people.table(ROWS).to_pydict()
    _, rows = np.unique(table["person_id"], return_counts=True)
    assert rows.sum() == ROWS
    assert 9 < rows.mean() < 11.5
    assert rows.max() > 20 * rows.mean()
    assert np.median(rows) < rows.mean() / 2
    assert people.kept(ROWS) == pytest.approx(np.minimum(rows, people.CAP).sum() / ROWS)


def test_cells_keep_to_the_public_facts() -> None:
    table = people.table(ROWS).to_pydict()
    assert set(table["region"]) == set(people.REGIONS)
    assert people.AGES[0] <= min(table["age"]) <= max(table["age"]) <= people.AGES[1]
    assert 0 < np.mean(np.array(table["income"]) > people.INCOMES[1]) < 0.01


def test_the_same_table_is_made_every_time_and_another_for_another_size() -> None:
    assert people.table(500).equals(people.table(500))
    assert people.table(500).slice(0, 10) != people.table(501).slice(0, 10)


def test_table_is_written_once_and_outside_the_project(cache: Path) -> None:
    first = people.made(500)
    assert first.parent == cache
    first.write_bytes(b"kept")
    assert people.made(500).read_bytes() == b"kept"
    assert list(cache.iterdir()) == [first]


def test_plain_questions_ask_what_they_say(cache: Path) -> None:
    table = people.table(ROWS).to_pydict()
    people.made(ROWS)
    figures = {name: law(str(ROWS))(1)[0] for name, law in plain.LAWS.items()}  # type: ignore[index]
    assert list(figures) == list(QUESTIONS)
    values = {name: list(columns.values())[-1] for name, columns in figures.items()}
    assert values["count"] == [ROWS]
    assert values["count by region"].sum() == ROWS
    assert values["sum by region"].sum() == pytest.approx(sum(table["income"]))
    assert values["median"] == [pytest.approx(np.median(table["income"]))]
    assert values["units by region"].sum() == len(set(zip(table["person_id"], table["region"], strict=True)))


def test_our_metadata_bounds_whole_persons_as_peers_do() -> None:
    schema = metadata.parse(curator.TOML.format(source="people.parquet")).schema
    assert (schema.unit.key, schema.max_rows) == ("person_id", people.CAP)  # type: ignore[union-attr]
    assert {column.name for column in schema.columns} == {"region", "age", "income"}
    region = schema.find("region")
    assert region is not None
    assert region.values == people.REGIONS


def test_everyone_is_asked_the_same_questions() -> None:
    assert tuple(curator.SQL) == QUESTIONS
    assert {f"{kind} {name}" for kind in ("engine", "ask") for name in QUESTIONS} | {"prepare"} == set(curator.LAWS)
    for peer, able in PEERS.items():
        worker = (environment.requirements(peer).parent / "worker.py").read_text()
        assert [question for question in QUESTIONS if f'"{question}":' in worker] == list(able)


def test_no_two_of_our_asks_have_the_same_price() -> None:
    prices = [next(curator._PRICES) for _ in range(100)]
    assert len(set(prices)) == 100
    assert all(1 <= price < 2 for price in prices)


@pytest.fixture
def own(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with curator.opened(people.made(500), tmp_path) as dataset:
        yield dataset


def test_compiled_question_is_what_ask_sends_to_the_engine(own: Any) -> None:
    from discreet.engine import Engine

    run = Engine.run
    counted = curator.compiled(own, curator.SQL["count"])
    assert Engine.run is run
    (columns,) = counted()
    (kept,) = columns["p0"]
    assert kept == round(500 * people.kept(500))


def test_every_question_of_ours_is_answered(own: Any) -> None:
    for text in curator.SQL.values():
        answer = own.sql(text).ask(epsilon=next(curator._PRICES))
        assert not answer.replayed
        assert len(answer.rows) == (len(people.REGIONS) if "GROUP BY" in text else 1)


_BUSY = """
import sys, time
while time.process_time() < 0.2:
    pass
print(flush=True)
sys.stdin.read()
"""


def test_work_of_a_child_counts_while_it_runs_and_after_it_ended() -> None:
    used = cpu.Family()
    before = used()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _BUSY], **pipes, text=True) as child:  # type: ignore[call-overload]
        child.stdout.readline()
        running = used() - before
        assert (child.pid in cpu.descendants(os.getpid())) == (sys.platform == "linux")
        child.communicate()
    assert used() - before >= 0.2
    assert running >= (0.2 if sys.platform == "linux" else 0)


def test_looking_at_the_clock_costs_nothing_by_that_clock() -> None:
    used = cpu.Family()
    before, start = used(), time.process_time()
    while time.process_time() - start < 0.1:
        used()
    assert used() - before < 0.05


@dataclass
class Pretending:
    """In place of a process: tells growing wall seconds and one CPU second."""

    told: list[Job] = field(default_factory=list)

    def answer(self, job: Job) -> dict[str, Any]:
        self.told.append(job)
        return {"seconds": 1.0, "wall": float(len(self.told)), "drawn": job.n}


def test_wall_seconds_of_the_warm_up_are_left_out() -> None:
    job = Job("fake", "count", "1000", 1)
    run = asking.turns([job], {"fake": Watched(Pretending())}, 3)  # type: ignore[arg-type]
    assert (run.cpu[job], run.wall[job]) == ([1.0, 1.0, 1.0], [2.0, 3.0, 4.0])
    assert run.milliseconds(job) == (1000, 3000)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    return lambda name, text: (tmp_path / f"{name}.py").write_text(text) and None


def test_a_peer_that_is_too_slow_is_ended(modules: Callable[[str, str], None]) -> None:
    modules("sleeper", "import time\ntime.sleep(60)\n")
    start = time.perf_counter()
    with harness.started(Path(sys.executable), "sleeper") as process:
        assert not Watched(process).tried(Job("sleeper", "count", "1", 1), 0.2)
    assert time.perf_counter() - start < 30


def test_a_peer_is_asked_no_more_after_a_failure(modules: Callable[[str, str], None]) -> None:
    answer = json.dumps({"seconds": 1.0, "wall": 1.0, "drawn": 1})
    modules("tired", f"input()\nprint('{answer}', flush=True)\ninput()\n")
    notes: list[str] = []
    with harness.started(Path(sys.executable), "tired") as process:
        able = list(asking._able(10, ["opendp_polars"], {"opendp_polars": Watched(process)}, 30.0, notes))
    assert [job.law for job in able] == ["count"]
    assert notes == ["Not measured: opendp_polars, count by region at 10 rows, failed or took over 30 s."]


def _run(seconds: dict[Job, float], rounds: int = 3) -> Run:
    """Wall time twice the CPU time; `seconds` are those of one asking."""
    cpu_seconds = {job: [each * job.n] * rounds for job, each in seconds.items()}
    return Run(cpu_seconds, {job: [2 * s for s in seconds] for job, seconds in cpu_seconds.items()})


def _measured() -> Measured:
    """Plain takes 0.1 s, our engine 0.05 s, preparing 9 s, an ask 0.02 s, a peer 1 s; one was not measured."""
    sizes = Sizes(engine=(10**3,), prepare=(1,), tiny=100, beside=((10**3, tuple(PEERS)),))
    slow = {asking.peer(name, question, 10**3): 1.0 for name in PEERS for question in PEERS[name]}
    del slow[asking.peer("smartnoise", "count", 10**3)]
    plains = {asking.plain(question, 10**3): 0.1 for question in QUESTIONS}
    return Measured(
        engine={10**3: _run(plains | {asking.engine(question, 10**3): 0.05 for question in QUESTIONS})},
        prepare={10**3: _run({asking.plain(asking.PREPARE_BESIDE, 10**3): 0.1, asking.prepare(10**3): 9.0})},
        asks=_run({asking.ask(question, 100): 0.02 for question in QUESTIONS}),
        beside={10**3: _run(plains | {asking.ask(question, 10**3): 0.02 for question in QUESTIONS} | slow)},
        notes=("Not measured: something",),
        sizes=sizes,
    )


def test_report_states_ratios_and_verdicts() -> None:
    figures = queries.reported(_measured()).figures
    assert [f["ratio"]["median"] for f in figures["engine"]] == pytest.approx([0.5] * len(QUESTIONS))
    assert all(f["met"] for f in figures["engine"])
    assert [(f["ratio"]["median"], f["met"]) for f in figures["prepare"]] == [(pytest.approx(90), False)]
    assert [(f["cpu_ms"], f["wall_ms"], f["met"]) for f in figures["ask"]] == [
        (pytest.approx(20), pytest.approx(40), True)
    ] * len(QUESTIONS)
    assert all(f["ratio"]["median"] == pytest.approx(50) and f["met"] for f in figures["peers"])
    json.dumps(figures)


def test_report_says_what_a_peer_cannot_answer_and_what_was_not_measured() -> None:
    report = queries.reported(_measured())
    rows = {row[0]: row for row in report.tables[3].rows}
    column = report.tables[3].columns.index("smartnoise CPU ms, ratio")
    assert rows["median"][column] == "— not available"
    assert rows["count"][column] == "— not measured"
    assert rows["sum by region"][column] == "1,000, 50 (50–50)"
    assert report.notes == ("Not measured: something",)


def test_every_row_has_a_cell_for_every_column() -> None:
    for table in queries.reported(_measured()).tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
