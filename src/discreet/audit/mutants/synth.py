"""Planted bugs of a synthesis: rows that are read past the noise, prices that forget pairs or rows, draws not paid for.

The exact numbers are those of the steps themselves (`audit.synth_claims`), with noise for something else.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from discreet.audit.bounds import Odds, Test
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Outputs
from discreet.audit.mutants.moved import moved_bug
from discreet.audit.mutants.planted import Drawn, Planted
from discreet.audit.runs import outputs
from discreet.audit.synth_claims import Persons, Tiny, counts_of
from discreet.noise.source import Source
from discreet.synth.plan import SCORES, SINGLES, score_sensitivity

_CERTAIN, _FEW = (1.0, 0.0), 200
_ONE, _THREE, _PURE = Tiny(), Tiny(3), Tiny(is_pure=True)
_TOGETHER: Persons = [[(0, 0)], [(0, 0)]]
_APART: Persons = [*_TOGETHER, [(1, 1)]]
_AGES = ((30, 41), (30, 41, 97))


def bugs() -> Iterator[Planted]:
    """All bugs of this module; their names begin with synth."""
    yield from _read_past_noise()
    yield from _too_cheap()
    yield from _not_paid()


def _read_past_noise() -> Iterator[Planted]:
    wrong = "The last bin of a column ends at the largest number of the table, and is published as it is."
    event = Event(Coordinate(0), "=", max(_AGES[1]))
    yield Drawn("synth-bins-from-data", wrong, _promise(), _AGES[::-1], _with_largest, event, _CERTAIN, _FEW)
    wrong = "As many rows are drawn as the table has, and not the noisy number."
    pair = (_APART, _TOGETHER)
    event = Event(Coordinate(0), "=", len(_APART))
    yield Drawn("synth-true-row-count", wrong, _promise(), pair, _with_count, event, _CERTAIN, _FEW)


def _too_cheap() -> Iterator[Planted]:
    wrong = "Each of three pairs has a score that a person moves, and the noise is that of one."
    dear = Tiny(3, epsilon=80)  # so that the twentieth part of the price is seen in a few thousand draws
    single = score_sensitivity(dear.mechanisms["scores"].sensitivity.linf, 1, dear.plan.subject)
    noise = dear.plan.price.mechanism(single, SCORES)
    scores = dear.exact("scores", _TOGETHER), dear.exact("scores", _APART)
    yield moved_bug("synth-scores-without-root-of-pairs", wrong, scores, noise)
    wrong = "Each of a person's three rows adds a whole step to a table, and the noise is that of a person."
    public = dict(_THREE.publics["singles"]) | {"each": "row"}
    several = [*_TOGETHER, [(1, 1)] * 3]
    first, second = (tuple(counts_of(public, persons).tolist()) for persons in (_TOGETHER, several))
    yield moved_bug("synth-rows-not-persons", wrong, (first, second), _THREE.mechanisms["singles"])


def _not_paid() -> Iterator[Planted]:
    once = _ONE.exact("singles", _TOGETHER), _ONE.exact("singles", _APART)
    wrong = "A measurement that was paid is drawn again for another table, as if that were a replay."
    twice = once[0] * 2, once[1] * 2
    yield moved_bug("synth-measured-again-unpaid", wrong, twice, _ONE.mechanisms["singles"])
    wrong = "A build that was killed twice draws anew what it had shown, and each draw is seen."
    thrice = once[0] * 3, once[1] * 3
    yield moved_bug("synth-resumed-with-fresh-noise", wrong, thrice, _ONE.mechanisms["singles"])


def _promise() -> Test:
    """That of the first step alone, with Laplace noise."""
    return Odds(_PURE.plan.price.terms.epsilon * SINGLES)


def _with_largest(ages: Sequence[int], n: int, source: Source) -> Outputs:
    """The end of the last bin, and noisy counts of two bins."""
    largest = max(ages)
    counts = np.histogram(ages, bins=[0, largest // 2, largest])[0] * _PURE.plan.subject.steps
    noisy = outputs(_PURE.mechanisms["singles"], counts, n, source)
    return np.column_stack([np.full(n, largest), noisy])


def _with_count(persons: Persons, n: int, source: Source) -> Outputs:
    """The number of rows, and noisy counts of every column."""
    noisy = outputs(_PURE.mechanisms["singles"], _PURE.exact("singles", persons), n, source)
    return np.column_stack([np.full(n, len(persons)), noisy])
