"""Lower bounds on the probability that an audit refutes a false claim."""

from bisect import bisect_left
from collections.abc import Callable

from discreet.audit.bounds import ALPHA, Hits, Test, lower_bound, refutes
from discreet.audit.mutants import Drawn, Planted, Proven

_MISSED = 3e-7


def power(planted: Planted, *, alpha: float = ALPHA) -> float:
    """A lower bound on the probability of catching a planted bug: 1 by proof, else from the binomial law."""
    match planted:
        case Proven():
            return 1.0
        case Drawn():
            return sure_power(planted.test, planted.chances, planted.runs, alpha)


def sure_power(test: Test, chances: tuple[float, float], runs: int, alpha: float) -> float:
    """A lower bound on the probability that `runs` draws a side refute the claim, from the event's true chances.

    ε_LB grows with k and falls with k', so if it refutes at (a, b) it does at every k ≥ a, k' ≤ b:
    power ≥ 1 − P[Bin(n, p) < a] − P[Bin(n, q) > b].  a and b are where each of these is about 3·10⁻⁷.
    """
    from scipy.special import bdtr, bdtrc

    p, q = chances
    a = _first(lambda k: bool(bdtr(k, runs, p) > _MISSED), runs)
    b = _first(lambda k: bool(bdtrc(k, runs, q) < _MISSED), runs)
    if not refutes(test, lower_bound(test, Hits(a, b, runs), alpha)):
        return 0.0
    below = float(bdtr(a - 1, runs, p)) if a > 0 else 0.0
    return 1 - below - float(bdtrc(b, runs, q))


def _first(holds: Callable[[int], bool], runs: int) -> int:
    """The least k in 0 … runs at which a monotone condition holds, or runs."""
    return bisect_left(range(runs), True, key=holds)
