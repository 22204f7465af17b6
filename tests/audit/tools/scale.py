"""Persons, counted with ε = 0.5: wrong, the scale is ε in place of 1/ε."""

import sys

from noise import discrete_laplace, print_runs

print_runs(sys.argv, lambda rows: len({row[0] for row in rows}) + discrete_laplace(0.5))
