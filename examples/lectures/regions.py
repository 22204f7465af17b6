"""Lecture 3: noisy counts of regions, made to add up.

Run it with: python examples/lectures/regions.py
"""

import numpy as np

from discreet.release.fit import duals, integer
from discreet.release.tree import from_edges

tree = from_edges([("US", "GA"), ("US", "MI")])
noisy, weights = np.array([[2], [3], [0]]), np.array([1, 1, 1])  # US 2, Georgia 3, Michigan 0
print("US, Georgia, Michigan:", integer.fit(tree, noisy, weights)[:, 0].tolist())
print("where the US is publicly 3:", integer.fit(tree, noisy, weights, total=3)[:, 0].tolist())
print("without whole numbers:", duals.projection(tree, noisy, weights)[:, 0].tolist())
