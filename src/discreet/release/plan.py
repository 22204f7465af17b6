"""A release at a price: the share of every level and marginal, the noise, the fit and the ± of each number beforehand.

Nothing here reads a row; what is planned is what is charged.
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
from discreet.release.measure import Design, Marginal, Measurement, gaussian, laplace, shares
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
    """What will be measured, what it costs, and how it is made to add up."""

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
        """How every number is estimated, and its ±, known before anything is spent."""
        return self.margins_at(self.terms.level, self.known)

    def margins_at(self, level: Fraction, known: Known) -> Margins:
        """The same at another level of confidence, or with other public facts."""
        measured = self.measurement
        laws = [[one.noise for one in each] for each in measured.mechanisms]
        return margins(measured.tree, measured.form, measured.marginals, laws, level=level, known=known)

    @cached_property
    def level_shares(self) -> tuple[Share, ...]:
        """What each level takes: of ε, or under Gaussian noise of 1/σ², which is what adds up there."""
        laplace = all(isinstance(one.noise, DiscreteLaplace) for each in self.measurement.mechanisms for one in each)
        whole = EPSILON if laplace else PRECISION
        return tuple(
            Share(name, self.shares[at], self.epsilon_of(at), locked=name in self.locked, of=whole)
            for at, name in enumerate(self.subject.tree.levels)
        )

    def epsilon_of(self, level: int) -> Fraction:
        """What a level would cost by itself, at the plan's δ; under Laplace noise these add up to ε."""
        costs = tuple(one.cost for one in self.measurement.mechanisms[level])
        return prices.epsilon(Together(costs), self.terms.delta).value

    def quoted(self) -> list[dict[str, Any]]:
        """A row for each level: its places and cells, its share of ε and the largest ± of a cell and of a total."""
        places = np.diff(self.subject.tree.first).tolist()
        return [
            {
                "level": told["name"],
                "places": places[at],
                "cells": places[at] * self.subject.cells,
                **{name: told[name] for name in ("share", "locked", "epsilon")},
                **dict(zip(("moe", "total_moe"), self.margins.largest(at), strict=True)),
            }
            for at, told in enumerate(to_json(self.level_shares))
        ]


def planned(
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
    locked = _locked(share or {}, subject.tree)
    chosen, why = choice.chosen(method, subject, known)
    kinds = ["laplace", "gaussian"] if delta else ["laplace"]
    made = {}
    for kind in kinds:
        levels = shares(subject.tree, _POWER[kind] if sharing == LEAST else 0, locked)
        every = _shared(levels, subject.design.marginals)
        _require_enough(subject.design, every, epsilon)
        measured = (
            laplace(subject.design, epsilon, every)
            if kind == "laplace"
            else gaussian(subject.design, epsilon, delta, every)
        )
        made[kind] = levels, measured
    best = min(made, key=lambda kind: _error(made[kind][1]))
    levels, measured = made[best]
    _require_room(measured, epsilon, known.total, chosen)
    noise = f"{best.capitalize()} noise: " + (
        "its total error is smaller." if len(made) > 1 else "without a delta there is no other."
    )
    charged = replace(terms, delta=delta if best == "gaussian" else Fraction(0))
    said = f"{noise} {why}"
    return ReleasePlan(subject, measured, charged, levels, chosen, said, known, tuple(locked), sharing)


def _locked(share: Mapping[str, Any], tree: Tree) -> dict[str, Fraction]:
    """The shares that were given, by level; refused where they cannot be kept."""
    levels = ", ".join(tree.levels)
    if not isinstance(share, Mapping):
        raise bad("share", "must give a number for each level that it names", share, 'Give, for example: {"ward": 0.5}')
    held: dict[str, Fraction] = {}
    for name, value in share.items():
        if name not in tree.levels:
            meant = suggestion(str(name), tree.levels)
            raise bad("share", f"must name one of the levels {levels}", name, f"Name {meant or tree.levels[-1]!r}.")
        rule, fix = f"of {name} must be a number above 0 and below 1", "Give a number such as 0.5."
        held[name] = amounts.decimal(value, "share", rule, fix)
        if not 0 < held[name] < 1:
            raise bad("share", rule, value, fix)
    taken, all_held = sum(held.values(), Fraction(0)), len(held) == tree.depth
    if taken > 1 or (taken == 1) != all_held:
        rule = "must add up to 1 over all levels" if all_held else "must leave something for levels that are not named"
        fix = "Let them add up to 1, or leave a level out, which then gets the rest."
        raise bad("share", rule, amounts.shown(taken), fix if all_held else "Let them add up to less than 1.")
    return held


def _widest(measured: Measurement) -> int:
    """A number that no noise of the measurement exceeds."""
    return 1 + int(_FAR * max(one.variance for level in measured.mechanisms for one in level) ** 0.5)


def _require_room(measured: Measurement, epsilon: Fraction, total: int | None, method: str) -> None:
    """Refuses what 64 bits could not hold the sums of, which the fit would find only after the charge."""
    most = 2**60 // (choice.SCALE * max(len(measured.tree), measured.columns[-1].stop))
    most = min(most, choice.FAR.get(method, most))
    if _widest(measured) >= most:
        raise bad(
            "epsilon", "is too small for all places of this release", amounts.shown(epsilon), "Give a larger epsilon."
        )
    if total is not None and total > most:
        fix = "Leave it out: the top is then measured like every other place."
        raise bad("total", f"must be at most {most} over so many places", total, fix)


def _shared(levels: Sequence[Fraction], marginals: Sequence[Marginal]) -> list[list[Fraction]]:
    """Each level's share, evenly over its marginals."""
    return [[share / len(marginals)] * len(marginals) for share in levels]


def _require_enough(design: Design, every: Sequence[Sequence[Fraction]], epsilon: Fraction) -> None:
    least = max(amounts.MIN_EPSILON, design.level.l1 / amounts.MAX_SCALE) / min(min(each) for each in every)
    if epsilon < least:
        fix = f"Give at least {amounts.shown(Fraction(amounts.rounded_up(least, 3)))}, or larger shares."
        raise bad("epsilon", "is too small for all levels of this release", amounts.shown(epsilon), fix)


def _error(measured: Measurement) -> float:
    """Σ variance of all numbers measured."""
    sizes = np.diff(measured.tree.first)
    return float(
        sum(
            size * sum(one.variance * seen.size for one, seen in zip(level, measured.marginals, strict=True))
            for size, level in zip(sizes, measured.mechanisms, strict=True)
        )
    )
