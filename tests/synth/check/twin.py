"""The statistics of a check in plain Python: loops over rows and dicts of shares, nothing of the package's arithmetic.

Real rows are those that `folk.fill` writes, synthetic ones the codes of a build.
"""

from itertools import product

HEAD = ["sex", "region", "age", "pay", "ill"]
AGES = [0, 18, 40, 65]


def real_code(name, cell):
    """The fine cell of a written cell; the last one where it is empty."""
    match name:
        case "sex":
            return ["f", "m"].index(cell)
        case "region":
            return ["north", "south", "east"].index(cell)
        case "age":
            return 4 if cell == "" else max(place for place, edge in enumerate(AGES) if int(cell) >= edge)
        case "pay":
            return 201 if cell == "" else int(2 * float(cell))
        case _:
            return 2 if cell == "" else int(cell)


def real_units(rows, names, max_rows):
    """For each unit its rows as codes; with several rows the last code is their number, from 0."""
    units = {}
    for row in rows:
        units.setdefault(row[0], []).append([real_code(name, row[1 + HEAD.index(name)]) for name in names])
    return with_sizes(units.values(), max_rows)


def synthetic_units(build, max_rows):
    """The same of the synthetic rows."""
    codes = build.codes
    owners = range(codes.rows) if codes.units is None else codes.units.tolist()
    units = {}
    for place, owner in enumerate(owners):
        units.setdefault(owner, []).append([int(column[place]) for column in codes.columns])
    return with_sizes(units.values(), max_rows)


def with_sizes(units, max_rows):
    return [[[*row, *([len(rows) - 1] if max_rows > 1 else [])] for row in rows] for rows in units]


def shares(units, clique, groups):
    """The share of units in each cell of some features by groups: a unit's rows share its weight."""
    held = {}
    for rows in units:
        for row in rows:
            cell = tuple(int(groups[feature][row[feature]]) for feature in clique)
            held[cell] = held.get(cell, 0) + 1 / len(rows)
    return {cell: weight / len(units) for cell, weight in held.items()}


def distance(real, synthetic, clique, groups):
    """Σ|p − q| of one table."""
    first, second = (shares(units, clique, groups) for units in (real, synthetic))
    return sum(abs(first.get(cell, 0) - second.get(cell, 0)) for cell in {*first, *second})


def correlation(units, clique, groups, scores):
    """Σ p·z·z′ of two features."""
    held = shares(units, clique, groups)
    cells = product(*(range(len(scores[feature])) for feature in clique))
    return sum(held.get(cell, 0) * scores[clique[0]][cell[0]] * scores[clique[1]][cell[1]] for cell in cells)
