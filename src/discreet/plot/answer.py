"""The picture of an answer: one line per row, its value and the interval around it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from discreet.errors import bad
from discreet.inert import visible
from discreet.plot.style import AS_TEXT, FAINT, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_MARKS = 200
_FITTING = 18  # marks on a page of the usual height
_PEN = PENS[1]
_LONGEST_LABEL = 32
_EDGE = 0.03  # of the page, where title and caption begin


@dataclass(frozen=True)
class Mark:
    """A label, a value and the ends of its interval, where it has any."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


def bars_picture(
    marks: Sequence[Mark], *, title: str, measure: str, caption: str, ax: "Axes | None" = None
) -> "Figure":
    """Bars from 0, for amounts; drawn into `ax` if given, without title and caption then."""
    with rules():
        figure, axes = _page(marks, ax)
        axes.barh(range(len(marks)), [m.value for m in marks], color=_PEN.colour, alpha=0.35, height=0.6)
        axes.axvline(0, color=FAINT, linewidth=1)
        _finish(axes, marks, measure)
        return _titled(figure, title, caption) if ax is None else figure


def points_picture(
    marks: Sequence[Mark], *, title: str, measure: str, caption: str, ax: "Axes | None" = None
) -> "Figure":
    """Points, for means and other places; drawn into `ax` if given, without title and caption then."""
    with rules():
        figure, axes = _page(marks, ax)
        axes.plot([m.value for m in marks], range(len(marks)), _PEN.marker, color=_PEN.colour, markersize=5)
        _finish(axes, marks, measure)
        return _titled(figure, title, caption) if ax is None else figure


def alt_text(marks: Sequence[Mark], *, title: str) -> str:
    """The picture in words: every mark with its interval, up to a dozen."""
    texts = [_mark_text(mark) for mark in marks[:12]]
    more = f"; and {len(marks) - 12} more" if len(marks) > 12 else ""
    return visible(f"{title}, with intervals. " + "; ".join(texts) + more + ".")


def _mark_text(mark: Mark) -> str:
    ends = "" if mark.low is None or mark.high is None else f" ({mark.low:,.4g} to {mark.high:,.4g})"
    return f"{mark.label}: {mark.value:,.4g}{ends}"


def _page(marks: Sequence[Mark], ax: "Axes | None") -> "tuple[Figure, Axes]":
    if not 1 <= len(marks) <= MOST_MARKS:
        fix = "Keep fewer rows with HAVING or LIMIT, or draw a frame of your own."
        raise bad("rows", f"must be 1 to {MOST_MARKS} to be drawn", len(marks), fix)
    if ax is not None:
        return cast("Figure", ax.get_figure()), ax
    figure, axes = empty_figure()
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height * max(1.0, (len(marks) + 4) / (_FITTING + 4)))
    return figure, axes


def _finish(axes: "Axes", marks: Sequence[Mark], measure: str) -> None:
    """The intervals, the labels, and the first mark on top."""
    for place, mark in enumerate(marks):
        if mark.low is not None and mark.high is not None:
            below, above = max(mark.value - mark.low, 0.0), max(mark.high - mark.value, 0.0)
            axes.errorbar(
                mark.value, place, xerr=([below], [above]), fmt="none", ecolor=_PEN.colour, elinewidth=1.6, capsize=5
            )
    axes.set_yticks(range(len(marks)), [_short(mark.label) for mark in marks], **AS_TEXT)
    axes.set_ylim(len(marks) - 0.4, -0.6)
    axes.set_xlabel(visible(measure), **AS_TEXT)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.grid(axis="x", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)


def _titled(figure: "Figure", title: str, caption: str) -> "Figure":
    height = figure.get_size_inches()[1]
    axes = figure.axes[0]
    longest = max(len(tick.get_text()) for tick in axes.get_yticklabels())
    left = min(0.06 + 0.0095 * longest, 0.4)
    high = {"x": _EDGE, "y": 1 - 0.2 / height, "ha": "left", "va": "top"}
    figure.suptitle(visible(title), **high, fontsize=14, fontweight="bold", **AS_TEXT)
    figure.text(_EDGE, 0.12 / height, _folded(caption), ha="left", va="bottom", color=FAINT, fontsize=9.5, **AS_TEXT)
    lines = _folded(caption).count("\n") + 1
    figure.subplots_adjust(left=left, right=0.96, top=1 - 0.7 / height, bottom=(0.72 + 0.17 * lines) / height)
    return figure


def _folded(text: str) -> str:
    from textwrap import fill

    return fill(visible(text), 95)


def _short(label: str) -> str:
    one_line = visible(label)
    return one_line if len(one_line) <= _LONGEST_LABEL else one_line[: _LONGEST_LABEL - 1] + "…"
