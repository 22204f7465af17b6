"""Objective perturbation: its δ by quadrature, its golden noise, what its last step covers, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.bounded import RowLimit
from discreet.errors import BadValue
from discreet.learn.fit import fit_arrays
from discreet.learn.input.arrays import ArrayFacts, columns_of, subject_of_arrays
from discreet.learn.learner import REAL
from discreet.learn.price import parse_price
from discreet.learn.risk import objective
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.risk.objective import (
    GaussianTilt,
    objective_perturbation,
    shift,
    tilt_sigma,
)
from discreet.learn.risk.output import GAP
from discreet.privacy.cost import Approx, Pure
from learn.hockey import divergences
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

CASES = [("logistic", 1), ("logistic", "0.7"), ("hinge", 1), ("hinge", "0.6")]
DELTA = Fraction(1, 10**5)


def curve(epsilon, mu):
    """The Gaussian mechanism's δ at ε."""
    return ndtr(-epsilon / mu + mu / 2) - np.exp(epsilon) * ndtr(-epsilon / mu - mu / 2)


def invented_rows(random, size):
    return [(random.uniform(-1, 1), random.choice([-1.0, 1.0])) for _ in range(size)]


def steep_row(random):
    return (random.choice([-1.0, 1.0]) * (1 if random.random() < 0.7 else random.random()), random.choice([-1.0, 1.0]))


@pytest.mark.parametrize(("name", "steepest"), CASES)
def test_delta_is_never_above_the_stated_curve(name, steepest):
    random, loss = np.random.default_rng(11), loss_of(name, steepest)
    slope, largest = float(loss.steepest), [0.0, 0.0]
    for _ in range(25):
        ridge, sigma = np.exp(random.uniform(np.log(0.2), np.log(30))), np.exp(random.uniform(np.log(0.3), np.log(10)))
        least = float(shift(loss, Fraction(1), Fraction(ridge), Fraction(1, 10**6), limit(ADDED), 1))
        epsilon = least + np.exp(random.uniform(np.log(0.05), np.log(2)))
        own = float(shift(loss, Fraction(1), Fraction(ridge), Fraction(epsilon), limit(ADDED), 1))
        rows = invented_rows(random, int(random.integers(0, 6)))
        added, removed = divergences([*rows, steep_row(random)], rows, name, slope, ridge, sigma, epsilon)
        stated = curve(epsilon - own, slope / sigma), curve(epsilon, slope / sigma)
        assert added <= stated[0] + 1e-11
        assert removed <= stated[1] + 1e-11
        if min(stated) > 1e-6:
            largest = [max(largest[0], added / stated[0]), max(largest[1], removed / stated[1])]
    assert largest[1] > 0.95  # removal is reached: no smaller noise is enough
    assert largest[0] > 0.3


def test_replaced_rows_stay_below_their_curve():
    random, largest = np.random.default_rng(3), 0.0
    for name, steepest in CASES:
        loss = loss_of(name, steepest)
        slope = float(loss.steepest)
        for _ in range(12):
            ridge, sigma = np.exp(random.uniform(np.log(0.5), np.log(30))), np.exp(random.uniform(0, np.log(10)))
            own = float(shift(loss, Fraction(1), Fraction(ridge), Fraction(1), limit(REPLACED), 1))
            epsilon, rows = own + random.uniform(0.05, 1), invented_rows(random, int(random.integers(0, 5)))
            ends = [[*rows, (1.0, 1.0)], [*rows, (1.0, -1.0)]]
            stated = curve(epsilon - own, 2 * slope / sigma) + 2 * curve(epsilon - own, slope / sigma)
            reached = max(divergences(*ends, name, slope, ridge, sigma, epsilon))
            assert reached <= stated + 1e-11
            largest = max(largest, reached / stated)
    assert largest > 0.5


@pytest.mark.parametrize("steepest", [1, "0.7"])
def test_a_gentle_logistic_risk_needs_no_more_than_its_small_shift(steepest):
    """At the edge Λ = G²/ε of the third theorem, and past it with a ridge 20 times too small."""
    random, loss, exceeded = np.random.default_rng(5), loss_of("logistic", steepest), 0
    slope = float(loss.steepest)
    for _ in range(25):
        epsilon, sigma = (
            np.exp(random.uniform(np.log(0.05), np.log(3))),
            np.exp(random.uniform(np.log(0.4), np.log(20))),
        )
        ridge = Fraction(slope**2 / epsilon) * (1 + Fraction(1, 10**9))
        own = float(shift(loss, Fraction(1), ridge, Fraction(epsilon), limit(ADDED), 1))
        assert own == pytest.approx(min(slope * (1 - slope) / float(ridge), np.log1p(0.25 / float(ridge))))
        stated = curve(epsilon - own, slope / sigma)
        rows = invented_rows(random, int(random.integers(0, 6)))
        reached = divergences([*rows, steep_row(random)], rows, "logistic", slope, float(ridge), sigma, epsilon)
        assert max(reached) <= stated + 1e-11
        exceeded += max(divergences([(1.0, 1.0)], [], "logistic", slope, float(ridge) / 20, sigma, epsilon)) > stated
    assert exceeded > 3


