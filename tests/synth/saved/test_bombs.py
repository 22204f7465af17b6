"""Short files that would take much memory: refused by what they hold, whatever they state."""

import base64
import copy
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import discreet as dp
from discreet import envelope
from discreet.errors import IntegrityError
from discreet.synth.drawn import Codes
from discreet.synth.saved import description, file, parts
from discreet.synth.saved.description import description_of
from discreet.synth.saved.pages import require_unpacked
from synth.saved.test_saved import facts_in, sealed
from synth.saved.village import built, written

LONG = 2**23


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a synthetic table of units with up to three rows."""
    table, people = built(tmp_path_factory.mktemp("village"), max_rows=3)
    with people:
        saved: Path = table.save(tmp_path_factory.mktemp("saved") / "synthetic.parquet")
    return saved


@pytest.fixture
def forged(place: Path, tmp_path: Path) -> Callable[[Callable[[dict[str, Any]], Any]], Path]:
    """The file with other facts, whose digest agrees."""

    def write(change: Callable[[dict[str, Any]], Any]) -> Path:
        facts, codes = facts_in(place), dp.synth.load(place).codes
        change(facts)
        other = tmp_path / "forged.parquet"
        file._write_parquet(parquet.read_table(place), file._text(sealed(facts, codes)), other)
        return other

    return write


def _never(*_: Any, **__: Any) -> Any:
    raise AssertionError


# --- pages -----------------------------------------------------------------------------------------------------------


def _varint(number: int, length: int = 0) -> bytes:
    """As Thrift writes a whole number, filled up to that many bytes."""
    code, digits = 2 * number, list[int]()
    while code or len(digits) < max(length, 1):
        digits.append(code & 127)
        code >>= 7
    return bytes([digit | 128 for digit in digits[:-1]] + digits[-1:])


def _restated(path: Path, stated: int) -> None:
    """Let the footer state another size of the one row group."""
    content = bytearray(path.read_bytes())
    real = _varint(parquet.ParquetFile(path).metadata.row_group(0).total_byte_size)
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    first = content.index(real, start)
    content[first : first + len(real)] = _varint(stated, len(real))
    path.write_bytes(content)


def test_a_footer_that_states_less_than_the_pages_is_not_believed(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrow = parquet.read_table(place)
    cells = pyarrow.DictionaryArray.from_arrays(np.zeros(len(arrow), dtype=np.int32), ["a" * LONG])
    arrow = arrow.set_column(arrow.column_names.index("region"), "region", cells)
    other = tmp_path / "s.parquet"
    with parquet.ParquetWriter(other, arrow.schema, compression="zstd", write_statistics=False) as writer:
        writer.write_table(arrow)
        writer.add_key_value_metadata({"discreet": file._text(facts_in(place))})
    _restated(other, 20_000)
    metadata = parquet.ParquetFile(other).metadata
    assert (metadata.row_group(0).total_byte_size, metadata.row_group(0).num_rows) == (20_000, len(arrow))
    assert other.stat().st_size < LONG / 20
    monkeypatch.setattr(parquet.ParquetFile, "read", _never)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(other)


def _size(path: Path) -> int:
    metadata = parquet.ParquetFile(path).metadata
    return sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))


def test_pages_of_an_honest_file_have_the_size_that_is_stated(place: Path, tmp_path: Path) -> None:
    rows = pyarrow.table({"a": range(5000), "b": [None, "x"] * 2500, "c": [True, False] * 2500})
    pieces = tmp_path / "pieces.parquet"
    parquet.write_table(rows, pieces, row_group_size=700, data_page_size=64)
    for path in (place, pieces):
        require_unpacked(path, parquet.ParquetFile(path).metadata, _size(path))
        with pytest.raises(ValueError, match="too long"):
            require_unpacked(path, parquet.ParquetFile(path).metadata, _size(path) - 1)


@pytest.mark.parametrize(
    "options",
    [
        {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}},
        {"data_page_version": "2.0"},
    ],
    ids=["prefixes", "other pages"],
)
def test_pages_that_are_never_written_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    """One long text of which others name a prefix takes few bytes in any page and many outside."""
    path = tmp_path / "s.parquet"
    parquet.write_table(pyarrow.table({"a": ["x" * 1000] * 100}), path, **options)
    with pytest.raises(ValueError, match="page"):
        require_unpacked(path, parquet.ParquetFile(path).metadata, 2**30)


HEAD = bytes([0x15, 4, 0x15, 80, 0x15, 80, 0x4C, 0x15, 20, 0x15, 0, 0, 0])  # a dictionary: 40 bytes, 10 values, plain
HEADS = {
    "a negative size": HEAD[:3] + bytes([81]) + HEAD[4:],
    "a size of 64 bits": HEAD[:3] + b"\x80\x80\x80\x80\x80\x01" + HEAD[4:],
    "a size twice": HEAD[:4] + bytes([5, 4]) + _varint(2**29) + HEAD[4:],
    "a field beyond 16 bits": HEAD[:-1] + bytes([5]) + _varint(2**16 + 2) + _varint(2**29) + b"\0",
    "a long dictionary": HEAD[:8] + _varint(2**29) + HEAD[9:],
    "a list": HEAD[:-1] + bytes([0x19, 0x15, 0, 0]),
    "no end": HEAD[:-2],
    "structs in structs": HEAD[:-1] + bytes([0x1C] * 100),
}


class _Stated:
    """A footer with one column, which begins at once."""

    num_row_groups = num_columns = 1
    num_rows = num_values = data_page_offset = 0
    dictionary_page_offset = None

    def __init__(self, size: int) -> None:
        self.total_compressed_size = size

    def row_group(self, place: int) -> "_Stated":
        return self

    column = row_group


def test_a_head_is_read_as_readers_read_it(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_bytes(HEAD + bytes(40))
    require_unpacked(path, _Stated(len(HEAD) + 40), len(HEAD) + 40)
    with pytest.raises(ValueError, match="too long"):
        require_unpacked(path, _Stated(len(HEAD) + 40), len(HEAD) + 39)


@pytest.mark.parametrize("name", sorted(HEADS))
def test_heads_that_readers_take_otherwise_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "page"
    path.write_bytes(HEADS[name] + bytes(40))
    with pytest.raises((ValueError, IndexError, TypeError)):
        require_unpacked(path, _Stated(len(HEADS[name]) + 40), 2**40)


# --- facts and released numbers --------------------------------------------------------------------------------------


def test_a_unit_has_no_more_rows_than_a_build_allows(forged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def more_rows(facts: dict[str, Any]) -> None:
        facts["schema"]["unit"]["max_rows"] = facts["subject"]["max_rows"] = 10**8

    path = forged(more_rows)
    monkeypatch.setattr(description, "plan_of", _never)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(path)


@pytest.mark.parametrize("limit", ["MOST_ZEROS", "_MOST_MASKS"])
def test_there_are_no_more_combinations_than_a_build_takes(
    forged: Any, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    def more_zeros(facts: dict[str, Any]) -> None:
        facts["subject"]["zeros"] *= getattr(description, limit) + 1

    monkeypatch.setattr(description, limit, 3)
    path = forged(more_zeros)
    monkeypatch.setattr(description, "plan_of", _never)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(path)


@pytest.mark.parametrize("ending", [b"\n", b""])
def test_a_head_of_many_items_is_not_parsed(forged: Any, monkeypatch: pytest.MonkeyPatch, ending: bytes) -> None:
    """Lists take seventy bytes each and are written in three, which a few bits may stand for."""
    body = b'{"kind":"synthesis","version":"1","facts":{"a":[' + b"[]," * 2**21 + b'[]]},"parts":[]}' + ending
    released = base64.b64encode(envelope.HEAD + zlib.compress(body)).decode()
    path = forged(lambda facts: facts.update(released=released))
    assert path.stat().st_size < 2**18
    monkeypatch.setattr(envelope, "from_bytes", _never)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(path)


@pytest.mark.parametrize(("module", "limit"), [(parts, "MOST_NUMBERS"), (file, "MOST_ITEMS")])
def test_numbers_and_items_beyond_a_limit_are_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, module: Any, limit: str
) -> None:
    monkeypatch.setattr(module, limit, 10)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(place)


# --- units -----------------------------------------------------------------------------------------------------------


def _saved(build: Any, codes: Codes, path: Path, **options: Any) -> Path:
    """A file that states what follows from these rows and options."""
    plan = replace(build.plan, **options)
    table = file.synthetic_of(None, file.LoadedBuild(plan, build.parts, build.receipt, True, codes))
    facts = {**description_of(table), "released": facts_in(path)["released"]}
    other = path.with_name("other.parquet")
    file._write_parquet(table.to_arrow(), file._text(sealed(facts, codes)), other)
    return other


@pytest.mark.parametrize(("rows", "is_read"), [(None, True), (10**9, False), (3, False)])
def test_rows_are_of_about_as_many_units_as_are_stated(place: Path, rows: int | None, is_read: bool) -> None:
    """Replicates draw as many as are stated."""
    build = dp.synth.load(place).build
    path = _saved(build, build.codes, place, rows=rows)
    if is_read:
        assert dp.synth.load(path).rows == build.codes.rows
        return
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(path)


def test_without_combinations_rows_are_of_exactly_as_many_units(tmp_path: Path) -> None:
    with dp.open(written(tmp_path / "village")) as people:
        table = people.synthesize().build(epsilon=5)
    place = table.save(tmp_path / "s.parquet")
    for more in (0, 1):
        path = _saved(table.build, table.codes, place, rows=table.rows + more)
        if more == 0:
            assert dp.synth.load(path).rows == table.rows
        else:
            with pytest.raises(IntegrityError, match="no whole file"):
                dp.synth.load(path)


def test_units_are_numbered_below_their_number(place: Path) -> None:
    """Their rows are counted by number."""
    build = dp.synth.load(place).build
    units = copy.copy(build.codes.units)
    assert units is not None
    units[units == units[-1]] = 10**12
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(_saved(build, Codes(build.codes.columns, units), place))
