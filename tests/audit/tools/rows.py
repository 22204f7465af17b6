"""Visits, counted with ε = 0.5 for a person: wrong, the noise is that of one visit and a person has several."""

import sys

from noise import discrete_laplace, print_runs

print_runs(sys.argv, lambda rows: len(rows) + discrete_laplace(2))
