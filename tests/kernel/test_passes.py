"""Passes over a prepared table: whole units in chunks, one vector out, one fixed reply to every failure."""

import contextlib
from fractions import Fraction
from types import SimpleNamespace

import duckdb
import numpy as np
import pytest

from discreet.bounded import RowLimit
from discreet.engine import Engine, Limits, chunks, passes
from discreet.errors import BadValue, DiscreetError, EngineFailed, engine_failed
from discreet.gate import disclose
from discreet.kernel.add import sum_of_chunks
from discreet.kernel.contract import kernel_of, plain
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.unbooked import Unbooked
from discreet.mechanism import additive
from discreet.query.layout import Store
from discreet.query.nodes import And, Col, Compare, IsNull, Literal, Not
from discreet.schema import Column, Schema, Unit
from kernel import risk_twin, trial
from kernel.twins import TWINS

LIMITS = Limits(memory=2**28, seconds=20, prepare_seconds=60, threads=1)
SCHEMA = Schema(
    "people",
    [
        Column("age", "integer", bounds=(0, 110)),
        Column("income", "number", bounds=(-10, 100), step="0.01"),
        Column("region", "category", values=["north", "south", "east"]),
        Column("member", "boolean"),
        Column("size", "number"),
        Column("note", "text"),
    ],
    Unit("who", 3),
)
PUBLIC = {
    "loss": "logistic",
    "features": [{"low": 0, "high": 110}, {"low": -10, "high": 100}],
    "target": {"values": [0, 1]},
    "weights": np.array([300_000, 100_000, -200_000]),
    "norm": Fraction(5, 4),
    "rows": 3,
}
COLUMNS = ["age", "income", "member"]


def people(units, seed=1):
    """CSV of 1 to 5 rows a unit, with empty cells; at most 3 rows of each count."""
    numbers = np.random.default_rng(seed)
    lines = ["who,age,income,region,member,size,note"]
    for who in range(units):
        for _ in range(numbers.integers(1, 6)):
            age = "" if numbers.random() < 0.1 else str(numbers.integers(-5, 120))
            region = ["north", "south", "east", "west"][numbers.integers(4)]
            flag = ["true", "false", ""][numbers.integers(3)]
            size = ["1e300", "-inf", "", "0.25"][numbers.integers(4)]
            lines.append(f"u{who},{age},{numbers.normal() * 30:.4f},{region},{flag},{size},zq7canary")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    (folder / "people.csv").write_text(people(400))
    with Engine(folder, "people", SCHEMA, folder / "people.csv", LIMITS) as engine:
        yield engine


@pytest.fixture
def view(engine):
    return engine.view()


@pytest.fixture
def trials(engine, monkeypatch, tmp_path):
    """Workers and this process with the trial kernels."""
    trial.install(monkeypatch.setitem)
    monkeypatch.setenv("PYTHONPATH", trial.customize(tmp_path))
    engine.close()  # the next worker starts with them
    yield
    engine.close()


def as_units(rows):
    """Units as lists of rows, for the twins."""
    table = np.stack(list(rows.columns.values()), axis=1).tolist()
    ends = [*rows.starts[1:].tolist(), rows.size]
    return [table[first:end] for first, end in zip(rows.starts.tolist(), ends, strict=True)]


def test_a_sum_is_the_twins_over_the_rows(view):
    units = as_units(view.rows(COLUMNS).compute())
    total = view.sum("risk", COLUMNS, PUBLIC).compute()
    assert total.tolist() == risk_twin.risk(units, PUBLIC)
    public = {name: PUBLIC[name] for name in ("features", "target", "rows")}
    total = view.sum("class_moments", COLUMNS, public).compute()
    assert total.tolist() == TWINS["class_moments"](units, public)


@pytest.mark.parametrize("size", [7, 64, 100_000])
def test_chunks_of_any_size_give_the_same_sum(view, monkeypatch, size):
    where = Not(IsNull(Col("age")))
    whole = [view.sum("risk", COLUMNS, PUBLIC, where=w).compute() for w in (None, where)]
    rows = view.rows(["age", "region"], where=where).compute()
    monkeypatch.setattr(passes, "LEAST_ROWS", 1)
    monkeypatch.setattr(passes, "CHUNK_ROWS", size)
    for w, known in zip((None, where), whole, strict=True):
        assert (view.sum("risk", COLUMNS, PUBLIC, where=w).compute() == known).all()
    repeated = view.rows(["age", "region"], where=where).compute()
    assert repeated.starts.tolist() == rows.starts.tolist()
    assert all((repeated.columns[name] == rows.columns[name]).all() for name in rows.columns)


