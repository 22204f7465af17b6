"""The picture of a survey's design: what it costs that nobody holds the answers, and what the noise costs by share."""

from typing import TYPE_CHECKING, Protocol

from discreet.plot.style import AS_TEXT, FAINT, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Curves(Protocol):
    """Factors over numbers of people, and n times the variance over shares, both with their ε."""

    @property
    def epsilon(self) -> float: ...
    @property
    def people(self) -> tuple[int, ...]: ...
    @property
    def factors(self) -> tuple[float, ...]: ...
    @property
    def shares(self) -> tuple[float, ...]: ...
    @property
    def plain(self) -> tuple[float, ...]: ...
    @property
    def protected(self) -> tuple[float, ...]: ...


def design_picture(curves: Curves) -> "Figure":
    """Left the factor against n, both logarithmic; right the variances against the true share."""
    with rules():
        figure, axes = empty_figure()
        axes.remove()
        left, right = figure.subplots(1, 2)
        _draw_factors(left, curves)
        _draw_variances(right, curves)
        title = f"A yes or no at ε = {curves.epsilon:.4g}"
        figure.suptitle(title, x=0.08, y=0.965, ha="left", va="top", fontsize=14, fontweight="bold", **AS_TEXT)
        caption = "Left: noise alone, share ½. Right: noise and the draw of people."
        figure.text(0.08, 0.02, caption, ha="left", va="bottom", color=FAINT, fontsize=9.5, **AS_TEXT)
        figure.subplots_adjust(left=0.09, right=0.97, top=0.84, bottom=0.19, wspace=0.28)
    return figure


def alt_text(curves: Curves) -> str:
    """The picture in words."""
    middle = len(curves.shares) // 2
    return (
        f"A yes or no at ε = {curves.epsilon:.4g}. The ± of phones is {curves.factors[0]:.3g} times a curator's for "
        f"{curves.people[0]:,} people and {curves.factors[-1]:.3g} times for {curves.people[-1]:,}, growing with √n. "
        f"At a share of ½ n times the variance is {curves.protected[middle]:.3g}, without protection "
        f"{curves.plain[middle]:.3g}."
    )


def _draw_factors(axes: "Axes", curves: Curves) -> None:
    pen = PENS[0]
    axes.plot(curves.people, curves.factors, marker=pen.marker, color=pen.colour, linestyle=pen.dash, markersize=4.5)
    axes.set(xscale="log", yscale="log", xlabel="people asked, n")
    axes.set_title("± of phones, in ± of a curator: ∝ √n", fontsize=11, loc="left")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.tick_params(axis="x", labelrotation=30, labelsize=9)
    axes.minorticks_off()
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)


def _draw_variances(axes: "Axes", curves: Curves) -> None:
    for pen, name, heights in zip(PENS, ("with protection", "without"), (curves.protected, curves.plain), strict=False):
        axes.plot(curves.shares, heights, color=pen.colour, linestyle=pen.dash, linewidth=1.8)
        middle = len(heights) // 2
        place = (curves.shares[middle], heights[middle])
        axes.annotate(
            f"{name}: {heights[middle]:.3g}", place, (0, 6), textcoords="offset points", ha="center", color=pen.colour
        )
    axes.set(xlabel="true share μ", xlim=(0, 1))
    axes.set_ylim(0, 1.18 * max(curves.protected))
    axes.set_title("n times the variance of the estimate", fontsize=11, loc="left")
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
