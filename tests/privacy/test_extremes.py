"""Costs at the edge of what can be built: priced, at once, and never below a plain bound."""

from collections.abc import Callable
from fractions import Fraction
from functools import reduce

import pytest

from discreet.errors import BadValue
from discreet.privacy import flat, price
from discreet.privacy.cost import Apart, Approx, Cost, Gaussian, Group, Pure, Repeated, Sampled


def nested(inner: Cost, layer: Callable[[Cost], Cost], layers: int) -> Cost:
    return reduce(lambda cost, _: layer(cost), range(layers), inner)


@pytest.mark.parametrize("inner", [Pure(1), Approx(1, "1e-300")])
def test_a_group_of_astronomical_size_is_priced_as_no_promise(inner: Cost) -> None:
    cost = nested(inner, lambda c: Group(c, 10**9), 47)
    for epsilon in (0, 1, 10**6):
        assert price.delta(cost, epsilon).value == 1
    assert price.tradeoff(cost, "0.01").value == 1


def test_a_sample_of_astronomically_many_steps_promises_only_its_rate() -> None:
    cost = Sampled("0.5", nested(Pure(10**6), lambda c: Repeated(c, 10**9), 46))
    assert price.delta(cost, 1).value == Fraction(1, 2)
    assert price.epsilon(cost, 0).value > 10**400


def test_a_cost_fifty_deep_can_be_priced_and_one_deeper_cannot_be_built() -> None:
    deepest = nested(Pure(1), lambda c: Repeated(c, 1), 49)
    assert price.epsilon(deepest, 0).value == 1
    with pytest.raises(BadValue, match="50 deep"):
        Repeated(deepest, 1)


def test_samples_of_samples_are_priced_once_as_one_sample() -> None:
    many = nested(Gaussian(1), lambda c: Sampled("0.5", c), 40)
    sample = Sampled(Fraction(1, 2**40), Gaussian(1))
    assert price.delta(many, 1).value == price.delta(sample, 1).value
    assert price.epsilon(many, "1e-14").value == price.epsilon(sample, "1e-14").value


def test_many_comparable_parts_cost_the_worst_in_either_order() -> None:
    parts = tuple(Pure(Fraction(n, 1000)) for n in range(1, 2001))
    for costs in (parts, parts[::-1]):
        assert price.epsilon(Apart(costs), 0).value == 2
        assert price.delta(Apart(costs), "0.5").value == price.delta(Pure(2), "0.5").value


def test_the_dominant_part_is_found_wherever_it_stands_and_only_if_there_is_one() -> None:
    weak, strong, other = flat.atoms_of(Pure(2)), flat.atoms_of(Pure(1)), flat.atoms_of(Gaussian(1))
    assert flat.dominant((weak, strong)) == flat.dominant((strong, weak)) == weak
    for parts in ((weak, other), (other, weak, strong), (strong, other, weak)):
        assert flat.dominant(parts) is None


def test_nested_samples_with_long_rates_are_priced_no_cheaper() -> None:
    """Eleven rates of 400 digits once made a number that Python refuses to print, and the price failed."""
    rate = 1 - Fraction(1, 10**400)
    cost = nested(Gaussian(1), lambda c: Sampled(rate, c), 12)
    shortfall = Fraction(1, 10**390)  # how much less than 1 the true rate, rate**12, surely is not
    assert price.delta(cost, 1).value >= price.delta(Sampled(1 - shortfall, Gaussian(1)), 1).value
