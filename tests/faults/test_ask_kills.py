"""Kill -9 of whoever asks, of the worker, while preparing and while the ledger is made: nothing answered uncharged."""

import pytest

from faults.common import driven

DRIVER = "faults.ask_driver"
RESTART = 5  # seconds in which a dataset is open again and an old answer replayed


def sound(outcome):
    assert outcome["wrong"] == []
    assert outcome["slowest"] < RESTART
    return outcome


def kills(folder, count, seed):
    outcome = sound(driven(DRIVER, "kills", folder / "l", count, seed, folder=folder))
    assert (outcome["kills"], outcome["restarts"]) == (count, count + -(-count // 50))
    assert outcome["charged"] > count // 10  # the children did get to work
    assert outcome["shown"] > count // 10


def killed_workers(folder, count, seed):
    outcome = sound(driven(DRIVER, "workers", folder / "l", count, seed, folder=folder))
    assert outcome["kills"] == count + 1
    assert len(outcome["replies"]) == 1  # the same words each time
    assert outcome["failed"] >= 1
    assert outcome["answered"] >= 1


def test_kills_at_random_times_lose_nothing(tmp_path):
    kills(tmp_path, 30, 20265)


@pytest.mark.long
def test_a_thousand_kills_lose_nothing(tmp_path):
    kills(tmp_path, 1000, 20266)


def test_kills_at_every_edge_of_a_question_lose_nothing(tmp_path):
    outcome = sound(driven(DRIVER, "edges", tmp_path / "l", folder=tmp_path))
    assert len(outcome["edges"]) == 26
    assert all(outcome["edges"].values()), outcome["edges"]  # charged and stored exactly where they became durable


def test_kills_while_preparing_leave_nothing_and_the_next_question_prepares(tmp_path):
    assert sound(driven(DRIVER, "preparing", tmp_path / "l", folder=tmp_path))["restarts"] == 17


def test_kills_while_the_ledger_is_made_do_not_shut_the_dataset(tmp_path):
    assert sound(driven(DRIVER, "making", tmp_path / "l", folder=tmp_path))["restarts"] == 7


def test_killed_workers_give_the_fixed_reply_and_are_replaced(tmp_path):
    killed_workers(tmp_path, 30, 20267)


@pytest.mark.long
def test_a_thousand_killed_workers_give_the_fixed_reply(tmp_path):
    killed_workers(tmp_path, 1000, 20268)
