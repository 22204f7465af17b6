"""`discreet budget`, `budget set` and `budget reopen`: what is allowed, changed only with a reason, in both places."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import budget_set
from discreet.engine import Engine
from discreet.ledger.ledger import Ledger
from discreet.metadata import load
from fixes import REASON, words_in

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]
COUNT = "SELECT COUNT(*) AS n FROM people"
SET = ("budget", "set", "people.toml")


def kinds(told: Told) -> list[str]:
    """What was written, but for the checkpoint that follows a budget."""
    return [entry["kind"] for entry in told("ledger", "people.toml")["entries"] if entry["kind"] != "checkpoint"]


def test_whole_budget_is_left_before_the_first_charge_and_no_file_appears(
    people: Path, told: Told, shown: Shown
) -> None:
    reply = told("budget", "people.toml")
    assert reply["budget"]["epsilon"] == reply["remaining"]["epsilon"] == "3"
    assert (reply["spent"]["epsilon"], reply["entries"], reply["head"]) == ("0", 0, None)
    assert reply["analysts"] == [{"name": "ana", "cap": "1", "spent": "0"}]
    assert "no entry yet" in shown("budget", "people.toml")[0]
    assert sorted(path.name for path in people.parent.iterdir()) == ["people.csv", "people.toml"]


def test_charges_reduce_the_budget_and_looking_does_not(people: Path, told: Told, shown: Shown) -> None:
    told("ask", "people.toml", COUNT, "--eps", "0.5", "--as", "ana")
    reply = told("budget", "people.toml")
    assert (reply["spent"]["epsilon"], reply["remaining"]["epsilon"], reply["entries"]) == ("0.5", "2.5", 3)
    assert told("budget", "people.toml") == reply
    drawn = shown("budget", "people.toml")[0]
    assert "ana     has spent ε = 0.5 of 1" in drawn
    assert reply["head"][:16] in drawn


def test_guarantee_is_told_of_100(people: Path, told: Told) -> None:
    """e³/(1 + e³) = 0.9526: the best 50/50 guess under a pure ε of 3; the δ of 10⁻⁷ adds less than a digit."""
    guarantee = told("budget", "people.toml")["guarantee"]
    assert guarantee["guess"] == pytest.approx(0.95258, abs=1e-5)
    assert guarantee["strength"] == "moderate"
    assert "Of 100 results" in guarantee["sentences"][0]
    assert "95.3" in guarantee["sentences"][0]
    assert "whether you are in this data by at most 20.3" in guarantee["sentences"][1]  # e^3.0101
    assert "which of two values is yours by at most 408" in guarantee["sentences"][1]  # e^6.0101
    assert [(odds["question"], odds["log_factor"]) for odds in guarantee["odds"]] == [
        ("presence", "3.01006"),
        ("value", "6.01006"),
    ]


def test_replaced_values_are_told_for_replace_one(people: Path, told: Told) -> None:
    people.write_text(people.read_text().replace("[unit]", 'neighbours = "replace-one"\n[unit]'))
    guarantee = told("budget", "people.toml")["guarantee"]
    assert "which of two values is yours" in guarantee["sentences"][0]
    assert "which of two values is yours by at most 20.3" in guarantee["sentences"][1]
    assert "is not hidden" in guarantee["sentences"][1]
    assert [odds["question"] for odds in guarantee["odds"]] == ["value"]


def test_guarantee_is_that_of_the_largest_budget_that_was_ever_in_force(people: Path, told: Told, shown: Shown) -> None:
    """ε = 0.9 was spent under 3: a budget of 0.3 set afterwards does not make that 1.36 times the odds."""
    told("ask", "people.toml", COUNT, "--eps", "0.9")
    reply = told(*SET, "--epsilon", "0.3", "--analyst", "ana=0.2", "--why", "less from now on")
    assert (reply["budget"]["epsilon"], reply["spent"]["epsilon"]) == ("0.3", "0.9")
    promised = reply["guarantee"]
    assert (promised["epsilon"], promised["delta"]) == ("3", "1.25e-7")  # ¾ of δ once, ¼ for each budget's orders
    assert [odds["log_factor"] for odds in promised["odds"]] == ["3.01006", "6.01006"]
    assert promised["guess"] == pytest.approx(0.95258, abs=1e-5)
    assert promised["sentences"][1].startswith("All answers of this ledger together can multiply anyone's odds")
    assert promised["sentences"][2] == (
        "That counts every budget that was ever in force, ε = 3, δ = 1.25e-7 in all: a new one does not undo what was "
        "spent under another."
    )
    drawn = " ".join(shown("budget", "people.toml")[0].split())
    assert "When all of every budget so far is spent: Suppose" in drawn
    assert "by at most 20.3" in drawn


def test_budget_that_was_only_raised_counts_the_smaller_one_too(people: Path, told: Told) -> None:
    told(*SET, "--epsilon", "5", "--why", "more")
    told(*SET, "--analyst", "ana=2", "--why", "a cap is no other budget")
    promised = told("budget", "people.toml")["guarantee"]
    assert (promised["epsilon"], promised["delta"]) == ("5", "1.25e-7")
    assert len(promised["sentences"]) == 3


def test_guarantee_of_a_single_budget_without_a_delta_is_its_epsilon(people: Path, told: Told, shown: Shown) -> None:
    people.write_text(people.read_text().replace("delta = 1e-7\n", ""))
    told("ask", "people.toml", COUNT, "--eps", "0.9")
    promised = told("budget", "people.toml")["guarantee"]
    assert (promised["epsilon"], promised["delta"], len(promised["sentences"])) == ("3", "0", 2)
    assert (promised["other_ledgers"], promised["forgotten"]) == (0, None)
    assert "When all of it is spent: Suppose" in shown("budget", "people.toml")[0]


def test_other_ledgers_over_the_same_rows_are_said_to_come_on_top(people: Path, told: Told, shown: Shown) -> None:
    told("ask", "people.toml", COUNT, "--eps", "0.9")
    people.with_name("other.toml").write_text(people.read_text())
    people.with_name("third.toml").write_text(people.read_text())
    second = ["--second-ledger", "--why", "two studies"]
    told("ask", "other.toml", COUNT, "--eps", "0.9", *second)
    for toml in ("people.toml", "other.toml"):
        promised = told("budget", toml)["guarantee"]
        assert promised["other_ledgers"] == 1
        assert promised["sentences"][2] == (
            "Another ledger over the same rows is recorded in this one; its answers come on top."
        )
    told("ask", "third.toml", COUNT, "--eps", "0.9", *second)
    drawn = " ".join(shown("budget", "people.toml")[0].split())
    assert "2 other ledgers over the same rows are recorded in this one; their answers come on top." in drawn


def test_forgotten_charges_are_said_to_come_on_top(people: Path, told: Told) -> None:
    told("ask", "people.toml", COUNT, "--eps", "0.9")
    ledger = people.with_suffix(".ledger")
    for epsilon in ("0.25", "0.5"):
        old = ledger.read_bytes()
        told("ask", "people.toml", COUNT, "--eps", epsilon)
        for log in people.parent.glob("people.ledger-*"):
            log.unlink()
        ledger.write_bytes(old)
        told("ledger", "adopt", "people.toml", "--why", "the disk broke")
    promised = told("budget", "people.toml")["guarantee"]
    assert promised["forgotten"] == {"entries": 4, "epsilon": "0.75"}
    assert promised["sentences"][2] == (
        "Adopting an older copy forgot 4 entries of the recorded head, with ε = 0.75; answers paid with it come on top."
    )


# --- set ---------------------------------------------------------------------------------------------------------


def test_set_changes_text_and_ledger_and_keeps_comments(people: Path, told: Told) -> None:
    before = people.read_text()
    told("ask", "people.toml", COUNT, "--eps", "1")
    more = ["--analyst", "ana=2", "--analyst", "ben=0.5", "--max-eps-per-question", "1.5"]
    reply = told(*SET, "--epsilon", "5", *more, "--why", "second year")
    assert reply["changed"] is True
    assert (reply["budget"]["epsilon"], reply["remaining"]["epsilon"]) == ("5", "1.5")
    wanted = before.replace("epsilon = 3        # for everyone", "epsilon = 5        # for everyone")
    wanted = wanted.replace("delta = 1e-7\n", "delta = 1e-7\nmax_epsilon_per_question = 1.5\n")
    assert people.read_text() == wanted.replace("ana = 1\n", "ana = 2\nben = 0.5\n")
    entries = told("ledger", "people.toml", "--verify")["entries"]
    assert (entries[-2]["kind"], entries[-2]["why"]) == ("budget", "second year")
    told("ask", "people.toml", COUNT, "--eps", "1.5")
    assert [path.name for path in people.parent.iterdir() if path.name.startswith(".")] == []


def test_set_before_the_first_charge_is_an_entry_too(people: Path, told: Told) -> None:
    told(*SET, "--epsilon", "5", "--why", "typo")
    assert kinds(told) == ["open", "budget"]
    told("ask", "people.toml", COUNT, "--eps", "4")


def test_set_gives_a_file_without_a_budget_its_first(people: Path, told: Told) -> None:
    people.write_text(people.read_text().partition("[budget]")[0])
    told(*SET, "--epsilon", "2", "--why", "agreed with the board")
    assert people.read_text().endswith("\n[budget]\nepsilon = 2\n")
    told("ask", "people.toml", COUNT, "--eps", "2")


def test_setting_the_same_numbers_changes_nothing(people: Path, told: Told) -> None:
    told(*SET, "--epsilon", "5", "--why", "x")
    assert told(*SET, "--epsilon", "5", "--why", "x")["changed"] is False
    assert kinds(told) == ["open", "budget"]


def test_set_without_a_reason_is_refused_and_the_line_with_one_runs(people: Path, told: Told) -> None:
    before = people.read_text()
    fix = told(*SET, "--epsilon", "5", "--analyst", "ana=2", exit_code=2)["fix"]
    assert people.read_text() == before
    assert not people.with_suffix(".ledger").exists()
    command = words_in(fix.partition("Write: ")[2])
    assert command[:4] == ["discreet", *SET]
    told(*command[1:])
    assert load(people).budget.analysts == (("ana", 2),)


REFUSED: list[tuple[list[str], int]] = [
    (["--epsilon", "x"], 2),
    (["--epsilon", "0"], 2),
    (["--epsilon=-1"], 2),
    (["--epsilon", "nan"], 2),
    (["--max-eps-per-question", "0"], 2),
    (["--delta", "x"], 2),
    (["--epsilon", "0.5"], 3),  # ana's cap is 1
    (["--delta", "0.1"], 3),
    (["--analyst", "ana"], 2),
    (["--analyst", "=1"], 2),
    (["--analyst", "ana=9"], 3),
    ([], 2),
]


@pytest.mark.parametrize(("flags", "exit_code"), REFUSED, ids=[" ".join(flags) for flags, _ in REFUSED])
def test_bad_number_leaves_text_and_ledger_as_they_are(
    people: Path, told: Told, flags: list[str], exit_code: int
) -> None:
    told("ask", "people.toml", COUNT, "--eps", "1")
    before, entries = people.read_bytes(), told("ledger", "people.toml")["entries"]
    refused = told(*SET, *flags, "--why", "x", exit_code=exit_code)
    if exit_code == 2 and flags and "analyst" not in flags[0]:
        assert refused["what"].startswith(f"{flags[0].partition('=')[0]} must be")
    assert people.read_bytes() == before
    assert told("ledger", "people.toml")["entries"] == entries


def test_budget_written_as_an_inline_table_is_left_alone(people: Path, told: Told) -> None:
    text = "budget = {epsilon = 3}\n" + people.read_text().partition("[budget]")[0]
    people.write_text(text)
    assert "[budget]\nepsilon = 5" in told(*SET, "--epsilon", "5", "--why", "x", exit_code=3)["fix"]
    assert people.read_text() == text


def test_hand_edited_budget_is_refused_until_it_is_set(people: Path, told: Told) -> None:
    told("ask", "people.toml", COUNT, "--eps", "1")
    people.write_text(people.read_text().replace("epsilon = 3 ", "epsilon = 9 "))
    refused = told("ask", "people.toml", COUNT, "--eps", "1", exit_code=6)
    told("budget", "people.toml", exit_code=6)
    told(*command_in(refused["fix"]))
    assert told("budget", "people.toml")["remaining"]["epsilon"] == "8"


EDITS = {  # what is edited by hand, and the flags that say the same
    "one number": ([("delta = 1e-7", "delta = 1e-8")], ["--delta", "1e-8"]),
    "several": (
        [("epsilon = 3 ", "epsilon = 9 "), ("ana = 1", 'ana = 2\n"ben c" = "1/3"')],
        ["--epsilon", "9", "--analyst", "ana=2", "--analyst", "ben c=1/3"],
    ),
    "a cap that is gone": ([("ana = 1", "")], ["--epsilon", "3"]),
    "a cap of one question": ([("delta =", "max_epsilon_per_question = 2\ndelta =")], ["--max-eps-per-question", "2"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_hand_edited_numbers_are_in_the_command_that_sets_them(people: Path, told: Told, name: str) -> None:
    told("ask", "people.toml", COUNT, "--eps", "1")
    edits, flags = EDITS[name]
    for old, new in edits:
        assert old in people.read_text()
        people.write_text(people.read_text().replace(old, new))
    command = command_in(told("ask", "people.toml", COUNT, "--eps", "0.5", exit_code=6)["fix"])
    assert command == [*SET, *flags, "--why", REASON]
    told(*command)
    told("ask", "people.toml", COUNT, "--eps", "0.5")


def command_in(fix: str) -> list[str]:
    """The words after `discreet` in a fix that ends with a command."""
    return words_in(fix.rpartition("discreet ")[2])


def test_budget_says_how_delta_is_divided(people: Path, told: Told, shown: Shown) -> None:
    drawn = shown("budget", "people.toml")[0]
    assert "1e-7 is divided: 5e-8 for groups that are not public, 2.5e-8 for noise, and 2.5e-8" in drawn
    told(*SET, "--delta", "0", "--why", "x")
    assert "divided" not in shown("budget", "people.toml")[0]


class Crash(BaseException):
    """The power goes."""


@pytest.mark.parametrize("place", ["before the entry", "after the entry"])
def test_crash_between_ledger_and_text_is_repaired_by_the_same_command(
    people: Path, told: Told, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    told("ask", "people.toml", COUNT, "--eps", "1")
    before = people.read_bytes()

    def crash(*_: Any, **__: Any) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        where = (Ledger, "set_budget") if place == "before the entry" else (budget_set, "_replace")
        patch.setattr(*where, crash)
        with pytest.raises(Crash):
            budget_set.set_budget(Path("people.toml"), epsilon="5", why="x")
    assert people.read_bytes() == before
    told("ask", "people.toml", COUNT, "--eps", "1", exit_code=0 if place == "before the entry" else 6)
    told(*SET, "--epsilon", "5", "--why", "x")
    assert kinds(told) == ["open", "charge", "answer", "budget"]
    assert told("budget", "people.toml")["remaining"]["epsilon"] == "4"
    told("ledger", "people.toml", "--verify")


def test_file_that_cannot_be_replaced_ends_with_7_and_the_same_command_repairs_it(
    people: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, target: Any) -> None:
        raise OSError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refused)
        assert "same command again" in told(*SET, "--epsilon", "5", "--why", "x", exit_code=7)["fix"]
    told("budget", "people.toml", exit_code=6)
    assert told(*SET, "--epsilon", "5", "--why", "x")["changed"] is True
    assert told("budget", "people.toml")["budget"]["epsilon"] == "5"


def test_rights_and_links_of_the_file_stay(people: Path, told: Told) -> None:
    real = people.with_name("real.toml")
    people.rename(real)
    real.chmod(0o640)
    people.symlink_to(real.name)
    told(*SET, "--epsilon", "5", "--why", "x")
    assert people.is_symlink()
    assert os.stat(real).st_mode & 0o777 == 0o640
    assert load(people).budget.epsilon == 5


# --- reopen ------------------------------------------------------------------------------------------------------


def test_closed_dataset_is_reopened_with_the_command_it_shows(
    people: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Engine, *_: Any, **__: Any) -> Any:
        raise ValueError

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "run", broken)
        for number in range(5):
            told("ask", "people.toml", COUNT, "--eps", f"0.0{number + 1}", exit_code=7)
    refused = told("ask", "people.toml", COUNT, "--eps", "1", exit_code=7)
    assert refused["code"] == "closed"
    assert told("budget", "people.toml")["closed"] is True
    command = words_in(refused["fix"].partition("discreet ")[2])
    assert told(*command)["closed"] is False
    told("ask", "people.toml", COUNT, "--eps", "1")


def test_open_dataset_is_not_reopened(people: Path, told: Told) -> None:
    told("budget", "reopen", "people.toml", "--why", "x", exit_code=2)
    assert not people.with_suffix(".ledger").exists()
    assert '--why "…"' in told("budget", "reopen", "people.toml", exit_code=2)["fix"]
