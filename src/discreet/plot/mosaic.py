"""The picture of a picture made of people: one tile before and after, all reports close up, and what remains."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.inert import visible
from discreet.plot.style import AS_TEXT, FAINT, INK, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.ndarrays import Floats

_SIZE = (13.0, 8.0)
_EDGE = 0.003  # of the greys that are cut off at either end, so that noise does not flatten the picture


@dataclass(frozen=True, eq=False)
class Panels:
    """What the picture shows: a person's letters before and after, means of blocks, bits close up, the original."""

    tile: tuple[str, ...]
    sent: tuple[str, ...]
    block: int
    restored: "Floats"
    close: "Floats"
    original: "Floats"


def mosaic_picture(panels: Panels, *, title: str, caption: str) -> "Figure":
    """Left a person's bits and what they send; in the middle what remains; right all reports close up, the original."""
    with rules():
        figure, axes = empty_figure()
        axes.remove()
        figure.set_size_inches(*_SIZE)
        upper, lower, tiles, middle, right = 0.525, 0.115, 0.028, 0.275, 0.765
        _tile(figure, (tiles, upper), "one person's bits", panels.tile, panels.tile)
        _tile(figure, (tiles, lower), "what they send", panels.sent, panels.tile)
        shown = f"everyone's bits in blocks of {panels.block}², unbiased"
        _image(figure, (middle, lower, 0.47, 0.765), shown, panels.restored)
        close = f"what is sent, {len(panels.close)}² bits close up"
        _image(figure, (right, upper, 0.215, 0.355), close, panels.close)
        _image(figure, (right, lower, 0.215, 0.355), "the original, zoomed out alike", panels.original)
        heading: Any = {"ha": "left", "va": "top", "fontsize": 15, "fontweight": "bold"}
        figure.suptitle(visible(title), x=0.028, y=0.975, **heading, **AS_TEXT)
        figure.text(0.028, 0.02, _folded(caption), ha="left", va="bottom", color=FAINT, fontsize=10, **AS_TEXT)
    return figure


def _tile(
    figure: "Figure", corner: tuple[float, float], name: str, lines: tuple[str, ...], truth: tuple[str, ...]
) -> None:
    """The tile as letters; flipped ones are in colour and bold."""
    axes = figure.add_axes((*corner, 0.218, 0.355))
    side = len(lines)
    axes.set(xlim=(-0.5, side - 0.5), ylim=(side - 0.5, -0.5), xticks=[], yticks=[])
    for row, (line, true) in enumerate(zip(lines, truth, strict=True)):
        for column, (letter, right) in enumerate(zip(line, true, strict=True)):
            wrong = letter != right
            look: Any = {"color": PENS[0].colour if wrong else INK, "fontweight": "bold" if wrong else "normal"}
            axes.text(column, row, letter, ha="center", va="center", family="monospace", fontsize=9.5, **look)
    _label(axes, name)


def _image(figure: "Figure", box: tuple[float, float, float, float], name: str, values: "Floats") -> None:
    """Greys between the darkest and the lightest but a few; 1 is black."""
    import numpy as np

    axes = figure.add_axes(box)
    low, high = np.quantile(values, (_EDGE, 1 - _EDGE))
    axes.imshow(1 - values, cmap="gray", vmin=1 - high, vmax=1 - low, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    _label(axes, name)


def _label(axes: Any, name: str) -> None:
    axes.set_title(visible(name), fontsize=10.5, loc="left", pad=6, **AS_TEXT)
    for side in axes.spines.values():
        side.set_visible(True)
        side.set_color("#bbbbbb")


def _folded(text: str) -> str:
    from textwrap import fill

    return fill(visible(text), 165)
