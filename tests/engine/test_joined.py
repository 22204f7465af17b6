"""Two files read as one: the joined rows are what a merge by hand gives, whatever keys, formats and names they have."""

import csv
import math
import random
from collections import Counter, defaultdict

import duckdb
import pyarrow
import pytest
from pyarrow import parquet

from discreet.engine import Engine
from discreet.engine.joined import JoinedSource
from discreet.errors import BadValue, SourceUnavailable
from discreet.query.layout import TABLE, UNIT, storage
from discreet.schema import Column, Schema, Unit
from discreet.synth.children.joining import joining_of

MOST = 50
PERSONS = Schema("patients", [Column("tag", "integer", bounds=(0, 999)), Column("sex", "category", values=["f", "m"])],
                 Unit("who", 1))  # fmt: skip
ROWS = Schema("visits", [Column("sex", "category", values=["a", "b"]), Column("cost", "integer", bounds=(0, 99))],
              Unit("who", MOST))  # fmt: skip
KINDS = {"who": "VARCHAR", "tag": "BIGINT", "sex": "VARCHAR", "cost": "BIGINT"}
ODD = ["1", "01", "1.0", " 1", "a", "A", "", None, "é", "x,y", 'q"q', "null", "-1", "9999999999999999999"]


# --- the twin --------------------------------------------------------------------------------------------------------


def as_key(key):
    """The text that a key is compared by; None where a row is nobody's."""
    if isinstance(key, float):
        key = None if math.isnan(key) else int(key) if key == int(key) else key
    return None if key is None or key == "" else str(key)


def merged(persons, rows):
    """For each person the multiset of joined rows: (tag, sex, presence, the row's sex, cost)."""
    first = dict[str, tuple]()
    for who, *cells in sorted(
        persons, key=lambda row: [(cell is None, cell if cell is not None else 0) for cell in row[1:]]
    ):
        if as_key(who) is not None:
            first.setdefault(as_key(who), tuple(cells))
    own = defaultdict(list)
    for who, *cells in rows:
        own[as_key(who)].append(cells)
    return {
        key: Counter((tag, code("fm", sex), bool(own[key]), code("ab", kind), cost)
                     for kind, cost in own[key] or [(None, None)])
        for key, (tag, sex) in first.items()
    }  # fmt: skip


def code(values, text):
    return None if text is None else values.index(text)


# --- files -----------------------------------------------------------------------------------------------------------


