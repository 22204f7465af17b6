"""The picture made of people: noise of a block, the zoom that is needed, negatives, tiles, pictures of one's own.

The number of flipped bits of 4,194,304 is binomial: off by 6 standard deviations with a chance below 2·10⁻⁹.
"""

import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from discreet.errors import DiscreetError
from discreet.lecture.drawn import landscape
from discreet.lecture.image import darkness
from discreet.lecture.mosaic import TILE, Mosaic, bits_of, block_means, mosaic, noise_variance


@cache
def flipped(flip: str, size: int = 2048) -> Mosaic:
    return mosaic(bits_of(landscape(size), 1), flip=Fraction(flip), zoom=None, seed=1)


@pytest.mark.parametrize(
    ("flip", "needed", "correlation"), [("0.25", 16, 0.939), ("0.38", 32, 0.916), ("0.45", 128, 0.961)]
)
def test_zoom_that_is_needed_grows_with_the_flips(flip: str, needed: int, correlation: float) -> None:
    picture = flipped(flip)
    assert picture.zoom_needed == picture.zoom == needed
    assert picture.correlation == pytest.approx(correlation, abs=0.02)
    assert picture.inverted is False
    shown = next(zoom for zoom in picture.zooms if zoom.block == needed)
    assert shown.correlation == pytest.approx(shown.expected, abs=0.02)


def test_at_the_lectures_flips_no_block_is_enough_and_the_picture_is_inverted() -> None:
    picture = flipped("0.51")
    assert picture.zoom_needed is None
    assert picture.inverted is True
    assert picture.epsilon_bit == pytest.approx(math.log(0.51 / 0.49))
    assert 0.2 < picture.correlation < 0.8  # unbiased it leans to the original
    raw = np.corrcoef(block_means(picture.flipped, 128).ravel(), block_means(picture.bits, 128).ravel())[0, 1]
    assert raw == pytest.approx(-picture.correlation)
    assert "inverted" in picture.sentence
    assert "No block" in picture.sentence


def test_so_many_bits_are_flipped_as_is_said() -> None:
    picture = flipped("0.25")
    wrong, bits = int((picture.bits ^ picture.flipped).sum()), picture.bits.size
    assert abs(wrong - bits / 4) < 6 * math.sqrt(bits * 3 / 16)


def test_unbiased_blocks_have_no_bias_and_the_stated_noise() -> None:
    picture = flipped("0.38")
    errors = (picture.unbiased_means(32) - block_means(picture.bits, 32)).ravel()  # 4,096 blocks
    variance = noise_variance(0.38, 32)
    assert abs(errors.mean()) < 6 * math.sqrt(variance / errors.size)
    assert abs(errors.var() / variance - 1) < 6 * math.sqrt(2 / errors.size)


def test_response_at_epsilon_flips_as_often_as_it_should() -> None:
    picture = mosaic(bits_of(landscape(512), 1), epsilon=Fraction(1), zoom=8, seed=1)
    assert picture.flip == pytest.approx(1 / (1 + math.e))
    assert (picture.epsilon_bit, picture.epsilon_tile) == (1.0, 256.0)
    wrong, bits = int((picture.bits ^ picture.flipped).sum()), picture.bits.size
    assert abs(wrong - bits * picture.flip) < 6 * math.sqrt(bits / 4)


def test_tile_is_a_persons_square_of_m_and_dots() -> None:
    picture = flipped("0.25")
    (top, left), lines = picture.person, picture.tile(sent=False)
    assert (top % TILE, left % TILE) == (0, 0)
    assert len(lines) == TILE
    assert {len(line) for line in lines} == {TILE}
    assert set("".join(lines)) == {"M", "."}
    assert lines[3][5] == ("M" if picture.bits[top + 3, left + 5] else ".")
    assert picture.tile(sent=True) != lines


def test_zoomed_is_the_mean_of_every_block() -> None:
    bits = bits_of(landscape(128), 2)
    slow = [[bits[8 * i : 8 * i + 8, 8 * j : 8 * j + 8].mean() for j in range(16)] for i in range(16)]
    assert np.allclose(block_means(bits, 8), slow)


def test_built_in_picture_is_the_same_at_every_size_and_never_plain() -> None:
    coarse, fine = landscape(256), landscape(1024)
    assert np.corrcoef(fine.reshape(256, 4, 256, 4).mean(axis=(1, 3)).ravel(), coarse.ravel())[0, 1] > 0.98
    assert 0 < fine.min() < fine.max() < 1
    assert fine.std() == pytest.approx(0.145, abs=0.002)


def test_picture_has_five_panels_and_words() -> None:
    picture = mosaic(bits_of(landscape(256), 1), flip=Fraction(1, 4), zoom=None, seed=1)
    figure = picture.figure("Every bit is flipped")
    assert len(figure.axes) == 5
    letters = [text for text in figure.axes[1].texts if text.get_text() in "M."]
    assert len(letters) == TILE**2
    wrong = sum(
        a != b for a, b in zip("".join(picture.tile(sent=True)), "".join(picture.tile(sent=False)), strict=True)
    )
    assert sum(text.get_fontweight() == "bold" for text in letters) == wrong
    assert picture.sentence in picture.alt


def ramp(width: int, height: int) -> Image.Image:
    return Image.fromarray(np.tile(np.linspace(0, 255, width).astype(np.uint8), (height, 1)))


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "I;16", "1"])
def test_own_pictures_of_every_kind_become_darkness(tmp_path: Path, mode: str) -> None:
    grey = ramp(300, 200)
    image = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257) if mode == "I;16" else grey.convert(mode)
    image.save(tmp_path / "own.png")
    dark = darkness(tmp_path / "own.png", 128)
    assert dark.shape == (128, 128)
    assert dark[:, 5].mean() > dark[:, -5].mean() + 0.4  # black on the left, and black is dark


def test_jpeg_is_turned_upright_and_what_is_transparent_is_white(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    ramp(256, 256).save(tmp_path / "own.jpg", exif=exif)
    dark = darkness(tmp_path / "own.jpg", 128)
    assert dark[5].mean() > dark[-5].mean() + 0.4
    clear = ramp(200, 200).convert("RGBA")
    clear.putalpha(Image.fromarray(np.repeat([[0] * 100 + [255] * 100], 200, axis=0).astype(np.uint8)))
    clear.save(tmp_path / "clear.png")
    assert darkness(tmp_path / "clear.png", 128)[:, :50].max() == pytest.approx(0.02)


def test_what_is_no_picture_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no picture")
    Image.fromarray((255 * landscape(128)).astype(np.uint8)).save(tmp_path / "whole.png")
    whole = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "half.png").write_bytes(whole[: len(whole) // 2])
    ramp(64, 64).save(tmp_path / "own.gif")
    Image.new("L", (64, 64), 128).save(tmp_path / "plain.png")
    (tmp_path / "empty.jpg").write_bytes(b"")
    for name in ("text.png", "half.png", "own.gif", "plain.png", "empty.jpg", "nowhere.png", "."):
        with pytest.raises(DiscreetError, match="image must"):
            darkness(tmp_path / name, 128)


def test_picture_of_too_many_pixels_is_refused_before_it_is_read(tmp_path: Path) -> None:
    Image.new("1", (8_000, 8_000)).save(tmp_path / "huge.png")
    with pytest.raises(DiscreetError, match="pixels"):
        darkness(tmp_path / "huge.png", 128)
