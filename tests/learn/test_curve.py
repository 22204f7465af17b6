"""What privacy costs each group on public data: without noise the curve is the plain rate."""

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BadValue
from discreet.learn.estimators.curve import rate_of

from .people import rows_of

FACTS = {"bounds": {"age": (18, 90)}, "values": {"region": ["n", "s", "w"]}, "classes": ["no", "yes"]}


def curve(**options):
    columns = rows_of(1500, 51)
    table = {name: columns[name] for name in ("age", "region")}
    estimator = dp.learn.NaiveBayes(**FACTS)
    given = {"by": columns["sex"], "epsilons": ("0.05", 1000), "draws": 2} | options
    return dp.learn.fairness_curve(estimator, table, columns["sick"], **given)


def test_the_curve_ends_where_there_is_no_privacy():
    default_curve = curve()
    assert [group.name for group in default_curve.groups] == ["f", "m"]
    for group in default_curve.groups:
        assert group.means[-1] == pytest.approx(group.without, abs=0.02)
        assert 0 <= min(map(min, group.rates)) <= max(map(max, group.rates)) <= 1
    assert default_curve.gaps[-1] == pytest.approx(default_curve.gap_without, abs=0.04)
    assert "without" in str(default_curve)
    assert default_curve.to_json()["epsilons"] == ["0.05", "1000"]
    assert len(default_curve.plot().axes) == 1


def test_rates_of_public_rows_are_the_plain_ones():
    target, predicted = np.array(["no", "yes", "yes", "no"]), np.array(["yes", "yes", "no", "no"])
    assert [rate_of(rate, target, predicted, "yes") for rate in ("accuracy", "tpr", "fpr")] == [0.5, 0.5, 0.5]
    assert np.isnan(rate_of("tpr", target[:1], predicted[:1], "yes"))


@pytest.mark.parametrize("wrong", [{"rate": "x"}, {"draws": 0}, {"test": 2}], ids=str)
def test_what_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(BadValue):
        curve(**wrong)


def test_estimators_with_a_ledger_are_refused():
    with pytest.raises(BadValue, match="ledger"):
        dp.learn.fairness_curve(dp.learn.NaiveBayes(ledger="x"), {}, [], by=[])
    with pytest.raises(BadValue, match="classifier"):
        dp.learn.fairness_curve("no estimator", {}, [], by=[])
