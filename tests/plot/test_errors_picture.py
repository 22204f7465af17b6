"""The picture of errors: written, labelled, readable without colour."""

import math
from pathlib import Path

import pytest

from discreet.errors import BadValue
from discreet.plot.errors import Curve, alt_text, errors_picture
from discreet.plot.style import PENS, checked_path, write

SIZES = (100, 1_000, 10_000)


def curve(name: str, power: float) -> Curve:
    stated = tuple(n**-power for n in SIZES)
    low, high = tuple(0.8 * e for e in stated), tuple(1.3 * e for e in stated)
    return Curve(name, "1/n", SIZES, stated, stated, low, high)


CURVES = [curve("randomized response", 0.5), curve("Gaussian", 0.9), curve("Laplace", 1.0)]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_axes_are_labelled_and_logarithmic_and_every_curve_is_named() -> None:
    axes = errors_picture(CURVES, title="A title", caption="A caption").axes[0]
    assert axes.get_xlabel() == "people asked"
    assert "error" in axes.get_ylabel()
    assert "points" in axes.get_ylabel()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    written = " ".join(text.get_text() for text in axes.texts)
    assert all(c.name in written for c in CURVES)


def test_lines_are_stated_errors_and_bars_end_at_the_interval() -> None:
    axes = errors_picture(CURVES, title="", caption="").axes[0]
    assert list(axes.lines[0].get_ydata()) == pytest.approx([100 * e for e in CURVES[0].stated])
    bars = axes.containers[0].lines[2][0].get_segments()
    for bar, low, high in zip(bars, CURVES[0].low, CURVES[0].high, strict=True):
        assert sorted(bar[:, 1]) == pytest.approx([100 * low, 100 * high])


def test_names_do_not_overlap_and_lie_on_the_page() -> None:
    figure = errors_picture(CURVES, title="A title", caption="A caption")
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    page = figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_curves_differ_by_shape_and_dash_and_stand_out_from_white() -> None:
    assert len({pen.marker for pen in PENS}) == len({pen.dash for pen in PENS}) == len(PENS)
    assert all(1.05 / (luminance(pen.colour) + 0.05) >= 3 for pen in PENS)


@pytest.mark.parametrize(("name", "start"), [("errors.png", b"\x89PNG\r\n\x1a\n"), ("errors.svg", b"<?xml")])
def test_file_is_written_whole_with_its_description(tmp_path: Path, name: str, start: bytes) -> None:
    path = tmp_path / name
    alt = alt_text(CURVES)
    write(errors_picture(CURVES, title="A title", caption="A caption"), path, alt=alt)
    content = path.read_bytes()
    assert content.startswith(start)
    assert len(content) > 10_000
    assert b"randomized response: 10 points at 100 people" in content


def test_description_says_where_each_curve_begins_and_ends() -> None:
    text = alt_text(CURVES)
    assert all(c.name in text for c in CURVES)
    assert f"{100 * CURVES[2].stated[-1]:.2g} at 10,000" in text
    assert math.isclose(CURVES[2].stated[-1], 1e-4)


def test_drawing_leaves_no_trace_in_the_callers_matplotlib() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    errors_picture(CURVES, title="", caption="")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("name", "rule"), [("errors.pdf", "ending in .png or .svg"), ("no/such/e.png", "folder that exists")]
)
def test_bad_file_is_refused_before_anything_is_drawn(tmp_path: Path, name: str, rule: str) -> None:
    with pytest.raises(BadValue, match=rule):
        checked_path(tmp_path / name)
