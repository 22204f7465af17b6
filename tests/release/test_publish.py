"""The files of a release: tidy tables against their slow twin, whole or not at all, CSV that runs nothing, words."""

import csv
import json
import math
import os
import pickle
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow.parquet
import pytest

from discreet import shares
from discreet.errors import BadValue, CannotWrite, IntegrityError
from discreet.release import read
from discreet.release.measure import Form
from discreet.release.publish import files, sheets, tidy, words
from discreet.release.publish.facts import facts, well_formed
from discreet.release.publish.tidy import Keys, plain
from discreet.release.tree import from_branches
from release.published import HOSTILE, KINDS, TAME, known, made

BANNED = ("anonymous", "guaranteed", "cannot be identified", "gold standard", " safe")


# --- tidy tables ---------------------------------------------------------------------------------------------------


def slow_keys(release, view):
    """The key columns of each row of a view, one after the other, by hand."""
    subject = release.plan.subject
    kept = [name in view for name in subject.attributes]
    labels = [each if keep else (None,) for each, keep in zip(subject.labels, kept, strict=True)]
    for place in range(len(subject.tree)):
        path = subject.tree.path(place)
        names = [*path, *[None] * (subject.tree.depth - len(path))]
        for cell in product(*labels):
            yield [subject.tree.levels[len(path) - 1], *names], [slow_label(value) for value in cell]


def slow_label(label):
    value = plain(label)
    return str(value).lower() if isinstance(value, bool) else value


def slow_table(release):
    columns = (release.fitted, release.radius, release.low, release.high, release.estimate)
    numbers = zip(*(each.ravel().tolist() for each in columns), strict=True)
    keys = slow_keys(release, release.plan.subject.attributes)
    return [[*places, *labels, *values] for (places, labels), values in zip(keys, numbers, strict=True)]


def slow_noisy(release):
    rows, design = [], release.plan.measurement
    names = tidy.keys(release).marginals
    for view_number, (view, columns) in enumerate(zip(design.marginals, design.columns, strict=True)):
        measured = release.noisy[:, columns].ravel().tolist()
        scales = [float(tidy.width(level[view_number].noise)) for level in design.mechanisms]
        levels = np.repeat(release.plan.subject.tree.level, view.size).tolist()
        for (places, labels), number, level in zip(slow_keys(release, view.names), measured, levels, strict=True):
            rows.append([*places, names[view_number], *labels, number, scales[level]])
    return rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_tidy_tables_are_those_of_the_slow_twin(kind, seed):
    release = made(known(HOSTILE, tops=1 + seed, seed=seed), kind, seed=seed)
    for tidied, wanted in ((tidy.table(release), slow_table(release)), (tidy.noisy(release), slow_noisy(release))):
        assert [list(row) for row in zip(*(column.to_pylist() for column in tidied.columns), strict=True)] == wanted


def test_names_are_dictionaries_and_numbers_are_whole():
    tidied = tidy.table(made(known(), "sizes"))
    kinds = {name: str(tidied.schema.field(name).type) for name in tidied.column_names}
    assert kinds["ward"] == "dictionary<values=string, indices=int32, ordered=0>"
    assert {kinds[name] for name in ("size", *tidy.VALUES)} == {"int64"}


def test_column_names_that_collide_get_a_mark():
    release = made(known(tops=1), "rows")
    assert tidy.table(release).column_names[:5] == ["level", "country", "n_moe_", "ward", "level_"]
    assert "marginal" in tidy.noisy(release).column_names


def test_leaves_above_the_lowest_level_have_empty_names_below():
    tree = from_branches(("a", "b", "c"), [("x", "y", "z"), ("x", "y", "w"), ("x", "v", ""), ("x", "u", "z")])
    about = Keys(tree, (), (), ((),), Form.PLAIN)
    level, *path = tidy.codes(about, ())
    paths = [
        tuple(tidy.place_names(tree, depth)[code[place]] for depth, code in enumerate(path) if code[place] >= 0)
        for place in range(len(tree))
    ]
    assert paths == [tree.path(place) for place in range(len(tree))]
    assert level.tolist() == tree.level.tolist()


