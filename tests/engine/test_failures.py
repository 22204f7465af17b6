"""Whatever goes wrong inside, the caller sees one error, and nothing of a row anywhere."""

import logging
import os
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from pathlib import Path

import pytest

from discreet.engine import Engine, Limits
from discreet.errors import EngineFailed, engine_failed
from discreet.schema import Column, Schema, Unit

CANARY = "zq7canary"
LIMITS = Limits(memory=2**28, seconds=20, prepare_seconds=60, threads=1)
SCHEMA = Schema("people", [Column("note", "text"), Column("age", "integer", bounds=(0, 9))], Unit("who", 100))
GOOD = "SELECT CAST(0 AS BIGINT) AS cell, count(*) AS p0, CAST(sum(c0) AS BIGINT) AS p1 FROM prepared"
ENDLESS = "SELECT count(*) AS p0 FROM range(100000000) a, range(100000000) b WHERE (a.range * b.range) % 7 = 3"
SELECTS = [
    "SELECT CAST(c1 AS INTEGER) AS p0 FROM prepared",
    "SELECT CAST(error(c1) AS BIGINT) AS p0 FROM prepared",
    "SELECT 1 // 0 AS p0, CAST(c1 AS BIGINT) AS p1 FROM prepared",
    "SELECT CAST(NULL AS BIGINT) AS p0",
    "SELECT c1 AS p0 FROM prepared",
    "SELECT 1.5 AS p0",
    "SELECT CAST(1 AS INTEGER) AS p0",
    "SELECT CAST(1 AS BIGINT) AS p0, CAST(2 AS BIGINT) AS p0",
    "SELECT nothing FROM prepared",
    "SELEC 1",
    "",
    "SELECT CAST(1 AS BIGINT) AS p0; SELECT CAST(2 AS BIGINT) AS p0",
]

HARMLESS = ("PRAGMA data", "EXPLAIN", "DESC", "CHECK", "CREATE TEMP", "VACUUM")  # to the engine; the gate refuses them


