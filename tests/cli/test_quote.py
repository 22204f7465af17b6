"""`discreet quote`: price and error first; nothing is spent, nothing is touched."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Told = Callable[..., dict[str, Any]]
COUNTS = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"


def test_quote_has_the_keys_of_the_public_face(people: Path, told: Told) -> None:
    reply = told("quote", "people.toml", COUNTS, "--eps", "1")
    assert reply["receipt"] is None
    assert reply["cost"] == {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "person_id"}
    assert reply["remaining"]["epsilon"] == "3"
    assert reply["remaining_after"]["epsilon"] == "2"
    assert [set(column) >= {"name", "mechanism", "moe"} for column in reply["columns"]] == [True]
    assert reply["smallest_group"] == 10 * reply["columns"][0]["moe"]
    assert reply["caveats"]


def test_small_counts_are_said_to_have_a_wide_margin_and_not_to_be_off(
    people: Path, told: Told, shown: Callable[..., tuple[str, str]]
) -> None:
    """95 times of 100 the error is within ±, and most often far within: a small count need not be off by 10 %."""
    smallest = told("quote", "people.toml", COUNTS, "--eps", "1")["smallest_group"]
    drawn = shown("quote", "people.toml", COUNTS, "--eps", "1")[0]
    assert f"For a count below {smallest:,} the ± is more than 10 % of it." in drawn
    assert "off by" not in drawn


def test_largest_margin_of_several_counts_is_named(people: Path, shown: Callable[..., tuple[str, str]]) -> None:
    both = "SELECT COUNT(*) AS n, COUNT(DISTINCT person_id) AS people FROM people"
    assert "the largest ± is more than 10 % of it." in shown("quote", "people.toml", both, "--eps", "1")[0]
    same = "SELECT COUNT(*) AS n, COUNT(*) AS n2 FROM people"
    assert "the ± is more than 10 % of it." in shown("quote", "people.toml", same, "--eps", "1")[0]


def test_quote_makes_no_file_and_needs_no_table(people: Path, told: Told) -> None:
    people.with_suffix(".csv").unlink()
    told("quote", "people.toml", COUNTS, "--eps", "1")
    told("ask", "people.toml", COUNTS, "--eps", "1", "--dry-run")
    assert [path.name for path in people.parent.iterdir()] == ["people.toml"]


def test_dry_run_of_ask_is_the_quote(people: Path, told: Told) -> None:
    quoted = told("quote", "people.toml", COUNTS, "--error", "n=15")
    assert quoted.pop("next")
    assert told("ask", "people.toml", COUNTS, "--error", "n=15", "--dry-run") == quoted


@pytest.mark.parametrize("error", [["n=15"], ["15"], ["n=15,n2=20"], ["n=15", "--error", "n2=20"]], ids=str)
def test_wanted_error_finds_the_least_price_that_reaches_it(people: Path, told: Told, error: list[str]) -> None:
    several = "n2" in " ".join(error)
    sql = "SELECT COUNT(*) AS n" + (", COUNT(*) AS n2" if several else "") + " FROM people"
    reply = told("quote", "people.toml", sql, "--error", *error)
    assert reply["columns"][0]["moe"] <= 15
    cheaper = f"{float(reply['cost']['epsilon']) * 0.9:.6f}"
    requoted = told("quote", "people.toml", sql, "--eps", cheaper)
    assert max(column["moe"] for column in requoted["columns"]) > 15


def test_quote_follows_level_delta_analyst_and_size(people: Path, told: Told) -> None:
    mean = "SELECT AVG(age) AS age FROM people"
    wide = told("quote", "people.toml", COUNTS, "--eps", "1", "--level", "0.99")
    assert wide["level"] == 0.99
    assert wide["columns"][0]["moe"] > told("quote", "people.toml", COUNTS, "--eps", "1")["columns"][0]["moe"]
    assert told("quote", "people.toml", COUNTS, "--eps", "1", "--as", "ana")["remaining"]["epsilon"] == "1"
    quote_of_100 = told("quote", "people.toml", mean, "--eps", "1", "--at-size", "100")
    large = told("quote", "people.toml", mean, "--eps", "1", "--at-size", "1e4")
    assert quote_of_100["columns"][0]["moe_at_size"] > large["columns"][0]["moe_at_size"]


def test_price_in_the_text_of_a_question_is_enough(people: Path, told: Told) -> None:
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) COUNT(*) AS n FROM people"
    assert told("quote", "people.toml", sql)["cost"]["epsilon"] == "0.5"


def test_quote_shows_the_line_that_asks_and_it_runs(people: Path, shown: Callable[..., tuple[str, str]]) -> None:
    lines = shown("quote", "people.toml", COUNTS, "--eps", "1", "--level", "0.9")[0].splitlines()
    command = shlex.split(lines[-1])
    assert command == ["discreet", "ask", "people.toml", COUNTS, "--eps", "1", "--level", "0.9"]
    shown(*command[1:], "--dry-run")


REFUSED = [
    (["SELECT COUNT(*) AS n FROM people WHERE agee > 3", "--eps", "1"], 4, "age"),
    (["SELECT name FROM people", "--eps", "1"], 4, ""),
    (["SELEC 1", "--eps", "1"], 4, ""),
    ([COUNTS], 2, "--error n=15"),
    (["SELECT AVG(age) AS age FROM people"], 2, "--eps 1"),
    ([COUNTS, "--eps", "1", "--error", "n=3"], 2, "--eps 1"),
    ([COUNTS, "--eps", "0"], 2, "0.1"),
    ([COUNTS, "--eps", "x"], 2, "0.1"),
    ([COUNTS, "--error", "m=3"], 2, "n=15"),
    ([COUNTS, "--error", "n="], 2, "--error n=15"),
    ([COUNTS, "--error", "n=0"], 2, "0.5"),
    ([COUNTS, "--error", "n"], 2, "--error n=15"),
    ([COUNTS, "--error", "nan"], 2, "--error n=15"),
    ([COUNTS, "--eps", "1", "--level", "1"], 2, "0.95"),
    ([COUNTS, "--eps", "1", "--delta", "0.5"], 2, "1e-7"),
    ([COUNTS, "--eps", "1", "--at-size", "0"], 2, "1000"),
    (["", "--eps", "1"], 4, ""),
]


@pytest.mark.parametrize(("arguments", "exit_code", "fix"), REFUSED, ids=[" ".join(r[0])[-40:] for r in REFUSED])
def test_refusal_names_the_fix_and_makes_no_file(
    people: Path, told: Told, arguments: list[str], exit_code: int, fix: str
) -> None:
    refused = told("quote", "people.toml", *arguments, exit_code=exit_code)
    assert fix in refused["fix"]
    assert "  " not in refused["what"] + refused["why"]
    assert sorted(path.name for path in people.parent.iterdir()) == ["people.csv", "people.toml"]


def test_missing_price_shows_the_users_own_line_twice_and_both_run(people: Path, told: Told) -> None:
    fix = told("ask", "people.toml", COUNTS, "--level", "0.9", exit_code=2)["fix"]
    lines = [line for line in fix.splitlines() if line.startswith("discreet ask")]
    assert len(lines) == 2
    for line in lines:
        assert shlex.split(line)[2:4] == ["people.toml", COUNTS]
        assert "--level 0.9" in line
        told(*shlex.split(line)[1:], "--dry-run")


def test_case_of_a_name_makes_no_other_question(people: Path, told: Told) -> None:
    first = told("ask", "people.toml", COUNTS, "--eps", "1")
    replay = told("ask", "people.toml", COUNTS.replace("region", "Region"), "--eps", "1")
    assert (replay["replayed"], replay["rows"]) == (True, first["rows"])


def test_mistake_in_a_question_has_its_place(people: Path, told: Told) -> None:
    reply = told("quote", "people.toml", "SELECT COUNT(*) AS n\nFROM people JOIN x", "--eps", "1", exit_code=4)
    assert reply["position"]["line"] == 2


def test_metadata_without_a_budget_ends_with_3(people: Path, told: Told) -> None:
    people.write_text(people.read_text().partition("[budget]")[0])
    assert "epsilon = 3" in told("quote", "people.toml", COUNTS, "--eps", "1", exit_code=3)["fix"]


def test_a_price_that_does_not_fit_is_said_with_one_that_does(
    people: Path, told: Told, shown: Callable[..., Any]
) -> None:
    drawn = shown("quote", "people.toml", COUNTS, "--eps", "50")[0]
    assert "It does not fit: epsilon 3 is left." in drawn
    assert "after it" not in drawn
    assert "To ask it:" not in drawn
    assert "This fits:" in drawn
    reply = told("quote", "people.toml", COUNTS, "--eps", "50")
    assert reply["fits"] is False
    (offered,) = reply["next"]
    assert "--eps 3" in offered
    told(*shlex.split(offered)[1:], exit_code=0)
    assert told("quote", "people.toml", COUNTS, "--eps", "1")["fits"] is False  # all is spent now
    assert told("quote", "people.toml", COUNTS, "--eps", "1")["next"] == []


def test_price_equal_to_the_rest_of_the_budget_fits(people: Path, told: Told) -> None:
    assert told("quote", "people.toml", COUNTS, "--eps", "3")["fits"] is True
    assert told("quote", "people.toml", COUNTS, "--eps", "1", "--as", "ana")["fits"] is True
    assert told("quote", "people.toml", COUNTS, "--eps", "1.1", "--as", "ana")["fits"] is False


def test_a_price_above_the_cap_of_one_question_does_not_fit(people: Path, told: Told) -> None:
    people.write_text(
        people.read_text().replace("[budget.analysts]", "max_epsilon_per_question = 2\n[budget.analysts]")
    )
    assert told("quote", "people.toml", COUNTS, "--eps", "2")["fits"] is True
    reply = told("quote", "people.toml", COUNTS, "--eps", "2.5", "--delta", "1e-9")
    assert reply["fits"] is False
    assert "--eps 2" in reply["next"][0]


def test_quote_warns_of_no_count_whose_margin_is_zero(people: Path, told: Told, shown: Callable[..., Any]) -> None:
    people.write_text(people.read_text().replace("epsilon = 3 ", "epsilon = 900"))
    assert "For a count below" not in shown("quote", "people.toml", COUNTS, "--eps", "500")[0]
    assert told("quote", "people.toml", COUNTS, "--eps", "500")["smallest_group"] == 0
