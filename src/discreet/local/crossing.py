"""Two private answers crossed: the share of people who hold both values, from two reports of each person.

With z = (1[supported] − q)/(p − q), E[z | answer] is 1 for the value's holders and 0 for others, and the two reports of
a person are independent given their answers; so the mean of z·z′ estimates the joint share without bias.
"""

from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.local.estimate import Estimate, Row
from discreet.local.protocol import ValueProtocol
from discreet.local.reports import rows_of

MOST_PAIRS = 4096


def crossed_estimate(
    first: ValueProtocol, second: ValueProtocol, first_reports: Any, second_reports: Any, level: Any = "0.95"
) -> Estimate:
    """The share of each pair of values, with a normal interval of the population; row i of both is one person's."""
    sure = amounts.inner_probability(level, "level")
    left, right = rows_of(first.code, first_reports), rows_of(second.code, second_reports)
    if len(left) != len(right):
        raise bad("reports", "must be two reports of each person", "other lengths", "Give both in the same order.")
    if len(first.values) * len(second.values) > MOST_PAIRS:
        rule = f"must have at most {MOST_PAIRS} pairs of values"
        raise bad("values", rule, len(first.values) * len(second.values), "Cross questions with fewer values.")
    valid = first.code.is_report(left) & second.code.is_report(right)
    left, right = left[valid], right[valid]
    if not len(left):
        raise bad("reports", "must have at least one person", 0, "Collect reports first.")
    z = NormalDist().inv_cdf(float(1 + sure) / 2)
    rows = []
    ones = [second.code.support_of(right, b) for b in range(len(second.values))]
    for a, value in enumerate(first.values):
        held = first.code.support_of(left, a)
        for b, other in enumerate(second.values):
            mean, variance = _mean_and_variance(first, second, held, ones[b])
            radius = z * variance**0.5
            rows.append(Row((value, other), mean, mean - radius, mean + radius, variance))
    return Estimate(tuple(rows), len(left), int(len(valid) - valid.sum()), sure, "population")


def _mean_and_variance(first: ValueProtocol, second: ValueProtocol, held: Any, other: Any) -> tuple[float, float]:
    """Of z·z′, from how many people support both values, one of them or none."""
    n = len(held)
    both = int(np.count_nonzero(held & other))
    only_first, only_second = int(held.sum()) - both, int(other.sum()) - both
    counts = np.array([both, only_first, only_second, n - both - only_first - only_second], dtype=np.float64)
    yes_first, no_first = _weights(first)
    yes_second, no_second = _weights(second)
    products = np.array([yes_first * yes_second, yes_first * no_second, no_first * yes_second, no_first * no_second])
    numbers = np.array([float(product) for product in products])
    mean = float(counts @ numbers) / n
    return mean, float(counts @ (numbers - mean) ** 2) / max(n - 1, 1) / n


def _weights(protocol: ValueProtocol) -> tuple[Fraction, Fraction]:
    """z of a report that supports a value, and of one that does not."""
    gain = protocol.code.truth - protocol.code.lie
    return (1 - protocol.code.lie) / gain, -protocol.code.lie / gain
