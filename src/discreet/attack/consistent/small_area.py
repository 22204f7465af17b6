"""Rebuild the persons of small areas from their two-way tables, exact or as a release publishes them.

Each area has n persons with an age band, a sex and a group.  Three tables are published for it: age × sex, age × group
and sex × group.  The attacker takes the whole-number table of persons that is nearest to all three, by CP-SAT.
"""

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.consistent.ranges import log_worlds
from discreet.attack.interval import mean_interval
from discreet.attack.invented import invented_dataset
from discreet.attack.packages import require
from discreet.attack.result import RAW, Result
from discreet.errors import DiscreetError, bad
from discreet.fix import Fix
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import Generator, generator

AREAS, PERSONS = 40, 10
_BLIND = 200  # other districts that blind guessing is the mean of
_AGES = tuple(f"a{band:02d}" for band in range(18))
_SEXES = ("f", "m")
_GROUPS = ("g1", "g2", "g3", "g4")
_LABELS = {"age": _AGES, "sex": _SEXES, "origin": _GROUPS}
_SHAPE = tuple(map(len, _LABELS.values()))
_SHARES = (0.6, 0.25, 0.1, 0.05)
_SECONDS = 5.0
_MOST = 10**15  # of a published number; far above any count
_VIEWS = tuple(combinations(range(len(_SHAPE)), 2))


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """Persons rebuilt in invented areas, from exact tables and from releases of the same tables."""
    chance = generator(seed)
    truth = invented_areas(chance)
    shares = {RAW: _rebuilt_shares(truth, [_margins(truth, view) for view in _VIEWS])}
    for epsilon in epsilons:
        shares[epsilon] = _rebuilt_shares(truth, released_tables(truth, amounts.epsilon(epsilon)))
    blind = [
        overlap(own, other) for _ in range(_BLIND) for own, other in zip(truth, invented_areas(chance), strict=True)
    ]
    return Result(
        "small_area",
        "persons rebuilt",
        f"share of persons whose whole row is rebuilt, in {AREAS} areas of {PERSONS}",
        raw=float(shares[RAW].mean()),
        private={epsilon: float(shares[epsilon].mean()) for epsilon in epsilons},
        baseline=float(np.mean(blind)),
        ceiling=dict.fromkeys(epsilons),  # a row that is common elsewhere is rebuilt by guessing: no promise bounds it
        units="one person",
        trials=AREAS,
        intervals={key: _share_interval(values) for key, values in shares.items()},
        notes=(
            f"Blind guessing takes another area of the same district for this one, {_BLIND} times.",
            "ε is of three releases together; the attacker uses the published whole numbers, which add up.",
        ),
    )


def invented_areas(chance: Generator) -> Ints:
    """Counts by area, age band, sex and group: persons drawn independently, the groups unequal."""
    cells = np.zeros((AREAS, *_SHAPE), dtype=np.int64)
    for area in cells:
        ages = chance.integers(0, _SHAPE[0], PERSONS)
        sexes = chance.integers(0, _SHAPE[1], PERSONS)
        np.add.at(area, (ages, sexes, chance.choice(_SHAPE[2], PERSONS, p=_SHARES)), 1)
    return cells


def rebuilt(tables: Sequence[Ints], views: Sequence[tuple[int, ...]], shape: tuple[int, ...]) -> Ints:
    """The table of whole persons whose margins are nearest to the given ones: min Σ |margin − table|, by CP-SAT."""
    require("ortools")
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    largest = max(1, *(int(table.max(initial=0)) for table in tables))
    places = list(product(*map(range, shape)))
    cells = {place: model.new_int_var(0, largest, "") for place in places}
    misses = []
    for table, view in zip(tables, views, strict=True):
        for label in product(*(range(shape[axis]) for axis in view)):
            within = [cells[place] for place in places if tuple(place[axis] for axis in view) == label]
            misses.append(model.new_int_var(0, 4 * largest * len(within), ""))
            model.add_abs_equality(misses[-1], sum(within) - int(table[label]))
    model.minimize(sum(misses))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = _SECONDS
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return np.zeros(shape, dtype=np.int64)
    return np.array([solver.value(cells[place]) for place in places], dtype=np.int64).reshape(shape)


def overlap(truth: Ints, guess: Ints) -> float:
    """The share of true persons who are in the guess, each guessed person counted once: Σ min(x, y) / Σ x."""
    return float(np.minimum(truth, guess).sum() / truth.sum())


def _rebuilt_shares(truth: Ints, tables: Sequence[Ints]) -> Floats:
    shares = [
        overlap(area, rebuilt([table[place] for table in tables], _VIEWS, _SHAPE)) for place, area in enumerate(truth)
    ]
    return np.array(shares, dtype=np.float64)


