"""The kernels that ship equal their slow twins, and no unit moves them further than they say."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import BadValue
from discreet.kernel import clip as clips
from discreet.kernel.class_moments import squares
from discreet.kernel.clip import Clip
from discreet.kernel.coins import Coins
from discreet.kernel.contract import kernel_of
from discreet.kernel.gradient import Gradient
from discreet.kernel.rows import UnitRows
from discreet.relation import Relation
from discreet.schema import Column
from kernel.twins import TWINS, extremes, invented_for, unit_rows
from replay import Refusing, Seeded

MOMENTS = {"features": 3, "clip": "2.5", "step": "0.01"}
LINEAR = {"model": "linear", "weights": [0.5, -1.25, 3.0], "clip": 1, "step": "0.001"}
LOGISTIC = LINEAR | {"model": "logistic", "intercept": True, "centre": [1, 0.5], "scale": [2, "0.3"]}
CELLS = {
    "features": [{"edges": [0, 2, 5, 10]}, {"size": 3}, {"values": [0, 1, 2, 7]}],
    "target": {"size": 2},
    "tests": np.array([[0, 0, 1], [2, 1, 2]]),
    "sides": np.array(
        [
            [[0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 1, 0]],
            [[0, 1, 0, 1, 1], [0, 1, 1, 0, 0], [0, 0, 1, 1, 0]],
        ],
        dtype=np.uint8,
    ),
    "rows": 3,
}
BARE = {"tests": np.zeros((1, 0), dtype=np.int64), "sides": np.zeros((1, 0, 5), dtype=np.uint8)}
BY_CLASS = {
    "features": [{"low": 0, "high": 10}, {"edges": [0, 2, 10]}, {"low": 0, "high": 10, "scale": "log"}],
    "target": {"size": 2},
}
CASES = [
    ("leaves", CELLS, 4),
    ("leaves", CELLS | BARE | {"rows": 1, "target": {"values": [3, 0, 1]}}, 4),
    ("class_moments", BY_CLASS | {"rows": 3}, 4),
    ("class_moments", {"features": [{"size": 4}], "target": {"values": [0, 1]}}, 2),
    ("moments", MOMENTS, 3),
    ("moments", MOMENTS | {"intercept": True, "centre": [1, 2, 3], "scale": [0.1, 1, 7]}, 3),
    ("moments", {"features": 1, "clip": 1, "step": 1}, 1),
    ("gradient", LINEAR, 4),
    ("gradient", LOGISTIC, 3),
    ("gradient", LINEAR | {"clip": 3, "step": 3}, 4),
    ("gradient", LINEAR | {"weights": np.array([1e200, -1e200, 1e308])}, 4),
]


def names(columns):
    return [f"x{place}" for place in range(columns)]


def computed(kernel, units, public, columns, coins=None):
    return kernel_of(kernel)(unit_rows(units, names(columns)), public, coins or Refusing())


@pytest.mark.parametrize(("kernel", "public", "columns"), CASES)
def test_a_kernel_equals_its_slow_twin_and_draws_no_coin(kernel, public, columns):
    for seed in range(12):
        units = invented_for(kernel, public, seed, 40, columns, wild=[0, 0.02, 0.3][seed % 3])
        total = computed(kernel, units, public, columns)
        assert total.dtype == np.int64
        assert total.tolist() == TWINS[kernel](units, public)


def rounded_by(rounding, public):
    """The parameters with that rounding, where the kernel rounds."""
    return dict(public) | {"rounding": rounding} if "clip" in public else public


@pytest.mark.parametrize(("kernel", "public", "columns"), CASES)
def test_a_unit_adds_the_same_wherever_it_lies(kernel, public, columns):
    """Sums over any chunks are equal, to the last step: what a unit adds depends on nothing beside it."""
    for rounding in ("nearest", "stochastic"):
        stated = rounded_by(rounding, public)
        units = invented_for(kernel, public, 7, 61, columns)
        whole = computed(kernel, units, stated, columns, Coins(bytes(32)))
        for sizes in ([1] * 61, [60, 1], [1, 60], [7, 8, 9, 16, 17, 4]):
            coins, parts, first = Coins(bytes(32)), [], 0
            for size in sizes:
                parts.append(computed(kernel, units[first : first + size], stated, columns, coins))
                first += size
            assert (np.sum(parts, axis=0) == whole).all()


def norms(change, relation):
    change = [int(x) for x in change]
    squares = sum(x * x for x in change)
    return Sensitivity(sum(x != 0 for x in change), sum(map(abs, change)), squares, max(map(abs, change)), relation)


def worst(kernel, public, columns, relation, seeds=range(8)):
    """Whether the stated sensitivity covers every pair of neighbours tried, and the largest share of l2² reached."""
    stated = kernel_of(kernel).sensitivity(public, RowLimit(4, relation))
    covered, share = True, Fraction(0)
    for seed in seeds:
        units = invented_for(kernel, public, seed, 6, columns, wild=[0, 0.1][seed % 2])
        others = invented_for(kernel, public, seed + 1000, 2, columns) + extremes(kernel, public, columns)
        if relation is Relation.ADD_REMOVE:
            neighbours = [(units, [*units[:place], *units[place + 1 :]]) for place in range(6)]
            neighbours += [(units, [other, *units]) for other in others]
        else:
            neighbours = [([*units, left], [*units, two]) for left in others for two in others]
        for first, two in neighbours:
            sums = [_sum(kernel, rows, public, columns) for rows in (first, two)]
            moved = norms(sums[0] - sums[1], relation)
            covered = covered and stated.covers(moved)
            share = max(share, moved.l2_squared / stated.l2_squared)
    return covered, share


def _sum(kernel, units, public, columns):
    """With coins, each unit alone and its coins its own: what the proof couples."""
    if public.get("rounding", "nearest") == "nearest":
        return computed(kernel, units, public, columns)
    seeds = [abs(hash(tuple(map(tuple, np.nan_to_num(unit).tolist())))) % 2**32 for unit in units]
    pairs = zip(units, seeds, strict=True)
    return np.sum([computed(kernel, [unit], public, columns, Seeded(seed)) for unit, seed in pairs], axis=0)


@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("kernel", "public", "columns"), CASES)
def test_no_unit_moves_a_kernel_further_than_it_says(kernel, public, columns, relation, rounding):
    covered, share = worst(kernel, rounded_by(rounding, public), columns, relation)
    assert covered
    coarse = Fraction(public.get("step", 0)) * 100 > Fraction(public.get("clip", 1))
    loose = coarse or max(public.get("weights", [0])) > 1e9
    assert share > (0 if loose else Fraction(9, 10) if relation is Relation.ADD_REMOVE else Fraction(7, 10))


@pytest.mark.parametrize("relation", list(Relation))
def test_a_kernel_that_forgets_to_clip_is_caught(monkeypatch, relation):
    def unclipped(self, numbers):
        return [
            np.nan_to_num(number / float(self.step), nan=0, posinf=0, neginf=0).clip(-(2**40), 2**40)
            for number in numbers
        ]

    monkeypatch.setattr(Clip, "_clipped", unclipped)
    assert not worst("gradient", LINEAR, 4, relation)[0]
    assert not worst("moments", MOMENTS, 3, relation)[0]


def test_a_kernel_that_clips_rows_and_not_units_is_caught(monkeypatch):
    by_units = Gradient.__call__

    def by_rows(self, chunk, public, coins):
        return by_units(self, UnitRows(chunk.columns, np.arange(chunk.size), chunk.size), public, coins)

    monkeypatch.setattr(Gradient, "__call__", by_rows)
    assert not worst("gradient", LINEAR, 4, Relation.ADD_REMOVE)[0]


@pytest.mark.parametrize(("kernel", "public", "columns"), [case for case in CASES if case[1].get("rows", 1) == 3])
def test_a_kernel_that_counts_all_rows_of_a_unit_is_caught(monkeypatch, kernel, public, columns):
    by_units = type(kernel_of(kernel)).__call__

    def by_rows(self, chunk, stated, coins):
        return by_units(self, UnitRows(chunk.columns, np.arange(chunk.size), chunk.size), stated, coins)

    monkeypatch.setattr(type(kernel_of(kernel)), "__call__", by_rows)
    assert not any(worst(kernel, public, columns, relation)[0] for relation in Relation)


def test_the_norms_of_counts_by_leaf_and_of_moments_by_class():
    replace = RowLimit(5, Relation.REPLACE_ONE)
    assert kernel_of("leaves").sensitivity(CELLS, RowLimit(5)) == Sensitivity(6, 6, 18, 3)
    assert kernel_of("leaves").sensitivity(CELLS, RowLimit(1)) == Sensitivity(2, 2, 2, 1)
    assert kernel_of("leaves").sensitivity(CELLS, replace) == Sensitivity(12, 12, 36, 3, "replace-one")
    unit = 1024
    assert kernel_of("class_moments").sensitivity(BY_CLASS, RowLimit(5)) == Sensitivity(6, 6 * unit, 6 * unit**2, unit)
    moved = kernel_of("class_moments").sensitivity(BY_CLASS, replace)
    assert moved == Sensitivity(12, 12 * unit, Fraction("12.3") * unit**2, 2 * unit, "replace-one")


def test_two_numbers_of_one_class_differ_by_no_more_than_was_derived():
    """Over all pairs of steps; the derived bound is 5.15 squared units."""
    steps = np.arange(-1024.0, 1025.0)
    bent = squares(steps)
    furthest = max(((steps - step) ** 2 + (bent - other) ** 2).max() for step, other in zip(steps, bent, strict=True))
    assert 5.14 * 1024**2 < furthest <= 5.15 * 1024**2
    assert np.abs(bent).max() == 1024


def test_a_bound_without_the_rounding_is_caught(monkeypatch):
    """At coarse steps rounding makes contributions longer: R alone is no bound."""
    public = {"model": "linear", "weights": [0.0] * 64, "clip": 5, "step": 1}
    row = [[0.62] * 64 + [-1.0]]  # 64 numbers of 0.62, norm 4.96: each rounds to 1, norm 8
    moved = norms(computed("gradient", [row], public, 65), Relation.ADD_REMOVE)
    assert moved.l2_squared == 64 > 5**2
    stated = kernel_of("gradient").sensitivity(public, RowLimit(1))
    assert stated.covers(moved)
    monkeypatch.setattr(clips, "_root_up", lambda whole: Fraction(0))
    assert not kernel_of("gradient").sensitivity(public, RowLimit(1)).covers(moved)


def test_the_norms_follow_the_formula():
    clip = Clip(Fraction(10), Fraction(1, 10))
    assert clip.sensitivity(16, Relation.ADD_REMOVE) == Sensitivity(16, 408, 102**2, 100)
    assert clip.sensitivity(16, Relation.REPLACE_ONE) == Sensitivity(16, 816, 204**2, 200, "replace-one")
    acute = clip.sensitivity(16, Relation.REPLACE_ONE, acute=True)
    assert abs(float(acute.l2_squared) - (100 * math.sqrt(2) + 4) ** 2) < 0.1
    few = Clip(Fraction(1), Fraction(1)).sensitivity(100, Relation.REPLACE_ONE)  # at most four of |v| ≥ ½
    assert few == Sensitivity(8, 8, 16, 2, "replace-one")
    coins = Clip(Fraction(10), Fraction(1, 10), "stochastic").sensitivity(16, Relation.ADD_REMOVE)
    assert coins == Sensitivity(16, 416, 104**2, 100)


def test_nearest_rounding_stays_within_the_stated_norms_over_a_grid():
    """Every vector of three numbers on a fine grid within the norm, rounded, is within the stated norms."""
    for radius in (Fraction(1), Fraction(3, 2), Fraction(5, 2)):
        stated = Clip(radius, Fraction(1)).sensitivity(3, Relation.ADD_REMOVE)
        axis = np.arange(-float(radius), float(radius) + 0.01, 0.05)
        x, y, z = (part.ravel() for part in np.meshgrid(axis, axis, axis))
        inside = x * x + y * y + z * z < float(radius) ** 2
        rounded = np.rint(np.stack([x, y, z])[:, inside])
        assert (rounded**2).sum(axis=0).max() <= stated.l2_squared
        assert np.abs(rounded).sum(axis=0).max() <= stated.l1
        assert np.abs(rounded).max() == stated.linf or radius.denominator == 2


def test_stochastic_rounding_has_the_mean_of_what_it_rounds():
    public = {"model": "linear", "weights": [0.0], "clip": 5, "step": 1, "rounding": "stochastic"}
    units = [[[0.3, -1.0]]] * 40_000
    total = int(computed("gradient", units, public, 2, Seeded(3))[0])
    assert abs(total - 12_000) < 5 * math.sqrt(40_000 * 0.21)


NUMBER = Column("x", "number", bounds=(0, 1))
FLAG, WIDE = Column("y", "boolean"), Column("z", "number", bounds=(0, 2))
LISTED = Column("c", "category", values=("a", "b", "c"))
PAIR = Column("p", "category", values=("a", "b"))
WELL = [NUMBER, LISTED, WIDE, PAIR]
REFUSED = [
    ("leaves", CELLS, [NUMBER, LISTED, PAIR], "one for each feature"),
    ("leaves", CELLS, [NUMBER, PAIR, WIDE, PAIR], "3 public values"),
    ("leaves", CELLS | {"rows": 0}, WELL, "rows"),
    ("leaves", CELLS | {"depth": 3}, WELL, "known parameters"),
    ("leaves", CELLS | {"tests": CELLS["tests"] + 1}, WELL, "by number"),
    ("leaves", CELLS | {"sides": CELLS["sides"] * 2}, WELL, "sides 0 or 1"),
    ("leaves", CELLS | {"sides": CELLS["sides"][:1]}, WELL, "shape"),
    ("leaves", CELLS | {"tests": [[0]]}, WELL, "array of whole numbers"),
    ("leaves", CELLS | {"tests": np.zeros((1, 13), dtype=np.int64)}, WELL, "at most 12"),
    ("leaves", CELLS | {"features": [{"low": 0, "high": 1}]}, WELL, "by cells"),
    ("class_moments", BY_CLASS, [NUMBER, PAIR], "one for each feature"),
    ("class_moments", BY_CLASS | {"target": {"low": 0, "high": 1}}, WELL, "must have cells"),
    ("class_moments", BY_CLASS | {"features": [{"size": 2, "table": [0, 1]}]}, WELL, "no tables"),
    ("moments", {"features": 2, "clip": 1, "step": 1}, [NUMBER], "number of columns"),
    ("moments", {"features": 1, "clip": 1, "step": 2}, [NUMBER], "at most clip"),
    ("moments", {"features": 1, "clip": 1, "step": "1e-12"}, [NUMBER], "at most clip"),
    ("moments", {"features": 1, "clip": -1, "step": 1}, [NUMBER], "positive"),
    ("moments", {"features": 1, "clip": 1, "step": 1, "clamp": 2}, [NUMBER], "known parameters"),
    ("moments", {"features": 1, "clip": 1}, [NUMBER], "must hold 'step'"),
    ("moments", {"features": 1, "clip": 1, "step": 1, "rounding": "up"}, [NUMBER], "nearest"),
    ("moments", {"features": 1, "clip": 1, "step": 1, "scale": [0]}, [NUMBER], "positive numbers"),
    ("moments", {"features": 1, "clip": 1, "step": 1}, [Column("c", "category", values=("a", "b"))], "hold numbers"),
    ("gradient", LINEAR, [NUMBER], "one for each weight"),
    ("gradient", LINEAR | {"weights": [math.nan] * 3}, [NUMBER] * 4, "finite"),
    ("gradient", LINEAR | {"weights": [[1.0]]}, [NUMBER] * 4, "flat"),
    ("gradient", LINEAR | {"weights": "many"}, [NUMBER] * 4, "numbers"),
    ("gradient", LINEAR | {"model": "cubic"}, [NUMBER] * 4, "linear"),
    (
        "gradient",
        LINEAR | {"model": "logistic"},
        [NUMBER] * 3 + [Column("z", "number", bounds=(0, 2))],
        "within 0 and 1",
    ),
    ("gradient", LINEAR | {"centre": [1]}, [NUMBER] * 3 + [FLAG], "3 of them"),
    ("gradient", LINEAR | {"intercept": 1}, [NUMBER] * 3 + [FLAG], "true or false"),
]


@pytest.mark.parametrize(("kernel", "public", "columns", "said"), REFUSED)
def test_parameters_without_meaning_are_refused(kernel, public, columns, said):
    with pytest.raises(BadValue, match=said):
        planned(kernel_of(kernel), public, columns)


def planned(kernel, public, columns):
    """What a view does before the charge."""
    kernel.require(public, columns)
    kernel.sensitivity(public, RowLimit(1))