def test_a_ridge_below_the_condition_pays_the_whole_shift():
    loss, ridge = loss_of("logistic"), Fraction(1, 2)
    assert shift(loss, Fraction(1), ridge, Fraction(1), limit(ADDED), 1) == pytest.approx(np.log1p(0.5))
    assert shift(loss, Fraction(1), Fraction(1), Fraction(1), limit(ADDED), 1) == 0
    assert shift(loss, Fraction(1), Fraction(1), Fraction(1), limit(REPLACED), 1) > 0
    assert shift(loss_of("hinge"), Fraction(1), Fraction(1), Fraction(1), limit(ADDED), 1) > 0


def test_a_slope_of_two_signs_has_twice_the_delta_and_is_refused():
    _, removed = divergences([(1.0, 0.0)], [], "huber", 1.0, 0.01, 3.0, 0.1)
    assert removed == pytest.approx(0.18580, abs=1e-5)
    assert curve(0.1, 1 / 3) == pytest.approx(0.09290, abs=1e-5)
    with pytest.raises(BadValue, match="logistic or hinge"):
        objective_perturbation(
            spec_of_numbers(1, "huber", 1), loss_of("huber"), Fraction(9), limit(ADDED), parse_price(1, "1e-5")
        )


def test_a_risk_without_a_ridge_has_no_finite_noise():
    """The lecture's minimum of Σ loss + b·w: with one row it is finite for 0 < b < 1, and without one for no b.

    So δ is P[0 < b < 1] at every ε, .08 for the lecture's noise at ε = 1, and no noise in use makes it small.
    """
    sigma = np.sqrt(2 * np.log(1.25e5))
    finite = ndtr(1 / sigma) - 0.5
    assert finite > 0.08
    with_ridge = [divergences([(1.0, 1.0)], [], "logistic", 1.0, ridge, sigma, 1.0)[0] for ridge in (1e-3, 1.0)]
    assert with_ridge[0] == pytest.approx(finite, rel=0.2)
    assert with_ridge[1] < 1e-5


# --- more than one dimension -----------------------------------------------------------------------------------------


def lines_and_bends(x, answers, name, steepest, ridge, point):
    """b_D(w) and A_D(w) of rows, by their formulas."""
    slope, bend = slopes(name, x @ point, answers, steepest)
    return -(x.T @ slope + ridge * point), (x.T * bend.astype(float)) @ x + ridge * np.eye(len(point))


def losses(random, name, steepest, ridge, log_density, columns=3):
    """ln p_D'/p_D at some w, with D' = D and a row more, and c = b_D'(w) along that row's slope."""
    size = int(random.integers(1, 6))
    x = random.normal(size=(size, columns))
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)
    x[-1] /= np.linalg.norm(x[-1])
    answers = random.choice([-1.0, 1.0], size)
    point = random.normal(size=columns) * random.choice([0.1, 1.0, 5.0])
    point += x[-1] * random.choice([0.0, 3.0, -3.0, 20.0, -20.0])
    (line, bend), (line_before, bend_before) = (
        lines_and_bends(x[:end], answers[:end], name, steepest, ridge, point) for end in (size, size - 1)
    )
    log_bends = np.linalg.slogdet(bend)[1] - np.linalg.slogdet(bend_before)[1]
    return log_density(line) - log_density(line_before) + log_bends, float(-answers[-1] * x[-1] @ line)


@pytest.mark.parametrize(("name", "steepest"), CASES)
def test_no_point_tells_a_row_by_more_than_the_pure_price(name, steepest):
    random, loss, largest = np.random.default_rng(1), loss_of(name, steepest), 0.0
    slope = float(loss.steepest)
    for _ in range(80):
        epsilon, ridge = random.uniform(0.3, 2), random.uniform(0.3, 8)
        own = float(shift(loss, Fraction(1), Fraction(ridge), Fraction(epsilon), limit(ADDED), 1))
        left = epsilon - own
        for _ in range(20 if left > 0.05 else 0):
            told, _ = losses(random, name, slope, ridge, lambda line, scale=slope / left: -np.linalg.norm(line) / scale)
            assert -left - 1e-9 <= told <= epsilon + 1e-9
            largest = max(largest, -told / left)
    assert largest > 0.99  # removal is reached