def _share_interval(values: Floats) -> tuple[float, float]:
    """The interval of a mean share, which is no less than 0 and no more than 1."""
    low, high = mean_interval(values)
    return max(low, 0.0), min(high, 1.0)


def _margins(truth: Ints, view: tuple[int, ...]) -> Ints:
    others = tuple(axis + 1 for axis in range(len(_SHAPE)) if axis not in view)
    return np.asarray(truth.sum(axis=others), dtype=np.int64)


def released_tables(truth: Ints, epsilon: Fraction) -> list[Ints]:
    """The three tables of every area by three releases of Discreet, each at ε/3 over district and areas."""
    persons = np.repeat(np.argwhere(truth >= 0), truth.reshape(-1), axis=0)
    names = list(_LABELS)
    columns: dict[str, list[Any]] = {"person": list(range(len(persons))), "area": [f"b{row[0]:03d}" for row in persons]}
    columns |= {name: [_LABELS[name][row[axis + 1]] for row in persons] for axis, name in enumerate(names)}
    branches = ", ".join(f'["all", "b{area:03d}"]' for area in range(len(truth)))
    toml = '[unit]\nkey = "person"\nmax_rows = 1\n[columns.area]\ntype = "category"\n'
    toml += "".join(
        f'[columns.{name}]\ntype = "category"\nvalues = {json.dumps(list(_LABELS[name]))}\n' for name in names
    )
    toml += f'[hierarchy.places]\nlevels = ["district", "area"]\nbranches = [{branches}]\n'
    toml += f'[budget]\nepsilon = "{amounts.text_of(epsilon)}"\n'
    tables = []
    with invented_dataset(toml, columns) as dataset:
        for view in _VIEWS:
            built = dataset.release("places", by=[names[axis] for axis in view]).build(epsilon=epsilon / 3)
            tree = built.plan.subject.tree
            order = sorted(tree.leaves, key=lambda leaf: tree.names[leaf])
            tables.append(built.fitted[order].reshape(len(truth), *(_SHAPE[axis] for axis in view)))
    return tables


def on_file(path: Path, seed: int) -> Result:
    """Worlds that a built release leaves for each of its smallest areas: the tables within its published ranges.

    Only what is published is read, so the result is no more private than the release.  Nothing is drawn by the seed.
    """
    areas, facts = _ranges_of(path)
    logs = np.array([log_worlds(low, high) for low, high in areas], dtype=np.float64)
    pinned = sum(int(low[(low == high) & (low > 0)].sum()) for low, high in areas)
    epsilon = facts["epsilon"]
    middle = float(np.median(logs))
    return Result(
        "small_area",
        "digits of worlds",
        "log₁₀ of the worlds that fit the published ranges, for the median of the smallest areas",
        raw=None,
        private={epsilon: middle},
        baseline=None,
        ceiling={epsilon: None},
        units=f"one {facts['unit'] or 'row'}",
        trials=len(logs),
        better="lower",
        notes=(
            f"In {int((logs == 0).sum()):,} of {len(logs):,} areas one world is left, "
            f"and {pinned:,} counts are of cells with a range of one number.",
            "Ranges hold one by one at the release's level, so the true table need not be among these worlds.",
        ),
        details={"areas": len(logs), "one_world": int((logs == 0).sum()), "pinned": pinned, "least": float(logs.min())},
    )


def _ranges_of(path: Path) -> tuple[list[tuple[Ints, Ints]], dict[str, Any]]:
    """The ends of every cell, area by area, on the release's lowest level."""
    require("pyarrow")
    fix = Fix("Build one:", "release build")
    try:
        if not all((path / name).is_file() for name in ("release.json", "table.parquet")):
            raise OSError  # a pipe would never end
        facts = json.loads((path / "release.json").read_text(encoding="utf-8"))
        from pyarrow import parquet  # type: ignore[import-untyped]

        frame = parquet.read_table(path / "table.parquet").to_pydict()
        lowest = facts["levels"][-1]["level"]
        rows = [row for row, level in enumerate(frame["level"]) if level == lowest]
        low, high = (
            np.array([amounts.count(frame[name][row], name, 0, _MOST) for row in rows], dtype=np.int64)
            for name in ("n_low", "n_high")
        )
        cells = amounts.count(facts["cells"], "cells", 1)
        facts |= {"epsilon": amounts.text_of(amounts.epsilon(facts["epsilon"]))}
        if not rows or len(rows) % cells or not isinstance(facts["unit"], (str, type(None))):
            raise ValueError
    except (DiscreetError, ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError):
        raise bad("on", "must be the folder of a built release", path.name, fix) from None
    if (low > high).any():
        raise bad("on", "must be the folder of a release whose ranges go from low to high", path.name, fix)
    return list(zip(low.reshape(-1, cells), high.reshape(-1, cells), strict=True)), facts
