"""Tables that agree: sums, the total, and the nearest table as least squares find it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.synth.model.consistent import consistent_targets
from discreet.synth.model.dual import Target

SIZES = (2, 3, 4)
PAIRS = ((0, 1), (0, 2), (1, 2))


def noisy_targets(seed, deviation):
    draw = np.random.default_rng(seed)
    shapes = [((column,), (SIZES[column],)) for column in range(3)]
    shapes += [((left, right), (SIZES[left], SIZES[right])) for left, right in PAIRS]
    return [
        Target(columns, draw.uniform(0, 50, shape), deviation * draw.uniform(0.5, 2, shape[:1]).max())
        for columns, shape in shapes
    ]


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10**6), deviation=st.sampled_from([1e-3, 0.7, 30.0]), total=st.sampled_from([1.0, 90.0, 1e6])
)
def test_tables_agree_on_every_column_and_on_the_total(seed, deviation, total):
    targets = consistent_targets(noisy_targets(seed, deviation), total)
    sums = {target.columns[0]: target.counts for target in targets[:3]}
    for own in sums.values():
        assert own.sum() == pytest.approx(total)
    for target in targets[3:]:
        left, right = target.columns
        np.testing.assert_allclose(target.counts.sum(axis=1), sums[left], atol=1e-6 * total)
        np.testing.assert_allclose(target.counts.sum(axis=0), sums[right], atol=1e-6 * total)


def test_a_pair_moves_to_the_nearest_table_with_the_agreed_sums():
    """The twin: least squares under the constraints, by their pseudo-inverse."""
    targets = noisy_targets(5, 3.0)
    agreed = consistent_targets(targets, 90.0)
    before, after = targets[4].counts, agreed[4].counts
    rows, columns = before.shape
    sums = np.array([*np.kron(np.eye(rows), np.ones(columns)), *np.kron(np.ones(rows), np.eye(columns))])
    wanted = np.concatenate([agreed[0].counts, agreed[2].counts])
    moved = before.ravel() + np.linalg.pinv(sums) @ (wanted - sums @ before.ravel())
    np.testing.assert_allclose(after.ravel(), moved, atol=1e-9)


def test_the_sum_of_a_column_is_the_mean_by_precision():
    single = Target((0,), np.array([10.0, 20.0]), 1.0)
    pair = Target((0, 1), np.array([[6.0, 8.0], [9.0, 7.0]]), 1.0)  # its sums have twice the variance
    other = Target((1,), np.array([15.0, 15.0]), 1.0)
    agreed = consistent_targets([single, other, pair], 30.0)
    expected = np.array([(10 + 14 / 2) / 1.5, (20 + 16 / 2) / 1.5])
    np.testing.assert_allclose(agreed[0].counts, expected + (30 - expected.sum()) / 2)


def test_without_contradictions_nothing_moves():
    table = np.array([[5.0, 7.0, 1.0], [2.0, 0.0, 3.0]])
    targets = [
        Target((0,), table.sum(axis=1), 2.0),
        Target((1,), table.sum(axis=0), 3.0),
        Target((0, 1), table, 1.0),
    ]
    for target, own in zip(consistent_targets(targets, table.sum()), targets, strict=True):
        np.testing.assert_allclose(target.counts, own.counts, atol=1e-12)
