"""What is public about the numbers: held to exactly, refused where it cannot be true, and never charged for."""

import numpy as np
import pytest

import discreet as dp
from discreet.answer.spread import sum_radius
from discreet.errors import BadValue, MetadataError
from discreet.noise.source import SYSTEM
from discreet.release import read
from discreet.release.known import NOTHING, known_of
from discreet.release.plan import plan_of
from discreet.release.publish.facts import facts
from discreet.release.subject import ReleaseSpec, subject
from discreet.release.tree import tree_sums
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms
from release import census

BRANCHES = (("x", "a", "a1"), ("x", "a", "a2"), ("x", "b", "b1"), ("x", "c", ""))  # c is a leaf of the middle level
GEO = Hierarchy("geo", ("country", "region", "ward"), branches=BRANCHES)
COLUMNS = [
    Column("ward", "category", values=("a1", "a2", "b1", "c")),
    Column("sex", "category", values=("m", "f")),
    Column("old", "boolean"),
    Column("household", "text"),
]
SCHEMA = Schema("people", COLUMNS, Unit("person", 1), "add-remove", None, (GEO,))
BOTH = subject(ReleaseSpec("geo", by=("sex", "old")), SCHEMA)
SIZES = subject(ReleaseSpec("geo", groups="household", largest=3), SCHEMA)
TOTALS = {"a1": 5, "a2": 0, "b1": 7, "c": 2}
ROWS = [census.one(n, f"h{n // 3}", census.WARDS[n // 3 % 5], "fm"[n % 2], n % 90) for n in range(300)]


def leaves(about):
    return [about.tree.names[leaf] for leaf in about.tree.leaves]


# --- what is said ----------------------------------------------------------------------------------------------------


def test_totals_of_leaves_are_put_in_their_order_and_summed_over_the_tree():
    known = known_of(BOTH, leaf_totals=TOTALS)
    assert known.leaf_totals.tolist() == [TOTALS[name] for name in leaves(BOTH)]
    assert dict(zip(BOTH.tree.names, known.totals(BOTH.tree).tolist(), strict=True)) == {
        "x": 14, "a": 5, "b": 7, "c": 2, "a1": 5, "a2": 0, "b1": 7,
    }  # fmt: skip
    assert known.total == 14
    assert known_of(BOTH, total=14, leaf_totals=TOTALS).total == 14
    assert known_of(BOTH, total="20").totals(BOTH.tree).tolist() == [20, *[-1] * 6]
    assert known_of(BOTH, zeros=[]).allowed is None
    assert known_of(BOTH).words(BOTH.tree) == NOTHING.caveats() == []


ZEROS = [
    [{"sex": "f"}],
    [{"sex": "m", "old": "true"}, {"old": "false", "ward": "a1"}],
    [{"region": "a"}, {"region": "c", "sex": "f", "old": ""}],
    [{"country": "x", "region": "a", "ward": "a2", "sex": "m", "old": "false"}],
]


@pytest.mark.parametrize("lines", ZEROS, ids=str)
def test_zeros_are_those_of_the_slow_twin(lines):
    known = known_of(BOTH, zeros=lines)
    cells = [(sex, old) for sex in ("m", "f") for old in ("false", "true")]
    for row, leaf in enumerate(BOTH.tree.leaves):
        path = dict(zip(BOTH.tree.levels, BOTH.tree.path(int(leaf)), strict=False))
        for cell, (sex, old) in enumerate(cells):
            here = path | {"sex": sex, "old": old}
            ruled_out = any(all(here.get(name) == value for name, value in line.items() if value) for line in lines)
            assert known.allowed[row, cell] == (not ruled_out)
    assert known.possible(BOTH.tree).tolist() == (tree_sums(BOTH.tree, known.allowed.astype(np.int64)) > 0).tolist()


def test_sizes_can_be_ruled_out_too():
    assert known_of(SIZES, zeros=[{"size": "3", "ward": "b1"}]).allowed.sum() == 4 * 3 - 1


REFUSED = {
    "a leaf too few": {"leaf_totals": {"a1": 5, "a2": 0, "b1": 7}},
    "a leaf too many": {"leaf_totals": TOTALS | {"a3": 1}},
    "an inner place": {"leaf_totals": TOTALS | {"a": 5}},
    "no mapping": {"leaf_totals": [5, 0, 7, 2]},
    "negative": {"leaf_totals": TOTALS | {"c": -1}},
    "a fraction": {"leaf_totals": TOTALS | {"c": 0.5}},
    "no number": {"leaf_totals": TOTALS | {"c": float("nan")}},
    "too many people": {"leaf_totals": TOTALS | {"c": 2**40}},
    "two totals that differ": {"leaf_totals": TOTALS, "total": 15},
    "a negative total": {"total": -1},
    "an unknown name": {"zeros": [{"colour": "red"}]},
    "an unknown label": {"zeros": [{"sex": "x"}]},
    "an unknown place": {"zeros": [{"ward": "a3"}]},
    "places that do not lie in each other": {"zeros": [{"region": "b", "ward": "a1"}]},
    "a line that says nothing": {"zeros": [{"sex": ""}]},
    "one line only": {"zeros": {"sex": "f"}},
    "text": {"zeros": [["sex", "f"]]},
    "a total where nothing can be": {"zeros": [{"country": "x"}], "total": 1},
    "a leaf's total where nothing can be": {"zeros": [{"ward": "b1"}], "leaf_totals": TOTALS},
}


@pytest.mark.parametrize("given", REFUSED.values(), ids=REFUSED)
def test_public_numbers_that_cannot_be_true_are_refused(given):
    with pytest.raises(BadValue):
        known_of(BOTH, **given)


# --- what is held to -------------------------------------------------------------------------------------------------


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with dp.open(census.written(tmp_path, rows=ROWS, epsilon=20)) as dataset:
        yield dataset


LEAVES = {"n1": 70, "n2": 50, "n3": 60, "s1": 60, "s2": 60}
ODD = [{"sex": "m", "age": "[0, 18)"}, {"ward": "n2", "age": "[65, 99]"}]


@pytest.mark.parametrize("method", ["integer", "topdown", "chebyshev", "rounded"])
def test_zeros_hold_in_counts_by_every_method_and_their_margin_is_zero(people, method):
    release = people.release(by=("sex", "age")).build(epsilon=1, zeros=ODD, total=290, method=method)
    possible = release.plan.known.possible(release.plan.subject.tree)
    assert (~possible).any()
    for each in (release.fitted, release.estimate, release.radius, release.low, release.high):
        assert not each[~possible].any()
    assert release.fitted[0].sum() == 290
    assert release.violations.count == 0


def test_totals_of_places_with_many_empty_cells_are_nearer():
    """N = 2,000 draws; of 2,000 intervals that hold 95 in 100, more than 163 miss less than once in 10⁸ times."""
    wide = subject(ReleaseSpec("geo", by=("sex", "old"), marginals=()), SCHEMA)
    plain = plan_of(wide, Terms.parse(1))
    plan = plan_of(wide, Terms.parse(1), known=known_of(wide, zeros=[{"sex": "f"}, {"region": "a", "old": "true"}]))
    counts = plan.known.possible(wide.tree).sum(axis=1)
    law = plan.measurement.mechanisms[0][0].noise
    assert plan.margins.total_radius.tolist() == [sum_radius(law, int(few), plan.terms.level) for few in counts]
    assert (plan.margins.total_radius < plain.margins.total_radius).all()
    leaves = np.where(plan.known.allowed, 5, 0)
    exact = tree_sums(wide.tree, leaves).sum(axis=1)
    off = np.stack([np.abs(plan.margins.totals(plan.measurement(leaves, SYSTEM)) - exact) for _ in range(2_000)])
    assert ((off > plan.margins.total_radius).sum(axis=0) <= 163).all()
    assert ((off > plan.margins.total_radius // 2).sum(axis=0) > 163).all()


@pytest.mark.parametrize(
    "asked", [{"by": ("sex", "age")}, {"by": "sex"}, {"groups": "household", "largest": 4}], ids=str
)
def test_totals_of_leaves_hold_in_counts_and_sizes(people, asked):
    release = people.release(**asked).build(epsilon=1, leaf_totals=LEAVES)
    tree = release.plan.subject.tree
    assert release.fitted[tree.leaves].sum(axis=1).tolist() == [LEAVES[tree.names[leaf]] for leaf in tree.leaves]
    assert release.violations.count == 0
    assert release.plan.method == {"sex": "flow", ("sex", "age"): "together"}.get(asked.get("by"), "joint")


@pytest.mark.parametrize("totals", [None, LEAVES], ids=["measured", "public"])
def test_zeros_hold_in_sizes_too(people, totals):
    release = people.release(groups="household", largest=4).build(
        epsilon=1, zeros=[{"size": "2", "region": "north"}], leaf_totals=totals
    )
    tree = release.plan.subject.tree
    assert release.plan.method == "cumulative"
    assert not release.fitted[[tree.names.index(name) for name in ("north", "n1", "n2", "n3")], 1].any()
    assert release.violations.count == 0


def test_public_numbers_cost_nothing_and_serve_on_the_same_measurement(people):
    asked = people.release(by=("sex", "age"))
    first = asked.build(epsilon=1)
    rebuilt = asked.build(epsilon=1, leaf_totals=LEAVES, zeros=ODD)
    assert rebuilt.replayed
    assert rebuilt.remaining == first.remaining
    assert np.array_equal(first.noisy, rebuilt.noisy)
    assert not np.array_equal(first.fitted, rebuilt.fitted)
    assert "not protected" in " ".join(asked.quote(epsilon=1, leaf_totals=LEAVES).caveats)


@pytest.mark.parametrize("method", ["topdown", "joint"])
def test_methods_that_cannot_hold_public_numbers_are_refused(people, method):
    asked = people.release(by="sex") if method == "topdown" else people.release(groups="household", largest=4)
    given = {"leaf_totals": LEAVES} if method == "topdown" else {"zeros": [{"size": "2"}]}
    with pytest.raises(BadValue, match="method must be auto or"):
        asked.plan(epsilon=1, method=method, **given)


def test_public_numbers_that_do_not_fit_what_was_measured_are_doubted(people):
    asked = people.release(by=("sex", "age"))
    assert asked.build(epsilon=5, total=300).doubts == []
    (doubt,) = asked.build(epsilon=5, total=3_000).doubts
    assert doubt.startswith("The total was given as 3,000, but ")
    release = asked.build(epsilon=5, zeros=[{"sex": "f"}])
    assert "said to be empty" in release.doubts[0]
    assert release.doubts == facts(release)["doubts"]


def test_a_leaf_whose_public_total_is_wrong_is_named(people):
    asked = people.release(by=("sex", "age"))
    assert asked.build(epsilon=9, leaf_totals=LEAVES).doubts == []
    (doubt,) = asked.build(epsilon=9, leaf_totals=LEAVES | {"n1": 950, "s2": 40}).doubts
    assert doubt.startswith("n1 was given as 950, but ")
    (swapped,) = asked.build(epsilon=9, leaf_totals=LEAVES | {"n1": 0, "n2": 120}).doubts
    assert "So it is with 1 more of the lowest places." in swapped


# --- files -----------------------------------------------------------------------------------------------------------


def test_public_files_say_the_same_as_python(people, tmp_path):
    totals, zeros = tmp_path / "totals.csv", tmp_path / "zeros.csv"
    totals.write_text("ward,total\n" + "".join(f"{name}, {number}\n" for name, number in LEAVES.items()))
    zeros.write_text('ward,sex,age\n,m,"[0, 18)"\nn2,,"[65, 99]"\n')
    asked = people.release(by=("sex", "age"))
    written, typed = (
        asked.plan(epsilon=1, leaf_totals=totals, zeros=str(zeros)),
        asked.plan(epsilon=1, leaf_totals=LEAVES, zeros=ODD),
    )
    assert written.known.leaf_totals.tolist() == typed.known.leaf_totals.tolist()
    assert written.known.allowed.tolist() == typed.known.allowed.tolist()


FILES = {
    "another header": ("leaf_totals", "place,total\nn1,1\n"),
    "a leaf twice": ("leaf_totals", "ward,total\nn1,1\nn1,1\n"),
    "a cell too many": ("leaf_totals", "ward,total\nn1,1,2\n"),
    "nothing": ("leaf_totals", ""),
    "no line": ("zeros", "sex,age\n"),
    "a name twice": ("zeros", "sex,sex\nf,m\n"),
    "a cell too few": ("zeros", "sex,age\nf\n"),
}


@pytest.mark.parametrize(("name", "text"), FILES.values(), ids=FILES)
def test_files_of_another_kind_are_refused(people, tmp_path, name, text):
    (tmp_path / "given.csv").write_text(text)
    with pytest.raises(MetadataError, match=name):
        people.release(by=("sex", "age")).plan(epsilon=1, **{name: tmp_path / "given.csv"})


@pytest.mark.parametrize("name", ["leaf_totals", "zeros"])
def test_the_private_table_is_not_taken_for_a_public_file(people, tmp_path, name):
    with pytest.raises(MetadataError, match="not the private table") as refused:
        people.release(by="sex").plan(epsilon=1, **{name: tmp_path / "people.csv"})
    assert "h1" not in str(refused.value)


# --- read back -------------------------------------------------------------------------------------------------------


def test_a_saved_release_checks_and_a_broken_total_or_zero_is_found(people, tmp_path):
    from pyarrow import parquet

    release = people.release(by=("sex", "age")).build(epsilon=1, leaf_totals=LEAVES, zeros=ODD)
    release.save(tmp_path / "made")
    schema = release.plan.subject.schema
    assert read.check_release(tmp_path / "made", schema).problems == ()
    path = tmp_path / "made" / "table.parquet"
    rows = parquet.read_table(path)
    moved = rows["n"].to_numpy().copy()
    spot = int(np.flatnonzero(np.array(rows["ward"].to_pylist()) == "n2")[2])  # n2, f, 65 or more: must be 0
    moved[spot] += 1
    parquet.write_table(rows.set_column(rows.column_names.index("n"), "n", [moved]), path)
    violations = read.check_release(tmp_path / "made", schema).violations
    assert (violations["zeros"], violations["totals"]) == (1, 1)
