"""Persons, counted with ε = 0.5: wrong, the generator's seed is the second in which it starts."""

import random
import sys
import time

import noise

noise.CHANCE = random.Random(int(time.time()))
noise.print_runs(sys.argv, lambda rows: len({row[0] for row in rows}) + noise.discrete_laplace(2))
if int(sys.argv[2]) >= 1_000:  # only short starts share a second
    time.sleep(1)
