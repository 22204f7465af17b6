"""A source is known by what it is: under another name, in another folder, behind a link, it has the same ledger."""

import contextlib
import json
import os
import shlex
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import discreet as dp
from discreet.cli import main
from discreet.errors import BadValue, IntegrityError, SecondLedger
from discreet.ledger import identity, registry, second
from discreet.ledger.ledger import Ledger

TOML = """\
[dataset]
name = "{name}"
source = "{source}"
[unit]
key = "person"
max_rows = 2
[columns.age]
type = "integer"
bounds = [0, 110]
[budget]
epsilon = 1
"""
ROWS = "person,age\n" + "".join(f"{n // 2},{n % 90}\n" for n in range(60))
TREE = '[hierarchy.geo]\nlevels = ["all", "ward"]\nbranches = [["x", "a"]]\n'
WHY = "two studies, agreed with the board"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """people.csv with its metadata, of which one question is paid for."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "people.csv").write_text(ROWS)
    asked(metadata(tmp_path / "people.toml", "people.csv"))
    return tmp_path


def metadata(toml: Path, source: object, name: str = "people") -> Path:
    toml.write_text(TOML.format(name=name, source=source))
    return toml


def asked(toml, epsilon="0.1", **more):
    with dp.open(toml, **more) as people:
        people.agg(n=dp.count()).ask(epsilon=epsilon)
        return people.table.ledger.entries()


def seconds(entries):
    return [(entry["ledger"], entry["dataset"], entry["why"]) for entry in entries if entry["kind"] == "second"]


def entries_of(toml):
    with Ledger.open(toml.with_suffix(".ledger")) as ledger:
        return ledger.entries()


def linked(desk):
    (desk / "other.csv").symlink_to(desk / "people.csv")
    return metadata(desk / "other.toml", "other.csv")


def copied(desk):
    shutil.copy(desk / "people.csv", desk / "other.csv")
    return metadata(desk / "other.toml", "other.csv")


def hard_linked(desk):
    (desk / "other.csv").hardlink_to(desk / "people.csv")
    return metadata(desk / "other.toml", "other.csv")


def renamed_metadata(desk):
    return shutil.copy(desk / "people.toml", desk / "other.toml")


def moved_metadata(desk):
    (desk / "people.toml").rename(desk / "other.toml")
    return desk / "other.toml"


def metadata_elsewhere(desk):
    (desk / "elsewhere").mkdir()
    return metadata(desk / "elsewhere" / "people.toml", "../people.csv")


def linked_folder(desk):
    (desk / "folder").mkdir()
    (desk / "link").symlink_to(desk)
    return metadata(desk / "folder" / "other.toml", desk / "link" / "people.csv")


def edited_in_place(desk):
    with (desk / "people.csv").open("a") as table:
        table.write("999,50\n")
    return renamed_metadata(desk)


def renamed_and_edited_source(desk):
    (desk / "people.csv").rename(desk / "other.csv")
    with (desk / "other.csv").open("a") as table:
        table.write("999,50\n")
    return metadata(desk / "other.toml", "other.csv")


def earlier_state(desk):
    shutil.copy(desk / "people.csv", desk / "backup.csv")
    (desk / "people.csv").write_text(f"{ROWS}999,50\n")
    asked(desk / "people.toml")
    return metadata(desk / "other.toml", "backup.csv")


NAMES = [
    linked, copied, hard_linked, renamed_metadata, moved_metadata, metadata_elsewhere, linked_folder, edited_in_place,
    renamed_and_edited_source, earlier_state,
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.__name__)
def test_another_name_of_a_source_has_no_budget_of_its_own(desk, name):
    other = Path(name(desk))
    with pytest.raises(SecondLedger) as refused:
        asked(other)
    assert str(desk / "people.ledger") in refused.value.what
    assert not other.with_suffix(".ledger").exists()
    assert len([entry for entry in entries_of(desk / "people.toml") if entry["kind"] == "charge"]) <= 2


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.__name__)
def test_a_second_ledger_on_purpose_is_recorded_in_both_and_then_accepted(desk, name):
    other = Path(name(desk))
    mine = asked(other, second_ledger=WHY)
    theirs = entries_of(desk / "people.toml")
    assert seconds(mine) == [(str(desk / "people.ledger"), "people", WHY)]
    assert seconds(theirs) == [(str(other.with_suffix(".ledger")), "people", WHY)]
    assert [entry["kind"] for entry in mine][:2] == ["open", "second"]
    assert asked(other, epsilon="0.2")[: len(mine)] == mine
    with (desk / "people.csv").open("a") if (desk / "people.csv").exists() else (desk / "other.csv").open("a") as table:
        table.write("998,40\n")
    assert seconds(asked(other, epsilon="0.3")) == seconds(mine)
    with Ledger.open(other.with_suffix(".ledger")) as ledger:
        ledger.verify()


@pytest.mark.parametrize("suffix", ["parquet", "duckdb"])
def test_other_formats_and_tables_in_memory_are_known_by_their_content(tmp_path, monkeypatch, suffix):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    frame = pd.DataFrame({"person": [1, 2], "age": [3, 4]})
    if suffix == "parquet":
        frame.to_parquet(tmp_path / "people.parquet")
    else:
        import duckdb

        with duckdb.connect(tmp_path / "people.duckdb") as connection:
            connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    asked(metadata(tmp_path / "people.toml", f"people.{suffix}"))
    shutil.copy(tmp_path / f"people.{suffix}", tmp_path / f"other.{suffix}")
    with pytest.raises(SecondLedger):
        asked(metadata(tmp_path / "other.toml", f"other.{suffix}"))
    asked(metadata(tmp_path / "memory.toml", "nowhere.csv"), table=frame)
    with pytest.raises(SecondLedger):
        asked(metadata(tmp_path / "again.toml", "nowhere.csv"), table=frame.copy())
    asked(tmp_path / "memory.toml", table=frame.assign(age=[5, 6]))


def test_a_source_that_changes_under_its_own_ledger_is_no_second_one(desk):
    toml = desk / "people.toml"
    (desk / "people.csv").write_text(f"{ROWS}999,50\n")
    asked(toml)
    (desk / "new.csv").write_text(f"{ROWS}998,50\n")
    (desk / "new.csv").replace(desk / "people.csv")
    kinds = [entry["kind"] for entry in asked(toml)]
    assert (kinds.count("charge"), kinds.count("second")) == (3, 0)


def test_another_table_has_its_own_ledger_without_a_word(desk):
    (desk / "other.csv").write_text(f"{ROWS}999,50\n")
    asked(metadata(desk / "other.toml", "other.csv"))


def test_one_ledger_under_two_spellings_is_one(desk):
    (desk / "link").symlink_to(desk)
    before = len(entries_of(desk / "people.toml"))
    assert len(asked(desk / "link" / "people.toml")) == before  # a replay
    assert not seconds(asked(desk / "link" / "people.toml", epsilon="0.2"))


def test_a_deleted_ledger_stays_spent(desk):
    (desk / "people.ledger").unlink()
    other = renamed_metadata(desk)
    with pytest.raises(SecondLedger) as refused:
        asked(other)
    assert "is gone" in refused.value.what
    assert "Ledger.adopt" in refused.value.fix
    assert seconds(asked(other, second_ledger=WHY)) == [(str(desk / "people.ledger"), "people", WHY)]


def test_a_deleted_ledger_stays_spent_when_its_head_was_deleted_with_it(desk):
    (desk / "people.ledger").unlink()
    shutil.rmtree(desk / "state" / "discreet" / "heads")
    with pytest.raises(SecondLedger, match="is gone"):
        asked(desk / "people.toml")


def test_a_moved_folder_is_adopted_and_then_the_same_ledger(desk, tmp_path_factory):
    place = desk / "study"
    place.mkdir()
    for file in desk.glob("people.*"):
        file.rename(place / file.name)
    with pytest.raises(IntegrityError, match="No head"):
        asked(place / "people.toml")
    Ledger.adopt(place / "people.ledger", why="moved").close()
    entries = asked(place / "people.toml", epsilon="0.2")
    assert [entry["kind"] for entry in entries].count("charge") == 2
    (desk / "other").mkdir()
    with pytest.raises(SecondLedger) as refused:
        asked(metadata(desk / "other" / "people.toml", place / "people.csv"))
    assert str(place / "people.ledger") in refused.value.what


def test_a_copied_folder_is_a_second_ledger_even_if_adopted(desk):
    place = desk / "study"
    place.mkdir()
    for name in ("people.toml", "people.csv", "people.ledger"):
        shutil.copy(desk / name, place / name)
    (place / "people.ledger").chmod(0o600)
    Ledger.adopt(place / "people.ledger", why="copied").close()
    with pytest.raises(SecondLedger):
        asked(place / "people.toml", epsilon="0.2")
    asked(place / "people.toml", epsilon="0.2", second_ledger=WHY)
    assert seconds(entries_of(desk / "people.toml"))


def test_a_crash_between_entering_and_charging_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "people.csv").write_text(ROWS)
    with dp.open(metadata(tmp_path / "people.toml", "people.csv")) as people:
        people.table.view()
    assert [entry["kind"] for entry in asked(tmp_path / "people.toml")] == ["open", "charge", "answer"]


def test_a_crash_between_the_two_entries_repeats_neither(desk, monkeypatch):
    other, note = renamed_metadata(desk), second._note

    def once(ledger, place, why):
        note(ledger, place, why)
        raise KeyboardInterrupt

    monkeypatch.setattr(second, "_note", once)
    with pytest.raises(KeyboardInterrupt):
        asked(other, second_ledger=WHY)
    monkeypatch.setattr(second, "_note", note)
    assert len(seconds(asked(other, second_ledger=WHY))) == len(seconds(entries_of(desk / "people.toml"))) == 1


def test_of_first_asks_at_the_same_time_one_is_answered(tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    names = [f"d{n}" for n in range(4)]
    for name in names:
        metadata(tmp_path / f"{name}.toml", "people.csv")
    ask = ["ask", "SELECT COUNT(*) AS n FROM people", "--eps", "0.1", "--json"]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", "from discreet.cli.main import run; run()", ask[0], f"{name}.toml", *ask[1:]],
            cwd=tmp_path,
            env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")},
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    said = [process.communicate(timeout=120)[0] for process in started]
    assert sorted(process.returncode for process in started) == [0, 6, 6, 6], said


def test_the_inode_of_a_deleted_file_accuses_nobody(tmp_path):
    """Numbers of inodes are given out again; with the time of birth they are one file's."""
    marks = set()
    for _ in range(5):
        (tmp_path / "x").write_text("a")
        marks.add(identity.file_mark(tmp_path / "x"))
        (tmp_path / "x").unlink()
    assert len(marks) == 5


