"""Choose a public candidate by private scores.

    exponential       P[i] ∝ e^(ε·s_i/(2Δ))                 Exponential(ε): ε-bounded range
    … monotone        P[i] ∝ e^(ε·s_i/Δ)                    the same, if a unit moves all scores in one direction only
    permute-and-flip  never worse in expectation; not bounded-range, so Pure(ε)
    noisy max         argmax of s_i + two-sided geometric noise of scale 2Δ/ε; Pure(ε)
    top k             k exponential choices without replacement at ε/k each, monotone or not

s are whole lattice steps, Δ = `sensitivity.linf`.  McSherry & Talwar (2007); McKenna & Sheldon (2020).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import bad
from discreet.mechanism.promise import LARGEST, saturated_sum, scores_vector
from discreet.ndarrays import Ints
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.select import exponential_choice, first_flipped
from discreet.noise.source import Source
from discreet.privacy.cost import Cost, Exponential, Pure, Repeated


@dataclass(frozen=True)
class _ByRate:
    """A choice whose odds depend on rate·(best score − score)."""

    sensitivity: Sensitivity
    cost: Cost
    rate: Fraction

    def shortfall(self, candidates: int, missed: Any) -> float:
        """R with P[best score − chosen score ≥ R] ≤ missed: (ln|Y| − ln missed)/rate steps.

        Permute-and-flip keeps it too, for it dominates the exponential mechanism stochastically.
        """
        chance = amounts.inner_probability(missed, "missed")
        # The logarithm of each whole number by itself: as a float the chance may be 0, and the rate 0 or infinite.
        tail = math.log(chance.denominator) - math.log(chance.numerator)
        steps = Fraction(math.log(amounts.count(candidates, "candidates", 1)) + tail) / self.rate
        return float(min(steps, Fraction(2 * LARGEST)))  # no two scores lie further apart


@dataclass(frozen=True)
class ExponentialMechanism(_ByRate):
    """An index with probability ∝ e^(rate·score); `rate` is ε/(2Δ), or ε/Δ for declared-monotone scores."""

    def __call__(self, exact: Any, source: Source) -> int:
        """The chosen index."""
        return int(self.many(exact, 1, source)[0])

    def many(self, exact: Any, n: int, source: Source) -> Ints:
        """n independent choices, which cost n times as much: what an audit looks at."""
        return exponential_choice(_gaps(scores_vector(exact)), self.rate, n, source)


@dataclass(frozen=True)
class PermuteAndFlip(_ByRate):
    """The first candidate, in random order, whose coin of bias e^(rate·(score − best)) falls heads."""

    def __call__(self, exact: Any, source: Source) -> int:
        """The chosen index."""
        return first_flipped(_gaps(scores_vector(exact)), self.rate, source)


@dataclass(frozen=True)
class NoisyMax:
    """The index of the largest noisy score; the first of them where they tie."""

    sensitivity: Sensitivity
    cost: Cost
    noise: DiscreteLaplace

    def __call__(self, exact: Any, source: Source) -> int:
        """The chosen index."""
        return int(self.many(exact, 1, source)[0])

    def many(self, exact: Any, n: int, source: Source) -> Ints:
        """n independent choices, which cost n times as much: what an audit looks at."""
        scores = scores_vector(exact)
        noise = self.noise.draw(n * scores.size, source).reshape(n, scores.size)
        best: Ints = np.argmax(saturated_sum(scores, noise), axis=1).astype(np.int64)
        return best

    def shortfall(self, candidates: int, missed: Any) -> float:
        """R with P[best score − chosen score > R] ≤ missed: twice the radius that holds all noise at once."""
        chance = amounts.inner_probability(missed, "missed")
        return 2.0 * self.noise.radius(1 - chance / amounts.count(candidates, "candidates", 1))


@dataclass(frozen=True)
class TopK:
    """k indices, chosen one after the other and each removed."""

    sensitivity: Sensitivity
    cost: Cost
    k: int
    choice: ExponentialMechanism

    def __call__(self, exact: Any, source: Source) -> list[int]:
        """The chosen indices, best guess first."""
        return [int(index) for index in self.many(exact, 1, source)[0]]

    def many(self, exact: Any, n: int, source: Source) -> Ints:
        """n independent lists, one a row, which cost n times as much: what an audit looks at."""
        scores = scores_vector(exact)
        if scores.size < self.k:
            raise bad("scores", f"must have at least k = {self.k} candidates", scores.size, "Ask for fewer.")
        chosen = np.zeros((n, self.k), dtype=np.int64)
        branches = [(np.arange(scores.size), np.arange(n))]  # the candidates that remain, and for which of the n lists
        for position in range(self.k):
            next_branches = []
            for remaining, lists in branches:
                picks = self.choice.many(scores[remaining], lists.size, source)
                chosen[lists, position] = remaining[picks]
                next_branches += [(np.delete(remaining, pick), lists[picks == pick]) for pick in np.unique(picks)]
            branches = next_branches
        return chosen


def exponential(sensitivity: Sensitivity, epsilon: Any) -> ExponentialMechanism:
    """ε-DP for any scores: the exponent carries the factor 2, for a unit may lift one score and lower another."""
    epsilon = amounts.epsilon(epsilon)
    return ExponentialMechanism(sensitivity, Exponential(epsilon), epsilon / (2 * _linf(sensitivity)))


def monotone_exponential(sensitivity: Sensitivity, epsilon: Any) -> ExponentialMechanism:
    """ε-DP for scores that one unit moves all in the same direction, such as counts under add-remove.

    The caller declares the scores monotone; under replace-one no score is.
    """
    if sensitivity.relation != "add-remove":
        fix = "Use `exponential`, whose exponent carries the factor 2."
        raise bad("relation", "must be add-remove for monotone scores", str(sensitivity.relation), fix)
    epsilon = amounts.epsilon(epsilon)
    return ExponentialMechanism(sensitivity, Exponential(epsilon), epsilon / _linf(sensitivity))


def permute_and_flip(sensitivity: Sensitivity, epsilon: Any) -> PermuteAndFlip:
    """ε-DP with the exponential mechanism's exponent; priced as Pure(ε), that is ε²/2-zCDP and not ε²/8."""
    epsilon = amounts.epsilon(epsilon)
    return PermuteAndFlip(sensitivity, Pure(epsilon), epsilon / (2 * _linf(sensitivity)))


