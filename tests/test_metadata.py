"""TOML ↔ public facts: strict on the way in, equal on the way back, and never a row read."""

import io
import os
import re
import tomllib
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError, MetadataError, SourceUnavailable
from discreet.metadata import Metadata, dumps, gaps, header, load, parse
from discreet.metadata.keys import TABLES
from discreet.schema import Budget, Column, Hierarchy, Schema, Unit
from discreet.schema.limits import Limits

PAGE = Path(__file__).parents[1] / "docs" / "metadata.md"
START = '[dataset]\nname = "people"\n'
AGE = '[columns.age]\ntype = "integer"\n'
CANARY = "canary-4711"

# --- typos -------------------------------------------------------------------------------------------------------

TYPOS = [  # what is written, what the fix proposes
    ('[dataset]\nnam = "people"', 'name = "people"'),
    ('[dataset]\nname = "people"\nsorce = "a.csv"', 'source = "a.csv"'),
    ('[dataset]\nname = "people"\nfile = "a.csv"', 'source = "people.csv"'),
    ('[dataset]\nname = "people"\nneighbors = "add-remove"', 'neighbours = "add-remove"'),
    ('[dataset]\nname = "people"\nadjacency = "add-remove"', 'neighbours = "add-remove"'),
    ('[dataset]\nname = "people"\nneighbours = "add_remove"', 'neighbours = "add-remove"'),
    ('[dataset]\nname = "people"\nneighbours = "replace-on"', 'neighbours = "replace-one"'),
    ('[dataset]\nname = "people"\nneighbours = "bounded"', 'neighbours = "replace-one"'),
    ('[dataset]\nname = "people"\nfromat = 1', "format = 1"),
    ('[dataset]\nname = "people"\nversion = 1', "format = 1"),
    ('[dataset]\nname = "people"\nepsilon = 3', "epsilon = 3"),
    ('[dateset]\nname = "people"', "[dataset]"),
    ('name = "people"', '[dataset]\nname = "people"'),
    (START + '[units]\nkey = "id"\nmax_rows = 5', "[unit]"),
    (START + '[unit]\nmax_rows = 5\nky = "id"', 'key = "id"'),
    (START + '[unit]\nmax_rows = 5\nid = "id"', 'key = "person_id"'),
    (START + '[unit]\nkey = "id"\nmaxrows = 5', "max_rows = 5"),
    (START + '[unit]\nkey = "id"\nmax-rows = 5', "max_rows = 5"),
    (START + '[unit]\nkey = "id"\nmax_contributions = 5', "max_rows = 5"),
    (START + '[column.age]\ntype = "integer"', "[columns.age]"),
    (START + '[columns.age]\ntyp = "integer"', 'type = "integer"'),
    (START + '[columns.age]\ndtype = "integer"', 'type = "integer"'),
    (START + '[columns.age]\ntype = "int"', 'type = "integer"'),
    (START + '[columns.age]\ntype = "Integer"', 'type = "integer"'),
    (START + '[columns.age]\ntype = "float"', 'type = "number"'),
    (START + '[columns.age]\ntype = "string"', 'type = "text"'),
    (START + '[columns.age]\ntype = "categorical"', 'type = "category"'),
    (START + '[columns.age]\ntype = "timestamp"', 'type = "datetime"'),
    (START + '[columns.age]\ntype = "bool"', 'type = "boolean"'),
    (START + AGE + "bound = [0, 110]", "bounds = [0, 110]"),
    (START + AGE + "range = [0, 110]", "bounds = [0, 110]"),
    (START + AGE + "min = 0", "bounds = [0, 110]"),
    (START + AGE + "bounds = [0, 110]\nstepp = 2", "step = 2"),
    (START + AGE + "bin = [0, 1]", "bins = [0, 1]"),
    (START + AGE + "value = [1, 2]", "values = [1, 2]"),
    (START + AGE + 'categories = ["a"]', "values = ["),
    (START + AGE + 'why-public = "map"', 'why_public = "map"'),
    (START + AGE + 'reason = "map"', "why_public = "),
    (START + AGE + "fixed = true", "fixed_per_unit = true"),
    (START + AGE + 'null = "keys"', 'null = "key"'),
    (START + AGE + 'nul = "key"', 'null = "key"'),
    (START + AGE + "max_rows = 5", "[unit]"),
    (START + "[budgets]\nepsilon = 3", "[budget]"),
    (START + "[budget]\neps = 3", "epsilon = 3"),
    (START + "[budget]\nepsilon = 3\ndetla = 1e-7", "delta = 1e-7"),
    (START + "[budget]\nepsilon = 3\nmax_epsilon = 1", "max_epsilon_per_question = 0.5"),
    (START + "[budget]\nepsilon = 3\nshare_answer = true", "share_answers = true"),
    (START + "[budget]\nepsilon = 3\n[budget.analyst]\nana = 1", "[budget.analysts]"),
    (START + '[hierarchies.geo]\nlevels = ["a", "b"]', "[hierarchy.geo]"),
    (START + '[columns.b]\ntype = "text"\n[hierarchy.geo]\nlevel = ["a", "b"]', 'levels = ["a", "b"]'),
    (START + '[hierarchy.geo]\nlevels = ["a", "b"]\nfile = "geo.csv"', 'tree = "geo.csv"'),
]


