"""A built release read back: what is whole checks, and everything that was touched is found and counted."""

import json
import random
from fractions import Fraction

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from discreet.errors import BadValue, IntegrityError
from discreet.release import read
from discreet.release.publish import files, stated, tidy
from discreet.release.publish.facts import facts, well_formed
from discreet.release.publish.rows import coded, located
from release.published import HOSTILE, KINDS, known, made

RULES = ("sums", "signs", "fractions", "totals", "zeros", "places", "margins", "measured")


@pytest.fixture
def built(tmp_path):
    """A folder with a release by sex under a public total, its schema and the release."""
    schema = known(HOSTILE)
    release = made(schema, "sex", total=4_000)
    files.saved(release, tmp_path / "r")
    return tmp_path / "r", schema, release


def rewritten(folder, name, change):
    """The file with its rows changed, and its digest with it: as careful an editor would."""
    path = folder / name
    pyarrow.parquet.write_table(change(pyarrow.parquet.read_table(path)), path)
    told = json.loads((folder / "release.json").read_text())
    told["files"][name]["sha256"] = files.digest(path)
    (folder / "release.json").write_text(json.dumps(told))


def restated(folder, **changes):
    """Facts changed, each to a value or by a function of the one that was there."""
    told = json.loads((folder / "release.json").read_text())
    told |= {name: change(told[name]) if callable(change) else change for name, change in changes.items()}
    (folder / "release.json").write_text(json.dumps(told))


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
def test_what_was_saved_checks(tmp_path, kind, tops):
    schema = known(HOSTILE, tops=tops)
    release = made(schema, kind)
    files.saved(release, tmp_path / "r")
    checked, tables = read.found(tmp_path / "r", schema)
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
        assert f"{name}: was changed after it was built." in read.checked(folder, schema).problems
        (folder / name).write_bytes(whole)
    assert read.checked(folder, schema).problems == ()


def test_rows_in_another_order_are_the_same_release(built):
    folder, schema, release = built
    for name in ("table.parquet", "noisy.parquet"):
        rewritten(folder, name, lambda table: table.take(np.random.default_rng(1).permutation(table.num_rows)))
    checked, tables = read.found(folder, schema)
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
    checked, tables = read.found(folder, schema)
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
        files.saved(made(schema, "sex"), tmp_path / "r", replace=True)
        rewritten(tmp_path / "r", name, renamed(column, old, new))
        checked = read.checked(tmp_path / "r", schema)
        assert checked.violations["places"] > 0, (column, new)
        assert [problem.split(":")[0] for problem in checked.problems] == [name]


def test_rows_lie_where_the_slow_twin_finds_them():
    schema = known(HOSTILE, tops=2)
    release = made(schema, "sex and age")
    about, table = tidy.keys(release), tidy.table(release)
    order = np.random.default_rng(2).permutation(table.num_rows)
    where = located(about, about.attributes, table.take(order))
    assert where.lost == 0
    assert where.at.tolist() == order.tolist()  # rows are written place by place and cell by cell


def test_numbers_beyond_64_bits_of_sums_are_told(built):
    folder, schema, _ = built
    rewritten(folder, "table.parquet", with_column("n", at(0, 2**62)))
    assert read.checked(folder, schema).problems == ("table.parquet: its numbers are too large to be added up.",)


def test_columns_that_are_gone_or_hold_text_are_told(built):
    folder, schema, _ = built
    rewritten(folder, "table.parquet", lambda table: table.drop_columns(["n", "ward"]))
    assert read.checked(folder, schema).problems == ("table.parquet: 2 columns are missing or there twice.",)
    files.saved(made(schema, "sex"), folder, replace=True)
    for column in ("n", "n_low"):
        rewritten(folder, "table.parquet", with_column(column, lambda values: values.astype(str)))
    problems = read.checked(folder, schema).problems
    assert problems == tuple(f"table.parquet: {name} is not a column of numbers." for name in ("n", "n_low"))


def test_files_that_are_gone_or_no_parquet_are_told(built):
    folder, schema, _ = built
    (folder / "noisy.parquet").unlink()
    (folder / "table.parquet").write_bytes(b"PAR1 nothing PAR1")
    assert read.checked(folder, schema).problems == (
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
    assert read.checked(folder, schema).problems == ("table.parquet: n_estimate is not a column of numbers.",)
    small = release.fitted.ravel().astype(np.uint64)
    files.saved(release, folder, replace=True)
    retyped(folder, "table.parquet", "n", lambda table: pyarrow.array(small))
    assert read.checked(folder, schema).problems == ()


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
    assert read.checked(folder, schema).problems == (f"{name}: a column is of another kind.",)


@pytest.mark.parametrize("column", ["marginal", "measured", "scale"])
def test_measurements_in_lists_are_told(built, column):
    folder, schema, _ = built
    retyped(folder, "noisy.parquet", column, lambda table: pyarrow.array([["a"]] * table.num_rows))
    (problem,) = read.checked(folder, schema).problems
    assert problem.startswith("noisy.parquet: ")


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string()], ids=str)
def test_names_may_be_plain_text(built, kind):
    folder, schema, _ = built
    for name in ("table.parquet", "noisy.parquet"):
        retyped(folder, name, "ward", lambda table: table["ward"].cast(pyarrow.string()).cast(kind))
    assert read.checked(folder, schema).problems == ()


