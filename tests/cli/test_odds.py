"""`discreet odds`, for people and for programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import main
from discreet.cli.reply import Reply, show
from discreet.errors import BadValue


def asked(capfd: pytest.CaptureFixture[str], *arguments: str, exit_code: int = 0) -> dict[str, Any]:
    """The JSON object that `discreet odds ARGUMENTS --json` prints."""
    assert main.status(["odds", *arguments, "--json"]) == exit_code
    said = capfd.readouterr()
    assert said.out.count("\n") == 1
    reply: dict[str, Any] = json.loads(said.out)
    return reply


def told(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a person reads."""
    assert main.status(["odds", *arguments]) == 0
    said = capfd.readouterr()
    assert said.err == ""
    return " ".join(said.out.split())


def test_odds_of_epsilon_1_are_the_closed_forms(capfd: pytest.CaptureFixture[str]) -> None:
    reply = asked(capfd, "--eps", "1", "--prior", "0.4")
    assert set(reply) == {"ok", "format", "dataset", "cost", "remaining", "receipt", "caveats", "odds"}
    assert reply["cost"] == {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": None}
    assert reply["odds"]["promise"] == {"kind": "pure", "epsilon": "1"}
    assert reply["odds"]["belief"] == {"low": 0.19695, "high": 0.644405}
    assert reply["odds"]["guess"] == 0.731059
    assert reply["odds"]["catch"] == 0.0271829
    assert reply["odds"]["strength"] == "strong"


def test_numbers_are_read_as_decimals_never_as_floats(capfd: pytest.CaptureFixture[str]) -> None:
    assert asked(capfd, "--epsilon", "0.1")["odds"]["promise"]["epsilon"] == "1/10"
    assert asked(capfd, "--eps", "1/3")["cost"]["epsilon"] == "0.333333333334"


def test_odds_are_told_in_plain_words(capfd: pytest.CaptureFixture[str]) -> None:
    said = told(capfd, "--eps", "1", "--prior", "0.4")
    assert "ε = 1, neighbours by add-remove: strong" in said
    assert "multiplied by at most 2.72" in said
    assert "from 40 of 100 to between 19.6 and 64.5 of 100" in said
    assert "right at most 73.2 times of 100" in said
    assert "at most 2.8 of 100 members at one false accusation per 100" in said
    assert "26.8 would make them say yes if you stay out and 73.2 if you take part" in said


def test_odds_of_two_fair_coins_are_those_of_the_survey(capfd: pytest.CaptureFixture[str]) -> None:
    reply = asked(capfd, "--survey", "--prior", "0.02")
    assert round(reply["odds"]["belief"]["high"], 4) == 0.0577
    assert reply["cost"]["neighbours"] == "replace-one"
    assert reply["odds"]["question"] == "value"
    said = told(capfd, "--survey", "--prior", "0.02")
    assert "25 would make them say so if it is not and 75 if it is" in said
    assert "seen by nobody but you" in said


def test_value_under_add_remove_moves_by_twice_epsilon(capfd: pytest.CaptureFixture[str]) -> None:
    presence, value = asked(capfd, "--eps", "1"), asked(capfd, "--eps", "1", "--question", "value")
    replaced = asked(capfd, "--eps", "1", "--relation", "replace-one")
    assert [reply["odds"]["log_factor"] for reply in (presence, value, replaced)] == ["1", "2", "1"]
    assert any("twice as far" in note for note in presence["caveats"])
    assert any("two steps" in note for note in value["caveats"])


def test_groups_multiply_the_log_factor(capfd: pytest.CaptureFixture[str]) -> None:
    assert asked(capfd, "--eps", "0.5", "--group", "4")["odds"]["log_factor"] == "2"
    said = told(capfd, "--eps", "0.5", "--group", "4")
    assert "you and 3 others at once" in said
    assert "suspects you and 3 others are all" in said


def test_best_guess_is_stated_for_the_given_prior(capfd: pytest.CaptureFixture[str]) -> None:
    said = told(capfd, "--eps", "1", "--prior", "0.4")
    assert "with prior right at most 73.2 times of 100, where the prior alone is right 60" in said
    assert "right at most 90 times of 100, where the prior alone is right 90" in told(
        capfd, "--eps", "1", "--prior", "0.1"
    )
    assert "with prior" not in told(capfd, "--eps", "1", "--prior", "1/2")


def test_large_factor_is_not_called_a_bound(capfd: pytest.CaptureFixture[str]) -> None:
    assert "can be multiplied by more than 400 million" in told(capfd, "--eps", "30")


def test_word_for_strength_follows_the_best_guess(capfd: pytest.CaptureFixture[str]) -> None:
    odds = asked(capfd, "--sigma", "2.5")["odds"]
    assert (odds["strength"], round(odds["guess"], 2)) == ("strong", 0.58)
    assert asked(capfd, "--eps", "1", "--delta", "1e-6")["odds"]["strength"] == "strong"


def test_chance_says_where_its_factor_comes_from(capfd: pytest.CaptureFixture[str]) -> None:
    said = told(capfd, "--eps", "1", "--delta", "1e-6")
    assert "one in 7,330: they move further towards the truth with a chance of at most 100 times δ, and" in said
    assert "At 100 times δ the bound is ε + 0.0101" in said
    assert "100 times the δ of 2 steps" in told(capfd, "--eps", "1", "--delta", "1e-6", "--group", "2")
    assert "0.0101" not in told(capfd, "--sigma", "1")


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (["--prior", "40%"], "Give a number such as 0.4."),
        (["--false-alarms", "0"], "Give a number such as 0.01."),
        (["--group", "x"], "Give a number such as 4."),
    ],
)
def test_fix_gives_a_number_that_suits_the_flag(
    capfd: pytest.CaptureFixture[str], arguments: list[str], fix: str
) -> None:
    assert asked(capfd, "--eps", "1", *arguments, exit_code=2)["fix"] == fix


