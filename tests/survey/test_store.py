"""The store of a survey: one file, one survey, hashes of tokens, no order of arrival."""

import os
import shutil
import sqlite3
import stat
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import BadValue, CannotWrite, IntegrityError, SourceUnavailable
from discreet.survey import store as stores
from discreet.survey.group_commit import GroupCommit
from discreet.survey.invitations import draw_tokens, invite
from discreet.survey.limits import Limits, Rate
from discreet.survey.store import ACCEPTED, Entry, Store, read_rejected, read_reports
from discreet.survey.submission import OTHER_DRAW, REASONS, UNKNOWN_TOKEN, USED, submission_of, token_hash
from survey.serving import random_reports, some_body, survey_for

SURVEY = survey_for()
NONE = dict.fromkeys(REASONS, 0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def store(path):
    with Store.open_or_create(path, SURVEY) as store:
        yield store


def entry_of(token, day=0, seed=7):
    submission = submission_of(some_body(SURVEY, token, seed), SURVEY)
    return Entry(submission.token_hash, day, submission.joined)


def take(store, *entries, open_to_all=True):
    return store.take(entries, open_to_all=open_to_all, rejected={})


def test_a_token_is_taken_once_in_each_round(store):
    (token,) = draw_tokens(1)
    same = entry_of(token)
    assert take(store, same, entry_of(token), replace(same, round=1)) == [ACCEPTED, USED, ACCEPTED]
    assert take(store, same) == [USED]
    assert store.report_count() == 2
    assert store.rejections() == NONE | {"used": 2}


def test_a_token_has_one_draw_for_all_rounds(store, path):
    (token,) = draw_tokens(1)
    same = Entry(token_hash(token), 20_001, b"\x00\x00\x00")
    other = replace(same, submission=b"\x01\x00\x00")
    assert take(store, same, other) == [ACCEPTED, USED]
    assert take(store, replace(other, round=20_002), replace(other, round=20_000)) == [OTHER_DRAW, OTHER_DRAW]
    assert take(store, replace(same, round=20_002), replace(other, round=20_002)) == [ACCEPTED, OTHER_DRAW]
    assert store.rejections() == NONE | {"used": 1, "another draw": 3}
    for day in (20_001, 20_002):
        assert read_reports(path, SURVEY, day=day).questions["paid"].tolist() == [[0]]
    assert len(read_reports(path, SURVEY, day=20_000).groups) == 0


def test_a_store_that_is_older_than_a_reason_counts_it_too(store, path):
    store._connection.execute("DELETE FROM counters WHERE reason = 'used'")
    same = entry_of(draw_tokens(1)[0])
    assert take(store, same, same, same) == [ACCEPTED, USED, USED]
    assert take(store, same) == [USED]
    assert read_rejected(path, SURVEY) == NONE | {"used": 3}


def test_without_an_invitation_a_token_is_taken_only_if_all_may_answer(store):
    (token,) = draw_tokens(1)
    ((_, invited),) = invite(store, 1)
    assert take(store, entry_of(token), entry_of(invited), open_to_all=False) == [UNKNOWN_TOKEN, ACCEPTED]
    assert take(store, entry_of(token)) == [ACCEPTED]
    assert store.rejections() == NONE | {"unknown token": 1}


def test_invitations_take_turns_among_the_groups_and_reports_carry_them(store, path):
    invitations = invite(store, 5, ["North", "South"])
    assert [group for group, _ in invitations] == ["North", "South", "North", "South", "North"]
    assert len({token for _, token in invitations}) == 5
    assert store.invitations() == 5
    take(store, *(entry_of(token) for _, token in invitations), open_to_all=False)
    hashes = sorted((token_hash(token), group) for group, token in invitations)
    assert list(read_reports(path, SURVEY).groups) == [group for _, group in hashes]


@pytest.mark.parametrize("count", [0, -1, True, 1.0, "5", None, 10**7])
def test_a_count_of_invitations_that_is_no_such_number_is_refused(store, count):
    with pytest.raises(BadValue, match="count must be a whole number"):
        invite(store, count)
    with pytest.raises(BadValue, match="at least one group"):
        invite(store, 1, [])
    assert store.invitations() == 0


def test_reports_are_read_back_by_question_in_the_order_of_hashes(store, path):
    generator = np.random.default_rng(3)
    reports = {token: random_reports(SURVEY, generator) for token in draw_tokens(300)}
    entries = [Entry(token_hash(token), 0, b"".join(report.values())) for token, report in reports.items()]
    assert take(store, *entries) == [ACCEPTED] * 300
    stored = read_reports(path, SURVEY)
    in_order = [reports[token] for token in sorted(reports, key=token_hash)]
    for question in SURVEY.questions:
        rows = stored.questions[question.name]
        assert rows.dtype == np.uint8
        assert rows.shape == (300, question.report_bytes)
        assert [bytes(row) for row in rows] == [report[question.name] for report in in_order]
    assert list(stored.groups) == [None] * 300


def test_an_empty_store_gives_arrays_without_rows(store, path):
    stored = read_reports(path, SURVEY)
    assert {name: rows.shape for name, rows in stored.questions.items()} == {"paid": (0, 1), "ways": (0, 2)}
    assert len(stored.groups) == 0
    assert read_rejected(path, SURVEY) == NONE


def test_a_person_who_answers_every_day_counts_once_unless_a_day_is_named(store, path):
    first, second = draw_tokens(2)
    daily = entry_of(first, 20_000)
    take(store, daily, replace(daily, round=20_001), entry_of(second, 20_001))
    assert len(read_reports(path, SURVEY).groups) == 2
    assert len(read_reports(path, SURVEY, day=20_000).groups) == 1
    assert len(read_reports(path, SURVEY, day=20_001).groups) == 2


@pytest.mark.parametrize("part", ["", "-wal", "-shm"])
@pytest.mark.parametrize("way", ["removed", "replaced"])
def test_a_store_that_is_no_longer_in_its_place_takes_nothing_until_it_is_back(store, path, part, way):
    (token,) = draw_tokens(1)
    file, aside = Path(f"{path}{part}"), path.with_name("aside")
    file.rename(aside)
    if way == "replaced":
        shutil.copy(aside, file)
    with pytest.raises(CannotWrite, match="no longer the file that was opened"):
        take(store, entry_of(token))
    with pytest.raises(CannotWrite, match="no longer the file that was opened"):
        invite(store, 1)
    aside.rename(file)
    assert (store.report_count(), store.invitations()) == (0, 0)
    assert take(store, entry_of(token)) == [ACCEPTED]


def test_a_store_that_is_moved_during_a_transaction_does_not_acknowledge_it(store, path, monkeypatch):
    take_entry, aside = Store._take, path.with_name("aside")

    def move_and_take(*arguments):
        path.rename(aside)
        return take_entry(*arguments)

    same = entry_of(draw_tokens(1)[0])
    monkeypatch.setattr(Store, "_take", move_and_take)
    with pytest.raises(CannotWrite, match="no longer the file that was opened"):
        take(store, same)
    monkeypatch.undo()
    aside.rename(path)
    assert take(store, same) == [USED]
    assert store.report_count() == 1


def test_a_store_that_is_replaced_while_it_is_opened_is_refused(store, path, monkeypatch):
    store.close()
    require_survey = stores._require_survey

    def require_and_replace(*arguments):
        require_survey(*arguments)
        path.rename(path.with_name("aside"))
        shutil.copy(path.with_name("aside"), path)

    monkeypatch.setattr(stores, "_require_survey", require_and_replace)
    with pytest.raises(CannotWrite, match="no longer the file that was opened"):
        Store.open_or_create(path, SURVEY)


def test_nothing_of_a_failed_batch_is_stored(store):
    tokens = draw_tokens(2)
    with pytest.raises(ValueError, match="another length"):
        take(store, entry_of(tokens[0]), Entry(token_hash(tokens[1]), 0, b"1"))
    assert store.report_count() == 0
    assert take(store, entry_of(tokens[0])) == [ACCEPTED]


def test_the_file_holds_hashes_and_no_tokens(store, path):
    tokens = draw_tokens(20) + [token for _, token in invite(store, 20)]
    take(store, *map(entry_of, tokens))
    while_open = b"".join(file.read_bytes() for file in path.parent.iterdir())
    store.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    for content in (while_open, path.read_bytes()):
        assert all(token_hash(token) in content for token in tokens)
        assert not any(token.encode() in content for token in tokens)


def test_the_file_holds_no_time_of_arrival_and_no_number_of_a_row(store, path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(reports)")]
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            connection.execute("SELECT rowid FROM reports")
    connection.close()
    assert columns == ["token", "round", "group", "submission"]


def test_transactions_are_durable_when_they_are_acknowledged(store):
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_all_files_are_their_owners_alone(store, path):
    take(store, entry_of(draw_tokens(1)[0]))
    files = list(path.parent.iterdir())
    assert len(files) == 3  # the file, its log and the index of the log
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_store_that_others_can_read_is_refused(store, path):
    store.close()
    path.chmod(0o640)
    with pytest.raises(IntegrityError, match="chmod 600"):
        Store.open_or_create(path, SURVEY)
    with pytest.raises(IntegrityError, match="chmod 600"):
        read_reports(path, SURVEY)


def test_a_store_with_a_second_name_is_refused_under_both(store, path):
    store.close()
    second = path.with_name("second.sqlite")
    second.hardlink_to(path)
    for name in (path, second):
        for use in (Store.open_or_create, read_reports, read_rejected):
            with pytest.raises(IntegrityError, match="has other names"):
                use(name, SURVEY)
    second.unlink()
    assert read_rejected(path, SURVEY) == NONE


def test_a_store_is_opened_once_more_with_all_that_it_holds(store, path):
    (token,) = draw_tokens(1)
    take(store, entry_of(token))
    store.close()
    with Store.open_or_create(path, SURVEY) as store:
        assert take(store, entry_of(token)) == [USED]


def test_the_store_of_another_survey_is_refused_and_stays_as_it_is(store, path):
    take(store, entry_of(draw_tokens(1)[0]))
    store.close()
    before = path.read_bytes()
    for use in (Store.open_or_create, read_reports, read_rejected):
        with pytest.raises(IntegrityError, match="store of another survey"):
            use(path, survey_for(consent="Another"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b'title = "Tax"\n', b"x", bytes(4096), b"SQLite format 3\x00" + b"\x07" * 600])
def test_a_file_that_something_else_wrote_is_refused_and_stays_as_it_is(path, content):
    path.write_bytes(content)
    path.chmod(0o600)
    for use in (Store.open_or_create, read_reports):
        with pytest.raises((BadValue, IntegrityError)):
            use(path, SURVEY)
    assert path.read_bytes() == content


def test_the_survey_file_is_no_store_whatever_its_rights_are(path):
    path.write_text('title = "Tax"')
    path.chmod(0o644)
    with pytest.raises(BadValue, match="must be a new file or the store of a survey"):
        Store.open_or_create(path, SURVEY)
    assert path.read_text() == 'title = "Tax"'


def test_another_database_is_refused_and_stays_as_it_is(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    path.chmod(0o600)
    before = path.read_bytes()
    with pytest.raises(BadValue, match="must be a new file or the store of a survey"):
        Store.open_or_create(path, SURVEY)
    assert path.read_bytes() == before


def test_links_folders_and_absent_folders_are_no_stores(path):
    path.symlink_to(path.with_name("elsewhere"))
    with pytest.raises(BadValue, match="not a link or a folder"):
        Store.open_or_create(path, SURVEY)
    assert not path.with_name("elsewhere").exists()
    with pytest.raises(BadValue, match="not a link or a folder"):
        Store.open_or_create(path.parent, SURVEY)
    with pytest.raises(CannotWrite, match="cannot be made"):
        Store.open_or_create(path.parent / "absent" / "answers.sqlite", SURVEY)


def test_reading_makes_no_file(path):
    with pytest.raises(SourceUnavailable, match="no store"):
        read_reports(path, SURVEY)
    assert not path.exists()


def test_a_store_whose_making_was_interrupted_is_made_anew(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    with Store.open_or_create(path, SURVEY) as store:
        assert store.report_count() == 0


def test_many_waiting_requests_share_a_transaction(store, monkeypatch):
    batches, gate, take_batch = [], threading.Event(), store.take

    def slow_take(entries, **options):
        gate.wait(10)
        batches.append(len(entries))
        return take_batch(entries, **options)

    monkeypatch.setattr(store, "take", slow_take)
    writer = GroupCommit(store, open_to_all=True)
    outcomes = [writer.put(entry_of(token)) for token in draw_tokens(100)]
    assert not any(outcome.done() for outcome in outcomes)
    gate.set()
    assert [outcome.result(10) for outcome in outcomes] == [ACCEPTED] * 100
    writer.close()
    assert sum(batches) == 100
    assert len(batches) <= 2


def test_closing_the_writer_commits_what_is_queued_and_counted(store):
    writer = GroupCommit(store, open_to_all=True, largest_batch=3)
    outcomes = [writer.put(entry_of(token)) for token in draw_tokens(10)]
    writer.count("malformed")
    writer.close()
    assert [outcome.result(0) for outcome in outcomes] == [ACCEPTED] * 10
    assert (store.report_count(), store.rejections()) == (10, NONE | {"malformed": 1})
    with pytest.raises(RuntimeError, match="closed"):
        writer.put(entry_of(draw_tokens(1)[0]))


def test_limits_refill_steadily_and_hold_for_each_household_and_for_all():
    now = 0.0
    limits = Limits(Rate(10, 6), Rate(1, 2), clock=lambda: now)
    assert [limits.admit("192.0.2.1") for _ in range(3)] == [True, True, False]
    assert [limits.admit(f"2001:db8::{number}") for number in range(3)] == [True, True, False]
    assert [limits.admit(f"192.0.2.{number}") for number in range(2, 5)] == [True, True, False]
    now = 1.0
    assert [limits.admit("192.0.2.1") for _ in range(2)] == [True, False]


def test_limits_without_a_rate_for_each_address_hold_for_all_together():
    limits = Limits(Rate(1, 3), None, clock=lambda: 0.0)
    assert [limits.admit("127.0.0.1") for _ in range(4)] == [True, True, True, False]
    assert not limits._buckets


def test_limits_remember_a_bounded_number_of_addresses():
    limits = Limits(Rate(1e9, 10**9), Rate(1, 1))
    for number in range(12_000):
        limits.admit(f"10.0.{number // 256}.{number % 256}")
    assert len(limits._buckets) == 10_000
