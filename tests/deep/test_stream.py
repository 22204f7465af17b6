"""Correlated noise: its sensitivity is that of the worst participation, and what runs is the factorisation."""

import itertools
import json
import math
from fractions import Fraction as F

import numpy as np
import pytest

from discreet.deep.accounting import toeplitz
from discreet.deep.accounting.stream import StreamPlan, stream_plan
from discreet.deep.accounting.stream_noise import StreamNoise, stream_lattice
from discreet.errors import BadValue, IntegrityError
from discreet.noise.source import SYSTEM
from discreet.privacy import price
from discreet.privacy.cost import Gaussian
from replay import Exhausted, Replay, Seeded

UNIT = {"sigma": 1, "delta": "1e-5"}


def exact_coefficients(bands):
    """The floats that run, as the Fractions that they are."""
    return [F(value) for value in toeplitz.coefficients(bands)]


def exact_mixing(bands, steps):
    """The first column of C by exact division of power series: the slow twin."""
    tail, column = exact_coefficients(bands)[1:], [F(1)]
    for t in range(1, steps):
        column.append(-sum((tail[j] * column[t - 1 - j] for j in range(min(t, len(tail)))), F(0)))
    return column


def matrix(column):
    size = len(column)
    return np.array([[float(column[t - s]) if t >= s else 0.0 for s in range(size)] for t in range(size)])


def worst_move(mixed, separation, times):
    """The largest Frobenius norm of C·Δ over all patterns of participation and all signs of unit contributions."""
    size, worst = len(mixed), 0.0
    for count in range(1, times + 1):
        for steps in itertools.combinations(range(size), count):
            if all(later - earlier >= separation for earlier, later in itertools.pairwise(steps)):
                for signs in itertools.product([1, -1], repeat=count - 1):
                    worst = max(worst, np.linalg.norm(mixed[:, list(steps)] @ np.array([1, *signs])))
    return worst


# --- the factorisation -----------------------------------------------------------------------------------------------


def test_coefficients_are_those_of_the_square_root():
    """Squared as a power series they give 1 − x, to the last bit of floats."""
    r = exact_coefficients(40)
    square = [sum((r[i] * r[j - i] for i in range(j + 1)), F(0)) for j in range(40)]
    assert abs(square[0] - 1) == 0
    assert abs(square[1] + 1) == 0
    assert max(abs(term) for term in square[2:]) < F(1, 2**52)
    assert toeplitz.coefficients(5)[4] == -5 / 128


def test_all_bands_give_the_central_binomials():
    column = toeplitz.mixing(60, 60)
    assert column == pytest.approx([math.comb(2 * t, t) / 4**t for t in range(60)], rel=1e-13)


@pytest.mark.parametrize(("bands", "steps"), [(1, 10), (2, 30), (3, 60), (7, 100), (60, 60)])
def test_entries_are_within_their_bound_and_never_rise(bands, steps):
    exact = exact_mixing(bands, steps)
    bound = toeplitz._mixing_error(bands, steps)
    for computed, entry in zip(toeplitz.mixing(bands, steps).tolist(), exact, strict=True):
        assert abs(F(computed) - entry) <= entry * bound
    assert all(later <= earlier for earlier, later in itertools.pairwise(exact))
    assert min(exact) >= 0


@pytest.mark.parametrize(
    ("bands", "steps", "separation", "times"), [(3, 8, 2, 3), (8, 8, 3, 2), (2, 9, 4, 3), (4, 7, 1, 3), (1, 6, 2, 3)]
)
def test_the_sensitivity_is_that_of_the_worst_participation(bands, steps, separation, times):
    """All patterns with gaps of `separation` or more, all signs: reached by the first, tightest pattern."""
    worst = worst_move(matrix(exact_mixing(bands, steps)), separation, times)
    computed = float(toeplitz.sensitivity(bands, steps, separation, times))
    assert worst <= computed <= worst * (1 + 1e-10)


def test_vectors_in_other_directions_move_it_less():
    generator = np.random.default_rng(3)
    mixed, bound = matrix(exact_mixing(4, 12)), float(toeplitz.sensitivity(4, 12, 4, 3))
    for _ in range(300):
        moves = np.zeros((12, 5))
        vectors = generator.normal(size=(3, 5))
        moves[[1, 5, 11]] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        assert np.linalg.norm(mixed @ moves) <= bound


