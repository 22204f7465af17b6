"""The picture of an answer: every row once, with its interval, labelled and told in words."""

from dataclasses import replace
from fractions import Fraction as F
from itertools import pairwise

import pytest
from matplotlib.figure import Figure

from discreet.answer import Answer, Estimates, column
from discreet.errors import BadValue
from discreet.plot.answer import MOST_MARKS, Mark, alt_text, bars_picture, points_picture
from discreet.plot.style import write

MARKS = [Mark("north", 1204.0, 1174.0, 1234.0), Mark("cash $5 and $6", -3.0, -33.0, 27.0), Mark("no ±", 40.0)]
COST = {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "person_id"}


def drawn(picture, marks=MARKS, **more):
    return picture(
        marks,
        title="n by region",
        measure="n",
        caption="± holds with probability 95 %; " + "what was paid and what remains, " * 6,
        **more,
    )


def spans(axes):
    """The ends of every error bar."""
    bars = [container.lines[2][0].get_segments()[0] for container in axes.containers if hasattr(container, "has_xerr")]
    return [(bar[0][0], bar[1][0]) for bar in bars]


@pytest.mark.parametrize("picture", [bars_picture, points_picture])
def test_each_row_has_its_label_its_value_and_its_interval(picture):
    axes = drawn(picture).axes[0]
    assert [t.get_text().replace("\\", "") for t in axes.get_yticklabels()] == [m.label for m in MARKS]
    assert spans(axes) == [(1174.0, 1234.0), (-33.0, 27.0)]
    assert axes.get_xlabel() == "n"
    bottom, top = axes.get_ylim()
    assert bottom > top, "the first row is on top"


def test_bars_start_at_zero_and_points_do_not():
    assert [bar.get_width() for bar in drawn(bars_picture).axes[0].patches] == [m.value for m in MARKS]
    assert all(bar.get_x() == 0 for bar in drawn(bars_picture).axes[0].patches)
    assert not drawn(points_picture).axes[0].patches


@pytest.mark.parametrize("rows", [1, 3, 60])
def test_labels_stay_on_the_page_and_apart(rows):
    marks = [Mark(f"a rather long name of a region, {i}", float(i), i - 1.0, i + 1.0) for i in range(rows)]
    figure = drawn(bars_picture, marks)
    figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in figure.axes[0].get_yticklabels()]
    page = figure.bbox
    assert all(page.x0 <= b.x0 and page.y0 <= b.y0 and b.y1 <= page.y1 for b in boxes)
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))
    caption, title = figure.texts[-1].get_window_extent(), figure.texts[0].get_window_extent()
    axes = figure.axes[0].get_tightbbox()
    assert page.x0 <= caption.x0 < caption.x1 <= page.x1
    assert not caption.overlaps(axes)
    assert not title.overlaps(axes)


def test_given_axes_are_drawn_into_and_their_figure_given_back():
    figure = Figure()
    axes = figure.add_subplot()
    assert drawn(points_picture, ax=axes) is figure
    assert len(spans(axes)) == 2
    assert not figure.texts


def test_too_many_or_no_rows_are_refused():
    for marks in ([], MARKS[:1] * (MOST_MARKS + 1)):
        with pytest.raises(BadValue, match="rows must be 1 to 200"):
            drawn(bars_picture, marks)


def test_alt_text_tells_every_value_and_interval():
    assert alt_text(MARKS, title="n by region") == (
        "n by region, with intervals. north: 1,204 (1,174 to 1,234); cash $5 and $6: -3 (-33 to 27); no ±: 40."
    )
    assert alt_text(MARKS * 5, title="").endswith("and 3 more.")


def test_an_answer_draws_itself(tmp_path):
    counts = column("n", Estimates([5, 9], [1, 5], [9, 13]), mechanism="", scale=F(1), step=F(1), kind="laplace")
    means = column("age", Estimates([41.0, 39.5], [40.0, 38.0], [42.0, 41.0]), mechanism="")
    words = column("top", Estimates(["flu", "cold"], [None] * 2, [None] * 2, shortfall=2.0), mechanism="")
    answer = Answer("people", "[]", ("region",), (("north",), (None,)), (words, counts, means), F(95, 100), COST)
    assert len(answer.plot().axes[0].patches) == 2
    figure = answer.plot("age")
    assert spans(figure.axes[0]) == [(40.0, 42.0), (38.0, 41.0)]
    assert figure.axes[0].get_yticklabels()[1].get_text() == "(empty)"
    write(figure, tmp_path / "age.svg", alt="age by region")
    unnamed = replace(answer, labels=(("north",), ("",)))
    assert unnamed.plot("age").axes[0].get_yticklabels()[1].get_text() == '""'
    with pytest.raises(BadValue, match="must hold numbers"):
        answer.plot("top")
