"""Randomized response: every person randomizes their own answer; the share is estimated from all reports.

    report v when the truth is x:   P[v = x] = p,   P[v] = q for every other v,   ε = ln(p/q)
    unbiased share of v:            (c_v/n − q)/(p − q),   c_v of n reports say v

The k-ary form keeps the truth with probability p = e^ε/(e^ε + k − 1); k = 2 is Warner's (1965).  The survey with two
coins tells the truth on heads and on tails answers by a second coin.  Any two answers of one person are neighbours.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from discreet import amounts, real
from discreet.bounded import Sensitivity
from discreet.errors import bad, bad_private
from discreet.mechanism.promise import lattice_vector
from discreet.ndarrays import Ints
from discreet.noise.bernoulli import bernoulli, coins
from discreet.noise.select import uniforms
from discreet.noise.source import Source
from discreet.privacy.cost import Cost, Response
from discreet.relation import Relation


@dataclass(frozen=True)
class ShareEstimate:
    """An estimated share of the population, with the interval that holds it at the stated level."""

    value: float  # unbiased, so it may lie outside [0, 1]
    low: float  # cut to [0, 1]
    high: float


@dataclass(frozen=True)
class KaryResponse:
    """The truth among 0 … choices−1 with probability e^ε/(e^ε + k − 1), else any other answer alike.

    >>> round(response(1).keep, 4)
    0.7311
    """

    epsilon: Fraction
    choices: int

    @property
    def sensitivity(self) -> Sensitivity:
        return _answer_sensitivity(self.choices)

    @property
    def cost(self) -> Cost:
        return Response(self.epsilon)

    @property
    def keep(self) -> float:
        """p."""
        return 1 / (1 + (self.choices - 1) * math.exp(-self.epsilon))

    def __call__(self, exact: Any, source: Source) -> Ints:
        """One report a person; an answer outside 0 … choices−1 counts as the nearest one."""
        truth = np.clip(_answers(exact), 0, self.choices - 1)
        lies = coins(self._lie, truth.size, source)
        other = (truth + 1 + uniforms(self.choices - 1, truth.size, source)) % self.choices
        return np.where(lies, other, truth)

    def _lie(self) -> arb:
        """1 − p: unlike p it keeps its digits when ε is large and it is tiny."""
        return 1 / (1 + real.ball(self.epsilon).exp() / (self.choices - 1))

    def shares(self, reports: Any, level: Any = "0.95") -> list[ShareEstimate]:
        """The estimated share of every answer."""
        counts = np.bincount(np.clip(_answers(reports), 0, self.choices - 1), minlength=self.choices)
        p, q = self.keep, (1 - self.keep) / (self.choices - 1)
        return [_share(int(c), int(counts.sum()), p, q, level) for c in counts]

    def variance(self, share: float, people: int) -> float:
        """Of the estimated share when people are drawn at random: λ(1 − λ)/(n(p − q)²), λ = q + (p − q)·share."""
        return _variance(share, people, self.keep, (1 - self.keep) / (self.choices - 1))


@dataclass(frozen=True)
class Survey:
    """Heads (probability `truthful`): the true yes or no.  Tails: yes with probability `yes`, whatever the truth.

    P[yes | 1] = t + (1 − t)·y,  P[yes | 0] = (1 − t)·y;  ε is the larger of the two log-ratios, that of yes and of no.

    >>> two_coins().said_yes(1), two_coins().said_yes(0), round(float(two_coins().cost.epsilon), 4)
    (Fraction(3, 4), Fraction(1, 4), 1.0986)
    """

    truthful: Fraction
    yes: Fraction

    def said_yes(self, truth: int) -> Fraction:
        """P[the report is yes | the truth]."""
        return self.truthful * truth + (1 - self.truthful) * self.yes

    @property
    def sensitivity(self) -> Sensitivity:
        return _answer_sensitivity(2)

    @property
    def cost(self) -> Cost:
        p, q = self.said_yes(1), self.said_yes(0)
        ratio = max(p / q, (1 - q) / (1 - p))
        return Response(Fraction(amounts.rounded_up(real.upper(lambda: real.ball(ratio).log()), 18)))

    def __call__(self, exact: Any, source: Source) -> Ints:
        """One report a person, 1 for yes; an answer outside 0 and 1 counts as the nearest."""
        truth = np.clip(_answers(exact), 0, 1)
        heads = bernoulli(self.truthful, truth.size, source)
        answers = bernoulli(self.yes, truth.size, source)
        return np.where(heads, truth, answers.astype(np.int64))

    def share(self, reports: Any, level: Any = "0.95") -> ShareEstimate:
        """The estimated share of true yes; for two fair coins 2·mean − ½."""
        yes = np.clip(_answers(reports), 0, 1)
        return _share(int(yes.sum()), yes.size, float(self.said_yes(1)), float(self.said_yes(0)), level)

    def variance(self, share: float, people: int) -> float:
        """Of the estimated share; for two fair coins (4/n)·(¼ + μ/2)·(¾ − μ/2)."""
        return _variance(share, people, float(self.said_yes(1)), float(self.said_yes(0)))


def response(epsilon: Any, choices: int = 2) -> KaryResponse:
    """ε-DP reports among that many answers."""
    return KaryResponse(amounts.epsilon(epsilon), amounts.count(choices, "choices", 2, 2**31))


def two_coins(truthful: Any = "0.5", yes: Any = "0.5") -> Survey:
    """The lectures' survey: with two fair coins P[yes | did it] = ¾, P[yes | did not] = ¼, ε = ln 3."""
    truth_bias, yes_bias = amounts.probability(truthful, "truthful"), amounts.inner_probability(yes, "yes")
    if truth_bias in (0, 1):
        fix = "Give a probability such as 0.5: with 0 the reports say nothing, with 1 they say all."
        raise bad("truthful", "must be strictly between 0 and 1", truthful, fix)
    survey = Survey(truth_bias, yes_bias)
    _ = survey.cost  # refuses coins so nearly fair, or so unfair, that no ε can be stated
    return survey


def _answer_sensitivity(choices: int) -> Sensitivity:
    """One person's report is their own: another answer moves one cell by at most choices − 1."""
    distance = Fraction(choices - 1)
    return Sensitivity(Fraction(1), distance, distance * distance, distance, Relation.REPLACE_ONE)


def _answers(values: Any) -> Ints:
    vector = lattice_vector(values, "answers")
    if vector.ndim != 1:
        raise bad_private("answers", "must be a flat list, one answer a person", "Give a list of whole numbers.")
    return vector


def _variance(share: float, people: int, p: float, q: float) -> float:
    reported = q + (p - q) * share
    return reported * (1 - reported) / (amounts.count(people, "people", 1) * (p - q) ** 2)


def _share(count: int, people: int, p: float, q: float, level: Any) -> ShareEstimate:
    """Clopper–Pearson on the share of reports, carried over by the straight line that unbiases it."""
    from scipy.special import betaincinv

    missed = float(1 - amounts.inner_probability(level, "level")) / 2
    if people == 0:
        return ShareEstimate(0.5, 0.0, 1.0)
    low = betaincinv(count, people - count + 1, missed) if count > 0 else 0.0
    high = betaincinv(count + 1, people - count, 1 - missed) if count < people else 1.0

    def unbiased(reported: float) -> float:
        return (reported - q) / (p - q)

    def clamped(share: float) -> float:
        return min(1.0, max(0.0, share))

    return ShareEstimate(unbiased(count / people), clamped(unbiased(float(low))), clamped(unbiased(float(high))))
