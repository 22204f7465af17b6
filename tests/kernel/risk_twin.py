"""The slow, obvious twin of `risk`: whole numbers and single floats, unit by unit and row by row; and invented rows."""

import math
from functools import cache

import numpy as np

from discreet.kernel.rows import UnitRows
from discreet.noise.powers import exp_minus
from kernel.twins import cell_of, cells, logistic

UNIT, SLOPE, WEIGHT, SHORT = 2**10, 2**16, 2**20, 1 - 2.0**-20


def chunk_of(units, public):
    """Units, each a list of rows, as the kernel sees them: codes of categories as int64, all else as float64."""
    rows = [row for unit in units for row in unit]
    starts = np.cumsum([0, *map(len, units)])[:-1].astype(np.int64) if units else np.zeros(0, dtype=np.int64)
    columns = {}
    for place, described in enumerate([*public["features"], public["target"]]):
        kind = np.int64 if "size" in described else np.float64
        columns[f"x{place}"] = np.array([row[place] for row in rows], dtype=kind)
    return UnitRows(columns, starts, len(rows))


def number_of(cell, described):
    """A feature that is one number, in steps."""
    if "table" in described:
        place = cell_of(cell, described)
        return 0 if place is None else round(described["table"][place] * UNIT)
    if math.isnan(cell):
        return round(described.get("missing", 0) * UNIT)
    low, high = float(described["low"]), float(described["high"])
    inside = min(max(cell, low), high) - low
    if described.get("scale") == "log":
        return sum(inside >= begin for begin in begins_of(high - low))
    return round((inside / (high - low) * 2 - 1) * UNIT)


@cache
def begins_of(span):
    """Where each step of a logarithm begins."""
    return [math.expm1((step - 0.5) / UNIT * math.log1p(span)) for step in range(1, UNIT + 1)]


def design_row(row, public):
    """A row's columns in steps, centred."""
    intercept = round(public.get("intercept", 1) * UNIT)
    x = [intercept] if intercept else []
    for cell, described in zip(row, public["features"], strict=False):
        if "table" in described or "low" in described:
            x.append(number_of(cell, described))
        else:
            x += [UNIT * (cell_of(cell, described) == place) for place in range(cells(described))]
    centre = public.get("centre", np.zeros(len(x), dtype=np.int64)).tolist()
    return [own - off for own, off in zip(x, centre, strict=True)]


def slopes_of(lines, cell, public):
    """The slope of each line, or None where a row has no answer."""
    loss, target = public["loss"], public["target"]
    is_number = "table" in target or "low" in target
    answer = cell_of(cell, target) if not is_number or "table" in target else (None if math.isnan(cell) else cell)
    if answer is None:
        return None
    if loss == "total":
        return [1.0]
    if loss == "huber":
        return [lines[0] - number_of(cell, target) / UNIT]
    weight = float(public.get("class_weight", [1.0] * cells(target))[answer])
    if loss == "logistic":
        return [(logistic(lines[0]) - answer) * weight]
    if loss == "hinge":
        sign = 1.0 if answer == 1 else -1.0
        return [-sign * min(max(1.5 - sign * lines[0], 0.0), 1.0) * weight]
    top = max(lines)
    powers = [float(np.float64(_power(top - line))) for line in lines]
    total = 0.0
    for power in powers:
        total += power
    return [(power / total - (place == answer)) * weight for place, power in enumerate(powers)]


def _power(x):
    """e^(−x), the same as the kernel's, and within 2⁻⁴⁰ of the library's."""
    power = float(exp_minus(np.array([min(x, 48.0)]))[0])
    assert abs(power - math.exp(-x)) < 2**-40
    return power


def shortened(slopes, public):
    """The slopes in steps, clipped to their bound."""
    largest = math.isqrt(2 * SLOPE**2) + 1 if public["loss"] == "softmax" else SLOPE
    bound = int(public["slope"] * SLOPE) if "slope" in public else largest
    steps = [slope * SLOPE for slope in slopes]
    if len(steps) == 1:
        return [min(max(steps[0], -float(bound)), float(bound))]
    squares = 0.0
    for step in steps:
        squares += step * step
    shorter = min(1.0, bound * SHORT / math.sqrt(max(squares, 1.0)))
    return [step * shorter for step in steps]


def risk(units, public):
    """Σ over units of the gradients of their first rows."""
    norm, row_limit = int(public["norm"] * UNIT), public.get("rows", 1)
    weights = public["weights"].tolist()
    width = len(design_row(units[0][0], public)) if units else len(weights)
    lines = [weights[first : first + width] for first in range(0, len(weights), width)]
    offset = np.asarray(public.get("offset", [0] * len(lines))).tolist()
    total = [0] * len(weights)
    for unit in units:
        counted = unit[:row_limit]
        share = 1.0 if len(counted) == 1 else SHORT / len(counted)
        for row in counted:
            x = design_row(row, public)
            squares = sum(own * own for own in x)
            clipping = norm / math.sqrt(float(squares)) * SHORT if squares > norm * norm else 1.0
            whole = [sum(own * weight for own, weight in zip(x, line, strict=True)) for line in lines]
            values = [
                float(line) * (clipping / (UNIT * WEIGHT)) + off / WEIGHT
                for line, off in zip(whole, offset, strict=True)
            ]
            slopes = slopes_of(values, row[-1], public)
            if slopes is None:
                continue
            factors = [math.trunc(step * (clipping * share)) for step in shortened(slopes, public)]
            total = [t + f * own for t, (f, own) in zip(total, [(f, own) for f in factors for own in x], strict=True)]
    return total


ODD = [math.nan, math.inf, -math.inf, 1e308, -1e308, 1e-310, -0.0, 0.0, 9.0, 10.0]


def invented_rows(public, seed, units, *, max_rows=4, wild=0.15):
    """Units of 1 to `max_rows` rows: codes, numbers inside and beyond bounds, empty and infinite ones."""
    numbers = np.random.default_rng(seed)

    def cell(described):
        if "size" in described:
            return int(numbers.integers(-1, described["size"]))
        if numbers.random() < wild:
            return ODD[numbers.integers(len(ODD))]
        return float(numbers.integers(0, 12)) if numbers.random() < 0.6 else float(numbers.uniform(-2, 12))

    described = [*public["features"], public["target"]]
    return [
        [[cell(column) for column in described] for _ in range(numbers.integers(1, max_rows + 1))] for _ in range(units)
    ]


def extreme_units(public, seed, count=40):
    """Units whose rows repeat one row of cells at the ends of their ranges, with every answer."""
    numbers = np.random.default_rng(seed)

    def ends(described):
        if "size" in described:
            return list(range(-1, described["size"]))
        if "values" in described:
            return [*described["values"], math.nan]
        edges = [float(described["low"]), float(described["high"])] if "low" in described else described["edges"]
        return [*edges, math.nan]

    choices = [ends(described) for described in (*public["features"], public["target"])]
    units = []
    for _ in range(count):
        row = [own[numbers.integers(len(own))] for own in choices]
        units += [[[*row[:-1], answer]] * size for answer in choices[-1] for size in (1, 4)]
    return units
