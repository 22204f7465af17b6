"""Private group keys: a key is released if enough units have it; the threshold hides every key of a single unit.

    key of count c ≥ 1 is released iff c + X > τ,      τ the least whole number with 1 − (1 − P[1 + X > τ])^g ≤ δ

X is whole noise drawn anew for each key, g = `groups` the most keys one unit counts in.  A count that a unit moves is
covered by the noise; a key that only one of the neighbouring tables has is covered by δ.  Under replace-one a unit may
leave g keys and enter g others: the noise must cover 2g counts, but δ still g keys (docs/proofs/mechanism/keys.md).
Korolova et al. (2009); Wilson et al. (2020).
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from discreet import amounts, real
from discreet.bounded import Sensitivity, cells
from discreet.errors import bad, bad_private
from discreet.mechanism import additive
from discreet.mechanism.promise import lattice_vector, saturated_sum
from discreet.ndarrays import Bools
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import Source
from discreet.privacy.cost import Approx, Cost, Together
from discreet.relation import Relation
from discreet.relation import relation as relation_named

_CEILING = Fraction(1, 2)


@dataclass(frozen=True)
class KeySelection:
    """Which keys are released; the input is the number of distinct units of every key present, in the caller's order.

    How many keys are present is private too: only the released ones may go out, in an order that is not the table's.
    """

    sensitivity: Sensitivity
    cost: Cost
    threshold: int
    noise: DiscreteLaplace | RoundedGaussian

    def __call__(self, exact: Any, source: Source) -> Bools:
        """True for each key that is released; a count below 1 is a key nobody has, and never is."""
        counts = lattice_vector(exact, "counts")
        if counts.ndim != 1:
            raise bad_private("counts", "must be a flat list, one count a key", "Give a list of whole numbers.")
        noisy = saturated_sum(counts, self.noise.draw(counts.size, source))
        released: Bools = (counts >= 1) & (noisy > self.threshold)
        return released

    def least_count(self, level: Fraction) -> int:
        """The least count of units whose key is released with at least that probability.

        P[c + X > τ] ≥ level iff P[X > c − τ − 1] ≤ 1 − level, since X is symmetric.
        """
        amounts.require_inner(level, "level")
        missed = 1 - level

        def is_enough(count: int) -> bool:
            return real.less(lambda: self.noise.above(count - self.threshold - 1), lambda: real.ball(missed))

        return _least(is_enough)


def key_selection(groups: int, epsilon: Any, delta: Any, *, relation: Any = Relation.ADD_REMOVE) -> KeySelection:
    """ε-DP counts and δ for the keys of one unit: two-sided geometric noise of scale g/ε, by replacement 2g/ε.

    >>> keys = key_selection(1, 1, "1e-6")
    >>> keys.threshold, keys.least_count(Fraction(95, 100))
    (14, 17)
    """
    sensitivity = _sensitivity(groups, relation)
    return _selection(groups, delta, additive.laplace(sensitivity, epsilon))


def gaussian_key_selection(groups: int, sigma: Any, delta: Any, *, relation: Any = Relation.ADD_REMOVE) -> KeySelection:
    """μ-GDP counts, μ = √g/σ (by replacement √(2g)/σ), and δ for the keys of one unit; rounded Gaussian noise.

    For units in many groups its threshold is far below the Laplace one at the same (ε, δ).

    >>> gaussian_key_selection(16, 20, "1e-6").cost
    Together(costs=(Gaussian(sigma=Fraction(5, 1)), Approx(epsilon=Fraction(0, 1), delta=Fraction(1, 1000000))))
    """
    sensitivity = _sensitivity(groups, relation)
    return _selection(groups, delta, additive.gaussian(sensitivity, sigma))


def _selection(groups: int, delta: Any, counts: additive.Additive) -> KeySelection:
    leak_delta = amounts.delta(delta, ceiling=_CEILING)
    if leak_delta == 0:
        fix = "Give a number such as 1e-7, or declare the keys as public values."
        raise bad("delta", "must be above 0 where keys are private", delta, fix)
    match counts.noise:
        case DiscreteLaplace() | RoundedGaussian():
            tau = _least_threshold(int(groups), leak_delta, counts.noise)  # may be a NumPy integer
            cost = Together((counts.cost, Approx(Fraction(0), leak_delta)))
            return KeySelection(counts.sensitivity, cost, tau, counts.noise)
        case _:
            raise TypeError("no threshold is known for this noise")


def _least_threshold(groups: int, delta: Fraction, noise: DiscreteLaplace | RoundedGaussian) -> int:
    """The least τ ≥ 1 with 1 − (1 − P[1 + X > τ])^g ≤ δ, certified for the very law of X."""

    def chance_shown(tau: int) -> arb:
        # One key of g at least, without losing the digits of a small chance: 1 − e^(g·ln(1 − p)).
        return -(groups * (-noise.above(tau - 1)).log1p()).expm1()

    return _least(lambda tau: real.less(lambda: chance_shown(tau), lambda: real.ball(delta)))


def _sensitivity(groups: int, under: Any) -> Sensitivity:
    """The counts of at most g keys move by one; by replacement those of g keys left and of g keys entered."""
    groups, kind = amounts.count(groups, "groups", 1), relation_named(under)
    return cells(2 * groups if kind is Relation.REPLACE_ONE else groups, 1, kind)


def _least(is_enough: Callable[[int], bool]) -> int:
    """The least whole number from 1 on that is enough, where all larger ones are too."""
    upper = 1
    while not is_enough(upper):
        upper *= 2
    return bisect_left(range(upper), True, 1, key=is_enough)