def outside(folder):
    """Statements that reach for anything but the prepared table."""
    return [
        f"SELECT count(*) AS p0 FROM read_csv('{folder}/people.csv')",
        f"SELECT count(*) AS p0 FROM '{folder}/people.csv'",
        f"SELECT count(*) AS p0 FROM read_text('{folder}/people.csv')",
        f"SELECT count(*) AS p0 FROM read_blob('{folder}/people.key')",
        f"SELECT count(*) AS p0 FROM glob('{folder}/*')",
        f"SELECT count(*) AS p0 FROM parquet_schema('{folder}/people.parquet')",
        f"COPY prepared TO '{folder}/stolen.csv'",
        f"EXPORT DATABASE '{folder}/stolen'",
        f"ATTACH '{folder}/stolen.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET memory_limit = '100GB'",
        "RESET ALL",
        "PRAGMA database_list",
        "PRAGMA enable_profiling",
        "CALL enable_logging()",
        "CREATE TABLE x AS SELECT 1",
        "CREATE TEMP TABLE x AS SELECT 1",
        "INSERT INTO prepared SELECT * FROM prepared",
        "DROP TABLE prepared",
        "UPDATE discreet_secret SET word = 1",
        "EXPLAIN ANALYZE SELECT count(*) FROM prepared",
        "DESCRIBE prepared",
        "CHECKPOINT",
        "VACUUM",
        f"SELECT count(*) AS p0 FROM query('COPY prepared TO ''{folder}/stolen.csv''')",
        "SELECT count(*) AS p0 FROM engine",
        "SELECT CAST(getenv('HOME') AS BIGINT) AS p0",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    rows = [f"{CANARY}u{place % 7},{CANARY}{place},{place}" for place in range(50)]
    (folder / "people.csv").write_text("\n".join(["who,note,age", *rows, ""]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.engine.engine._SETTLED", 0)  # the stamps of a new file are believed
        yield folder


@pytest.fixture(scope="module")
def engine(folder):
    with Engine(folder, "people", SCHEMA, folder / "people.csv", LIMITS) as engine:
        engine.prepare()
        yield engine


def failure(engine, statements):
    """What the caller sees, after checking that it holds nothing else."""
    with pytest.raises(EngineFailed) as caught:
        engine.run(statements)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    seen = "".join(traceback.format_exception(error))
    assert CANARY not in seen
    assert "duckdb" not in seen.lower().replace("discreet/engine", "")
    return type(error), str(error), vars(error)


def worker(engine):
    return engine.process._pair[0][0]


SAME = (type(engine_failed()), str(engine_failed()), vars(engine_failed()))


def test_every_failing_statement_gives_the_same_error(engine, folder, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    for statement in [SELECTS[0], SELECTS[3], SELECTS[4], outside(folder)[0]]:
        assert failure(engine, [statement]) == SAME, statement
    assert engine.run([GOOD])[0]["p0"].tolist() == [50]
    assert CANARY not in "".join(capfd.readouterr()) + caplog.text


def test_nothing_but_the_prepared_table_can_be_reached(folder, engine):
    """Inside the worker's own connection each is refused; one process is enough, as a failure ends the real one."""
    script = f"""
        import sys
        from discreet.engine.connect import asking
        from discreet.engine.worker import _columns
        connection = asking({str(engine.path)!r}, memory=2**28, threads=1)
        engine = 5
        for statement in {[*SELECTS, *outside(folder)]!r}:
            try:
                _columns(connection, statement)
            except Exception:
                continue
            print("answered:", statement)
        assert _columns(connection, {GOOD!r})["p0"].tolist() == [50]
        for statement in {[s for s in outside(folder) if not s.startswith(HARMLESS)]!r}:
            try:
                connection.execute(statement).fetchall()
            except Exception:
                continue
            print("done:", statement)
        print("end")
    """
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert process.stdout.splitlines() == ["end"], process.stdout
    assert not (folder / "stolen.csv").exists()


def test_results_are_columns_in_order(engine):
    keys = "SELECT c1 AS k0, c0 > 3 AS k1, c0 AS p0 FROM prepared WHERE c0 < 2 UNION ALL SELECT NULL, NULL, 7"
    first, second = engine.run([GOOD, keys])
    assert list(first) == ["cell", "p0", "p1"]
    assert {array.dtype.name for array in first.values()} == {"int64"}
    assert list(second) == ["k0", "k1", "p0"]
    assert second["k0"].dtype == object
    assert second["k0"].tolist()[-1] is None
    assert set(second["k0"].tolist()[:-1]) == {f"{CANARY}0", f"{CANARY}1"}
    assert second["k1"].tolist()[0] is False
    assert engine.run([]) == []
    empty = engine.run(["SELECT c1 AS k0, c0 AS p0 FROM prepared WHERE false"])[0]
    assert {name: len(array) for name, array in empty.items()} == {"k0": 0, "p0": 0}


def test_a_killed_worker_is_a_failure_and_the_next_question_has_a_new_one(engine):
    engine.run([GOOD])
    old = worker(engine)
    threading.Timer(0.3, old.kill).start()
    assert failure(engine, [ENDLESS]) == SAME
    assert engine.run([GOOD])[0]["p0"].tolist() == [50]
    assert worker(engine).pid != old.pid
    worker(engine).kill()
    worker(engine).wait()
    assert engine.run([GOOD])[0]["p0"].tolist() == [50], "one that died idle is replaced unseen"


def test_too_slow_and_too_large_give_the_same_error(folder):
    with Engine(folder, "people", SCHEMA, folder / "people.csv", Limits(2**28, 0.7, 60, 1)) as slow:
        slow.prepare()
        started = time.monotonic()
        child = worker(slow)
        assert failure(slow, [ENDLESS]) == SAME
        assert time.monotonic() - started < 10
        assert child.poll() is not None
    with Engine(folder, "people", SCHEMA, folder / "people.csv", Limits(2**26, 20, 60, 1)) as narrow:
        narrow.prepare()
        wide = "SELECT CAST(count(DISTINCT range || 'x' || (range * 7)) AS BIGINT) AS p0 FROM range(20000000)"
        assert failure(narrow, [wide]) == SAME
        large = "SELECT CAST(length(repeat(c1, 900000000)) AS BIGINT) AS p0 FROM prepared"
        assert failure(narrow, [large]) == SAME


def test_a_missing_or_swapped_prepared_file_is_a_failure(folder, engine, tmp_path):
    (tmp_path / "people.csv").write_text("who,note,age\n1,x,2\n")
    (tmp_path / "people.key").write_text("cd" * 32)
    (tmp_path / "people.key").chmod(0o600)
    with Engine(tmp_path, "people", SCHEMA, tmp_path / "people.csv", LIMITS) as mine:
        path = mine.path
        mine.close()
        path.write_bytes(engine.path.read_bytes())
        assert failure(mine, [GOOD]) == SAME
        path.unlink()
        assert failure(mine, [GOOD]) == SAME


def test_threads_share_one_worker(engine):
    results = []
    threads = [threading.Thread(target=lambda: results.append(engine.run([GOOD])[0]["p0"][0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [50] * 8


def test_a_forked_child_has_a_worker_of_its_own_and_leaves_the_parents_alone(engine):
    engine.run([GOOD])
    mine = worker(engine).pid
    child = os.fork()
    if child == 0:
        try:
            fine = not engine.process._pair and engine.run([GOOD])[0]["p0"].tolist() == [50]
            fine = fine and worker(engine).pid != mine
            engine.close()
        except BaseException:
            fine = False
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert engine.run([GOOD])[0]["p0"].tolist() == [50]
    assert worker(engine).pid == mine


def test_the_worker_dies_with_its_parent_even_in_the_middle_of_a_question(folder):
    script = f"""
        import sys, threading, time
        from pathlib import Path
        from discreet.engine import Engine, Limits
        from discreet.schema import Column, Schema, Unit
        schema = Schema("people", [Column("note", "text"), Column("age", "integer", bounds=(0, 9))], Unit("who", 100))
        folder = Path({str(folder)!r})
        engine = Engine(folder, "people", schema, folder / "people.csv", Limits(2**28, 60, 60, 1))
        engine.run([{GOOD!r}])
        print(engine.process._pair[0][0].pid, flush=True)
        engine.run([{ENDLESS!r}])
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    with parent:
        pid = int(parent.stdout.readline())
        time.sleep(0.3)
        parent.kill()
    for _ in range(100):
        if not _alive(pid):
            break
        time.sleep(0.05)
    assert not _alive(pid)


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as facts:
            return facts.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_prepared_file_holds_no_undeclared_column(folder, tmp_path):
    narrow = Schema("people", [Column("age", "integer", bounds=(0, 9))], Unit("who", 100))
    with Engine(tmp_path, "people", narrow, folder / "people.csv", LIMITS) as engine:
        engine.prepare()
    assert CANARY.encode() not in engine.path.read_bytes()
    assert CANARY not in repr(engine)


def test_a_relative_folder_is_that_of_the_start_wherever_one_goes_later(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    with Engine(Path(), "people", SCHEMA, Path("people.csv")) as relative:
        before = relative.run([GOOD])[0]["p0"].tolist()
        monkeypatch.chdir(tmp_path)
        assert relative.run([GOOD])[0]["p0"].tolist() == before
        relative.close()  # the next worker starts elsewhere
        assert relative.run([GOOD])[0]["p0"].tolist() == before
