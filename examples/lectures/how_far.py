"""Lectures 1, 3 and 4: how far one person moves a count, a sum, a mean, and a vector.

Run it with: python examples/lectures/how_far.py
"""

from discreet.bounded import cells, scalar
from discreet.mechanism.additive import laplace

print(f"count: noise of scale {laplace(scalar(1), 1).noise.scale} at ε = 1")
print(f"heights up to 7 feet: {laplace(scalar(7), 1).noise.scale}")
print(f"salaries up to £50K, four leave at once: {laplace(scalar(4 * 50), 1).noise.scale}K")
print(f"sum over [3, 5], one more person: {laplace(scalar(5), 1).noise.scale}")
print(f"sum over [3, 5], one person changed: {laplace(scalar(2, 'replace-one'), 1).noise.scale}")
print(f"mean of 1,000 values in [0, 1]: {float(laplace(scalar(1, 'replace-one'), 1).noise.scale / 1000)}")
print(f"twelve joint counts of naive Bayes at ε = 0.1: {laplace(cells(12, 1), '0.1').noise.scale}")
print(f"a group of three at ε = 0.1: {laplace(scalar(3), '0.1').noise.scale}")
