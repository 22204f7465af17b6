"""A curve as a value: points that were measured with 95 % intervals, beside what theory states at the same places."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.inert import visible

if TYPE_CHECKING:
    from discreet.plot.curves import Line

TWO_SIDED_95 = 1.959964


@dataclass(frozen=True)
class Point:
    """One place of a curve: n people, ε, the place x on its axis, what theory states and what was measured there."""

    n: int
    epsilon: float
    x: float
    theory: float
    measured: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """One mechanism at one ε, or one formula: a line of theory, and points on it.

    `order` says how the error falls where that is a power of x; only then is a slope stated.
    """

    name: str
    points: tuple[Point, ...]
    order: str = ""
    pen: int = 0  # which ink; a second series of the same ink is drawn hollow

    @property
    def slope(self) -> float | None:
        """s of the best line ln(measured) = a + s·ln(x), points weighted by the widths of their intervals."""
        fitted = self._fit()
        return None if fitted is None else fitted[0]

    @property
    def slope_error(self) -> float | None:
        """The standard error of the slope."""
        fitted = self._fit()
        return None if fitted is None else fitted[1]

    def _fit(self) -> tuple[float, float] | None:
        points = [point for point in self.points if point.measured and point.low and point.high]
        if not self.order or len(points) < 2:
            return None
        return fitted_slope(
            [math.log(point.x) for point in points],
            [math.log(point.measured or 1.0) for point in points],
            [math.log((point.high or 1.0) / (point.low or 1.0)) / (2 * TWO_SIDED_95) for point in points],
        )


@dataclass(frozen=True)
class Curve:
    """One plot: its series, what its axes are, and its result in a sentence."""

    name: str
    title: str
    axis: str  # the key of x: n, epsilon, counts, repeats, rate or steps
    x: str  # the axes in words
    y: str
    series: tuple[Series, ...]
    sentence: str
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)  # further numbers, by name, as JSON has them
    key: str = "Lines are theory, points are measured with their 95 % intervals."

    @property
    def slope(self) -> float | None:
        """The slope of the first series that has one."""
        return next((series.slope for series in self.series if series.slope is not None), None)

    def to_json(self) -> dict[str, Any]:
        """One object for programs, every point in one flat list."""
        rows = [(series.name, point) for series in self.series for point in series.points]
        return {
            "curve": self.name,
            "title": self.title,
            "axis": self.axis,
            "x": self.x,
            "y": self.y,
            "slope": _rounded(self.slope),
            "series": [_series_json(series) for series in self.series],
            "points": [{"series": name, **_point_json(point)} for name, point in rows],
            "sentence": self.sentence,
            "key": self.key,
            "notes": list(self.notes),
            **self.facts,
        }

    def figure(self) -> Any:
        """The picture, as a figure of matplotlib."""
        from discreet.plot.curves import curve_picture

        lines = [_line(series) for series in self.series]
        return curve_picture(lines, title=self.title, x=self.x, y=self.y, caption=f"{self.sentence} {self.key}")

    @property
    def alt(self) -> str:
        """The picture in words: the first and the last point of every series."""
        parts = (
            f"{series.name}: {series.points[0].theory:.3g} at {series.points[0].x:,g}, "
            f"{series.points[-1].theory:.3g} at {series.points[-1].x:,g}"
            for series in self.series
        )
        return visible(f"{self.title}. {self.y} against {self.x}. {'; '.join(parts)}. {self.sentence}")


def fitted_slope(x: list[float], y: list[float], errors: list[float]) -> tuple[float, float]:
    """(s, its standard error) of weighted least squares y = a + s·x: s = Σw(x − x̄)y/Σw(x − x̄)², w = 1/error².

    >>> fitted_slope([0, 1, 2], [5.0, 4.0, 3.0], [0.1, 0.1, 0.1])[0]
    -1.0
    """
    weights = [1 / max(error, 1e-9) ** 2 for error in errors]
    mean = sum(w * place for w, place in zip(weights, x, strict=True)) / sum(weights)
    spread = sum(w * (place - mean) ** 2 for w, place in zip(weights, x, strict=True))
    slope = sum(w * (place - mean) * value for w, place, value in zip(weights, x, y, strict=True)) / spread
    return round(slope, 12), spread**-0.5


def _line(series: Series) -> "Line":
    from discreet.plot.curves import Line, Measured

    points = tuple(
        Measured(point.x, point.measured, point.low or 0.0, point.high or point.measured)
        for point in series.points
        if point.measured is not None
    )
    places = tuple(point.x for point in series.points)
    theory = tuple(point.theory for point in series.points)
    return Line(series.name, places, theory, points, series.pen, series.slope)


def _series_json(series: Series) -> dict[str, Any]:
    slopes = {"slope": _rounded(series.slope), "slope_error": _rounded(series.slope_error)}
    return {"name": series.name, "order": series.order or None, **slopes}


def _point_json(point: Point) -> dict[str, Any]:
    names = ("n", "epsilon", "x", "measured", "low", "high", "theory")
    return {name: _rounded(getattr(point, name), 8) for name in names}


def _rounded(value: float | None, digits: int = 4) -> float | None:
    """So many digits after the first that is not 0: more would say what no measurement knows."""
    return None if value is None else value if isinstance(value, int) else float(f"{value:.{digits}g}")
