"""The picture of a curve: theory as lines, measured points with their 95 % intervals, each series named at its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.inert import visible
from discreet.plot.style import AS_TEXT, FAINT, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LEFT, _RIGHT, _TOP, _BOTTOM = 0.11, 0.73, 0.88, 0.22
_GAP = 21.0  # points between the middles of two labels
_SHORT = 50.0  # a ratio of the axis's ends
_SMALLEST = 1e-3  # of the value: where an interval that reaches 0 ends on a logarithmic axis


@dataclass(frozen=True)
class Measured:
    """A point that was measured, with the ends of its interval."""

    x: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """Theory at some places, what was measured there, and the ink; a slope is written beside the name."""

    name: str
    x: tuple[float, ...]
    theory: tuple[float, ...]
    measured: tuple[Measured, ...] = ()
    pen: int = 0
    slope: float | None = None


def curve_picture(lines: Sequence[Line], *, title: str, x: str, y: str, caption: str) -> "Figure":
    """Both axes logarithmic; a second line of the same ink is hollow."""
    with rules():
        figure, axes = empty_figure()
        seen: set[int] = set()
        for line in lines:
            _draw(axes, line, hollow=line.pen in seen)
            seen.add(line.pen)
        axes.set(xscale="log", yscale="log")
        axes.set_xlabel(visible(x), **AS_TEXT)
        axes.set_ylabel(visible(y), **AS_TEXT)
        places = [place for line in lines for place in line.x]
        axes.set_xlim(min(places) / 1.35, max(places) * 1.15)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axes.yaxis.set_major_formatter(lambda value, _: _tick(value))
        axes.grid(which="major", color="#dddddd", linewidth=0.8)
        axes.minorticks_off()
        _tick_short_range(axes)
        axes.set_axisbelow(True)
        figure.subplots_adjust(left=_LEFT, right=_RIGHT, top=_TOP, bottom=_BOTTOM)
        _name_ends(figure, axes, lines)
        heading: Any = {"ha": "left", "va": "top", "fontsize": 14, "fontweight": "bold"}
        figure.suptitle(visible(title), x=0.03, y=0.965, **heading, **AS_TEXT)
        below: Any = {"ha": "left", "va": "bottom", "color": FAINT, "fontsize": 9.5}
        figure.text(0.03, 0.02, _folded(caption), **below, **AS_TEXT)
    return figure


def _draw(axes: "Axes", line: Line, *, hollow: bool) -> None:
    pen = PENS[line.pen % len(PENS)]
    axes.plot(line.x, line.theory, color=pen.colour, linestyle="dotted" if hollow else pen.dash, linewidth=1.7)
    seen = [point for point in line.measured if point.value > 0]  # 0 has no place on a logarithmic axis
    if not seen:
        return
    below = [max(point.value - max(point.low, _SMALLEST * point.value), 0.0) for point in seen]
    above = [max(point.high - point.value, 0.0) for point in seen]
    axes.errorbar(
        [point.x for point in seen],
        [point.value for point in seen],
        yerr=(below, above),
        fmt=pen.marker,
        color=pen.colour,
        markersize=5.5,
        markerfacecolor="white" if hollow else pen.colour,
        capsize=5,
        elinewidth=1.3,
        capthick=1.3,
    )


def _tick_short_range(axes: "Axes") -> None:
    """1, 2 and 5 of each decade, where whole decades would give too few."""
    from matplotlib.ticker import LogLocator

    low, high = axes.get_ylim()
    if high / low < _SHORT:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))


def _name_ends(figure: "Figure", axes: "Axes", lines: Sequence[Line]) -> None:
    """Each name beside the end of its line, moved apart where two would overlap."""
    scale = 72 / figure.dpi  # pixels to points
    heights = [float(axes.transData.transform((line.x[-1], line.theory[-1]))[1]) * scale for line in lines]
    order = sorted(range(len(lines)), key=lambda place: heights[place])
    wanted: dict[int, float] = {}
    floor = float("-inf")
    for place in order:
        wanted[place] = max(heights[place], floor + _GAP * (0.8 if lines[place].slope is None else 1.5))
        floor = wanted[place]
    drift = sum(wanted[place] - heights[place] for place in order) / len(order)
    for place, line in enumerate(lines):
        offset = (14.0, wanted[place] - heights[place] - drift)
        style: Any = {"textcoords": "offset points", "va": "center", "annotation_clip": False, "fontsize": 10.5}
        colour = PENS[line.pen % len(PENS)].colour
        axes.annotate(_label(line), (line.x[-1], line.theory[-1]), xytext=offset, color=colour, **style, **AS_TEXT)


def _label(line: Line) -> str:
    fitted = "" if line.slope is None else f"\nslope {line.slope:.2f}".replace("-", "−")
    return visible(line.name) + fitted


def _tick(value: float) -> str:
    return f"{value:g}" if 1e-4 <= value < 1e6 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def _folded(text: str) -> str:
    from textwrap import fill

    return fill(visible(text), 112)
