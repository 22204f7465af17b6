"""Counts of whole cells as they were measured, with the exact ± of their noise.

A count over n cells of a table that a unit adds w steps to is Σ steps/w, and its error the sum of n independent noises:

    Gaussian    rounded N(0, σ²) each:  |error| ≤ (z·σ·√n + n/2)/w
    Laplace     the sum of n integer Laplace noises, by its exact law (`answer.spread.sum_radius`)

What was measured several times, a column twice and all units by every column, is under Gaussian noise the mean weighted
by 1/variance, c_i ∝ w_i²/(n_i·σ_i²), whose radius is z·√(Σ n_i·c_i²σ_i²/w_i²) + Σ n_i·c_i/(2w_i); under Laplace noise
it is the best one alone.  What of this holds only nearly is told in docs/proofs/synth/answers.md.
Where k ≤ m rows of a unit share its w steps, up to k − 1 of them are lost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np

from discreet.answer.spread import normal_radius, sum_radius
from discreet.envelope import Part
from discreet.ndarrays import Bools, Floats
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.tags import TAGS
from discreet.synth.build import Build
from discreet.synth.measured.noisy import groups_of, tables_of

_LONGEST = 2**20  # points of a law that is convolved


@dataclass(frozen=True)
class Exact:
    """A measured count and the ends within which the private one lies with the stated probability."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class _Sum:
    """Noisy counts added up: how many, in steps of which part of a unit, with which law."""

    value: float
    cells: int
    weight: int
    law: Any

    @property
    def variance(self) -> float:
        """Of the sum in units; never 0, for others are weighed by it."""
        return max(self.cells, 1) * max(float(self.law.variance), 1e-6) / self.weight**2


def exact_count(build: Build, whole: Mapping[int, Bools], level: Fraction) -> Exact | None:
    """The measured count of units in these cells of one or two features; None where they were not measured together."""
    sums = _sums(build, whole)
    if not sums:
        return None
    value, radius = _best(sums, level)
    subject = build.plan.subject
    low, high = max(value - radius, 0.0), max(value + radius, 0.0)
    if subject.is_shared:
        least = min(own.weight for own in sums)
        high /= 1 - (subject.schema.max_rows - 1) / least
    return Exact(value, low, high)


def _sums(build: Build, whole: Mapping[int, Bools]) -> list[_Sum]:
    by_name = {str(part.tally["name"]): part for part in build.parts}
    if len(whole) == 2:
        return _pair_sums(by_name["pairs"], whole) if "pairs" in by_name else []
    features = list(whole.items()) or _everything(build)
    names = [name for name in ("singles", "columns") if name in by_name]
    return [_single_sum(by_name[name], *feature) for name in names for feature in features]


def _everything(build: Build) -> list[tuple[int, Bools]]:
    """All cells of every feature: each unit is in one of each, so all of their sums count all units."""
    return [(feature, np.ones(size, dtype=np.bool_)) for feature, size in enumerate(build.plan.subject.sizes)]


def _single_sum(part: Part, feature: int, mask: Bools) -> _Sum:
    table = tables_of(part)[feature]
    return _Sum(float(table.counts[mask].sum()), int(mask.sum()), part.tally["weights"][feature], TAGS.value(part.law))


def _pair_sums(part: Part, whole: Mapping[int, Bools]) -> list[_Sum]:
    """The pair's count, where the cells are whole groups of those that the pair was measured by."""
    features, groups = tuple(sorted(whole)), groups_of(part)
    masks = [_by_group(whole[feature], groups[feature]) for feature in features]
    for table, weight in zip(tables_of(part), part.tally["weights"], strict=True):
        if table.features == features and masks[0] is not None and masks[1] is not None:
            chosen = np.logical_and.outer(masks[0], masks[1])
            return [_Sum(float(table.counts[chosen].sum()), int(chosen.sum()), weight, TAGS.value(part.law))]
    return []


def _by_group(mask: Bools, group: Any) -> Bools | None:
    """The mask over groups; None where a group is counted in part."""
    chosen = np.bincount(group, weights=mask) > 0
    return chosen if (chosen[group] == mask).all() else None


def _best(sums: Sequence[_Sum], level: Fraction) -> tuple[float, float]:
    """The best estimate of what all of these sums measure, and its radius."""
    if all(isinstance(own.law, RoundedGaussian) for own in sums):
        return _weighted_mean(sums, level)
    best = min(sums, key=lambda own: own.variance)
    return best.value, radius_of_sum(best.law, best.cells, level) / best.weight


def _weighted_mean(sums: Sequence[_Sum], level: Fraction) -> tuple[float, float]:
    precisions: Floats = np.array([1 / own.variance for own in sums])
    parts = precisions / precisions.sum()
    value = float(sum(part * own.value for part, own in zip(parts, sums, strict=True)))
    terms = list(zip(parts, sums, strict=True))
    variance = sum(own.cells * (part * float(own.law.sigma) / own.weight) ** 2 for part, own in terms)
    rounding = sum(own.cells * part / (2 * own.weight) for part, own in terms)
    return value, float(normal_radius(1 - level) * sqrt(variance) + rounding)


@lru_cache(maxsize=256)
def radius_of_sum(law: Any, count: int, level: Fraction) -> float:
    """q, in steps, with P[|X₁ + … + X_n| ≤ q] ≥ level.

    Wide Laplace noise is convolved in steps of k: X = k·Y + R, where Y is integer Laplace noise of scale b/k and
    |R| < k, because ⌊G/k⌋ of a geometric G of scale b is geometric of scale b/k.
    """
    match law:
        case RoundedGaussian():
            return float(normal_radius(1 - level) * float(law.sigma) * sqrt(count) + count / 2)
        case DiscreteLaplace():
            finest = min(200 * max(sqrt(count / 2), 1.0), _LONGEST / (45 + 17 * sqrt(max(count, 1))))
            coarse = max(1, int(float(law.scale) / finest))
            return float(coarse * sum_radius(DiscreteLaplace(law.scale / coarse), count, level) + count * (coarse - 1))
        case _:
            raise TypeError(f"{type(law).__name__} is no noise of a synthesis")