def test_rows_are_those_of_whole_units_under_their_limit(view):
    bounded = view.rows(["age", "income", "region", "member", "size"])
    assert bounded.sensitivity == RowLimit(3)
    rows = bounded.compute()
    assert np.diff(rows.starts, append=rows.size).max() == 3
    assert rows.units == 400
    kinds = {name: column.dtype for name, column in rows.columns.items()}
    assert kinds == dict.fromkeys(("age", "income", "member", "size"), np.float64) | {"region": np.int64}
    assert set(rows.columns["region"].tolist()) == {-1, 0, 1, 2}
    assert np.isnan(rows.columns["age"]).any()
    assert np.nanmin(rows.columns["age"]) == 0
    assert np.nanmax(rows.columns["age"]) == 110
    assert np.isinf(rows.columns["size"]).any()
    assert all(round(x * 100) / 100 == x for x in rows.columns["income"].tolist())


def test_a_condition_leaves_out_rows_and_the_units_without_any(view, trials):
    where = And((Compare(">", Col("AGE"), Literal(60)), Compare("=", Col("region"), Literal("north"))))
    rows = view.rows(["age", "region"]).compute()
    kept = (rows.columns["age"] > 60) & (rows.columns["region"] == 0)
    units = len(np.unique(rows.unit_of_row[kept]))
    assert view.sum("counting", ["age"], {}, where=where).compute().tolist() == [units, kept.sum()]
    nobody = Compare(">", Col("age"), Literal(200))
    assert view.sum("counting", ["age"], {}, where=nobody).compute().tolist() == [0, 0]
    assert view.rows(["age"], where=nobody).compute().size == 0


REFUSED = [
    ("median", COLUMNS, PUBLIC, None),
    ("os:system", COLUMNS, PUBLIC, None),
    (7, COLUMNS, PUBLIC, None),
    ("risk", ["age", "wage", "member"], PUBLIC, None),
    ("risk", ["age", "age", "member"], PUBLIC, None),
    ("risk", ["age", "who", "member"], PUBLIC, None),
    ("risk", ["age", "note", "member"], PUBLIC, None),
    ("risk", "age", PUBLIC, None),
    ("risk", [], PUBLIC, None),
    ("risk", COLUMNS, None, None),
    ("risk", COLUMNS, PUBLIC | {"weights": object()}, None),
    ("risk", COLUMNS, PUBLIC | {"weights": np.array([object()] * 3)}, None),
    ("risk", COLUMNS, PUBLIC | {"norm": 0}, None),
    ("risk", COLUMNS, PUBLIC, Compare(">", Col("wage"), Literal(1))),
    ("risk", COLUMNS, PUBLIC, Compare(">", Col("age"), Literal("old"))),
    ("risk", COLUMNS, PUBLIC, Col("age")),
]


@pytest.mark.parametrize(("kernel", "columns", "public", "where"), REFUSED)
def test_a_sum_that_cannot_be_computed_is_refused_before_anything_is_read(engine, view, kernel, columns, public, where):
    engine.close()
    with pytest.raises(DiscreetError) as refusal:
        view.sum(kernel, columns, public, where=where)
    assert not isinstance(refusal.value, EngineFailed)
    assert not engine.process._pair  # no worker was asked


def test_a_cap_that_memory_cannot_bear_is_refused():
    wide = Schema("people", [Column("age", "integer", bounds=(0, 110))], Unit("who", 10**8))
    with pytest.raises(BadValue, match="max_rows"):
        passes.rows_pass(wide, ["age"])


def test_parameters_are_those_of_the_time_of_asking(view):
    weights = PUBLIC["weights"].copy()
    bounded = view.sum("risk", COLUMNS, PUBLIC | {"weights": weights})
    weights[:] = 100
    assert (bounded.compute() == view.sum("risk", COLUMNS, PUBLIC).compute()).all()
    assert not plain({"w": weights})["w"].flags.writeable


@pytest.mark.parametrize("kernel", ["failing", "floating", "long", "far"])
def test_whatever_a_kernel_does_the_reply_is_the_fixed_one(view, trials, kernel):
    bounded = view.sum(kernel, ["age"], {})
    with pytest.raises(EngineFailed) as failure:
        bounded.compute()
    assert str(failure.value) == str(engine_failed())
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None
    assert view.sum("counting", ["age"], {}).compute()[0] == 400  # a new worker serves the next


def test_a_pass_has_a_limit_of_its_own(engine, trials):
    with Engine(engine.folder, "people", SCHEMA, engine.folder / "people.csv", _seconds(2)) as hasty:
        bounded = hasty.view().sum("slow", ["age"], {})
        with pytest.raises(EngineFailed):
            bounded.compute()


def _seconds(seconds):
    return Limits(memory=2**28, seconds=seconds, prepare_seconds=60, threads=1)


def test_rows_beyond_memory_get_the_fixed_reply(engine, view, monkeypatch):
    monkeypatch.setattr(passes, "LEAST_ROWS", 1)
    monkeypatch.setattr(passes, "CHUNK_ROWS", 100)
    bounded = view.rows(["age"])
    monkeypatch.setattr(engine, "limits", SimpleNamespace(memory=2**12, seconds=20, prepare_seconds=60))
    with pytest.raises(EngineFailed):
        bounded.compute()


