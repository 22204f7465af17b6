"""Lectures 1 and 4: many answers, samples, and a thousand noisy steps, priced together.

Run it with: python examples/lectures/together.py
"""

from fractions import Fraction

from discreet.privacy import price
from discreet.privacy.cost import Gaussian, Pure, Repeated, Sampled

tenth, hundredth = Fraction(1, 10), Fraction(1, 100)
print(f"100 answers at ε = 0.1: {price.epsilon(Repeated(Pure(tenth), 100), 0).value} in sum")
print(f"at δ = 1e-5: {float(price.epsilon(Repeated(Pure(tenth), 100), '1e-5').value):.3f}")
print(f"ε = 1 on a sample of one in 100: {float(price.epsilon(Sampled(hundredth, Pure(Fraction(1))), 0).value):.5f}")
steps = Repeated(Sampled(hundredth, Gaussian(Fraction(1))), 1_000)
print(f"1,000 noisy steps, q = 0.01, σ = 1, δ = 1e-5: {float(price.epsilon(steps, '1e-5').value):.3f}")
