"""From a target to the smallest noise that meets it, rounded to the noisier side and priced again before it is used.

What takes seconds is remembered on disk as a *hint*: every hint is priced again, so a stale, broken or hostile cache
costs time and nothing else.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import NotPriced, bad
from discreet.privacy import analytic, hints, price
from discreet.privacy.certify import up
from discreet.privacy.cost import Gaussian, Repeated, Sampled
from discreet.real import ball

TOLERANCE = Fraction(1, 2000)  # a searched sigma is at most so much larger than needed, relatively
_LEAST_SIGMA, _MOST_SIGMA = 1e-3, 1e9
_MOST_PRICINGS = 60


def gaussian_sigma(epsilon: Any, delta: Any) -> Fraction:
    """The least σ per unit of l2 sensitivity that is (ε, δ)-DP by the analytic formula, 12 digits, rounded up.

    >>> float(gaussian_sigma(1, "1e-5"))
    3.73063163482
    """
    found = analytic.sigma(epsilon, delta)
    _priced_again(price.delta(Gaussian(found), epsilon).value <= analytic.open_delta(delta))
    return found


def zcdp_sigma(rho: Any) -> Fraction:
    """√(1/2ρ), 12 digits, rounded up: Gaussian noise, discrete or not, per unit of l2 sensitivity, that is ρ-zCDP.

    >>> zcdp_sigma("0.5")
    Fraction(1, 1)
    """
    wanted = amounts.positive(rho, "rho")
    found = Fraction(amounts.rounded_up(up(lambda: (1 / (2 * ball(wanted))).sqrt()), 12))
    _priced_again(1 / (2 * found * found) <= wanted)
    return found


def sampled_sigma(rate: Any, times: int, epsilon: Any, delta: Any) -> Fraction:
    """The least σ such that `times` Gaussian steps on Poisson samples at `rate` are (ε, δ)-DP.

    Within 1/2000, never below.  The cost priced is Repeated(Sampled(rate, Gaussian(σ)), times).
    """
    q, at, most = amounts.probability(rate, "rate"), amounts.epsilon(epsilon), analytic.open_delta(delta)
    steps = amounts.count(times, "times", 1, 10**9)
    if q == 0:
        raise bad("rate", "must be above 0", rate, "Give the chance of one unit to be sampled, such as 0.01.")

    def epsilon_of(sigma: Fraction) -> float:
        return amounts.float_up(price.epsilon(Repeated(Sampled(q, Gaussian(sigma)), steps), most).value)

    key = f"sampled-gaussian rate={q} times={steps} epsilon={at} delta={most}"
    hint = hints.recall(key)
    if hint is not None and _is_least(hint, epsilon_of, at):
        return hint
    found = _least_sigma(epsilon_of, at)
    _priced_again(epsilon_of(found) <= at)
    hints.remember(key, found)
    return found


def _is_least(hint: Fraction, epsilon_of: Callable[[Fraction], float], at: Fraction) -> bool:
    """Whether a hint is private enough, and no noisier than needed."""
    if not _LEAST_SIGMA <= hint <= _MOST_SIGMA:
        return False
    return epsilon_of(hint) <= at < epsilon_of(hint * (1 - 2 * TOLERANCE))


def _least_sigma(epsilon_of: Callable[[Fraction], float], at: Fraction) -> Fraction:
    """Bracket, then the secant on logarithms, kept inside the bracket; the upper end is always a priced σ."""
    target = math.log(float(at))
    low, high, price_low, price_high = _bracket(epsilon_of, at)
    for _ in range(_MOST_PRICINGS):
        if high <= low * (1 + TOLERANCE):
            return high
        middle = _short(_secant(low, high, price_low, price_high, target))
        if not low < middle < high:
            middle = (low + high) / 2
        found = epsilon_of(middle)
        if found <= at:
            high, price_high = middle, found
            # One step just below the new end: it closes the bracket when the secant came from that side.
            below = high * (1 - TOLERANCE / 2)
            if below > low:
                near = epsilon_of(below)
                if near <= at:
                    high, price_high = below, near
                else:
                    low, price_low = below, near
        else:
            low, price_low = middle, found
    return high


def _secant(low: Fraction, high: Fraction, price_low: float, price_high: float, target: float) -> float:
    left, right = math.log(float(low)), math.log(float(high))
    if not (0 < price_high < price_low < math.inf):
        return math.exp((left + right) / 2)
    share = (math.log(price_low) - target) / (math.log(price_low) - math.log(price_high))
    share = min(max(share + 1e-4, 0.02), 0.98)
    return math.exp(left + share * (right - left))


def _bracket(epsilon_of: Callable[[Fraction], float], at: Fraction) -> tuple[Fraction, Fraction, float, float]:
    high = Fraction(1)
    price_high = epsilon_of(high)
    if price_high <= at:
        low, price_low = high, price_high
        while price_low <= at:
            high, price_high = low, price_low
            low = low / 2
            if low < _LEAST_SIGMA:
                return high, high, price_high, price_high
            price_low = epsilon_of(low)
        return low, high, price_low, price_high
    low, price_low = high, price_high
    while price_high > at:
        low, price_low = high, price_high
        high = high * 2
        if high > _MOST_SIGMA:
            what = "No sigma up to 1e9 meets this target."
            raise NotPriced(what, "The steps are too many for it.", "Take fewer steps, a lower rate or a larger ε.")
        price_high = epsilon_of(high)
    return low, high, price_low, price_high


def _short(value: float) -> Fraction:
    return Fraction(amounts.rounded_up(Fraction(value), 7))


def _priced_again(met: bool) -> None:
    if not met:
        what = "The noise found does not meet its target when priced again."
        raise NotPriced(what, "Nothing was used.", "Report this with the target you gave.")
