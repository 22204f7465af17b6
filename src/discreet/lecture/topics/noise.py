"""Noise: one for each coordinate, as wide as the promise asks, and where the printed formulas go wrong."""

import math
from fractions import Fraction

from discreet.bounded import cells, scalar
from discreet.fix import Fix
from discreet.lecture.section import Section, rows_of, short
from discreet.lecture.topics.laws import epsilon_of, laplace_scale
from discreet.mechanism.additive import analytic_gaussian, laplace
from discreet.mechanism.demonstration import name_and_shame
from discreet.mechanism.response import response
from discreet.privacy import analytic
from discreet.relation import Relation

_DELTA = Fraction(1, 10**5)


def vectors() -> Section:
    """k coordinates, each with its own noise (lectures 1 and 4)."""
    three = laplace_scale(cells(3, 1), "0.1")
    return Section(
        "Noise for several numbers",
        "A vector moves by its L1 norm Δ, and every coordinate gets noise of scale Δ/ε of its own.",
        rows_of(
            ("Δ of three counts that one person is in", "3", short(three * Fraction(1, 10))),
            ("scale of each at ε = 0.1", "Δ/ε", short(three)),
        ),
        "Lecture 1 adds the one sum Y₁ + … + Y_k: added to every coordinate it cancels and hides no difference.",
        Fix("", "explain", {"metadata": "people.toml", "receipt": "last"}),
    )


def gaussian() -> Section:
    """The Gaussian mechanism (lectures 1 and 4)."""
    printed = math.sqrt(math.log(1.25e5) / 0.1)
    return Section(
        "Gaussian noise needs a δ",
        "σ = √(2 ln(1.25/δ))·Δ₂/ε holds below ε = 1; the smallest σ is found from the exact curve (Balle & Wang 2018).",
        rows_of(
            ("textbook σ at ε = 0.1, δ = 10⁻⁵", "48.45", short(analytic.classic_sigma("0.1", _DELTA))),
            ("smallest σ at ε = 0.1", "", short(analytic.sigma("0.1", _DELTA))),
            ("smallest σ at ε = 1", "", short(analytic.sigma(1, _DELTA))),
            ("smallest σ at ε = 10", "", short(analytic.sigma(10, _DELTA))),
            (
                "δ of lecture 1's N(0, ln(1.25/δ)·Δ/ε) at ε = 0.1",
                "10⁻⁵",
                short(analytic.delta(Fraction(printed), Fraction(1, 10))),
            ),
        ),
        "Lecture 1 prints a variance of ln(1.25/δ)·Δ₂/ε, which leaks with a chance some 700 times the δ it claims; "
        "the textbook σ of lecture 4 is proven for ε < 1 and at ε = 10 too small: 0.4845 where 0.4999 is needed.",
        Fix("", "odds", {"sigma": "3.7306", "delta": "1e-5"}),
    )


def many_numbers() -> Section:
    """Laplace or Gaussian, for k counts (lecture 4)."""
    deviations = {k: _deviations(k) for k in (1, 4, 64)}
    crossing = next(k for k in range(1, 100) if _deviations(k)[1] < _deviations(k)[0])
    lines = [
        (f"standard deviation of each of k = {k}: Laplace, Gaussian", "", f"{short(a)}, {short(b)}")
        for k, (a, b) in deviations.items()
    ]
    return Section(
        "Which is better, Laplace or Gaussian?",
        "For k counts the L1 norm grows as k and the L2 norm as √k, so Gaussian noise wins from some k on.",
        rows_of(*lines, ("first k where Gaussian wins, ε = 1, δ = 10⁻⁵", "“high dimensions”", str(crossing))),
        command=Fix("", "curve", {"curve": "dimensions", "output": "dimensions.svg"}),
    )


def _deviations(count: int) -> tuple[float, float]:
    """Standard deviations of Laplace and Gaussian noise on each of so many counts at ε = 1, δ = 10⁻⁵."""
    sensitivity = cells(count, 1)
    return math.sqrt(laplace(sensitivity, 1).variance), math.sqrt(analytic_gaussian(sensitivity, 1, _DELTA).variance)


