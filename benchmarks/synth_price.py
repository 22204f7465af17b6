"""What (ε, δ) buys in Gaussian noise and in choices, in floats: for yardsticks and twins only.  NumPy-free."""

import math
from statistics import NormalDist

DELTA = 1e-9


def mu_of(epsilon: float, delta: float = DELTA) -> float:
    """The largest μ whose Gaussian mechanism, of sensitivity over σ, is (ε, δ)-DP (Balle & Wang 2018, Theorem 8).

    δ = Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2), with Φ the normal law.
    """
    low, high = 1e-6, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _gaussian_delta(middle, epsilon) <= delta else (low, middle)
    return low


def group_epsilon(epsilon: float, rows: int, delta: float = DELTA) -> float:
    """The ε′ at which Gaussian noise must protect one row, at the same δ, so that this many rows have (ε, δ).

    Noise with the μ of (ε, δ) divided by the rows gives every group of so many rows that μ (Dong, Roth & Su 2022).
    """
    mu = mu_of(epsilon, delta) / rows
    low, high = 0.0, epsilon
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _gaussian_delta(mu, middle) >= delta else (low, middle)
    return low


def _gaussian_delta(mu: float, epsilon: float) -> float:
    phi = NormalDist().cdf
    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def rho_of(epsilon: float, delta: float = DELTA) -> float:
    """The largest ρ such that ρ-zCDP is (ε, δ)-DP (Canonne, Kamath & Steinke 2020, Proposition 12).

    δ = min over α > 1 of e^((α−1)(αρ−ε))·(1 − 1/α)^α/(α − 1).
    """
    low, high = 0.0, epsilon + 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_delta(middle, epsilon) <= math.log(delta) else (low, middle)
    return low


def _log_delta(rho: float, epsilon: float) -> float:
    """ln δ at the best order, which is looked for by thirds; any order is sound."""

    def bound(log_excess: float) -> float:
        excess = math.exp(log_excess)  # α − 1
        order = 1 + excess
        return excess * (order * rho - epsilon) - log_excess + order * math.log1p(-1 / order)

    low, high = math.log(1e-3), math.log(max(2.0, 100 * (epsilon + 1) / max(rho, 1e-12)))
    for _ in range(100):
        lower, upper = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, upper) if bound(lower) <= bound(upper) else (lower, high)
    return bound(low)
