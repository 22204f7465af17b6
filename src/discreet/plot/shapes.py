"""The picture of an additive model: for each feature how far each of its cells moves the odds of a class."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from discreet.inert import visible
from discreet.plot.style import AS_TEXT, FAINT, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 4
_LONGEST = 14  # letters of a label
_MOST_LABELS = 16
_LONG = 1000
_PANEL = (3.2, 2.4)  # inches


@dataclass(frozen=True)
class Shape:
    """One feature: the edges of its bins, or the names of its values, and a number for each."""

    name: str
    heights: tuple[float, ...]
    edges: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()


def shapes_picture(shapes: Sequence[Shape], *, title: str) -> "Figure":
    """A panel for each feature, all on one scale, so that a feature that says little looks flat."""
    with rules():
        figure, axes = empty_figure()
        axes.remove()
        columns = min(_COLUMNS, len(shapes))
        rows = ceil(len(shapes) / columns)
        figure.set_size_inches(_PANEL[0] * columns, _PANEL[1] * rows + 0.6)
        reach = 1.1 * max((abs(height) for shape in shapes for height in shape.heights), default=1.0) or 1.0
        for place, shape in enumerate(shapes, 1):
            panel = figure.add_subplot(rows, columns, place)
            _draw(panel, shape)
            panel.set_ylim(-reach, reach)
            panel.axhline(0, color=FAINT, linewidth=0.6)
            panel.set_title(visible(shape.name), fontsize=10, **AS_TEXT)
            panel.tick_params(labelsize=7)
        figure.suptitle(visible(title), fontsize=11, **AS_TEXT)
        figure.tight_layout()
    return figure


def _draw(panel: "Axes", shape: Shape) -> None:
    """Steps over bins, or bars over values."""
    colour = PENS[1].colour
    if shape.edges:
        panel.stairs(shape.heights, shape.edges, color=colour, linewidth=1.6)
        if shape.edges[0] == 0 and shape.edges[-1] > _LONG:  # its bins are even in the logarithm
            panel.set_xscale("symlog")
        return
    panel.bar(range(len(shape.heights)), shape.heights, color=colour, width=0.7)
    if len(shape.labels) <= _MOST_LABELS:
        shown = [label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…" for label in shape.labels]
        panel.set_xticks(range(len(shown)))
        panel.set_xticklabels([visible(label) for label in shown], rotation=60, ha="right", fontsize=6, **AS_TEXT)
    else:
        panel.set_xticks([])
