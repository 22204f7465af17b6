"""Releases in Python: refused where they are asked for, quoted before they are paid, and taken along as tables."""

import json
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BadValue, MetadataError, NotAnswerable
from discreet.release.tree import tree_sums
from release import census

ROWS = [census.one(n, f"zanzibar-{n // 3}", census.WARDS[n // 3 % 5], "fm"[n % 2], n % 90) for n in range(300)]


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with dp.open(census.written(tmp_path, rows=ROWS, more="delta = 1e-6")) as dataset:
        yield dataset


# --- before anything is spent ----------------------------------------------------------------------------------------


def test_plan_and_quote_read_no_row_and_make_no_file(people, tmp_path):
    (tmp_path / "people.csv").unlink()
    release = people.release("geo", by=("sex", "age"))
    release.plan(epsilon=1)
    release.quote(epsilon=1)
    assert {path.name for path in tmp_path.iterdir()} == {"people.toml", "geo.csv"}


def test_quote_tells_cost_levels_and_what_would_remain(people):
    quote = people.release(by="sex").quote(epsilon=1, share={"ward": "0.5"})
    assert quote.cost == {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "person"}
    assert [(level["level"], level["places"], level["cells"]) for level in quote.levels] == [
        ("country", 1, 2),
        ("region", 2, 4),
        ("ward", 5, 10),
    ]
    assert [(level["share"], level["epsilon"], level["locked"]) for level in quote.levels] == [
        (0.25, "0.25", False),
        (0.25, "0.25", False),
        (0.5, "0.5", True),
    ]
    assert quote.levels[0]["moe"] > quote.levels[2]["moe"]
    assert all(level["total_moe"] > level["moe"] for level in quote.levels)
    assert (quote.remaining["epsilon"], quote.remaining_after["epsilon"]) == ("3", "2")
    json.dumps(quote.to_json(), allow_nan=False)
    for said in (
        "1/2 locked",
        "Shares: country and region take 1/4 of ε each, ward takes 1/2 (locked).",
        "after it 2",
        "95 times of 100",
    ):
        assert said in repr(quote)


def test_margins_of_the_plan_are_those_of_the_release(people):
    for asked in ({"by": "sex"}, {"groups": "household", "largest": 4}):
        release = people.release(**asked)
        plan, built = release.plan(epsilon="0.5"), release.build(epsilon="0.5")
        for level, row in enumerate(plan.level_rows()):
            assert built.radius[built.plan.subject.tree.places(level)].max() == row["moe"]


def test_gaussian_noise_is_taken_where_delta_allows_it_and_it_is_better(people):
    release = people.release(by="age", marginals=[])
    few, many = release.quote(epsilon=1, delta=0), release.quote(epsilon="0.1", delta="1e-6")
    assert (few.cost["delta"], many.cost["delta"]) == ("0", "0")
    rows = people.release(by=("sex", "age"), count="rows").quote(epsilon="0.1", delta="1e-6")
    assert rows.cost["delta"] == "1e-6"  # nine views and levels of one unit: their l2 is a third of their l1
    assert "Gaussian" in rows.why
    assert all(Fraction(level["epsilon"]) < Fraction("0.1") for level in rows.levels)
    assert sum(Fraction(level["epsilon"]) for level in rows.levels) > Fraction("0.1")


def test_delta_is_a_hundredth_of_the_budgets_unless_given(people):
    release = people.release(by=("sex", "age"))
    assert release.plan(epsilon="0.1").terms.delta in (0, Fraction(1, 10**8))
    with pytest.raises(BadValue, match="delta must be a decimal number between 0 and 1e-6"):
        release.plan(epsilon=1, delta="1e-3")


def test_names_that_can_be_left_out_change_no_release(people):
    named, alone = people.release(hierarchy="geo", by=("sex",)), people.release(by="SEX")
    assert named.subject.tally == alone.subject.tally
    assert alone.subject.spec.by == ("sex",)
    assert "costs nothing" in repr(alone)


def test_declared_bins_are_the_cells(people):
    assert people.release(by="age").subject.labels == (("[0, 18)", "[18, 65)", "[65, 99]"),)


@pytest.mark.parametrize(
    ("asked", "error", "fix"),
    [
        ({"hierarchy": "gio"}, BadValue, "'geo'"),
        ({"by": "sexx"}, BadValue, "'sex'"),
        ({"by": ("sex", "Sex")}, BadValue, "Remove one"),
        ({"by": "ward"}, BadValue, "Leave it out"),
        ({"by": "region"}, BadValue, "Leave it out"),
        ({"by": "household"}, NotAnswerable, "values = "),
        ({"count": "persons"}, BadValue, "units"),
        ({"largest": 3}, BadValue, "groups"),
        ({"groups": "household"}, BadValue, "such as 8"),
        ({"groups": "household", "largest": True}, BadValue, "such as 8"),
        ({"groups": "hausehold", "largest": 3}, BadValue, "'household'"),
        ({"groups": "ward", "largest": 3}, BadValue, "households"),
        ({"groups": "household", "largest": 3, "by": "sex"}, BadValue, "one after the other"),
        ({"groups": "household", "largest": 3, "count": "rows"}, BadValue, "Leave it out"),
        ({"by": ("sex", "age"), "marginals": [("ward",)]}, BadValue, "sex"),
        ({"by": ("sex", "age"), "marginals": ["sex"]}, BadValue, "sex"),
    ],
    ids=str,
)
def test_what_cannot_be_released_is_refused_where_it_is_asked_for(people, asked, error, fix):
    with pytest.raises(error) as caught:
        people.release(**asked)
    assert fix in caught.value.fix
    assert people.budget is None


def test_without_a_hierarchy_the_refusal_says_how_to_declare_one(people, tmp_path):
    text = (tmp_path / "people.toml").read_text()
    before, _, after = text.partition("[hierarchy.geo]")
    (tmp_path / "other.toml").write_text(before + "[budget]" + after.partition("[budget]")[2])
    with dp.open(tmp_path / "other.toml") as other, pytest.raises(MetadataError) as caught:
        other.release()
    pasted = caught.value.fix.partition("\n")[2].replace('["region", "ward"]', '["country", "region", "ward"]')
    (tmp_path / "other.toml").write_text((tmp_path / "other.toml").read_text() + pasted + "\n")
    with dp.open(tmp_path / "other.toml") as other:
        other.release().quote(epsilon=1)


# --- afterwards ------------------------------------------------------------------------------------------------------


def test_tables_of_all_kinds_hold_the_same_rows(people):
    built = people.release(by="sex").build(epsilon=1)
    rows = built.to_arrow().to_pylist()
    assert list(rows[0]) == ["level", "country", "region", "ward", "sex", "n", "n_moe", "n_low", "n_high", "n_estimate"]
    assert built.to_polars().to_dicts() == rows
    frame = built.to_pandas()
    assert frame["n"].tolist() == [row["n"] for row in rows] == built.fitted.ravel().tolist()
    by_level = frame.groupby("level", observed=True)["n"].sum()
    assert by_level["country"] == by_level["region"] == by_level["ward"]


def test_neither_the_release_nor_its_question_shows_a_row(people):
    release = people.release(groups="household", largest=4)
    built = release.build(epsilon=1)
    shown = f"{release!r} {built!r} {release.quote(epsilon=1)!r} {release.plan(epsilon=1).why}"
    assert "zanzibar" not in shown
    assert "places" in repr(built)


def test_publishing_writes_all_files_and_never_over_another_release(people, tmp_path):
    built = people.release().build(epsilon=1)
    names = {path.name for path in built.publish(tmp_path / "out")}
    assert names == {path.name for path in (tmp_path / "out").iterdir()}
    assert {"index.html", "report.md", "table.csv", "noisy.csv", "release.json"} < names
    other = people.release(by="sex").build(epsilon=1)
    with pytest.raises(BadValue, match="replace=True"):
        other.publish(tmp_path / "out")
    other.publish(tmp_path / "out", replace=True)
    assert [path.name for path in other.save(tmp_path / "kept")] == ["table.parquet", "noisy.parquet", "release.json"]


def test_a_public_total_is_met_and_the_rest_still_adds_up(people):
    built = people.release(by="sex").build(epsilon="0.1", total=300)
    assert built.fitted[0].sum() == 300
    tree = built.plan.subject.tree
    assert np.array_equal(tree_sums(tree, built.fitted[tree.leaves]), built.fitted)


def test_progress_is_told_up_to_the_fit(people):
    told = []
    people.release().build(epsilon=1, progress=lambda step, share: told.append((step, share)))
    assert told[-2:] == [("measuring", 0.6), ("making it add up", 0.8)]


def test_neither_import_nor_a_question_loads_this_room(people):
    program = f"""
import discreet, sys
with discreet.open({str(people.table.toml)!r}) as people:
    people.sql("SELECT COUNT(*) AS n FROM people").quote(epsilon=1)
print(*[name for name in sys.modules if name.startswith(("discreet.release", "numba", "cvxpy", "ortools"))])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split() == []


def test_a_quote_loads_no_compiler_and_no_accountant(people):
    program = f"""
import discreet, sys
with discreet.open({str(people.table.toml)!r}) as people:
    people.release(by=("sex", "age")).quote(epsilon="0.1", delta="1e-6")
print(*[name for name in sys.modules if name in ("numba", "cvxpy", "ortools", "dp_accounting", "pandas", "duckdb")])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split() == []
