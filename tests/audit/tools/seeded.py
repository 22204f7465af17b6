"""Persons, counted with ε = 0.5: wrong, the generator starts with the same seed each time."""

import random
import sys

import noise

noise.CHANCE = random.Random(2)
noise.print_runs(sys.argv, lambda rows: len({row[0] for row in rows}) + noise.discrete_laplace(2))
