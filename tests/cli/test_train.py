"""`discreet train`: the plan, a noisy count where rows are not public, one net and its file; card and predictions."""

import csv
import importlib.util
import io
import shlex
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deep.folk import write
from discreet.rehearsal.stamp import SENTENCE

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]
SMALL = ("--target", "sick", "--features", "age,region", "--hidden", "4", "--bins", "8", "--epochs", "1", "--eps", "2")
TRAIN = ("train", "people.toml", *SMALL, "-o", "sick.dp")


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Persons with an illness, in a folder of its own that is also the present one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


def spent(told: Told) -> Fraction:
    return Fraction(told("budget", "people.toml")["spent"]["epsilon"])


# --- plan ------------------------------------------------------------------------------------------------------------


def test_plan_costs_nothing_and_offers_the_training(people: Path, told: Told) -> None:
    people.with_suffix(".csv").unlink()
    reply = told("train", "plan", "people.toml", *SMALL)
    assert (reply["steps"], reply["rate"], reply["count_epsilon"], reply["fits"]) == (16, "1/16", "0.04", True)
    assert 0 < Fraction(reply["cost"]["epsilon"]) <= 2
    assert shlex.split(reply["next"][0])[:3] == ["discreet", "train", "people.toml"]
    assert sorted(path.name for path in people.parent.iterdir()) == ["people.toml"]


def test_plan_of_public_rows_counts_nobody(people: Path, told: Told) -> None:
    reply = told("train", "plan", "people.toml", *SMALL, "--rows", "300", "--batch", "100", "--delta", "1e-6")
    assert (reply["rows"], reply["steps"], reply["rate"], reply["count_epsilon"]) == (300, 3, "1/3", "0")
    assert "the 100 expected units" in " ".join(reply["words"])


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--eps", "1"), "--target"),
        (("--target", "sick"), "--eps 1"),
        (("--target", "sck", "--eps", "1"), "sick"),
        (("--target", "note", "--eps", "1"), "public values"),
        (("--target", "sick", "--eps", "1", "--batch", "10"), "--rows 30000"),
        (("--target", "sick", "--eps", "1", "--batch", "400", "--rows", "300"), "smaller batch"),
        (("--target", "sick", "--eps", "1", "--hidden", "8,,8"), "hidden"),
        (("--target", "sick", "--eps", "1", "--bins", "1"), "bins"),
        (("--target", "sick", "--eps", "1", "--clip", "0"), "clip"),
        (("--target", "sick", "--eps", "1", "--learning-rate", "-1"), "learning-rate"),
        (("--target", "sick", "--eps", "1", "--epochs", "none"), "epochs"),
        (("--target", "sick", "--eps", "1", "--delta", "0"), "must be above 0 for a net"),
        (("--target", "sick", "--eps", "1", "--features", "age,,region"), "--features age,region"),
        (("--target", "sick", "--eps", "1", "--max-rows", "3"), "max_rows"),
        (("--target", "sick", "--eps", "1", "--test", "20"), "0.2 holds out 20 of 100"),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, tuple) else None,
)
def test_flags_that_break_a_rule_are_refused(people: Path, told: Told, flags: tuple[str, ...], said: str) -> None:
    problem = told("train", "plan", "people.toml", *flags, exit_code=2)
    assert said in f"{problem['what']} {problem['fix']}"
    assert not people.with_suffix(".ledger").exists()


def test_a_plan_that_does_not_fit_offers_what_does(people: Path, told: Told) -> None:
    reply = told("train", "plan", "people.toml", *SMALL[:-1], "300")
    assert reply["fits"] is False
    assert Fraction(shlex.split(reply["next"][0])[-1]) <= 100


# --- train -----------------------------------------------------------------------------------------------------------


def test_a_training_pays_count_and_net_within_the_typed_price_and_replays_both(people: Path, told: Told) -> None:
    first = told(*TRAIN)
    assert (first["replayed"], first["file"], first["rows"]) == (False, "sick.dp", None)
    paid = spent(told)
    assert paid == Fraction(first["cost"]["epsilon"]) <= 2
    assert len(told("ledger", "people.toml")["entries"]) > 2
    second = told(*TRAIN, "--yes")
    assert (second["replayed"], second["receipt"], spent(told)) == (True, first["receipt"], paid)


def test_people_read_what_was_paid_and_what_can_follow(people: Path, shown: Shown) -> None:
    out, err = shown(*TRAIN)
    assert out == "sick.dp\n"
    assert all(word in err for word in ("cost: ε = 1.99", "receipt: ", "discreet train card sick.dp"))


