"""An order of a unit's rows that any engine can compute with whole numbers of 64 bits, vector by vector.

    x₀ = the unit's id mod 2³¹          xᵢ = f(xᵢ₋₁ ⊕ lᵢ) for limbs l₁, l₂, … of the row's words or their hash
    f: x ↦ x ⊕ (x ≫ 16), x · 0x85ebca6b mod 2³¹, x ⊕ (x ≫ 13), x · 0xc2b2ae35 mod 2³¹, x ⊕ (x ≫ 16)

f is the last step of MurmurHash3 (Appleby 2011) on 31 bits in place of 32, so that no product reaches 2⁶³.  It is a
bijection of 0 … 2³¹ − 1.  An order needs evenness and no strength: no claim uses that it is random.
"""

from collections.abc import Sequence

from discreet.ndarrays import Ints

LIMB = 31  # bits
MASK = 2**LIMB - 1
FACTORS = (0x85EBCA6B, 0xC2B2AE35)
SHIFTS = (16, 13, 16)


def limbs(name: str, bits: int) -> tuple[str, ...]:
    """SQL of the limbs of a whole number of so many bits, at most 62: the lower one first.

    >>> limbs("w0", 20), limbs("w0", 40)
    (('w0',), ('w0 & 2147483647', 'w0 >> 31'))
    """
    return (name,) if bits <= LIMB else (f"{name} & {MASK}", f"{name} >> {LIMB}")


def steps(seed: str, limbs: Sequence[str], xor: str) -> tuple[str, ...]:
    """SQL of x, step by step, each over the x of the step before: a layer each, so that nothing is computed twice.

    `seed` and `limbs` are SQL; `xor` is that operation with two gaps, as `str.format` has them.
    """
    expressions, x = [], seed
    for limb in limbs:
        expressions.append(xor.format(f"({x})", f"({limb})"))
        expressions += [f"({xor.format('x', f'(x >> {SHIFTS[turn]})')} * {FACTORS[turn]}) & {MASK}" for turn in (0, 1)]
        x = xor.format("x", f"(x >> {SHIFTS[2]})")
    return (*expressions, x)


def mixed(seed: Ints, limbs: Sequence[Ints]) -> Ints:
    """x of every row, in this process.

    >>> import numpy as np
    >>> mixed(np.array([0, 7]), [np.array([1, 1]), np.array([2, 2])]).tolist()
    [1379188473, 938458976]
    """
    x = seed
    for limb in limbs:
        x = x ^ limb
        for shift, factor in zip(SHIFTS, FACTORS, strict=False):
            x = ((x ^ (x >> shift)) * factor) & MASK
        x = x ^ (x >> SHIFTS[2])
    return x
