"""What a third, hostile reading of releases found: charges for nothing, checks that hang."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.cli import main
from discreet.errors import BadValue
from discreet.noise.source import SYSTEM
from discreet.release import given, resimulated
from discreet.release.known import known_of
from discreet.release.plan import plan_of
from discreet.release.release import Release
from discreet.release.subject import ReleaseSpec, subject
from discreet.release.tree import from_branches, tree_sums
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms
from release import census

GEO = Hierarchy("geo", ("country", "ward"), branches=(("x", "a"), ("x", "b"), ("x", "c")))


def schema(*more, geo=GEO):
    return Schema("people", [Column(geo.levels[-1], "category"), *more], Unit("person", 1), "add-remove", None, (geo,))


# --- refused after the charge ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "facts",
    [{}, {"total": 9}, {"leaf_totals": {"a": 1, "b": 0, "c": 4}}, {"zeros": [{"ward": "a"}]}],
    ids=["nothing", "total", "leaves", "zeros"],
)
def test_groups_of_one_size_can_be_fitted(facts):
    """`largest=1` counts groups; both methods want two columns, and say so only once it is paid."""
    about = subject(ReleaseSpec(groups="household", largest=1), schema(Column("household", "text")))
    plan = plan_of(about, Terms.parse(1), known=known_of(about, **facts))
    release = Release(plan, plan.measurement(np.array([[3], [0], [2]]), SYSTEM))
    assert release.violations.count == 0


def test_controlled_rounding_takes_every_total_that_its_plan_takes():
    """2³⁰ people in 10,000 wards of seven regions: the float sums of a wide region miss each other by 10⁻⁶."""
    wards = tuple(("x", f"r{number % 7}", f"w{number}") for number in range(10_000))
    about = subject(ReleaseSpec(), schema(geo=Hierarchy("geo", ("country", "region", "ward"), branches=wards)))
    plan = plan_of(about, Terms.parse(1), method="rounded", known=known_of(about, total=2**30))
    chance = np.random.default_rng(1)
    exact = tree_sums(about.tree, chance.multinomial(2**30, np.full(10_000, 1e-4))[:, None].astype(np.int64))
    noisy = exact + np.rint(chance.normal(0, 10, exact.shape)).astype(np.int64)
    assert Release(plan, noisy).violations.count == 0


def test_runs_that_are_too_many_for_the_cells_are_refused_before_the_charge(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(resimulated, "MOST_KEPT", 10)
    toml = census.written(tmp_path, rows=[census.one(n, n) for n in range(9)])
    assert main.status(["release", "build", str(toml), "--eps", "1", "--resimulate", "99", "--json"]) == 2
    assert json.loads(capfd.readouterr().out)["ok"] is False
    main.status(["budget", str(toml), "--json"])
    assert json.loads(capfd.readouterr().out)["spent"]["epsilon"] == "0"


# --- what is public --------------------------------------------------------------------------------------------------


class Counted(str):
    """A name that counts how often it is hashed."""

    hashed = 0

    def __hash__(self):
        Counted.hashed += 1
        return super().__hash__()


def test_totals_of_leaves_take_time_in_proportion_to_them():
    """171,782 districts: a set of all names for each of them is half an hour."""
    names = [Counted(f"w{number}") for number in range(300)]
    tree = from_branches(("x", "ward"), [("x", name) for name in names])
    about = SimpleNamespace(tree=tree, attributes=(), labels=())
    totals = dict.fromkeys(map(str, names), 1)
    Counted.hashed = 0
    assert known_of(about, leaf_totals=totals).total == 300
    assert Counted.hashed < 20 * 300


def test_zeros_of_one_level_are_not_compared_with_all_leaves(monkeypatch):
    tree = from_branches(("x", "ward"), [("x", f"w{number}") for number in range(300)])
    about = SimpleNamespace(tree=tree, attributes=("sex",), labels=(("m", "f"),))
    monkeypatch.setattr(np, "intersect1d", lambda *_: pytest.fail("a set of all leaves for each line"))
    known = known_of(about, zeros=[{"ward": f"w{number}", "sex": "m"} for number in range(300)])
    assert not known.allowed[:, 0].any()
    assert known.allowed[:, 1].all()


def test_a_leaf_may_be_called_like_its_level(tmp_path):
    (tmp_path / "totals.csv").write_text("ward,total\nward,5\nb,6\n")
    assert given.leaf_totals(tmp_path / "totals.csv", "ward", source=None) == {"ward": "5", "b": "6"}


def test_a_name_of_a_level_and_of_an_attribute_is_not_taken_for_one_of_the_two():
    """Towns by size, and groups by size: the line means town 1, and empties every group of one person."""
    towns = Hierarchy("geo", ("size", "ward"), branches=(("1", "a"), ("2", "b")))
    about = subject(ReleaseSpec(groups="household", largest=3), schema(Column("household", "text"), geo=towns))
    with pytest.raises(BadValue, match="zeros"):
        known_of(about, zeros=[{"size": "1"}])


def test_an_empty_cell_is_not_the_label_none():
    about = subject(ReleaseSpec(by=("d",)), schema(Column("d", "category", values=("None", "f"), null="key")))
    with pytest.raises(BadValue, match="zeros"):
        known_of(about, zeros=[{"d": None}])


def test_totals_of_two_leaves_in_each_others_place_are_doubted():
    about = subject(ReleaseSpec(), schema())
    plan = plan_of(about, Terms.parse(1), known=known_of(about, leaf_totals={"a": 90_000, "b": 10, "c": 7}))
    release = Release(plan, tree_sums(about.tree, np.array([[10], [90_000], [7]])))
    assert release.doubts


# --- measured twice --------------------------------------------------------------------------------------------------


def test_a_marginal_that_is_all_cells_is_not_paid_for_again():
    more = [Column("sex", "category", values=("m", "f")), Column("one", "category", values=("k",))]
    about = subject(ReleaseSpec(by=("sex", "one")), schema(*more))
    sizes = [view.size for view in about.design.marginals]
    assert sizes == [1, 2]  # ("one",) is the total; ("sex",) is all there is


def test_a_place_with_one_cell_has_one_number():
    """The page says one of the two, table.csv the other."""
    more = [Column("one", "category", values=("k",)), Column("two", "category", values=("k",))]
    about = subject(ReleaseSpec(by=("one", "two")), schema(*more))
    plan = plan_of(about, Terms.parse("0.01"))
    release = Release(plan, plan.measurement(np.array([[50], [60], [70]]), SYSTEM))
    assert release.totals.tolist() == release.estimate[:, 0].tolist()
