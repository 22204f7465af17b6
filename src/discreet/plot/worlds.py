"""Pictures of a promise: two worlds with their band, beliefs after an answer, and how much of a budget is spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.inert import visible
from discreet.plot.style import AS_TEXT, FAINT, INK, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAND = "#b9d3e6"
_LEFT = "#e4e4e4"
_MOST_NAMES = 8
_LONGEST = 26
_HATCHES = ("", "///", "...", "xx")


@dataclass(frozen=True)
class Steps:
    """Chances by whole outputs: without you, with you, and the ends of the band."""

    outputs: tuple[int, ...]
    without: tuple[float, ...]
    present: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def worlds_picture(steps: Steps, *, title: str, caption: str) -> "Figure":
    """Both laws as steps over the band; what leaves the band is filled."""
    import numpy as np

    with rules():
        figure, axes = empty_figure()
        edges = np.append(np.array(steps.outputs) - 0.5, steps.outputs[-1] + 0.5)
        axes.stairs(steps.high, edges, baseline=np.array(steps.low), fill=True, color=_BAND, label="band e^±ε")
        axes.stairs(steps.without, edges, color=PENS[1].colour, linewidth=1.8, label="without you")
        axes.stairs(steps.present, edges, color=PENS[0].colour, linewidth=1.8, linestyle="dashed", label="with you")
        above = np.maximum(np.array(steps.present), np.array(steps.high))
        if (above > np.array(steps.high) * (1 + 1e-9)).any():
            bars: Any = {"baseline": np.array(steps.high), "fill": True, "color": PENS[0].colour}
            axes.stairs(above, edges, **bars, label="beyond the band: δ")
        axes.set_ylim(0, 1.2 * max(*steps.without, *steps.present))
        axes.set_xlim(edges[0], edges[-1])
        axes.set_xlabel("the noisy count that is published", **AS_TEXT)
        axes.set_ylabel("chance", **AS_TEXT)
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
        axes.legend(frameon=False, loc="upper right")
        _add_words(figure, axes, title, caption)
    return figure


def posterior_picture(
    bands: "Sequence[tuple[str, Sequence[float], Sequence[float]]]",
    priors: Sequence[float],
    *,
    title: str,
    caption: str,
) -> "Figure":
    """For each promise where a belief can go, above and below the diagonal on which nothing is learnt."""
    with rules():
        figure, axes = empty_figure()
        for place, (name, low, high) in enumerate(bands):
            pen = PENS[place % len(PENS)]
            axes.plot(priors, high, color=pen.colour, linestyle=pen.dash, linewidth=1.8, label=visible(name))
            axes.plot(priors, low, color=pen.colour, linestyle=pen.dash, linewidth=1.8)
            axes.fill_between(priors, low, high, color=pen.colour, alpha=0.09, linewidth=0)
        axes.plot((0, 1), (0, 1), color=FAINT, linestyle="dotted", label="nothing learnt")
        axes.set(xlim=(0, 1), ylim=(0, 1))
        for axis, word in ((axes.xaxis, "belief before the answer"), (axes.yaxis, "belief after it")):
            axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
            axis.set_label_text(word)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5))
        axes.grid(color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
        _add_words(figure, axes, title, caption)
        figure.subplots_adjust(right=0.77)
    return figure


def odometer_picture(
    charges: "Sequence[tuple[str, float]]", budget: float, *, title: str, reading: str, caption: str
) -> "Figure":
    """Half a dial: a piece for each charge, told apart by colour and hatching, then what is left; a needle between."""
    import math

    with rules():
        figure, axes = empty_figure()
        total = max(budget, sum(cost for _, cost in charges))
        start = 0.0
        for place, (name, cost) in enumerate(charges):
            pen, hatch = PENS[place % len(PENS)], _HATCHES[place // len(PENS) % len(_HATCHES)]
            _piece(axes, start / total, (start + cost) / total, pen.colour, hatch, f"{name}: {cost:.4g}", place)
            start += cost
        _piece(axes, start / total, 1.0, _LEFT, "", f"left: {max(budget - start, 0):.4g}", 0)
        turn = math.pi * (1 - min(start / total, 1))
        axes.plot(
            (0, 0.93 * math.cos(turn)), (0, 0.93 * math.sin(turn)), color=INK, linewidth=3, solid_capstyle="round"
        )
        axes.plot(0, 0, "o", color=INK, markersize=13)
        middle: Any = {"ha": "center", "va": "center", **AS_TEXT}
        axes.text(0, -0.17, visible(reading), fontsize=17, fontweight="bold", **middle)
        axes.text(-0.86, -0.06, "0", color=FAINT, **middle)
        axes.text(0.86, -0.06, f"{total:.4g}", color=FAINT, **middle)
        axes.set(xlim=(-1.08, 1.08), ylim=(-0.28, 1.08), aspect="equal")
        axes.set_axis_off()
        handles, names = axes.get_legend_handles_labels()
        shown = [*range(min(len(charges), _MOST_NAMES)), len(charges)]
        legend: Any = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.0, 0.55)}
        axes.legend([handles[i] for i in shown], [names[i] for i in shown], title="ε of each answer", **legend)
        _add_words(figure, axes, title, caption)
        figure.subplots_adjust(left=0.03, right=0.68)
    return figure


def _piece(axes: "Axes", start: float, end: float, colour: str, hatch: str, name: str, place: int) -> None:
    """A piece of the dial, from the left end at 0 to the right end at 1."""
    from matplotlib.patches import Wedge

    label = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    look: Any = {"facecolor": colour, "edgecolor": "white", "linewidth": 1.2, "hatch": hatch, "label": visible(label)}
    alpha = 1.0 if place % 2 == 0 else 0.8
    axes.add_patch(Wedge((0, 0), 1.0, 180 * (1 - end), 180 * (1 - start), width=0.28, alpha=alpha, **look))


def _add_words(figure: "Figure", axes: "Axes", title: str, caption: str) -> None:
    from textwrap import fill

    heading: Any = {"ha": "left", "va": "top", "fontsize": 14, "fontweight": "bold"}
    figure.suptitle(visible(title), x=0.03, y=0.965, **heading, **AS_TEXT)
    below: Any = {"ha": "left", "va": "bottom", "color": FAINT, "fontsize": 9.5}
    figure.text(0.03, 0.02, fill(visible(caption), 115), **below, **AS_TEXT)
    figure.subplots_adjust(left=0.11, right=0.96, top=0.88, bottom=0.21)
