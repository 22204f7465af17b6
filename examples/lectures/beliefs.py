"""Lectures 2 and 3: how far any answer can move a belief.

Run it with: python examples/lectures/beliefs.py
"""

import math

import discreet as dp

belief = dp.odds.posterior("0.1", "0.4")
print(f"ε = 0.1, belief 0.4 before: between {float(belief.low):.4f} and {float(belief.high):.4f} after")
print(f"the lectures' looser ends: {0.4 * math.exp(-0.1):.4f} and {0.4 * math.exp(0.1):.4f}")
