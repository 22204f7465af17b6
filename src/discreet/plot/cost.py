"""The picture of what privacy costs: a rate of each group as ε grows, beside the rate without privacy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.inert import visible
from discreet.plot.style import AS_TEXT, FAINT, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class CostLine:
    """One group: its mean rate at each ε with the ends of an interval, and its rate without privacy."""

    name: str
    epsilons: tuple[float, ...]
    rates: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    without: float


def cost_picture(lines: Sequence[CostLine], *, title: str, measure: str, caption: str) -> "Figure":
    """ε is logarithmic; a dotted line is the rate without privacy, and each group is named at its end."""
    with rules():
        figure, axes = empty_figure()
        for place, line in enumerate(lines):
            pen = PENS[place % len(PENS)]
            below = [rate - low for rate, low in zip(line.rates, line.low, strict=True)]
            above = [high - rate for rate, high in zip(line.rates, line.high, strict=True)]
            axes.errorbar(
                line.epsilons,
                line.rates,
                yerr=(below, above),
                fmt=pen.marker,
                linestyle=pen.dash,
                color=pen.colour,
                markersize=4.5,
                capsize=5,
            )
            axes.axhline(line.without, color=pen.colour, linestyle="dotted", linewidth=1.2)
            end = (line.epsilons[-1], line.rates[-1])
            style: Any = {"textcoords": "offset points", "va": "center", "annotation_clip": False}
            axes.annotate(visible(line.name), end, xytext=(14, 0), color=pen.colour, **style, **AS_TEXT)
        axes.set(xscale="log")
        axes.set_xlabel("ε", **AS_TEXT)
        axes.set_ylabel(visible(measure), **AS_TEXT)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.grid(color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
        figure.suptitle(visible(title), x=0.1, y=0.965, ha="left", va="top", fontsize=14, fontweight="bold", **AS_TEXT)
        figure.text(0.1, 0.02, visible(caption), ha="left", va="bottom", color=FAINT, fontsize=9.5, **AS_TEXT)
        figure.subplots_adjust(left=0.1, right=0.85, top=0.88, bottom=0.17)
    return figure
