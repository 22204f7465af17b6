"""`discreet explain`: the same path before asking and from what was stored."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]
SUM = "SELECT SUM(age) AS total FROM people"


def test_question_is_explained_before_it_is_asked_and_nothing_is_made(people: Path, told: Told, shown: Shown) -> None:
    people.with_suffix(".csv").unlink()
    explanation = told("explain", "people.toml", SUM, "--eps", "2")["explain"]
    assert explanation["epsilon"] == "2"
    assert explanation["columns"][0]["sensitivity"] == "220"  # two rows of at most 110
    assert explanation["parts"][0]["mechanism"] == "Laplace"
    out = shown("explain", "people.toml", SUM, "--eps", "2")[0]
    assert out.splitlines() == explanation["words"]
    assert "Sensitivity 220" in out
    assert [path.name for path in people.parent.iterdir()] == ["people.toml"]


def test_without_a_price_it_is_explained_at_1_and_with_a_wanted_error_at_its_price(people: Path, told: Told) -> None:
    assert told("explain", "people.toml", SUM)["cost"]["epsilon"] == "1"
    wanted = told("quote", "people.toml", SUM, "--error", "total=500")["cost"]
    assert told("explain", "people.toml", SUM, "--error", "total=500")["cost"] == wanted


def test_answer_is_explained_as_its_question_was(people: Path, told: Told, shown: Shown) -> None:
    before = told("explain", "people.toml", SUM, "--eps", "0.5")
    receipt = told("ask", "people.toml", SUM, "--eps", "0.5")["receipt"]
    told("ask", "people.toml", SUM, "--eps", "0.25")
    for named in (receipt, receipt.partition("-")[0], receipt[:6]):
        reply = told("explain", "people.toml", named)
        assert reply["receipt"] == receipt
        assert reply["cost"] == before["cost"]
        assert reply["explain"]["words"] == before["explain"]["words"]
        assert reply["explain"]["question"].startswith("SELECT SUM(age) AS total")
    last = told("explain", "people.toml", "last")
    assert last["cost"]["epsilon"] == "0.25"
    asked, newest, blank, *words = shown("explain", "people.toml", "last")[0].splitlines()
    assert (asked, newest, blank) == (
        last["explain"]["question"],
        f"Receipt {last['receipt']}, drawn by Discreet {version('discreet')}.",
        "",
    )
    assert words == last["explain"]["words"]


@pytest.mark.parametrize("receipt", ["last", "2", "7-0123456789ab"])
def test_unknown_receipt_is_refused_with_those_there_are(people: Path, told: Told, receipt: str) -> None:
    assert "discreet ask people.toml" in told("explain", "people.toml", receipt, exit_code=2)["fix"]
    assert not people.with_suffix(".ledger").exists()
    known = told("ask", "people.toml", SUM, "--eps", "0.5")["receipt"]
    if receipt == "7-0123456789ab":
        assert known in told("explain", "people.toml", receipt, exit_code=2)["fix"]