@pytest.mark.parametrize(("text", "proposed"), TYPOS, ids=[text.replace("\n", " ") for text, _ in TYPOS])
def test_typo_gets_its_suggestion(text: str, proposed: str) -> None:
    with pytest.raises(MetadataError) as refused:
        parse(text, file="people.toml")
    assert refused.value.exit == 3
    assert refused.value.what.startswith("people.toml: ")
    assert proposed in refused.value.fix
    assert refused.value.why


def test_pasting_the_fix_of_a_typo_works() -> None:
    pasted = 0
    for text, _ in TYPOS:
        with pytest.raises(MetadataError) as refused:
            parse(text)
        _, said, line = refused.value.fix.partition("? Write: ")
        typed = text.splitlines()[-1]
        if said and not line.startswith("[") and " = " in typed:
            tomllib.loads(line)
            parse(text.replace(typed, line))
            pasted += 1
    assert pasted >= 20


WRONG = [  # valid TOML that breaks a rule: what is named, what the fix holds
    ("", "dataset.name must be given", 'name = "people"'),
    ("[dataset]", "dataset.name must be given", 'name = "people"'),
    ("dataset = 3", "dataset must be a table", "[dataset]"),
    (START + 'unit = "person_id"', "dataset.unit is not a key", "Remove the line"),
    ('unit = "person_id"\n' + START, "unit must be a table", "[unit]\nkey ="),
    (START + '[columns]\nage = "integer"', "columns.age must be a table", "[columns.age]\ntype ="),
    (START + '[unit]\nkey = "id"', "unit.max_rows must be given", "max_rows = 5"),
    (START + "[unit]\nmax_rows = 5", "unit.key must be given", 'key = "person_id"'),
    (START + "[columns.age]\nbounds = [0, 1]", "columns.age.type must be given", 'type = "integer"'),
    (START + "[budget]\ndelta = 1e-7", "budget.epsilon must be given", "epsilon = 3"),
    (START + '[hierarchy.geo]\ntree = "a.csv"', "hierarchy.geo.levels must be given", "levels = ["),
    (START + "format = 2", "dataset.format must be 1", "format = 1"),
    (START + "format = true", "dataset.format must be 1", "format = 1"),
    (START + "source = 3", "dataset.source must be text", 'source = "people.csv"'),
    (START + AGE + "bounds = [110, 0]", "columns.age.bounds", "bounds = [0, 110]"),
    (START + AGE + "bounds = [0, inf]", "columns.age.bounds", "bounds = [0, 110]"),
    (START + AGE + "bounds = [0, 1e999999999]", "columns.age.bounds", "bounds = [0, 110]"),
    (START + AGE + f"bounds = [0, 0x{'f' * 9000}]", "columns.age.bounds", "bounds = [0, 110]"),
    (START + AGE + 'values = [1]\nvalues_from = "a.csv"', "columns.age.values_from", "Keep one"),
    (START + "[columns.n_moe]\ntype = 'text'", "columns.n_moe must not end in _moe", "Rename"),
    (START + "[unit]\nkey = 'age'\nmax_rows = 5\n" + AGE, "unit.key must not be declared", "Remove [columns.age]"),
    (START + "[budget]\nepsilon = 3\ndelta = 0.1", "budget.delta must be a decimal number between 0", "delta = 1e-7"),
    (START + "[budget]\nepsilon = 3\nanalysts = 3", "budget.analysts must be a table", "ana = 1"),
    (START + "[budget]\nepsilon = 3\n[budget.analysts]\nana = 4", "budget.analysts.ana", "ana = 3"),
    (START + "zzz = 1", "dataset.zzz is not a key of [dataset]", "Remove the line"),
    (START + "[zzz]\na = 1", "zzz is not a table", "Remove it"),
    ("zzz = 1\n" + START, "zzz is not a key at the top", "Remove it"),
    (START + f"{'z' * 5000} = 1", "is not a key", "Remove"),
    ("name people", "this is not TOML", "key = value"),
    ("a = 1\na = 2", "this is not TOML", "each key and each [table] once"),
    (START + START, "at line 3, column 9: this is not TOML", "each key and each [table] once"),
    ("[dataset]\nname = people", "at line 2, column 8: this is not TOML", "in quotes"),
    ("a = \0", "this is not TOML", "key = value"),
    (f"a = {'[' * 9000}", "this is not TOML", "plain tables"),
    (f"a = {'9' * 9000}", "this is not TOML", "plain tables"),
]


