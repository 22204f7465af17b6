"""A plan is priced as what runs, meets its ε with hardly more noise than needed, and refuses what it cannot mean."""

import functools
import json
import math
from fractions import Fraction as F

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as library

from discreet.answer import Answer, Estimates, column
from discreet.deep.accounting.plan import Plan, plan
from discreet.deep.accounting.stream import stream_plan
from discreet.errors import BadValue, DiscreetError, IntegrityError
from discreet.privacy import analytic, price
from discreet.privacy.cost import Gaussian, Repeated, Sampled, Together

MNIST = {"rows": 60_000, "delta": "1e-5"}


@functools.lru_cache
def library_epsilon(rate, sigma, steps, delta, *, is_pessimistic):
    """ε by dp-accounting alone, from above or from below."""
    step = library.from_gaussian_mechanism(
        sigma, sampling_prob=rate, value_discretization_interval=1e-3, pessimistic_estimate=is_pessimistic
    )
    return step.self_compose(steps).get_epsilon_for_delta(delta)


def released(*values, keys=()):
    """An answer with these released numbers."""
    estimates = Estimates([F(v) for v in values], [F(v) for v in values], [F(v) for v in values])
    shown = column("n", estimates, mechanism="laplace", kind="laplace", scale=F(1), step=F(1), part="n")
    labels = tuple(("x",) * len(keys) for _ in values)
    cost = {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "person_id"}
    return Answer("people", "[]", keys, labels, (shown,), F(95, 100), cost)


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "epsilon", "sigma"),
    [
        ({"batch_size": 2048, "steps": 439}, 1, 2.84),
        ({"batch_size": 2048, "steps": 439}, "2.93", 1.29),
    ],
)
def test_the_noise_of_known_trainings(facts, epsilon, sigma):
    """The recipes' table: MNIST at δ = 1e-5."""
    training = plan(**MNIST, **facts, epsilon=epsilon)
    assert float(training.sigma) == pytest.approx(sigma, abs=0.006)
    assert F(epsilon) * F(999, 1000) <= training.epsilon <= F(epsilon)


def test_the_price_of_a_long_training():
    """MNIST for 40 epochs of batches of 1,024 at σ = 1.39."""
    assert plan(**MNIST, batch_size=1024, epochs=40, sigma="1.39").epsilon == pytest.approx(2.92, abs=0.02)


def test_the_price_of_the_lectures_training():
    """N = 60,000, B = 250, σ = 1.3, 15 epochs: 0.85, not 287."""
    training = plan(**MNIST, batch_size=250, epochs=15, sigma="1.3")
    assert (training.steps, training.rate, training.divisor) == (3600, F(1, 240), 250)
    assert 0.84 < training.epsilon < 0.86


@pytest.mark.parametrize(
    ("rate", "sigma", "steps"), [(F(2048, 60_000), F(284, 100), 439), (F(1, 100), F(1), 1000), (F(1, 5), F(6), 100)]
)
def test_the_price_is_that_of_dp_accounting(rate, sigma, steps):
    training = plan(rows=60_000, rate=rate, steps=steps, sigma=sigma, delta="1e-5")
    facts = float(rate), float(sigma), steps, 1e-5
    assert library_epsilon(*facts, is_pessimistic=False) <= training.epsilon
    assert training.epsilon <= library_epsilon(*facts, is_pessimistic=True) * 1.01
    assert library_epsilon(*facts, is_pessimistic=True) <= training.epsilon * F(101, 100)


def test_the_cost_is_what_runs():
    training = plan(**MNIST, batch_size=600, steps=100, sigma=2)
    assert training.cost == Repeated(Sampled(F(1, 100), Gaussian(2)), 100)
    assert training.step_cost(7) == Repeated(Sampled(F(1, 100), Gaussian(2)), 7)
    assert training.epsilon == F(str(math.ceil(price.epsilon(training.cost, "1e-5").value * 10**12) / 10**12))


