"""The informed adversary against exact and private logistic models."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from discreet.attack.models.missing_row import exact_minimum, example, left_over, missing_row
from discreet.attack.models.trials import middle_interval
from discreet.errors import BadValue
from discreet.noise.public import generator


def people(count, features, seed=3):
    chance = generator(seed)
    rows = chance.normal(size=(count, features))
    return rows, np.where(chance.random(count) < 1 / (1 + np.exp(-rows.sum(1))), 1.0, -1.0)


def test_the_exact_minimum_is_that_of_a_general_minimiser():
    rows, signs = people(30, 3)
    ridge = np.array([0.5, 2.0, 1.0, 1.0])

    def risk(weights):
        return np.log1p(np.exp(-signs * (rows @ weights[1:] + weights[0]))).sum() + ridge @ weights**2 / 2

    slow = minimize(risk, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 10**4})
    assert exact_minimum(rows, signs, ridge) == pytest.approx(slow.x, abs=1e-5)


def test_every_row_and_answer_comes_back_whoever_is_missing():
    rows, signs = people(40, 4)
    ridge = np.full(5, 1.5)
    weights = exact_minimum(rows, signs, ridge)
    for place in range(40):
        others = np.arange(40) != place
        recovered = left_over(weights, rows[others], signs[others], ridge)
        assert recovered.row == pytest.approx(rows[place], abs=1e-10)
        assert recovered.answer == signs[place]
        assert recovered.misfit < 1e-10


def test_a_fitted_model_of_scikit_learn_gives_its_missing_row():
    rows, signs = people(50, 3)
    model = LogisticRegression(C=0.5, tol=1e-12, solver="newton-cholesky", max_iter=100).fit(rows, signs)
    weights = np.append(model.intercept_, model.coef_)
    result = missing_row(weights, rows[1:], signs[1:], ridge=[0, 2, 2, 2], truth=rows[0])
    assert result.raw == 1
    assert result.details["error"] < 1e-6
    assert result.details["answer"] == int(signs[0] > 0)
    assert result.of_real_data


def test_a_row_that_does_not_belong_is_told_by_its_misfit():
    rows, signs = people(50, 3)
    weights = exact_minimum(rows, signs, np.full(4, 1.0)) + 0.1
    result = missing_row(weights, rows[1:], signs[1:], ridge=1)
    assert result.raw is None
    assert result.details["misfit"] > 0.01


def test_all_of_200_rows_are_recovered_raw_and_none_at_epsilon_1():
    result = example(("1",), 7)
    assert result.raw == 1
    assert result.details["largest_error_raw"] < 1e-10
    assert result.private["1"] == 0
    assert result.trials == 200
    assert result.ceiling["1"] == pytest.approx(np.e * result.baseline)
    assert "found nothing above" in result.sentence


def test_the_private_models_are_of_the_same_risk():
    """At ε = 10⁴ the noise on a weight is about 10⁻³; 0.1 is never reached (below 10⁻⁶, by the tail e^(−600))."""
    from discreet.attack.models.missing_row import _private

    chance = generator(5)
    rows = chance.integers(-1024, 1025, size=(100, 8)) / 1024
    signs = np.where(chance.random(100) < 0.5, 1.0, -1.0)
    assert _private("10000")(rows, signs) == pytest.approx(exact_minimum(rows, signs, np.full(9, 2.0)), abs=0.1)


@pytest.mark.parametrize(
    ("weights", "rows", "answers", "ridge"),
    [
        ([0.1, 0.2], [["a"]], [1], 1),
        ([0.1, 0.2], [[1.0]], [2], 1),
        ([0.1, 0.2], [[1.0]], [1, 0], 1),
        ([0.1], [[1.0]], [1], 1),
        ([0.1, 0.2], [[np.nan]], [1], 1),
        ([0.1, 0.2], [[1.0]], [1], [1, 2, 3]),
        ([0.1, 0.2], [], [1], 1),
    ],
)
def test_what_is_no_model_with_its_rows_is_refused(weights, rows, answers, ridge):
    with pytest.raises(BadValue) as refused:
        missing_row(weights, rows, answers, ridge=ridge)
    assert "nan" not in str(refused.value)


def test_a_median_lies_between_order_statistics():
    assert middle_interval([3, 1, 2, 5, 4]) == (1, 5)
    low, high = middle_interval(range(101))
    assert low == 40
    assert high == 60
