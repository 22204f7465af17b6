"""Bad tables, places and ledgers: the right exit code, what, why and fix; nothing is lost and no cell is shown."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bad_input.desk import ASK, CELL, INIT, ROWS, TABLE, TOML, Desk, checked, swapped, text
from discreet.ledger import ledger as ledgers

# --- the table ---------------------------------------------------------------------------------------------------

SOURCES = {  # what lies there, and the exit codes of init, check and ask
    "an empty file": (text(""), 3, 3, 3),
    "nothing": (lambda path: None, 7, 3, 7),
    "a folder": (Path.mkdir, 7, 3, 7),
    "a link to itself": (lambda path: path.symlink_to(path.name), 7, 3, 7),  # unreadable for root too
    "a device": (lambda path: path.symlink_to("/dev/zero"), 7, 3, 7),
    "two columns of one name": (text(f"person_id,region,age,age\n{ROWS}"), 3, 3, 3),
    "two columns of one name but for case": (text(f"person_id,region,age,Age\n{ROWS}"), 3, 3, 3),
    "a table without the unit's key": (text(f"who,region,age\n{ROWS}"), 3, 3, 3),
    "a table without a declared column": (text(f"person_id,region,years\n{ROWS}"), 3, 3, 3),
    "a header that is not UTF-8": (text(f"person_id,region,age,größe\n{ROWS}".encode("latin-1")), 3, 3, 7),
    "a cell that is not UTF-8": (text(f"{TABLE}zq21x0,größe,3\n".encode("latin-1")), 0, 0, 7),
    "a row where the header should be": (text(f"1,2.5,2020-01-01\n{ROWS}"), 3, 3, 3),
}
CODES = {3: "metadata", 7: "source-unavailable"}


@pytest.mark.parametrize("name", SOURCES)
def test_table_that_cannot_be_used_is_refused_by_every_verb(desk: Desk, name: str) -> None:
    put, of_init, of_check, of_ask = SOURCES[name]
    with swapped(desk.folder / "people.csv", put):
        for arguments, status in ((INIT, of_init), (("check", "people.toml"), of_check), (ASK, of_ask)):
            if status:
                desk.refused(*arguments, exit_code=status, code=CODES[status])
                assert not (desk.folder / "new.toml").exists()
            else:
                desk.answered(*arguments)
                (desk.folder / "new.toml").unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["broken.parquet", "broken.duckdb", "broken.xlsx"])
def test_broken_file_of_another_format_is_refused(desk: Desk, name: str) -> None:
    table = desk.folder / name
    table.write_bytes(b"PAR1" + ROWS.encode() + b"PAR1")
    if name.endswith("xlsx"):
        table.write_bytes(ROWS.encode())
    with swapped(desk.folder / "people.toml", text(TOML.replace("people.csv", name))):
        desk.refused("prepare", "people.toml", exit_code=7, code="source-unavailable")
        desk.refused(*ASK, exit_code=7, code="source-unavailable")
    table.unlink()


WHOLE = {  # odd tables that are answered: their text, and the counts of rows and of readable ages
    "only a header": ("person_id,region,age\n", 0, 0),
    "words where numbers should be": (TABLE, 20, 0),
    "rows too long and too short": ("person_id,region,age\nzq1x0\nzq2x0,zq2x1,7,zq2x3\n", 2, 1),
    "10000 columns": (
        ",".join(["person_id", "region", "age", *(f"c{i}" for i in range(9_997))])
        + "\n"
        + "".join(f"zq{row}x0,zq{row}x1,7" + ",zq0x3" * 9_997 + "\n" for row in range(20)),
        20,
        20,
    ),
    "a mark, semicolons and line ends in cells": (
        "\ufeffperson_id;region;age\r\n" + "".join(f'zq{row}x0;"zq{row}x1\r\n;""";7\r\n' for row in range(20)),
        20,
        20,
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_odd_table_is_answered_without_a_word_about_its_cells(fresh: Desk, name: str) -> None:
    content, rows, ages = WHOLE[name]
    Path("zählung 2020-b.csv").write_bytes(content.encode())
    flags = ["--unit", "person_id", "--max-rows", "2", "--column", "age:integer:0:110", "--epsilon", "1000"]
    fresh.answered("init", "zählung 2020-b.csv", *flags)
    fresh.answered("check", "zählung 2020-b.toml")
    sql = "SELECT COUNT(*) AS n, COUNT(age) AS ages FROM zählung_2020_b"
    (row,) = fresh.answered("ask", "zählung 2020-b.toml", sql, "--eps", "1000")["rows"]
    assert (row["n"], row["ages"]) == (rows, ages)  # at this price noise above ½ has a chance below 1e-50


