"""Planted bugs of private choice: missing factors, steps read off the data, prices of another mechanism."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb

from discreet.audit import laws
from discreet.audit.bounds import Odds
from discreet.audit.brute import nearby, one_row_more
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Outputs
from discreet.audit.laws import OutputLaw
from discreet.audit.mutants.planted import Drawn, Planted, Proven, chance_bounds
from discreet.mechanism import beta, quantile
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.select import exponential_choice
from discreet.noise.source import Source
from discreet.privacy.cost import Exponential, Pure
from discreet.real import Real

_SCORES = nearby((0, 1), 4)
_ONE = Fraction(1)
_PROMISE = Exponential(_ONE)


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    yield from _factors()
    yield from _noise()
    yield from _grids()


def _factors() -> Iterator[Planted]:
    wrong = "The exponent is ε·s/Δ for scores of which one may rise while another falls."
    yield Proven("exponential-without-2", wrong, _PROMISE, _SCORES, lambda s: laws.exponential(s, _ONE))
    yield _drawn_without_2()
    wrong = "Each of two choices spends the whole ε."
    yield Proven("top-k-undivided", wrong, Pure(_ONE), _SCORES, lambda s: laws.top(s, Fraction(1, 2), 2))
    wrong = "Permute-and-flip is priced as the exponential mechanism, ε²/8-zCDP; its range is not bounded by ε."
    flips = nearby((0, 1, 2), 2)
    half = Fraction(1, 2)
    yield Proven("permute-and-flip-as-exponential", wrong, _PROMISE, flips, lambda s: laws.permute_and_flip(s, half))
    wrong = "Gaps are measured in steps read off the scores themselves."
    yield Proven("step-read-off-scores", wrong, _PROMISE, [((15, 0), (16, 0)), ((7, 0), (8, 0))], _own_step)


def _drawn_without_2() -> Drawn:
    """The real sampler with the wrong rate, on (1, 0, 0, 0) and (0, 1, 1, 1)."""
    pair = ((1, 0, 0, 0), (0, 1, 1, 1))

    def draw(scores: tuple[int, ...], n: int, source: Source) -> Outputs:
        return exponential_choice(max(scores) - np.array(scores), Fraction(2), n, source)

    def chance(scores: tuple[int, ...]) -> Real:
        return lambda: laws.exponential(scores, Fraction(2))[0]

    chances = chance_bounds(*map(chance, pair))
    wrong = "The same, through the sampler itself, at ε = 2."
    event = Event(Coordinate(0), "=", 0)
    return Drawn("exponential-without-2-drawn", wrong, Odds(Fraction(2)), pair, draw, event, chances, 8_000)


def _noise() -> Iterator[Planted]:
    unit, double = DiscreteLaplace(_ONE), DiscreteLaplace(Fraction(2))
    wrong = "The noise has scale Δ/ε, right only for scores that all move one way."
    yield Proven("noisy-max-without-2", wrong, Pure(_ONE), _SCORES, lambda s: laws.noisy_max(s, unit))
    wrong = "The winner's noisy score is told too, with the noise that was compared."
    all_up = [((0,) * 4, (1,) * 4)]
    yield Proven("noisy-max-tells-score", wrong, Pure(_ONE), all_up, partial(_winner_and_score, double))
    wrong = "Noisy scores saturate at the largest score, where they tie and the first of them wins."
    ties = [((0,) * 10, (-1,) * 9 + (0,))]
    yield Proven("noisy-max-saturated", wrong, Pure(_ONE), ties, partial(_saturated_winner, double))


def _grids() -> Iterator[Planted]:
    counts = one_row_more()
    wrong = "Δ is 1 for q = 0.9, whose score moves by 9 a row."
    yield Proven("quantile-without-max", wrong, _PROMISE, counts, _quantile(Fraction(9, 10), Fraction(1, 2)))
    wrong = "A unit has three rows and Δ counts one."
    three = [(h, (h[0] + 3, *h[1:])) for h, _ in counts]
    yield Proven("quantile-without-cap", wrong, _PROMISE, three, _quantile(Fraction(1, 2), Fraction(1, 2)))
    wrong = "Values tied at a point are credited to both of its sides, so one row moves the score by b."
    yield Proven("quantile-ties-twice", wrong, _PROMISE, counts, _ties_twice)
    yield from _wrong_steps()


def _wrong_steps() -> Iterator[Planted]:
    wrong = "Δ of the log-likelihood is taken at θ = ½, where it is least."
    mechanism = beta.bias(1, low="0.01", high="0.9", points=9)
    rate = Fraction(1, 2 * 2839)  # ⌊ln 2/step⌉ = 2839 steps

    def law(flips: tuple[int, int]) -> OutputLaw:
        return laws.exponential([int(s) for s in mechanism.scores(list(flips))], rate)

    yield Proven("bias-smallest-delta", wrong, _PROMISE, one_row_more(2), law)
    wrong = "A row is replaced, so one count falls while another rises; the exponent is that of monotone scores."
    replaced = [((1, 0, 0), (0, 1, 0)), ((2, 1, 1), (1, 2, 1)), ((0, 1, 1), (1, 0, 1))]
    yield Proven("monotone-by-replacement", wrong, _PROMISE, replaced, lambda s: laws.exponential(s, _ONE))
    wrong = "The same for two choices at ε/2 each: a unit leaves two counts and enters two others."
    twice = [((1, 1, 0, 0), (0, 0, 1, 1)), ((2, 2, 1, 1), (1, 1, 2, 2))]
    yield Proven("monotone-top-k-by-replacement", wrong, Pure(_ONE), twice, lambda s: laws.top(s, Fraction(1, 2), 2))


def _own_step(scores: tuple[int, ...]) -> OutputLaw:
    step = max(1, (max(scores) - min(scores)) // 8)
    return laws.exponential([-((max(scores) - s) // step) for s in scores], Fraction(1, 2))


def _winner_and_score(noise: DiscreteLaplace, scores: tuple[int, ...]) -> OutputLaw:
    law: OutputLaw = {}
    for i, score in enumerate(scores):
        for value in range(-6, 8):
            chance = laws.mass(noise, value - score)
            for j, rival in enumerate(scores):
                chance *= 1 if j == i else 1 - laws.above(noise, value - rival - (1 if j < i else 0))
            law[i, value] = chance
    return law


def _saturated_winner(noise: DiscreteLaplace, scores: tuple[int, ...]) -> OutputLaw:
    """P[the last of them wins] when sums above 0 count as 0: the others stay below, or all are below and it leads."""
    *others, last = scores
    wins = _all_below(noise, others, 0) * laws.above(noise, -1 - last)
    for top in range(-60, 0):
        wins += _all_below(noise, others, top) * laws.mass(noise, top - last)
    wins += arb(0).union(1 - laws.above(noise, -61 - last))
    return {len(others): wins, "another": 1 - wins}


def _all_below(noise: DiscreteLaplace, scores: list[int], top: int) -> arb:
    return math.prod((1 - laws.above(noise, top - 1 - score) for score in scores), start=arb(1))


def _ties_twice(counts: tuple[int, ...]) -> OutputLaw:
    """The median's score with #{x = t} taken from both #{x < t} and #{x > t} first."""
    n = sum(counts)
    scores = []
    for t, tied in enumerate(counts):
        below, above = sum(counts[:t]) - tied, sum(counts[t + 1 :]) - tied
        scores.append(-max(0, 2 * below - n, 2 * above - n))
    return laws.exponential(scores, Fraction(1, 2))


def _quantile(q: Fraction, rate: Fraction) -> Callable[[tuple[int, ...]], OutputLaw]:
    """P[t] ∝ e^(rate·score)."""
    return lambda counts: laws.exponential([int(s) for s in quantile.scores(list(counts), q)], rate)
