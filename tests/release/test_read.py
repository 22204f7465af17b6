"""A built release read back: what is whole checks, and everything that was touched is found and counted."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from discreet.release import read
from discreet.release.publish import files, tidy
from discreet.release.publish.facts import facts
from discreet.release.publish.rows import location_of, name_codes
from release.published import HOSTILE, KINDS, known, made, rewritten, saved

RULES = ("sums", "signs", "fractions", "totals", "zeros", "places", "margins", "measured")


@pytest.fixture
def built(tmp_path):
    return saved(tmp_path)


def retyped(folder, name, column, values):
    """A column of a file put in the place of another of any kind."""
    rewritten(folder, name, lambda table: table.set_column(table.column_names.index(column), column, values(table)))


def with_column(name, change):
    """A change of one column of numbers."""

    def changed(table):
        values = np.array(table[name].to_pylist())
        return table.set_column(table.column_names.index(name), name, pyarrow.array(change(values)))

    return changed


def at(row, value):
    def change(values):
        values = values.astype(np.result_type(values, type(value)))
        values[row] += value
        return values

    return change


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tops", [1, 3])
def test_a_saved_release_passes_the_check(tmp_path, kind, tops):
    schema = known(HOSTILE, tops=tops)
    release = made(schema, kind)
    files.save(release, tmp_path / "r")
    checked, tables = read.read_release(tmp_path / "r", schema)
    assert checked.problems == ()
    assert checked.violations == dict.fromkeys(RULES, 0)
    assert checked.facts["receipt"] == "3-ab"
    assert np.array_equal(tables.fitted, release.fitted)
    assert np.array_equal(tables.estimate, release.estimate)
    assert tables.tree.names == release.plan.subject.tree.names


def test_a_byte_changed_anywhere_in_a_table_is_found(built):
    folder, schema, _ = built
    for name in ("table.parquet", "noisy.parquet"):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole + b" ")
        assert f"{name}: was changed after it was built." in read.check_release(folder, schema).problems
        (folder / name).write_bytes(whole)
    assert read.check_release(folder, schema).problems == ()


def test_rows_in_another_order_are_the_same_release(built):
    folder, schema, release = built
    for name in ("table.parquet", "noisy.parquet"):
        rewritten(folder, name, lambda table: table.take(np.random.default_rng(1).permutation(table.num_rows)))
    checked, tables = read.read_release(folder, schema)
    assert checked.problems == ()
    assert np.array_equal(tables.fitted, release.fitted)


LAST = -1
EDITS = {  # what is done to which column of which file, and what must be counted
    "a leaf one higher": ("table.parquet", with_column("n", at(LAST, 1)), {"sums": 1}),
    "the top one higher": ("table.parquet", with_column("n", at(0, 1)), {"sums": 1, "totals": 1}),
    "a leaf far below 0": ("table.parquet", with_column("n", at(LAST, -(10**6))), {"sums": 1, "signs": 1}),
    "a leaf and a half": ("table.parquet", with_column("n", at(LAST, 0.5)), {"sums": 1, "fractions": 1}),
    "no number at all": ("table.parquet", with_column("n", at(LAST, float("nan"))), {"sums": 1, "fractions": 1}),
    "a smaller margin": ("table.parquet", with_column("n_moe", at(3, -1)), {"margins": 1}),
    "a higher low end": ("table.parquet", with_column("n_low", at(0, 1)), {"margins": 1}),
    "a lower high end": ("table.parquet", with_column("n_high", at(0, -1)), {"margins": 1}),
    "another estimate": ("table.parquet", with_column("n_estimate", at(0, 1)), {"margins": 1, "measured": 1}),
    "another measurement": ("noisy.parquet", with_column("measured", at(LAST, 1)), {"measured": 1}),
    "a row less": ("table.parquet", lambda table: table.slice(1), {"places": 1}),
    "a row twice": ("table.parquet", lambda table: pyarrow.concat_tables([table, table.slice(0, 1)]), {"places": 1}),
    "no rows": ("noisy.parquet", lambda table: table.slice(0, 0), {"places": 34}),
    "a measurement less": ("noisy.parquet", lambda table: table.slice(1), {"places": 1}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_is_found_and_counted(built, edit):
    folder, schema, _ = built
    name, change, wanted = EDITS[edit]
    rewritten(folder, name, change)
    checked, tables = read.read_release(folder, schema)
    assert {rule: count for rule, count in checked.violations.items() if count} == wanted
    assert len(checked.problems) == len(wanted)
    assert all(problem.split(":")[0] in ("table.parquet", "noisy.parquet") for problem in checked.problems)
    assert tables is None


def renamed(column, old, new):
    def change(table):
        values = [new if value == old else value for value in table[column].to_pylist()]
        return table.set_column(table.column_names.index(column), column, pyarrow.array(values, pyarrow.string()))

    return change


@pytest.mark.parametrize("name", ["table.parquet", "noisy.parquet"])
def test_unknown_places_labels_and_levels_are_found(tmp_path, name):
    schema = known(HOSTILE)
    for column, old, new in (
        ("ward", "+1", "+2"),  # no such place
        ("ward", "+1", None),  # a path that ends too early
        ("n_moe_", f"{HOSTILE[0]} region 0", f"{HOSTILE[1]} region 1"),  # wards in another region
        ("sex", "m", "x"),
        ("sex", "m", None),
        ("level", "ward", "country"),
    ):
        files.save(made(schema, "sex"), tmp_path / "r", replace=True)
        rewritten(tmp_path / "r", name, renamed(column, old, new))
        checked = read.check_release(tmp_path / "r", schema)
        assert checked.violations["places"] > 0, (column, new)
        assert [problem.split(":")[0] for problem in checked.problems] == [name]


def test_rows_lie_where_the_slow_twin_finds_them():
    schema = known(HOSTILE, tops=2)
    release = made(schema, "sex and age")
    about, table = tidy.keys(release), tidy.table(release)
    order = np.random.default_rng(2).permutation(table.num_rows)
    where = location_of(about, about.attributes, table.take(order))
    assert where.lost == 0
    assert where.index.tolist() == order.tolist()  # rows are written place by place and cell by cell


def test_numbers_beyond_64_bits_of_sums_are_told(built):
    folder, schema, _ = built
    rewritten(folder, "table.parquet", with_column("n", at(0, 2**62)))
    assert read.check_release(folder, schema).problems == ("table.parquet: its numbers are too large to be added up.",)


def test_columns_that_are_gone_or_hold_text_are_told(built):
    folder, schema, _ = built
    rewritten(folder, "table.parquet", lambda table: table.drop_columns(["n", "ward"]))
    assert read.check_release(folder, schema).problems == ("table.parquet: 2 columns are missing or there twice.",)
    files.save(made(schema, "sex"), folder, replace=True)
    for column in ("n", "n_low"):
        rewritten(folder, "table.parquet", with_column(column, lambda values: values.astype(str)))
    problems = read.check_release(folder, schema).problems
    assert problems == tuple(f"table.parquet: {name} is not a column of numbers." for name in ("n", "n_low"))


def test_files_that_are_gone_or_no_parquet_are_told(built):
    folder, schema, _ = built
    (folder / "noisy.parquet").unlink()
    (folder / "table.parquet").write_bytes(b"PAR1 nothing PAR1")
    assert read.check_release(folder, schema).problems == (
        "table.parquet: was changed after it was built.",
        "noisy.parquet: is missing.",
        "table.parquet: cannot be read as Parquet.",
    )


def test_numbers_that_wrap_round_are_not_those_that_were_measured(built):
    """−5 as 2⁶⁴ − 5: a page would say −5 and table.csv 18446744073709551611."""
    folder, schema, release = built
    assert release.estimate.min() < 0
    unsigned = release.estimate.ravel().view(np.uint64)
    retyped(folder, "table.parquet", "n_estimate", lambda table: pyarrow.array(unsigned))
    assert read.check_release(folder, schema).problems == ("table.parquet: n_estimate is not a column of numbers.",)
    fitted_unsigned = release.fitted.ravel().astype(np.uint64)
    files.save(release, folder, replace=True)
    retyped(folder, "table.parquet", "n", lambda table: pyarrow.array(fitted_unsigned))
    assert read.check_release(folder, schema).problems == ()


@pytest.mark.parametrize("name", ["table.parquet", "noisy.parquet"])
@pytest.mark.parametrize(
    "kind",
    [
        pyarrow.list_(pyarrow.string()),
        pyarrow.struct([("a", pyarrow.int64())]),
        pyarrow.map_(pyarrow.string(), pyarrow.string()),
        pyarrow.string_view(),
        pyarrow.binary(),
        pyarrow.date32(),
    ],
    ids=str,
)
def test_names_of_another_kind_are_told(built, name, kind):
    folder, schema, _ = built
    retyped(folder, name, "ward", lambda table: pyarrow.nulls(table.num_rows, kind))
    assert read.check_release(folder, schema).problems == (f"{name}: a column is of another kind.",)


@pytest.mark.parametrize("column", ["marginal", "measured", "scale"])
def test_measurements_in_lists_are_told(built, column):
    folder, schema, _ = built
    retyped(folder, "noisy.parquet", column, lambda table: pyarrow.array([["a"]] * table.num_rows))
    (problem,) = read.check_release(folder, schema).problems
    assert problem.startswith("noisy.parquet: ")


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string()], ids=str)
def test_names_may_be_plain_text(built, kind):
    folder, schema, _ = built
    for name in ("table.parquet", "noisy.parquet"):
        retyped(folder, name, "ward", lambda table: table["ward"].cast(pyarrow.string()).cast(kind))
    assert read.check_release(folder, schema).problems == ()


def test_as_many_names_as_their_numbers_have_room_for_are_read():
    names = [str(number) for number in range(128)]
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([None, 127], pyarrow.int8()), pyarrow.array(names))
    assert name_codes(column, names).tolist() == [-1, 127]


def test_columns_that_no_release_has_are_told(built):
    """They would be published as they are."""
    folder, schema, _ = built
    rewritten(folder, "table.parquet", lambda table: table.append_column("exact", table["n"]))
    assert read.check_release(folder, schema).problems == ("table.parquet: 1 columns are not those of a release.",)


def test_a_scale_that_is_not_that_of_the_noise_is_told(built):
    folder, schema, _ = built
    rewritten(folder, "noisy.parquet", with_column("scale", at(2, -1.0)))
    assert read.check_release(folder, schema).problems == ("noisy.parquet: 1 scales are not those of the noise.",)


def test_problems_quote_nothing_from_inside_a_table(built):
    """Problems name a file and a count, nothing from inside a table."""
    folder, schema, _ = built
    rewritten(folder, "table.parquet", renamed("ward", "+1", "a secret"))
    assert "secret" not in " ".join(read.check_release(folder, schema).problems)
    assert facts(made(schema))["dataset"] == "people"
