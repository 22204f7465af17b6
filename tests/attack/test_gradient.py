"""Gradient inversion of a linear layer: alone, in sums, and after clipping and noise."""

import numpy as np
import pytest
import torch

from discreet.attack.models.gradient import Layer, _named_of_sums, example, gradient, invented_pictures, inverted
from discreet.errors import BadValue
from discreet.noise.public import generator


def gradient_by_torch(lines, picture, label):
    """The slow twin: automatic differentiation."""
    net = torch.nn.Linear(len(picture), len(lines)).double()
    with torch.no_grad():
        net.weight.copy_(torch.from_numpy(lines[:, :-1]))
        net.bias.copy_(torch.from_numpy(lines[:, -1]))
    torch.nn.functional.cross_entropy(net(torch.from_numpy(picture)[None]), torch.tensor([label])).backward()
    return np.column_stack([net.weight.grad.numpy(), net.bias.grad.numpy()])


def test_the_gradient_is_that_of_automatic_differentiation():
    chance = generator(2)
    lines, picture = chance.normal(size=(10, 65)), invented_pictures(1, chance)[0]
    assert Layer(lines).gradient(picture, 4) == pytest.approx(gradient_by_torch(lines, picture, 4), abs=1e-12)


def test_a_gradient_of_single_precision_gives_its_picture_and_its_class():
    torch.manual_seed(5)
    layer = torch.nn.Linear(20, 5)
    given = torch.randn(1, 20)
    torch.nn.functional.cross_entropy(layer(given), torch.tensor([3])).backward()
    result = gradient(layer.weight.grad, layer.bias.grad, truth=given[0])
    assert result.raw == 1
    assert result.details["error"] < 1e-5
    assert result.details["class"] == 3


def test_raw_gradients_name_every_picture_and_noisy_ones_stay_below_the_ceiling():
    """500 trials: at the ceiling of 2.7 % more than 40 hits have a chance below 10⁻⁶."""
    result = example(("1",), 7)
    assert result.raw == 1
    assert result.details["largest_error_raw"] < 1e-5
    assert result.private["1"] <= 40 / 500
    assert result.ceiling["1"] == pytest.approx(0.01 * np.e + 1e-6)
    assert result.details["median_error"]["1"] > 0.5


def test_much_less_noise_is_seen_by_the_same_attack():
    """The attack on noisy gradients is no dummy: at ε = 100 it names most pictures."""
    assert example(("100",), 7).private["100"] > 0.9


def test_a_sum_over_fewer_clients_than_outputs_hides_nobody():
    chance = generator(4)
    layer, pictures = Layer(chance.normal(size=(10, 65)) / 8), invented_pictures(100, chance)
    assert _named_of_sums(layer, pictures, 8, chance) == 1
    assert _named_of_sums(layer, pictures, 40, chance) < 0.9


def test_the_output_with_the_largest_bias_is_divided_by():
    assert inverted(np.array([[0.0, 0.0, 0.0], [2.0, 4.0, -2.0]])).tolist() == [-1, -2]


@pytest.mark.parametrize(
    ("weight", "bias"), [([[1.0, 2.0]], [0.0]), ([[1.0, 2.0]], [1.0, 2.0]), ([1.0], [1.0]), ([["x"]], [1.0])]
)
def test_what_is_no_gradient_of_a_linear_layer_is_refused(weight, bias):
    with pytest.raises(BadValue):
        gradient(weight, bias)