def test_the_keys_of_a_million_rows_are_narrow_numbers():
    leaves = [("x", f"r{number // 100}", f"w{number}") for number in range(30_000)]
    about = Keys(from_branches(("a", "b", "c"), leaves), ("s",), (tuple(range(32)),), (("s",),), Form.PLAIN)
    code = tidy.codes(about, ("s",))
    assert len(code) == 5
    assert all(codes.dtype == np.int32 and len(codes) == 32 * len(about.tree) for codes in code)


# --- facts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_facts_are_json_well_formed_and_say_what_was_planned(kind):
    release = made(known(), kind, level="0.9", total=None)
    told = facts(release)
    assert json.loads(json.dumps(told)) == told
    assert well_formed(told)
    plan = release.plan
    assert (told["epsilon"], told["delta"], told["method"], told["receipt"]) == ("1", "0", plan.method, "3-ab")
    assert Fraction(told["level"]) == plan.terms.level == Fraction(9, 10)
    for level_number, level_facts in enumerate(told["levels"]):
        rows = plan.subject.tree.places(level_number)
        assert (level_facts["moe"], level_facts["total_moe"]) == (
            release.radius[rows].max(),
            release.total_radius[rows].max(),
        )
    scales = [[Fraction(noise["scale"]) for noise in level["noise"]] for level in told["levels"]]
    assert scales == [[mechanism.noise.scale for mechanism in level] for level in plan.measurement.mechanisms]
    assert sum(told["violations"].values()) == 0
    assert "snapshot" not in json.dumps(told)


def test_a_total_is_named_as_unprotected():
    told = facts(made(known(), "sex", total=5_000))
    assert told["total"] == 5_000
    assert any("not protected" in line for line in told["caveats"])


def test_odds_are_told_for_presence_and_for_a_value():
    """At ε = 1: e for presence, e² for a value, in facts, report and page alike, which print these sentences."""
    told = facts(made(known(), "plain", epsilon=1))
    odds = told["promise"]["sentences"][1]
    assert "whether you are in this data by at most 2.72, and on which of two values is yours by at most 7.39" in odds
    assert [(odds["question"], odds["log_factor"]) for odds in told["promise"]["odds"]] == [
        ("presence", "1"),
        ("value", "2"),
    ]
    replaced = facts(made(known(relation="replace-one"), "plain", epsilon=1))["promise"]
    assert "which of two values is yours by at most 2.72." in replaced["sentences"][1]
    assert [odds["question"] for odds in replaced["odds"]] == ["value"]


def test_gaussian_noise_is_told_from_its_own_curve():
    release = made(known(), "sex and age", epsilon=1, delta="1e-6")
    told = facts(release)
    assert told["levels"][0]["noise"][0]["law"] == "Gaussian"
    assert 0.5 < told["promise"]["guess"] < 0.6  # (ε, δ) alone would allow 0.7311
    assert told["promise"]["strength"] == "strong"
    presence = told["promise"]["odds"][0]  # δ for odds that move too far up, and e^(−loss) of it for too far down
    both = 1e-6 * (1 + math.exp(-float(presence["log_factor"])))
    assert float(presence["except_chance"]) == pytest.approx(both, rel=1e-5)
    assert "except with a chance of at most one in 768," in told["promise"]["sentences"][1]
    assert "Gaussian noise of σ" in words.noise(told)


def test_where_units_are_replaced_the_promise_is_about_values():
    told = facts(made(known(relation="replace-one"), "plain"))
    assert "which of two values is yours" in told["promise"]["sentences"][0]
    assert "replaced by another" in words.who_is_protected(told)