def test_a_full_batch_is_one_gaussian_exactly():
    training = plan(rows=1000, rate=1, steps=100, epsilon=1, delta="1e-5")
    alone = analytic.sigma(1, "1e-5")
    assert alone * 10 <= training.sigma <= alone * 10 * F(10**10 + 1, 10**10)
    assert training.divisor == 1000
    assert training == plan(rows=1000, batch_size=1000, epochs=100, epsilon=1, delta="1e-5")
    assert "closed form" in price.epsilon(training.cost, "1e-5").route


def test_steps_are_epochs_over_the_rate_rounded_up():
    assert plan(**MNIST, batch_size=1024, epochs="0.5", sigma=3).steps == math.ceil(30_000 / 1024)
    assert plan(**MNIST, rate="0.3", epochs=1, sigma=9).steps == 4


def test_the_price_so_far_rises_to_the_whole():
    training = plan(**MNIST, batch_size=2048, steps=400, sigma="2.84")
    prices = [training.epsilon_after(steps) for steps in (0, 1, 100, 200, 399, 400)]
    assert prices[0] == 0
    assert prices == sorted(prices)
    assert prices[-1] == training.epsilon
    assert prices[3] >= library_epsilon(2048 / 60_000, 2.84, 200, 1e-5, is_pessimistic=False)


# --- paid scores -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", ["0.1", 1])
def test_scores_are_inside_the_same_epsilon(rate):
    plain = plan(**MNIST, rate=rate, steps=50, epsilon=1)
    scored = plan(**MNIST, rate=rate, steps=50, epsilon=1, scores=20)
    assert scored.cost == Together((scored.step_cost(50), Repeated(scored.score_cost, 20)))
    assert F(998, 1000) <= scored.epsilon <= 1
    assert price.epsilon(scored.cost, "1e-5").value <= 1
    assert plain.sigma < scored.sigma < plain.sigma * F(110, 100)
    assert 0 < scored.epsilon_after(0) < F(1, 2) < scored.epsilon_after(50)


def test_all_scores_have_their_share_of_a_gaussian_mechanism():
    scored = plan(**MNIST, rate=1, steps=100, epsilon=1, scores=20, score_share="0.2")
    assert F(20) / scored.score_sigma**2 == pytest.approx(float(F("0.2") / analytic.sigma(1, "1e-5") ** 2))
    fewer = plan(**MNIST, rate=1, steps=100, epsilon=1, scores=5, score_share="0.2")
    assert fewer.score_sigma == pytest.approx(float(scored.score_sigma) / 2)


def test_scores_beside_a_given_noise_raise_the_price():
    plain = plan(**MNIST, rate="0.1", steps=50, sigma=2)
    scored = plan(**MNIST, rate="0.1", steps=50, sigma=2, scores=20)
    assert plain.sigma == scored.sigma
    assert plain.epsilon < scored.epsilon < plain.epsilon * F(12, 10)


def test_a_score_that_was_not_planned_has_no_price():
    with pytest.raises(BadValue, match="must be planned"):
        _ = plan(**MNIST, rate="0.1", steps=50, sigma=2).score_cost


# --- rows are public ---------------------------------------------------------------------------------------------


def test_rows_may_be_the_number_that_an_answer_released():
    assert plan(rows=released(48_842.4), rate="0.01", steps=10, sigma=1, delta="1e-5").rows == 48_842
    assert plan(rows=released(-30), rate="0.01", steps=10, sigma=1, delta="1e-5").rows == 1


@pytest.mark.parametrize(
    "rows",
    [
        released(10, 20),
        released(10, keys=("region",)),
        [1, 2, 3],
        np.zeros(7),
        "many",
        True,
        None,
        0,
        -5,
        1.5,
        float("nan"),
        2**50,
        {"rows": 3},
    ],
)
def test_rows_that_are_no_public_number_are_refused(rows):
    with pytest.raises(BadValue, match="rows"):
        plan(rows=rows, rate="0.01", steps=10, sigma=1, delta="1e-5")