@pytest.mark.parametrize(("text", "said", "fix"), WRONG, ids=[said for _, said, _ in WRONG])
def test_broken_rule_is_named_with_file_key_and_fix(text: str, said: str, fix: str) -> None:
    with pytest.raises(MetadataError) as refused:
        parse(text, file="people.toml")
    assert refused.value.what.startswith("people.toml")
    assert said in refused.value.what
    assert fix in refused.value.fix
    assert len(str(refused.value)) < 700


# --- what it says ------------------------------------------------------------------------------------------------


def test_decimals_are_exact_and_every_default_is_filled_in() -> None:
    known = parse(START + AGE + "bounds = [0, 110]\n[budget]\nepsilon = 0.1\n[budget.analysts]\nana = 0.1")
    assert known.budget == Budget(Fraction(1, 10), analysts={"ana": Fraction(1, 10)})
    assert known.schema == Schema("people", (Column("age", "integer", bounds=(0, 110)),))
    assert known.source is None
    assert known.source_path is None
    assert known.schema.max_rows == 1


def test_source_is_seen_from_the_folder_of_the_file() -> None:
    known = parse(START + 'source = "a/b.csv"', folder=Path("/data"))
    assert known.source_path == Path("/data/a/b.csv")
    assert parse(START + 'source = "postgresql://me@host/db?table=people"').source_path is None


def test_public_population_moves_the_ceiling_of_delta() -> None:
    text = '[dataset]\nname = "people"\npopulation = {}\n[budget]\nepsilon = 1\ndelta = {}'
    assert parse(text.format(1000, "1e-4")).budget == Budget(1, "1e-4", max_delta="1e-3")
    for population, delta in ((1000, "1e-2"), (10**9, "1e-7")):
        with pytest.raises(MetadataError, match="ceiling"):
            parse(text.format(population, delta))
    assert parse(text.format(10**9, "1e-7\nmax_delta = 1e-6")).budget == Budget(1, "1e-7")


# --- round trip --------------------------------------------------------------------------------------------------

names = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=12).filter(
    lambda name: not name.casefold().endswith("_moe") and not name.casefold().startswith("discreet_")
)
lattice_types = st.sampled_from(["integer", "number", "date", "datetime"])
ends = {
    "integer": st.integers(-(10**9), 10**9),
    "number": st.fractions(-(10**6), 10**6, max_denominator=1000),
    "date": st.dates(),
    "datetime": st.datetimes(),
}


@st.composite
def columns(draw: Any) -> Column:
    name = draw(names.filter(lambda name: name.casefold() != "rowid"))
    rest = {
        "why_public": draw(st.none() | names),
        "fixed_per_unit": draw(st.booleans()),
        "null": draw(st.sampled_from(["drop", "key"])),
    }
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["category", "text"]))
        listed = draw(st.none() | st.lists(names, min_size=1, max_size=40, unique=True))
        return Column(name, kind, values=listed, **rest)
    kind = draw(lattice_types)
    edges = sorted(draw(st.lists(ends[kind], min_size=2, max_size=6, unique=True)))
    step = draw(st.sampled_from([None, 1])) if edges[0] != edges[-1] and kind in ("integer", "date") else None
    return Column(
        name, kind, bounds=(edges[0], edges[-1]), bins=draw(st.sampled_from([None, edges])), step=step, **rest
    )


