"""Counts by clique: groups found by comparing and by searching, weights that rows share, and chunks that are kept."""

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest

from discreet.engine.arrays import view_of_arrays
from discreet.kernel import grouped, marginals
from discreet.kernel.cliques import Marginals
from discreet.kernel.contract import MOST_STEPS, kernel_of
from discreet.kernel.encode import Feature
from discreet.kernel.grouped import Grouped
from discreet.kernel.rows import UnitRows
from discreet.schema import Column, Schema, Unit
from kernel.twins import TWINS, invented_for, unit_rows

AWKWARD = [math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, 8e307, -8e307, 3.5, 7.25, -7.25]
DESCRIBED = [
    {"edges": [-7.25, 0, 3.5, 7.25]},
    {"edges": [-8e307, 8e307]},
    {"edges": [0, 5e-324, 1e-323]},
    {"edges": list(range(-150, 151))},
    {"values": [3.5, 0, 7.25, -7.25, 8e307]},
    {"values": [float(np.nextafter(3.5, 4)), 3.5, float(np.nextafter(3.5, 3))]},
    {"values": list(range(100))},
]
SHARING = {
    "features": [{"edges": [0, 2, 5, 10]}, {"size": 3}, {"rows_of_unit": 2}],
    "groups": [np.array(groups) for groups in ([0, 1, 2, 1], [2, 0, 1, 0], [0, 1, 1])],
    "cliques": [np.array(clique) for clique in ([0, 1], [1, 0], [2], [2, 1, 0])],
    "weights": np.array([70, 1, 7, 1000]),
    "each": "unit",
    "rows": 3,
}


def counts(rows, public):
    return kernel_of("marginals")(rows, public)


def of_sizes(sizes, rows, seed=1):
    """A chunk of one-row units, the parameters for a clique of all features, and the counts as numpy makes them."""
    numbers = np.random.default_rng(seed)
    codes = [numbers.integers(0, size, rows) for size in sizes]
    public = {
        "features": [{"size": size} for size in sizes],
        "groups": [np.minimum(np.arange(size + 1), size - 1) for size in sizes],
        "cliques": [np.arange(len(sizes))],
        "weights": np.array([1]),
    }
    chunk = UnitRows({f"x{place}": code for place, code in enumerate(codes)}, np.arange(rows), rows)
    known = np.zeros(sizes, dtype=np.int64)
    np.add.at(known, tuple(codes), 1)
    return chunk, public, known.ravel()


@pytest.mark.parametrize("described", DESCRIBED)
def test_groups_by_comparing_and_by_searching_are_those_of_codes(monkeypatch, described):
    """At every place where the cell may change, one step beside it, and in between."""
    feature, numbers = Feature.parse(described), np.random.default_rng(2)
    places = np.array(described.get("edges") or described["values"], dtype=np.float64)
    beside = [np.nextafter(places, towards) for towards in (-math.inf, math.inf)]
    cells = np.concatenate([places, *beside, AWKWARD, numbers.uniform(-10, 110, 300)])
    for kinds in (1, 2, min(5, feature.cells), feature.cells + 1):
        groups = np.append(np.arange(kinds), numbers.integers(0, kinds, feature.cells + 1 - kinds))
        own = Grouped.parse(described, numbers.permutation(groups))
        known = own.groups[feature.codes(cells)].tolist()
        for rows_a_change in (0.01, 1e9):
            monkeypatch.setattr(grouped, "_ROWS_A_CHANGE", rows_a_change)
            assert own.of_cells(feature, cells).tolist() == known


def test_codes_that_are_none_of_a_category_are_in_the_group_of_the_empty_cell():
    codes = np.array([-1, 0, 1, 2, 3, 4, 2**62, -(2**62)])
    own = Grouped.parse({"size": 3}, np.array([1, 2, 3, 0]))
    assert own.of_cells(own.feature, codes).tolist() == [0, 1, 2, 3, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "sizes", [[255], [256], [257], [1, 256], [256, 1], [16, 16], [256, 256], [65536], [2, 40, 60, 11]]
)
def test_places_do_not_wrap_around_where_their_type_ends(sizes):
    chunk, public, known = of_sizes(sizes, 5000)
    assert (counts(chunk, public) == known).all()


def test_a_clique_in_another_order_is_the_same_table_turned():
    chunk, public, known = of_sizes([2, 3, 4, 5], 700)
    table = known.reshape(2, 3, 4, 5)
    orders = [order for length in (1, 2, 3, 4) for order in permutations(range(4), length)]
    public |= {"cliques": [np.array(order) for order in orders], "weights": np.ones(len(orders), dtype=np.int64)}
    turned = [np.einsum(table, list(range(4)), list(order)) for order in orders]
    assert counts(chunk, public).tolist() == [int(x) for part in turned for x in part.ravel()]


