"""What a hostile second reading of releases found: each would have cost noise, or a charge for nothing."""

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BadValue
from discreet.noise.source import SYSTEM
from discreet.relation import Relation
from discreet.release import build
from discreet.release.known import Known
from discreet.release.measure import Design, Form, all_cells, count_sensitivity, size_sensitivity
from discreet.release.plan import plan_of
from discreet.release.quote import caveats
from discreet.release.release import Release
from discreet.release.subject import ReleaseSpec, subject
from discreet.release.tree import from_branches
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms
from release import census

GEO = Hierarchy("geo", ("country", "ward"), branches=(("x", "a"), ("x", "b")))


def schema(rows=1, *more):
    columns = [Column("ward", "category"), Column("household", "text"), *more]
    return Schema("people", columns, Unit("person", rows), "add-remove", None, (GEO,))


def test_a_plan_of_another_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in "ab":
        (tmp_path / name).mkdir()
    five = census.written(tmp_path / "a", max_rows=5, rows=[census.one(1, 1)] * 5)
    single = census.written(tmp_path / "b", max_rows=1, rows=[census.one(1, 1)])
    with dp.open(five) as loose, dp.open(single) as tight:
        plan = tight.release(count="rows").plan(epsilon=1)
        with pytest.raises(BadValue, match="must be made for this table"):
            build.build(loose.table, plan)


@pytest.mark.parametrize("form", ["plain", "from the top"])
def test_a_form_given_as_text_is_that_form(form):
    plans = [plan_of(subject(ReleaseSpec(groups="household", largest=3, form=given), schema()), Terms.parse(10**5))
             for given in (form, Form(form))]  # fmt: skip
    assert plans[0].subject.design.level_sensitivity == plans[1].subject.design.level_sensitivity
    leaves = np.array([[3, 2, 1], [0, 0, 0]])
    assert np.array_equal(*(plan.measurement(leaves, SYSTEM) for plan in plans))
    with pytest.raises(BadValue, match="form must be plain or from the top"):
        subject(ReleaseSpec(groups="household", largest=3, form="sideways"), schema())


@pytest.mark.parametrize("relation", Relation)
def test_a_level_that_moves_less_than_its_leaves_is_refused(relation):
    tree, views = from_branches(("x",), [("a",)]), (all_cells((), 2),)
    Design(tree, Form.FROM_TOP, views, size_sensitivity(3, relation), count_sensitivity(3, relation))
    for form, leaf in ((Form.PLAIN, size_sensitivity(3, relation)), (Form.FROM_TOP, size_sensitivity(4, relation))):
        with pytest.raises(BadValue, match="must cover"):
            Design(tree, form, views, leaf, count_sensitivity(3, relation))


def test_what_the_fit_cannot_hold_is_refused_before_the_charge():
    sizes = subject(ReleaseSpec(groups="household", largest=3), schema(1000))
    with pytest.raises(BadValue, match="epsilon is too small"):
        plan_of(sizes, Terms.parse("1e-7"))
    plan = plan_of(sizes, Terms.parse("1e-6"))
    for _ in range(20):  # noise of 6·10⁹ steps
        assert Release(plan, plan.measurement(np.zeros((2, 3), dtype=np.int64), SYSTEM)).violations.count == 0


def test_more_cells_than_can_be_brought_together_are_measured_all_at_once():
    wide = [Column(name, "integer", bounds=(0, 999)) for name in "pq"]
    assert len(subject(ReleaseSpec(by=("p", "q")), schema(1, *wide)).design.marginals) == 1
    with pytest.raises(BadValue, match="cannot be brought together"):
        subject(ReleaseSpec(by=("p", "q"), marginals=(("p",),)), schema(1, *wide))


def test_empty_cells_that_are_a_key_are_not_said_to_be_left_out():
    sex = Column("sex", "category", values=("f", "m"), null="key")
    plan = plan_of(subject(ReleaseSpec(by=("sex",)), schema(1, sex)), Terms.parse(1))
    assert None in plan.subject.labels[0]
    assert "sex" not in caveats(plan)[0]


def test_a_marginal_named_twice_is_measured_once():
    more = [Column(name, "boolean") for name in ("p", "q")]
    about = subject(ReleaseSpec(by=("p", "q"), marginals=(("p",), ("p", "p"))), schema(1, *more))
    assert [view.names for view in about.design.marginals] == [("p",), ("p", "q")]


def test_a_total_too_large_for_a_method_is_refused_before_the_charge():
    with pytest.raises(BadValue, match="total must be at most"):
        plan_of(subject(ReleaseSpec(), schema()), Terms.parse(1), method="rounded", known=Known(total=2**40))