@pytest.mark.parametrize(("bands", "steps", "separation", "times"), [(5, 40, 10, 4), (16, 64, 64, 1), (3, 50, 7, 8)])
def test_the_sensitivity_is_rounded_up_and_hardly_more(bands, steps, separation, times):
    column = exact_mixing(bands, steps)
    weights = [
        sum((column[t - s] for s in range(0, separation * times, separation) if s <= t), F(0)) for t in range(steps)
    ]
    for first in (1, steps // 2, steps):
        square = sum((w * w for w in weights[:first]), F(0))
        computed = toeplitz.sensitivity(bands, steps, separation, times, first=first)
        assert square <= computed**2 <= square * (1 + F(1, 10**9))


def test_one_band_is_independent_noise():
    assert toeplitz.sensitivity(1, 90, 10, 9) == 3
    assert toeplitz.prefix_error(1, 1024, 1024, 1) == pytest.approx(math.sqrt(1025 / 2))


def test_sums_over_1024_steps_err_by_3_and_not_by_22():
    """Per unit of noise: independent 22.6, a binary tree 3.69, the square root 3.11, and fewer bands less still."""
    assert toeplitz.prefix_error(1024, 1024, 1024, 1) == pytest.approx(3.11, abs=0.005)
    plan = stream_plan(rows=1024, batch_size=1, **UNIT)
    assert plan.rms_error() <= 3.2
    assert toeplitz.prefix_error(1, 1024, 1024, 1) == pytest.approx(22.6, abs=0.05)


@pytest.mark.parametrize(("bands", "steps", "separation", "times"), [(1, 12, 4, 3), (3, 12, 4, 3), (12, 12, 12, 1)])
def test_the_error_of_sums_is_that_of_the_matrices(bands, steps, separation, times):
    mixed = matrix(exact_mixing(bands, steps))
    back = np.tril(np.ones((steps, steps))) @ np.linalg.inv(mixed)
    root = math.sqrt(np.sum(back**2) / steps) * float(toeplitz.sensitivity(bands, steps, separation, times))
    assert toeplitz.prefix_error(bands, steps, separation, times) == pytest.approx(root, rel=1e-9)


@pytest.mark.parametrize(("steps", "separation", "times"), [(590, 59, 10), (1000, 1000, 1), (40, 1, 40)])
def test_chosen_bands_are_near_the_best_and_few(steps, separation, times):
    bands = toeplitz.best_bands(steps, separation, times)
    error = toeplitz.prefix_error(bands, steps, separation, times)
    assert error <= min(toeplitz.prefix_error(b, steps, separation, times) for b in (1, 2, 8, 32, 40)) * 1.05
    assert bands == 1 or toeplitz.prefix_error(bands // 2, steps, separation, times) > error


# --- the plan --------------------------------------------------------------------------------------------------------


def test_the_plan_is_one_gaussian_for_the_whole_training():
    plan = stream_plan(rows=60_000, batch_size=1024, epochs=10, epsilon=1, delta="1e-5")
    assert (plan.steps, plan.separation, plan.divisor) == (590, 59, F(60_000, 59))
    assert plan.cost == Gaussian(plan.sigma)
    assert price.epsilon(plan.cost, "1e-5").value <= 1
    assert F(999, 1000) <= plan.epsilon <= 1
    assert plan.rms_error() < 13 < toeplitz.prefix_error(1, 590, 59, 10)
    for part in ("590 steps", "10 times, 59 steps apart", "ε = 1 ", "without sampling"):
        assert part in plan.words()


def test_the_price_so_far_rises_to_the_whole_and_is_above_the_true_one():
    plan = stream_plan(rows=600, batch_size=10, epochs=3, epsilon=1, delta="1e-5")
    prices = [plan.epsilon_after(steps) for steps in (0, 1, 59, 60, 61, 120, 179, 180)]
    assert prices == sorted(prices)
    assert (prices[0], prices[-1]) == (0, plan.epsilon)
    first_step = price.epsilon(Gaussian(plan.sigma * plan.sensitivity), "1e-5").value  # C starts with 1
    assert first_step <= prices[1] <= first_step * F(101, 100)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sigma": 1}, "same thing twice"),
        ({"epsilon": None}, "epsilon must be given"),
        ({"batch_size": 601}, "at most the 600 rows"),
        ({"batch_size": 0}, "batch_size"),
        ({"epochs": 0}, "epochs"),
        ({"epochs": "1.5"}, "epochs"),
        ({"epochs": 5000}, "at most 100000 steps"),
        ({"bands": 0}, "bands"),
        ({"bands": 61}, "bands"),
        ({"delta": 0}, "delta"),
        ({"rows": [1]}, "rows"),
    ],
)
def test_what_cannot_be_meant_is_refused(change, words):
    with pytest.raises(BadValue, match=words):
        stream_plan(**({"rows": 600, "batch_size": 10, "epsilon": 1, "delta": "1e-5"} | change))


def test_a_stored_plan_is_read_back_and_a_changed_one_refused():
    plan = stream_plan(rows=600, batch_size=10, epochs=3, epsilon=1, delta="1e-5")
    stored = json.loads(json.dumps(plan.to_json()))
    assert StreamPlan.from_json(stored) == plan
    for change in ({"epsilon": "1/10"}, {"sigma": "1"}, {"separation": 0}, {"bands": "8"}, {"kind": "x"}, {"more": 1}):
        with pytest.raises(IntegrityError):
            StreamPlan.from_json(stored | change)
    for other in (None, [], {}, {"separation": "x"}):
        with pytest.raises(IntegrityError):
            StreamPlan.from_json(other)


