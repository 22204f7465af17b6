"""Files whose rows have another shape than their facts say: refused before a row is read, and in little memory."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import discreet as dp
from discreet.errors import IntegrityError
from discreet.schema import Column, Schema, Type
from discreet.synth.column.choice import columns_of
from discreet.synth.saved import file
from discreet.synth.saved.rows import codes_of
from synth.saved.test_saved import facts_in, sealed
from synth.saved.village import built


@pytest.fixture(scope="module", params=[1, 3], ids=["rows", "units"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a synthetic table."""
    table, people = built(tmp_path_factory.mktemp("village"), max_rows=request.param)
    with people:
        saved: Path = table.save(tmp_path_factory.mktemp("saved") / "synthetic.parquet")
    return saved


def _with_region(arrow: Any, values: list[str]) -> Any:
    cells = pyarrow.DictionaryArray.from_arrays(np.zeros(len(arrow), dtype=np.int32), values)
    return arrow.set_column(arrow.column_names.index("region"), "region", cells)


SHAPES: dict[str, Callable[[Any], Any]] = {
    "a long text": lambda arrow: _with_region(arrow, ["x" * 2**22]),
    "long plain texts": lambda arrow: _with_region(arrow, ["x" * 2**14]).cast(
        pyarrow.schema(
            [field.with_type(pyarrow.string()) if field.name == "region" else field for field in arrow.schema]
        )
    ),
    "a column more": lambda arrow: arrow.append_column("x", [["x" * 100] * len(arrow)]),
    "a column less": lambda arrow: arrow.drop_columns(["married"]),
    "another name": lambda arrow: arrow.rename_columns([f"{name} " for name in arrow.column_names]),
    "another order": lambda arrow: arrow.select(arrow.column_names[::-1]),
    "another type": lambda arrow: arrow.set_column(
        arrow.column_names.index("age"), "age", arrow.column("age").cast(pyarrow.float64())
    ),
    "more rows": lambda arrow: pyarrow.concat_tables([arrow] * 4),
}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_rows_of_another_shape_are_refused_before_any_is_read(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    facts, arrow = facts_in(place), parquet.read_table(place)
    other = tmp_path / "s.parquet"
    file._write_parquet(SHAPES[name](arrow), file._text(facts), other)

    def read(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(parquet.ParquetFile, "read", read)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(other)


def test_rows_in_many_pieces_are_refused(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts, codes, arrow = facts_in(place), dp.synth.load(place).codes, parquet.read_table(place)
    other = tmp_path / "s.parquet"
    with monkeypatch.context() as patch:
        patch.setattr(file, "_ROWS_AT_ONCE", 10)
        file._write_parquet(arrow, file._text(sealed(facts, codes)), other)
        assert dp.synth.load(other).to_arrow().equals(dp.synth.load(other).to_arrow())
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(other)


@pytest.mark.parametrize("values", [("long", "b"), ("b", "c")], ids=["public", "not public"])
def test_a_long_text_is_not_written_out_for_every_row(values: tuple[str, ...]) -> None:
    """One text of 1 MB that 256 rows name takes a few of these, not 256."""
    long = "x" * 2**20
    (column,) = columns_of(Schema("t", (Column("a", Type.CATEGORY, values=("b", "c")),)), ["a"]).columns
    column = replace(column, values=tuple(long if value == "long" else value for value in values))
    arrow = pyarrow.table({"a": pyarrow.DictionaryArray.from_arrays([0, None] * 128, [long])})
    pool = pyarrow.default_memory_pool()
    before = pool.max_memory()
    assert before is not None, "a memory pool that counts nothing would let the test pass"
    if long in (column.values or ()):
        assert codes_of([column], None, 1, arrow).columns[0].tolist() == [0, 2] * 128
    else:
        with pytest.raises(ValueError, match="not public"):
            codes_of([column], None, 1, arrow)
    assert pool.max_memory() - before < 2**26
