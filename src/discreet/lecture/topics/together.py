"""Many answers, samples of rows, and models: what is paid in all."""

from fractions import Fraction

from discreet.fix import Fix
from discreet.learn.risk.output import lecture_sensitivity, minimiser_sensitivity
from discreet.lecture.section import Section, rows_of, short
from discreet.privacy import convert, price
from discreet.privacy.cost import Gaussian, Pure, Repeated, Sampled
from discreet.relation import Relation

_DELTA = Fraction(1, 10**5)
_RATE = Fraction(1, 100)


def composition() -> Section:
    """Repeated answers (lectures 1 and 4)."""
    hundred = Repeated(Pure(Fraction(1, 10)), 100)
    return Section(
        "Many answers add up",
        "k answers at ε each are kε together, and far less if a small δ is allowed: the ledger prices losses together.",
        rows_of(
            ("100 answers at ε = 0.1, δ = 0", "kε = 10", short(price.epsilon(hundred, 0).value)),
            ("the same at δ = 10⁻⁵, the smallest ε", "", short(price.epsilon(hundred, _DELTA).value)),
        ),
        command=Fix("", "curve", {"curve": "composition", "output": "composition.svg"}),
    )


def sampling() -> Section:
    """Amplification by sampling (lecture 4)."""
    step = price.epsilon(Sampled(_RATE, Pure(Fraction(1))), 0).value
    tenth = convert.sampled_epsilon(Fraction(5), Fraction(1, 10))
    return Section(
        "Sampling hides who was asked",
        "An ε-private answer about a sample of rate p is ln(1 + p(e^ε − 1))-private about everyone.",
        rows_of(
            ("ε = 1 on a sample of one in 100", "0.01704", short(step)),
            ("ε = 5 on a sample of one in 10", "at most 2pε = 1", short(tenth)),
        ),
        "ln(1 + p(e^ε − 1)) ≤ 2pε fails above ε = 1.2564 for small p: at ε = 5 it claims 1 where 2.76 is spent.",
        Fix("", "curve", {"curve": "sampling", "output": "sampling.svg"}),
    )


def descent() -> Section:
    """The price of DP-SGD (lectures 1 and 4)."""
    step = price.epsilon(Sampled(_RATE, Pure(Fraction(1))), 0).value
    thousand = price.epsilon(Repeated(Sampled(_RATE, Gaussian(Fraction(1))), 1_000), _DELTA).value
    return Section(
        "The price of a thousand noisy steps",
        "Clip each example's gradient, sum, add noise; every step sees a sample of the rows.",
        rows_of(
            ("one step, q = 0.01, ε = 1", "qε = 0.01", short(step)),
            ("1,000 steps, q = 0.01, σ = 1, δ = 10⁻⁵", "", short(thousand)),
        ),
        "(qTε, qTδ) is too small by a factor of 1.7 here and qε√T is an order of growth, no bound. Clip each example, "
        "not the batch, and sample as the price assumes.",
        Fix("", "curve", {"curve": "descent", "output": "descent.svg"}),
    )


def minimisers() -> Section:
    """Sensitivity of a regularised minimiser (lectures 1 and 4)."""
    steepness, ridge = Fraction(1), Fraction(10)
    replaced = minimiser_sensitivity(steepness, ridge, Relation.REPLACE_ONE)
    added = minimiser_sensitivity(steepness, ridge, Relation.ADD_REMOVE)
    return Section(
        "How far one person moves a fitted model",
        "The minimiser of a λ-strongly convex average loss moves by at most 2G/(nλ) when one row is changed.",
        rows_of(
            (
                "G = 1, nλ = 10, one changed",
                f"4G/(nλ) = {short(lecture_sensitivity(steepness, ridge))}",
                short(replaced),
            ),
            ("G = 1, nλ = 10, one more or fewer", "", short(added)),
        ),
        "The printed 4G/(nλ) holds and is twice too large; each holds for the exact minimiser alone, so the solver's "
        "gap is paid too. Objective perturbation as lecture 1 prints it lacks its quadratic term.",
        Fix("", "learn plan", {"metadata": "people.toml", "model": "logistic", "target": "sick", "epsilon": 1}),
    )
