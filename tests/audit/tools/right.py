"""Persons, counted with ε = 0.5: right."""

import sys

from noise import discrete_laplace, print_runs

print_runs(sys.argv, lambda rows: len({row[0] for row in rows}) + discrete_laplace(2))
