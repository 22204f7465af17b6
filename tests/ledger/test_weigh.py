"""What charges weigh, that typed (ε, δ) must cover them, and what fits into a purse."""

import subprocess
import sys
from fractions import Fraction as F

import pytest

from discreet.errors import BadValue
from discreet.ledger.filter import UNITS, budget
from discreet.ledger.inside import fits
from discreet.ledger.weigh import declared, is_covered, promise, weight_of
from discreet.privacy import analytic, price, renyi
from discreet.privacy.cost import (
    FREE,
    Apart,
    Approx,
    Exponential,
    Gaussian,
    Group,
    Pure,
    Repeated,
    Response,
    Sampled,
    Together,
    Zcdp,
)
from discreet.relation import Relation

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
SMALL = F(1, 10**9)


@pytest.mark.parametrize(
    ("cost", "apart"),
    [
        (Pure(1), 0),
        (Approx(1, SMALL), SMALL),
        (Approx(0, SMALL), SMALL),
        (Repeated(Approx(1, SMALL), 5), 5 * SMALL),
        (Together((Approx(1, SMALL), Gaussian(2), Approx(2, SMALL))), 2 * SMALL),
        (Apart((Approx(1, SMALL), Approx(2, 3 * SMALL))), 3 * SMALL),
        (Sampled("0.1", Approx(1, SMALL)), SMALL / 10),
        (Sampled("0.1", Together((Approx(1, SMALL), Gaussian(1)))), SMALL),
        (Sampled(0, Approx(1, SMALL)), 0),
        (Group(Approx(0, SMALL), 3), 3 * SMALL),
    ],
)
def test_every_delta_is_paid_apart(cost, apart):
    promised = promise(cost, ADD)
    assert promised.delta_apart == apart
    for order in (F(3, 2), F(8), F(40)):
        assert renyi.divergence(promised.cost, order).delta == 0


def test_a_delta_that_no_decimal_ends_covers_itself():
    third = F(1, 3**17)
    question = declared(Approx(1, third), ADD, epsilon=1, delta=third)
    assert (question.delta, question.promise.delta_apart) == (third, third)
    weight = weight_of(question, budget(3, "1e-6"))
    assert weight.delta == 0
    assert third < weight.keys < third + F(1, 10**399)
    assert fits(Approx(1, third), [Approx(1, third)], ADD)
    with pytest.raises(BadValue, match="must cover"):
        declared(Approx(1, third), ADD, epsilon=1, delta=third - F(1, 10**410))


def test_a_delta_apart_stays_short_and_is_rounded_up():
    cost, exactly = Approx("0.01", "1e-9"), F(1, 10**9)
    for _ in range(3):
        rate = F(10**400 - 1, 10**400)
        cost, exactly = Sampled(rate, cost), rate * exactly
    apart = promise(cost, Relation.ADD_REMOVE).delta_apart
    assert 0 <= apart - exactly < F(1, 10**400)
    assert len(str(apart)) < 1000


def test_group_delta_grows_with_the_group():
    assert promise(Group(Approx(1, SMALL), 3), ADD).delta_apart > 3 * SMALL


def test_replace_one_pays_for_every_part_and_for_the_whole_sample():
    parts = Apart((Pure(1), Pure(2)))
    assert declared(parts, ADD).epsilon == 2
    assert declared(parts, REPLACE).epsilon == 3
    assert declared(Sampled("0.01", Pure(1)), ADD).epsilon < F(1, 50)
    assert declared(Sampled("0.01", Pure(1)), REPLACE).epsilon == 1


def test_costs_enter_the_orders_as_the_design_says():
    allowed = budget(1, "1e-7")
    orders = [order.order for order in allowed.orders]

    def curve(cost, **typed_as):
        return [r / UNITS for r in weight_of(declared(cost, ADD, **typed_as), allowed).renyi]

    assert curve(Pure("0.1")) == pytest.approx([float(renyi.response(F("0.1"), a)) for a in orders])
    exponential = [min(float(renyi.response(F("0.1"), a)), float(a) / 800) for a in orders]
    assert curve(Exponential("0.1")) == pytest.approx(exponential)
    assert curve(Gaussian(60), epsilon="0.1", delta=SMALL) == pytest.approx([float(a) / 7200 for a in orders])
    assert curve(Approx("0.1", SMALL)) == curve(Pure("0.1"))
    assert curve(Zcdp("0.001"), epsilon="0.4", delta=SMALL) == pytest.approx([float(a) / 1000 for a in orders])


def test_weights_are_rounded_up():
    allowed = budget(1, "1e-7")
    weight = weight_of(declared(Gaussian(F(10**9 + 7, 10**7)), ADD, epsilon=1, delta=SMALL), allowed)
    for order, value in zip(allowed.orders, weight.renyi, strict=True):
        truth = order.order / 2 / F(10**9 + 7, 10**7) ** 2
        assert truth <= F(value, UNITS) <= truth + F(1, UNITS)


