"""Arithmetic of GF(g) by tables, for g a prime or a power of two up to 256; inner products of vectors over it.

A whole number stands for the vector of its digits in base g, the least first.  For two different vectors x and x′ and
a uniform vector a, ⟨a, x⟩ = ⟨a, x′⟩ with probability exactly 1/g, because ⟨a, x − x′⟩ is uniform over the field.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import bad
from discreet.ndarrays import Ints

LARGEST = 256
Symbols = NDArray[np.uint8]


@dataclass(frozen=True)
class Field:
    """GF(order); `polynomial` reduces products where the order is a power of two above 2, and is 0 otherwise.

    >>> field(4).polynomial, int(field(4).times[2, 3]), int(field(5).plus[3, 4])
    (7, 1, 2)
    """

    order: int
    polynomial: int

    @cached_property
    def plus(self) -> Symbols:
        """a + b, for every a and b."""
        a = np.arange(self.order)
        sums = a[:, None] ^ a if self.order & (self.order - 1) == 0 else (a[:, None] + a) % self.order
        return sums.astype(np.uint8)

    @cached_property
    def times(self) -> Symbols:
        """a·b, for every a and b."""
        a = np.arange(self.order)
        if not self.polynomial:
            return ((a[:, None] * a) % self.order).astype(np.uint8)
        return np.array([[_product(int(x), int(y), self.polynomial) for y in a] for x in a], dtype=np.uint8)

    def inner(self, left: NDArray[np.integer], right: NDArray[np.integer], digits: int) -> Symbols:
        """⟨left, right⟩, both numbers of so many digits."""
        total = np.zeros(np.broadcast_shapes(left.shape, right.shape), dtype=np.uint8)
        for _ in range(digits):
            (left, a), (right, b) = np.divmod(left, self.order), np.divmod(right, self.order)
            total = self.plus[total, self.times[a, b]]
        return total

    def sums_along_lines(self, counts: Ints, digits: int) -> Ints:
        """S_v = Σ_a counts[a, ⟨a, v⟩] for every v of so many digits; counts[a·g + y] is that of seed a and symbol y.

        Digit by digit: F[…, v_j, …, s] = Σ_{a_j} F[…, a_j, …, s + a_j·v_j] and S_v = F[v, 0], in digits·g^(digits+2)
        additions instead of g^(2·digits).
        """
        g = self.order
        table = counts.reshape((g,) * (digits + 1))
        for axis in range(digits):
            lines = np.moveaxis(table, axis, 0)
            table = np.moveaxis(np.stack([self._sum_of_lines(lines, v) for v in range(g)]), 0, axis)
        return np.ascontiguousarray(table.reshape(-1, g)[:, 0])

    def _sum_of_lines(self, lines: Ints, v: int) -> Ints:
        """Σ_a lines[a, …, s + a·v]."""
        total: Ints = np.zeros_like(lines[0])
        for a in range(self.order):
            total += lines[a][..., self.plus[:, self.times[a, v]]]
        return total


@cache
def field(order: int) -> Field:
    """GF(order)."""
    if order not in orders():
        raise bad("field", "must be a prime or a power of two up to 256", order, "Give a number such as 4.")
    degree = order.bit_length() - 1
    is_extension = order > 2 and order & (order - 1) == 0
    return Field(order, _irreducible(degree) if is_extension else 0)


@cache
def orders() -> tuple[int, ...]:
    """Every order that is offered, the least first."""
    primes = [n for n in range(2, LARGEST + 1) if all(n % d for d in range(2, n))]
    return tuple(sorted({*primes, *(2**degree for degree in range(1, 9))}))


def digits_of(order: int, size: int) -> int:
    """The digits in base `order` that hold 0 … size−1."""
    digits, reach = 1, order
    while reach < size:
        digits, reach = digits + 1, reach * order
    return digits


def _product(a: int, b: int, polynomial: int) -> int:
    """a·b as polynomials over GF(2), reduced."""
    top, product = polynomial.bit_length() - 1, 0
    while b:
        if b & 1:
            product ^= a
        a, b = a << 1, b >> 1
        if a >> top:
            a ^= polynomial
    return product


def _irreducible(degree: int) -> int:
    """The least polynomial over GF(2) of that degree that no smaller one divides."""
    candidates = range(1 << degree, 2 << degree)
    return next(p for p in candidates if all(_remainder(p, d) for d in range(2, 1 << (degree // 2 + 1))))


def _remainder(a: int, divisor: int) -> int:
    """a modulo the divisor, as polynomials over GF(2)."""
    while a.bit_length() >= divisor.bit_length():
        a ^= divisor << (a.bit_length() - divisor.bit_length())
    return a
