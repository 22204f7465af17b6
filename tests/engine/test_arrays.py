"""Arrays in this process give the integers that the engine on files gives on the same rows and under the same key."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet.bounded import RowLimit
from discreet.engine import Engine, Limits, arrays_cells, passes
from discreet.engine.arrays import ArrayEngine
from discreet.engine.prepare import columns_read
from discreet.errors import BadValue, EngineFailed, NotAnswerable, SourceUnavailable
from discreet.kernel import risk
from discreet.query.bound import draft_of
from discreet.query.nodes import (
    Bins,
    Caps,
    Col,
    Compare,
    Count,
    CountDistinct,
    CountRows,
    CountUnits,
    Key,
    Literal,
    Mean,
    Output,
    Question,
    Sum,
)
from discreet.relation import Relation
from discreet.schema import Column, Schema, Unit

from .twin import SECRET, sql_rows

LIMITS = Limits(memory=2**28, seconds=20, prepare_seconds=60, threads=1)
COLUMNS = [
    Column("age", "integer", bounds=(0, 110)),
    Column("cents", "integer", bounds=(-1000, 1000), step=50),
    Column("code", "integer", values=[1, 2, 5], null="key"),
    Column("income", "number", bounds=(-10, 100), step="0.01"),
    Column("weight", "number", bounds=("-1.5", 3)),
    Column("size", "number"),
    Column("member", "boolean"),
    Column("region", "category", values=["north", "south", "o'east", ""]),
    Column("birth", "category", values=["a", "b"], fixed_per_unit=True),
]
UNITS = {
    "texts": Schema("people", COLUMNS, Unit("who", 3)),
    "numbers": Schema("people", COLUMNS, Unit("who", 2), Relation.REPLACE_ONE),
    "rows": Schema("people", [c for c in COLUMNS if not c.fixed_per_unit]),
}
FEATURES = ["age", "income", "weight", "size", "member"]
PUBLIC = {
    "loss": "logistic",
    "features": [{"low": 0, "high": 110}, {"low": -10, "high": 100}, {"low": -1.5, "high": 3}, {"low": 0, "high": 9}],
    "target": {"values": [0, 1]},
    "weights": np.array([100_000, -200_000, 300_000, 10_000, 500_000]),
    "norm": 2,
    "rows": 3,
}


def table(seed, rows=300, kind="texts"):
    """Random cells, also beyond bounds, between steps, empty and infinite."""
    numbers = np.random.default_rng(seed)

    def floats(spread):
        drawn = np.round(numbers.normal(size=rows) * spread, numbers.integers(0, 6))
        odd = numbers.random(rows)
        drawn = np.where(odd < 0.05, math.nan, drawn)
        return np.where(odd > 0.95, numbers.choice([math.inf, -math.inf, -0.0, 1e300], rows), drawn)

    def texts(words):
        return np.array(
            [None if numbers.random() < 0.1 else words[numbers.integers(len(words))] for _ in range(rows)], object
        )

    who = numbers.integers(-5, rows // 4, rows)
    keys = np.array(["" if person < -3 else None if person < 0 else f"ü|{person}" for person in who], object)
    return {
        "who": keys if kind == "texts" else who,
        "age": numbers.integers(-20, 140, rows),
        "cents": floats(800),
        "code": numbers.integers(0, 7, rows).astype(np.int32),
        "income": floats(60),
        "weight": floats(2),
        "size": floats(5),
        "member": numbers.random(rows) < 0.5,
        "region": texts(["north", "south", "o'east", "", "west"]),
        "birth": texts(["a", "b"]),
    }


def frame(given):
    return pd.DataFrame({name: pd.Series(array) for name, array in given.items()})


@pytest.fixture(scope="module", params=[(kind, seed) for kind in UNITS for seed in (1, 2)], ids=str)
def both(request, tmp_path_factory):
    """A view of each engine, on the same rows, under one key."""
    kind, seed = request.param
    folder, given = tmp_path_factory.mktemp("both"), table(seed, kind=kind)
    with Engine(folder, "people", UNITS[kind], frame(given), LIMITS) as files:
        view = files.view()
        yield view, ArrayEngine(folder, "people", UNITS[kind], given).view()


AGGREGATES = [CountRows(), CountUnits(), Count(Col("age")), Sum(Col("cents")), Sum(Col("income")), Mean(Col("weight"))]
GROUPS = [(), ("region",), ("code",), ("member", "region"), ("age",), ("code", "member"), ("cents",)]


@pytest.mark.parametrize("keys", GROUPS, ids=str)
def test_arrays_give_the_tallies_of_files(both, keys):
    files, arrays = both
    schema = files._engine.schema
    outputs = tuple(Output(f"n{place}", aggregate) for place, aggregate in enumerate(AGGREGATES))
    for caps in (Caps(), Caps(rows=1)):
        tally = draft_of(Question("people", outputs, tuple(Key(k, Col(k)) for k in keys), None, caps), schema).tally
        first, two = files.tally(tally), arrays.tally(tally)
        assert first.sensitivity == two.sensitivity
        first, two = first.compute(), two.compute()
        assert list(first.keys) == list(two.keys)
        for part in tally.parts:
            assert first.parts[part].tolist() == two.parts[part].tolist()
        assert any(part.any() for part in two.parts.values())


BINS = [
    ("age", (0, 18, 65, 110)),
    ("age", (20, 40)),
    ("age", (0, "109.5", 110, "110.5")),
    ("cents", (-1000, -25, 26, 1000)),
    ("income", (-10, "-0.005", "3.333", 100)),
    ("weight", ("-1.5", "0.1", 3)),
]


@pytest.mark.parametrize(("name", "edges"), BINS, ids=str)
def test_arrays_give_the_tallies_by_bins_of_files(both, name, edges):
    """Edges at the ends, between two steps and beyond the bounds; with a class beside them, as models count."""
    files, arrays = both
    keys = (Key("class", Col("member")), Key("cell", Bins(Col(name), tuple(map(Fraction, edges)))))
    for caps in (Caps(), Caps(rows=1)):
        question = Question("people", (Output("n", CountRows()),), keys, None, caps)
        tally = draft_of(question, files._engine.schema).tally
        first, two = files.tally(tally), arrays.tally(tally)
        assert first.sensitivity == two.sensitivity
        (part,) = tally.parts
        counts = two.compute().parts[part]
        assert first.compute().parts[part].tolist() == counts.tolist()
        assert counts.any()


RISK = {
    "loss": "logistic",
    "features": [{"low": 0, "high": 110}, {"edges": [-10, 0, 100]}, {"size": 4}],
    "target": {"values": [0, 1]},
    "weights": np.array([2**20, -(2**19), 2**18, 5, 2**20, 0, -7, 2**19]),
    "norm": Fraction(3, 2),
    "rows": 2,
}


def test_arrays_give_the_risks_of_files(both, monkeypatch):
    columns = ["age", "income", "region", "member"]
    first, two = (view.sum("risk", columns, RISK) for view in both)
    assert first.sensitivity == two.sensitivity
    known = first.compute().tolist()
    assert two.compute().tolist() == known
    monkeypatch.setattr(passes, "LEAST_ROWS", 1)
    monkeypatch.setattr(passes, "CHUNK_ROWS", 10)
    for view in both:
        assert [view.sum("risk", columns, RISK).compute().tolist() for _ in range(2)] == [known] * 2


def test_arrays_give_the_rows_and_sums_of_files(both, monkeypatch):
    files, arrays = both
    columns = [*FEATURES, "region", "cents", "code"]
    first, two = files.rows(columns), arrays.rows(columns)
    assert (
        first.sensitivity == two.sensitivity == RowLimit(files._engine.schema.max_rows, files._engine.schema.relation)
    )
    first, two = first.compute(), two.compute()
    if files._engine.schema.unit is not None:  # else only the ids differ, and so the order
        assert first.starts.tolist() == two.starts.tolist()
        for name in columns:
            assert np.array_equal(first.columns[name], two.columns[name], equal_nan=True)
    for name in columns:
        assert first.columns[name].dtype == two.columns[name].dtype
        assert np.array_equal(np.sort(first.columns[name]), np.sort(two.columns[name]), equal_nan=True)
    first, two = (view.sum("risk", FEATURES, PUBLIC) for view in both)
    assert first.sensitivity == two.sensitivity
    assert first.compute().tolist() == two.compute().tolist()
    monkeypatch.setattr(passes, "LEAST_ROWS", 1)
    monkeypatch.setattr(passes, "CHUNK_ROWS", 10)
    assert arrays.sum("risk", FEATURES, PUBLIC).compute().tolist() == first.compute().tolist()


@pytest.mark.parametrize("kind", ["texts", "numbers"])
def test_another_order_of_a_units_rows_is_caught(tmp_path, monkeypatch, kind):
    """The caps bind on these tables: with other ranks other rows count."""
    known = ArrayEngine(tmp_path, "people", UNITS[kind], table(1, kind=kind)).view()
    monkeypatch.setattr(arrays_cells.mixing, "mixed", lambda seed, limbs: limbs[0])
    mutant = ArrayEngine(tmp_path, "people", UNITS[kind], table(1, kind=kind)).view()
    first, two = (np.sort(view.rows(["age"]).compute().columns["age"]) for view in (known, mutant))
    assert not np.array_equal(first, two, equal_nan=True)


@pytest.fixture
def arrays(tmp_path):
    return ArrayEngine(tmp_path, "people", UNITS["texts"], table(3))


def test_frames_are_read_as_their_arrays_are(tmp_path, arrays):
    framed = ArrayEngine(tmp_path, "people", UNITS["texts"], frame(table(3)))
    first, two = (engine.view().sum("risk", FEATURES, PUBLIC).compute() for engine in (arrays, framed))
    assert first.tolist() == two.tolist()


def test_the_state_is_named_by_content_and_stays_as_it_was(tmp_path, arrays):
    given = table(3)
    same, other = ArrayEngine(tmp_path, "people", UNITS["texts"], given), table(3)
    other["age"][0] += 1
    changed = ArrayEngine(tmp_path, "people", UNITS["texts"], other)
    assert arrays.view().snapshot == same.view().snapshot != changed.view().snapshot
    assert arrays.identity() == same.identity() != changed.identity()
    before = same.view().sum("risk", FEATURES, PUBLIC).compute()
    given["age"][:] = 0
    assert (same.view(snapshot=arrays.view().snapshot).sum("risk", FEATURES, PUBLIC).compute() == before).all()
    with pytest.raises(SourceUnavailable):
        same.view(snapshot=changed.view().snapshot)


REFUSED = [
    (Question("people", (Output("n", CountRows()),), (), Compare(">", Col("age"), Literal(5))), "WHERE"),
    (Question("people", (Output("n", CountDistinct(Col("age"))),)), "WHERE"),
    (Question("people", (Output("n", CountRows()),), (Key("size", Col("size")),)), "WHERE"),
    (Question("people", (Output("n", CountRows()),), (Key("region", Col("region")),), None, Caps(groups=1)), "WHERE"),
]


@pytest.mark.parametrize(("question", "said"), REFUSED)
def test_other_questions_are_refused_before_the_charge(arrays, question, said):
    tally = draft_of(question, UNITS["texts"]).tally
    with pytest.raises(NotAnswerable, match=said):
        arrays.view().tally(tally)


def test_other_sums_are_refused_before_the_charge(arrays):
    view, where = arrays.view(), Compare(">", Col("age"), Literal(5))
    for asked in (
        lambda: view.sum("risk", FEATURES, PUBLIC, where=where),
        lambda: view.rows(["age"], where=where),
        lambda: view.sum("median", FEATURES, PUBLIC),
        lambda: view.rows(["wage"]),
        lambda: view.tally(draft_of(Question("people", (Output("n", CountRows()),)), UNITS["numbers"]).tally),
    ):
        with pytest.raises(BadValue):
            asked()


UNFIT = [
    (Column("day", "date"), np.array(["2020-01-01"])),
    (Column("note", "text"), np.array(["a"])),
    (Column("n", "integer"), np.array([1])),
    (Column("n", "integer", bounds=(0, 2**60)), np.array([1])),
    (Column("n", "integer", bounds=(0, 5)), np.array(["1"])),
    (Column("n", "integer", bounds=(0, 5)), np.array([1], dtype=np.uint64)),
    (Column("n", "boolean"), np.array([1])),
    (Column("n", "number"), np.array([[1.0]])),
    (Column("n", "number"), [1.0]),
    (Column("n", "number", step=Fraction(1, 2), bounds=(0, 1)), np.array([1j])),
    (Column("missing", "number"), None),
]


@pytest.mark.parametrize(("column", "array"), UNFIT)
def test_columns_that_are_not_read_are_refused_by_their_type(tmp_path, column, array):
    given = {} if array is None else {column.name: array}
    with pytest.raises(BadValue):
        ArrayEngine(tmp_path, "people", Schema("people", [column]), given)


def test_whatever_goes_wrong_the_reply_is_the_fixed_one(arrays, monkeypatch):
    bounded = arrays.view().sum("risk", FEATURES, PUBLIC)
    monkeypatch.setattr(risk.Risk, "__call__", lambda *_: 1 / 0)
    with pytest.raises(EngineFailed) as failure:
        bounded.compute()
    assert failure.value.__context__ is None


MIXED = {
    "age": Column("age", "integer", bounds=(0, 9)),
    "half": Column("half", "number", bounds=(-3, 3), step="0.5"),
    "flag": Column("flag", "boolean"),
    "kind": Column("kind", "category", values=("u", "v")),
    "code": Column("code", "integer", values=(1, 2, 5)),
    "cost": Column("cost", "number", bounds=(0, 1000), step=1),
}
DRAWN = {
    "age": lambda dice: dice.integers(-3, 14, 40),
    "half": lambda dice: dice.choice([-9, -3.2, -3, -2.9, 0, 1.26, 3, 3.01, np.nan, np.inf, -np.inf], 40),
    "flag": lambda dice: dice.random(40) < 0.5,
    "kind": lambda dice: dice.choice(["u", "v", "z"], 40),
    "code": lambda dice: dice.choice([1, 2, 3, 5], 40),
    "cost": lambda dice: dice.choice([1, 2, 1000.4, 1001, -0.2], 40),
}


def spelt(cell):
    if isinstance(cell, bool):
        return str(cell).lower()
    return None if isinstance(cell, float) and np.isnan(cell) else str(cell)


@pytest.mark.parametrize("unit", [None, Unit("who", 2)])
def test_ids_ranks_and_cells_are_those_of_the_sql(unit):
    """Whatever columns there are; a row that lay beyond its bounds is another row where every row is a unit."""
    dice = np.random.default_rng(5)
    for _ in range(25):
        names = [str(name) for name in dice.permutation(list(MIXED))[: dice.integers(1, 7)]]
        schema = Schema("t", [MIXED[name] for name in names], unit)
        given = {name: DRAWN[name](dice) for name in names} | ({} if unit is None else {"who": dice.integers(0, 9, 40)})
        columns = [given[name].tolist() for name in columns_read(schema)]
        rows = [tuple(map(spelt, row)) for row in zip(*columns, strict=True)]
        held = arrays_cells.prepared_rows(schema, given, SECRET)
        cells = [
            [None if empty else int(cell) for cell, empty in zip(own.stored, own.empty, strict=True)]
            for own in (held.cells[name] for name in names)
        ]
        here = sorted(zip(held.unit.tolist(), held.rank.tolist(), *cells, strict=True), key=str)
        there = [tuple(None if cell is None else int(cell) for cell in row) for row in sql_rows(schema, rows)]
        assert here == sorted(there, key=str)