@st.composite
def everything(draw: Any) -> Metadata:
    some = draw(st.lists(columns(), max_size=4, unique_by=lambda column: column.name.casefold()))
    leaves = [column for column in some if column.values is None and column.type in ("category", "text")]
    nested = tuple(
        Hierarchy("geo", ("top of all", leaf.name), branches=(("a", "b"), ("a", "c"))) for leaf in leaves[:1]
    )
    schema = Schema(
        "people",
        tuple(some),
        draw(st.none() | st.just(Unit("the unit key", 5))),
        draw(st.sampled_from(["add-remove", "replace-one"])),
        draw(st.none() | st.integers(2, 10**6)),
        nested,
    )
    epsilon = draw(st.fractions(Fraction(1, 1000), 10, max_denominator=1000))
    budget = Budget(
        epsilon,
        draw(st.sampled_from([0, "1e-9", "1/3000000"])),
        analysts=draw(st.dictionaries(names, st.just(epsilon / 2), max_size=3)),
        max_epsilon_per_question=draw(st.none() | st.just(epsilon / 3)),
        share_answers=draw(st.booleans()),
    )
    return Metadata(schema, draw(st.none() | st.just(budget)), draw(st.none() | names))


@given(everything(), st.lists(names, max_size=50))
@settings(deadline=None, max_examples=150)
def test_what_is_written_reads_back_equal(known: Metadata, undeclared: list[str]) -> None:
    back = parse(dumps(known, undeclared))
    assert back.schema == known.schema
    assert back.schema.hash == known.schema.hash
    assert back.budget == known.budget
    assert back.source == known.source
    assert dumps(back, undeclared) == dumps(known, undeclared) or known.budget is not None
    assert dumps(parse(dumps(back))) == dumps(back)


def test_written_file_teaches_and_stays_narrow() -> None:
    wide = Column("place", "category", values=[f"place number {number}" for number in range(500)])
    text = dumps(Metadata(Schema("people", (wide,))))
    assert parse(text).schema.columns == (wide,)
    assert max(map(len, text.splitlines())) <= 120
    assert "# Without this table each row is protected on its own." in text
    assert "# why_public" in text


# --- public files ------------------------------------------------------------------------------------------------

FROM = START + 'source = "people.csv"\n[columns.region]\ntype = "category"\nvalues_from = "regions.csv"\n'


def test_values_come_from_a_public_file(tmp_path: Path) -> None:
    (tmp_path / "regions.csv").write_bytes('\ufeffregion\r\nnorth\r\n"south, far"\r\n\r\n'.encode())
    known = parse(FROM, folder=tmp_path)
    assert known.schema.columns[0].values == ("north", "south, far")
    assert 'values_from = "regions.csv"' in dumps(known)
    (tmp_path / "grades.csv").write_text("grade\n1\n2\n")
    grades = parse(START + '[columns.grade]\ntype = "integer"\nvalues_from = "grades.csv"', folder=tmp_path)
    assert grades.schema.columns[0].values == (1, 2)


@pytest.mark.parametrize(
    ("content", "said", "fix"),
    [
        (None, "not there", "regions.csv"),
        (b"", "one column", '"region" the first line'),
        (b"north\nsouth\n", "one column", '"region" the first line'),
        (b"region,other\na,b\n", "one column", "first line"),
        (b"region\na,b\n", "one column", "quotes"),
        (b"region\n\xff\n", "UTF-8", "iconv"),
        (b"region\na\0b\n", "printable", "values"),
        (b"region\na\na\n", "different", '"a" once'),
        (b'region\n"a\n', "CSV", "quotes"),
        (b"region\n" + b"a" * (16 * 2**20), "16 MiB", "fewer"),
    ],
    ids=str,
)
def test_bad_public_file_is_refused_with_a_fix(tmp_path: Path, content: bytes | None, said: str, fix: str) -> None:
    if content is not None:
        (tmp_path / "regions.csv").write_bytes(content)
    with pytest.raises(MetadataError) as refused:
        parse(FROM, file="people.toml", folder=tmp_path)
    assert refused.value.what.startswith("people.toml: ")
    assert said in refused.value.what
    assert "columns.region.values" in str(refused.value)
    assert fix in refused.value.fix


