"""Planted bugs of output and objective perturbation, on tables of a few rows."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from discreet.audit.bounds import Odds
from discreet.audit.events import Event
from discreet.audit.features import Coordinate
from discreet.audit.minimised import TinyTable, draw_weights, intercept_law, rows_of
from discreet.audit.minimiser_claims import NORMAL, PURE, RIDGE, SMALL_DELTA, STRAIGHT, objective, output
from discreet.audit.mutants.moved import moved_bug
from discreet.audit.mutants.planted import Drawn, Planted, Proven
from discreet.audit.trial import Pair
from discreet.learn.risk.last_step import on_lattice
from discreet.learn.risk.minimise import Problem, minimum
from discreet.learn.risk.objective import GaussianTilt, ObjectivePerturbation, tilt_sigma
from discreet.mechanism import additive
from discreet.noise.radial import Radial
from discreet.privacy.cost import Approx
from discreet.relation import Relation

_ONE: tuple[TinyTable, TinyTable] = ((), ((0, 1),))
_OTHER: tuple[TinyTable, TinyTable] = (((0, 1),), ((0, 0),))
_BEYOND = 0.1063  # ∫ t·K₁(t)/π from 2·63/64 on, rounded up: one number of radial noise of scale 1 in two dimensions
_FINE = Fraction(1, 2**30)  # of a drawn line
_BLUR = 1e-3  # what the last step and the rounding of noise add to a chance at most


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    yield from _output()
    yield _half_radial()
    yield from _objective()


def _output() -> Iterator[Planted]:
    own = output(NORMAL)
    wrong = "The noise has half the σ that the minimum's distance asks for."
    covered = own.last.sensitivity
    half = replace(own.last, noise=additive.gaussian_share(covered, Fraction(1, 2), Fraction(1)).noise)
    pair = _pair(*map(_problem, _ONE))
    yield moved_bug("output-half-the-noise", wrong, pair, half)
    wrong = "The solver stops where the gradient is shorter than 5.5, and nobody pays for what is left of it."
    pair = _pair(_problem(((0, 1),) * 5), _problem(((0, 1),) * 6), gap=11.0)  # of which a solver takes half
    yield moved_bug("output-gap-unpaid", wrong, pair, own.last)
    wrong = "The solver's ridge is half of the one that the noise is planned for."
    pair = _pair(*(replace(_problem(table), ridge=float(RIDGE) / 2) for table in _ONE))
    yield moved_bug("output-ridge-shrunk", wrong, pair, own.last)
    wrong = "A row is clipped to the norm 1 without its intercept, which is 1 as well."
    pair = _pair(_problem(()), _unclipped(_problem(((1, 1),))))
    yield moved_bug("output-intercept-outside-norm", wrong, pair, own.last)
    wrong = "A row replaces one that points the opposite way; the noise is that of add-remove."
    pair = _pair(*map(_problem, _OTHER))
    yield moved_bug("output-replace-one-as-add-remove", wrong, pair, own.last)


def _problem(table: TinyTable) -> Problem:
    own = output(NORMAL)
    return own.spec.problem(rows_of(table), own.loss, own.ridge)


def _unclipped(problem: Problem) -> Problem:
    return replace(problem, design=replace(problem.design, clipping=np.ones_like(problem.design.clipping)))


def _pair(first: Problem, second: Problem, *, gap: float | None = None) -> Pair:
    """Both minima in whole steps."""
    own = output(NORMAL)
    paid = float(own.gap) if gap is None else gap
    before, after = (tuple(on_lattice(minimum(problem, paid), own.step).tolist()) for problem in (first, second))
    return before, after


def _half_radial() -> Drawn:
    """The first weight is G/Λ with the row and 0 without it; the event is that it lies there or above."""
    own = output(PURE)
    if own.noise is None:
        raise TypeError("noise of δ = 0 is radial")
    half = replace(own, noise=Radial(own.noise.dimension, own.noise.scale / 2))
    event = Event(Coordinate(0), "≥", round(1 / (RIDGE * own.step)))
    chances = (0.5 - _BLUR, _BEYOND + _BLUR)
    wrong = "The noise of uniform direction has half the scale that the minimum's distance asks for."
    pair = (_ONE[1], _ONE[0])
    draw = partial(draw_weights, half)
    return Drawn("output-pure-half-the-noise", wrong, Odds(Fraction(1)), pair, draw, event, chances, 8_000)


def _objective() -> Iterator[Planted]:
    own = objective(SMALL_DELTA, loss="hinge", ridge=STRAIGHT)
    wrong = "The line that is added to the risk has half its σ."
    yield _proven("objective-half-the-noise", wrong, _with_tilt(own, share=Fraction(1, 2)), _ONE)
    wrong = "A row replaces one that points the opposite way; the noise is that of add-remove."
    yield _proven("objective-replace-one-as-add-remove", wrong, own, _OTHER)
    wrong = "The ridge is small, and what the curvature of one row costs is not taken from ε."
    unpaid = replace(own, ridge=Fraction(1, 10))
    yield _proven("objective-curvature-unpaid", wrong, _with_tilt(unpaid), _ONE)


def _with_tilt(mechanism: ObjectivePerturbation, share: Fraction = Fraction(1)) -> ObjectivePerturbation:
    """With a share of the σ that a risk without any curvature needs."""
    terms = SMALL_DELTA.terms
    sigma = share * tilt_sigma(terms.epsilon, terms.delta, Relation.ADD_REMOVE)
    return replace(mechanism, tilt=GaussianTilt(mechanism.spec.width, sigma, _FINE))


def _proven(name: str, wrong: str, mechanism: ObjectivePerturbation, pair: tuple[TinyTable, TinyTable]) -> Proven:
    terms = SMALL_DELTA.terms
    return Proven(name, wrong, Approx(terms.epsilon, terms.delta), [pair], partial(intercept_law, mechanism))
