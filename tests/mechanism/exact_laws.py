"""Exact output laws computed a second way, obvious and slow, and the chi-square test that compares draws with them."""

from functools import cache
from itertools import product

import mpmath
import numpy as np
from mpmath import mp, mpf
from scipy.stats import chi2, ncx2

from discreet import real

mp.dps = max(mp.dps, 40)
ALARM = 1e-6  # false alarms of every statistical test here
ROUND_OFF = mpf(10) ** -30


def number(value):
    """A Fraction, or the middle of a ball, as an mpf."""
    exact = value if hasattr(value, "denominator") else real.exact(value.mid())
    return mpf(exact.numerator) / exact.denominator


def masses(law, reach):
    """P[k] for |k| ≤ reach, from the law's certified masses."""
    with real.precision(200):
        half = [number(law.mass(k)) for k in range(reach + 1)]
    return {k: half[abs(k)] for k in range(-reach, reach + 1)}


@cache
def at_least(law, k):
    """P[X ≥ k], certified."""
    with real.precision(200):
        return number(law.above(k - 1))


def exponential_law(scores, rate):
    """P[i] ∝ e^(rate·score)."""
    best = max(scores)
    weights = [mpmath.exp(number(rate) * (s - best)) for s in scores]
    total = mpmath.fsum(weights)
    return {i: w / total for i, w in enumerate(weights)}


def largest_loss(p, q):
    """max |ln p/q| over all outcomes."""
    return max(abs(mpmath.log(p[y] / q[y])) for y in p)


def keeps(p, q, epsilon):
    """Whether no odds move by more than e^ε."""
    return p.keys() == q.keys() and largest_loss(p, q) <= number(epsilon) + ROUND_OFF


def within(candidates, step):
    """All pairs of vectors from `candidates` with no coordinate further apart than `step`."""
    return [(s, t) for s, t in product(candidates, repeat=2) if max(map(abs, map(int.__sub__, s, t))) <= step]


class Fixed:
    """A law that always draws the given numbers: what makes the code's own decisions countable."""

    def __init__(self, *given):
        self.given = list(given)

    def draw(self, n, source):
        taken, self.given = self.given[:n], self.given[n:]
        assert len(taken) == n
        return np.array(taken, dtype=np.int64)


class Batched:
    """The real law drawn in large batches, so that calls asking for one number at a time are quick."""

    def __init__(self, law, batch=1 << 16):
        self.law, self.batch, self.left = law, batch, []

    def draw(self, n, source):
        if len(self.left) < n:
            self.left = self.law.draw(self.batch, source)
        taken, self.left = self.left[:n], self.left[n:]
        return taken


def _merged(law, n, counts=None):
    """Pairs (observed or nothing, expected), cells expected fewer than ten times put together."""
    seen = counts or {}
    cells = [(float(n * p), y) for y, p in law.items()]
    large = [(e, seen.get(y, 0), {y}) for e, y in cells if e >= 10]
    low_cells = [(e, y) for e, y in cells if e < 10]
    if low_cells:
        large.append(
            (sum(e for e, _ in low_cells), sum(seen.get(y, 0) for _, y in low_cells), {y for _, y in low_cells})
        )
    return large


def surprise(counts, law):
    """The chi-square p-value of the counts under the law."""
    n = sum(counts.values())
    assert set(counts) <= set(law), "an outcome of probability 0"
    cells = _merged(law, n, counts)
    assert sum(seen for _, seen, _ in cells) == n
    return chi2.sf(sum((seen - e) ** 2 / e for e, seen, _ in cells), len(cells) - 1)


def missed(true, wrong, n):
    """The probability that n draws from `true` do not refute `wrong`."""
    cells = _merged(wrong, n)
    shift = sum((n * float(sum(true[y] for y in ys)) - e) ** 2 / e for e, _, ys in cells)
    return ncx2.cdf(chi2.isf(ALARM, len(cells) - 1), len(cells) - 1, shift)


def assert_drawn_from(counts, law, wrong):
    """The counts fit the law and refute the one 10 % off, each with an error of at most 10⁻⁶."""
    n = sum(counts.values())
    assert missed(law, wrong, n) < ALARM, "N is too small to tell the two laws apart"
    assert surprise(counts, law) > ALARM
    assert surprise(counts, wrong) < ALARM
