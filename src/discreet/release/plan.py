"""Plan a release at a price: shares of levels and marginals, the noise, the fit, and the ± of each number.

Nothing here reads a row.  The planned cost is the charged cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.ndarrays import Ints
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy import price as prices
from discreet.privacy.cost import Together
from discreet.release.fit import choice
from discreet.release.known import NOTHING, Known
from discreet.release.margins import Margins, margins
from discreet.release.measure import Design, Measurement, gaussian, laplace, shares
from discreet.release.subject import Subject
from discreet.release.tree import Tree
from discreet.schema.words import suggestion
from discreet.shares import EPSILON, PRECISION, Share, to_json
from discreet.terms import Terms

EVEN, LEAST = "even", "least"  # how what is not locked is shared among levels
_POWER = {"laplace": 1 / 3, "gaussian": 1 / 2}
_WEIGHTS = 2**20
_PEOPLE = 2**34  # more than there are, in case a place has them all
_ROOM = 2**62 // (4 * choice.SCALE)  # what a place's count times its weight may be, summed along a path
_FAR = 64  # standard deviations that no noise exceeds, but for a chance of e^-64


@dataclass(frozen=True, eq=False)
class ReleasePlan:
    """What will be measured, its cost, and the method that fits it."""

    subject: Subject
    measurement: Measurement
    terms: Terms  # (ε, δ) as charged
    shares: tuple[Fraction, ...]  # of each level of the tree
    method: str
    why: str
    known: Known = NOTHING
    locked: tuple[str, ...] = ()  # levels whose share was given
    sharing: str = EVEN  # how the rest was shared

    @cached_property
    def weights(self) -> Ints:
        """A whole number for each place, ∝ 1/variance of what is measured there, as fine as 64 bits leave room for."""
        variances = np.array([max(level[-1].variance, choice.LEAST_VARIANCE) for level in self.measurement.mechanisms])
        largest = max(_PEOPLE, self.known.total or 0) + _widest(self.measurement)
        finest = min(_WEIGHTS, max(1, _ROOM // (self.subject.tree.depth * largest)))
        by_level = np.maximum(1, np.rint(finest * variances.min() / variances)).astype(np.int64)
        return np.asarray((by_level // np.gcd.reduce(by_level))[self.subject.tree.level], dtype=np.int64)

    @cached_property
    def margins(self) -> Margins:
        """The estimator and the ± of every number, at the plan's level."""
        return self.margins_at(self.terms.level, self.known)

    def margins_at(self, level: Fraction, known: Known) -> Margins:
        """The same at another confidence level, or with other public facts."""
        measured = self.measurement
        laws = [[mechanism.noise for mechanism in level_mechanisms] for level_mechanisms in measured.mechanisms]
        return margins(measured.tree, measured.form, measured.marginals, laws, level=level, known=known)

    @cached_property
    def level_shares(self) -> tuple[Share, ...]:
        """The share of each level: of ε, or under Gaussian noise of 1/σ², which adds up over levels."""
        laplace = all(
            isinstance(mechanism.noise, DiscreteLaplace)
            for mechanisms in self.measurement.mechanisms
            for mechanism in mechanisms
        )
        shared_amount = EPSILON if laplace else PRECISION
        return tuple(
            Share(
                name, self.shares[tree_level], self.epsilon_of(tree_level), locked=name in self.locked, of=shared_amount
            )
            for tree_level, name in enumerate(self.subject.tree.levels)
        )

    def epsilon_of(self, tree_level: int) -> Fraction:
        """ε of one level alone, at the plan's δ; under Laplace noise these add up to ε."""
        costs = tuple(mechanism.cost for mechanism in self.measurement.mechanisms[tree_level])
        return prices.epsilon(Together(costs), self.terms.delta).value

    def level_rows(self) -> list[dict[str, Any]]:
        """A row for each level: its places and cells, its share of ε and the largest ± of a cell and of a total."""
        places = np.diff(self.subject.tree.first).tolist()
        return [
            {
                "level": share["name"],
                "places": places[tree_level],
                "cells": places[tree_level] * self.subject.cells,
                **{name: share[name] for name in ("share", "locked", "epsilon")},
                **dict(zip(("moe", "total_moe"), self.margins.largest(tree_level), strict=True)),
            }
            for tree_level, share in enumerate(to_json(self.level_shares))
        ]


