"""Rows that a worker holds between passes are those of the file, the columns and the condition that are asked for."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.engine import Engine, Limits, worker
from discreet.query.nodes import Col, Compare, Literal
from discreet.schema import Column, Schema, Unit
from kernel import risk_twin

LIMITS = Limits(memory=2**28, seconds=20, prepare_seconds=60, threads=1)
SCHEMA = Schema("t", [Column("x", "integer", bounds=(0, 9)), Column("y", "boolean")], Unit("who", 2))
PUBLIC = {
    "loss": "logistic",
    "features": [{"low": 0, "high": 9}],
    "target": {"values": [0, 1]},
    "weights": np.array([2**20, 2**21]),
    "norm": Fraction(5, 4),
    "rows": 2,
}


def write(folder, shift):
    rows = "".join(f"{n},{(n + shift) % 10},{n % 3 == 0}\n" for n in range(60))
    (folder / "t.csv").write_text("who,x,y\n" + rows)


def right(shift, least=0):
    """By the slow twin: one row a unit."""
    units = [[[float((n + shift) % 10), float(n % 3 == 0)]] for n in range(60) if (n + shift) % 10 >= least]
    return risk_twin.risk(units, PUBLIC)


def total(view, least=0, **changed):
    where = Compare(">=", Col("x"), Literal(least)) if least else None
    return view.sum("risk", ["x", "y"], PUBLIC | changed, where=where).compute().tolist()


@pytest.fixture(params=[8, 2**40], ids=["held", "beyond the room"])
def folder(request, tmp_path, monkeypatch):
    """The share of memory for rows; a worker is forked from this process or reads the module anew."""
    monkeypatch.setattr(worker, "_HELD_SHARE", request.param)
    write(tmp_path, 0)
    return tmp_path


def test_another_condition_is_another_set_of_rows(folder):
    with Engine(folder, "t", SCHEMA, folder / "t.csv", LIMITS) as engine:
        view = engine.view()
        for least in (0, 0, 5, 5, 0, 7, 5):
            assert total(view, least) == right(0, least)


def test_other_columns_and_targets_are_read_anew(folder):
    with Engine(folder, "t", SCHEMA, folder / "t.csv", LIMITS) as engine:
        view = engine.view()
        plain, turned = total(view), total(view, target={"values": [1, 0]})
        swapped = view.sum("risk", ["y", "x"], PUBLIC | {"target": {"edges": [0, 5, 9]}}).compute().tolist()
        assert len({tuple(numbers) for numbers in (plain, turned, swapped)}) == 3
        assert total(view) == plain == right(0)


def test_a_changed_file_is_read_anew_and_an_earlier_view_keeps_its_rows(folder):
    with Engine(folder, "t", SCHEMA, folder / "t.csv", LIMITS) as engine:
        before = engine.view()
        assert total(before) == right(0)
        write(folder, 3)
        after = engine.view()
        for _ in range(2):
            assert total(after) == right(3)
            assert total(before) == right(0)
