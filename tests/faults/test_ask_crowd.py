"""Many who ask at once spend exactly the budget, and one question asked many times is charged once."""

import pytest

from faults.common import driven

DRIVER = "faults.crowd_driver"


def crowd(folder, processes, analysts, *, sent, fits):
    outcome = driven(DRIVER, "crowd", folder / "l", processes, analysts, sent, fits, folder=folder)
    assert outcome["wrong"] == []
    assert outcome["outcomes"] == {"answered": fits, "budget-exceeded 5": sent - fits}
    assert (outcome["charged"], outcome["stored"], outcome["replays"]) == (fits, fits, fits)
    assert outcome["analysts"] <= analysts


def retries(folder, count, keys, seed):
    outcome = driven(DRIVER, "retries", folder / "l", count, keys, seed, folder=folder)
    assert outcome["wrong"] == []
    assert (outcome["charges"], outcome["answers"]) == (keys, keys)
    assert outcome["tried"] >= count
    assert outcome["shown"] > count // 4


def test_eight_analysts_in_two_processes_spend_exactly_the_budget(tmp_path):
    crowd(tmp_path, 2, 8, sent=240, fits=60)


@pytest.mark.long
def test_thirty_two_analysts_in_three_processes_spend_exactly_the_budget(tmp_path):
    crowd(tmp_path, 3, 32, sent=2000, fits=500)


def test_command_lines_at_once_spend_exactly_the_budget(tmp_path):
    outcome = driven(DRIVER, "command", tmp_path / "l", folder=tmp_path)
    assert outcome["wrong"] == []
    assert outcome["outcomes"] == {"answered 0": 2, "budget-exceeded 5": 2}
    assert outcome["charged"] == 2


def test_ten_command_lines_with_one_question_all_get_its_answer(tmp_path):
    outcome = driven(DRIVER, "same", tmp_path / "l", folder=tmp_path)
    assert outcome == {"wrong": [], "exits": [0] * 10, "receipts": 1, "charged": 1}


def test_a_question_asked_again_and_again_through_crashes_is_charged_once(tmp_path):
    retries(tmp_path, 200, 10, 20269)


@pytest.mark.long
def test_five_thousand_retries_are_charged_once_for_each_key(tmp_path):
    retries(tmp_path, 5000, 50, 20270)
