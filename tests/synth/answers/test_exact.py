"""Measured counts: sums of noise within their radius, and counts only of cells that are whole."""

import math
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.public import generator
from discreet.synth.answers.exact import exact_count, radius_of_sum
from discreet.synth.answers.redrawn import noise_of
from discreet.synth.build import Build
from synth.answers.built import built
from synth.folk import rows_of, written

LEVEL = Fraction(95, 100)
RUNS = 2000
Z = 4.9  # beyond: less than 10⁻⁶


def least_covered(runs):
    """The least share of so many intervals that an honest 95 % covers, but for 10⁻⁶."""
    return 0.95 - Z * math.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize(
    "law", [RoundedGaussian(Fraction(900)), DiscreteLaplace(Fraction(900))], ids=["gauss", "laplace"]
)
@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_a_radius_holds_the_sum_of_so_many_noises_and_is_not_wide(law, count):
    """20,000 sums: covered at 95 %, and at most 96 %, each but for 10⁻⁶."""
    sums = noise_of(law, 20_000 * count, generator(count)).reshape(-1, count).sum(axis=1)
    covered = (np.abs(sums) <= radius_of_sum(law, count, LEVEL)).mean()
    assert least_covered(20_000) <= covered <= 0.96 + Z * math.sqrt(0.96 * 0.04 / 20_000)


@pytest.mark.parametrize("scale", [10**5, 10**7])
def test_wide_noise_is_convolved_in_wider_steps(scale):
    """A sum of n Laplace noises of scale b: radius_of_sum grows in proportion to b."""
    narrow, wide = (radius_of_sum(DiscreteLaplace(Fraction(b)), 5, LEVEL) / b for b in (1000, scale))
    assert wide == pytest.approx(narrow, rel=0.02)


def test_one_laplace_noise_has_its_own_radius():
    law = DiscreteLaplace(Fraction(100))
    assert radius_of_sum(law, 1, LEVEL) == law.radius(LEVEL)
    assert radius_of_sum(law, 0, LEVEL) == 0


def test_another_law_is_refused():
    with pytest.raises(TypeError, match="no noise of a synthesis"):
        radius_of_sum(object(), 2, LEVEL)


@pytest.mark.parametrize("delta", ["1e-7", "0"], ids=["gaussian", "laplace"])
@pytest.mark.parametrize("features", [(), (1,), (1, 4)], ids=["all", "region", "region and illness"])
def test_exact_counts_cover_the_true_ones(tmp_path, delta, features):
    """2,000 releases with noise drawn around the true counts: at least 95 % covered, but for 10⁻⁶."""
    count = 600
    with dp.open(written(tmp_path / "true", rows_of(count), budget="delta = 1e-6\n")) as people:
        build = people.synthesize().build(epsilon=20, delta=delta).build
    cells = {1: 0, 4: 0}  # north, and not ill: groups of their own
    masks = {}
    for feature in features:
        masks[feature] = np.zeros(build.plan.subject.sizes[feature], dtype=bool)
        masks[feature][cells[feature]] = True
    people = [row[1:] for row in rows_of(count)]
    true = sum(all({1: row[1] == "north", 4: not row[4]}[feature] for feature in features) for row in people)
    released = exact_count(build, masks, LEVEL)
    if len(features) == 2 and released is None:
        pytest.fail("the pair was not measured")
    errors = released_errors(build, masks, true)
    assert (np.abs(errors[:, 0]) <= errors[:, 1]).mean() >= least_covered(RUNS)
    assert released.low <= released.value <= released.high


def released_errors(build, masks, true):
    """Errors of the measured count and its radius, with parts that hold `true` units in the chosen cells."""
    from discreet.query.tags import TAGS
    from discreet.synth.measured.noisy import groups_of, tables_of

    random, errors = generator(7), []
    exact_parts = []
    for part in build.parts:
        if part.tally["name"] == "scores":
            exact_parts.append(part.values)
            continue
        groups, steps = groups_of(part), []
        for table, weight in zip(tables_of(part), part.tally["weights"], strict=True):
            counts = np.zeros(table.counts.shape)
            place = tuple(
                int(groups[feature][np.flatnonzero(masks[feature])[0]]) if feature in masks else 0
                for feature in table.features
            )
            counts[place] = true
            steps.append(np.rint(counts * weight).ravel())
        exact_parts.append(np.concatenate(steps).astype(np.int64))
    for _ in range(RUNS):
        parts = tuple(
            type(part)(part.tally, part.law, own + noise_of(TAGS.value(part.law), len(own), random))
            for part, own in zip(build.parts, exact_parts, strict=True)
        )
        own = exact_count(Build(build.plan, parts, "", False), masks, LEVEL)
        errors.append((own.value - true, max(own.high - own.value, own.value - own.low)))
    return np.array(errors)


def test_a_pair_that_was_not_measured_has_no_exact_count(tmp_path):
    table = built(tmp_path, method="independent")
    masks = {0: np.array([True, False, False]), 1: np.array([True, False, False, False])}
    assert exact_count(table.build, masks, LEVEL) is None
    assert exact_count(table.build, {0: masks[0]}, LEVEL) is not None


def test_cells_that_share_a_group_are_not_counted_apart(tmp_path):
    table = built(tmp_path)
    part = next(part for part in table.build.parts if part.tally["name"] == "pairs")
    for clique in part.tally["cliques"]:
        groups = [np.array(part.tally["groups"][feature]) for feature in clique]
        masks = {feature: group == 0 for feature, group in zip(clique, groups, strict=True)}
        assert exact_count(table.build, masks, LEVEL) is not None
        for feature, group in zip(clique, groups, strict=True):
            shared = np.flatnonzero(np.bincount(group)[group] > 1)
            if len(shared):
                apart = np.arange(len(group)) == shared[0]
                assert exact_count(table.build, masks | {feature: apart}, LEVEL) is None
