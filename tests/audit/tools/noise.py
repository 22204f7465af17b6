"""Whole Laplace noise from the operating system, for tools that need nothing but Python."""

import math
import random

CHANCE = random.SystemRandom()


def discrete_laplace(scale):
    """P[k] ∝ e^(−|k|/scale): a geometric number minus another."""
    return _geometric(scale) - _geometric(scale)


def _geometric(scale):
    return int(-scale * math.log(1 - CHANCE.random()))


def rows_of(path):
    """The rows of a CSV file below its header."""
    with open(path) as file:
        return [line.strip().split(",") for line in file][1:]


def print_runs(arguments, answer):
    """One answer a line."""
    rows, repeats = rows_of(arguments[1]), int(arguments[2])
    print("\n".join(str(answer(rows)) for _ in range(repeats)))
