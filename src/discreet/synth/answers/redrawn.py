"""Redraw the noise of every measurement around what was fitted: a parametric bootstrap of released numbers.

    y*_m = w_m·N·p_m + noise        p_m the fitted marginal, N the fitted number of units, w_m the steps a unit adds

The noise has the law that the step had, with the same σ or scale.  Which groups and pairs were measured stays as it was
chosen, and the scores, which only chose them, are not drawn again.  No row is read, so nothing is charged.
"""

import hashlib
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from discreet.envelope import Part
from discreet.ndarrays import Floats, Ints
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.public import Generator, generator
from discreet.query.tags import TAGS
from discreet.synth.children.present import present_share
from discreet.synth.drawn import seed_of
from discreet.synth.measured.noisy import groups_of
from discreet.synth.model.belief import marginal
from discreet.synth.model.synthesis import Synthesis

_CHOOSING = "scores"


def redrawn_parts(synthesis: Synthesis, parts: Sequence[Part], random: Generator) -> tuple[Part, ...]:
    """The parts as they could have been released."""
    return tuple(part if part.tally["name"] == _CHOOSING else _redrawn(synthesis, part, random) for part in parts)


def generator_of(parts: Sequence[Part], index: int) -> Generator:
    """The generator of the replicate with that index: it follows from both."""
    digest = hashlib.sha256(f"discreet synthetic replicate 1 {seed_of(parts)} {index}".encode()).digest()
    return generator(int.from_bytes(digest[:16], "big"))


def _redrawn(synthesis: Synthesis, part: Part, random: Generator) -> Part:
    total, groups = synthesis.singles.total, groups_of(part)
    expected = [
        weight * total * counted_marginal(synthesis, clique, groups).ravel()
        for clique, weight in zip(part.tally["cliques"], part.tally["weights"], strict=True)
    ]
    steps = np.rint(np.concatenate(expected)).astype(np.int64)
    return Part(part.tally, part.law, steps + noise_of(TAGS.value(part.law), len(steps), random))


def counted_marginal(synthesis: Synthesis, clique: Sequence[int], groups: Sequence[Ints]) -> Floats:
    """The fitted share of each combination as it was counted: of a second table among units with rows alone."""
    subject = synthesis.plan.subject
    if subject.presence is None or not subject.is_of_rows(clique):
        return fitted_marginal(synthesis, clique, groups)
    features = sorted({*clique, subject.presence})
    table = fitted_marginal(synthesis, features, groups)
    return present_share(subject, table, features, groups, keeps_presence=subject.presence in clique)


def fitted_marginal(synthesis: Synthesis, features: Sequence[int], groups: Sequence[Ints]) -> Floats:
    """The fitted share of each combination of groups of these features, where each group is of fine cells."""
    table = marginal(synthesis.fitted.tree, synthesis.fitted.beliefs, features)
    within = [_group_chances(synthesis, feature, groups[feature]) for feature in features]
    return reduce(lambda shares, own: np.tensordot(shares, own, axes=(0, 0)), within, table)


def _group_chances(synthesis: Synthesis, feature: int, group: Ints) -> Floats:
    """For each group of the fit the chance of each of the other groups."""
    chances = synthesis.within(feature)
    chances = chances / chances.sum(axis=1, keepdims=True)
    return np.stack([np.bincount(group, weights=row) for row in chances])


def noise_of(law: Any, count: int, random: Generator) -> Ints:
    """So much noise of that law from a public generator: nothing is protected by it."""
    match law:
        case RoundedGaussian():
            return np.rint(random.normal(0.0, float(law.sigma), count)).astype(np.int64)
        case DiscreteLaplace():
            chance = -np.expm1(-1 / float(law.scale))
            drawn: Ints = random.geometric(chance, count) - random.geometric(chance, count)
            return drawn.astype(np.int64)
        case _:
            raise TypeError(f"{type(law).__name__} is no noise of a synthesis")
