"""Lower bounds on ε and μ from counts, valid with probability 1 − α whatever the mechanism.

For an event E fixed beforehand, k hits in n runs on D and k' in n on its neighbour D':

    p_lo = BetaInv(α/2; k, n−k+1)      q_hi = BetaInv(1 − α/2; k'+1, n−k')            (Clopper & Pearson 1934)
    ε_LB = ln((p_lo − δ)/q_hi)         μ_LB = Φ⁻¹(p_lo) − Φ⁻¹(q_hi)

(ε, δ)-DP says P[E] ≤ e^ε·Q[E] + δ, and μ-GDP says Φ⁻¹(P[E]) ≤ Φ⁻¹(Q[E]) + μ; with FPR = Q[E] and FNR = 1 − P[E] the
second is Φ⁻¹(1 − FPR_hi) − Φ⁻¹(FNR_hi) (Nasr et al. 2023).  Floats are moved outward by 10⁻⁹, relatively: a
thousand times the error of the incomplete beta function here, as its test against certified balls shows.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet import amounts

ALPHA = 1e-6  # of one claim, all its tests together
_OUTWARD = 1e-9


@dataclass(frozen=True)
class Odds:
    """The claim P[E] ≤ e^ε·Q[E] + δ for every event E and both orders of the pair."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    @property
    def size(self) -> Fraction:
        return self.epsilon

    def __str__(self) -> str:
        leak = f", δ = {amounts.text_of(self.delta)}" if self.delta else ""
        return f"ε = {_text(self.epsilon)}{leak}"


@dataclass(frozen=True)
class Shift:
    """The claim of μ-GDP: nothing tells D from D' better than it tells N(0, 1) from N(μ, 1)."""

    mu: Fraction

    @property
    def size(self) -> Fraction:
        return self.mu

    def __str__(self) -> str:
        return f"μ = {_text(self.mu)}"


Test = Odds | Shift


@dataclass(frozen=True)
class Hits:
    """How often an event happened on each side of a pair."""

    first: int
    second: int
    runs: int  # on each side


def lower_end(hits: int, runs: int, alpha: float) -> float:
    """p with P[Bin(runs, p) ≥ hits] ≤ alpha: the truth lies above, but for that probability.

    >>> lower_end(0, 10, 0.01), round(lower_end(10, 10, 0.01), 4)
    (0.0, 0.631)
    """
    from scipy.special import betaincinv

    return 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, alpha)) * (1 - _OUTWARD)


def upper_end(hits: int, runs: int, alpha: float) -> float:
    """p with P[Bin(runs, p) ≤ hits] ≤ alpha: the truth lies below, but for that probability."""
    from scipy.special import betainccinv

    return 1.0 if hits == runs else min(1.0, float(betainccinv(hits + 1, runs - hits, alpha)) * (1 + _OUTWARD))


def lower_bound(test: Test, hits: Hits, alpha: float) -> float:
    """The ε or μ that the hits prove at the level alpha; −∞ where they prove nothing.

    >>> round(lower_bound(Odds(Fraction(1)), Hits(700, 200, 1000), 1e-6), 3)
    0.852
    """
    p, q = lower_end(hits.first, hits.runs, alpha / 2), upper_end(hits.second, hits.runs, alpha / 2)
    match test:
        case Odds():
            excess = p - amounts.float_up(test.delta)
            return _down(math.log(excess / q)) if excess > 0 else -math.inf
        case Shift():
            from scipy.special import ndtri

            return _down(float(ndtri(p) - ndtri(q))) if p > 0 and q < 1 else -math.inf
        case _:
            raise TypeError("not a test")


def refutes(test: Test, bound: float) -> bool:
    """Whether a lower bound lies above the claim."""
    return bound > test.size


def _down(bound: float) -> float:
    return bound - _OUTWARD * max(1.0, abs(bound))


def _text(value: Fraction) -> str:
    return f"{amounts.rounded_up(value, 6):f}"
