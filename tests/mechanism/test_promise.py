"""What every mechanism shares: whole numbers in, saturation, and refusals that depend on type and shape alone."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.bounded import Sensitivity, rows, scalar
from discreet.errors import BadValue
from discreet.mechanism import additive, beta, demonstration, quantile, response, select, threshold
from discreet.mechanism.promise import LARGEST, MOST_CANDIDATES, lattice_vector, saturated_sum, scores_vector
from discreet.noise.source import SYSTEM
from discreet.privacy import cost
from replay import Refusing

SECRET = 987_654_321
MECHANISMS = {
    "laplace": additive.laplace(scalar(1), 1),
    "gaussian": additive.gaussian(scalar(1), 3),
    "discrete gaussian": additive.discrete_gaussian(scalar(1), 3),
    "exponential": select.exponential(scalar(1), 1),
    "monotone exponential": select.monotone_exponential(scalar(1), 1),
    "permute and flip": select.permute_and_flip(scalar(1), 1),
    "noisy max": select.noisy_max(scalar(1), 1),
    "top 2": select.top_k(scalar(1), 1, 2),
    "response": response.response(1, 3),
    "two coins": response.two_coins(),
    "sparse vector": threshold.sparse_vector(scalar(1), 1, threshold=0, positives=2),
    "numeric": threshold.numeric_sparse_vector(scalar(1), 1, threshold=0, positives=2, numbers=1),
    "quantile": quantile.quantile(rows(1), 1, q="0.5"),
    "bias": beta.bias(1, low="0.1", high="0.9", points=9),
    "name and shame": demonstration.name_and_shame("0.5"),
    "all or nothing": demonstration.all_or_nothing("0.5"),
}
BY_TYPE = [
    [SECRET, 0.5],
    [SECRET, float("nan")],
    [float("inf"), SECRET],
    [SECRET, True],
    [SECRET, np.True_],
    [SECRET, None],
    [SECRET, "1"],
    [SECRET, Fraction(1, 2)],
    [SECRET, Decimal(1)],
    [[SECRET, 1], [2, 3]],
    [SECRET, np.float64(1)],
    None,
    True,
    "12",
    float(SECRET),
    np.array([SECRET, 1.0]),
    np.array([np.nan, 1.0]),
    np.array([True, False]),
    np.array([SECRET, 1], dtype=object),
    np.array([SECRET, 1], dtype=complex),
    np.array([SECRET, 1], dtype="m8[s]"),
    np.array(["a", "b"]),
    np.ma.array([SECRET, 1], mask=[False, True]),
    {SECRET, 1},
    {1: SECRET},
    iter([SECRET]),
]


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_states_its_sensitivity_and_its_cost(name):
    mechanism = MECHANISMS[name]
    assert isinstance(mechanism.sensitivity, Sensitivity)
    assert cost.from_json(cost.to_json(mechanism.cost)) == mechanism.cost
    assert hash(mechanism) == hash(mechanism)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("given", BY_TYPE, ids=lambda g: type(g).__name__)
def test_input_of_a_wrong_type_is_refused_unquoted_before_any_noise(name, given):
    with pytest.raises(BadValue) as refusal:
        MECHANISMS[name](given, Refusing())
    assert str(SECRET) not in str(refusal.value)
    assert str(SECRET) not in repr(vars(refusal.value))
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize("name", ["exponential", "permute and flip", "noisy max", "top 2", "quantile"])
@pytest.mark.parametrize("given", [[], np.zeros((2, 2), dtype=int), 5, np.zeros(MOST_CANDIDATES + 1, dtype=np.int64)])
def test_candidates_are_a_flat_list_that_is_neither_empty_nor_endless(name, given):
    with pytest.raises(BadValue, match="scores must be a flat list of 1 to 2097152 candidates"):
        MECHANISMS[name](given, Refusing())


@pytest.mark.parametrize("name", ["response", "two coins", "name and shame", "all or nothing"])
@pytest.mark.parametrize("given", [5, np.zeros((2, 2), dtype=int)])
def test_one_row_a_person_is_a_flat_list(name, given):
    with pytest.raises(BadValue, match="must be a flat list"):
        MECHANISMS[name](given, Refusing())


@pytest.mark.parametrize("given", [[], [1], [1, 2, 3], 4, np.ones((1, 2), dtype=int)])
def test_bias_takes_two_counts(given):
    with pytest.raises(BadValue, match="two counts"):
        MECHANISMS["bias"](given, Refusing())


def test_refusal_does_not_depend_on_the_value():
    assert len({_refusal([x]) for x in (0.0, 1.5, float("nan"), float("inf"), -1e300)}) == 1
    assert len({_refusal(np.array([x])) for x in (0.0, 1.5, np.nan, np.inf)}) == 1


def _refusal(given):
    with pytest.raises(BadValue) as refusal:
        lattice_vector(given)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([10**5000, -(10**5000)], [LARGEST, -LARGEST]),
        ((np.uint64(2**64 - 1), np.int8(-7)), [LARGEST, -7]),
        (np.array([0, 2**64 - 1], dtype=np.uint64), [0, LARGEST]),
        (np.array([-(2**63), 2**63 - 1]), [-LARGEST, LARGEST]),
        (np.array([255], dtype=np.uint8), [255]),
        (np.array([-128, 127], dtype=np.int8), [-128, 127]),
        (np.array([1, -2], dtype=">i8"), [1, -2]),
        (np.array([1, 2], dtype=">u4"), [1, 2]),
        ([], []),
    ],
)
def test_whole_numbers_of_every_width_saturate_alike(given, kept):
    vector = lattice_vector(given)
    assert vector.dtype == np.int64
    assert vector.dtype.isnative
    assert vector.tolist() == kept


@pytest.mark.parametrize("number", [7, np.int16(7), np.uint64(7), np.array(7)])
def test_a_single_number_stays_single(number):
    assert lattice_vector(number).shape == ()
    assert int(lattice_vector(number)) == 7


def test_input_array_is_not_written_to():
    given = np.array([2**63 - 1, 5])
    lattice_vector(given)
    assert given.tolist() == [2**63 - 1, 5]


def test_saturation_moves_no_two_inputs_further_apart():
    ends = [*range(LARGEST - 2, LARGEST + 3), *range(-LARGEST - 2, -LARGEST + 3), 0]
    for x in ends:
        for y in ends:
            assert abs(int(lattice_vector(x)) - int(lattice_vector(y))) <= abs(x - y)


@pytest.mark.parametrize("exact", [-LARGEST, -1, 0, 1, LARGEST])
@pytest.mark.parametrize("noise", [-(2**63) + 1, -LARGEST, -1, 0, 1, LARGEST, LARGEST + 1, 2**63 - 2])
def test_sum_and_gap_never_wrap(exact, noise):
    total = saturated_sum(np.array([exact]), np.array([noise]))
    assert int(total[0]) == exact + max(-LARGEST, min(LARGEST, noise))
    gap = np.max(scores_vector([exact, -exact])) - scores_vector([exact, -exact])
    assert gap.tolist() == [abs(exact) - exact, abs(exact) + exact]


@pytest.mark.parametrize("name", ["laplace", "gaussian", "discrete gaussian"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 4)])
def test_noise_keeps_the_shape(name, shape):
    assert np.shape(MECHANISMS[name](np.zeros(shape, dtype=np.int64), SYSTEM)) == shape


@pytest.mark.parametrize("name", ["response", "two coins", "sparse vector", "name and shame", "all or nothing"])
def test_nobody_at_all_is_no_error(name):
    assert len(MECHANISMS[name]([], SYSTEM)) == 0


EPSILONS = [float("nan"), float("inf"), -1, 0, "1e-10", "1e7", True, None, "9" * 5000, "", "one", [1], 10**5000]
MAKERS = {
    "laplace": lambda e: additive.laplace(scalar(1), e),
    "exponential": lambda e: select.exponential(scalar(1), e),
    "monotone": lambda e: select.monotone_exponential(scalar(1), e),
    "flip": lambda e: select.permute_and_flip(scalar(1), e),
    "noisy max": lambda e: select.noisy_max(scalar(1), e),
    "top 1": lambda e: select.top_k(scalar(1), e, 1),
    "response": response.response,
    "sparse vector": lambda e: threshold.sparse_vector(scalar(1), e, threshold=0, positives=1),
    "quantile": lambda e: quantile.quantile(rows(1), e, q="0.5"),
    "bias": lambda e: beta.bias(e, low="0.1", high="0.9", points=3),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("given", EPSILONS, ids=lambda g: type(g).__name__)
def test_bad_epsilon_is_one_clear_refusal(name, given):
    with pytest.raises(BadValue, match="epsilon must be a decimal number between 1e-9 and 1e6") as refusal:
        MAKERS[name](given)
    assert "You gave" in str(refusal.value)
    assert len(str(refusal.value)) < 300


TAKERS = {
    "laplace": lambda s: additive.laplace(s, 1),
    "gaussian": lambda s: additive.gaussian(s, 1),
    "discrete": lambda s: additive.discrete_gaussian(s, 1),
    "exponential": lambda s: select.exponential(s, 1),
    "monotone": lambda s: select.monotone_exponential(s, 1),
    "flip": lambda s: select.permute_and_flip(s, 1),
    "noisy max": lambda s: select.noisy_max(s, 1),
    "top 1": lambda s: select.top_k(s, 1, 1),
    "sparse vector": lambda s: threshold.sparse_vector(s, 1, threshold=0, positives=1),
    "numeric": lambda s: threshold.numeric_sparse_vector(s, 1, threshold=0, positives=1, numbers=1),
    "quantile": lambda s: quantile.quantile(s, 1, q="0.5"),
}


@pytest.mark.parametrize("name", TAKERS)
def test_sensitivity_of_zero_is_refused_not_divided_by(name):
    none = Sensitivity(0, 0, 0, 0)
    with pytest.raises(BadValue, match=r"sensitivity.* must be positive"):
        TAKERS[name](none)


@pytest.mark.parametrize("field", range(4))
@pytest.mark.parametrize("given", [-1, float("nan"), None, True, "x"])
def test_bad_sensitivity_cannot_be_made(field, given):
    values = [1, 1, 1, 1]
    values[field] = given
    with pytest.raises(BadValue, match="sensitivity"):
        Sensitivity(*values)