# --- saving ----------------------------------------------------------------------------------------------------------


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_saving_twice_writes_the_same_three_files(tmp_path):
    folder = tmp_path / "deep" / "people.release"
    release = made(known())
    paths = files.save(release, folder)
    assert sorted(path.name for path in paths) == ["noisy.parquet", "release.json", "table.parquet"]
    first = contents(folder)
    assert files.save(release, folder) == paths
    assert contents(folder) == first
    assert [path.name for path in folder.parent.iterdir()] == ["people.release"]


def test_another_release_is_not_written_over_unless_asked(tmp_path):
    folder, schema = tmp_path / "r", known()
    files.save(made(schema), folder)
    first = contents(folder)
    with pytest.raises(BadValue, match="must not hold another release"):
        files.save(made(schema, seed=1), folder)
    assert contents(folder) == first
    files.save(made(schema, seed=1), folder, replace=True)
    assert contents(folder) != first
    assert read.check_release(folder, schema).problems == ()


def test_files_of_others_are_not_written_over(tmp_path):
    schema = known()
    files.save(made(schema), tmp_path / "r")
    out = tmp_path / "site"
    out.mkdir()
    (out / "index.html").write_text("mine")
    (out / "other.html").write_text("mine too")
    with pytest.raises(BadValue, match=r"index\.html"):
        files.publish(tmp_path / "r", schema, out)
    assert contents(out) == {"index.html": b"mine", "other.html": b"mine too"}
    files.publish(tmp_path / "r", schema, out, replace=True)
    assert contents(out)["other.html"] == b"mine too"


@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_leaves_everything_as_it_was(tmp_path, monkeypatch, there):
    schema, out = known(), tmp_path / "out"
    files.save(made(schema), tmp_path / "r")
    if there:
        files.publish(tmp_path / "r", schema, out)
    before = contents(out) if there else None

    def full(table, path, **_):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_csv", full)
    with pytest.raises(CannotWrite):
        files.publish(tmp_path / "r", schema, out, replace=True)
    assert (contents(out) if out.exists() else None) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == (["out", "r"] if there else ["r"])


def test_a_folder_left_in_the_middle_of_a_change_holds_no_release(tmp_path, monkeypatch):
    schema, folder = known(), tmp_path / "r"
    files.save(made(schema), folder)
    real, moved = os.replace, []

    def dies(source, target):
        if moved:
            raise KeyboardInterrupt
        moved.append(target)
        real(source, target)

    monkeypatch.setattr(os, "replace", dies)
    with pytest.raises(KeyboardInterrupt):
        files.save(made(schema, seed=1), folder, replace=True)
    with pytest.raises(BadValue, match=r"must hold a built release"):
        read.check_release(folder, schema)
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_saving_over_a_file_is_refused(tmp_path):
    (tmp_path / "r").write_text("a file")
    with pytest.raises(CannotWrite, match="not written"):
        files.save(made(known()), tmp_path / "r")


# --- publishing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_published_files_are_complete_and_pass_the_check(tmp_path, kind):
    schema = known(HOSTILE, tops=2)
    files.save(made(schema, kind), tmp_path / "r")
    paths = files.publish(tmp_path / "r", schema, tmp_path / "out")
    assert {path.name for path in paths} == set(files.PUBLISHED) == {path.name for path in (tmp_path / "out").iterdir()}
    assert read.check_release(tmp_path / "out", schema).problems == ()
    assert files.publish(tmp_path / "out", schema, tmp_path / "out") == paths


def test_publishing_needs_no_engine_no_ledger_and_no_private_table(tmp_path):
    schema = known()
    files.save(made(schema), tmp_path / "r")
    (tmp_path / "schema").write_bytes(pickle.dumps(schema))
    script = (
        "import pathlib, pickle, sys; from discreet.release.publish import files\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "files.publish(here / 'r', pickle.loads((here / 'schema').read_bytes()), here / 'out')\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('discreet.')}\n"
        "assert not rooms & {'engine', 'ledger', 'gate', 'table'}, rooms\n"
    )
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stderr
    assert (tmp_path / "out" / "index.html").exists()