@pytest.mark.parametrize(("name", "steepest"), CASES)
def test_no_point_tells_a_row_by_more_than_its_gaussian_loss(name, steepest):
    """s + max(0, (Gτ + G²/2)/σ²) where a row is added, max(0, …) without s where it is removed."""
    random, loss = np.random.default_rng(2), loss_of(name, steepest)
    slope = float(loss.steepest)
    for _ in range(1000):
        sigma, ridge = random.uniform(0.3, 5), random.uniform(0.3, 8)
        largest_shift = np.log1p(float(loss.curvature) / ridge)
        told, along = losses(random, name, slope, ridge, lambda line, s=sigma: -(line @ line) / (2 * s * s))
        assert told <= largest_shift + max(0.0, (slope * along + slope**2 / 2) / sigma**2) + 1e-9
        before = along + slope  # c = b_D(w) lies up to G further along the slope
        assert -told <= max(0.0, (slope * max(-along, -before) + slope**2 / 2) / sigma**2) + 1e-9


# --- golden noise ----------------------------------------------------------------------------------------------------

GOLDEN = {  # Λ: σ at ε = .1, 1 and 10 for G = R = 1, by the first shift
    Fraction(1): (None, 4.6971, 0.5091),
    Fraction(5, 2): (471.89, 4.0872, 0.5038),
    Fraction(5): (56.532, 3.9046, 0.5019),
    Fraction(10): (39.823, 3.8166, 0.5009),
    Fraction(25): (33.836, 3.7648, 0.5003),
    Fraction(100): (31.468, 3.7391, 0.5000),
}


@pytest.mark.parametrize("ridge", GOLDEN)
def test_noise_is_that_of_the_table(ridge):
    for epsilon, golden in zip((Fraction(1, 10), Fraction(1), Fraction(10)), GOLDEN[ridge], strict=True):
        left = epsilon - shift(loss_of("logistic"), Fraction(1), ridge, Fraction(0), limit(ADDED), 1)
        if golden is None:
            assert left < 0
        else:
            assert float(tilt_sigma(left, DELTA, ADDED)) == pytest.approx(golden, rel=2e-4)


def test_a_gentle_logistic_risk_has_the_noise_of_the_gaussian_mechanism():
    for epsilon, ridge, sigma in (("0.1", 10, 30.7496), (1, 1, 3.7306), (10, 1, 0.4999)):
        own = shift(loss_of("logistic"), Fraction(1), Fraction(ridge), Fraction(epsilon), limit(ADDED), 1)
        assert own == 0
        assert float(tilt_sigma(Fraction(epsilon) - own, DELTA, ADDED)) == pytest.approx(sigma, rel=2e-4)


def test_replace_one_needs_little_more_than_twice_the_noise():
    ratio = tilt_sigma(Fraction(1), DELTA, REPLACED) / tilt_sigma(Fraction(1), DELTA, ADDED)
    assert 2 < ratio < 2.01


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize(("rows", "epsilon"), [(1, 1), (1, 10), (10, 5), (100, 15)])
def test_the_rule_of_the_ridge_leaves_four_fifths_of_epsilon(loss, rows, epsilon):
    units = np.repeat(np.arange(3), rows)
    x, y = np.linspace(0, 1, len(units))[:, None], units % 2
    subject, _ = subject_of_arrays(columns_of(x), y, units, ArrayFacts(bounds=(0, 1), classes=[0, 1], max_rows=rows))
    own = LinearLearner(loss, "objective").plan(subject, parse_price(epsilon)).mechanism
    spent = shift(own.loss, own.spec.norm, own.ridge, Fraction(epsilon), subject.limit, rows)
    assert spent <= Fraction(epsilon) * Fraction(2001, 10_000)


# --- the mechanism ---------------------------------------------------------------------------------------------------


def mechanism_of(delta, relation=ADDED, rows=1, alpha=20, name="logistic"):
    spec = spec_of_numbers(2, name, "1.25", rows)
    return objective_perturbation(spec, loss_of(name), Fraction(alpha), RowLimit(rows, relation), parse_price(1, delta))


class Fixed:
    """A tilt that a test chooses, off by its whole error."""

    def __init__(self, tilt, law, random):
        off = random.normal(size=len(tilt))
        self.tilt = tilt + off / np.linalg.norm(off) * float(law.error)

    def draw(self, source):
        return self.tilt


