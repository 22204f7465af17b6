"""A release at a price: what it costs is what was typed, and its ± are known before."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.privacy import price
from discreet.privacy.cost import Pure
from discreet.release.measure import Form
from discreet.release.plan import plan_of
from discreet.release.subject import ReleaseSpec, subject
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms

BRANCHES = tuple(("x", region, f"{region}{ward}") for region in "ab" for ward in range(6))
GEO = Hierarchy("geo", ("country", "region", "ward"), branches=BRANCHES)
COLUMNS = [
    Column("ward", "category", values=GEO.leaves),
    Column("sex", "category", values=("m", "f")),
    Column("old", "boolean"),
    Column("household", "text"),
]


def released(wanted, relation="add-remove", rows=1, *, epsilon=3, delta=0, level="0.95", **given):
    schema = Schema("people", COLUMNS, Unit("person", rows), relation, None, (GEO,))
    return plan_of(subject(wanted, schema), Terms.parse(epsilon, delta, level), **given)


def test_levels_share_the_price_evenly_unless_told_otherwise():
    plan = released(ReleaseSpec("geo"))
    assert plan.measurement.cost.costs == (Pure(1), Pure(1), Pure(1))
    assert [mechanism.noise.scale for (mechanism,) in plan.measurement.mechanisms] == [1, 1, 1]
    locked = released(ReleaseSpec("geo"), share={"country": "0.1"}, sharing="least")
    assert locked.shares[0] == Fraction(1, 10)
    assert locked.shares[1] < locked.shares[2]
    assert sum(cost.epsilon for cost in locked.measurement.cost.costs) == 3


def test_several_attributes_are_measured_alone_and_together_for_one_price():
    plan = released(ReleaseSpec("geo", by=("sex", "old")))
    assert [view.names for view in plan.measurement.marginals] == [("sex",), ("old",), ("sex", "old")]
    assert sum(cost.epsilon for cost in plan.measurement.cost.costs) == 3


@pytest.mark.parametrize(
    ("wanted", "scale"),
    [
        (ReleaseSpec("geo", count="rows"), 4),
        (ReleaseSpec("geo"), 1),
        (ReleaseSpec("geo", groups="household", largest=5), 4),
        (ReleaseSpec("geo", groups="household", largest=5, form=Form.PLAIN), 8),
        (ReleaseSpec("geo", groups="person", largest=4), 1),
    ],
)
def test_scales_follow_from_who_is_protected(wanted, scale):
    assert [mechanism.noise.scale for (mechanism,) in released(wanted, rows=4).measurement.mechanisms] == [scale] * 3
    assert [mechanism.noise.scale for (mechanism,) in released(wanted, "replace-one", 4).measurement.mechanisms] == [
        2 * scale
    ] * 3


def test_gaussian_noise_is_taken_where_it_is_smaller_and_costs_what_was_typed():
    wanted = ReleaseSpec("geo", count="rows")
    assert released(wanted, rows=50, delta="1e-6").terms.delta == 0  # one unit's rows may lie in one cell: l2 is l1
    levels = tuple(f"l{i}" for i in range(18))
    deep = Hierarchy("deep", levels, branches=tuple(("x",) * 17 + (leaf,) for leaf in "ab"))
    schema = Schema("people", [Column("l17", "category", values=("a", "b"))], None, "add-remove", None, (deep,))
    plan = plan_of(subject(ReleaseSpec("deep"), schema), Terms.parse(1, "1e-6"))
    assert plan.terms.delta == Fraction(1, 10**6)
    assert price.delta(plan.measurement.cost, 1).value <= Fraction(1, 10**6)


def test_margins_are_known_before_and_differ_by_form():
    counts, sizes = released(ReleaseSpec("geo")), released(ReleaseSpec("geo", groups="household", largest=3))
    assert counts.margins.radius[0].tolist() == [counts.measurement.mechanisms[0][0].noise.radius(Fraction(95, 100))]
    two, _, single = sizes.margins.radius[0]
    assert sizes.margins.radius[0].tolist() == [two, two, single]
    assert single < two < 2 * single
    assert sizes.margins.total_radius[0] == single  # groups of size 1 or more: measured as such
    assert [row["places"] for row in counts.level_rows()] == [1, 2, 12]


def test_weights_go_with_the_precision_of_the_levels():
    plan = released(ReleaseSpec("geo"), share={"country": "0.5", "region": "0.25", "ward": "0.25"})
    weights = plan.weights[np.array([0, 1, 3])]
    assert np.gcd.reduce(plan.weights) == 1
    assert weights[0] <= 2**20
    assert 0.15 < weights[1] / weights[0] < 0.26  # variances of integer noise at scales 2/3 and 4/3
    assert weights[1] == weights[2]


@pytest.mark.parametrize(
    "terms",
    [
        {"share": {"town": "0.5"}},
        {"share": {"ward": "nan"}},
        {"share": {"ward": "1"}},
        {"sharing": "fair"},
        {"method": "joint"},
        {"method": "magic"},
        {"epsilon": 0},
        {"epsilon": "1e-9"},
        {"level": 1},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(terms):
    with pytest.raises(BadValue):
        released(ReleaseSpec("geo"), **terms)
