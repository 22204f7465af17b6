"""Slow, obvious twins of the kernels: plain Python floats, unit by unit; and invented rows for both."""

import math

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


def marginals(units, public):
    """Counts of every clique, row by row; each row adds the clique's weight or its unit's share of that."""
    total = []
    groups = [np.asarray(group).tolist() for group in public["groups"]]
    for clique, weight in zip(public["cliques"], public["weights"], strict=True):
        shape = [1 + max(groups[feature]) for feature in clique]
        counts = np.zeros(shape, dtype=object)
        for unit in units:
            counted = unit[: public.get("rows", 1)]
            for row in counted:
                own = groups_of(row, len(unit), public["features"], groups)
                share = int(weight) // len(counted) if public.get("each") == "unit" else int(weight)
                counts[tuple(own[feature] for feature in clique)] += share
        total += counts.ravel().tolist()
    return total


def groups_of(row, size, described, groups):
    """The group of a row by each feature: by its next cell, or by how many rows its unit has."""
    own, left = [], list(row)
    for feature, group in zip(described, groups, strict=True):
        if "rows_of_unit" in feature:
            own.append(group[min(size, feature["rows_of_unit"]) - 1])
        else:
            place = cell_of(left.pop(0), feature)
            own.append(group[-1 if place is None else place])
    return own


TWINS = {"leaves": leaves, "class_moments": class_moments, "marginals": marginals}


def invented_for(public, seed, units, *, wild=0.1):
    """Units of 1 to 4 rows: numbers and codes with a class behind them, some empty, infinite or huge."""
    numbers = np.random.default_rng(seed)

    def cell(described):
        if "size" in described:
            return int(numbers.integers(-1, described["size"]))
        if numbers.random() < wild:
            return [math.nan, math.inf, -math.inf, 1e308, -1.0, 0.5][numbers.integers(6)]
        return float(numbers.integers(0, 11))

    described = [feature for feature in public["features"] if "rows_of_unit" not in feature]
    described += [public["target"]] if "target" in public else []
    return [[[cell(column) for column in described] for _ in range(numbers.integers(1, 5))] for _ in range(units)]


def extremes(columns):
    """Units that move a kernel as far as any."""
    rows = [[[0.0] * (columns - 1) + [kind]] * 4 for kind in (0, 1)]
    return [*rows, [[10.0] * (columns - 1) + [0]] * 4, [[1.5] * (columns - 1) + [1]] * 4]