@pytest.mark.parametrize("delta", [None, "1e-5"])
def test_the_last_step_covers_the_gap_and_the_digits_of_the_line(delta):
    """For one w and each of two neighbours, the line b that leads to w is drawn to a digit, and w found to a gap."""
    mechanism, random = mechanism_of(delta), np.random.default_rng(6)
    for _ in range(20):
        target, ends = random.normal(size=3) / 10, []
        for x, y in neighbours(random, "logistic", ADDED):
            rows = table(x, y, "logistic")
            line = -mechanism.spec.problem(rows, mechanism.loss, mechanism.ridge).gradient(target)
            problem = mechanism.spec.problem(
                rows, mechanism.loss, mechanism.ridge, Fixed(line, mechanism.tilt, random).draw(None)
            )
            ends.append(objective.on_lattice(objective.minimum(problem, float(mechanism.gap)), mechanism.step))
        apart = float(np.linalg.norm((ends[0] - ends[1]).astype(float)))
        assert 0 < apart <= float(mechanism.last.sensitivity.l2_squared) ** 0.5


def test_the_released_weights_solve_the_tilted_risk():
    mechanism, random = mechanism_of("1e-5"), np.random.default_rng(9)
    x, y = invented(random, 12, 2, "logistic")
    whole = mechanism(table(x, y, "logistic"), Seeded(4))
    line = mechanism.tilt.draw(Seeded(4))
    right = true_minimum(x, y, "logistic", 1.0, 1.25, 20.0, line)
    noise = mechanism.last.variance**0.5 * float(mechanism.step)
    assert np.abs(whole * float(mechanism.step) - right).max() < 6 * noise
    assert noise < 1e-3 * float(mechanism.tilt.sigma) / 20


def test_costs_are_those_of_the_terms_and_no_more():
    mechanism = mechanism_of("1e-5")
    assert mechanism.cost == Approx(1, DELTA)
    assert mechanism_of(None).cost == Pure(1)
    assert mechanism_of(None).last.cost == Pure(Fraction(1, 64))
    kept = Fraction(63, 64)
    assert float(mechanism.tilt.sigma) == pytest.approx(1.25 * float(tilt_sigma(kept, DELTA * kept, ADDED)))
    assert mechanism.tilt.error <= Fraction(5, 4) * GAP


def test_pure_noise_pays_for_the_shift_and_for_the_relation():
    added, replaced = (mechanism_of(None, relation).tilt for relation in (ADDED, REPLACED))
    left = Fraction(63, 64) - Fraction(np.log1p(1.25**2 / 80))
    assert float(replaced.scale) == pytest.approx(2.5 / float(left))
    assert float(added.scale) == pytest.approx(1.25 / float(Fraction(63, 64)))  # a gentle logistic risk, no shift


def test_a_unit_of_several_rows_is_refused_with_delta_and_pays_a_larger_shift_without():
    with pytest.raises(BadValue, match="its proof is for rows"):
        mechanism_of("1e-5", rows=3)
    several, single = (shift(loss_of("hinge"), Fraction(1), Fraction(2), Fraction(1), limit(ADDED), k) for k in (3, 1))
    assert single < several < Fraction(1, 2)
    assert mechanism_of(None, rows=3, name="hinge").cost == Pure(1)


def test_a_ridge_that_would_cost_the_whole_epsilon_is_refused():
    with pytest.raises(BadValue, match="alpha must be larger"):
        mechanism_of(None, alpha=Fraction(1, 100), name="hinge")


def test_a_gaussian_line_is_drawn_to_a_stated_digit():
    law = GaussianTilt(2, Fraction(3), Fraction(1, 2**20))
    draws = np.array([law.draw(Seeded(seed)) for seed in range(200)])
    assert 2.6 < draws.std() < 3.4
    assert ((draws * 2**20) % 1 == 0).all()
    assert float(law.error) == pytest.approx(np.sqrt(2) / 2**21)


# --- fits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("delta", [None, "1e-5"])
def test_a_fit_learns_and_states_its_promise(delta, relation):
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, (3000, 3))
    y = np.array(["no", "yes"], dtype=object)[(x[:, 0] + random.normal(size=3000) > 5).astype(int)]
    facts = ArrayFacts(bounds=(0, 10), classes=("no", "yes"), relation=relation)
    subject, view = subject_of_arrays(columns_of(x), y, None, facts)
    fit = fit_arrays(LinearLearner(solver="objective"), subject, parse_price(1, delta), view)
    predicted = fit.model.scores(subject.encoded(columns_of(x)))[:, 1] > 0.5
    assert ((y == "yes") == predicted).mean() > 0.85
    assert fit.privacy.arithmetic == REAL
    assert fit.privacy.cost == (Pure(1) if delta is None else Approx(1, DELTA))
    rebuilt = LinearLearner(solver="objective").plan(subject, fit.plan.price).model(fit.released)
    assert (rebuilt.lines == fit.model.lines).all()
