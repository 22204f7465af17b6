"""Lectures 1 and 4: how far one person moves a fitted model, and noise on the model itself.

Run it with: python examples/lectures/minimiser.py
"""

from fractions import Fraction

from discreet.learn.risk.output import lecture_sensitivity, minimiser_sensitivity
from discreet.relation import Relation

steepness, ridge = Fraction(1), Fraction(10)  # G and nλ
print(f"printed 4G/(nλ): {float(lecture_sensitivity(steepness, ridge))}")
print(f"one person changed, 2G/(nλ): {float(minimiser_sensitivity(steepness, ridge, Relation.REPLACE_ONE))}")
print(f"one person more or fewer, G/(nλ): {float(minimiser_sensitivity(steepness, ridge, Relation.ADD_REMOVE))}")
