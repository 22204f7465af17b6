"""Lecture 4: every phone adds noise before it sends; lecture 5: how errors fall with the number of people.

Run it with: python examples/lectures/phones.py
"""

import discreet as dp

for people in (10_000, 1_000_000):
    local, shuffled, central = dp.local.compare(1, people, "1e-6").rows
    print(f"{people:,} people at ε = 1: ± {local.radius:.5f} local, ± {central.radius:.7f} central")
use = dp.local.number("0.1", 0, 50, 1, protects="use")
print(f"noise for one use at ε = {float(use.epsilon):.3g} costs a person with 50 uses {float(use.person_epsilon):.3g}")
