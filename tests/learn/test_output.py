"""Output perturbation: how far one unit moves a minimum, what its noise covers, and mutants that are caught."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import discreet as dp
from discreet.errors import BadValue
from discreet.kernel.encode import Design
from discreet.learn.fit import fit_arrays
from discreet.learn.input.arrays import ArrayFacts, columns_of, subject_of_arrays
from discreet.learn.learner import REAL
from discreet.learn.price import Price, parse_price
from discreet.learn.risk import minimise
from discreet.learn.risk.last_step import on_lattice
from discreet.learn.risk.line_loss import CURVATURE
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.risk.minimise import minimum
from discreet.learn.risk.output import (
    COUNT_SHARE,
    GAP,
    lecture_sensitivity,
    minimiser_sensitivity,
    output_perturbation,
)
from discreet.noise.radial import Radial
from discreet.privacy.cost import Gaussian, Pure
from learn.minima import (
    ADDED,
    REPLACED,
    invented,
    limit,
    loss_of,
    neighbours,
    slopes,
    spec_of_numbers,
    table,
    true_minimum,
)
from replay import Seeded

LOSSES = list(CURVATURE)
NORM, RIDGE = 1.25, Fraction(20)


def reached_share(loss, relation, tables=120):
    """The largest distance of true minima of neighbours, as a share of the stated one."""
    random, largest = np.random.default_rng(5), 0.0
    for _ in range(tables):
        first, second = neighbours(random, loss, relation)
        steepest, ridge = (Fraction(1), Fraction(7, 10))[random.integers(2)], Fraction(int(random.integers(1, 60)), 10)
        ends = [true_minimum(*rows, loss, float(steepest), NORM, float(ridge)) for rows in (first, second)]
        stated = minimiser_sensitivity(steepest * Fraction(NORM), ridge, relation)
        largest = max(largest, float(np.linalg.norm(ends[0] - ends[1])) / float(stated))
    return largest


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_unit_moves_a_minimum_further_than_stated(loss, relation):
    assert 0.6 < reached_share(loss, relation) <= 1 + 1e-12


def test_the_stated_distance_is_reached_by_a_steep_row_alone():
    """The slope of a row that is far on the wrong side is 1: only the ridge holds it."""
    moved = true_minimum(np.array([[1.0, 1.0]]), [1], "hinge", 1.0, NORM, 100.0)
    assert np.linalg.norm(moved) * 100 / NORM == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("newton_steps", [50, 0])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_is_reached_on_every_table_by_newton_and_without_it(loss, newton_steps):
    random, spec = np.random.default_rng(7), spec_of_numbers(2, loss, "1.25")
    for size in (0, 1, 5, 40):
        problem = spec.problem(table(*invented(random, size, 2, loss), loss), loss_of(loss, "0.7"), Fraction(1, 10))
        point = minimum(problem, 1e-7, newton_steps)
        assert np.linalg.norm(problem.gradient(point)) <= 1e-7


@pytest.mark.parametrize("loss", LOSSES)
def test_a_minimum_equals_its_slow_twin(loss):
    random, spec = np.random.default_rng(8), spec_of_numbers(2, loss, "1.25")
    for _ in range(10):
        x, y = invented(random, 9, 2, loss)
        fast = minimum(spec.problem(table(x, y, loss), loss_of(loss), RIDGE), 1e-9)
        assert np.abs(fast - true_minimum(x, y, loss, 1.0, NORM, 20.0)).max() < 1e-8


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_and_curvatures_are_those_of_the_textbook(loss):
    lines, answers = np.linspace(-9, 9, 401), np.where(np.arange(401) % 3 == 0, 1.0, -1.0)
    for fast, slow in zip(loss_of(loss, "0.7").slopes(lines, answers), slopes(loss, lines, answers, 0.7), strict=True):
        assert np.abs(fast - slow).max() < 1e-14


# --- the mechanism ---------------------------------------------------------------------------------------------------


def is_covered(spec, loss, relation, stated, find=minimum, tables=60, seed=3):
    """Whether rounded minima of neighbours lie within the stated distance, in steps."""
    random = np.random.default_rng(seed)
    gap = float(loss.steepest * spec.norm * GAP)
    for _ in range(tables):
        points = []
        for x, y in neighbours(random, loss.name, relation):
            problem = spec.problem(table(x, y, loss.name), loss, RIDGE)
            points.append(on_lattice(find(problem, gap), stated.step).astype(float))
        if float(np.linalg.norm(points[0] - points[1])) > float(stated.last.sensitivity.l2_squared) ** 0.5:
            return False
    return True


def mechanism_of(relation, loss="hinge", norm="1.25"):
    spec, own = spec_of_numbers(2, loss, norm), loss_of(loss)
    return spec, own, output_perturbation(spec, own, RIDGE, limit(relation), parse_price(1, "1e-5"))


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
def test_noise_covers_what_leaves_the_solver(relation):
    spec, loss, stated = mechanism_of(relation)
    assert is_covered(spec, loss, relation, stated)


def test_a_mechanism_of_the_wrong_relation_is_caught():
    spec, loss, stated = mechanism_of(ADDED)
    assert not is_covered(spec, loss, REPLACED, stated)
    assert not stated.sensitivity.covers(limit(REPLACED))


def test_an_intercept_outside_the_norm_is_caught(monkeypatch):
    spec, loss, stated = mechanism_of(ADDED)
    right = Design.of

    def without_intercept(chunk, encoding, columns):
        design = right(chunk, encoding, columns)
        squares = (np.array([numbers for _, numbers in design.numbers]) ** 2).sum(axis=0)
        return replace(design, clipping=np.minimum(1.0, encoding.norm / np.sqrt(np.maximum(squares, 1.0))))

    monkeypatch.setattr(Design, "of", without_intercept)
    assert not is_covered(spec, loss, ADDED, stated)


def test_an_unpaid_gap_is_caught():
    """A solver that stops at any point within a gap of G/2 needs 2g/Λ more."""
    random, gap = np.random.default_rng(2), 0.5 * NORM
    largest = 0.0
    for _ in range(100):
        first, second = neighbours(random, "hinge", ADDED)
        ends = [true_minimum(*rows, "hinge", 1.0, NORM, 5.0) for rows in (first, second)]
        apart = ends[0] - ends[1]
        if np.linalg.norm(apart) > 0:  # a quadratic with curvature Λ: a gradient of length g is g/Λ away
            largest = max(largest, float(np.linalg.norm(apart + 2 * gap / 5.0 * apart / np.linalg.norm(apart))))
    moved = float(minimiser_sensitivity(Fraction(NORM), Fraction(5), ADDED))
    assert moved < largest <= moved + 2 * gap / 5.0 + 1e-12


def test_a_solver_that_stops_early_is_caught():
    spec, loss, stated = mechanism_of(ADDED)

    def early(problem, gap):
        return -2 * problem.gradient(np.zeros(3)) / float(RIDGE)

    assert not is_covered(spec, loss, ADDED, stated, find=early)


def test_a_sum_divided_by_the_realised_number_of_rows_is_caught():
    """With Λ = λn for the n that there is, a unit moves the ridge as well, and G/Λ is not enough."""
    x, y, mean_ridge = np.zeros((3, 1)), np.array([1, 1, 0]), 100.0

    def moved(ridge, ridge_after):
        before = true_minimum(x[:2], y[:2], "hinge", 1.0, 1.0, ridge)
        return float(np.linalg.norm(before - true_minimum(x, y, "hinge", 1.0, 1.0, ridge_after)))

    assert moved(2 * mean_ridge, 3 * mean_ridge) > 1.9 / (3 * mean_ridge)
    assert moved(2 * mean_ridge, 2 * mean_ridge) <= 1 / (2 * mean_ridge) + 1e-12


def test_rows_are_clipped_with_their_intercept():
    random, spec = np.random.default_rng(1), spec_of_numbers(3, "logistic", "1.5")
    problem = spec.problem(table(*invented(random, 200, 3, "logistic"), "logistic"), loss_of("logistic"), RIDGE)
    lengths = np.concatenate([np.sqrt((rows**2).sum(axis=1)) for _, rows in problem._blocks()])
    assert 1.49 < lengths.max() <= 1.5


def test_rows_of_one_unit_count_as_one():
    spec = spec_of_numbers(2, "hinge", "1.25", rows=3)
    x, y = invented(np.random.default_rng(4), 6, 2, "hinge")
    problem = spec.problem(table(x, y, "hinge", starts=[0, 5]), loss_of("hinge"), RIDGE)
    assert (problem.weights[:3] > 0.33).all()
    assert problem.weights[:5].sum() <= 1
    assert problem.weights[3:5].tolist() == [0, 0]


def test_matrices_that_are_not_held_give_the_same_minimum(monkeypatch):
    spec, rows = spec_of_numbers(2, "logistic", 2), table(*invented(np.random.default_rng(4), 50, 2, "x"), "x")
    held = minimum(spec.problem(rows, loss_of("logistic"), RIDGE), 1e-8)
    monkeypatch.setattr(minimise, "_HELD", 0)
    monkeypatch.setattr(minimise, "_BLOCK", 7)
    assert np.abs(minimum(spec.problem(rows, loss_of("logistic"), RIDGE), 1e-8) - held).max() < 1e-7


def test_a_singular_hessian_is_no_failure(monkeypatch):
    """Newton's steps end where one cannot be computed, and descent goes on: no table fails where another does not."""
    spec, rows = spec_of_numbers(2, "logistic", 2), table(*invented(np.random.default_rng(4), 50, 2, "x"), "x")
    problem = spec.problem(rows, loss_of("logistic"), RIDGE)
    sound = minimum(problem, 1e-8)

    def singular(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "solve", singular)
    assert np.abs(minimum(problem, 1e-8) - sound).max() < 1e-7


