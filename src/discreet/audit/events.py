"""Families of events, and the choice of one event on training runs, which are not used again.

An event is {feature ≥ t}, {feature ≤ t} or {feature = t}.  Whatever rule picks it, the bound of bounds.py holds on runs
that the rule has not seen; here it is the event with the largest lower bound on the training half, each side of the
pair in turn (StatDP, Ding et al. 2018; DP-Sniper, Bichsel et al. 2021; Delta-Siege, Lokna et al. 2023).
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from discreet.audit.bounds import Hits, Odds, Shift, Test
from discreet.audit.classify import fitted_score
from discreet.audit.features import Outputs, Pattern, Statement, Values, plain_features
from discreet.ndarrays import Bools

_SHARES = (0.0005, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
_LEVELS = np.array([*_SHARES, 0.5, *(1 - share for share in reversed(_SHARES))])
_POINTS, _PATTERNS, _WIDEST = 12, 256, 10
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {"≥": operator.ge, "≤": operator.le, "=": operator.eq}
_Z = 5.3  # standard deviations: the width of the final interval at α of some 10⁻⁷


class Feature(Protocol):
    """One number a run."""

    def of(self, outputs: Outputs) -> Values: ...


@dataclass(frozen=True)
class Event:
    """{feature ≥ value}, {feature ≤ value} or {feature = value}.

    >>> from discreet.audit.features import Coordinate
    >>> print(Event(Coordinate(0), "≥", 3.0), Event(Coordinate(0), "≥", 3.0).holds(np.array([2, 3])))
    y ≥ 3 [False  True]
    """

    feature: Feature
    sign: str
    value: Any  # of the dtype of the feature: whole numbers stay whole

    def holds(self, outputs: Outputs) -> Bools:
        """In which runs it happened."""
        if self.sign not in _COMPARE:
            raise ValueError("a sign is one of ≥ ≤ =")
        return np.asarray(_COMPARE[self.sign](self.feature.of(outputs), self.value), dtype=np.bool_)

    def hits(self, first: Outputs, second: Outputs) -> Hits:
        """How often it happened on either side."""
        return Hits(int(self.holds(first).sum()), int(self.holds(second).sum()), len(first))

    def __str__(self) -> str:
        if isinstance(self.feature, Statement) and self.value in (0, 1):
            is_true = self.value == 1 if self.sign == "=" else self.sign == "≥"
            return str(self.feature) if is_true else f"not: {self.feature}"
        return f"{self.feature} {self.sign} {self.value:{'.6g' if isinstance(self.value, float) else ''}}"


@dataclass(frozen=True)
class Candidates:
    """Events of one family, and how often each happened on either side."""

    event: Callable[[int], Event]
    first: Values
    second: Values

    def turned(self) -> "Candidates":
        """The same with the sides exchanged."""
        return Candidates(self.event, self.second, self.first)


def loudest(test: Test, families: list[Candidates], runs: int) -> Event:
    """The candidate with the largest lower bound, about, on so many training runs a side."""
    worths = [_worth(test, family.first / runs, family.second / runs, runs) for family in families]
    best = max(range(len(families)), key=lambda i: float(worths[i].max()))
    return families[best].event(int(np.argmax(worths[best])))


def candidates(first: Outputs, second: Outputs) -> list[Candidates]:
    """Every family counted on the training runs of both sides; for either order of the pair, since ≤ is tried too."""
    features: list[Feature] = [*plain_features(first), fitted_score(first, second)]
    return [*threshold_families(features, first, second), *pattern_families(first, second)]


def threshold_families(features: Sequence[Feature], first: Outputs, second: Outputs) -> list[Candidates]:
    """Thresholds and points of these features."""
    return [
        Candidates(partial(_threshold_event, feature, sign, values), first_hits, second_hits)
        for feature in features
        for sign, values, first_hits, second_hits in _hit_counts(feature.of(first), feature.of(second))
    ]


def pattern_families(first: Outputs, second: Outputs) -> list[Candidates]:
    """Whole outputs and their first halves; none where outputs are single numbers."""
    if first.ndim == 1:
        return []
    width = min(first.shape[1], _WIDEST)
    return [_patterns(first, second, places) for places in {width, (width + 1) // 2}]


def _threshold_event(feature: Feature, sign: str, values: Values, index: int) -> Event:
    return Event(feature, sign, values[index].item())


def _patterns(first: Outputs, second: Outputs, width: int) -> Candidates:
    """The commonest outputs, cut to that width, of both sides together."""
    rows = np.concatenate([first[:, :width], second[:, :width]])
    code = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:  # one code a distinct row, place by place
        values, place = np.unique(column, return_inverse=True)
        code = np.unique(code * values.size + place, return_inverse=True)[1]
    example = np.unique(code, return_index=True)[1]
    first_hits, second_hits = (np.bincount(side, minlength=example.size) for side in np.split(code, [len(first)]))
    common = np.argsort(-(first_hits + second_hits))[:_PATTERNS]

    def event(i: int) -> Event:
        return Event(Pattern(tuple(rows[example[common[i]]].tolist())), "=", 1)

    return Candidates(event, first_hits[common], second_hits[common])


def _hit_counts(first: Values, second: Values) -> Iterator[tuple[str, Values, Values, Values]]:
    """(sign, values, hits on the first side, hits on the second) for thresholds and for points."""
    numbers = [np.sort(side[~np.isnan(side)]) for side in (first, second)]
    pooled = np.sort(np.concatenate(numbers))
    if pooled.size == 0:
        return
    cuts = np.unique(pooled[(_LEVELS * (pooled.size - 1)).astype(np.intp)])
    below = [np.searchsorted(side, cuts, side="left") for side in numbers]
    up_to = [np.searchsorted(side, cuts, side="right") for side in numbers]
    yield "≥", cuts, numbers[0].size - below[0], numbers[1].size - below[1]
    yield "≤", cuts, up_to[0], up_to[1]
    common, counts = np.unique(pooled, return_counts=True)
    points = common[np.argsort(-counts)[:_POINTS]]
    hits = [np.searchsorted(s, points, side="right") - np.searchsorted(s, points, side="left") for s in numbers]
    yield "=", points, hits[0], hits[1]


def _worth(test: Test, p: Values, q: Values, runs: int) -> Values:
    """About the lower bound these shares would give, by Wilson's interval; it only ranks."""
    low, high = _wilson(p, runs, -_Z), _wilson(q, runs, _Z)
    match test:
        case Odds():
            excess = low - float(test.delta)
            worth: Values = np.where(excess > 0, np.log(np.maximum(excess, 1e-300) / high), -1e6 + excess)
            return worth
        case Shift():
            from scipy.special import ndtri

            shift: Values = ndtri(np.clip(low, 1e-12, 1 - 1e-12)) - ndtri(np.clip(high, 1e-12, 1 - 1e-12))
            return shift
        case _:
            raise TypeError("not a test")


def _wilson(share: Values, runs: int, z: float) -> Values:
    middle = share + z * z / (2 * runs)
    half = z * np.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    end: Values = np.clip((middle + half) / (1 + z * z / runs), 1e-12, 1.0)
    return end