def test_file_that_may_not_be_read_is_refused(fresh: Desk) -> None:
    Path("people.csv").write_text(TABLE)
    Path("people.toml").write_text(TOML)
    Path("people.csv").chmod(0)
    if os.access("people.csv", os.R_OK):  # root may read everything, and then it is answered
        fresh.answered("prepare", "people.toml")
    else:
        fresh.refused("prepare", "people.toml", exit_code=7, code="source-unavailable")
        fresh.refused(*INIT, exit_code=7, code="source-unavailable")
    Path("people.csv").chmod(0o600)
    Path("people.toml").chmod(0)
    if not os.access("people.toml", os.R_OK):
        fresh.refused("check", "people.toml", exit_code=3, code="metadata")
        fresh.refused(*ASK, exit_code=3, code="metadata")
    assert Path("people.csv").read_text() == TABLE


# --- places to write ---------------------------------------------------------------------------------------------


def test_folder_that_may_not_be_written_is_refused(fresh: Desk) -> None:
    Path("people.csv").write_text(TABLE)
    Path("people.toml").write_text(TOML)
    fresh.folder.chmod(0o555)
    try:
        if os.access(fresh.folder, os.W_OK):
            fresh.answered(*ASK)
        else:
            fresh.refused(*ASK, exit_code=7, code="cannot-write")
            fresh.refused(*INIT, exit_code=7, code="cannot-write")
    finally:
        fresh.folder.chmod(0o755)
    assert Path("people.csv").read_text() == TABLE


def test_disk_without_room_is_refused_before_anything_is_charged(fresh: Desk) -> None:
    Path("people.csv").write_text(TABLE)
    Path("people.toml").write_text(TOML)
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); from discreet.cli.main import run; run()"
    )
    for arguments in (ASK, INIT):
        command = [sys.executable, "-c", script, *arguments, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 7, done
        assert not CELL.search(done.stdout + done.stderr)
        checked(done.stdout, 7, "cannot-write")
    assert not Path("new.toml").exists()
    assert fresh.answered("budget", "people.toml")["remaining"]["epsilon"] == "3"
    assert fresh.answered(*ASK)["remaining"]["epsilon"] == "2.9"


def test_answer_that_could_not_be_written_is_not_asked_for(desk: Desk) -> None:
    desk.refused(*ASK, "-o", "nowhere/answer.csv", exit_code=2, code="bad-value")
    desk.refused(*ASK, "-o", "people.csv", exit_code=2, code="bad-value")
    desk.refused(*ASK, "--plot", "people.txt", exit_code=2, code="bad-value")


def test_folder_in_the_place_of_the_prepared_copy_is_refused_before_a_charge(desk: Desk) -> None:
    (prepared,) = desk.folder.glob("people.*.prepared")
    with swapped(prepared, Path.mkdir):
        desk.refused(*ASK, exit_code=7, code="cannot-write")


def test_key_that_was_cut_is_refused(desk: Desk) -> None:
    with swapped(desk.folder / "people.key", lambda path: path.write_text("zq") and path.chmod(0o600)):
        desk.refused(*ASK, exit_code=6, code="integrity")


# --- the ledger --------------------------------------------------------------------------------------------------

HOLD = """\
import sqlite3, sys
held = sqlite3.connect("people.ledger", isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_locked_ledger_answers_nothing_and_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ledgers._store
    monkeypatch.setattr(ledgers, "_store", lambda path, head, _wait: store(path, head, 0.2))
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD], text=True, **streams) as other:
        assert other.stdout.readline() == "held\n"
        desk.refused(*ASK, exit_code=7, code="ledger-unavailable")
        assert desk.answered("budget", "people.toml")["remaining"]["epsilon"] == "2.5"  # reading goes on
        other.stdin.close()


@pytest.mark.parametrize(
    "put",
    [text(b"garbage" * 1000), text(b"SQLite format 3\0" + b"x" * 4080), text(b""), lambda path: None, Path.mkdir],
    ids=["garbage", "garbage that begins well", "an empty file", "nothing", "a folder"],
)
def test_anything_else_in_the_place_of_the_ledger_is_refused(desk: Desk, put: Callable[[Path], object]) -> None:
    with swapped(desk.folder / "people.ledger", put):
        for arguments in (ASK, ("budget", "people.toml"), ("ledger", "people.toml", "--verify")):
            desk.refused(*arguments, exit_code=6, code="integrity")