def test_fix_of_delta_names_no_flag_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    fix = asked(capfd, "--eps", "1", "--delta", "0.5", exit_code=2)["fix"]
    assert "1e-7" in fix
    assert "declare" not in fix


def test_odds_are_told_for_presence_and_for_a_value(capfd: pytest.CaptureFixture[str]) -> None:
    said = told(capfd, "--eps", "1")
    assert "whether you are in this data by at most 2.72, and on which of two values is yours by at most 7.39" in said
    about = asked(capfd, "--eps", "1")["odds"]["about"]
    assert [(odds["question"], odds["steps"], odds["log_factor"]) for odds in about] == [
        ("presence", 1, "1"),
        ("value", 2, "2"),
    ]
    assert "is not hidden" in told(capfd, "--eps", "1", "--relation", "replace-one")


def test_promise_with_a_delta_names_the_chance_it_leaves_out(capfd: pytest.CaptureFixture[str]) -> None:
    reply = asked(capfd, "--eps", "1", "--delta", "1e-8")
    assert reply["odds"]["except_chance"] == "1.36421e-6"  # 10⁻⁶·(1 + e^(−1.01005)): too far up, and too far down
    assert reply["odds"]["about"][0]["except_chance"] == "1.36421e-6"
    assert reply["odds"]["log_factor"] == "1.01005033586"
    assert all("one in 733,029" in note for note in reply["caveats"][:2])
    assert asked(capfd, "--eps", "1", "--delta", "0")["odds"]["except_chance"] == "0"


def test_gaussian_and_concentrated_promises_have_guesses(capfd: pytest.CaptureFixture[str]) -> None:
    gaussian = asked(capfd, "--sigma", "10")
    assert gaussian["cost"]["delta"] == "1e-6"
    assert gaussian["odds"]["guess"] == 0.519939  # Φ(1/20)
    concentrated = asked(capfd, "--rho", "0.005", "--delta", "1e-7")
    assert concentrated["cost"]["delta"] == "1e-7"
    assert concentrated["odds"]["guess"] > gaussian["odds"]["guess"]


def test_promise_that_wears_off_for_groups_is_not_priced(capfd: pytest.CaptureFixture[str]) -> None:
    reply = asked(capfd, "--eps", "20", "--delta", "1e-6", "--question", "value", exit_code=4)
    assert reply["code"] == "not-priced"


