"""Errors at the same promise under three kinds of trust: nobody, a shuffler that hides who sent what, a curator.

nobody      each person randomises at ε                                error √(e^ε/n)/(e^ε − 1)
shuffler    each randomises at the largest ε₀ that shuffling n reports turns into (ε, δ)  (Feldman et al. 2023)
curator     exact answers and one draw of noise                        error about √2/(εn)
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.amounts import text_of
from discreet.bounded import scalar
from discreet.lecture.curve import Curve, Series
from discreet.lecture.means import (
    SHARE,
    STEPS,
    answers_of_people,
    central_line,
    numbers_of_people,
    response_errors,
    response_line,
)
from discreet.lecture.measured import MOST_RUNS, repeated_means, rms_point, runs_of
from discreet.mechanism.additive import Additive, analytic_gaussian, laplace
from discreet.mechanism.response import response
from discreet.ndarrays import Floats, Ints
from discreet.noise.source import SYSTEM
from discreet.privacy.amplify import shuffled_response
from discreet.relation import Relation

DELTA = Fraction(1, 10**6)
SHUFFLED_SIZES = (1_000, 3_000, 10_000, 30_000)
PEOPLE = 1_000  # of the curves against ε
_PHONES = (100, 300, 1_000, 3_000)
_PHONE_DRAWS = 1_000_000
_EPSILONS = tuple(map(Fraction, ("0.05", "0.1", "0.3", "1", "3", "5")))
_UNIT, _ONE = scalar(STEPS, Relation.REPLACE_ONE), scalar(1, Relation.REPLACE_ONE)


def local(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """Everybody's phone adds noise to a number before sending it, in two ways."""
    lines = []
    for epsilon in epsilons:
        lines += [_phone_laplace(epsilon, seed), _phone_hybrid(epsilon, seed)]
    ratio = lines[-2].points[-1].theory / lines[-1].points[-1].theory
    sentence = (
        f"Whatever a phone sends, the error falls as 1/√n (slope {lines[-1].slope:.2f}): at "
        f"ε = {text_of(epsilons[-1])} noise of Laplace's law errs {ratio:.2g} times as much as the mixed reports of "
        "this system."
    ).replace("slope -", "slope −")
    note = "Noise of scale 1/ε on a count of uses protects one use; a person needs the range of the number over ε."
    y = "root mean square error of a mean in [0, 1]"
    return Curve("local", "Phones that add the noise themselves", "n", "people", y, tuple(lines), sentence, (note,))


