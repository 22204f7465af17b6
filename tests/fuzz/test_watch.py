"""The watch finds a leak wherever one is planted: in a log, a warning, a name, a file that is gone again."""

import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings

import duckdb
import pytest

import discreet as dp
from fuzz.tokens import Secrets, laid
from fuzz.watch import ENGINE_WORDS, PREPARED, Files, Hang, surrounded, watchdog, watched

MANY = """SELECT 'zqxjkv' || md5(i::VARCHAR) AS person, 'north' AS region, person AS name, person || person AS note,
    i AS code, i AS exact, i AS serial, i AS amount, i AS free, i % 99 AS age, TRUE AS flag, DATE '2020-02-29' AS day,
    DATE '2020-02-29' AS born, TIMESTAMP '2020-01-01 12:00:00' AS at, 1 AS hidden FROM range(250000) x(i)"""
SECRET = "zqxjkvabcdef"
PREPARED_NAME = f"people.{'ab' * 16}.prepared"


@pytest.fixture
def place(tmp_path, monkeypatch):
    surrounded(tmp_path, monkeypatch)
    return tmp_path


def log_at_debug(folder):
    logging.getLogger("some.library").debug("row %s", SECRET)


def log_that_was_off(folder):
    logging.getLogger("quiet").error("no words", extra={"row": SECRET})


def log_of_an_error(folder):
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("quiet").debug("failed", exc_info=True)


def warning(folder):
    warnings.warn(f"near {SECRET}", DeprecationWarning, stacklevel=1)


def temporary_file(folder):
    with tempfile.NamedTemporaryFile() as file:
        file.write(SECRET.encode())
        file.flush()
        time.sleep(0.05)


def file_gone_again(folder):
    (folder / "people.ledger-journal").write_text(SECRET)
    time.sleep(0.05)
    (folder / "people.ledger-journal").unlink()


def file_written_over(folder):
    with open(folder / "people.ledger", "w") as file:
        file.write(SECRET.upper())
        file.flush()
        time.sleep(0.05)
        file.seek(0)
        file.write("x" * len(SECRET))


def file_renamed_over(folder):
    (folder / "head.new").write_text(SECRET)
    (folder / "head.new").rename(folder / "head")
    (folder / "other").write_text("nothing")
    (folder / "other").rename(folder / "head")


def file_in_a_new_folder(folder):
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "c").write_text(SECRET)


def file_of_another_process(folder):
    write = f"import os, time; open('x', 'w').write({SECRET!r}); time.sleep(0.05); os.unlink('x')"
    subprocess.run([sys.executable, "-c", write], check=True, cwd=folder, timeout=60)


def name_of_a_moment(folder):
    (folder / f"{SECRET}.tmp").touch()
    (folder / f"{SECRET}.tmp").unlink()


def name_of_a_folder(folder):
    (folder / SECRET).mkdir()
    (folder / SECRET).rmdir()


def prepared_file_for_all(folder):
    (folder / PREPARED_NAME).touch(0o644)


PLANTED = [
    *(log_at_debug, log_that_was_off, log_of_an_error, warning, temporary_file, file_gone_again, file_written_over),
    *(file_renamed_over, file_in_a_new_folder, file_of_another_process, name_of_a_moment, name_of_a_folder),
    prepared_file_for_all,
]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_leak_is_seen(plant, place):
    logging.getLogger("quiet").disabled = True
    with watched(place, Secrets(0)) as told:
        plant(place)
    assert len(told) > 0
    assert logging.getLogger("quiet").disabled


def test_text_that_nobody_leaked_is_not_reported(place):
    secrets = Secrets(0)
    secrets.typed += ["name = 'zqxjkvbbbbbb'"]
    with watched(place, secrets) as told:
        logging.getLogger("x").debug("asked for zqxjkvbbbbbb")
        (place / PREPARED_NAME).touch(0o600)
        (place / PREPARED_NAME).write_text(SECRET)
        (place / "plain").write_text("nothing")
        os.mkfifo(place / "pipe")
        (place / "link").symlink_to(PREPARED_NAME)
    assert told == []


def test_a_table_is_prepared_and_asked_without_a_word(place, capfd):
    secrets = laid(place, 3)
    with watched(place, secrets) as told, dp.open(place / "people.toml") as dataset:
        dataset.sql("SELECT COUNT(*) AS n FROM people").ask(epsilon=1)
    assert told == []
    assert capfd.readouterr() == ("", "")


def test_files_of_preparing_are_their_owners_alone_and_gone_afterwards(place):
    """More rows than the memory holds: the engine's overflow is as private as the prepared file, and as well kept."""
    laid(place, 4)
    duckdb.sql(f"COPY ({MANY}) TO '{place / 'people.csv'}' (HEADER)")
    limits = dp.Limits(memory=2**27, threads=1)
    with Files(place, Secrets(1), PREPARED) as files, dp.open(place / "people.toml", limits=limits) as dataset:
        snapshot = dataset.prepare()
    assert [name for name in files.names if ".preparing.spill/" in name]
    assert files.told == []
    left = {path.name for path in place.iterdir() if path.is_file()}
    assert left == {f"people.{snapshot}.prepared", "people.csv", "people.key", "people.toml"}


def test_a_command_that_hangs_is_ended():
    with pytest.raises(Hang), watchdog(0.05):
        time.sleep(60)


def test_words_of_the_engine_are_known():
    with pytest.raises(duckdb.Error) as caught:
        duckdb.sql("SELECT CAST('zqxjkvabcdef' AS INTEGER)").fetchall()
    assert ENGINE_WORDS.search(str(caught.value))