def test_a_broken_release_is_not_published(tmp_path):
    schema = known()
    files.save(made(schema), tmp_path / "r")
    table = pyarrow.parquet.read_table(tmp_path / "r" / "table.parquet")
    pyarrow.parquet.write_table(table.slice(1), tmp_path / "r" / "table.parquet")
    with pytest.raises(IntegrityError, match=r"table.parquet: was changed"):
        files.publish(tmp_path / "r", schema, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- CSV -------------------------------------------------------------------------------------------------------------


def test_csv_holds_the_numbers_and_guarded_names(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "_ROWS", 7)
    schema = known(HOSTILE, sexes=("=m", "f"))
    release = made(schema, "sex and age")
    files.save(release, tmp_path / "r")
    files.publish(tmp_path / "r", schema, tmp_path / "out")
    for name, wanted in (("table.csv", slow_table(release)), ("noisy.csv", slow_noisy(release))):
        with (tmp_path / "out" / name).open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        assert header[:5] == ["level", "country", "n_moe_", "ward", "sex" if name == "table.csv" else "marginal"]
        assert len(rows) == len(wanted)
        assert header[-1] == ("n_of" if name == "table.csv" else "measured_of")
        assert {row[-1] for row in rows} == {"seen in at most 2 rows, in at most 1 cell, per person"}
        for row, line in zip(rows, wanted, strict=True):
            assert [as_cell(value) for value in line] == row[:-1]
    cells = {cell for row in rows for cell in row[:-3]}
    assert "'=m" in cells
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]


def as_cell(value):
    """As it is written; a name that looks like a formula with ' before it, one that turns the writing spelt out."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return f"'{value}"
    if isinstance(value, str):
        return value.replace("\u202e", "\\u202e")
    return "" if value is None else str(value)


def test_negative_numbers_in_csv_stay_numbers(tmp_path):
    names = pyarrow.array(["-5", "x"]).dictionary_encode()
    sheets.write_csv(pyarrow.table({"=a": [-5, 3], "name": names}), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == '"\'=a","name"\n-5,"\'-5"\n3,"x"\n'


def test_an_empty_table_has_a_header(tmp_path):
    sheets.write_csv(pyarrow.table({"a": pyarrow.array([], pyarrow.int64())}), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == '"a"\n'


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_report_says_all_that_it_must(kind):
    told = facts(made(known(TAME), kind))
    report = words.report(told)
    for part in ("Who is protected", "What was spent", "How exact", "What adds up", "What not to do", "How to cite"):
        assert f"**{part}" in report
    assert "ε = 1 " in report
    assert "receipt 3-ab" in report
    assert "Of 100 such margins, 95 hold the exact number." in report
    for level in told["levels"]:
        assert f"within {level['moe']:,} of the exact number" in report
    assert not [word for word in BANNED if word in report.lower()]
    assert len(report) < 4_000


def test_levels_of_different_exactness_have_a_line_each():
    told = facts(made(known(), "sex", share={"ward": "0.5", "country": "0.3"}))
    assert len(words.exactness(told)) == 3
    sentence = "Shares: country takes 30 % of ε, n_moe takes 20 %, ward takes 50 %."
    assert shares.words(words.level_shares(told)) == sentence
    assert words.escaped(sentence) in words.report(told)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_in_the_report_are_text(name):
    escaped = words.escaped(name)
    unescaped = escaped
    for letter in "\\`*[]<>|~&$_":
        unescaped = unescaped.replace(f"\\{letter}", "")
    assert not set(unescaped) & set("`*[]<>|~&$")
    assert words.escaped("n_estimate") == "n_estimate"
    assert words.escaped("_a_\nb") == r"\_a\_ b"