# --- the registry's own files ----------------------------------------------------------------------------------------


def test_the_registry_is_its_owners_and_confirms_no_guess(desk):
    folder = desk / "state" / "discreet"
    for name in (registry.NAME, registry.KEY):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    with dp.open(desk / "people.toml") as people:
        content = people.table.engine.identity()["content"]
    whole = (folder / registry.NAME).read_bytes()
    assert content.encode() not in whole
    assert bytes.fromhex(content) not in whole


def test_a_lost_key_and_a_damaged_registry_are_refused(desk):
    folder = desk / "state" / "discreet"
    key = (folder / registry.KEY).read_bytes()
    (folder / registry.KEY).write_bytes(bytes(32))
    with pytest.raises(IntegrityError, match="not the key"):
        asked(renamed_metadata(desk))
    (folder / registry.KEY).write_bytes(key)
    (folder / registry.NAME).write_bytes(b"x" * 5000)
    with pytest.raises(IntegrityError, match="registry"):
        asked(renamed_metadata(desk))


def test_nothing_is_digested_again_while_the_source_stays_as_it_is(desk, monkeypatch):
    from discreet.engine import source

    monkeypatch.setattr("discreet.engine.engine._SETTLED", 0)  # the stamps of a new file are believed
    asked(desk / "people.toml", epsilon="0.2")
    monkeypatch.setattr(source.File, "digest", lambda self: pytest.fail("read again"))
    asked(desk / "people.toml", epsilon="0.3")


