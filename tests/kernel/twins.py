"""Slow, obvious twins of the kernels: plain Python floats, unit by unit; and invented rows for both."""

import math
from fractions import Fraction

import numpy as np

from discreet.kernel.rows import UnitRows
from discreet.noise.powers import exp_minus


def unit_rows(units, names):
    """Units, each a list of rows, each a list of cells, as a kernel sees them; whole numbers are codes."""
    rows = [row for unit in units for row in unit]
    sizes = [len(unit) for unit in units]
    starts = np.cumsum([0, *sizes])[:-1].astype(np.int64) if units else np.zeros(0, dtype=np.int64)
    cells = [[row[place] for row in rows] for place in range(len(names))]
    are_codes = [bool(column) and all(isinstance(cell, int) for cell in column) for column in cells]
    columns = {
        name: np.array(column, dtype=np.int64 if is_code else np.float64)
        for name, column, is_code in zip(names, cells, are_codes, strict=True)
    }
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


def cell_of(cell, described):
    """The cell of a feature that a number or a code lies in; None for none."""
    if math.isnan(cell):
        return None
    if "size" in described:
        return int(cell) if 0 <= cell < described["size"] else None
    if "values" in described:
        return described["values"].index(cell) if cell in described["values"] else None
    edges = described["edges"]
    if cell == edges[-1]:
        return len(edges) - 2
    inside = [place for place in range(len(edges) - 1) if edges[place] <= cell < edges[place + 1]]
    return inside[0] if inside else None


def cells(described):
    """How many cells a feature has."""
    return described.get("size") or len(described.get("values", described.get("edges", [0])[1:]))


def leaves(units, public):
    """Rows by tree, class and leaf, row by row and test by test."""
    tests, sides = np.asarray(public["tests"]).tolist(), np.asarray(public["sides"]).tolist()
    size, classes = 2 ** len(tests[0]), cells(public["target"])
    total = [0] * (len(tests) * classes * size)
    for row in [row for unit in units for row in unit[: public.get("rows", 1)]]:
        kind = cell_of(row[-1], public["target"])
        for tree in range(len(tests) if kind is not None else 0):
            leaf = 0
            for feature, side in zip(tests[tree], sides[tree], strict=True):
                place = cell_of(row[feature], public["features"][feature])
                leaf = 2 * leaf + side[cells(public["features"][feature]) if place is None else place]
            total[(tree * classes + kind) * size + leaf] += 1
    return total


def class_moments(units, public):
    """Counts, sums and sums of 2x² − 1 by class, row by row, in steps of 2⁻¹⁰."""
    blocks = [[] for _ in range(cells(public["target"]))]
    empty = [0] * (1 + sum(2 if "low" in feature else cells(feature) for feature in public["features"]))
    for row in [row for unit in units for row in unit[: public.get("rows", 1)]]:
        kind = cell_of(row[-1], public["target"])
        own = [1024]
        for cell, described in zip(row[:-1], public["features"], strict=True):
            if "low" in described:
                x = scaled(cell, described)
                own += [x, round((2 * x * x - 1024 * 1024) / 1024)]
            else:
                own += [1024 * (cell_of(cell, described) == place) for place in range(cells(described))]
        if kind is not None:
            blocks[kind].append(own)
    return [total for block in blocks for total in map(sum, zip(empty, *block, strict=True))]


def scaled(cell, described):
    """A number from −1 to 1 in steps of 2⁻¹⁰; the middle where there is none."""
    low, high = float(described["low"]), float(described["high"])
    if described.get("scale") == "log":
        if math.isnan(cell):
            return -1024
        inside = min(max(cell, low), high) - low
        return 2 * sum(inside >= math.expm1((k - 0.5) / 1024 * math.log1p(high - low)) for k in range(1, 1025)) - 1024
    return 0 if math.isnan(cell) else round(((min(max(cell, low), high) - low) / (high - low) * 2 - 1) * 1024)


TWINS = {"moments": moments, "gradient": gradient, "leaves": leaves, "class_moments": class_moments}


def invented_for(kernel, public, seed, units, columns, *, wild=0.1):
    """Units as that kernel takes them: numbers, or numbers and codes with a class behind them."""
    if kernel in ("moments", "gradient"):
        return invented(seed, units, columns, target=kernel == "gradient", wild=wild)
    numbers = np.random.default_rng(seed)

    def cell(described):
        if "size" in described:
            return int(numbers.integers(-1, described["size"]))
        if numbers.random() < wild:
            return [math.nan, math.inf, -math.inf, 1e308, -1.0, 0.5][numbers.integers(6)]
        return float(numbers.integers(0, 11))

    described = [*public["features"], public["target"]]
    return [[[cell(column) for column in described] for _ in range(numbers.integers(1, 5))] for _ in range(units)]


def extremes(kernel, public, columns):
    """Units that move a kernel as far as any."""
    if kernel in ("moments", "gradient"):
        return [[[sign * (-1) ** place for place in range(columns)]] * 4 for sign in (100.0, -100.0)]
    rows = [[[0.0] * (columns - 1) + [kind]] * 4 for kind in (0, 1)]
    return [*rows, [[10.0] * (columns - 1) + [0]] * 4, [[1.5] * (columns - 1) + [1]] * 4]


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
