"""`discreet picture`: one object, a tile of M and dots, a picture with words, and clear refusals."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]
SMALL = ("--size", "256")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_picture_is_one_object_with_its_promise(told: Told) -> None:
    reply = told("picture", *SMALL)
    assert reply["epsilon_bit"] == pytest.approx(math.log(3))
    assert reply["epsilon_tile"] == pytest.approx(256 * math.log(3))
    assert (reply["inverted"], reply["people"], reply["cost"]) == (False, 256, None)
    assert {"zoom_needed", "correlation", "tile", "tile_sent", "zooms"} <= set(reply)


def test_lectures_flips_are_said_to_be_inverted_and_never_enough(told: Told) -> None:
    reply = told("picture", "--flip", "0.51", *SMALL)
    assert (reply["inverted"], reply["zoom_needed"]) == (True, None)
    assert reply["epsilon_bit"] == pytest.approx(0.04, abs=1e-4)


def test_epsilon_of_a_bit_can_be_given(told: Told) -> None:
    reply = told("picture", "--eps", "3", "--zoom", "8", *SMALL)
    assert (reply["epsilon_bit"], reply["zoom"]) == (3.0, 8)
    assert reply["flip"] == pytest.approx(1 / (1 + math.exp(3)), abs=1e-6)


@pytest.mark.parametrize("name", ["p.png", "p.svg"])
def test_picture_is_drawn_with_its_words_inside(told: Told, name: str) -> None:
    reply = told("picture", *SMALL, "-o", name)
    content = Path(name).read_bytes()
    assert content.startswith((b"\x89PNG", b"<?xml"))
    assert reply["alt"].startswith("Five panels")
    assert b"Five panels" in content


def test_table_shows_both_tiles_and_every_zoom(shown: Shown) -> None:
    out, _ = shown("picture", *SMALL)
    assert "what they send" in out
    assert "correlation" in out
    assert sum(set(line.replace(" ", "")) == {"M", "."} for line in out.splitlines()) == 16


def test_own_image_takes_the_place_of_the_built_in_one(told: Told, shown: Shown) -> None:
    Image.linear_gradient("L").save("own.png")
    reply = told("picture", "--image", "own.png", "--eps", "5", *SMALL)
    assert reply["correlation"] > 0.9
    assert "the middle square was taken" in reply["caveats"][-1]
    assert "the middle square was taken" in shown("picture", "--image", "own.png", *SMALL)[0]
    assert "middle square" not in shown("picture", *SMALL)[0]
    refusal = told("picture", "--image", "own.png", "-o", "own.png", "--yes", exit_code=2)
    assert refusal["what"] == "output must be another file than the image."
    assert refusal["fix"] == "Give another name after -o."


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--flip", "0.5"], "0.5"),
        (["--flip", "0"], "flip"),
        (["--flip", "1"], "flip"),
        (["--flip", "x"], "flip"),
        (["--flip", "0.25", "--eps", "1"], "flip"),
        (["--eps", "0"], "epsilon"),
        (["--eps", "50"], "epsilon"),
        (["--size", "100"], "size"),
        (["--size", "8192"], "size"),
        (["--zoom", "3"], "zoom"),
        (["--zoom", "512"], "zoom"),
        (["--image", "none.png"], "image"),
        (["-o", "p.gif"], ".png or .svg"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(told: Told, arguments: list[str], word: str) -> None:
    reply = told("picture", *arguments, exit_code=2)
    assert word in f"{reply['what']} {reply['fix']}"
    assert not list(Path().iterdir())


def test_an_image_that_is_none_is_refused(told: Told) -> None:
    Path("own.png").write_text("no picture")
    assert "image must be a PNG or JPEG file" in told("picture", "--image", "own.png", exit_code=2)["what"]
