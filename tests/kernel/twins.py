"""Slow, obvious twins of the kernels: plain Python floats, unit by unit; and invented rows for both."""

import math
from fractions import Fraction

import numpy as np

from discreet.kernel.rows import UnitRows
from discreet.noise.powers import exp_minus


def unit_rows(units, names):
    """Units, each a list of rows, each a list of cells, as a kernel sees them."""
    rows = [row for unit in units for row in unit]
    sizes = [len(unit) for unit in units]
    starts = np.cumsum([0, *sizes])[:-1].astype(np.int64) if units else np.zeros(0, dtype=np.int64)
    columns = {name: np.array([row[place] for row in rows], dtype=np.float64) for place, name in enumerate(names)}
    return UnitRows(columns, starts, len(rows))


def clipped_steps(numbers, clip, step):
    """One unit's numbers, shortened to the norm clip·(1 − 2⁻¹⁰), in steps, to the nearest."""
    clip, step = Fraction(clip), Fraction(step)
    short = 1 - Fraction(1, 1024)
    if not all(math.isfinite(x) for x in numbers):
        return [0] * len(numbers)
    scale = max(abs(x) for x in numbers) or 1.0
    squares = 0.0
    for x in numbers:
        squares += (x / scale) * (x / scale)
    root = math.sqrt(squares)
    if scale * root > float(clip * short):
        return [round(x / scale * (float(clip / step * short) / root)) for x in numbers]
    return [round(x / float(step)) for x in numbers]


def shaped(row, public, features):
    """A row's features, or None where a cell is missing."""
    if not all(math.isfinite(cell) for cell in row):
        return None
    centre, scale = public.get("centre", [0] * features), public.get("scale", [1] * features)
    x = [(row[j] - float(centre[j])) / float(scale[j]) for j in range(features)]
    return [*x, 1.0] if public.get("intercept") else x


def moments(units, public):
    """Σ over units of the upper triangle of xxᵀ."""
    width = public["features"] + bool(public.get("intercept"))
    pairs = [(i, j) for i in range(width) for j in range(i, width)]
    total = [0] * len(pairs)
    for unit in units:
        own = [0.0] * len(pairs)
        for row in unit:
            x = shaped(row, public, public["features"])
            if x is not None:
                own = [o + x[i] * x[j] for o, (i, j) in zip(own, pairs, strict=True)]
        total = [t + s for t, s in zip(total, clipped_steps(own, public["clip"], public["step"]), strict=True)]
    return total


def gradient(units, public):
    """Σ over units of the gradient at the weights."""
    weights = [float(w) for w in public["weights"]]
    features = len(weights) - bool(public.get("intercept"))
    total = [0] * len(weights)
    for unit in units:
        own = [0.0] * len(weights)
        for row in unit:
            x = shaped(row, public, features)
            if x is None:
                continue
            line = 0.0
            for feature, weight in zip(x, weights, strict=True):
                line += feature * weight
            off = (line if public["model"] == "linear" else logistic(line)) - row[-1]
            own = [o + off * value for o, value in zip(own, x, strict=True)]
        total = [t + s for t, s in zip(total, clipped_steps(own, public["clip"], public["step"]), strict=True)]
    return total


def logistic(line):
    if math.isnan(line):
        return line
    power = float(exp_minus(np.array([min(abs(line), 48.0)]))[0])
    assert abs(power - math.exp(-abs(line))) < 2**-40
    return (1.0 if line >= 0 else power) / (1.0 + power)


TWINS = {"moments": moments, "gradient": gradient}


def invented(seed, units, columns, *, largest=4, wild=0.1, target=False):
    """Units of 1 to `most` rows with some empty, infinite, huge and tiny cells."""
    numbers = np.random.default_rng(seed)
    odd = [math.nan, math.inf, -math.inf, 1e308, -1e308, 1e-310, 0.0, -0.0, 1e155]

    def cell(place):
        if numbers.random() < wild:
            return odd[numbers.integers(len(odd))]
        if target and place == columns - 1:
            return float(numbers.integers(2))
        return float(numbers.normal() * 10 ** numbers.uniform(-3, 2))

    return [[[cell(j) for j in range(columns)] for _ in range(numbers.integers(1, largest + 1))] for _ in range(units)]