@pytest.mark.parametrize("name", ["/etc/passwd", "../regions.csv", "a/../../b.csv", "people.csv", "same.csv", "folder"])
def test_public_file_must_lie_beside_and_never_be_the_table(tmp_path: Path, name: str) -> None:
    (tmp_path / "people.csv").write_text(f"region\n{CANARY}\n")
    (tmp_path / "same.csv").symlink_to("people.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(MetadataError) as refused:
        parse(FROM.replace("regions.csv", name), folder=tmp_path)
    assert CANARY not in str(refused.value)
    assert "regions.csv" in refused.value.fix


def test_tree_comes_from_a_public_file(tmp_path: Path) -> None:
    text = START + '[columns.ward]\ntype = "category"\n[hierarchy.geo]\nlevels = ["region", "ward"]\ntree = "geo.csv"\n'
    (tmp_path / "geo.csv").write_text("region,ward\nnorth,n1\nnorth,n2\nsouth,s1\n")
    tree = parse(text, folder=tmp_path).schema.hierarchies[0]
    assert tree.branches == (("north", "n1"), ("north", "n2"), ("south", "s1"))
    assert tree.leaves == ("n1", "n2", "s1")
    for content, said in (("ward,region\nn1,north", "top first"), ("region,ward\nnorth", "all 2 levels")):
        (tmp_path / "geo.csv").write_text(content)
        with pytest.raises(MetadataError, match=said) as refused:
            parse(text, folder=tmp_path)
        assert "hierarchy.geo.tree" in refused.value.what
    (tmp_path / "geo.csv").write_text("region,ward\nnorth,n1\nsouth,n1\n")
    with pytest.raises(MetadataError, match="each ward in one region"):
        parse(text, folder=tmp_path)


# --- the file itself ---------------------------------------------------------------------------------------------


def test_only_a_toml_is_opened(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text(f"{CANARY} = 1")
    with pytest.raises(MetadataError) as refused:
        load(table)
    assert CANARY not in str(refused.value)
    assert "people.toml" in refused.value.fix
    assert "discreet init" in refused.value.fix


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "not there"),
        (lambda path: path.mkdir(), "not a folder"),
        (lambda path: os.mkfifo(path), "ordinary file"),
        (lambda path: path.write_bytes(b"[dataset]\nname = '\xff'"), "UTF-8"),
        (lambda path: path.write_bytes(b"\0\0\0"), "not TOML"),
        (lambda path: path.write_bytes(b"#" * (16 * 2**20 + 1)), "16 MiB"),
        (lambda path: path.write_bytes(b""), "dataset.name"),
    ],
    ids=["missing", "folder", "pipe", "latin1", "NUL", "long", "empty"],
)
def test_unreadable_metadata_is_refused_with_a_fix(tmp_path: Path, make: Any, said: str) -> None:
    path = tmp_path / "people.toml"
    make(path)
    with pytest.raises(MetadataError, match=said) as refused:
        load(path)
    assert refused.value.fix


def test_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    path.write_bytes(b"\xef\xbb\xbf" + START.encode())
    assert load(path).schema.name == "people"


# --- gaps --------------------------------------------------------------------------------------------------------


def found(text: str, *names: str) -> dict[str, bool]:
    return {gap.where: gap.blocks for gap in gaps(parse(text), names or None)}


def test_bare_file_has_every_gap_and_only_the_budget_blocks() -> None:
    assert found(START) == {"budget": True, "dataset.source": False, "unit": False, "columns": False}
    assert next(iter(found(START))) == "budget"


FULL = """
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "id"
max_rows = 5
[columns.age]
type = "integer"
bounds = [0, 110]
why_public = "common knowledge"
[columns.region]
type = "category"
values = ["north", "south"]
why_public = "map"
[columns.smoker]
type = "boolean"
[budget]
epsilon = 3
delta = 1e-7
"""