@pytest.mark.parametrize("solver", ["output", "objective"])
def test_a_ridge_that_some_tables_could_not_be_solved_with_is_refused(solver):
    model = dp.learn.LogisticRegression(epsilon=60, solver=solver, alpha="1e-17", bounds=(0, 1), classes=[0, 1])
    with pytest.raises(BadValue, match="alpha must be at least"):
        model.fit(np.ones((5, 1)), [0, 1, 0, 1, 0])


# --- prices ----------------------------------------------------------------------------------------------------------


def test_the_noise_is_that_of_the_gaussian_mechanism():
    _, _, mechanism = mechanism_of(ADDED)
    deviation = mechanism.last.variance**0.5 * float(mechanism.step)
    assert deviation == pytest.approx(3.7306 * NORM / 20, rel=1e-3)
    assert isinstance(mechanism.cost, Gaussian)
    assert 3.7306 < float(mechanism.cost.sigma) < 3.7307


def test_the_lectures_bound_wastes_two_to_four_times_the_noise():
    right = [minimiser_sensitivity(Fraction(1), Fraction(10), relation) for relation in (ADDED, REPLACED)]
    assert [lecture_sensitivity(Fraction(1), Fraction(10)) / own for own in right] == [4, 2]


def test_pure_noise_has_the_whole_epsilon():
    spec = spec_of_numbers(2, "hinge", "1.25")
    mechanism = output_perturbation(spec, loss_of("hinge"), RIDGE, limit(ADDED), parse_price(1))
    assert mechanism.cost == Pure(1)
    assert mechanism.noise.scale == Fraction("1.25") / RIDGE / Fraction(63, 64)
    assert mechanism.last.cost == Pure(Fraction(1, 64))
    covered = 2 * (mechanism.gap / RIDGE + mechanism.noise.error) / mechanism.step
    assert mechanism.last.sensitivity.l1 >= covered
    assert mechanism.last.mean_abs * float(mechanism.step) < 1e-3 * float(mechanism.noise.scale)


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_radial_noise_has_a_gamma_norm_and_no_direction(dimension):
    law, source = Radial(dimension, Fraction(3)), Seeded(11)
    draws = np.array([law.draw(source) for _ in range(800)])
    assert stats.kstest(np.linalg.norm(draws, axis=1), stats.gamma(dimension, scale=3).cdf).pvalue > 1e-3
    assert stats.binomtest(int((draws[:, 0] > 0).sum()), 800).pvalue > 1e-3
    if dimension == 2:
        angle = np.arctan2(draws[:, 1], draws[:, 0])
        assert stats.kstest(angle, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-3


# --- fits ------------------------------------------------------------------------------------------------------------


def people(size, relation="add-remove", classes=("no", "yes")):
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, (size, 3))
    y = np.array(classes, dtype=object)[(x[:, 0] + random.normal(size=size) > 5).astype(int)]
    facts = ArrayFacts(bounds=(0, 10), classes=classes, relation=relation)
    return subject_of_arrays(columns_of(x), y, None, facts), x, y