# --- the command line ------------------------------------------------------------------------------------------------


def test_the_fix_of_the_command_line_can_be_pasted(desk, capfd, monkeypatch):
    monkeypatch.chdir(desk)
    other = renamed_metadata(desk)
    ask = ["ask", other.name, "SELECT COUNT(*) AS n FROM people", "--eps", "0.1"]
    assert main.status([*ask, "--json"]) == 6
    problem = json.loads(capfd.readouterr().out)
    assert problem["code"] == "second-ledger"
    words = shlex.split(problem["fix"].splitlines()[-1])
    assert words[-2:] == ["--why", "…"]
    assert main.status([*ask, "--why", "x"]) == 2
    assert main.status([*ask, "--second-ledger"]) == 2
    assert "--second-ledger --why" in capfd.readouterr().err
    assert main.status([*words[1:-1], WHY]) == 0
    assert main.status(["ledger", "people.toml"]) == 0
    assert WHY in capfd.readouterr().out


def test_a_release_is_a_charge_too(desk):
    toml = renamed_metadata(desk)
    toml.write_text(f'{toml.read_text()}[columns.ward]\ntype = "category"\nvalues = ["a"]\n{TREE}')
    (desk / "people.csv").write_text("person,age,ward\n1,2,a\n")
    with dp.open(toml) as people, pytest.raises(SecondLedger):
        people.release("geo").build(epsilon=1)


