"""The picture of errors: how wrong an answer is as the number of people grows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.plot.style import FAINT, PENS, Pen, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """Stated errors as a line, measured ones as points with the ends of their intervals; errors are shares of 1."""

    name: str
    order: str
    people: tuple[int, ...]
    stated: tuple[float, ...]
    measured: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def errors_picture(curves: Sequence[Curve], *, title: str, caption: str) -> "Figure":
    """Both axes logarithmic, each curve named at its end instead of in a legend."""
    with rules():
        figure, axes = empty_figure()
        for curve, pen in zip(curves, PENS, strict=False):
            _draw(axes, curve, pen)
        axes.set(
            xscale="log", yscale="log", xlabel="people asked", ylabel="typical error of the share, in points of 100"
        )
        axes.set_xlim(min(c.people[0] for c in curves) / 1.5, max(c.people[-1] for c in curves) * 1.5)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.grid(which="major", color="#dddddd", linewidth=0.8)
        axes.minorticks_off()
        axes.set_axisbelow(True)
        figure.suptitle(title, x=0.1, y=0.965, ha="left", va="top", fontsize=14, fontweight="bold")
        figure.text(0.1, 0.02, caption, ha="left", va="bottom", color=FAINT, fontsize=9.5)
        figure.subplots_adjust(left=0.1, right=0.78, top=0.88, bottom=0.19)
    return figure


def alt_text(curves: Sequence[Curve]) -> str:
    """The picture in words: each curve's first and last stated error."""
    lines = (
        f"{c.name}: {100 * c.stated[0]:.2g} points at {c.people[0]:,} people, "
        f"{100 * c.stated[-1]:.2g} at {c.people[-1]:,}"
        for c in curves
    )
    return "Typical error of an estimated share against the number of people asked. " + "; ".join(lines) + "."


def _draw(axes: "Axes", curve: Curve, pen: Pen) -> None:
    axes.plot(curve.people, [100 * e for e in curve.stated], color=pen.colour, linestyle=pen.dash, linewidth=1.8)
    below = [100 * (m - low) for m, low in zip(curve.measured, curve.low, strict=True)]
    above = [100 * (high - m) for m, high in zip(curve.measured, curve.high, strict=True)]
    axes.errorbar(
        curve.people,
        [100 * m for m in curve.measured],
        yerr=(below, above),
        fmt=pen.marker,
        color=pen.colour,
        markersize=4.5,
        capsize=6,
        elinewidth=1.3,
        capthick=1.3,
    )
    axes.annotate(
        f"{curve.name}\n∝ {curve.order}",
        (curve.people[-1], 100 * curve.stated[-1]),
        xytext=(16, 0),
        textcoords="offset points",
        va="center",
        color=pen.colour,
        annotation_clip=False,
    )