def plan_of(
    subject: Subject,
    terms: Terms,
    *,
    share: Mapping[str, Any] | None = None,
    sharing: str = EVEN,
    method: str = "auto",
    known: Known = NOTHING,
) -> ReleasePlan:
    """The release at these terms: Laplace noise, or Gaussian where δ allows it and the total error is smaller."""
    epsilon, delta = terms.epsilon, terms.delta
    if sharing not in (EVEN, LEAST):
        fix = f"Give {EVEN}, or {LEAST} for the least error summed over all numbers."
        raise bad("sharing", f"must be {EVEN} or {LEAST}", sharing, fix)
    locked = _locked_shares(share or {}, subject.tree)
    chosen, why = choice.method_and_reason(method, subject, known)
    kinds = ["laplace", "gaussian"] if delta else ["laplace"]
    measurements = {}
    for kind in kinds:
        levels = shares(subject.tree, _POWER[kind] if sharing == LEAST else 0, locked)
        all_shares = [[share / len(subject.design.marginals)] * len(subject.design.marginals) for share in levels]
        _require_enough(subject.design, all_shares, epsilon)
        measurement = (
            laplace(subject.design, epsilon, all_shares)
            if kind == "laplace"
            else gaussian(subject.design, epsilon, delta, all_shares)
        )
        measurements[kind] = levels, measurement
    best = min(measurements, key=lambda kind: _error(measurements[kind][1]))
    levels, measurement = measurements[best]
    _require_room(measurement, epsilon, known.total, chosen)
    noise = f"{best.capitalize()} noise: " + (
        "its total error is smaller." if len(measurements) > 1 else "without a delta there is no other."
    )
    charged = replace(terms, delta=delta if best == "gaussian" else Fraction(0))
    reasons = f"{noise} {why}"
    return ReleasePlan(subject, measurement, charged, levels, chosen, reasons, known, tuple(locked), sharing)


def _locked_shares(share: Mapping[str, Any], tree: Tree) -> dict[str, Fraction]:
    """The shares that were given, by level; refused where they cannot be kept."""
    levels = ", ".join(tree.levels)
    if not isinstance(share, Mapping):
        raise bad("share", "must give a number for each level that it names", share, 'Give, for example: {"ward": 0.5}')
    locked: dict[str, Fraction] = {}
    for name, value in share.items():
        if name not in tree.levels:
            guess = suggestion(str(name), tree.levels)
            raise bad("share", f"must name one of the levels {levels}", name, f"Name {guess or tree.levels[-1]!r}.")
        rule, fix = f"of {name} must be a number above 0 and below 1", "Give a number such as 0.5."
        locked[name] = amounts.decimal(value, "share", rule, fix)
        if not 0 < locked[name] < 1:
            raise bad("share", rule, value, fix)
    locked_sum, all_held = sum(locked.values(), Fraction(0)), len(locked) == tree.depth
    if locked_sum > 1 or (locked_sum == 1) != all_held:
        rule = "must add up to 1 over all levels" if all_held else "must leave something for levels that are not named"
        fix = "Let them add up to 1, or leave a level out, which then gets the rest."
        raise bad("share", rule, amounts.text_of(locked_sum), fix if all_held else "Let them add up to less than 1.")
    return locked


def _widest(measurement: Measurement) -> int:
    """A number that the noise exceeds with a chance of at most e^-64."""
    return 1 + int(_FAR * max(mechanism.variance for level in measurement.mechanisms for mechanism in level) ** 0.5)


def _require_room(measurement: Measurement, epsilon: Fraction, total: int | None, method: str) -> None:
    """Refuse, before the charge, numbers whose sums could exceed 64 bits in the fit."""
    limit = 2**60 // (choice.SCALE * max(len(measurement.tree), measurement.columns[-1].stop))
    limit = min(limit, choice.LARGEST_NUMBER.get(method, limit))
    if _widest(measurement) >= limit:
        raise bad(
            "epsilon", "is too small for all places of this release", amounts.text_of(epsilon), "Give a larger epsilon."
        )
    if total is not None and total > limit:
        fix = "Leave it out: the top is then measured like every other place."
        raise bad("total", f"must be at most {limit} over so many places", total, fix)


def _require_enough(design: Design, all_shares: Sequence[Sequence[Fraction]], epsilon: Fraction) -> None:
    smallest = max(amounts.MIN_EPSILON, design.level_sensitivity.l1 / amounts.MAX_SCALE) / min(
        min(level_shares) for level_shares in all_shares
    )
    if epsilon < smallest:
        fix = f"Give at least {amounts.text_up(smallest, 3)}, or larger shares."
        raise bad("epsilon", "is too small for all levels of this release", amounts.text_of(epsilon), fix)


def _error(measurement: Measurement) -> float:
    """Σ variance of all numbers measured."""
    sizes = np.diff(measurement.tree.first)
    return float(
        sum(
            size
            * sum(
                mechanism.variance * marginal.size
                for mechanism, marginal in zip(level, measurement.marginals, strict=True)
            )
            for size, level in zip(sizes, measurement.mechanisms, strict=True)
        )
    )