def test_as_many_names_as_their_numbers_have_room_for_are_read():
    names = [str(number) for number in range(128)]
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([None, 127], pyarrow.int8()), pyarrow.array(names))
    assert coded(column, names).tolist() == [-1, 127]


def test_columns_that_no_release_has_are_told(built):
    """They would be published as they are."""
    folder, schema, _ = built
    rewritten(folder, "table.parquet", lambda table: table.append_column("exact", table["n"]))
    assert read.checked(folder, schema).problems == ("table.parquet: 1 columns are not those of a release.",)


def test_a_scale_that_is_not_that_of_the_noise_is_told(built):
    folder, schema, _ = built
    rewritten(folder, "noisy.parquet", with_column("scale", at(2, -1.0)))
    assert read.checked(folder, schema).problems == ("noisy.parquet: 1 scales are not those of the noise.",)


# --- the facts -------------------------------------------------------------------------------------------------------


LONG = Fraction(10**300 + 1, 10**300 + 3)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(
    "price",
    [
        {"epsilon": "0.3", "delta": "1e-7", "sharing": "least", "share": {"ward": "0.12345"}},  # a half of a digit
        {"epsilon": 1, "delta": "1e-7"},
        {"epsilon": "3e-8", "delta": "0.3"},
        {"epsilon": "1e-8"},
        {"epsilon": LONG, "level": 1 - LONG},  # longer than what people write
        {"epsilon": "1.234567890123456789", "delta": "1.2345678901234567e-7"},
    ],
)
def test_every_price_that_can_be_planned_checks(tmp_path, price, relation):
    schema = known(relation=relation)
    files.saved(made(schema, "sex and age", **price), tmp_path / "r")
    assert read.checked(tmp_path / "r", schema).problems == ()


def of_levels(name, change):
    return {"levels": lambda levels: [one | {name: change(one[name])} for one in levels]}


STATED = {  # an edit of the facts, and what it is called
    "places": ({"places": 1}, "places is not what it should be"),
    "rules": ({"violations": {"sums": 7}}, "violations is not"),
    "rules left out": ({"violations": {}}, "violations is not"),
    "known": ({"known": ["Every number is exact."]}, "known is not"),
    "protects": ({"protects": "everyone"}, "protects is not"),
    "groups": ({"groups": "household"}, "groups is not"),
    "columns": ({"columns": {}}, "columns is not"),
    "labels": ({"attributes": [{"name": "sex", "labels": ["f", "m"]}]}, "its cells or labels are not"),
    "rows": ({"counts": "rows"}, "protects is not|its price is not"),
    "form": ({"form": "from the top"}, "its cells or labels are not"),
    "views twice": ({"marginals": [["sex"], ["sex"]]}, "its attributes or its hierarchy"),
    "epsilon": ({"epsilon": "0.0001"}, "its price is not"),
    "delta": ({"delta": "1e-9"}, "its price is not"),
    "a delta of another spelling": ({"delta": "0e9"}, "its price is not"),
    "no delta": ({"delta": "none"}, "its price is not"),
    "cells of levels": (of_levels("cells", lambda cells: cells + 1), "its levels are not"),
    "shares": (of_levels("share", lambda share: 0.3334), "the share of a level"),
    "longer shares": (of_levels("share", lambda share: 1 / 3), "the share of a level"),
    "epsilon of levels": (of_levels("epsilon", lambda epsilon: "0.3333"), "the epsilon of a level"),
    "views": (of_levels("noise", lambda noise: [noise[0] | {"marginal": "total"}]), "or noise do not fit"),
    "law": (of_levels("noise", lambda noise: [noise[0] | {"law": "Gaussian"}]), "its price is not"),
    "scale": (of_levels("noise", lambda noise: [noise[0] | {"scale": "5"}]), "its price is not"),
    "no noise": (of_levels("noise", lambda noise: [noise[0] | {"scale": f"1/{10**400}"}]), "its price is not"),
    "level": ({"level": f"1/{10**400}"}, "margins or ranges are not as planned"),
}


@pytest.mark.parametrize("edit", STATED)
def test_what_the_facts_say_of_the_tables_is_checked(built, edit):
    folder, schema, _ = built
    change, told = STATED[edit]
    restated(folder, **change)
    problems = read.checked(folder, schema).problems
    assert any(part in problem for problem in problems for part in told.split("|"))


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "0.299"},
        {"epsilon": "0.3001"},
        {"epsilon": "3/10"},
        {"delta": "9e-8"},
        {"delta": "0"},
        of_levels("share", lambda share: round(share + 0.0001, 4)),
        of_levels("epsilon", lambda epsilon: "0.1"),
        {"levels": lambda old: [old[0] | {"noise": [one | {"law": "Laplace"} for one in old[0]["noise"]]}, *old[1:]]},
    ],
)
def test_another_price_than_that_of_gaussian_noise_is_told(tmp_path, change):
    schema = known(relation="replace-one")
    files.saved(made(schema, "sex and age", epsilon="0.3", delta="1e-7"), tmp_path / "r")
    assert json.loads((tmp_path / "r" / "release.json").read_text())["levels"][0]["noise"][0]["law"] == "Gaussian"
    restated(tmp_path / "r", **change)
    assert read.checked(tmp_path / "r", schema).problems