def test_full_file_has_no_gap() -> None:
    assert found(FULL) == {}
    assert found(FULL, "ID", "Age", "region", "smoker", "other") == {}
    assert found(FULL.replace('"id"', '"Id"'), "ID", "Age", "region", "smoker") == {}


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('source = "people.csv"\n', "", "dataset.source"),
        ('[unit]\nkey = "id"\nmax_rows = 5\n', "", "unit"),
        ("bounds = [0, 110]\n", "", "columns.age.bounds"),
        ('why_public = "map"\n', "", "columns.region.why_public"),
        ('values = ["north", "south"]\n', "", "columns.region.values"),
        ('"category"\nvalues = ["north", "south"]\n', '"text"\n', "columns.region.values"),
        ("delta = 1e-7\n", "", "budget.delta"),
        ("delta = 1e-7\n", "delta = 0\nmax_delta = 1e-3\n", "budget.max_delta"),
        ("delta = 1e-7\n", "delta = 1e-7\nmax_delta = 1e-5\n", "budget.max_delta"),
        ("[unit]", "population = 60000\n[unit]", None),
        ("[unit]", "population = 100000\n[unit]", None),
        ("[unit]", "population = 100001\n[unit]", "budget.delta"),
        ('"map"', '"…"', "columns.region.why_public"),
        ('"map"', '"..."', "columns.region.why_public"),
        ("[budget]", '[hierarchy.geo]\nlevels = ["land", "region"]\n[budget]', "hierarchy.geo.tree"),
    ],
)
def test_each_gap_is_found_alone_and_does_not_block(old: str, new: str, where: str | None) -> None:
    assert old in FULL
    assert found(FULL.replace(old, new)) == ({} if where is None else {where: False})


def test_delta_and_its_ceiling_are_measured_against_a_hundredth_of_one_over_the_population() -> None:
    text = FULL.replace("[unit]", "population = 1000\n[unit]")
    both = text.replace("delta = 1e-7", "delta = 1e-4\nmax_delta = 1e-3")
    assert found(both) == {"budget.delta": False, "budget.max_delta": False}
    first, second = (gap.fix.partition("write: ")[2] for gap in gaps(parse(both)))
    assert found(text.replace("delta = 1e-7", f"{first}\n{second}")) == {}
    assert found(text.replace("delta = 1e-7", "delta = 1e-5")) == {}
    assert found(text.replace("delta = 1e-7", "delta = 1.1e-5")) == {"budget.delta": False}


def test_zero_delta_that_was_said_is_no_gap() -> None:
    assert found(FULL.replace("1e-7", "0")) == {}


def test_header_that_lacks_a_declared_name_blocks_and_suggests() -> None:
    assert found(FULL, "ident", "ages", "region", "smoker") == {"unit.key": True, "columns.age": True}
    said = gaps(parse(FULL), ["id", "ages", "region", "smoker"])
    assert "'age'" not in said[0].fix
    assert '"ages"' in said[0].fix


def test_fix_of_every_gap_is_toml_to_paste() -> None:
    for gap in gaps(parse(START + '[columns.a]\ntype = "date"\n[columns.b]\ntype = "text"\n')):
        line = gap.fix.partition("write: ")[2].partition(", or")[0] or gap.fix.partition("Write:\n")[2]
        assert tomllib.loads(line)


# --- the header --------------------------------------------------------------------------------------------------


class Watched(io.BytesIO):
    """Counts the bytes that were handed out."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        given = super().read(size)
        self.taken += len(given)
        return given


def test_not_one_byte_of_the_second_line_is_read() -> None:
    for ending in (b"\n", b"\r\n", b"\r"):
        handle = Watched(b"a,b" + ending + CANARY.encode() * 1000)
        assert header.first_line(handle) == b"a,b"
        assert handle.taken == 4


def test_second_line_is_still_in_the_pipe_after_the_header_was_read(tmp_path: Path) -> None:
    pipe = tmp_path / "people.csv"
    os.mkfifo(pipe)
    ours = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    sender = os.open(pipe, os.O_WRONLY)
    try:
        os.write(sender, f"person_id,age\n{CANARY}\n".encode())
        assert header.names(pipe) == ("person_id", "age")
        assert os.read(ours, 1000) == f"{CANARY}\n".encode()
    finally:
        os.close(sender)
        os.close(ours)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (b"a,b", ("a", "b")),
        (b"a,b\n", ("a", "b")),
        (b"\xef\xbb\xbfa,b\r\n1,2", ("a", "b")),
        (b"a;b, c;d\n", ("a", "b, c", "d")),
        (b'"a, b";c\n', ("a, b", "c")),
        (b"a\tb\n", ("a", "b")),
        (b"only\n", ("only",)),
        (b'"a, b","c ""d"""\n', ("a, b", 'c "d"')),
        (b" a , b \n", ("a", "b")),
        ("größe,né\n".encode(), ("größe", "né")),
        (b"age_2020,x1\n", ("age_2020", "x1")),
    ],
    ids=str,
)
def test_names_are_read_from_the_first_line(tmp_path: Path, line: bytes, names: tuple[str, ...]) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(line)
    assert header.names(path) == names