def test_rows_share_a_weight_rounded_down_and_their_number_is_of_all_rows():
    """Three of five rows count, and each adds ⌊w/3⌋; the unit has five rows, which is more than one."""
    units = [[[0.0, 1]] * 5, [[9.0, 2]]]
    total = counts(unit_rows(units, ["x", "y"]), SHARING)
    assert total[:9].reshape(3, 3).tolist() == [[3 * (70 // 3), 0, 0], [0, 0, 0], [0, 70, 0]]
    assert total[9:18].sum() == 1
    assert total[18:20].tolist() == [7, 3 * (7 // 3)]


@pytest.mark.parametrize("each", ["row", "unit"])
def test_blocks_of_rows_add_up_to_all(monkeypatch, each):
    public = SHARING | {"each": each}
    units = invented_for(public, 5, 60)
    known = TWINS["marginals"](units, public)
    for block in (1, 7, 64, 2**20):
        monkeypatch.setattr(marginals, "_BLOCK", block)
        assert counts(unit_rows(units, ["x", "y"]), public).tolist() == known
    assert 2**20 * MOST_STEPS <= 2**53


def test_no_rows_are_counts_of_zero():
    empty = UnitRows({"x": np.zeros(0), "y": np.zeros(0, dtype=np.int64)}, np.zeros(0, dtype=np.int64), 0)
    for each in ("row", "unit"):
        total = counts(empty, SHARING | {"each": each})
        assert total.dtype == np.int64
        assert total.tolist() == [0] * 38


def test_a_chunk_that_is_kept_counts_as_a_new_one_whatever_was_counted_before():
    units = invented_for(SHARING, 3, 50)
    kept = unit_rows(units, ["x", "y"])
    changes = [
        {},
        {"weights": np.array([5, 6, 7, 8])},
        {"cliques": [np.array([1]), np.array([0]), np.array([1, 2]), np.array([2, 0])]},
        {"groups": [np.array(groups) for groups in ([2, 1, 0, 1], [0, 0, 0, 1], [1, 0, 0])]},
        {"rows": 1},
        {"each": "row"},
        {"features": [{"edges": [0, 3, 6, 9]}, {"size": 3}, {"rows_of_unit": 2}]},
    ]
    totals = []
    for first, second in product(changes, changes):
        for changed in (first, second):
            total = counts(kept, SHARING | changed).tolist()
            assert total == counts(unit_rows(units, ["x", "y"]), SHARING | changed).tolist()
            totals.append(tuple(total))
    assert len(set(totals)) == len(changes)


def test_parameters_that_were_parsed_are_used_again_only_for_equal_ones():
    repeated = SHARING | {"cliques": [clique.copy() for clique in SHARING["cliques"]]}
    assert Marginals.parse(SHARING) is Marginals.parse(repeated)
    split = [{"cliques": [np.array(part) for part in parts]} for parts in ([[0, 1], [2]], [[0], [1, 2]])]
    lengths = [Marginals.parse(SHARING | parts | {"weights": np.array([1, 1])}).ends for parts in split]
    assert lengths == [[0, 9, 11], [0, 3, 9]]
    repeated["cliques"][0][0] = 2
    assert Marginals.parse(repeated).cliques[0].features == (2, 1)
    assert Marginals.parse(SHARING).cliques[0].features == (0, 1)


def test_a_view_counts_pairs_of_columns_of_every_kind():
    """An engine hands over categories as codes, flags as numbers, and rows of one unit side by side."""
    schema = Schema(
        "visits",
        [
            Column("age", "integer", bounds=(0, 110)),
            Column("region", "category", values=["north", "south", "east"]),
            Column("member", "boolean"),
        ],
        Unit("who", 3),
    )
    numbers = np.random.default_rng(4)
    who = np.repeat(np.arange(200), numbers.integers(1, 4, 200))
    table = {
        "who": who,
        "age": numbers.integers(0, 111, len(who)),
        "region": numbers.choice(["north", "south", "east", "west"], len(who)),
        "member": numbers.random(len(who)) < 0.3,
    }
    public = {
        "features": [{"edges": [0, 30, 60, 110]}, {"size": 3}, {"values": [0, 1]}, {"rows_of_unit": 3}],
        "groups": [np.arange(4), np.arange(4), np.array([0, 1, 1]), np.array([0, 1, 2, 0])],
        "cliques": [np.array(pair) for pair in combinations(range(4), 2)],
        "weights": np.full(6, 60),
        "each": "unit",
        "rows": 3,
    }
    columns = ["age", "region", "member"]
    view = view_of_arrays(schema, table)
    rows = view.rows(columns).compute()
    cells = np.stack(list(rows.columns.values()), axis=1).tolist()
    units = [cells[first:end] for first, end in zip(rows.starts, [*rows.starts[1:], rows.size], strict=True)]
    total = view.sum("marginals", columns, public).compute()
    assert total.tolist() == TWINS["marginals"](units, public)
    assert total.sum() == 6 * 60 * 200