# --- what runs -------------------------------------------------------------------------------------------------------


def streamed(plan, sums, source=SYSTEM, clip=F(1)):
    noise = StreamNoise(plan, clip, sums.shape[1], source)
    return np.array([noise.next(total) for total in sums])


@pytest.mark.parametrize("bands", [1, 2, 5, 40])
def test_noisy_sums_are_the_sums_and_noise_unmixed(bands):
    """The same noise with and without data: what differs is G, up to the rounding to the lattice."""
    plan = stream_plan(rows=40, batch_size=1, bands=bands, **UNIT)
    sums = np.random.default_rng(1).normal(size=(40, 6)) * 30
    with_data, without = (streamed(plan, g, Seeded(7)) for g in (sums, np.zeros_like(sums)))
    step = float(stream_lattice(plan, F(1), 6).step)
    assert np.abs(with_data - without - sums).max() <= 2 * step
    assert np.abs(with_data - sums).max() > 0.5


def test_the_noise_has_the_covariance_of_the_inverse():
    """N = 40,000 streams side by side; entries of the covariance fall outside 7 standard errors once in 10¹⁰."""
    plan, draws = stream_plan(rows=6, batch_size=1, bands=3, sigma=5, delta="1e-5"), 40_000
    noise = streamed(plan, np.zeros((6, draws)))
    lattice = stream_lattice(plan, F(1), draws)
    inverse = np.linalg.inv(matrix(exact_mixing(3, 6)))
    expected = inverse @ inverse.T * lattice.deviation**2
    error = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / draws)
    assert (np.abs(noise @ noise.T / draws - expected) < 7 * error).all()
    assert (np.abs(noise @ noise.T / draws - 1.1 * expected) > 7 * error).any()
    assert lattice.deviation == pytest.approx(5 * float(plan.sensitivity), rel=1e-3)


def test_what_is_released_moves_by_no_more_than_the_noise_was_made_for():
    """One person more, in the worst direction at each of her steps: rows of C·G in whole steps, rounding included."""
    plan, clip, size = stream_plan(rows=40, batch_size=4, epochs=3, **UNIT), F(1, 2), 3
    lattice = stream_lattice(plan, clip, size)
    step, generator, worst = float(lattice.step), np.random.default_rng(5), 0.0
    for slot in range(plan.separation):
        sums = generator.normal(size=(plan.steps, size))
        more = sums.copy()
        more[slot :: plan.separation] += float(clip) / math.sqrt(size)
        mixed = matrix(exact_mixing(plan.bands, plan.steps))
        moved = np.rint(mixed @ more / step) - np.rint(mixed @ sums / step)
        worst = max(worst, np.linalg.norm(moved))
    assert worst <= math.sqrt(lattice.mechanism.sensitivity.l2_squared)
    assert worst >= 0.999 * float(clip * plan.sensitivity) / step
    assert lattice.mechanism.cost.sigma >= plan.sigma * (1 - F(1, 2**30))


def test_rounding_adds_next_to_nothing_to_the_noise():
    plan = stream_plan(rows=1000, batch_size=1, **UNIT)
    lattice = stream_lattice(plan, F(1), 26_010)
    spread = math.isqrt(1000 * 26_010) + 1
    assert spread * lattice.step <= plan.sensitivity * F(1, 2**12) * F(1001, 1000)
    assert lattice.deviation <= float(plan.sensitivity) * 1.0005


def test_a_stream_ends_with_its_plan():
    plan = stream_plan(rows=2, batch_size=1, **UNIT)
    noise = StreamNoise(plan, F(1), 1, SYSTEM)
    for _ in range(2):
        noise.next(np.zeros(1))
    with pytest.raises(BadValue, match="at most those of the plan"):
        noise.next(np.zeros(1))


def test_a_sum_that_is_no_number_ends_the_stream():
    plan = stream_plan(rows=2, batch_size=1, **UNIT)
    with pytest.raises(ArithmeticError):
        StreamNoise(plan, F(1), 1, SYSTEM).next(np.array([math.nan]))


def test_a_stream_does_not_go_on_after_a_step_that_broke_off():
    """Its private sum was added to the memory, and none was released: once more would be another mechanism."""
    source = Replay([])
    noise = StreamNoise(stream_plan(rows=2, batch_size=1, **UNIT), F(1), 1, source)
    with pytest.raises(Exhausted):
        noise.next(np.zeros(1))
    source.after = SYSTEM
    with pytest.raises(BadValue, match="must not go on"):
        noise.next(np.zeros(1))


def test_sums_beyond_the_lattice_saturate():
    plan = stream_plan(rows=2, batch_size=1, bands=1, **UNIT)
    step = float(stream_lattice(plan, F(1), 1).step)
    assert streamed(plan, np.array([[1e300], [0.0]]))[0, 0] == pytest.approx(2.0**51 * step, rel=1e-9)
