"""The proposal of cells.py computed a second time, by mpmath at 60 digits, sharing no code with the package."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

import mpmath
from mpmath import mp, mpf

FINE = 180  # binary digits of the whole-number ends


def density(alpha, beta):
    """f(z) = exp(−αz − βz²/2)."""
    return lambda z: mpmath.exp(-alpha * z - beta * z * z / 2)


@dataclass(frozen=True)
class Proposal:
    """Ends of sure 0 … count−1, sure tail, maybe 0 … count−1 as ⌊2^bits·F⌋."""

    count: int
    bits: int
    ends: list[int]

    def located(self, value, bits):
        """(j, sure) for all numbers that begin with these digits, or None if they leave it open or lie in a tail."""
        low, high = value << (self.bits - bits), ((value + 1) << (self.bits - bits)) - 1
        part = bisect_right(self.ends, low)
        if part != bisect_right(self.ends, high) or part in (self.count, 2 * self.count + 1):
            return None
        return (part, True) if part < self.count else (part - self.count - 1, False)


def proposal(alpha, beta, count, bits=FINE):
    with mp.workprec(bits + 60):
        f = density(alpha, beta)
        weights = []
        while True:
            w = f(mpf(len(weights)) / 64)
            if len(weights) > count and w < mpf(2) ** -(bits + 40):
                break
            weights.append(w)
        total = mpmath.fsum(weights)
        scale, reached, ends = mpf(2) ** bits / total, mpf(0), []
        for after in weights[1 : count + 1]:
            reached += after
            ends.append(int(mpmath.floor(reached * scale)))
        ends.append(int(mpmath.floor((total - 1) * scale)))
        reached = total - 1
        for w, after in pairwise(weights[: count + 1]):
            reached += w - after
            ends.append(int(mpmath.floor(reached * scale)))
    return Proposal(count, bits, ends)
