"""Vectors side by side: noise that is drawn at once, and still one for each coordinate."""

import numpy as np

from discreet.bounded import cells
from discreet.mechanism import additive
from discreet.mechanism.vectors import vectors
from discreet.noise.source import SYSTEM

WIDE, NARROW = additive.laplace(cells(1, 1), "0.001"), additive.laplace(cells(1, 1), 400)


def test_each_vector_keeps_its_name_and_shape():
    mechanism = vectors({"a": NARROW, "b": WIDE, "c": NARROW})
    exact = {"c": np.arange(6).reshape(2, 3), "a": np.array(7), "b": np.arange(4)}
    noisy = mechanism(exact, SYSTEM)
    assert {name: part.shape for name, part in noisy.items()} == {"a": (), "b": (4,), "c": (2, 3)}
    # At ε = 400 noise is 0 but for a chance of 1e-173.
    assert noisy["a"] == 7
    assert (noisy["c"] == exact["c"]).all()


def test_vectors_with_equal_mechanisms_get_noise_of_their_own():
    names = [f"table {number}" for number in range(50)]
    noisy = vectors(dict.fromkeys(names, WIDE))({name: np.zeros(20, dtype=np.int64) for name in names}, SYSTEM)
    # Two draws of scale 1,000 agree with a chance below 1/2,000, all 20 of one table with one below 1e-66.
    assert len({part.tobytes() for part in noisy.values()}) == len(names)
