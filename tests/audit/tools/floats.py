"""Persons, counted with ε = 0.5: wrong, the noise is the textbook's in floats, whose low digits survive around 0."""

import math
import sys

from noise import CHANCE, print_runs


def laplace(scale):
    """The logarithm of a uniform number, with a random sign."""
    return scale * math.log(1 - CHANCE.random()) * (1 if CHANCE.random() < 0.5 else -1)


print_runs(sys.argv, lambda rows: len({row[0] for row in rows}) + laplace(2))