def groups() -> Section:
    """A group of k (lectures 1, 2 and 4)."""
    return Section(
        "Families and other groups",
        "A promise of ε about one person is one of kε about k, and Lap(k/ε) hides a group of k at ε.",
        rows_of(
            ("scale that hides 3 at ε = 0.1", "k/ε = 30", short(laplace_scale(scalar(3), "0.1"))),
            ("ε for 3 of an answer at 0.1", "kε = 0.3", short(epsilon_of(laplace(scalar(1), "0.1").cost) * 3)),
        ),
        command=Fix("", "odds", {"epsilon": "0.1", "group": 3}),
    )


def local() -> Section:
    """Noise on every phone (lecture 4)."""
    use, person = (laplace_scale(scalar(uses, Relation.REPLACE_ONE), "0.1") for uses in (1, 50))
    return Section(
        "Noise on every phone",
        "Each phone adds noise before it sends, so nobody needs to be trusted, at the price of far more noise.",
        rows_of(
            ("scale for one use at ε = 0.1", "1/ε = 10", short(use)),
            ("ε of a person with up to 50 uses", "", short(Fraction(50) * Fraction(1, 10))),
            ("scale for a person with up to 50 uses", "", short(person)),
        ),
        "Lap(1/ε) protects a single use, as lecture 4 says; a person needs Lap(range/ε).",
        Fix("", "curve", {"curve": "local", "output": "local.svg"}),
    )


def rates() -> Section:
    """How errors of a mean fall with n (lecture 5)."""
    few, many = 10_000, 1_000_000
    central = [math.sqrt(laplace(scalar(1, Relation.REPLACE_ONE), 1).variance) / n for n in (few, many)]
    at_home = [math.sqrt(response(1).variance(0.0, n)) for n in (few, many)]
    return Section(
        "Errors of a mean as the table grows",
        "A curator's Laplace noise on a mean falls as 1/(εn), randomized response as 1/(ε√n).",
        rows_of(
            ("Laplace: fall from 10⁴ to 10⁶ people", "10 ×", f"{short(central[0] / central[1])} ×"),
            ("response: fall from 10⁴ to 10⁶ people", "10 ×", f"{short(at_home[0] / at_home[1])} ×"),
            ("response over Laplace at 10⁴ people", "1 ×", f"{short(at_home[0] / central[0], 3)} ×"),
        ),
        "Lecture 5 ends with O(1/(ε√n)) for both. Laplace's is O(1/(εn)).",
        Fix("", "curve", {"curve": "laplace", "output": "laplace.svg"}),
    )


def proof() -> Section:
    """The ratio in the proof of the Laplace mechanism (lecture 3)."""
    scale = laplace_scale(scalar(1), "0.1")
    return Section(
        "Why Laplace noise keeps its promise",
        "Two neighbours' densities differ by a factor of at most exp(Δ/b), which is e^ε for the scale b = Δ/ε.",
        rows_of(
            ("exp(Δ/b) at ε = 0.1", "exp(Δ/ε)", short(math.exp(1 / scale))),
            ("e^ε", "1.105", short(math.exp(0.1))),
        ),
        "Lecture 3 writes exp(Δ/ε) = exp(ε) at the end of its proof; exp(Δ/b) is meant.",
    )


def shame() -> Section:
    """Name and shame, and all with probability δ (lecture 1)."""
    people = 10_000
    chances = {exponent: -math.expm1(people * math.log1p(-(10.0**-exponent))) for exponent in (4, 6)}
    return Section(
        "Why δ must be far below 1/n",
        "Publish each row with probability δ: that is (0, δ)-private, and someone is named all the same.",
        rows_of(
            ("rows published on average, n = 10⁴, δ = 10⁻⁴", "1", short(name_and_shame("1e-4").mean_published(people))),
            ("chance that someone is named, δ = 10⁻⁴", "", short(chances[4], 3)),
            ("chance that someone is named, δ = 10⁻⁶", "", short(chances[6], 3)),
        ),
        "Lecture 1 asks for a δ much lower than 1/n and does not say how much; Discreet refuses a δ above a public "
        "ceiling, 10⁻⁶ unless a population is "
        "declared.",
        Fix("", "attack", {"attack": "shame"}),
    )