def write(path, names, rows, key="VARCHAR"):
    if path.suffix == ".csv":
        with open(path, "w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(names)
            lines.writerows(["" if cell is None else cell for cell in row] for row in rows)
        return path
    kinds = KINDS | {"who": key}
    kind_of = {"VARCHAR": pyarrow.string(), "BIGINT": pyarrow.int64(), "DOUBLE": pyarrow.float64()}
    columns = list(zip(*rows, strict=True)) or [[] for _ in names]
    types = [kind_of[kinds[name]] for name in names]
    arrow = pyarrow.table({
        name: pyarrow.array(list(cells), kind) for name, cells, kind in zip(names, columns, types, strict=True)
    })  # fmt: skip
    if path.suffix == ".parquet":
        parquet.write_table(arrow, path)
    else:
        with duckdb.connect(path) as connection:
            connection.register("given", arrow)
            connection.execute(f"CREATE OR REPLACE TABLE {'visits' if 'cost' in names else 'patients'} AS FROM given")
    return path


def source(persons, rows, schemas=(PERSONS, ROWS)):
    joining = joining_of(*schemas, "visits")
    return joining, JoinedSource(persons, schemas[0], rows, schemas[1], joining.names, joining.presence)


def read(folder, persons, rows, schemas=(PERSONS, ROWS)):
    """For each unit the multiset of its prepared rows, in the order of `merged`."""
    joining, both = source(persons, rows, schemas)
    with Engine(folder, "both", joining.schema, both) as engine:
        path = engine.path
    order = [*joining.persons, joining.presence, *joining.names.values()]
    cells = [storage(joining.schema, joining.schema.find(name)).name for name in order]
    with duckdb.connect(path, read_only=True) as connection:
        prepared = connection.execute(f"SELECT {UNIT}, {', '.join(cells)} FROM {TABLE}").fetchall()
    units = defaultdict(Counter)
    for unit, *row in prepared:
        units[unit][tuple(row)] += 1
    return dict(units)


def multisets(units):
    return Counter(frozenset(rows.items()) for rows in units.values())


def tables(draw, keys=ODD):
    """Persons, some twice, and rows, some of nobody; `tag` tells persons apart."""
    persons = [(draw.choice(keys), n, draw.choice(["f", "m", None])) for n in range(draw.randrange(12))]
    rows = [(draw.choice(keys), draw.choice(["a", "b", None]), draw.choice([0, 7, 99, None]))
            for _ in range(draw.randrange(30))]  # fmt: skip
    return persons, rows


FORMATS = [("csv", "csv"), ("parquet", "csv"), ("csv", "parquet"), ("duckdb", "parquet"), ("parquet", "duckdb")]


@pytest.mark.parametrize("formats", FORMATS, ids="-".join)
@pytest.mark.parametrize("seed", range(2))
def test_joined_rows_are_those_of_a_merge(tmp_path, formats, seed):
    persons, rows = tables(random.Random(f"{seed} {formats}"))
    files = [tmp_path / f"{name}.{ending}" for name, ending in zip(("patients", "visits"), formats, strict=True)]
    write(files[0], ["who", "tag", "sex"], persons)
    write(files[1], ["who", "sex", "cost"], rows)
    assert multisets(read(tmp_path, *files)) == multisets(merged(persons, rows))


def test_one_duckdb_file_may_hold_both(tmp_path):
    persons, rows = tables(random.Random(7))
    place = tmp_path / "both.duckdb"
    write(place, ["who", "tag", "sex"], persons)
    write(place, ["who", "sex", "cost"], rows)
    assert multisets(read(tmp_path, place, place)) == multisets(merged(persons, rows))


KEYS = {
    "integers and texts": ("BIGINT", [1, 7, -3, 2**62], "VARCHAR", ["1", "07", "-3", str(2**62), " 1"], 3),
    "texts and integers": ("VARCHAR", ["1", "001", "7 "], "BIGINT", [1, 7], 1),
    "whole floats and integers": ("DOUBLE", [1.0, 2.5, float("nan"), None], "BIGINT", [1, 2], 1),
    "floats and texts": ("DOUBLE", [0.5, -0.0, 3.0], "VARCHAR", ["0.5", "0", "3.0"], 2),
    "nothing joins with nothing": ("VARCHAR", ["", None, "x"], "VARCHAR", ["", None, "y"], 0),
}


@pytest.mark.parametrize(("own", "persons", "other", "rows", "joined"), KEYS.values(), ids=KEYS)
def test_keys_are_compared_as_texts(tmp_path, own, persons, other, rows, joined):
    people = [(key, place, "f") for place, key in enumerate(persons)]
    visits = [(key, "a", place) for place, key in enumerate(rows)]
    files = tmp_path / "patients.parquet", tmp_path / "visits.parquet"
    write(files[0], ["who", "tag", "sex"], people, own)
    write(files[1], ["who", "sex", "cost"], visits, other)
    units = read(tmp_path, *files)
    assert multisets(units) == multisets(merged(people, visits))
    assert sum(any(row[2] for row in rows) for rows in units.values()) == joined


def test_the_key_may_be_spelt_with_other_case_in_the_second_table(tmp_path):
    write(tmp_path / "p.csv", ["who", "tag", "sex"], [("a", 1, "f")])
    write(tmp_path / "v.csv", ["WHO", "sex", "cost"], [("a", "b", 5)])
    schemas = PERSONS, Schema("visits", ROWS.columns, Unit("Who", MOST))
    (rows,) = read(tmp_path, tmp_path / "p.csv", tmp_path / "v.csv", schemas).values()
    assert rows == Counter([(1, 0, True, 1, 5)])


def test_names_that_collide_are_the_second_tables_with_its_name_before():
    person = Schema("p", [Column(name, "boolean") for name in ("Age", "visits age", "has visits")], Unit("visits x", 1))
    row = Schema("v", [Column(name, "boolean") for name in ("age", "x", "HAS VISITS", "own")], Unit("visits x", 3))
    joining = joining_of(person, row, "visits")
    assert joining.persons == ("Age", "visits age", "has visits")
    assert joining.presence == "visits has visits"
    own = ["visits visits age", "x", "visits visits HAS VISITS", "own"]
    assert list(joining.names.values()) == own
    assert [column.name for column in joining.schema.columns] == [*joining.persons, joining.presence, *own]
    assert [column.fixed_per_unit for column in joining.schema.columns] == [True] * 4 + [False] * 4
    key = Schema("v", [Column("x", "boolean"), Column("y", "boolean")], Unit("VISITS X", 3))
    assert joining_of(Schema("p", [Column("x", "boolean")], Unit("visits x", 1)), key, "visits").names == {
        "x": "visits visits x", "y": "y",
    }  # fmt: skip


def test_columns_with_the_names_of_the_joins_own_cells_are_read_as_they_are(tmp_path):
    persons = Schema("p", [Column(name, "integer", bounds=(0, 99)) for name in ("p1", "p0", "u", "b")], Unit("k", 1))
    rows = Schema("v", [Column(name, "integer", bounds=(0, 99)) for name in ("v1", "v0", "u")], Unit("k", 3))
    for place, names in (("p.parquet", ["k", "p0", "p1", "u", "b"]), ("v.parquet", ["k", "v0", "v1", "u"])):
        parquet.write_table(pyarrow.table({name: [number] for number, name in enumerate(names)}), tmp_path / place)
    (own,) = read(tmp_path, tmp_path / "p.parquet", tmp_path / "v.parquet", (persons, rows)).values()
    assert own == Counter([(2, 1, 3, 4, True, 2, 1, 3)])


# --- what one person changes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_person_who_leaves_both_tables_takes_exactly_the_own_rows_along(tmp_path, seed):
    """Ids and ranks follow from the key alone, so all others keep the very same prepared rows."""
    draw = random.Random(seed)
    persons, rows = tables(draw, ["a", "b", "c", "d", "1", "01", "", None])
    schemas = PERSONS, Schema("visits", ROWS.columns, Unit("who", 2))  # rows are capped too
    leaving = draw.choice(["a", "b", "1", "01"])
    before = read(filled(tmp_path, "before", persons, rows), *places(tmp_path), schemas)
    for part in ("both", "visits", "patients"):
        fewer = [row for row in persons if as_key(row[0]) != leaving or part == "visits"]
        left = [row for row in rows if as_key(row[0]) != leaving or part == "patients"]
        after = read(filled(tmp_path, part, fewer, left), *places(tmp_path), schemas)
        changed = {unit for unit in before.keys() | after.keys() if before.get(unit) != after.get(unit)}
        assert len(changed) <= 1
        if part == "visits":
            assert after.keys() == before.keys()
            assert all(sum(after[unit].values()) == 1 and not next(iter(after[unit]))[2] for unit in changed)
        else:
            was_there = any(as_key(row[0]) == leaving for row in persons)
            assert len(before) - len(after) == len(changed) == was_there


def places(folder):
    """Both files."""
    return folder / "patients.csv", folder / "visits.csv"


def filled(folder, _, persons, rows):
    write(folder / "patients.csv", ["who", "tag", "sex"], persons)
    write(folder / "visits.csv", ["who", "sex", "cost"], rows)
    return folder


# --- states ----------------------------------------------------------------------------------------------------------


def snapshot(folder, both, schema):
    with Engine(folder, "both", schema, both) as engine:
        return engine.snapshot


def test_a_change_of_either_file_is_another_state_and_back_again_the_first(tmp_path):
    persons, rows = [("a", 1, "f")], [("a", "a", 1)]
    filled(tmp_path, "", persons, rows)
    joining, both = source(*places(tmp_path))
    first = snapshot(tmp_path, both, joining.schema)
    filled(tmp_path, "", persons, [*rows, ("a", "b", 2)])
    second = snapshot(tmp_path, both, joining.schema)
    filled(tmp_path, "", [*persons, ("b", 1, "f")], rows)
    third = snapshot(tmp_path, both, joining.schema)
    filled(tmp_path, "", persons, rows)
    assert len({first, second, third}) == 3
    assert snapshot(tmp_path, both, joining.schema) == first


def test_equal_joined_facts_that_read_other_columns_are_another_state(tmp_path):
    """`tag` of one file and `cost` of the other, then the other way round: the joined schema is the same."""
    both = Column("tag", "integer", bounds=(0, 999)), Column("cost", "integer", bounds=(0, 99), fixed_per_unit=True)
    write(tmp_path / "p.csv", ["who", "tag", "cost"], [("a", 1, 2)])
    write(tmp_path / "v.csv", ["who", "tag", "cost"], [("a", 3, 4)])
    swapped = Column("tag", "integer", bounds=(0, 999), fixed_per_unit=True), Column("cost", "integer", bounds=(0, 99))
    states, layouts = [], set()
    for own, other in ((both[0], both[1]), (swapped[1], swapped[0])):
        schemas = Schema("p", [own], Unit("who", 1)), Schema("v", [other], Unit("who", 2))
        joining, joined = source(tmp_path / "p.csv", tmp_path / "v.csv", schemas)
        with Engine(tmp_path, "both", joining.schema, joined) as engine:
            layouts.add(engine.layout)
            states.append(engine.snapshot)
    assert len(layouts) == 1
    assert len(set(states)) == 2


# --- what is refused -------------------------------------------------------------------------------------------------


def test_two_duckdb_files_are_refused(tmp_path):
    write(tmp_path / "p.duckdb", ["who", "tag", "sex"], [("a", 1, "f")])
    write(tmp_path / "v.duckdb", ["who", "sex", "cost"], [("a", "a", 1)])
    with pytest.raises(BadValue, match="second DuckDB file"):
        read(tmp_path, tmp_path / "p.duckdb", tmp_path / "v.duckdb")


@pytest.mark.parametrize("which", ["patients", "visits"])
def test_keys_that_a_collation_makes_equal_are_refused(tmp_path, which):
    """'a' and 'A' would be one unit of one ledger and two of the other."""
    write(tmp_path / "patients.parquet", ["who", "tag", "sex"], [("a", 1, "f"), ("A", 2, "f")])
    write(tmp_path / "visits.parquet", ["who", "sex", "cost"], [("a", "a", 1)])
    columns = "tag BIGINT, sex VARCHAR" if which == "patients" else "sex VARCHAR, cost BIGINT"
    with duckdb.connect(tmp_path / f"{which}.duckdb") as connection:
        connection.execute(f"CREATE TABLE {which} (who VARCHAR COLLATE NOCASE, {columns})")
    endings = {"patients": "parquet", "visits": "parquet"} | {which: "duckdb"}
    with pytest.raises(SourceUnavailable, match="collation"):
        read(tmp_path, *(tmp_path / f"{name}.{ending}" for name, ending in endings.items()))


@pytest.mark.parametrize("gone", ["patients.csv", "visits.csv"])
def test_a_missing_file_is_refused_by_its_name(tmp_path, gone):
    filled(tmp_path, "", [("a", 1, "f")], [("a", "a", 1)])
    (tmp_path / gone).unlink()
    with pytest.raises(SourceUnavailable, match=gone):
        read(tmp_path, *places(tmp_path))


def test_a_source_without_the_key_is_refused(tmp_path):
    filled(tmp_path, "", [("a", 1, "f")], [("a", "a", 1)])
    write(tmp_path / "visits.csv", ["other", "sex", "cost"], [("a", "a", 1)])
    with pytest.raises(Exception, match='no "who"'):
        read(tmp_path, *places(tmp_path))
