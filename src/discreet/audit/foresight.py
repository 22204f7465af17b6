"""What an audit can see before it runs: how far a claim must be off for so many runs to refute it.

For one kind of noise: whole Laplace noise of a true ε′ = f·ε on counts that differ by 1, with the event y ≥ the larger
count; p = 1/(1 + e^−ε′) and q = e^−ε′·p are its chances.  A leak in rare outputs alone may take more runs.
"""

import math
from bisect import bisect_left
from fractions import Fraction

from discreet.audit.bounds import ALPHA, Hits, Odds, lower_bound, refutes

FACTORS = tuple(Fraction(f) for f in ("1.05", "1.1", "1.2", "1.3", "1.5", "2", "3", "5", "10"))
_MISSED = 0.005  # on each side: seen in 99 audits of 100


def factor_seen(claim: Odds, counted: int) -> Fraction | None:
    """The least factor of FACTORS at which so many counted runs a side refute the claim 99 times of 100, or None.

    >>> str(factor_seen(Odds(Fraction(1)), 10_000)), factor_seen(Odds(Fraction(1)), 20)
    ('6/5', None)
    """
    return next((factor for factor in FACTORS if _is_seen(claim, factor, counted)), None)


def factor_words(claim: Odds, counted: int) -> str:
    """The clauses about that factor.

    >>> factor_words(Odds(Fraction(1)), 10_000).partition(";")[0]
    'Laplace noise on a count for 1.2 times the claimed ε would be seen 99 times of 100'
    """
    factor = factor_seen(claim, counted)
    if factor is None:
        return f"not even Laplace noise on a count for {FACTORS[-1]} times the claimed ε would surely be seen"
    seen = f"Laplace noise on a count for {float(factor):g} times the claimed ε would be seen 99 times of 100"
    return f"{seen}; a leak in rare outputs may not be"


def _is_seen(claim: Odds, factor: Fraction, runs: int) -> bool:
    true = float(claim.epsilon * factor)
    p = 1 / (1 + math.exp(-true))
    hits = Hits(_quantile(runs, p, _MISSED), _quantile(runs, math.exp(-true) * p, 1 - _MISSED), runs)
    return refutes(claim, lower_bound(claim, hits, ALPHA / 4))


def _quantile(runs: int, p: float, level: float) -> int:
    """The least k with P[Bin(runs, p) ≤ k] ≥ level."""
    from scipy.special import bdtr

    return bisect_left(range(runs), True, key=lambda k: bool(bdtr(k, runs, p) >= level))
