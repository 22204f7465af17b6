"""Full disks, rights, clocks, stops, Ctrl-C, limits and tables that change: refused or answered, never uncharged."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

import discreet as dp
from discreet import durable
from discreet.cli import main
from discreet.engine import engine, prepare, secret
from discreet.errors import Closed, EngineFailed, SourceUnavailable, engine_failed
from discreet.ledger import question
from discreet.ledger.ledger import Ledger
from faults import common
from faults.common import EACH, ask, driven, filled, laid, opened, told, wrongs
from faults.edges import at

DRIVER = "faults.trouble_driver"
SURE = 10**4  # ε at which noise is 0 but for a chance below 2·e^−10⁴


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "people"


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


def test_ctrl_c_at_every_edge_ends_with_130_and_keeps_the_charge_or_never_makes_it(tmp_path):
    outcome = driven(DRIVER, "interrupts", tmp_path / "l", folder=tmp_path)
    assert outcome["wrong"] == []
    assert len(outcome["outcomes"]) == 24
    assert all(outcome_of_edge == [130, "interrupted", 130, ""] for outcome_of_edge in outcome["outcomes"].values()), (
        outcome["outcomes"]
    )


def test_ctrl_c_on_a_terminal_reaches_the_worker_too_and_leaves_nothing(folder):
    toml = laid(folder, epsilon=1, rows=200_000)
    start = [sys.executable, "-c", "from discreet.cli.main import run; run()", "ask", str(toml), common.text(1)]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    with subprocess.Popen([*start, "--eps", "1", "--json"], **quiet) as child:
        until = time.monotonic() + 60
        while not (folder / ".people.preparing").exists() and time.monotonic() < until:
            time.sleep(0.005)
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, b"")
    assert json.loads(out)["code"] == "interrupted"
    assert common.orphans(os.environ["XDG_STATE_HOME"], {os.getpid()}) == []
    assert {path.name for path in folder.iterdir()} == {"people.csv", "people.toml", "people.key"}


# --- disks and rights ------------------------------------------------------------------------------------------------


def test_a_full_disk_refuses_and_the_same_process_goes_on_when_there_is_space(tmp_path):
    outcome = driven(DRIVER, "full", tmp_path / "l", folder=tmp_path)
    assert outcome["wrong"] == []
    assert outcome["small table"] == []
    assert outcome["small files"]["wrong"] == []
    refused = outcome["small files"]["told"]
    assert set(refused) <= {"answered", "ledger-unavailable 7", "closed 7"}
    assert refused["ledger-unavailable 7"] >= 20


def test_folders_that_may_only_be_read_refuse_until_they_may_be_written(tmp_path):
    outcome = driven(DRIVER, "unwritable", tmp_path / "l", folder=tmp_path)
    assert outcome.pop("wrong") == []
    assert outcome.pop("first answer") == "answered"
    assert outcome.pop("new table") == "cannot-write"
    known = {outcome.pop(f"{name}, known question") for name in ("table", "head")}
    assert known <= {"answered", "ledger-unavailable"}  # a stored answer needs nothing written
    assert set(outcome.values()) == {"ledger-unavailable"}
    assert len(outcome) == 3


# --- clocks and stops ------------------------------------------------------------------------------------------------


def test_a_clock_set_back_between_and_during_questions_changes_nothing(folder, monkeypatch):
    laid(folder, epsilon=1)
    with opened(folder) as dataset:
        first, snapshot = ask(folder, dataset, 0), dataset.prepare()
        days = iter(range(1, 10**6))  # every look at the clock is a day earlier than the last

        class Clock(datetime):
            @classmethod
            def now(cls, tz=None):
                return datetime(2020, 1, 1, tzinfo=UTC) - timedelta(days=next(days))

        real = time.time_ns()
        monkeypatch.setattr(question, "datetime", Clock)
        monkeypatch.setattr(time, "time_ns", lambda: real - next(days) * 86_400 * 10**9)
        monkeypatch.setattr(time, "time", lambda: real / 1e9 - next(days) * 86_400)
        ask(folder, dataset, 1)
        assert told(ask(folder, dataset, 0)) == told(first)
    with opened(folder) as dataset:
        assert told(ask(folder, dataset, 0)) == told(first)
        ask(folder, dataset, 2)
        assert dataset.prepare() == snapshot
        assert dataset.budget.spent.epsilon == 3 * EACH
        times = [entry["time"] for entry in dataset.table.ledger.entries()]
    assert times[-1] < times[0]
    wrong, charges = wrongs(folder)
    assert (wrong, len(charges)) == ([], 3)


def test_whoever_stands_still_holds_nobody_up_beyond_a_bound(tmp_path):
    outcome = driven(DRIVER, "stops", tmp_path / "l", folder=tmp_path)
    assert outcome["wrong"] == []
    assert len(outcome["outcomes"]) == 15
    assert outcome["slowest"] < 5
    for name, (same, other, later) in outcome["outcomes"].items():
        assert same in ("answered", "ledger-unavailable", "source-unavailable"), name
        assert other in ("answered", "ledger-unavailable", "source-unavailable"), name
        assert later == "answered", name
    assert outcome["outcomes"]["statement sent"] == ["ledger-unavailable", "answered", "answered"]


def test_a_worker_that_stands_still_is_a_failure_in_time(tmp_path):
    outcome = driven(DRIVER, "stopped_worker", tmp_path / "l", folder=tmp_path)
    assert outcome["wrong"] == []
    assert outcome["failures"] == 1
    assert outcome["seconds"] < 5


# --- limits ----------------------------------------------------------------------------------------------------------

SMALL = dp.Limits(memory=2**26, seconds=60, threads=1)
SHORT = dp.Limits(memory=2**30, seconds=0.01, threads=1)


def distinct(number):
    return f"SELECT COUNT(DISTINCT note) AS n FROM people WHERE code <> {number + 2}"


@pytest.fixture
def wide(folder):
    """60,000 notes of 800 letters: telling them apart takes more than 64 MiB, and more than 10 ms."""
    toml = laid(folder, epsilon=100, rows=0)
    notes = "".join(f"{n},{f'{n:08}' * 100},1\n" for n in range(60_000))
    (folder / "people.csv").write_text("person,note,code\n" + notes)
    common.settled(folder / "people.csv")
    with opened(folder, dp.Limits(memory=2**30, threads=1)) as dataset:
        dataset.prepare()
    return toml


def test_too_much_memory_or_time_is_the_fixed_reply_and_five_close_the_dataset(folder, wide, capfd):
    said = set()
    for limits, numbers in ((SMALL, (0, 1, 2)), (SHORT, (3, 4))):
        with opened(folder, limits) as dataset:
            for number in numbers:
                with pytest.raises(EngineFailed) as failed:
                    dataset.sql(distinct(number)).ask(epsilon=1)
                assert failed.value.__cause__ is None
                assert failed.value.__context__ is None
                said.add((str(failed.value), failed.value.exit, *map(str, vars(failed.value).items())))
                assert (dataset.budget.failures, dataset.budget.spent.epsilon) == (number + 1, number + 1)
    assert said == {(str(engine_failed()), 7, *map(str, vars(engine_failed()).items()))}
    with opened(folder) as dataset, pytest.raises(Closed) as refused:
        dataset.sql("SELECT COUNT(*) AS n FROM people").ask(epsilon=1)
    assert (refused.value.code, refused.value.exit) == ("closed", 7)
    assert main.status(["budget", "reopen", str(wide), "--why", "it has more memory now", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["closed"] is False
    with opened(folder, dp.Limits(memory=2**30, threads=1)) as dataset:
        assert not dataset.sql(distinct(0)).ask(epsilon=1).replayed  # the second attempt, under the first's charge
        assert dataset.sql(distinct(0)).ask(epsilon=1).replayed
        assert dataset.budget.spent.epsilon == 5
    assert wrongs(folder)[0] == []


# --- tables that change ----------------------------------------------------------------------------------------------


class Changing:
    """A dataset of 100 rows, whose table may change: how many rows each snapshot has is known by its content."""

    def __init__(self, folder):
        self.folder, self.csv, self.number = folder, folder / "people.csv", 0
        laid(folder, epsilon=100 * SURE, rows=100)
        self.dataset, self.other = opened(folder), opened(folder)
        self.dataset.prepare()
        lines = self.csv.read_bytes().splitlines(keepends=True)
        filled(self.csv, 1000)
        self.whole = self.csv.read_bytes()
        assert self.whole.startswith(b"".join(lines))
        ends = [place + 1 for place, byte in enumerate(self.whole) if byte == ord("\n")]
        self.sizes = {self.snapshot(self.whole[:end]): rows for rows, end in enumerate(ends)}
        self.long, self.ends = 300, ends

    def snapshot(self, content):
        engine = self.dataset.table.engine
        digest = hashlib.sha256(hashlib.sha256(content).digest()).digest()
        key = secret.load_or_create_secret(self.folder / "people.key")
        return key.snapshot(digest, engine.layout, prepare.FORMAT)

    def back(self):
        filled(self.csv, 100)

    def rewrite(self):
        filled(self.csv, self.long)

    def rename(self):
        filled(self.csv.with_suffix(".new"), self.long)
        self.csv.with_suffix(".new").replace(self.csv)

    def cut(self):
        with self.csv.open("r+b") as handle:
            handle.truncate(self.ends[40])

    def grow(self):
        size = self.csv.stat().st_size
        with self.csv.open("ab") as handle:
            handle.write(self.whole[size : self.ends[self.ends.index(size) + 1]])

    def delete(self):
        self.csv.unlink()

    def anew(self):
        self.rewrite()
        self.other.prepare()

    def asked(self):
        """The number of rows answered and that of the snapshot charged; None where there is no answer."""
        self.number += 1
        try:
            answer = self.dataset.sql(common.text(self.number)).ask(epsilon=SURE)
        except (EngineFailed, SourceUnavailable):
            return None
        (charge,) = [e for e in self.dataset.table.ledger.entries() if f"-{e['hash'][:12]}" in f"{answer.receipt}"]
        return answer.rows[0]["n"], self.sizes[charge["snapshot"]]


@pytest.fixture
def changing(folder):
    dataset = Changing(folder)
    yield dataset
    dataset.dataset.close()
    dataset.other.close()


WAYS = ("rewrite", "rename", "cut", "grow", "delete")
AFTER_PREPARING = {  # the charge is for the old table, which must be the one that is answered
    "before the charge": lambda act: at(Ledger, "charge", act),
    "before the run": lambda act: at(Ledger, "charge", act, after=True),
    "after the run": lambda act: at(engine.Engine, "run", act, after=True),
}
WHILE_PREPARING = {
    "digested": lambda act: at(engine.Engine, "_make", act),
    "looked at": lambda act: at(prepare, "steps", act),
    "read": lambda act: at(engine.Engine, "_make", act, after=True),
    "in place": lambda act: at(durable, "put_in_place", act, after=True),
}


def test_a_table_changed_after_preparing_is_answered_as_it_was_charged(changing):
    for way in WAYS:
        for moment, arm in AFTER_PREPARING.items():
            changing.back()
            assert changing.asked() == (100, 100)
            arm(getattr(changing, way))()
            assert changing.asked() == (100, 100), (way, moment)


def test_a_table_changed_while_preparing_is_answered_in_one_state_or_not_at_all(changing):
    cases = [(way, moment) for way in WAYS for moment in WHILE_PREPARING]
    for number, (way, moment) in enumerate(cases):
        rows = 200 + 2 * number  # a table that was never prepared
        filled(changing.csv, rows)
        WHILE_PREPARING[moment](getattr(changing, way))()
        answer = changing.asked()
        after = {"rewrite": 300, "rename": 300, "cut": 40, "grow": rows + 1, "delete": None}[way]
        if after is None:
            assert answer is None, moment
        else:
            assert answer == (after, after), (way, moment)  # prepared again: the table as it is now


def test_a_table_that_changed_and_changed_back_while_read_is_not_answered_from_in_between(changing):
    filled(changing.csv, 200)
    at(engine.Engine, "_make", changing.rewrite)()
    at(engine.Engine, "_make", lambda: filled(changing.csv, 200), after=True)()
    assert changing.asked() == (200, 200)
    assert not changing.dataset.sql(common.text(changing.number)).ask(epsilon=2 * SURE).replayed


def test_another_table_in_place_of_the_charged_one_is_never_answered(changing):
    changing.back()
    assert changing.asked() == (100, 100)
    at(Ledger, "charge", changing.anew, after=True)()
    answer = changing.asked()  # the worker still has the old file open, or it fails
    assert answer in ((100, 100), None)
    for _ in range(3):
        changing.back()
        assert changing.asked() == (100, 100)

        def gone():
            changing.anew()
            changing.dataset.table.engine.close()

        at(Ledger, "charge", gone, after=True)()
        assert changing.asked() in ((100, 100), None)  # the charged state, if it still lies there


def test_a_table_that_grows_all_the_while_is_answered_in_one_state_or_not_at_all(changing):
    changing.back()
    stop = threading.Event()

    def write():
        with changing.csv.open("ab", buffering=0) as handle:
            for start, end in zip(changing.ends[100:], changing.ends[101:], strict=False):
                handle.write(changing.whole[start:end])
                if stop.wait(0.004):
                    return

    writer = threading.Thread(target=write)
    writer.start()
    answers = [changing.asked() for _ in range(8)]
    stop.set()
    writer.join()
    assert all(answer is None or answer[0] == answer[1] for answer in answers), answers
    rows = changing.csv.read_bytes().count(b"\n") - 1
    assert changing.asked() == (rows, rows)
    with contextlib.closing(changing.dataset):
        assert changing.dataset.budget.spent.epsilon % Fraction(SURE) == 0