def shuffled_curve(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """Nobody, a shuffler and a curator at one (ε, δ)."""
    epsilon = epsilons[0]
    local_line = response_line("nobody trusted", response(epsilon), epsilon, SHUFFLED_SIZES, seed, 0)
    points, strengths = [], {}
    for n in SHUFFLED_SIZES:
        strength = strength_before_shuffling(epsilon, n)
        strengths[str(n)] = float(strength)
        coins = response(strength)
        points.append(rms_point(response_errors(coins, n, seed), n, epsilon, n, math.sqrt(coins.variance(0.0, n))))
    between = Series("a shuffler trusted", tuple(points), "about 1/(εn)", 2)
    curator = central_line("a curator trusted", laplace(_UNIT, epsilon), epsilon, SHUFFLED_SIZES, seed, 1)
    worst, middle, best = (line.points[-1].theory for line in (local_line, between, curator))
    sentence = (
        f"At ε = {text_of(epsilon)} and {SHUFFLED_SIZES[-1]:,} people a shuffler errs {middle / best:.1f} times as "
        f"much as a curator, and trusting nobody {worst / best:,.0f} times."
    )
    notes = (
        f"Towards who sees the shuffled reports alone, at δ = {text_of(DELTA)}; against the shuffler itself each "
        f"report has ε₀, here {min(strengths.values()):.1f} to {max(strengths.values()):.1f}.",
    )
    return Curve(
        "shuffled",
        "Nobody, a shuffler or a curator",
        "n",
        "people",
        "root mean square error of a share",
        (between, local_line, curator),
        sentence,
        notes,
        {"delta": float(DELTA), "epsilon_before_shuffling": strengths},
    )


def central(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """Errors against ε at one number of people: Laplace, Gaussian and, for comparison, response."""
    import numpy as np

    steps = tuple(epsilons) if len(epsilons) > 1 else _EPSILONS
    total = int(answers_of_people(PEOPLE, seed).sum())

    def line(name: str, noises: Sequence[Additive], pen: int) -> Series:
        points = []
        for epsilon, noise in zip(steps, noises, strict=True):
            errors = (noise(np.full(MOST_RUNS, total, dtype=np.int64), SYSTEM) - total) / PEOPLE
            theory = math.sqrt(noise.variance) / PEOPLE
            points.append(rms_point(errors, PEOPLE, epsilon, float(epsilon), theory))
        return Series(name, tuple(points), pen=pen)

    coins = [response(epsilon) for epsilon in steps]
    nobody = Series(
        "response",
        tuple(
            rms_point(response_errors(c, PEOPLE, seed), PEOPLE, e, float(e), math.sqrt(c.variance(0.0, PEOPLE)))
            for e, c in zip(steps, coins, strict=True)
        ),
        pen=0,
    )
    by_l1 = line("Laplace", [laplace(_ONE, epsilon) for epsilon in steps], 1)
    by_l2 = line("Gaussian", [analytic_gaussian(_ONE, epsilon, DELTA) for epsilon in steps], 2)
    sampling = math.sqrt(SHARE * (1 - SHARE) / PEOPLE)
    sentence = (
        f"Among {PEOPLE:,} people, whose own choice by chance errs by {sampling:.2g}, a curator's noise is below that "
        f"from ε = {_least_below(by_l1, sampling)} on; randomized response needs ε = {_least_below(nobody, sampling)}."
    )
    note = f"The Gaussian promises δ = {text_of(DELTA)} beside ε; whole counts leave no error at all at a large ε."
    y = "root mean square error of a share"
    return Curve("central", "A curator's noise against ε", "epsilon", "ε", y, (by_l1, by_l2, nobody), sentence, (note,))


def strength_before_shuffling(epsilon: Fraction, reports: int) -> Fraction:
    """The largest ε₀, to 0.01, at which shuffled responses of n people are (ε, δ)-DP; at least ε itself."""
    low, high = math.floor(epsilon * 100), 2_000
    while high - low > 1:
        middle = (low + high) // 2
        promise = shuffled_response(Fraction(middle, 100), reports, DELTA).cost.epsilon
        low, high = (middle, high) if promise <= epsilon else (low, middle)
    return max(epsilon, Fraction(low, 100))


def _phone_laplace(epsilon: Fraction, seed: int) -> Series:
    """Each phone adds two-sided geometric noise to its own number."""
    noise = laplace(_UNIT, epsilon)

    def noisy(numbers: Ints) -> Floats:
        sent: Floats = noise(numbers, SYSTEM) / STEPS
        return sent

    points = []
    for n in _PHONES:
        table = numbers_of_people(n, seed)
        errors = repeated_means(table, noisy, runs_of(n, _PHONE_DRAWS)) - float(table.mean()) / STEPS
        points.append(rms_point(errors, n, epsilon, n, math.sqrt(noise.variance / n) / STEPS))
    return Series(f"Laplace, ε = {text_of(epsilon)}", tuple(points), "1/(ε√n)", 0)


def _phone_hybrid(epsilon: Fraction, seed: int) -> Series:
    """Each phone sends a report of `dp.local.number`; its variance depends on the number, and is exact."""
    from discreet.local.face import number
    from discreet.local.words import numbers_of

    protocol = number(epsilon, low=0, high=STEPS, step=1)

    def noisy(numbers: Ints) -> Floats:
        sent: Floats = protocol.code.steps_of_outputs[numbers_of(protocol.encode(numbers).bytes)] / STEPS
        return sent

    points = []
    for n in _PHONES:
        table = numbers_of_people(n, seed)
        errors = repeated_means(table, noisy, runs_of(n, _PHONE_DRAWS)) - float(table.mean()) / STEPS
        variance = sum(float(protocol.code.variance(int(number))) for number in table) / n**2
        points.append(rms_point(errors, n, epsilon, n, math.sqrt(variance) / STEPS))
    return Series(f"mixed reports, ε = {text_of(epsilon)}", tuple(points), "1/(ε√n)", 1)


def _least_below(series: Series, bound: float) -> str:
    """The first ε of the series at which its error is below the bound."""
    first = next((point.epsilon for point in series.points if point.theory < bound), None)
    return f"{series.points[-1].epsilon:g} or more" if first is None else f"{first:g}"
