"""Planted bugs of vectors side by side and of passes: tables that are not paid for, noise that is shared or missing."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.bounds import Odds
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Difference, Outputs
from discreet.audit.laws import Number, Numbers, vector_numbers
from discreet.audit.mutants.planted import Drawn, Planted, Proven
from discreet.audit.runs import outputs
from discreet.audit.trial import Pair
from discreet.audit.vector_claims import HALF, SIGMA, two_tables
from discreet.bounded import cells
from discreet.mechanism import additive
from discreet.mechanism.vectors import Vectors, vectors
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.source import Source
from discreet.privacy.cost import Gaussian, Pure
from discreet.relation import Relation

_ONE, _NORMAL = Pure(Fraction(1)), Gaussian(SIGMA)
_ENTERED: Pair = (((0, 0), (0, 0, 0)), ((1, 0), (1, 0, 0)))
_REPLACED: Pair = (((1, 0), (1, 0, 0)), ((0, 1), (0, 1, 0)))
_CERTAIN, _FEW = (1.0, 0.0), 200


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    yield from _prices()
    yield from _noises()
    yield from _passes()


def _prices() -> Iterator[Planted]:
    single = cells(1, 1)
    wrong = "Each of two tables gets the whole ε, as if a row lay in one of them."
    whole = vectors({name: additive.laplace(single, 1) for name in ("a", "b")})
    yield _proven("vectors-whole-price-each", wrong, _ONE, whole, _ENTERED)
    wrong = "Each of two tables gets the σ of the whole."
    sigma = vectors({name: additive.gaussian_share(single, SIGMA, Fraction(1)) for name in ("a", "b")})
    yield _proven("vectors-whole-sigma-each", wrong, _NORMAL, sigma, _ENTERED)
    wrong = "The class totals are a third table, and nobody pays for it."
    totals = vectors({**two_tables(single, pure=True).mechanisms, "totals": additive.laplace(single, HALF)})
    entered = (((0, 0), (0, 0, 0), (0, 0)), ((1, 0), (1, 0, 0), (1, 0)))
    yield _proven("vectors-totals-unpaid", wrong, _ONE, totals, entered)
    for pure, cost in ((True, _ONE), (False, _NORMAL)):
        wrong = "A row changes its cell in every table; the noise is that of add-remove."
        name = f"vectors-{'laplace' if pure else 'gaussian'}-replace-one-as-add-remove"
        yield _proven(name, wrong, cost, two_tables(single, pure=pure), _REPLACED)
    wrong = "Three rows of a person are counted, all in one cell, and l2 is taken for √3."
    spread = two_tables(cells(3, 1), pure=False)
    yield _proven("vectors-l2-of-rows", wrong, _NORMAL, spread, (((0, 0), (0, 0, 0)), ((3, 0), (3, 0, 0))))


def _noises() -> Iterator[Planted]:
    wrong = "Noise is drawn once and added to every table, so that differences of tables have none."
    event = Event(Difference(0, 2), "=", 1)
    apart: Pair = (((1, 0), (0, 0, 0)), ((0, 0), (0, 0, 0)))
    yield Drawn("vectors-noise-shared", wrong, Odds(Fraction(1)), apart, _shared_noise, event, _CERTAIN, _FEW)
    wrong = "The first table is taken for public, and gets no noise."
    event = Event(Coordinate(0), "=", 1)
    yield Drawn("vectors-first-without-noise", wrong, Odds(Fraction(1)), apart, _bare_first, event, _CERTAIN, _FEW)


def _passes() -> Iterator[Planted]:
    wrong = "A row is clipped to the norm 10 without its intercept, which is 10 as well."
    yield _move_bug("pass-intercept-outside-norm", wrong, 10, (10, 6, 8))
    wrong = "Each of three rows of a person is clipped to the norm 10, and their sum is not."
    yield _move_bug("pass-rows-not-persons", wrong, 10, (18, 24))
    wrong = "One person replaces another, whose gradient points the opposite way; the noise is that of add-remove."
    yield _move_bug("pass-replace-one-as-add-remove", wrong, 10, (12, 16), Relation.REPLACE_ONE)
    wrong = "A class weighs 2 and the slope's bound is taken for 1."
    yield _move_bug("pass-class-weight-above-one", wrong, 10, (0, 20))


def _proven(name: str, wrong: str, cost: Pure | Gaussian, mechanism: Vectors, pair: Pair) -> Proven:
    return Proven(name, wrong, cost, [pair], _numbers(mechanism))


def _numbers(mechanism: Vectors) -> Callable[[Any], Numbers]:
    def law(exact: Any) -> Numbers:
        return vector_numbers(mechanism, exact)

    return law


def _move_bug(name: str, wrong: str, norm: int, move: tuple[int, ...], under: Relation = Relation.ADD_REMOVE) -> Proven:
    """A gradient that moves by `move`, with the noise of σ = 1 for that norm."""
    noise = additive.gaussian(cells(1, norm, under), SIGMA * norm).noise
    if not isinstance(noise, RoundedGaussian):
        raise TypeError
    zeros = tuple(0 for _ in move)
    return Proven(name, wrong, _NORMAL, [(zeros, move)], lambda exact: tuple(Number(noise, x) for x in exact))


def _shared_noise(exact: Any, n: int, source: Source) -> Outputs:
    noise = two_tables(cells(1, 1), pure=True).mechanisms["a"].noise.draw(n, source)
    shared: Outputs = np.concatenate(exact)[None, :] + noise[:, None]
    return shared


def _bare_first(exact: Any, n: int, source: Source) -> Outputs:
    noisy = outputs(two_tables(cells(1, 1), pure=True), exact, n, source)
    noisy[:, : len(exact[0])] = exact[0]
    return noisy