@pytest.mark.parametrize(
    "text", ["1e5000", "1e-5000", "1e20000000", "9" * 423, "1/" + "9" * 423, "1/0", "0", "-1", "²"]
)
def test_numbers_too_long_to_be_read_are_not_read(built, text):
    """1e1000000000 would take hours and all memory: length and exponent are looked at first."""
    folder, _, _ = built
    told = json.loads((folder / "release.json").read_text())
    assert well_formed(told)
    assert not well_formed(told | {"level": text})
    noise = [one | {"noise": [one["noise"][0] | {"scale": text}]} for one in told["levels"]]
    assert not well_formed(told | {"levels": noise})


@pytest.mark.parametrize("views", [[["p"], ["p", "q"]], [["p", "q"]]], ids=["together", "at all"])
def test_more_cells_than_a_release_can_have_are_told_before_anything_is_made(built, views, monkeypatch):
    """20,000 cells in two views are minutes and gigabytes."""
    monkeypatch.setattr(stated, "meant", None)
    folder, schema, _ = built
    many = 50 if len(views) > 1 else 20_000
    attributes = [{"name": name, "labels": list(range(many))} for name in "pq"]
    cells = {"levels": lambda levels: [one | {"cells": one["places"] * many**2} for one in levels]}
    restated(folder, attributes=attributes, cells=many**2, marginals=views, **cells)
    told = "release.json: its attributes or its hierarchy do not fit the metadata."
    assert read.checked(folder, schema).problems == (told,)


@pytest.mark.parametrize(
    "change",
    [
        {"why": "\ud800"},
        {"promise": lambda promise: promise | {"\udfff": 1}},
        of_levels("share", lambda share: 10**400),
        of_levels("share", lambda share: float("inf")),
        {"more": float("nan")},
        {"more": json.loads("[" * 400 + "]" * 400)},
    ],
    ids=["half a letter", "half a name", "beyond floats", "infinite", "no number", "deep"],
)
def test_facts_that_cannot_be_written_are_refused(built, change):
    folder, schema, _ = built
    restated(folder, **change)
    with pytest.raises(IntegrityError, match=r"release.json is not that of a release"):
        files.published(folder, schema, folder.parent / "out")


def test_a_folder_without_a_release_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(BadValue, match="must hold a built release"):
            read.checked(folder, known())


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{", '{"format": 2}', '{"format": 1, "kind": "release"}', "[" * 99999, b"\xff{}"]
)
def test_facts_that_are_none_are_refused(tmp_path, text):
    (tmp_path / "release.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(IntegrityError, match=r"release.json is not that of a release"):
        read.checked(tmp_path, known())


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (known(HOSTILE, relation="replace-one"), "neighbours is not that of the metadata"),
        (known(HOSTILE, tops=3), "its levels are not those of the tree"),
        (known(HOSTILE[:-1]), "its levels are not those of the tree"),
    ],
    ids=["relation", "levels", "places"],
)
def test_a_release_of_another_schema_is_told(built, other, told):
    folder, _, _ = built
    problems = read.checked(folder, other).problems
    assert len(problems) == 1
    assert told in problems[0]


def test_facts_edited_at_random_never_break_the_reader(built):
    """200 edits, each a key removed or given a value of another kind: refused, told, or without effect."""
    folder, schema, _ = built
    whole, chance = files.as_json(json.loads((folder / "release.json").read_text())), random.Random(5)
    told = 0
    for _ in range(200):
        edited = json.loads(whole)
        here = edited
        while True:
            key = chance.choice(list(here) if isinstance(here, dict) else range(len(here)))
            if not isinstance(here[key], (dict, list)) or not here[key] or chance.random() < 0.3:
                break
            here = here[key]
        if chance.random() < 0.4:
            del here[key]
        else:
            here[key] = chance.choice([None, True, -1, 0.5, "x", "", [], {}, [1], {"a": 1}, 10**30])
        (folder / "release.json").write_text(json.dumps(edited))
        try:
            files.published(folder, schema, folder.parent / "out", replace=True)
        except IntegrityError:
            told += 1
    assert told > 100


def test_what_is_told_never_depends_on_more_than_public_numbers(built):
    """Problems name a file and a count, nothing from inside a table."""
    folder, schema, _ = built
    rewritten(folder, "table.parquet", renamed("ward", "+1", "a secret"))
    assert "secret" not in " ".join(read.checked(folder, schema).problems)
    assert facts(made(schema))["dataset"] == "people"