@pytest.mark.parametrize("delta", [None, "1e-5"])
def test_a_fit_learns_and_states_its_promise(delta):
    (subject, view), x, y = people(3000)
    fit = fit_arrays(LinearLearner(solver="output"), subject, parse_price(2, delta), view)
    predicted = fit.model.scores(subject.encoded(columns_of(x)))[:, 1] > 0.5
    assert ((y == "yes") == predicted).mean() > 0.8
    assert fit.privacy.arithmetic == REAL
    assert fit.privacy.epsilon == 2
    rebuilt = LinearLearner(solver="output").plan(subject, fit.plan.price).model(fit.released)
    assert (rebuilt.lines == fit.model.lines).all()


def test_an_empty_table_gives_weights_too():
    (subject, view), _, _ = people(0)
    for delta in (None, "1e-5"):
        fit = fit_arrays(LinearLearner(solver="output"), subject, parse_price(1, delta), view)
        assert fit.released["weights"].shape == (4,)


def test_units_are_counted_and_not_their_rows():
    units = np.repeat(np.arange(500), 3)
    x, y = np.linspace(0, 1, len(units))[:, None], units % 2
    facts = ArrayFacts(bounds=(0, 1), classes=[0, 1], max_rows=3)
    subject, view = subject_of_arrays(columns_of(x), y, units, facts)
    fit = fit_arrays(LinearLearner(solver="output"), subject, parse_price(10**4), view)
    assert 499 <= fit.released["rows"][0] <= 501


