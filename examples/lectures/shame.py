"""Lecture 1: publish each row with probability δ.  It is (0, δ)-private, and someone is named all the same.

Run it with: python examples/lectures/shame.py
"""

from discreet import amounts
from discreet.errors import BadValue
from discreet.mechanism.demonstration import name_and_shame

people = 10_000
for delta in ("1e-4", "1e-6"):
    print(f"δ = {delta}: {float(name_and_shame(delta).mean_published(people)):g} rows published on average,")
    print(f"    someone is named with chance {1 - (1 - float(delta)) ** people:.3f}")
try:
    amounts.delta("1e-4")
except BadValue as refused:
    print(f"refused: {refused.what}")