# --- typed (ε, δ) covers the cost --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "epsilon", "delta"),
    [
        (Pure(1), 1, 0),
        (Pure(1), 2, 0),
        (Together((Pure("0.1"), Exponential("0.2"))), "0.3", 0),
        (Approx(1, SMALL), 1, SMALL),
        (Gaussian(analytic.sigma("0.1", SMALL)), "0.1", SMALL),
        (Together((Gaussian(analytic.sigma("0.1", SMALL)), Approx("0.2", SMALL))), "0.3", 2 * SMALL),
        (Zcdp("0.001"), "0.4", SMALL),
        (Repeated(Gaussian(20), 4), "0.7", SMALL),
        (Apart((Gaussian(60), Pure("0.1"))), "0.1", SMALL),
    ],
)
def test_typed_amounts_that_cover_the_cost_are_accepted(cost, epsilon, delta):
    assert declared(cost, ADD, epsilon=epsilon, delta=delta).epsilon == F(epsilon)


@pytest.mark.parametrize(
    ("cost", "epsilon", "delta"),
    [
        (Pure(1), "0.999999999", 0),
        (Pure(1), "0.9", SMALL),
        (Approx(1, SMALL), 1, SMALL / 2),
        (Approx(1, SMALL), 1, 0),
        (Gaussian(1), 1, 0),
        (Gaussian(analytic.sigma("0.1", SMALL) * F(999, 1000)), "0.1", SMALL),
        (Together((Gaussian(analytic.sigma("0.1", SMALL)), Approx("0.2", SMALL))), "0.2", 2 * SMALL),
        (Zcdp(1), 1, SMALL),
        (Apart((Gaussian(1), Pure("0.1"))), "0.1", SMALL),
        (Repeated(Pure("0.1"), 11), 1, 0),
    ],
)
def test_typed_amounts_below_the_cost_are_refused(cost, epsilon, delta):
    with pytest.raises(BadValue, match="must cover"):
        declared(cost, ADD, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("bad_amount", ["nan", "inf", -1, True, "", "0x1", [1], "1e-400", 10**9])
def test_values_that_are_no_amounts_are_refused(bad_amount):
    with pytest.raises(BadValue):
        declared(Pure("0.1"), ADD, epsilon=bad_amount)
    with pytest.raises(BadValue):
        declared(Pure("0.1"), ADD, epsilon=1, delta="nan" if bad_amount == "1e-400" else bad_amount)


def test_a_cost_without_epsilon_must_be_typed():
    with pytest.raises(BadValue, match="must be typed"):
        declared(Gaussian(1), ADD)


def test_training_calibrated_by_the_full_accountant_is_covered():
    cost = Repeated(Sampled("0.01", Gaussian(1)), 100)
    least = price.epsilon(cost, SMALL).value
    assert is_covered(cost, least, SMALL)
    assert not is_covered(cost, least * F(9, 10), SMALL)


def test_no_charge_is_free():
    assert declared(FREE, ADD).epsilon == 0


def test_questions_of_the_planner_need_no_other_accountant():
    script = """
import sys
from discreet.ledger.weigh import declared, weight_of
from discreet.ledger.filter import UNITS, budget
from discreet.privacy.cost import *
cost = Together((Gaussian(60), Pure("0.1"), Approx("0.05", "1e-10")))
q = declared(cost, "add-remove", epsilon="0.25", delta="1.1e-9")
weight_of(q, budget(1, "1e-7"))
import discreet.ledger.ledger
assert "dp_accounting" not in sys.modules and "scipy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


# --- purses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reserved", "inside"),
    [
        (Pure(1), [Pure("0.5"), Exponential("0.5")]),
        (Response(1), [Pure(1)]),
        (Approx(1, SMALL), [Pure("0.5"), Approx("0.5", SMALL)]),
        (Zcdp(1), [Gaussian(1), Exponential(2)]),
        (Zcdp(1), []),
        (Gaussian(1), [Gaussian(2)] * 4),
        (Gaussian(1), []),
        (Repeated(Pure("0.1"), 3), [Pure("0.1"), Pure("0.05"), Pure("0.1")]),
        (Together((Gaussian(1), Approx(1, SMALL))), [Approx(1, SMALL), Gaussian(2), Gaussian(2)]),
        (Exponential(1), [Exponential(1)]),
    ],
)
def test_charges_within_a_purse_fit(reserved, inside):
    assert fits(reserved, inside, ADD)


@pytest.mark.parametrize(
    ("reserved", "inside"),
    [
        (Pure(1), [Pure("0.5"), Pure("0.5"), Pure("1e-9")]),
        (Pure(1), [Approx("0.5", SMALL)]),
        (Pure(1), [Gaussian(1000)]),
        (Approx(1, SMALL), [Approx("0.5", SMALL), Approx("0.5", SMALL)]),
        (Zcdp(1), [Gaussian(1), Exponential(2), Pure("1e-9")]),
        (Zcdp(1), [Approx("0.1", SMALL)]),
        (Gaussian(1), [Gaussian(2)] * 5),
        (Gaussian(1), [Pure("1e-9")]),
        (Repeated(Pure("0.1"), 3), [Pure("0.05")] * 4),
        (Exponential(1), [Exponential("0.5")] * 2),
        (Exponential(1), [Pure(1)]),
        (FREE, [Pure("1e-9")]),
    ],
)
def test_charges_beyond_a_purse_do_not_fit(reserved, inside):
    assert not fits(reserved, inside, ADD)


def test_a_purse_under_replace_one_pays_for_every_part():
    both = Apart((Pure("0.6"), Pure("0.6")))
    assert fits(Pure(1), [both], ADD)
    assert not fits(Pure(1), [both], REPLACE)
