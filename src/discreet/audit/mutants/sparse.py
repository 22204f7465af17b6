"""Wrong sparse vectors: the published variants of Lyu, Su & Li (2017), Algorithms 3 to 6, and three of our own.

All pretend ε with ε₁ = ε₂ = ε/2 (ε/4 and 3ε/4 in Algorithm 4), Δ = 1 and threshold 0.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
from flint import arb

from discreet.audit.bounds import Odds
from discreet.audit.brute import Pairs
from discreet.audit.events import Event
from discreet.audit.features import Outputs, Pattern
from discreet.audit.laws import OutputLaw, above, mass, verdicts
from discreet.audit.mutants.planted import Drawn, Planted, Proven, chance_bounds
from discreet.bounded import scalar
from discreet.mechanism.threshold import SparseVector, sparse_vector
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import Source
from discreet.privacy.cost import Pure

_ONE = Pure(Fraction(1))
_NO_END = 100
_REACH = 60  # scales of threshold noise summed; what is left out is added as a ball


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    yield from _published_variants()
    yield from _own_variants()


def _published_variants() -> Iterator[Planted]:
    wrong = "The value above is told with the noise that was compared (Algorithm 3)."
    last: Pairs = [((0,) * 5 + (1,), (1,) * 5 + (0,))]
    yield Proven("sparse-tells-value", wrong, _ONE, last, partial(_value_law, _laplace(2), _laplace(2)))
    wrong = "The questions' noise has no factor c for c positives (Algorithm 4)."
    questions: Pairs = [((0,) * 4 + (1,) * 4, (1,) * 4 + (0,) * 4)]
    yield Proven("sparse-without-c", wrong, _ONE, questions, partial(_patterns, _laplace(4), Fraction(4, 3), 4))
    wrong = "The questions get no noise and positives have no end (Algorithm 5)."
    cross: Pairs = [((0, 1), (1, 0))]
    yield Proven("sparse-without-question-noise", wrong, _ONE, cross, partial(_patterns, _laplace(2), None, _NO_END))
    wrong = "Positives have no end (Algorithm 6)."
    yield Proven("sparse-without-end", wrong, _ONE, questions, partial(_patterns, _laplace(2), Fraction(2), _NO_END))
    yield _drawn_without_end()


def _drawn_without_end() -> Drawn:
    """Four below and four above, at ε = 2 so that the pattern is common enough to be counted."""
    pair = ((0,) * 4 + (1,) * 4, (1,) * 4 + (0,) * 4)
    ours = _laplace(1)

    def draw(questions: tuple[int, ...], n: int, source: Source) -> Outputs:
        threshold = ours.draw(n, source)[:, None]
        noise = ours.draw(n * len(questions), source).reshape(n, -1)
        return (np.array(questions) + noise >= threshold).astype(np.int64)

    law, pattern = partial(_patterns, ours, Fraction(1), _NO_END), "⊥" * 4 + "⊤" * 4
    chances = chance_bounds(lambda: law(pair[0])[pattern], lambda: law(pair[1])[pattern])
    event = Event(Pattern((0,) * 4 + (1,) * 4), "=", 1)
    wrong = "The same, seen in verdicts, at ε = 2."
    return Drawn("sparse-without-end-drawn", wrong, Odds(Fraction(2)), pair, draw, event, chances, 40_000)


def _own_variants() -> Iterator[Planted]:
    wrong = "The threshold gets no noise, so every answer below costs anew."
    questions = [((0,) * 8, (1,) * 8)]
    yield Proven("sparse-without-threshold-noise", wrong, _ONE, questions, partial(_patterns, None, Fraction(4), 1))
    wrong, half = "The threshold's noise has scale ε₁, not Δ/ε₁.", _laplace(Fraction(1, 2))
    yield Proven("sparse-threshold-scale", wrong, _ONE, questions, partial(_patterns, half, Fraction(4), 1))
    wrong = "An open run is copied, and each copy spends the positive paid for once."
    last: Pairs = [((0,) * 5 + (1,), (1,) * 5 + (0,))]
    run = sparse_vector(scalar(1), 1, threshold=0, positives=1)
    yield Proven("sparse-run-copied", wrong, _ONE, last, partial(_copied_run, run))


def _laplace(scale: int | Fraction) -> DiscreteLaplace:
    return DiscreteLaplace(Fraction(scale))


def _patterns(
    ours: DiscreteLaplace | None, theirs: Fraction | None, positives: int, questions: tuple[int, ...]
) -> OutputLaw:
    """The law of verdicts, with noise `ours` of the threshold and scale `theirs` of the questions; None is no noise."""
    noise = None if theirs is None else DiscreteLaplace(theirs)
    law: OutputLaw = {}
    for threshold, chance in _thresholds(ours):
        ups = [_above(noise, threshold - 1 - q) for q in questions]
        for pattern, pattern_chance in verdicts(ups, positives):
            law[pattern] = law.get(pattern, arb(0)) + chance * pattern_chance
    return law if ours is None else _with_tail(law, ours)


def _copied_run(run: SparseVector, questions: tuple[int, ...]) -> OutputLaw:
    """The law of both copies' verdicts: one noisy threshold, and noise of their own for the questions."""
    law: OutputLaw = {}
    for shift, chance in _thresholds(run.threshold_noise):
        ups = [above(run.question_noise, run.threshold + shift - 1 - q) for q in questions]
        for (first, p), (second, q) in product(list(verdicts(ups, run.positives)), repeat=2):
            law[first, second] = law.get((first, second), arb(0)) + chance * p * q
    return _with_tail(law, run.threshold_noise)


def _value_law(ours: DiscreteLaplace, theirs: DiscreteLaplace, questions: tuple[int, ...]) -> OutputLaw:
    """All below but the last, whose noisy value is told: the output is that value."""
    law: OutputLaw = {value: arb(0) for value in range(-4, 4)}
    for threshold, chance in _thresholds(ours):
        below = chance
        for q in questions[:-1]:
            below *= 1 - above(theirs, threshold - 1 - q)
        for value in law:
            if value >= threshold:
                law[value] += below * mass(theirs, value - questions[-1])
    return _with_tail(law, ours)


def _thresholds(ours: DiscreteLaplace | None) -> Iterator[tuple[int, arb]]:
    if ours is None:
        yield 0, arb(1)
        return
    reach = math.ceil(ours.scale * _REACH)
    for shift in range(-reach, reach + 1):
        yield shift, mass(ours, shift)


def _with_tail(law: OutputLaw, ours: DiscreteLaplace) -> OutputLaw:
    tail = arb(0).union(2 * above(ours, math.ceil(ours.scale * _REACH)))
    return {output: chance + tail for output, chance in law.items()}


def _above(noise: DiscreteLaplace | None, t: int) -> arb:
    return above(noise, t) if noise is not None else arb(1 if t < 0 else 0)