@pytest.mark.parametrize(
    "epsilon", ["nan", "inf", "-1", "0", "1e999", "9" * 5000, "", "one", "1e-10", "1e7", "0x1", "１"]
)
def test_bad_epsilons_are_refused(epsilon: str, capfd: pytest.CaptureFixture[str]) -> None:
    reply = asked(capfd, "--eps", epsilon, exit_code=2)
    assert (reply["code"], reply["exit"]) == ("bad-value", 2)
    assert reply["what"] == "epsilon must be a decimal number between 1e-9 and 1e6."
    assert len(reply["why"]) < 120
    assert main.status(["odds", "--eps", epsilon]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert len(said.err.strip().splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--eps", "1", "--prior", "0"], "prior"),
        (["--eps", "1", "--prior", "1"], "prior"),
        (["--eps", "1", "--prior", "nan"], "prior"),
        (["--eps", "1", "--prior", "-0.1"], "prior"),
        (["--eps", "1", "--delta", "0.1"], "delta"),
        (["--eps", "1", "--delta", "nan"], "delta"),
        (["--sigma", "1", "--delta", "0"], "delta"),
        (["--sigma", "0"], "sigma"),
        (["--sigma", "nan"], "sigma"),
        (["--rho", "-1"], "rho"),
        (["--rho", "inf"], "rho"),
        (["--eps", "1", "--group", "0"], "group"),
        (["--eps", "1", "--group", "-3"], "group"),
        (["--eps", "1", "--relation", "neighbours"], "relation"),
        (["--eps", "1", "--question", "both"], "question"),
        (["--eps", "1", "--relation", "replace-one", "--question", "presence"], "question"),
        (["--eps", "1", "--false-alarms", "0"], "false-alarms"),
        (["--survey", "--delta", "1e-7"], "delta"),
        (["--survey", "--sigma", "1"], "promise"),
        (["--eps", "1", "--sigma", "1"], "promise"),
        ([], "promise"),
    ],
    ids=str,
)
def test_bad_values_are_refused_by_name(arguments: list[str], name: str, capfd: pytest.CaptureFixture[str]) -> None:
    reply = asked(capfd, *arguments, exit_code=2)
    assert reply["code"] == "bad-value"
    assert reply["what"].startswith(f"{name} must ")
    assert reply["fix"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--eps", "1e6", "--group", "1000000", "--question", "value"],
        ["--eps", "1e-9", "--prior", "1e-300"],
        ["--sigma", "1e-9"],
        ["--sigma", "1e300"],
        ["--rho", "1e-300"],
        ["--rho", "1e9"],
        ["--eps", "1", "--prior", "0." + "9" * 70],
    ],
    ids=str,
)
def test_extreme_but_lawful_values_are_answered(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    odds = asked(capfd, *arguments)["odds"]
    assert 0 <= odds["belief"]["low"] <= odds["belief"]["high"] <= 1
    assert 0.5 <= odds["guess"] <= 1
    assert 0 < odds["catch"] <= 1
    assert told(capfd, *arguments)


def test_answer_goes_to_a_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "odds.txt"
    assert main.status(["odds", "--eps", "1", "-o", str(target)]) == 0
    said = capfd.readouterr()
    assert said.out == ""
    assert str(target) in said.err
    assert "multiplied by at most 2.72" in target.read_text(encoding="utf-8")
    assert "\x1b" not in target.read_text(encoding="utf-8")


def test_json_goes_to_the_file_and_to_stdout(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "odds.json"
    reply = asked(capfd, "--eps", "1", "-o", str(target))
    assert json.loads(target.read_text(encoding="utf-8")) == reply


def test_file_that_cannot_be_written_ends_with_7(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lost = tmp_path / "missing" / "odds.txt"
    reply = asked(capfd, "--eps", "1", "-o", str(lost), exit_code=7)
    assert reply["code"] == "cannot-write"
    assert str(lost) in reply["what"]
    assert f"mkdir -p {lost.parent}" in reply["fix"]
    reply = asked(capfd, "--eps", "1", "-o", str(tmp_path), exit_code=7)
    assert reply["code"] == "cannot-write"
    assert str(tmp_path / "answer.txt") in reply["fix"]


@pytest.mark.parametrize(
    "verb",
    [["odds", "--eps", "1"], ["audit", "two-coins", "--runs", "200"], ["audit", "--list"], ["demo", "lecture"]],
    ids=str,
)
def test_file_that_is_there_is_replaced_only_with_yes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verb: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("mine.txt")
    file.write_text("mine", encoding="utf-8")
    assert main.status([*verb, "-o", str(file), "--json"]) == 2
    reply = json.loads(capfd.readouterr().out)
    assert str(file) in reply["why"]
    assert "--yes" in reply["fix"]
    assert file.read_text(encoding="utf-8") == "mine"
    assert main.status([*verb, "-o", str(file), "--yes"]) == 0
    assert len(file.read_text(encoding="utf-8")) > 50


def test_verb_without_yes_never_replaces_and_does_not_suggest_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(BadValue, match="Give another name after -o") as refused:
        show(Reply({}, lambda: "said", file), as_json=False)
    assert "--yes" not in refused.value.fix
    assert file.read_text(encoding="utf-8") == "mine"
    assert show(Reply({}, lambda: "said", Path("/dev/null")), as_json=False) == 0
