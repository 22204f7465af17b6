"""All curves by name, with the ε that each is drawn for by default."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

from discreet import amounts
from discreet.errors import bad
from discreet.lecture.curve import Curve

MOST_EPSILONS = 3
_MOST_AGAINST_EPSILON = 8
_LARGEST = 20  # e^20: noise of a ten-millionth, beyond which nothing is left to measure
_LEAST = Fraction(1, 100)


@dataclass(frozen=True)
class Drawn:
    """Where a curve is made, its default ε, how many may be given, and what it shows."""

    home: str
    epsilons: tuple[str, ...]
    most_epsilons: int
    shows: str


CURVES = {
    "laplace": Drawn("means.laplace", ("0.1", "1", "10"), MOST_EPSILONS, "error of a mean by Laplace noise"),
    "gaussian": Drawn("means.gaussian", ("0.1", "1", "10"), MOST_EPSILONS, "error of a mean by Gaussian noise"),
    "response": Drawn("means.response", ("1",), 2, "randomized response beside Laplace"),
    "local": Drawn("trust.local", ("1",), 2, "phones that add the noise themselves"),
    "shuffled": Drawn("trust.shuffled_curve", ("1",), 1, "nobody, a shuffler or a curator"),
    "central": Drawn("trust.central", (), _MOST_AGAINST_EPSILON, "a curator's noise against ε"),
    "dimensions": Drawn("many.dimensions", ("1",), 2, "where Gaussian overtakes Laplace as counts grow"),
    "bernoulli": Drawn("choosing.bernoulli", ("0.1",), 1, "the bias of a coin in two ways"),
    "composition": Drawn("many.composition", ("0.1",), 1, "the price of k repeats"),
    "sampling": Drawn("thinning.sampling", ("1",), MOST_EPSILONS, "what a secret sample saves"),
    "exponential": Drawn("choosing.exponential", (), _MOST_AGAINST_EPSILON, "the most common of some values"),
    "descent": Drawn("thinning.descent", (), MOST_EPSILONS, "the price of steps of noisy gradients"),
}


def curve(name: str, epsilons: Sequence[Any] = (), *, seed: int = 1) -> Curve:
    """The curve of that name, measured now; without ε at those it is usually drawn for.

    People are invented from the seed; noise is the system's own, so measured points differ a little from run to run.

    >>> curve("dimensions").facts["overtakes_at"]
    {'1': 7}
    """
    chosen = _entry(name)
    parsed = _epsilons(name, chosen, epsilons)
    module, _, function = chosen.home.partition(".")
    draw: Callable[[Sequence[Fraction], int], Curve] = getattr(import_module(f"discreet.lecture.{module}"), function)
    return draw(parsed, seed)


def _entry(name: str) -> Drawn:
    from discreet.schema.words import suggestion

    if name not in CURVES:
        closest = suggestion(name, list(CURVES))
        fix = f"Did you mean {closest}?" if closest is not None else "Take response, for example."
        raise bad("curve", f"must be one of {', '.join(CURVES)}", name, fix)
    return CURVES[name]


def _epsilons(name: str, chosen: Drawn, given: Sequence[Any]) -> tuple[Fraction, ...]:
    """The given ε, each once and in order, or the usual ones."""
    parsed = sorted({amounts.epsilon(value) for value in given})
    if len(parsed) > chosen.most_epsilons:
        fix = "Leave some out, or draw two curves."
        raise bad("epsilon", f"must be at most {chosen.most_epsilons} of them for {name}", len(parsed), fix)
    for value in parsed:
        if not _LEAST <= value <= _LARGEST:
            fix = "Give a number such as 1."
            raise bad("epsilon", f"must be 0.01 to {_LARGEST} for a curve", amounts.text_of(value), fix)
    return tuple(parsed) or tuple(map(Fraction, chosen.epsilons))