@pytest.mark.parametrize(
    ("line", "said", "fix"),
    [
        (b"", "must hold column names", "person_id,age,region"),
        (b"\na,b", "must hold column names", "person_id,age,region"),
        (b"\xef\xbb\xbf", "must hold column names", "person_id,age,region"),
        (b"a,,b", "must have a name. Column 2", "every column a name"),
        (b"a,b,A", "must differ. Columns 1 and 3", "Rename"),
        (b"a,\xff", "must be UTF-8", "iconv"),
        (b"\xff\xfea\0,\0b\0", "NUL", "UTF-8"),
        (b"PAR1\0\0", "NUL", "--column"),
        (b'a,"b\nc",d', "quote is not closed", "quotes"),
        (b"a,\x07b", "printable", "Rename"),
        (b"a" * 300, "200 printable", "Rename"),
        (b"a" * (2**20 + 1), "1 MiB", "first line"),
        (b"4711,b", "seems to be a row", "Add a line"),
        (b"a,2020-01-31", "seems to be a row", "Add a line"),
        (b"a,ann@example.org", "seems to be a row", "Add a line"),
        (b"-1.5e3,x", "seems to be a row", "person_id,age,region"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_first_line_without_names_is_refused_unquoted(tmp_path: Path, line: bytes, said: str, fix: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(line)
    with pytest.raises(MetadataError, match=re.escape(said)) as refused:
        header.names(path)
    assert fix in refused.value.fix
    for private in ("4711", "2020-01-31", "ann@", "1.5e3"):
        assert private not in str(refused.value)


def test_header_of_ten_thousand_columns_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{number}" for number in range(10**4)) + "\n")
    assert len(header.names(path)) == 10**4


def test_table_that_is_not_there_is_told_from_one_that_is_odd(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        target = path if path.suffix else tmp_path / "folder.csv"
        if not path.suffix:
            target.mkdir()
        with pytest.raises(SourceUnavailable) as absent:
            header.names(target)
        assert absent.value.exit == 7
    with pytest.raises(DiscreetError, match="not built in yet") as other:
        header.names(tmp_path / "people.parquet")
    assert (other.value.exit, "--column" in other.value.fix) == (3, True)


# --- limits ------------------------------------------------------------------------------------------------------


def test_limits_read_back_as_they_were_written() -> None:
    known = parse(START + "[limits]\nmemory_gib = 1.5\nseconds = 0.5\nthreads = 2")
    assert known.limits == Limits(memory=3 * 2**29, seconds=0.5, threads=2)
    text = dumps(known)
    assert parse(text) == known
    assert "prepare_seconds" not in text
    assert parse(START).limits is None


@pytest.mark.parametrize(
    "line", ["memory_gib = 0", "memory_gib = 0.01", 'seconds = "soon"', "seconds = -1", "threads = 1.5"]
)
def test_limits_outside_their_range_are_refused(line: str) -> None:
    with pytest.raises(MetadataError, match=line.split()[0].partition("_gib")[0]):
        parse(START + f"[limits]\n{line}")


def test_other_names_of_memory_get_the_right_one_as_a_fix() -> None:
    with pytest.raises(MetadataError) as refused:
        parse(START + "[limits]\nram = 8")
    assert "memory_gib = 6" in refused.value.fix


# --- the page ----------------------------------------------------------------------------------------------------


def test_page_has_every_key_with_a_default_and_an_example_that_parses() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for table, keys in TABLES.items():
        heading = f"## [{table}{'.NAME' if table in ('columns', 'hierarchy') else ''}]"
        section = page.partition(f"{heading}\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \| `(.+)` \|$", section, flags=re.MULTILINE)
        assert [row[0] for row in rows] == list(keys), table
        for name, meaning, default, example in rows:
            assert meaning.strip()
            assert default.strip()
            assert name in tomllib.loads(example) or example == "[budget.analysts]"
    for known in re.findall(r"```toml\n(.+?)```", page, flags=re.DOTALL):
        assert not gaps(parse(known))


def test_examples_in_the_code_are_toml() -> None:
    for keys in TABLES.values():
        for name, line in keys.items():
            read = tomllib.loads(line)
            assert name in read or name in read["budget"]


def test_moments_and_dates_are_native_toml() -> None:
    known = parse(START + '[columns.t]\ntype = "datetime"\nbounds = [2020-01-01, 2020-01-02T03:04:05]')
    assert known.schema.columns[0].bounds == (datetime(2020, 1, 1), datetime(2020, 1, 2, 3, 4, 5))
    known = parse(START + '[columns.d]\ntype = "date"\nbounds = ["2020-01-01", 2020-01-02]')
    assert known.schema.columns[0].bounds == (date(2020, 1, 1), date(2020, 1, 2))


def test_values_of_the_lowest_level_are_the_leaves_of_its_tree() -> None:
    geo = '[hierarchy.geo]\nlevels = ["region", "ward"]\nbranches = [["n", "n1"], ["n", "n2"]]\n'
    known = parse(START + '[columns.ward]\ntype = "category"\n' + geo)
    assert known.schema.columns[0].values == ("n1", "n2")
    listed = parse(START + '[columns.ward]\ntype = "category"\nvalues = ["n2"]\n' + geo)
    assert listed.schema.columns[0].values == ("n2",)


def test_an_address_as_source_is_a_gap_that_blocks():
    known = parse(START + 'source = "http://host/people.csv"\n[budget]\nepsilon = 1')
    gap = next(gap for gap in gaps(known) if gap.where == "dataset.source")
    assert gap.blocks
    assert "only files can be read" in gap.what


def test_the_empty_text_can_be_listed_or_said_to_be_an_empty_cell():
    listed = parse(START + '[columns.a]\ntype = "category"\nvalues = ["", "a"]').schema
    assert listed.columns[0].values == ("", "a")
    said = parse(START + '[columns.a]\ntype = "text"\nempty = "null"')
    assert 'empty = "null"' in dumps(said)
    plain = parse(START + '[columns.a]\ntype = "text"').schema
    assert parse(dumps(said)).schema.hash == said.schema.hash != plain.hash
    assert "empty" not in plain.canonical(), "a default leaves the fingerprint as it was"


def test_no_unit_key_is_suggested_that_is_not_in_the_header_or_looks_like_no_id() -> None:
    known = parse(FULL.replace('[unit]\nkey = "id"\nmax_rows = 5\n', ""))
    for names, named in (
        (("age", "region", "smoker"), None),
        (("age", "region", "smoker", "paid", "fare"), None),
        (("age", "region", "smoker", "fare", "patientId"), "patientId"),
        (("age", "region", "smoker", "user"), "user"),
        ((), None),
    ):
        (gap,) = [gap for gap in gaps(known, names or None) if gap.where == "unit"]
        assert f'key = "{named or "…"}"' in gap.fix
        assert "person_id" not in gap.fix


def test_examples_of_values_and_bounds_are_marked_as_such() -> None:
    for old, where in (
        ('values = ["north", "south"]\n', "columns.region.values"),
        ("bounds = [0, 110]\n", "columns.age.bounds"),
    ):
        (gap,) = [gap for gap in gaps(parse(FULL.replace(old, ""))) if gap.where == where]
        assert "put your own in place" in gap.fix


def test_the_leaves_of_a_hierarchy_need_no_list_of_values() -> None:
    text = FULL.replace('values = ["north", "south"]\nwhy_public = "map"\n', "")
    assert found(text) == {"columns.region.values": False}
    assert found(text.replace("[budget]", '[hierarchy.geo]\nlevels = ["land", "region"]\n[budget]')) == {
        "hierarchy.geo.tree": False
    }
