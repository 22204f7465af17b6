"""Files of synthetic tables: the same bytes, the same table again without the private one, and nothing edited."""

import base64
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import discreet as dp
from discreet.envelope import HEAD
from discreet.errors import BadValue, CannotWrite, IntegrityError, NotAnswerable
from discreet.query.canonical import canonical
from discreet.query.nodes import And, Col, Compare, Literal, UnitIn
from discreet.synth.children.table import JoinedTable
from discreet.synth.saved import file
from synth.saved.village import ZEROS, built, written

Facts = dict[str, Any]


@pytest.fixture(scope="module", params=[1, 3], ids=["rows", "units"])
def village(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """A synthetic table with all its steps, and the dataset that it is of."""
    table, people = built(tmp_path_factory.mktemp("village"), max_rows=request.param)
    with people:
        yield table, people


@pytest.fixture(scope="module")
def place(village: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of that table."""
    saved: Path = village[0].save(tmp_path_factory.mktemp("saved") / "synthetic.parquet")
    return saved


def facts_in(path: Path) -> Facts:
    facts: Facts = json.loads(parquet.ParquetFile(path).metadata.metadata[b"discreet"])
    return facts


def test_a_loaded_table_is_the_same_table_without_the_private_one(village: tuple[Any, Any], place: Path) -> None:
    table, _ = village
    loaded = dp.synth.load(place)
    assert loaded.table is None
    assert loaded.to_pandas().equals(table.to_pandas())
    assert loaded.to_arrow().equals(table.to_arrow())
    assert (loaded.rows, loaded.columns, loaded.measured) == (table.rows, table.columns, table.measured)
    assert loaded.privacy_ == table.privacy_
    assert [part.tally for part in loaded.build.parts] == [part.tally for part in table.build.parts]
    assert loaded.build.plan.subject.to_json() == table.build.plan.subject.to_json()


def test_rows_of_a_file_are_those_that_its_numbers_draw_here(place: Path) -> None:
    loaded = dp.synth.load(place)
    drawn = file.Build(loaded.build.plan, loaded.build.parts, loaded.build.receipt, True).codes
    pairs = zip(drawn.columns, loaded.codes.columns, strict=True)
    assert all(np.array_equal(own, theirs) for own, theirs in pairs)


def test_equal_tables_are_equal_bytes(village: tuple[Any, Any], place: Path, tmp_path: Path) -> None:
    table, people = village
    equal = people.synthesize(zeros=ZEROS).build(epsilon=5)
    assert equal.build.is_replayed
    for name, other in (("a", table), ("b", equal), ("c", dp.synth.load(place)), ("d", dp.synth.load(place, people))):
        assert other.save(tmp_path / f"{name}.parquet").read_bytes() == place.read_bytes()


def test_the_rows_are_read_by_whoever_reads_parquet(village: tuple[Any, Any], place: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(place)
    assert list(frame.columns) == list(village[0].columns)
    assert str(frame["region"].dtype) == "category"


def test_facts_in_the_file_state_the_promise(village: tuple[Any, Any], place: Path) -> None:
    facts = facts_in(place)
    privacy = facts["privacy"]
    assert (privacy["epsilon"], privacy["neighbours"], privacy["unit"]) == ("5", "add-remove", "who")
    assert privacy["receipt"] == village[0].privacy_.receipt
    assert {measurement["step"] for measurement in facts["measured"]} >= {"singles", "columns", "pairs"}
    assert "note" in dict(facts["left_out"])


def test_a_csv_holds_rows_alone_and_is_not_read_back(village: tuple[Any, Any], tmp_path: Path) -> None:
    table, _ = village
    written_file = table.save(tmp_path / "synthetic.csv")
    lines = written_file.read_text().splitlines()
    assert len(lines) == len(table.to_pandas()) + 1
    with pytest.raises(BadValue, match=r"must be the \.parquet"):
        dp.synth.load(written_file)


@pytest.mark.parametrize("name", ["x.txt", "x", "people.ledger", "people.key"])
def test_other_places_are_refused(village: tuple[Any, Any], tmp_path: Path, name: str) -> None:
    with pytest.raises(BadValue):
        village[0].save(tmp_path / name)


def test_a_table_never_replaces_an_input_nor_a_file_unasked(tmp_path: Path) -> None:
    table, people = built(tmp_path)
    with people:
        with pytest.raises(BadValue, match="a private table"):
            table.save(tmp_path / "people.csv", replace=True)
        saved = table.save(tmp_path / "s.parquet")
        with pytest.raises(BadValue, match="must not be there yet"):
            table.save(saved)
        assert table.save(saved, replace=True) == saved
        assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_folder_that_is_not_there_is_said_so(village: tuple[Any, Any], tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="could not be written"):
        village[0].save(tmp_path / "nowhere" / "s.parquet")


# --- files that are not trusted --------------------------------------------------------------------------------------


AGE = Compare(">", Col("age"), Literal(30))
HALF = UnitIn(Fraction(0), Fraction(1, 2))
CONDITIONS = {
    "of a column": canonical(AGE),
    "and a part": canonical(And((HALF, AGE))),
    "and of parts": canonical(And((HALF, UnitIn(Fraction(1, 4), Fraction(1))))),
    "backwards": canonical(UnitIn(Fraction(1, 2), Fraction(1, 4))),
    "empty": canonical(UnitIn(Fraction(1, 2), Fraction(1, 2))),
    "beyond": canonical(UnitIn(Fraction(0), Fraction(2))),
    "below": canonical(UnitIn(Fraction(-1), Fraction(1))),
    "of no numbers": '{"end":"b","first":"a","is":"unit_in"}',
    "no condition": '"age"',
}


def edits() -> dict[str, Callable[[Facts], Any]]:
    """Changes to facts, each of which a reader must refuse even where the digest was made anew."""

    def put(*path: Any, to: Any) -> Callable[[Facts], None]:
        def change(facts: Facts) -> None:
            inner: Any = facts
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = to

        return change

    return {
        "epsilon": put("privacy", "epsilon", to="1"),
        "cost": put("privacy", "cost", to={"is": "pure", "epsilon": "1"}),
        "unit": put("privacy", "unit", to="household"),
        "price": put("price", "epsilon", to="1/10"),
        "sigma": put("price", "sigma", to="100000"),
        "huge sigma": put("price", "sigma", to="1e999999999"),
        "receipt": put("privacy", "receipt", to="<b>"),
        "covers": put("privacy", "covers", to="everything"),
        "words": put("privacy", "mechanisms", to=["Nothing was measured."]),
        "format": put("synthetic", to=2),
        "rehearsal": put("rehearsal", to=True),
        "measured": put("measured", 0, "deviation", to=0.001),
        "share": put("measured", 0, "share", to="1"),
        "method": put("options", "method", to="independent"),
        "cells": put("options", "max_cells", to=10**12),
        "rows": put("options", "rows", to=10),
        "columns": put("subject", "columns", to=[]),
        "edges": put("subject", "columns", 1, "edges", to=["0", "1e999999999"]),
        "cell": put("subject", "columns", 1, "name", to="nobody"),
        "zeros": put("subject", "zeros", 0, "age", "codes", to=10**12),
        "max_rows": put("subject", "max_rows", to=9),
        "schema": put("schema", to=None),
        "left out": put("left_out", to=[["note", 5]]),
        "more": put("surprise", to=1),
        "released": put("released", to="AAAA"),
        **{f"where {name}": put("subject", "where", to=text) for name, text in CONDITIONS.items()},
        "no version": lambda facts: facts.pop("version"),
    }


def sealed(facts: Facts, codes: Any) -> Facts:
    """The facts with the digest that belongs to them."""
    plain = {name: fact for name, fact in facts.items() if name != "sha256"}
    return {**plain, "sha256": file._digest(plain, codes)}


def test_a_file_that_is_written_anew_without_an_edit_is_read(place: Path, tmp_path: Path) -> None:
    """So that what the tests below refuse is refused for its edit."""
    facts, codes, arrow = facts_in(place), dp.synth.load(place).codes, parquet.read_table(place)
    head, values = numbers(facts)
    other = tmp_path / "s.parquet"
    file._write_parquet(arrow, file._text(sealed({**facts, "released": packed(head, values)}, codes)), other)
    assert dp.synth.load(other).to_pandas().equals(dp.synth.load(place).to_pandas())


@pytest.mark.parametrize("name", sorted(edits()))
def test_facts_that_do_not_follow_are_refused_though_the_digest_agrees(place: Path, tmp_path: Path, name: str) -> None:
    facts, codes, arrow = facts_in(place), dp.synth.load(place).codes, parquet.read_table(place)
    edits()[name](facts)
    other = tmp_path / "s.parquet"
    file._write_parquet(arrow, file._text(sealed(facts, codes)), other)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(other)


def numbers(facts: Facts) -> tuple[Facts, np.ndarray]:
    """The facts of the released parts, and their integers."""
    head, _, body = zlib.decompress(base64.b64decode(facts["released"])[len(HEAD) :]).partition(b"\n")
    return json.loads(head), np.frombuffer(body, dtype="<i8").copy()


def packed(head: Facts, values: np.ndarray) -> str:
    body = json.dumps(head, sort_keys=True, separators=(",", ":")).encode() + b"\n" + values.tobytes()
    return base64.b64encode(HEAD + zlib.compress(body)).decode()


def part(head: Facts, name: str) -> Facts:
    return next(stored for stored in head["parts"] if stored["tally"]["name"] == name)


RELEASED: dict[str, Callable[[Facts], Any]] = {
    "share": lambda head: part(head, "pairs")["tally"].update(share="1/2"),
    "noise": lambda head: part(head, "singles")["law"].update(part(head, "scores")["law"]),
    "weights": lambda head: part(head, "pairs")["tally"]["weights"].__setitem__(0, 1),
    "groups": lambda head: part(head, "pairs")["tally"]["groups"][1].__setitem__(0, 10**9),
    "empty group": lambda head: part(head, "scores")["tally"]["groups"][1].__setitem__(0, 50),
    "pair": lambda head: part(head, "pairs")["tally"]["cliques"].__setitem__(0, [0, 99]),
    "twice": lambda head: part(head, "pairs")["tally"]["cliques"].append(part(head, "pairs")["tally"]["cliques"][0]),
    "scores": lambda head: part(head, "scores")["tally"]["pairs"].pop(),
    "steps": lambda head: part(head, "scores")["tally"].update(steps=1),
    "step missing": lambda head: head["parts"].pop(),
    "shape": lambda head: part(head, "singles").update(shape=[10**12]),
    "kind": lambda head: head.update(kind="question"),
}


@pytest.mark.parametrize("name", sorted(RELEASED))
def test_released_numbers_that_no_build_releases_are_refused(place: Path, tmp_path: Path, name: str) -> None:
    facts, codes, arrow = facts_in(place), dp.synth.load(place).codes, parquet.read_table(place)
    head, values = numbers(facts)
    RELEASED[name](head)
    other = tmp_path / "s.parquet"
    file._write_parquet(arrow, file._text(sealed({**facts, "released": packed(head, values)}, codes)), other)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(other)


def test_a_bomb_of_numbers_is_not_unpacked(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "LARGEST_NUMBERS", 1000)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(place)


@pytest.mark.parametrize("limit", ["LARGEST_FACTS", "MOST_CELLS"])
def test_files_beyond_a_limit_are_refused(place: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(file, limit, 10)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(place)


def test_a_part_of_the_units_is_read(place: Path, tmp_path: Path) -> None:
    """What `split` makes; whether the ledger knows the table as one of that part is for a check to say."""
    facts, codes, arrow = facts_in(place), dp.synth.load(place).codes, parquet.read_table(place)
    facts["subject"]["where"] = canonical(HALF)
    other = tmp_path / "s.parquet"
    file._write_parquet(arrow, file._text(sealed(facts, codes)), other)
    assert dp.synth.load(other).build.plan.subject.where == HALF


def test_edited_rows_are_refused(place: Path, tmp_path: Path) -> None:
    facts, arrow = facts_in(place), parquet.read_table(place)
    column = arrow.column_names.index("married")
    flipped = arrow.set_column(column, "married", [arrow.column("married").to_pylist()[::-1]])
    wider, narrower = arrow.append_column("x", [[0] * len(arrow)]), arrow.drop_columns(["married"])
    for number, rows in enumerate((flipped, arrow.slice(1), narrower, wider)):
        other = tmp_path / f"{number}.parquet"
        file._write_parquet(rows, file._text(facts), other)
        with pytest.raises(IntegrityError, match="edited"):
            dp.synth.load(other)


def test_a_value_inside_its_cell_is_not_changed_unseen(place: Path, tmp_path: Path) -> None:
    """Days within one bin have one code: the digest of codes is the same, and the values are compared themselves."""
    facts, arrow = facts_in(place), parquet.read_table(place)
    seen = arrow.column("seen").to_numpy().copy()
    seen[0] += np.timedelta64(1000, "ms")
    cells = pyarrow.array(seen, arrow.schema.field("seen").type)
    rows = arrow.set_column(arrow.column_names.index("seen"), "seen", [cells])
    other = tmp_path / "s.parquet"
    file._write_parquet(rows, file._text(facts), other)
    with pytest.raises(IntegrityError, match="edited"):
        dp.synth.load(other)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"hello", b"PAR1" + bytes(1000) + b"PAR1"])
def test_what_is_no_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.parquet"
    path.write_bytes(content)
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(path)


def test_parquet_of_somebody_else_is_refused(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"x": [1]}), tmp_path / "s.parquet")
    with pytest.raises(IntegrityError, match="no whole file"):
        dp.synth.load(tmp_path / "s.parquet")


def test_cut_files_are_refused(place: Path, tmp_path: Path) -> None:
    whole = place.read_bytes()
    other = tmp_path / "s.parquet"
    for share in (0.1, 0.5, 0.9, 0.999):
        other.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(IntegrityError, match="no whole file"):
            dp.synth.load(other)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.parquet", tmp_path):
        with pytest.raises(BadValue, match="must be a plain file"):
            dp.synth.load(path)


# --- with the dataset ------------------------------------------------------------------------------------------------


def test_with_the_dataset_the_table_can_be_checked(village: tuple[Any, Any], place: Path) -> None:
    _, people = village
    assert dp.synth.load(place, people).table is people.table
    synthetic = replace(village[0], table=people.table)
    others = ("people.toml", synthetic, people.synthesize(), people.split(test="0.2")[0])
    for other in others:  # what has the private table behind it is not what was meant
        with pytest.raises(BadValue, match="open dataset"):
            dp.synth.load(place, other)


def test_a_dataset_with_other_public_facts_is_refused(village: tuple[Any, Any], place: Path, tmp_path: Path) -> None:
    toml = written(tmp_path, max_rows=2)
    with dp.open(toml) as other, pytest.raises(BadValue, match="public facts"):
        dp.synth.load(place, other)


def test_a_rehearsal_is_loaded_with_a_rehearsal_alone(village: tuple[Any, Any], place: Path, tmp_path: Path) -> None:
    toml = written(tmp_path)
    with dp.open(toml, rehearsal=True) as rehearsal:
        saved = rehearsal.synthesize().build(epsilon=5).save(tmp_path / "r.parquet")
        loaded = dp.synth.load(saved, rehearsal)
        assert set(loaded.to_pandas()["rehearsal"]) == {"invented"}
        assert loaded.privacy_.is_invented
        assert facts_in(saved)["rehearsal"] is True
        assert loaded.save(tmp_path / "again.parquet").read_bytes() == saved.read_bytes()
    with pytest.raises(BadValue, match="REHEARSAL"):
        dp.synth.load(saved)
    with dp.open(toml) as people, pytest.raises(BadValue, match="REHEARSAL"):
        dp.synth.load(saved, people)


def test_two_tables_are_not_one_file(village: tuple[Any, Any], tmp_path: Path) -> None:
    table, _ = village
    joined = replace(table, table=object.__new__(JoinedTable))
    with pytest.raises(NotAnswerable, match="Two synthetic tables"):
        joined.save(tmp_path / "s.parquet")


def test_the_file_holds_nothing_of_the_private_rows(village: tuple[Any, Any], place: Path) -> None:
    """No text of the table that is no public value: each row's note names its folder."""
    assert str(village[1].table.toml.parent).encode() not in place.read_bytes()