def test_a_state_that_is_gone_gets_the_fixed_reply(tmp_path):
    (tmp_path / "people.csv").write_text(people(5))
    with Engine(tmp_path, "people", SCHEMA, tmp_path / "people.csv", LIMITS) as engine:
        bounded = engine.view().sum("risk", COLUMNS, PUBLIC)
        engine.path.unlink()
        with pytest.raises(EngineFailed):
            bounded.compute()


def test_the_gate_compares_the_views_bound_with_the_plans(view):
    bounded = view.sum("risk", COLUMNS, PUBLIC)
    planned = kernel_of("risk").sensitivity(PUBLIC, RowLimit(3))
    narrow = kernel_of("risk").sensitivity(PUBLIC | {"norm": 1}, RowLimit(3))
    order = ChargeRequest("key", (), {}, None, 1, 0)
    pack = lambda noisy: noisy.astype("<i8").tobytes()  # noqa: E731
    with pytest.raises(BadValue, match="cover"):
        disclose(Unbooked(), order, additive.laplace(narrow, 1), bounded, pack=pack)
    disclosed = disclose(Unbooked(), order, additive.laplace(planned, 1000), bounded, pack=pack)
    noisy = np.frombuffer(disclosed.stored, dtype="<i8")
    assert np.abs(noisy - bounded.compute()).max() < 40 * float(planned.l1) / 1000


# --- chunks of whole units -----------------------------------------------------------------------------------------


def prepared(rows):
    """A connection to a table of (unit, rank, cell)."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE prepared (discreet_unit BIGINT, discreet_rank INTEGER, c0 BIGINT)")
    connection.executemany("INSERT INTO prepared VALUES (?, ?, ?)", rows)
    return contextlib.closing(connection)


def a_pass(chunk_rows, max_rows=3):
    return passes.Pass((passes.Field("x", "c0", Store.STEPS, 1),), max_rows, chunk_rows)


UNITS = [(unit, rank, unit * 10 + rank) for unit in (-7, -1, 3, 4, 5, 9, 20) for rank in range(1, 2 + unit % 3)]


@pytest.mark.parametrize("size", range(6, 20))
def test_no_chunk_splits_a_unit(size):
    whole = {}
    for unit, _, cell in UNITS:
        whole.setdefault(unit, []).append(float(cell))
    for where in ("", "(abs(c0) % 2 = 1)", "(c0 > 1000)", "(discreet_unit > 4)"):
        with prepared(UNITS) as connection:
            kept = [[c for c in cells if _stays(where, unit, c)] for unit, cells in whole.items()]
            units = []
            for chunk, _ in chunks.chunks(connection, a_pass(size), where):
                ends = [*chunk.starts[1:].tolist(), chunk.size]
                cells = chunk.columns["x"].tolist()
                units += [cells[first:end] for first, end in zip(chunk.starts.tolist(), ends, strict=True)]
            assert units == [cells for cells in kept if cells]


def _stays(where, unit, cell):
    return {"": True, "(abs(c0) % 2 = 1)": cell % 2 == 1, "(c0 > 1000)": False, "(discreet_unit > 4)": unit > 4}[where]


@pytest.mark.parametrize("size", range(6, 11))
def test_chunks_that_split_a_unit_are_caught(monkeypatch, size):
    monkeypatch.setattr(chunks, "whole_units", lambda unit, number, end, max_rows: len(unit))
    rows = [(unit, rank, 0) for unit in range(20) for rank in (1, 2, 3)]
    with prepared(rows) as connection:
        if size % 3:
            with pytest.raises(ValueError):
                list(chunks.chunks(connection, a_pass(size), ""))
        else:
            assert sum(chunk.units for chunk, _ in chunks.chunks(connection, a_pass(size), "")) == 20


@pytest.mark.parametrize(
    "rows",
    [
        [(2, 1, 0), (1, 1, 0)],
        [(1, 1, 0), (2, 1, 0), (1, 2, 0)],
        [(1, 2, 0), (1, 1, 0)],
        [(1, rank, 0) for rank in range(1, 5)],
        [*((unit, 1, 0) for unit in range(20)), (3, 2, 0)],
    ],
)
def test_rows_out_of_order_or_beyond_the_cap_are_refused(rows):
    with prepared(rows) as connection, pytest.raises(ValueError):
        list(chunks.chunks(connection, a_pass(6), ""))


def test_row_numbers_with_gaps_are_refused():
    with prepared(UNITS) as connection:
        connection.execute("DELETE FROM prepared WHERE discreet_unit = -1")
        with pytest.raises(ValueError):
            list(chunks.chunks(connection, a_pass(6), ""))


def test_sums_cannot_wrap_around():
    far = trial.KERNELS["far"]
    with prepared(UNITS) as connection, pytest.raises(ValueError):
        sum_of_chunks(far, (chunk for chunk, _ in chunks.chunks(connection, a_pass(6), "")), {})