def test_a_frame_is_never_counted():
    class Frame:
        def __len__(self):
            raise AssertionError("its rows were counted")

    with pytest.raises(BadValue, match="rows"):
        plan(rows=Frame(), rate="0.01", steps=10, sigma=1, delta="1e-5")


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sigma": 1}, "same thing twice"),
        ({"epsilon": None}, "epsilon must be given"),
        ({"rate": "0.1"}, "same thing twice"),
        ({"batch_size": None}, "batch_size must be given"),
        ({"epochs": 3}, "same thing twice"),
        ({"steps": None}, "epochs must be given"),
        ({"batch_size": 60_001}, "at most the 60000 rows"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 1.5}, "batch_size"),
        ({"batch_size": None, "rate": 0}, "above 0"),
        ({"batch_size": None, "rate": "1.01"}, "between 0 and 1"),
        ({"steps": 0}, "steps"),
        ({"steps": 10**9}, "steps"),
        ({"steps": None, "epochs": 10**9, "batch_size": 1}, "epochs"),
        ({"steps": None, "epochs": 0}, "epochs"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "nan"}, "epsilon"),
        ({"epsilon": None, "sigma": 0}, "sigma"),
        ({"epsilon": None, "sigma": float("inf")}, "sigma"),
        ({"delta": 0}, "delta must be a decimal number above 0"),
        ({"delta": "0.6"}, "delta"),
        ({"delta": None}, "delta"),
        ({"scores": -1}, "scores"),
        ({"scores": 3, "score_share": "0.7"}, "score_share"),
        ({"scores": 3, "score_share": 0}, "score_share"),
    ],
)
def test_what_cannot_be_meant_is_refused(change, words):
    with pytest.raises(BadValue, match=words):
        plan(**({"rows": 60_000, "batch_size": 600, "steps": 10, "epsilon": 1, "delta": "1e-5"} | change))


@pytest.mark.parametrize("steps", [0, 401, 1.5, True])
def test_only_steps_of_the_plan_have_a_price(steps):
    training = plan(**MNIST, batch_size=2048, steps=400, sigma="2.84")
    with pytest.raises(BadValue, match="steps"):
        training.step_cost(steps)


# --- stored ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"scores": 4}])
def test_a_stored_plan_is_read_back(more):
    training = plan(rows=1000, rate="1/3", steps=30, sigma=3, delta="1e-5", **more)
    stored = json.loads(json.dumps(training.to_json()))
    assert Plan.from_json(stored) == training


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "1/10"},
        {"sigma": "1"},
        {"rate": "2"},
        {"rate": "1/0"},
        {"steps": 29},
        {"steps": "30"},
        {"sigma": "1e999999999"},
        {"sigma": "9" * 501},
        {"delta": "0"},
        {"kind": "plan"},
        {"more": 1},
        {"scores": 1},
        {"score_sigma": "5"},
        {"cost": {"kind": "pure", "epsilon": "1"}},
    ],
)
def test_a_changed_plan_is_refused(change):
    stored = plan(rows=1000, rate="1/3", steps=30, sigma=3, delta="1e-5").to_json()
    with pytest.raises(DiscreetError) as refused:
        Plan.from_json(stored | change)
    assert isinstance(refused.value, IntegrityError)


@pytest.mark.parametrize("stored", [None, [], "plan", {}, {"kind": "deep plan"}])
def test_what_is_no_plan_is_refused(stored):
    with pytest.raises(IntegrityError):
        Plan.from_json(stored)


def test_the_words_say_what_is_drawn_and_what_it_costs():
    words = plan(**MNIST, batch_size=2048, steps=439, sigma="2.84", scores=5).words()
    for part in ("439 steps", "probability 0.03414", "2048 of 60000", "2.84 clips", "5 noisy scores", "δ = 1e-5"):
        assert part in words


@pytest.mark.parametrize("making", [plan, stream_plan])
def test_a_delta_above_one_in_the_rows_is_refused(making):
    options = {"steps": 10} if making is plan else {}
    with pytest.raises(BadValue, match="at most 1/rows"):
        making(rows=800, batch_size=100, epsilon=3, delta="0.00126", **options)
    assert making(rows=800, batch_size=100, epsilon=3, delta="0.00125", **options).delta == F(1, 800)
