"""Pictures that lectures show beside their figures: promises, curves and a picture made of people.

What a promise shows is a law.  What curves and the picture call measured was drawn now.
"""

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.lecture.curves import curve as measured_curve
from discreet.lecture.picture import Picture
from discreet.lecture.pictures import odometer_picture, posterior_picture, two_worlds_picture

if TYPE_CHECKING:
    from discreet.lecture.curve import Point

_EPSILON = "1"
_DELTA = Fraction(1, 100)  # large, so that the tail can be seen
_SIDE, _BLOCK = 1024, 16


def worlds() -> Picture:
    """A count with Laplace noise at ε = 1, without you and with you."""
    return two_worlds_picture(_EPSILON)


def worlds_with_tail() -> Picture:
    """A count with Gaussian noise at ε = 1, which leaves the band by δ."""
    return two_worlds_picture(_EPSILON, _DELTA)


def beliefs() -> Picture:
    """Where an answer can move a belief."""
    return posterior_picture()


def odometer() -> Picture:
    """A budget of 3 after six answers."""
    costs = ("0.5", "0.25", "0.25", "0.5", "0.1", "0.2")
    return odometer_picture([(f"answer {place}", cost) for place, cost in enumerate(costs, 1)], 3)


def curve(name: str) -> Picture:
    """A curve of that name, measured now at its usual ε."""
    drawn = measured_curve(name)
    axis = "ε" if drawn.axis == "epsilon" else drawn.axis
    rows = tuple((series.name, *_point_row(point)) for series in drawn.series for point in series.points)
    ends = tuple((series.name, *_point_row(point)) for series in drawn.series for point in _ends(series.points))
    return Picture(
        drawn.title,
        f"{drawn.sentence} {drawn.key}",
        drawn.alt,
        ("", axis, "theory", "measured", "95 % interval"),
        rows,
        drawn.figure,
        ends,
    )


def response() -> Picture:
    """Randomized response beside Laplace noise against the number of people."""
    return curve("response")


def local() -> Picture:
    """Phones that add noise themselves."""
    return curve("local")


def shuffling() -> Picture:
    """Nobody, a shuffler or a curator."""
    return curve("shuffled")


def dimensions() -> Picture:
    """Where Gaussian noise overtakes Laplace noise."""
    return curve("dimensions")


def bernoulli() -> Picture:
    """The bias of a coin in two ways."""
    return curve("bernoulli")


def composition() -> Picture:
    """The price of k repeats."""
    return curve("composition")


def sampling() -> Picture:
    """What a secret sample saves."""
    return curve("sampling")


def mosaic() -> Picture:
    """A picture made of people, every bit flipped with probability ¼."""
    from discreet.lecture.drawn import landscape
    from discreet.lecture.mosaic import bits_of
    from discreet.lecture.mosaic import mosaic as flipped

    result = flipped(bits_of(landscape(_SIDE), 1), flip=Fraction(1, 4), epsilon=None, zoom=_BLOCK, seed=1)
    rows = tuple((f"{z.block}²", f"{z.blocks}²", f"{z.expected:.3f}", f"{z.correlation:.3f}") for z in result.zooms)
    title = "Every bit is flipped with probability 25 %"
    header = ("block", "blocks", "correlation expected", "correlation measured")
    return Picture(title, result.sentence, result.alt, header, rows, lambda: result.figure(title), has_pixels=True)


def _point_row(point: "Point") -> tuple[str, ...]:
    number = "" if point.measured is None else f"{point.measured:.4g}"
    is_drawn = point.low is not None and point.high is not None and point.high > point.low
    return f"{point.x:,g}", f"{point.theory:.4g}", number, f"{point.low:.4g} … {point.high:.4g}" if is_drawn else ""


def _ends(points: "tuple[Point, ...]") -> "tuple[Point, ...]":
    return points if len(points) < 2 else (points[0], points[-1])
