"""The least noise that meets a target, rounded to the noisier side and priced again before it is used.

A search that takes seconds stores its result on disk as a *hint*.  Every hint is priced again, so a stale, broken or
hostile cache costs time and nothing else.
"""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import NotPriced, bad
from discreet.privacy import analytic, hints, price
from discreet.privacy.certify import up
from discreet.privacy.cost import FREE, Cost, Gaussian, Repeated, Sampled, Together, to_json
from discreet.real import ball

TOLERANCE = Fraction(1, 2000)  # a searched sigma is at most so much larger than needed, relatively
_LEAST_SIGMA, _MOST_SIGMA = 1e-3, 1e9
_MOST_PRICINGS = 60


def gaussian_sigma(epsilon: Any, delta: Any) -> Fraction:
    """The least σ per unit of l2 sensitivity that is (ε, δ)-DP by the analytic formula, 12 digits, rounded up.

    >>> float(gaussian_sigma(1, "1e-5"))
    3.73063163482
    """
    sigma = analytic.sigma(epsilon, delta)
    _require_met(price.delta(Gaussian(sigma), epsilon).value <= analytic.open_delta(delta))
    return sigma


def zcdp_sigma(rho: Any) -> Fraction:
    """√(1/2ρ), 12 digits, rounded up: Gaussian noise, discrete or not, per unit of l2 sensitivity, that is ρ-zCDP.

    >>> zcdp_sigma("0.5")
    Fraction(1, 1)
    """
    target = amounts.positive(rho, "rho")
    sigma = Fraction(amounts.rounded_up(up(lambda: (1 / (2 * ball(target))).sqrt()), 12))
    _require_met(1 / (2 * sigma * sigma) <= target)
    return sigma


def sampled_sigma(rate: Any, times: int, epsilon: Any, delta: Any, beside: Cost = FREE) -> Fraction:
    """The least σ such that `times` Gaussian steps on Poisson samples at `rate` are (ε, δ)-DP, together with `beside`.

    Within 1/2000, never below.  The cost priced is Together((Repeated(Sampled(rate, Gaussian(σ)), times), beside)).
    """
    q, target, target_delta = amounts.probability(rate, "rate"), amounts.epsilon(epsilon), analytic.open_delta(delta)
    steps = amounts.count(times, "times", 1, 10**9)
    if q == 0:
        raise bad("rate", "must be above 0", rate, "Give the chance of one unit to be sampled, such as 0.01.")

    def epsilon_of(sigma: Fraction) -> float:
        run = Repeated(Sampled(q, Gaussian(sigma)), steps)
        return amounts.float_up(price.epsilon(Together((run, beside)), target_delta).value)

    key = f"sampled-gaussian rate={q} times={steps} epsilon={target} delta={target_delta}"
    if beside != FREE:
        key += f" beside={json.dumps(to_json(beside), sort_keys=True)}"
    hint = hints.recall(key)
    if hint is not None and _is_least(hint, epsilon_of, target):
        return hint
    sigma = _least_sigma(epsilon_of, target)
    _require_met(epsilon_of(sigma) <= target)
    hints.remember(key, sigma)
    return sigma


def _is_least(hint: Fraction, epsilon_of: Callable[[Fraction], float], target: Fraction) -> bool:
    """Whether a hint is private enough, and no noisier than needed."""
    if not _LEAST_SIGMA <= hint <= _MOST_SIGMA:
        return False
    return epsilon_of(hint) <= target < epsilon_of(hint * (1 - 2 * TOLERANCE))


def _least_sigma(epsilon_of: Callable[[Fraction], float], target: Fraction) -> Fraction:
    """The upper end of a bracket of σ, narrowed by the secant on logarithms; the upper end is always a priced σ."""
    low, high, epsilon_low, epsilon_high = _bracket(epsilon_of, target)
    for _ in range(_MOST_PRICINGS):
        if high <= low * (1 + TOLERANCE):
            return high
        middle = _short(_secant(low, high, epsilon_low, epsilon_high, math.log(float(target))))
        if not low < middle < high:
            middle = (low + high) / 2
        epsilon = epsilon_of(middle)
        if epsilon > target:
            low, epsilon_low = middle, epsilon
            continue
        high, epsilon_high = middle, epsilon
        # One step just below the new end: it closes the bracket when the secant came from that side.
        below = high * (1 - TOLERANCE / 2)
        if below > low:
            epsilon = epsilon_of(below)
            if epsilon <= target:
                high, epsilon_high = below, epsilon
            else:
                low, epsilon_low = below, epsilon
    return high


def _secant(low: Fraction, high: Fraction, epsilon_low: float, epsilon_high: float, target: float) -> float:
    log_low, log_high = math.log(float(low)), math.log(float(high))
    if not (0 < epsilon_high < epsilon_low < math.inf):
        return math.exp((log_low + log_high) / 2)
    weight = (math.log(epsilon_low) - target) / (math.log(epsilon_low) - math.log(epsilon_high))
    weight = min(max(weight + 1e-4, 0.02), 0.98)
    return math.exp(log_low + weight * (log_high - log_low))


def _bracket(epsilon_of: Callable[[Fraction], float], target: Fraction) -> tuple[Fraction, Fraction, float, float]:
    """A σ with too large an ε and one with an ε that meets the target, and both ε."""
    low = high = Fraction(1)
    epsilon_low = epsilon_high = epsilon_of(high)
    while epsilon_low <= target:
        high, epsilon_high = low, epsilon_low
        low = low / 2
        if low < _LEAST_SIGMA:
            return high, high, epsilon_high, epsilon_high
        epsilon_low = epsilon_of(low)
    while epsilon_high > target:
        low, epsilon_low = high, epsilon_high
        high = high * 2
        if high > _MOST_SIGMA:
            what = "No sigma up to 1e9 meets this target."
            raise NotPriced(what, "The steps are too many for it.", "Take fewer steps, a lower rate or a larger ε.")
        epsilon_high = epsilon_of(high)
    return low, high, epsilon_low, epsilon_high


def _short(value: float) -> Fraction:
    return Fraction(amounts.rounded_up(Fraction(value), 7))


def _require_met(is_met: bool) -> None:
    if not is_met:
        what = "The noise found does not meet its target when priced again."
        raise NotPriced(what, "Nothing was used.", "Report this with the target you gave.")
