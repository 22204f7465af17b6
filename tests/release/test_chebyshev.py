"""The fit of least largest error: each step equals brute force, and errors stay within 2η + e."""

import itertools

import numpy as np
import pytest

from discreet.release.fit import chebyshev
from discreet.release.fit.kernels.topdown import chebyshev as step
from discreet.release.tree import from_edges, tree_sums
from release.test_check import random_case


def by_trying(noisy, scale, total):
    """The best of all whole vectors of this sum; of equals the one that gives most to the lowest numbers."""
    shares = itertools.product(range(total + 1), repeat=len(noisy) - 1)
    every = [(*some, total - sum(some)) for some in shares if sum(some) <= total]

    def cost(x):
        off = [scale * value - y for value, y in zip(x, noisy, strict=True)]
        raised = sum(value > 0 and y <= 0 for value, y in zip(x, noisy, strict=True))
        return max(map(abs, off)), raised, sum(d * d for d in off), [-value for value in x]

    return list(min(every, key=cost))


@pytest.mark.parametrize("scale", [1, 2, 3, 8])
def test_a_step_is_the_best_of_all_whole_vectors(scale):
    for seed in range(250):
        chance = np.random.default_rng(seed)
        count, total = int(chance.integers(1, 5)), int(chance.integers(1, 9))
        noisy = chance.integers(-6 * scale, 8 * scale, count) if seed % 2 else chance.integers(-1, 2 * scale, count)
        assert step(noisy, scale, total).tolist() == by_trying(noisy.tolist(), scale, total), (seed, noisy, total)


def test_zeros_stay_zero_where_a_best_solution_lets_them():
    assert step(np.array([0, 0, 5, -1]), 1, 6).tolist() == [0, 0, 6, 0]
    assert step(np.array([0, -1, 5, 0]), 1, 8).tolist() == [1, 0, 6, 1]
    assert step(np.array([0, 0, 5]), 1, 7).tolist() == [1, 0, 6]
    assert step(np.array([-1, -1, 5]), 1, 10).tolist() == [2, 0, 8]


def test_every_level_is_off_by_at_most_twice_its_noise_and_its_parents_error():
    tight = 0
    for seed in range(300):
        case = random_case(seed)
        tree, fits = case.tree, chebyshev.fit(case.tree, case.noisy, case.weights, scale=case.scale, **case.known)
        noise, error = np.abs(case.noisy / case.scale - case.exact), np.abs(fits - case.exact)
        if case.allowed is not None:
            noise[tree_sums(tree, case.allowed.astype(int)) == 0] = 0
        for place in range(len(tree)):
            children = slice(tree.child[place], tree.child[place + 1])
            if children.start < children.stop:
                bound = 2 * noise[children].max(axis=0) + error[place]
                assert (error[children].max(axis=0) <= bound + 1e-9).all(), (seed, place)
                tight += int(np.sum(error[children].max(axis=0) > noise[children].max(axis=0) + 1e-9))
    assert tight > 0  # the noise alone would not be a bound


def test_large_numbers_do_not_wrap():
    noisy = np.array([2**57, -(2**57), 5, 0])
    for total in (1, 7, 2**57):
        fitted = step(noisy, 1, total)
        assert fitted.sum() == total
        assert fitted.min() >= 0
    assert step(np.array([-(2**57), -(2**57)]), 1, 2**57).tolist() == [2**56, 2**56]


def test_radius_is_the_least_of_whole_ones():
    tree = from_edges([("x", "a"), ("x", "b"), ("x", "c")])
    fits = chebyshev.fit(tree, np.array([[10], [7], [7], [2]]), np.ones(4, dtype=np.int64))
    assert fits.ravel().tolist() == [10, 5, 5, 0]
