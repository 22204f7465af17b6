"""Many counts of one person, and many repeats of one promise.

dimensions    k counts that one person may all move: Laplace pays l1 = k, Gaussian l2 = √k
composition   k repeats of ε₀: kε₀;  √(2k ln(1/δ))·ε₀ + kε₀(e^ε₀ − 1) (Dwork, Rothblum & Vadhan 2010);  the least
              ε at that δ (Kairouz, Oh & Viswanath 2015), attained by k randomized responses
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.amounts import text_of
from discreet.bounded import cells
from discreet.lecture.curve import TWO_SIDED_95, Curve, Point, Series
from discreet.lecture.measured import rms_point
from discreet.mechanism.additive import Additive, analytic_gaussian, laplace
from discreet.mechanism.response import response
from discreet.ndarrays import Floats
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Repeated, Response
from discreet.privacy.price import epsilon as price

DELTA = Fraction(1, 10**5)
COUNTS = (1, 2, 4, 7, 10, 20, 50, 100)
REPEATS = (1, 3, 10, 30, 100, 300)
SEEN_DELTA = Fraction(1, 1000)  # large, so that a measurement can see it
_NUMBERS = 100_000  # noisy counts at a point
_COINS = 8_000_000
_RUNS = 100_000
_MOST_COUNTS = 10**6


def dimensions(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """The error of each of k counts, by Laplace and by Gaussian noise."""
    lines = []
    for epsilon in epsilons:
        name = "" if len(epsilons) == 1 else f", ε = {text_of(epsilon)}"
        by_l1 = [laplace(cells(k, 1), epsilon) for k in COUNTS]
        by_l2 = [analytic_gaussian(cells(k, 1), epsilon, DELTA) for k in COUNTS]
        lines += [_count_line(f"Laplace{name}", by_l1, epsilon, 0), _count_line(f"Gaussian{name}", by_l2, epsilon, 1)]
    crossings = {text_of(epsilon): overtaking(epsilon) for epsilon in epsilons}
    first = crossings[text_of(epsilons[0])]
    sentence = (
        f"At ε = {text_of(epsilons[0])} and δ = {text_of(DELTA)} the Gaussian overtakes Laplace at {first} counts: "
        f"their errors grow as √k and as k. Asked for least error, the system chooses the same."
    )
    y = "root mean square error of each count"
    facts = {"delta": float(DELTA), "overtakes_at": crossings}
    return Curve("dimensions", "Many counts at once", "counts", "counts k", y, tuple(lines), sentence, facts=facts)


def composition(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """What k repeats promise together: added up, by the advanced theorem, and at least."""
    each = epsilons[0]
    exact, basic, advanced = [], [], []
    for k in REPEATS:
        total = float(price(Repeated(Response(each), k), SEEN_DELTA).value)
        measured, low, high = repeated_loss(each, k)
        exact.append(Point(1, float(each), k, total, measured, low, high))
        basic.append(Point(1, float(each), k, k * float(each)))
        advanced.append(Point(1, float(each), k, advanced_epsilon(float(each), k, float(SEEN_DELTA))))
    last = REPEATS[-1]
    sentence = (
        f"{last} repeats of ε = {text_of(each)} promise ε = {exact[-1].theory:.2f} at δ = {text_of(SEEN_DELTA)}, where "
        f"adding up gives {basic[-1].theory:g} and the advanced theorem {advanced[-1].theory:.2f}."
    )
    notes = (
        "Measured on randomized response, the worst that a promise of ε allows; a smaller δ could not be measured.",
        "For few repeats the advanced theorem is worse than adding up.",
    )
    lines = (
        Series("exact", tuple(exact), pen=1),
        Series("added up: kε", tuple(basic), pen=0),
        Series("advanced theorem", tuple(advanced), pen=2),
    )
    facts = {"delta": float(SEEN_DELTA)}
    y = "ε of all repeats together"
    return Curve("composition", "The price of asking again", "repeats", "repeats k", y, lines, sentence, notes, facts)


def overtaking(epsilon: Fraction) -> int | None:
    """The least k at which the Gaussian's variance is below Laplace's; None beyond a million counts.

    >>> overtaking(Fraction(1))
    7
    """

    def is_ahead(k: int) -> bool:
        return analytic_gaussian(cells(k, 1), epsilon, DELTA).variance < laplace(cells(k, 1), epsilon).variance

    if not is_ahead(_MOST_COUNTS):
        return None
    low, high = 0, _MOST_COUNTS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_ahead(middle) else (middle, high)
    return high


def advanced_epsilon(epsilon: float, times: int, delta: float) -> float:
    """√(2k ln(1/δ))·ε + kε(e^ε − 1) (Dwork, Rothblum & Vadhan 2010).

    >>> round(advanced_epsilon(0.1, 100, 1e-5), 2)
    5.85
    """
    return math.sqrt(2 * times * math.log(1 / delta)) * epsilon + times * epsilon * math.expm1(epsilon)


def repeated_loss(epsilon: Fraction, times: int) -> tuple[float, float, float]:
    """The ε at which E max(0, 1 − e^(ε − L)) = δ for the loss L of `times` responses, over runs, with its interval.

    L = ε₀·(true answers − false ones): each response is the truth or not, and both laws are known.
    """
    import numpy as np

    runs = max(2_000, min(_RUNS, _COINS // times))
    truths = np.zeros(runs, dtype=np.int64)
    coins = response(epsilon)
    for _ in range(times):
        truths += coins(np.ones(runs, dtype=np.int64), SYSTEM)
    losses = float(epsilon) * (2 * truths - times).astype(float)
    middle = _crossing(losses, 0.0)
    return middle, min(middle, _crossing(losses, -TWO_SIDED_95)), max(middle, _crossing(losses, TWO_SIDED_95))


def _crossing(losses: Floats, errors: float) -> float:
    """The ε at which the mean of max(0, 1 − e^(ε − L)), moved by so many standard errors, falls to δ; by halving."""
    import numpy as np

    low, high = 0.0, float(losses.max())
    for _ in range(50):
        middle = (low + high) / 2
        excess = -np.expm1(np.minimum(middle - losses, 0.0))
        mean = float(excess.mean()) + errors * float(excess.std()) / math.sqrt(losses.size)
        low, high = (middle, high) if mean > float(SEEN_DELTA) else (low, middle)
    return high


def _count_line(name: str, noises: Sequence[Additive], epsilon: Fraction, pen: int) -> Series:
    """The noise on k counts of 0, drawn often enough that a point has the same number of noisy counts."""
    import numpy as np

    points = []
    for k, noise in zip(COUNTS, noises, strict=True):
        errors = noise(np.zeros(_NUMBERS // k * k, dtype=np.int64), SYSTEM).astype(float)
        points.append(rms_point(errors, 1, epsilon, k, math.sqrt(noise.variance)))
    return Series(name, tuple(points), "k" if pen == 0 else "√k", pen)
