"""Errors of a mean of n numbers in [0, 1], against n and ε, when a curator adds the noise or everybody does.

    Laplace               √(2a)/((1 − a)·1024n), a = e^(−ε/1024): about √2/(εn)      a curator is trusted
    Gaussian              σ/n, σ the least that is (ε, δ)-DP (Balle & Wang 2018)     a curator is trusted
    randomized response   √(e^ε/n)/(e^ε − 1)                                          nobody is

Root mean square errors towards the mean of the n people in the table; n is public, so neighbours replace one number.
Numbers lie on a lattice of 1024 steps, and one person moves their sum by at most 1024.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.amounts import text_of
from discreet.bounded import scalar
from discreet.lecture.curve import Curve, Series
from discreet.lecture.measured import MOST_RUNS, repeated_means, rms_point, runs_of
from discreet.mechanism.additive import Additive, analytic_gaussian
from discreet.mechanism.additive import laplace as laplace_noise
from discreet.mechanism.response import KaryResponse
from discreet.mechanism.response import response as response_of
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM
from discreet.relation import Relation

STEPS = 1024
DELTA = Fraction(1, 10**5)
CENTRAL_SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
LOCAL_SIZES = (100, 300, 1_000, 3_000, 10_000)
SHARE = 0.3
_UNIT = scalar(STEPS, Relation.REPLACE_ONE)
_ONE = scalar(1, Relation.REPLACE_ONE)


def laplace(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """The mean of n numbers by Laplace noise."""
    lines = tuple(
        central_line(f"ε = {text_of(epsilon)}", laplace_noise(_UNIT, epsilon), epsilon, CENTRAL_SIZES, seed, pen)
        for pen, epsilon in enumerate(epsilons)
    )
    return _central("laplace", "Laplace noise on a mean", lines)


def gaussian(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """The mean of n numbers by Gaussian noise."""
    lines = tuple(
        central_line(
            f"ε = {text_of(epsilon)}", analytic_gaussian(_UNIT, epsilon, DELTA), epsilon, CENTRAL_SIZES, seed, pen
        )
        for pen, epsilon in enumerate(epsilons)
    )
    return _central("gaussian", f"Gaussian noise on a mean, δ = {text_of(DELTA)}", lines)


def response(epsilons: Sequence[Fraction], seed: int) -> Curve:
    """Randomized response beside Laplace: the share of people who would say yes."""
    local = [
        response_line(f"response, ε = {text_of(epsilon)}", response_of(epsilon), epsilon, LOCAL_SIZES, seed, 0)
        for epsilon in epsilons
    ]
    trusted = [
        central_line(f"Laplace, ε = {text_of(epsilon)}", laplace_noise(_UNIT, epsilon), epsilon, LOCAL_SIZES, seed, 1)
        for epsilon in epsilons
    ]
    ratio = local[-1].points[-1].theory / trusted[-1].points[-1].theory
    sentence = (
        f"Response falls as n^{_power(local[-1])}, Laplace as n^{_power(trusted[-1])}: at ε = {text_of(epsilons[-1])} "
        f"and {LOCAL_SIZES[-1]:,} people trusting nobody makes the error {ratio:,.0f} times as large."
    )
    return Curve(
        "response",
        "What it costs to trust nobody",
        "n",
        "people",
        "root mean square error of a mean in [0, 1]",
        (*local, *trusted),
        sentence,
        ("A lecture gives O(1/(ε√n)) for both; that is the order of response alone, Laplace has O(1/(εn)).",),
    )


def central_line(name: str, noise: Additive, epsilon: Fraction, sizes: Sequence[int], seed: int, pen: int) -> Series:
    """A curator adds noise to the sum of lattice numbers of n people; the line is the law's own variance."""
    import numpy as np

    points = []
    for n in sizes:
        total = int(numbers_of_people(n, seed).sum())
        noisy = noise(np.full(MOST_RUNS, total, dtype=np.int64), SYSTEM)
        errors: Floats = (noisy - total) / (STEPS * n)
        points.append(rms_point(errors, n, epsilon, n, math.sqrt(noise.variance) / (STEPS * n)))
    return Series(name, tuple(points), "1/(εn)", pen)


def response_line(
    name: str, coins: KaryResponse, epsilon: Fraction, sizes: Sequence[int], seed: int, pen: int
) -> Series:
    """Everybody randomises a yes or no; the line is the variance of the coins alone, whatever the table."""
    points = []
    for n in sizes:
        errors = response_errors(coins, n, seed)
        points.append(rms_point(errors, n, epsilon, n, math.sqrt(coins.variance(0.0, n))))
    return Series(name, tuple(points), "1/(ε√n)", pen)


def response_errors(coins: KaryResponse, n: int, seed: int) -> Floats:
    """Errors of the estimated share of yes among n people, over surveys asked anew."""
    import numpy as np

    table = answers_of_people(n, seed)
    lie = 1 - coins.keep

    def noisy(answers: Ints) -> Floats:
        unbiased: Floats = (coins(answers, SYSTEM).astype(np.float64) - lie) / (1 - 2 * lie)
        return unbiased

    errors: Floats = repeated_means(table, noisy, runs_of(n)) - float(table.mean())
    return errors


def numbers_of_people(n: int, seed: int) -> Ints:
    """Invented numbers in lattice steps, from the public seed."""
    import numpy as np

    return np.rint(generator(seed).beta(2, 5, n) * STEPS).astype(np.int64)


def answers_of_people(n: int, seed: int) -> Ints:
    """Invented answers, from the public seed: a share of 0.3 says yes."""
    import numpy as np

    return (generator(seed).random(n) < SHARE).astype(np.int64)


def _central(name: str, title: str, lines: tuple[Series, ...]) -> Curve:
    last = lines[-1].points[-1]
    sentence = (
        f"The error falls as n^{_power(lines[0])} and as 1/ε: ten times as many people have a tenth of it. "
        f"At {lines[-1].name} and {last.n:,} people it is {last.theory:.2g}."
    )
    return Curve(name, title, "n", "people", "root mean square error of a mean in [0, 1]", lines, sentence)


def _power(series: Series) -> str:
    """The fitted slope as text, with the sign that is typeset."""
    return f"{series.slope or 0:.2f}".replace("-", "−")