def test_the_card_states_the_promise(people: Path, told: Told, shown: Shown) -> None:
    told(*TRAIN)
    out, _ = shown("train", "card", "sick.dp")
    assert out.startswith("# TableNet")
    assert "The promise covers everything from the rows of the table to the model." in out
    assert told("train", "card", "sick.dp")["card"]["privacy"]["unit"] == "id"


def test_the_card_comes_with_a_picture_of_what_was_spent(people: Path, told: Told) -> None:
    told(*TRAIN)
    assert told("train", "card", "sick.dp", "--plot", "spent.svg")["plot"] == "spent.svg"
    drawn = Path("spent.svg").read_text(encoding="utf-8")
    assert "What a net for sick spent" in drawn
    both = ("--plot", "both.svg", "-o", "both.svg")
    assert "must be another file" in told("train", "card", "sick.dp", *both, exit_code=2)["what"]
    assert "--yes" in told("train", "card", "sick.dp", "--plot", "spent.svg", exit_code=2)["fix"]


def test_predictions_are_a_csv_with_a_probability_of_each_class(people: Path, told: Told, shown: Shown) -> None:
    told(*TRAIN)
    Path("rows.csv").write_text("age,region\n20,n\n,?\n")
    out, err = shown("train", "predict", "sick.dp", "rows.csv")
    header, *rows = csv.reader(io.StringIO(out))
    assert header == ["row", "prediction", "P(no)", "P(yes)"]
    assert [abs(sum(map(float, row[2:])) - 1) < 1e-9 for row in rows] == [True, True]
    assert "1 of age, 1 of region" in err
    assert told("train", "predict", "sick.dp", "rows.csv")["rows"][0]["row"] == 1


def test_a_number_is_predicted_within_its_bounds(people: Path, told: Told) -> None:
    told("train", "people.toml", "--target", "pay", *SMALL[2:], "--rows", "300", "-o", "pay.dp")
    Path("rows.csv").write_text("age,region\n20,n\n")
    (row,) = told("train", "predict", "pay.dp", "rows.csv")["rows"]
    assert 0 <= row["prediction"] <= 500


def test_with_a_share_held_out_the_net_is_of_the_others(people: Path, told: Told) -> None:
    told(*TRAIN, "--test", "0.5")
    where = told("train", "card", "sick.dp")["card"]["privacy"]["public"]["table"]["subject"]["where"]
    assert "unit_in" in where


def test_a_net_is_scored_as_other_models_are(people: Path, told: Told) -> None:
    offered = told(*TRAIN, "--test", "0.5")["next"][0]
    assert shlex.split(offered)[:3] == ["discreet", "learn", "score"]
    score = told(*shlex.split(offered)[1:])
    assert (score["metric"], score["model"]) == ("accuracy", "a net for sick")
    assert "The model was not trained on these units." in score["caveats"]


def test_what_does_not_fit_is_refused_before_anybody_is_counted(people: Path, told: Told) -> None:
    problem = told("train", "people.toml", *SMALL[:-1], "300", exit_code=5)
    assert problem["fixes"][0]["verb"] == "train"
    assert not people.with_suffix(".ledger").exists()


def test_a_rehearsal_charges_nothing_and_stamps_the_net(people: Path, told: Told, shown: Shown) -> None:
    _, err = shown("train", "people.toml", *SMALL, "--rehearse")
    assert SENTENCE in err
    assert "nothing was charged" in err
    assert not people.with_suffix(".ledger").exists()
    assert "REHEARSAL" in shown("train", "card", "people.rehearsal.dp")[0]
    Path("rows.csv").write_text("age,region\n20,n\n")
    assert told("train", "predict", "people.rehearsal.dp", "rows.csv")["rows"][0]["rehearsal"] == "invented"


def test_files_that_are_there_or_are_none_are_refused_before_the_charge(people: Path, told: Told) -> None:
    Path("sick.dp").write_text("mine")
    assert "replace=True" in told(*TRAIN, exit_code=2)["fix"]
    assert not people.with_suffix(".ledger").exists()
    assert "shorter" in told(*TRAIN[:-1], "x" * 300, exit_code=2)["fix"]
    assert "shorter" in told("learn", "fit", "x" * 300, exit_code=2)["fix"]
    told("train", "card", "sick.dp", exit_code=6)
    told("train", "card", "nowhere.dp", exit_code=2)


def test_without_torch_the_extra_is_named(people: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr("discreet.operation.model.find_spec", lambda name: None if name == "torch" else there(name))
    assert "discreet[deep]" in told("train", "plan", "people.toml", *SMALL, exit_code=2)["fix"]
    assert "discreet[deep]" in told("train", "card", "sick.dp", exit_code=2)["fix"]