def noisy_max(sensitivity: Sensitivity, epsilon: Any) -> NoisyMax:
    """ε-DP: an index stays ahead if its own noise rises by 2Δ, which costs e^(2Δ/b) = e^ε."""
    epsilon = amounts.epsilon(epsilon)
    return NoisyMax(sensitivity, Pure(epsilon), DiscreteLaplace(2 * _linf(sensitivity) / epsilon))


def top_k(sensitivity: Sensitivity, epsilon: Any, k: int) -> TopK:
    """ε-DP in total: k exponential mechanisms at ε/k, each on what is left."""
    k = amounts.count(k, "k", 1, 10**6)
    return _top_k(exponential(sensitivity, amounts.epsilon(epsilon) / k), k)


def monotone_top_k(sensitivity: Sensitivity, epsilon: Any, k: int) -> TopK:
    """ε-DP in total for scores that one unit moves all in the same direction, such as counts under add-remove.

    What is left after a choice still moves one way only, so every round is a monotone exponential mechanism at ε/k.

    >>> from discreet.bounded import cells
    >>> monotone_top_k(cells(4, 1), 1, 2).choice.rate, top_k(cells(4, 1), 1, 2).choice.rate
    (Fraction(1, 2), Fraction(1, 4))
    """
    k = amounts.count(k, "k", 1, 10**6)
    return _top_k(monotone_exponential(sensitivity, amounts.epsilon(epsilon) / k), k)


def _top_k(choice: ExponentialMechanism, k: int) -> TopK:
    return TopK(choice.sensitivity, Repeated(choice.cost, k), k, choice)


def _gaps(scores: Ints) -> Ints:
    """How far below the best each score lies: below 2⁶³, since scores saturate below 2⁶²."""
    gaps: Ints = scores.max() - scores
    return gaps


def _linf(sensitivity: Sensitivity) -> Fraction:
    if sensitivity.linf <= 0:
        fix = "Scores that no unit can move are public; take the best of them."
        raise bad("sensitivity linf", "must be positive", sensitivity.linf, fix)
    return sensitivity.linf
