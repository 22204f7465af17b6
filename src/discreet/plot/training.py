"""The picture of what a training spent: ε of its first steps, from none to all."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.inert import visible
from discreet.plot.style import AS_TEXT, FAINT, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def spending_picture(points: Sequence[tuple[int, float]], *, title: str, caption: str) -> "Figure":
    """ε over steps, each point a proven price of that many steps."""
    with rules():
        figure, axes = empty_figure()
        pen = PENS[1]
        axes.plot(*zip(*points, strict=True), marker=pen.marker, markersize=4.5, color=pen.colour)
        axes.set(xlim=(0, None), ylim=(0, None))
        axes.set_xlabel("steps", **AS_TEXT)
        axes.set_ylabel("ε", **AS_TEXT)
        axes.grid(color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
        figure.suptitle(visible(title), x=0.1, y=0.965, ha="left", va="top", fontsize=14, fontweight="bold", **AS_TEXT)
        figure.text(0.1, 0.02, visible(caption), ha="left", va="bottom", color=FAINT, fontsize=9.5, **AS_TEXT)
        figure.subplots_adjust(left=0.1, right=0.95, top=0.88, bottom=0.17)
    return figure