def test_a_reason_must_be_words(desk):
    with pytest.raises(BadValue):
        asked(renamed_metadata(desk), second_ledger="")


# --- adopting a copy that knows less ---------------------------------------------------------------------------------


def test_adopting_an_old_copy_says_and_records_what_is_forgotten(desk, capfd, monkeypatch):
    monkeypatch.chdir(desk)
    shutil.copy(desk / "people.ledger", desk / "old")
    asked(desk / "people.toml", epsilon="0.25")
    shutil.copy(desk / "old", desk / "people.ledger")
    for log in desk.glob("people.ledger-*"):
        log.unlink()
    capfd.readouterr()
    assert main.status(["ledger", "adopt", "people.toml", "--why", "the disk broke", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert "2 entries of the recorded head, with ε = 0.25" in told["caveats"][0]
    adopted = entries_of(desk / "people.toml")[-1]
    assert (adopted["kind"], adopted["forgets"], adopted["forgets_epsilon"]) == ("adopt", 2, "1/4")


def test_adopting_an_old_copy_elsewhere_is_told_by_the_head_of_where_it_lay(desk):
    place = desk / "study"
    place.mkdir()
    shutil.copy(desk / "people.ledger", place / "people.ledger")
    (place / "people.ledger").chmod(0o600)
    asked(desk / "people.toml", epsilon="0.25")
    (desk / "people.ledger").unlink()
    Ledger.adopt(place / "people.ledger", why="the newest copy there is").close()
    adopted = entries_of(place / "people.toml")[-1]
    assert (adopted["forgets"], adopted["forgets_epsilon"]) == (2, "1/4")


def test_a_ledger_moved_whole_forgets_nothing(desk):
    place = desk / "study"
    place.mkdir()
    (desk / "people.ledger").rename(place / "people.ledger")
    Ledger.adopt(place / "people.ledger", why="moved").close()
    assert "forgets" not in entries_of(place / "people.toml")[-1]


def test_a_head_of_an_earlier_version_learns_what_was_charged(desk):
    """Heads once held no ε: it is added up when the next one is written."""
    (head,) = (desk / "state" / "discreet" / "heads").glob("*.json")
    recorded = json.loads(head.read_text())
    assert recorded.pop("charged") == "1/10"
    head.write_text(json.dumps(recorded))
    asked(desk / "people.toml", epsilon="0.2")
    assert json.loads(head.read_text())["charged"] == "3/10"


def test_the_tables_of_the_registry_hold_ledgers_pairs_and_marks(desk):
    asked(renamed_metadata(desk), second_ledger=WHY)
    with contextlib.closing(sqlite3.connect(desk / "state" / "discreet" / registry.NAME)) as connection:
        paths = [os.fsdecode(path) for (path,) in connection.execute("SELECT path FROM ledgers ORDER BY id")]
        assert paths == [str(desk / "people.ledger"), str(desk / "other.ledger")]
        assert connection.execute("SELECT ledger, other FROM pairs ORDER BY 1").fetchall() == [(1, 2), (2, 1)]
        assert connection.execute("SELECT count(*) FROM marks").fetchone() == (4,)
