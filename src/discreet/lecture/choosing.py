"""Choices by the exponential mechanism: the best of some candidates, and the bias of a coin beside Laplace counts.

best of m        P[i] ∝ e^(ε·s_i/2Δ);  with chance 1 − β the score is within (2Δ/ε)(ln m − ln β) of the best
bias of a coin   θ on [0.1, 0.9] by its log-likelihood: Beta(1 + κ·heads, 1 + κ·tails), κ = ε/2Δ, cut to the bounds
… by Laplace     heads and tails each with two-sided geometric noise of scale 1/ε, then their share, cut likewise
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.amounts import text_of
from discreet.bounded import cells, scalar
from discreet.lecture.curve import Curve, Point, Series
from discreet.lecture.measured import MOST_RUNS, mean_point, rms_point
from discreet.mechanism.additive import laplace
from discreet.mechanism.beta import Bias, bias
from discreet.mechanism.select import exponential as exponential_choice
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM

NATIONS = 12
VOTERS = 1_000
MISSED = Fraction(1, 20)
LOW, HIGH, PLACES = Fraction(1, 10), Fraction(9, 10), 801
FLIPS = (30, 100, 300, 1_000, 3_000, 10_000, 100_000)
HEADS = Fraction(3, 10)
_EPSILONS = tuple(map(Fraction, ("0.01", "0.02", "0.05", "0.1", "0.2")))
_CUT = 60  # times the scale: beyond, e^−60 of the noise is left out of an expectation


def exponential(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """How far the votes of the chosen nation are below those of the most common one."""
    import numpy as np

    steps = tuple(epsilons) if len(epsilons) > 1 else _EPSILONS
    votes = votes_of_nations(seed)
    gaps = (votes.max() - votes).astype(float)
    chosen, bounds = [], []
    for epsilon in steps:
        mechanism = exponential_choice(scalar(1), epsilon)
        chances = np.exp(-float(epsilon) / 2 * gaps)
        expected = float(gaps @ chances / chances.sum())
        shortfalls = gaps[mechanism.many(votes, MOST_RUNS, SYSTEM)]
        chosen.append(mean_point(shortfalls, VOTERS, epsilon, float(epsilon), expected))
        bound = mechanism.shortfall(NATIONS, MISSED)
        bounds.append(Point(VOTERS, float(epsilon), float(epsilon), bound))
    sentence = (
        f"The nation that is chosen at ε = {text_of(steps[-1])} has on average {chosen[-1].theory:.2g} votes of "
        f"{VOTERS:,} fewer than the most common one; 19 choices of 20 fall short by less than {bounds[-1].theory:,.0f}."
    )
    lines = (
        Series("mean shortfall", tuple(chosen), pen=1),
        Series("bound for 19 of 20", tuple(bounds), pen=0),
    )
    title, y = f"The most common of {NATIONS} nationalities", "votes below the most common"
    return Curve("exponential", title, "epsilon", "ε", y, lines, sentence, facts={"votes": [int(v) for v in votes]})


def bernoulli(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """The bias of a coin: the exponential mechanism against Laplace noise on heads and tails."""
    epsilon = epsilons[0]
    chooser = bias(epsilon, low=LOW, high=HIGH, points=PLACES)
    by_choice, by_noise = [], []
    for n in FLIPS:
        heads = int(HEADS * n)
        truth = heads / n
        thetas = _thetas()[chooser.many([heads, n - heads], MOST_RUNS, SYSTEM)]
        by_choice.append(rms_point(thetas - truth, n, epsilon, n, _choice_error(chooser, heads, n)))
        by_noise.append(
            rms_point(_noisy_shares(epsilon, heads, n) - truth, n, epsilon, n, _noise_error(epsilon, heads, n))
        )
    lines = (
        Series("exponential mechanism", tuple(by_choice), pen=0),
        Series("Laplace on heads and tails", tuple(by_noise), pen=1),
    )
    first, last = (by_choice[place].theory / by_noise[place].theory for place in (0, -1))
    sentence = (
        f"At ε = {text_of(epsilon)} the exponential mechanism errs {first:.1f} times as much as Laplace at {FLIPS[0]} "
        f"flips and {last:.0f} times at {FLIPS[-1]:,}: it falls as 1/√(κn), Laplace as 1/(εn)."
    )
    note = (
        f"Adding or removing one flip: the exponent is κ = {chooser.exponent:.4f} and the noise of each count has "
        f"scale {float(1 / epsilon):g}. A lecture gives 22 at ε = 0.1, from the sensitivity of the likelihood; one "
        "flip moves a count by 1."
    )
    y = "root mean square error of the bias"
    facts = {"exponent": round(chooser.exponent, 6), "laplace_scale": float(1 / epsilon)}
    return Curve("bernoulli", "The bias of a coin", "n", "flips", y, lines, sentence, (note,), facts)


def votes_of_nations(seed: int) -> Ints:
    """Invented votes, from the public seed: popularity falls off by a fifth from nation to nation."""
    shares = [0.8**rank for rank in range(NATIONS)]
    return generator(seed).multinomial(VOTERS, [share / math.fsum(shares) for share in shares]).astype("int64")


def _thetas() -> Floats:
    import numpy as np

    return np.linspace(float(LOW), float(HIGH), PLACES)


def _choice_error(chooser: Bias, heads: int, n: int) -> float:
    """√E(θ − truth)² under P[θ] ∝ e^(ε·score/2Δ), with the rounded scores that run: among many flips rounding shows."""
    import numpy as np

    thetas, scores = _thetas(), chooser.scores([heads, n - heads])
    chances = np.exp(float(chooser.choice.rate) * (scores - scores.max()).astype(float))
    return float(np.sqrt(chances @ (thetas - heads / n) ** 2 / chances.sum()))


def _noisy_shares(epsilon: Fraction, heads: int, n: int) -> Floats:
    """Shares of heads from noisy counts, one flip in one cell, cut to the bounds."""
    import numpy as np

    flips = np.tile(np.array([heads, n - heads], dtype=np.int64), (MOST_RUNS, 1))
    noisy = laplace(cells(1, 1), epsilon)(flips, SYSTEM)
    return _cut_share(noisy[:, 0].astype(float), noisy.sum(axis=1).astype(float))


def _noise_error(epsilon: Fraction, heads: int, n: int) -> float:
    """√E(share − truth)² over both draws of P[k] = (1 − a)/(1 + a)·a^|k|, a = e^−ε, added up over a grid."""
    import numpy as np

    reach = min(math.ceil(_CUT / float(epsilon)), 1_500)
    noise = np.arange(-reach, reach + 1)
    a = math.exp(-float(epsilon))
    chances = (1 - a) / (1 + a) * a ** np.abs(noise)
    shares = _cut_share((heads + noise)[:, None].astype(float), (n + noise[:, None] + noise[None, :]).astype(float))
    return float(np.sqrt(chances @ (shares - heads / n) ** 2 @ chances))


def _cut_share(heads: Floats, total: Floats) -> Floats:
    """heads/total within the bounds; without a positive total the middle."""
    import numpy as np

    share = np.where(total > 0, heads / np.where(total > 0, total, 1.0), float(LOW + HIGH) / 2)
    cut: Floats = np.clip(share, float(LOW), float(HIGH))
    return cut
