"""`discreet curve`: one object with its points, a table for people, a picture with words, and clear refusals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_curve_is_one_object_with_points_and_a_slope(told: Told) -> None:
    reply = told("curve", "laplace", "--eps", "0.5", "--eps", "2", "--seed", "3")
    assert reply["slope"] == pytest.approx(-1, abs=0.03)
    assert {point["epsilon"] for point in reply["points"]} == {0.5, 2.0}
    assert {"n", "epsilon", "measured", "low", "high", "theory"} <= set(reply["points"][0])
    assert (reply["curve"], reply["cost"], reply["receipt"], reply["file"]) == ("laplace", None, None, None)


@pytest.mark.parametrize("name", ["curve.svg", "curve.png"])
def test_curve_is_drawn_with_its_words_inside(told: Told, name: str) -> None:
    reply = told("curve", "dimensions", "-o", name)
    assert reply["file"] == name
    assert reply["overtakes_at"] == {"1": 7}
    content = Path(name).read_bytes()
    assert reply["alt"].startswith("Many counts at once")
    assert reply["sentence"].split(":")[0].encode() in content


def test_table_is_the_pictures_twin(shown: Shown) -> None:
    out, _ = shown("curve", "exponential")
    assert "mean shortfall" in out
    assert "95 % interval" in out
    assert "result" in out


def test_picture_that_is_there_is_kept_unless_it_may_be_replaced(told: Told) -> None:
    Path("c.svg").write_text("mine")
    assert "--yes" in told("curve", "exponential", "-o", "c.svg", exit_code=2)["fix"]
    assert Path("c.svg").read_text() == "mine"
    told("curve", "exponential", "-o", "c.svg", "--yes")
    assert "svg" in Path("c.svg").read_text()


@pytest.mark.parametrize("name", ["worlds", "posterior", "odometer"])
def test_promise_is_drawn_with_its_table_beside_it(told: Told, shown: Shown, name: str) -> None:
    reply = told("curve", name, "-o", f"{name}.svg")
    assert (reply["curve"], reply["file"], reply["cost"]) == (name, f"{name}.svg", None)
    assert all(len(row) == len(reply["table"]["header"]) for row in reply["table"]["rows"])
    assert reply["sentence"].split(".")[0] in Path(f"{name}.svg").read_text(encoding="utf-8")
    out, _ = shown("curve", name)
    assert all(row[0] in out for row in reply["table"]["rows"])
    assert name in told("curve", "--help")["text"]


def test_promise_is_at_the_given_epsilon(told: Told) -> None:
    assert "37.63 and 42.42 %" in told("curve", "posterior", "--eps", "0.1")["sentence"]
    assert "Gaussian noise" in told("curve", "worlds", "--eps", "0.5", "--delta", "0.01")["sentence"]
    spent = told("curve", "odometer", "--eps", "0.5", "--eps", "0.25", "--budget", "1")
    assert spent["table"]["rows"] == [["answer 1", "0.5", "0.5", "0.5"], ["answer 2", "0.25", "0.75", "0.25"]]


def test_worlds_are_a_page_whose_epsilon_can_be_dragged(told: Told) -> None:
    told("curve", "worlds", "--eps", "0.77", "-o", "worlds.html")
    page = Path("worlds.html").read_text(encoding="utf-8")
    assert "script-src 'sha256-" in page.replace("&#x27;", "'")
    assert 'value="0.77"' in page
    assert "--yes" in told("curve", "worlds", "-o", "worlds.html", exit_code=2)["fix"]
    told("curve", "worlds", "-o", "worlds.html", "--yes")
    assert 'value="0.77"' not in Path("worlds.html").read_text(encoding="utf-8")


def test_no_name_is_told_the_names(told: Told) -> None:
    reply = told("curve", exit_code=2)
    assert "laplace, gaussian" in reply["what"]
    assert reply["why"] == "You gave no name."


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "laplace"),
        (["laplce"], "laplace"),
        (["laplace", "--eps", "0"], "epsilon"),
        (["laplace", "--eps", "x"], "epsilon"),
        (["shuffled", "--eps", "1", "--eps", "2"], "epsilon"),
        (["descent", "--eps", "1"], "descent"),
        (["laplace", "--seed", "-1"], "seed"),
        (["laplace", "-o", "c.pdf"], ".png or .svg"),
        (["laplace", "-o", "nowhere/c.svg"], "folder"),
        (["laplace", "--delta", "0.1"], "delta"),
        (["laplace", "--budget", "1"], "budget"),
        (["posteror"], "posterior"),
        (["posterior", "-o", "c.html"], "only curve worlds takes .html"),
        (["response", "-o", "c.html"], "only curve worlds takes .html"),
        (["worlds", "-o", "nowhere/c.html"], "folder"),
        (["worlds", "--eps", "1000"], "epsilon"),
        (["worlds", "--eps", "1", "--eps", "2"], "epsilon"),
        (["worlds", "--delta", "0.7"], "delta"),
        (["posterior", "--eps", "1000"], "epsilon"),
        (["odometer", "--eps", "2", "--eps", "2"], "budget"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(told: Told, arguments: list[str], word: str) -> None:
    reply = told("curve", *arguments, exit_code=2)
    assert word in f"{reply['what']} {reply['fix']}"
    assert not list(Path().iterdir())
