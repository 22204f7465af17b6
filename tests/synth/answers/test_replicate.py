"""Replicates: the noise of every measurement, redrawn by its own law, and nothing read or charged for it."""

import math
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BadValue, NotAnswerable
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.public import generator
from discreet.query.tags import TAGS
from discreet.rehearsal.synthetic import RehearsedSyntheticTable
from discreet.synth.answers import replicate
from discreet.synth.answers.redrawn import fitted_marginal, generator_of, noise_of, redrawn_parts
from discreet.synth.answers.replicate import replicate_build, replicate_tables
from discreet.synth.answers.smoothing import residuals_of, rough_shares, with_residuals, with_rough_columns
from discreet.synth.measured.noisy import groups_of
from synth.answers.built import ZEROS, built
from synth.folk import rows_of, written

Z = 4.9  # beyond: less than 10⁻⁶ of a normal law, both sides


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return built(tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return built(tmp_path_factory.mktemp("several"), max_rows=3, count=300)


def test_replicates_follow_from_the_released_numbers(table):
    first, second = table.replicates(3), table.replicates(3)
    assert all(own.equals(other) for own, other in zip(first, second, strict=True))
    anew = replicate_build(table.build, 1)
    assert all(
        np.array_equal(own, other)
        for own, other in zip(anew.codes.columns, replicate_tables(table, 2)[1].codes.columns, strict=True)
    )


def test_more_replicates_begin_with_the_same_ones_and_differ_from_each_other(table):
    frames = table.replicates(4)
    assert [frame.equals(other) for frame, other in zip(frames, table.replicates(2), strict=False)] == [True, True]
    assert not any(frame.equals(table.to_pandas()) for frame in frames)
    assert not frames[0].equals(frames[1])
    assert {tuple(frame.columns) for frame in frames} == {table.columns}


@pytest.mark.parametrize("count", [1, 0, -2, 1001, True, 2.5, "20", None, float("nan")], ids=repr)
def test_a_count_outside_of_2_to_1000_is_refused(table, count):
    with pytest.raises(BadValue, match="count must be a whole number between 2 and 1000"):
        table.replicates(count)


def test_replicates_of_more_units_than_are_drawn_are_refused(table, monkeypatch):
    monkeypatch.setattr(replicate, "MOST_UNITS", table.build.synthesis.rows - 1)
    for asked in (lambda: table.replicates(2), lambda: table.answer("SELECT AVG(pay) AS x FROM people")):
        with pytest.raises(NotAnswerable, match="at most"):
            asked()


def test_replicates_charge_nothing(tmp_path):
    with dp.open(written(tmp_path)) as people:
        table = people.synthesize().build(epsilon=2)
        table.replicates(2)
        assert people.budget.spent.epsilon == 2
        assert people.budget.charges == 1


def test_groups_pairs_and_scores_stay_as_they_were(table):
    build = table.build
    other = replicate_build(build, 0)
    assert [part.tally for part in other.parts] == [part.tally for part in build.parts]
    assert [part.law for part in other.parts] == [part.law for part in build.parts]
    by_name = {part.tally["name"]: part.values for part in other.parts}
    own = {part.tally["name"]: part.values for part in build.parts}
    assert {name: np.array_equal(values, own[name]) for name, values in by_name.items()} == {
        name: name == "scores" for name in own
    }


@pytest.mark.parametrize("delta", ["1e-7", "0"], ids=["gaussian", "laplace"])
def test_redrawn_noise_has_the_law_of_the_step_around_what_was_fitted(tmp_path, delta):
    """200 replicates, false alarms ≤ 10⁻⁶: mean and variance of the noise of every part by normal bounds."""
    with dp.open(written(tmp_path)) as people:
        build = people.synthesize(columns=["sex", "region", "ill"]).build(epsilon=4, delta=delta).build
    centre = with_rough_columns(build.synthesis)
    drawn = [redrawn_parts(centre, build.parts, generator_of(build.parts, index)) for index in range(200)]
    for place, part in enumerate(build.parts):
        if part.tally["name"] == "scores":
            continue
        groups = groups_of(part)
        expected = np.concatenate(
            [
                weight * centre.singles.total * fitted_marginal(centre, clique, groups).ravel()
                for clique, weight in zip(part.tally["cliques"], part.tally["weights"], strict=True)
            ]
        )
        noise = np.array([parts[place].values - np.rint(expected) for parts in drawn]).ravel()
        variance = TAGS.value(part.law).variance
        assert abs(noise.mean()) <= Z * math.sqrt(variance / len(noise))
        fourth = 3 if delta != "0" else 6  # E X⁴ over σ⁴
        assert abs(noise.var() / variance - 1) <= Z * math.sqrt((fourth - 1) / len(noise)) * 1.5


@pytest.mark.parametrize("scale", [1, 7])
def test_integer_laplace_noise_has_its_exact_law(scale):
    """20,000 draws, false alarm ≤ 10⁻⁶: the share of each of 9 values within 5.3 standard errors."""
    law, draws = DiscreteLaplace(Fraction(scale)), 20_000
    noise = noise_of(law, draws, generator(3))
    for value in range(-4, 5):
        chance = float(law.mass(value).mid())
        assert abs((noise == value).mean() - chance) <= 5.3 * math.sqrt(chance * (1 - chance) / draws)


def test_a_noise_of_another_kind_is_no_noise_of_a_synthesis():
    with pytest.raises(TypeError, match="no noise of a synthesis"):
        noise_of(object(), 3, generator(1))


def test_the_rows_of_replicates_are_as_many_as_other_noise_says(table, tmp_path):
    assert len({len(frame) for frame in table.replicates(6)}) > 1
    public = built(tmp_path, rows=500)
    assert {len(frame) for frame in public.replicates(3)} == {500}


def test_replicates_of_persons_with_several_rows_are_persons(shared):
    for frame in shared.replicates(3):
        assert list(frame.columns) == ["who", "sex", "region", "age", "pay", "ill"]
        persons = frame.groupby("who")
        assert persons["sex"].nunique(dropna=False).max() == 1
        assert 1 <= persons.size().min() <= persons.size().max() <= 3


def test_what_is_impossible_stays_so_in_replicates(tmp_path):
    table = built(tmp_path, zeros=ZEROS)
    for frame in table.replicates(4):
        assert not ((frame["region"] == "north") & frame["ill"].fillna(False).astype(bool)).any()


def test_replicates_of_a_rehearsal_are_stamped(tmp_path):
    table = built(tmp_path, rehearsal=True)
    assert all(isinstance(other, RehearsedSyntheticTable) for other in replicate_tables(table, 2))
    assert all((frame["rehearsal"] == "invented").all() for frame in table.replicates(2))


def test_independent_columns_have_replicates_too(tmp_path):
    table = built(tmp_path, method="independent")
    first, second = table.replicates(2)
    assert not first.equals(second)
    assert abs(first["ill"].mean() - table.to_pandas()["ill"].mean()) < 0.2


def test_noise_is_drawn_around_cells_as_they_were_measured(table):
    """Within each group of the fit cells are in the proportion of the noisy counts, not of the smoothed ones."""
    synthesis = table.build.synthesis
    centre = with_rough_columns(synthesis)
    cells = [np.arange(size) for size in table.build.plan.subject.sizes]
    for feature, shares in enumerate(rough_shares(synthesis.singles)):
        own = fitted_marginal(centre, (feature,), cells)
        assert own.sum() == pytest.approx(1)
        for group in np.unique(synthesis.groups[feature]):
            members = synthesis.groups[feature] == group
            if shares[members].sum() > 0:
                expected = own[members].sum() * shares[members] / shares[members].sum()
                assert own[members] == pytest.approx(expected, abs=1e-9)


def test_what_smoothing_took_comes_back_with_both_signs(table):
    """Where nothing was smoothed the residual is 0; else each cell's sign is drawn."""
    synthesis = table.build.synthesis
    residuals = residuals_of(synthesis.singles)
    assert all(np.allclose(own, 0) for own in (residuals[0], residuals[1], residuals[4]))  # in no order
    largest = max(float(np.abs(own).max()) for own in residuals)
    added = (0.01, *(np.zeros_like(own) for own in residuals[1:]))
    signed = [
        with_residuals(synthesis, (np.full(3, 0.01), *added[1:]), generator(seed)).singles.shares[0]
        for seed in range(20)
    ]
    assert len({tuple(np.round(own, 6)) for own in signed}) > 2
    assert all(own.sum() == pytest.approx(1) and own.min() >= 0 for own in signed)
    assert largest >= 0


def test_a_table_of_few_persons_has_replicates(tmp_path):
    toml = written(tmp_path, rows_of(3))
    with dp.open(toml) as people:
        table = people.synthesize().build(epsilon="0.1")
    assert all(len(frame) >= 1 for frame in table.replicates(2))
