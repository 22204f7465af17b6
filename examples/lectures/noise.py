"""Lectures 1 and 4: Gaussian noise, where it beats Laplace noise, and what the printed formulas give.

Run it with: python examples/lectures/noise.py
"""

import math
from fractions import Fraction

from discreet.bounded import cells
from discreet.mechanism.additive import analytic_gaussian, laplace
from discreet.privacy import analytic

print(f"textbook σ at ε = 0.1, δ = 1e-5: {float(analytic.classic_sigma('0.1', '1e-5')):.2f}")
for epsilon in ("0.1", "1", "10"):
    print(f"smallest σ at ε = {epsilon}: {float(analytic.sigma(epsilon, '1e-5')):.4f}")
printed = Fraction(math.sqrt(math.log(1.25e5) / 0.1))
print(f"δ of the variance that lecture 1 prints: {float(analytic.delta(printed, Fraction(1, 10))):.5f}, not 1e-5")
for count in range(1, 20):
    if analytic_gaussian(cells(count, 1), 1, "1e-5").variance < laplace(cells(count, 1), 1).variance:
        print(f"Gaussian noise beats Laplace noise from k = {count} counts on")
        break
