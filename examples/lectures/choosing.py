"""Lectures 2 and 4: the most common nationality by the exponential mechanism, and the bias of a coin.

Run it with: python examples/lectures/choosing.py
"""

from collections import Counter

from discreet.bounded import scalar
from discreet.mechanism.beta import bias
from discreet.mechanism.select import exponential
from discreet.noise.source import SYSTEM

counts = {"Indian": 420, "Chinese": 390, "Canadian": 350, "French": 60}
choice = exponential(scalar(1), "0.1")
names = list(counts)
drawn = Counter(names[choice(list(counts.values()), SYSTEM)] for _ in range(1000))
print(f"exponent ε/(2Δ) = {float(choice.rate)}; of 1,000 choices at ε = 0.1: {dict(drawn.most_common())}")
print(f"95 of 100 choices among 200 lose at most {choice.shortfall(200, '0.05'):.1f}")
coin = bias("0.1", low="0.1", high="0.9", points=801, under="add-remove")
print(f"bias of a coin on (0.1, 0.9): exponent {coin.exponent:.4f}")