def test_replace_one_needs_a_public_number_of_rows():
    (subject, view), _, _ = people(100, "replace-one")
    with pytest.raises(BadValue, match="rows must be given under replace-one"):
        LinearLearner(solver="output").plan(subject, parse_price(1, "1e-5"))
    fit = fit_arrays(LinearLearner(solver="output", rows=100), subject, parse_price(1, "1e-5"), view)
    assert fit.plan.mechanism({}).last.sensitivity.l2_squared > 0


def test_three_classes_are_refused():
    (subject, _), _, _ = people(30, classes=("a", "b", "c"))
    with pytest.raises(BadValue, match="two classes"):
        LinearLearner(solver="output").plan(subject, parse_price(1, "1e-5"))


def test_every_step_is_built_before_the_charge(monkeypatch):
    """Too small a price for the count is refused by the plan, as is one for the weights."""
    x, y = np.zeros((3, 2)), np.array([0, 1, 1])
    subject, _ = subject_of_arrays(columns_of(x), y, None, ArrayFacts(bounds=(-1, 1), classes=(0, 1)))
    built, real = [], Price.mechanism
    monkeypatch.setattr(Price, "mechanism", lambda *given: built.append(given[2]) or real(*given))
    LinearLearner(solver="output").plan(subject, parse_price(1))
    assert built == [COUNT_SHARE]
    LinearLearner(solver="output", rows=3).plan(subject, parse_price(1))
    assert built == [COUNT_SHARE]
    for delta in (None, "1e-9"):
        with pytest.raises(BadValue):
            LinearLearner(solver="output").plan(subject, parse_price("1e-12", delta))
