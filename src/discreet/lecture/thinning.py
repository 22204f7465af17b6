"""What sampling saves, and what many steps of noisy gradients on samples cost.

sampling   an ε-DP mechanism on a Poisson sample of rate p is ln(1 + p(e^ε − 1))-DP (Balle, Barthe & Gaboardi 2018)
descent    T steps, each a Gaussian of noise σ on a sample of rate q: the accountant's ε at δ
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.amounts import text_of
from discreet.errors import bad
from discreet.lecture.curve import TWO_SIDED_95, Curve, Point, Series
from discreet.mechanism.response import KaryResponse, response
from discreet.noise.bernoulli import bernoulli
from discreet.noise.source import SYSTEM
from discreet.privacy import analytic
from discreet.privacy.amplify import sampled_promise
from discreet.privacy.cost import Approx, Gaussian, Repeated, Sampled
from discreet.privacy.price import epsilon as price

RATES = tuple(map(Fraction, ("0.01", "0.03", "0.1", "0.3", "1")))
DELTA = Fraction(1, 10**5)
RATE = Fraction(1, 100)
PEOPLE = 60_000
NOISES = tuple(map(Fraction, ("0.7", "1", "2")))
STEPS = (10, 100, 1_000, 10_000)
_RUNS = 2_000_000


def sampling(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """The ε that is left when a mechanism sees a secret sample."""
    lines = []
    for pen, epsilon in enumerate(epsilons):
        coins, points = response(epsilon), []
        for rate in RATES:
            promise = float(sampled_promise(Approx(epsilon, Fraction(0)), rate).cost.epsilon)
            points.append(Point(_RUNS, float(epsilon), float(rate), promise, *sampled_loss(coins, rate)))
        lines.append(Series(f"ε = {text_of(epsilon)} in the sample", tuple(points), pen=pen))
    tenth = next(point for point in lines[0].points if point.x == 0.1)
    sentence = (
        f"On a secret sample of one person in ten, ε = {text_of(epsilons[0])} becomes {tenth.theory:.4f}: "
        f"nearly p times ε where ε is small, and p(e^ε − 1) where it is not."
    )
    notes = (
        "Measured on randomized response of who is in the sample; others answer no.",
        "The sample must stay secret: who knows that you are in it faces the whole ε.",
    )
    y = "ε that is left"
    return Curve("sampling", "What a secret sample saves", "rate", "sampling rate p", y, tuple(lines), sentence, notes)


def descent(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """ε of T steps of noisy gradients, by the accountant, beside the limit of many steps and the sum of single ones."""
    if epsilons:
        fix = "Leave --eps out: this curve states the ε of steps and noise."
        raise bad("epsilon", "must be left out for descent", ", ".join(map(text_of, epsilons)), fix)
    lines = [_noise_line(noise, pen) for pen, noise in enumerate(NOISES)]
    added = Series(
        f"σ = {text_of(NOISES[1])}, steps added up",
        tuple(Point(PEOPLE, total, steps, total) for steps in STEPS for total in (added_epsilon(NOISES[1], steps),)),
        pen=1,
    )
    last = {series.name: series.points[-1].measured or 0 for series in lines}
    sentence = (
        f"{STEPS[-1]:,} steps on samples of {float(RATE):.0%} cost ε = {last[lines[1].name]:.2f} at σ = 1 and "
        f"{last[lines[2].name]:.2f} at σ = 2; adding up single steps would say {added.points[-1].theory:,.0f}."
    )
    notes = (
        f"At δ = {text_of(DELTA)} and {PEOPLE:,} people. The limit of many steps is no bound (Bu et al. 2020).",
        "A lecture gives qTε, which is too small: one step costs ln(1 + q(e^ε − 1)).",
    )
    facts = {"delta": float(DELTA), "rate": float(RATE)}
    y = "ε of all steps"
    series = (*lines, added)
    key = "Points are the accountant's bounds, lines the limit of many steps."
    return Curve("descent", "The price of noisy gradients", "steps", "steps T", y, series, sentence, notes, facts, key)


def sampled_loss(coins: KaryResponse, rate: Fraction) -> tuple[float, float, float]:
    """ln(P[yes | 1]/P[yes | 0]) of a person's response on a sample, from runs, with its 95 % interval.

    Out of the sample the answer counts as no.  The variance of the logarithm of a share is (1 − P)/(runs·P).
    """
    import numpy as np

    present = bernoulli(rate, _RUNS, SYSTEM).astype(np.int64)
    yes = [int(coins(present, SYSTEM).sum()), int(coins(np.zeros(_RUNS, dtype=np.int64), SYSTEM).sum())]
    loss = math.log(yes[0] / yes[1])
    slack = TWO_SIDED_95 * math.sqrt(sum((1 - count / _RUNS) / count for count in yes))
    return loss, loss - slack, loss + slack


def limit_epsilon(noise: Fraction, steps: int) -> float:
    """ε at δ of the Gaussian that many steps tend to: μ = q√(T(e^(1/σ²) − 1)) (Bu, Dong, Long & Su 2020)."""
    mu = float(RATE) * math.sqrt(steps * math.expm1(1 / float(noise) ** 2))
    return float(analytic.epsilon(Fraction(1 / mu).limit_denominator(10**6), DELTA))


def added_epsilon(noise: Fraction, steps: int) -> float:
    """T·ln(1 + q(e^ε₁ − 1)), where one step without sampling is (ε₁, δ/(Tq))-DP."""
    single = float(analytic.epsilon(noise, DELTA / (steps * RATE)))
    return steps * math.log1p(float(RATE) * math.expm1(single))


def _noise_line(noise: Fraction, pen: int) -> Series:
    points = []
    for steps in STEPS:
        total = float(price(Repeated(Sampled(RATE, Gaussian(noise)), steps), DELTA).value)
        points.append(Point(PEOPLE, total, steps, limit_epsilon(noise, steps), total, total, total))
    return Series(f"σ = {text_of(noise)}", tuple(points), pen=pen)
