"""The ledger's promises: charge first, store before handing out, repeat for free, never overspend."""

import itertools
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction as F

import pytest

from discreet.errors import (
    BadValue,
    BudgetExceeded,
    Closed,
    Conflict,
    DiscreetError,
    IntegrityError,
    LedgerUnavailable,
    NotPriced,
)
from discreet.ledger import books
from discreet.ledger.books import Books
from discreet.ledger.chain import next_row, rows_of_export
from discreet.ledger.filter import UNITS, budget
from discreet.ledger.inside import Inside
from discreet.ledger.ledger import Ledger, Receipt
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.rules import Opening, Rules
from discreet.privacy import analytic
from discreet.privacy.cost import Apart, Approx, Exponential, Gaussian, Pure, Repeated, Together, Zcdp
from discreet.privacy.flat import Odds

from .book import NORTH, SOUTH, ask, create_ledger, open_ledger, opening, places, reopen_ledger

# --- the thinnest path ----------------------------------------------------------------------


def test_a_ledger_takes_ten_tenths_and_not_the_smallest_more(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    for n in range(10):
        ask(ledger, f"q{n}")
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge(ChargeRequest("one more"), Pure("1e-9"))
    assert (refused.value.exit, refused.value.remaining, refused.value.requested) == (5, 0, F(1, 10**9))
    with pytest.raises(BadValue, match="epsilon must be"):
        ledger.charge(ChargeRequest("tiny", epsilon="1e-15"), Pure("0.1"))
    assert ledger.standing().spent.epsilon == 1


def test_refusal_says_what_was_asked_and_what_is_left(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ask(ledger, "a", Pure("0.7"))
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge(ChargeRequest("b"), Pure("0.5"))
    assert str(refused.value) == (
        "The question costs ε = 0.5, δ = 0 and the largest pure ε that still fits is 0.3. "
        "The budget is ε = 1, δ = 0 in all. Ask with epsilon at most 0.3, or let the curator raise the budget."
    )
    copy = pickle.loads(pickle.dumps(refused.value))
    assert (copy.remaining, copy.requested, str(copy)) == (F("0.3"), F("0.5"), str(refused.value))
    ask(ledger, "c", Pure(refused.value.remaining))


def test_refused_charge_leaves_the_ledger_as_it_was(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    before = ledger.standing()
    for cost, kw in [(Pure(2), {}), (Approx("0.1", "1e-9"), {}), (Pure("0.1"), {"epsilon": "0.05"})]:
        with pytest.raises((BudgetExceeded, BadValue)):
            ledger.charge(ChargeRequest("k", **kw), cost)
    assert ledger.standing() == before


def test_the_reservation_is_durable_before_it_returns(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ledger.charge(ChargeRequest("k"), Pure("0.4"))
    other = open_ledger(tmp_path)
    assert other.remaining() == F("0.6")
    assert other.entries()[-1]["state"] == "RESERVED"
    assert other.stored("k") is None


def test_an_answer_is_stored_together_with_its_state(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    receipt = ledger.charge(ChargeRequest("k"), Pure("0.4"))
    ledger.commit(receipt, b"\x00 any bytes \xff")
    assert open_ledger(tmp_path).stored("k") == b"\x00 any bytes \xff"
    assert [e.get("state") for e in ledger.entries()] == [None, "COMMITTED", None]


def test_empty_and_large_answers_are_kept(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    assert ask(ledger, "empty", answer=b"") == b""
    assert ask(ledger, "large", answer=b"x" * 3_000_000) == b"x" * 3_000_000
    for wrong in ("text", None, bytearray(b"x"), memoryview(b"x")):
        with pytest.raises(BadValue, match="answer must be bytes"):
            ledger.commit(ledger.charge(ChargeRequest(f"{type(wrong)}"), Pure("0.1")), wrong)


# --- replay and keys ----------------------------------------------------------------------


def test_the_same_key_and_question_cost_nothing_more(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ask(ledger, "k", Pure(1), b"first", analyst="ana")
    before = ledger.standing()
    for _ in range(5):
        assert ask(ledger, "k", Pure(1), b"other bytes", analyst="ana") == b"first"
    assert ledger.standing() == before


def charge(ledger, *, cost, **order):
    return ledger.charge(ChargeRequest(**order), cost)


OTHERS = [
    {"analyst": "ben"},
    {"cost": Pure("0.2")},
    {"cost": Together((Pure("0.05"), Pure("0.05")))},
    {"memo": "how many more?"},
    {"path": NORTH},
    {"epsilon": "0.2"},
    {"snapshot": "2"},
]


@pytest.mark.parametrize("other", OTHERS)
def test_a_stored_answer_is_replayed_whatever_the_question_would_cost_today(tmp_path, other):
    ledger = create_ledger(tmp_path, 1, fixed=["region"])
    asked = {"cost": Pure("0.1"), "memo": "how many?", "key": "k", "analyst": "ana"}
    first = charge(ledger, **asked)
    ledger.commit(first, b"first's")
    before = ledger.standing()
    again_ = charge(ledger, **(asked | other))
    assert (again_.name, again_.stored, ledger.stored("k")) == (first.name, True, b"first's")
    assert ledger.standing() == before


def test_replay_weighs_nothing_and_writes_nothing(tmp_path, monkeypatch):
    ledger = create_ledger(tmp_path, 1)
    ask(ledger, "k")
    monkeypatch.setattr(Ledger, "_writing", None)
    monkeypatch.setattr("discreet.ledger.ledger.declared", None)
    assert ask(ledger, "k", Gaussian(1)) == b"42"


@pytest.mark.parametrize("other", [change for change in OTHERS if "memo" not in change])
def test_an_attempt_that_failed_is_not_repeated_under_a_charge_that_paid_for_something_else(tmp_path, other):
    ledger = create_ledger(tmp_path, 1, fixed=["region"])
    asked = {"cost": Pure("0.1"), "memo": "how many?", "key": "k", "analyst": "ana"}
    first = charge(ledger, **asked)
    ledger.fail(first)
    second = charge(ledger, **(asked | other))
    assert (second.number > first.number, second.attempt, ledger.standing().charges) == (True, 1, 2)
    with pytest.raises(Conflict, match="given up"):
        ledger.commit(first, b"too late")
    ledger.commit(second, b"second's")
    assert (ledger.stored("k"), charge(ledger, **asked).name) == (b"second's", second.name)
    assert ledger.verify().spent.epsilon == ledger.standing().spent.epsilon >= F("0.2")


def test_another_memo_alone_is_still_the_second_attempt(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ledger.fail(ledger.charge(ChargeRequest("k", memo="how many?"), Pure("0.1")))
    assert ledger.charge(ChargeRequest("k", memo="how many are there?"), Pure("0.1")).attempt == 2
    assert ledger.standing().charges == 1


def test_a_new_charge_under_a_failed_key_must_fit_like_any_other(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ledger.fail(ledger.charge(ChargeRequest("k"), Pure("0.6")))
    with pytest.raises(BudgetExceeded):
        ledger.charge(ChargeRequest("k"), Pure("0.5"))
    assert ledger.charge(ChargeRequest("k"), Pure("0.6")).attempt == 2


def test_a_purse_is_found_by_its_key_whatever_it_would_cost_today(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    first = ledger.purse(ChargeRequest("run", memo="a run"), Pure("0.5"))
    other = ledger.purse(ChargeRequest("run", memo="the same run, planned better"), Pure("0.9"))
    assert (other.receipt.number, ledger.remaining()) == (first.receipt.number, F("0.5"))
    with pytest.raises(BudgetExceeded, match="its purse"):
        other.charge(ChargeRequest("step"), Pure("0.6"))


def test_a_step_in_flight_with_another_cost_is_a_new_part(tmp_path):
    ledger = create_ledger(tmp_path, 3, "1e-7")
    purse = ledger.purse(ChargeRequest("run", memo="run", epsilon="0.5", delta="1e-9"), Gaussian(20))
    purse.charge(ChargeRequest("step"), Gaussian(40))
    ledger = reopen_ledger(ledger, tmp_path)
    purse = ledger.purse(ChargeRequest("run", memo="run", epsilon="0.5", delta="1e-9"), Gaussian(20))
    second = purse.charge(ChargeRequest("step"), Gaussian("40.000000000001"))
    purse.commit(second, b"step")
    assert (second.attempt, purse.stored("step"), ledger.standing().failures) == (1, b"step", 1)
    ledger.verify()


def test_a_charge_and_a_purse_do_not_share_a_key(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ledger.charge(ChargeRequest("k"), Pure("0.1"))
    with pytest.raises(Conflict):
        ledger.purse(ChargeRequest("k"), Pure("0.1"))


def test_a_second_answer_is_refused_and_the_first_one_stays(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    receipt = ledger.charge(ChargeRequest("k"), Pure("0.1"))
    ledger.commit(receipt, b"first")
    ledger.commit(receipt, b"first")
    with pytest.raises(Conflict, match="answered already"):
        ledger.commit(receipt, b"second")
    assert ledger.stored("k") == b"first"


@pytest.mark.parametrize(
    "receipt", [None, "2", Receipt(2, "2-000000000000", "k", 1, False), Receipt(1, "x", "k", 1, False)]
)
def test_a_receipt_of_another_ledger_is_refused(tmp_path, receipt):
    ledger = create_ledger(tmp_path, 1)
    ledger.charge(ChargeRequest("k"), Pure("0.1"))
    with pytest.raises(BadValue, match="receipt must come from this ledger"):
        ledger.commit(receipt, b"x")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("key", ""),
        ("key", "x" * 201),
        ("key", "a\nb"),
        ("key", "\ud800"),
        ("key", None),
        ("key", 5),
        ("analyst", ""),
        ("analyst", 5),
        ("memo", object()),
        ("memo", float("nan")),
        ("memo", "x" * 70_000),
        ("memo", {1, 2}),
        ("snapshot", 5),
        ("path", "north"),
        ("path", NORTH),
        ("cost", 1),
        ("epsilon", "nan"),
        ("epsilon", -1),
        ("delta", "inf"),
    ],
)
def test_a_value_that_is_no_charge_is_refused_and_nothing_is_spent(tmp_path, name, value):
    ledger = create_ledger(tmp_path, 1)
    asked = {"cost": Pure("0.1"), "key": "k"}
    with pytest.raises(BadValue):
        charge(ledger, **(asked | {name: value}))
    assert ledger.standing().entries == 1


def test_deep_memos_are_refused(tmp_path):
    deep = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(BadValue, match="memo"):
        create_ledger(tmp_path, 1).charge(ChargeRequest("k", memo=deep), Pure("0.1"))


# --- failures ----------------------------------------------------------------------


def test_a_failed_attempt_keeps_its_charge_and_may_be_repeated_once(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    first = ledger.charge(ChargeRequest("k"), Pure("0.4"))
    ledger.fail(first)
    ledger.fail(first)
    second = ledger.charge(ChargeRequest("k"), Pure("0.4"))
    assert (second.number, second.attempt, ledger.standing().failures) == (first.number, 2, 1)
    with pytest.raises(Conflict, match="given up"):
        ledger.commit(first, b"too late")
    ledger.commit(second, b"in time")
    assert ledger.stored("k") == b"in time"
    assert ledger.remaining() == F("0.6")


def test_a_third_attempt_is_a_new_charge(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    for _ in range(2):
        ledger.fail(ledger.charge(ChargeRequest("k"), Pure("0.4")))
    third = ledger.charge(ChargeRequest("k"), Pure("0.4"))
    assert (third.attempt, ledger.remaining()) == (1, F("0.2"))
    ledger.commit(third, b"third")
    assert ledger.stored("k") == b"third"
    assert ledger.verify().charges == 2


@pytest.mark.parametrize("kind", ["charge", "purse"])
def test_what_another_process_charges_between_two_reads_is_not_there_yet(tmp_path, monkeypatch, kind):
    """The books are read first and the rows of a key then; a row that came in between is unknown to the books."""
    ledger, other = create_ledger(tmp_path, 1), open_ledger(tmp_path)
    ask(ledger, "a")
    reading = ledger._store.reading

    def late():
        monkeypatch.undo()
        (other.charge if kind == "charge" else other.purse)(ChargeRequest("b"), Pure("0.1"))
        return reading()

    ledger.standing()
    monkeypatch.setattr(ledger._store, "reading", late)
    assert ledger.receipt("b") is None
    assert ledger.receipt("b").stored is False


def test_an_attempt_at_work_is_not_repeated_nor_counted(tmp_path):
    ledger, other = create_ledger(tmp_path, 1), open_ledger(tmp_path)
    receipt = ledger.charge(ChargeRequest("k"), Pure("0.4"))
    for payer in (ledger, other):
        with pytest.raises(LedgerUnavailable, match="being computed"):
            payer.charge(ChargeRequest("k"), Pure("0.4"), patience=0)
    ledger.commit(receipt, b"done")
    assert other.charge(ChargeRequest("k"), Pure("0.4")).stored
    assert ledger.standing().failures == 0


def test_an_attempt_whose_holder_went_away_counts_as_failed(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ledger.charge(ChargeRequest("k"), Pure("0.4"))
    ledger = reopen_ledger(ledger, tmp_path)
    assert ledger.charge(ChargeRequest("k"), Pure("0.4")).attempt == 2
    assert ledger.standing().failures == 1


def test_failures_close_the_dataset_until_the_curator_reopens_it(tmp_path):
    ledger = create_ledger(tmp_path, 10, failures=3)
    ask(ledger, "early")
    for n in range(3):
        ledger.fail(ledger.charge(ChargeRequest(f"bad {n}"), Pure("0.1")))
    with pytest.raises(Closed, match="is closed") as refused:
        ask(ledger, "next")
    assert refused.value.exit == 7
    with pytest.raises(Closed):
        ledger.charge(ChargeRequest("bad 0"), Pure("0.1"))
    assert ledger.stored("early") == b"42"
    assert ledger.charge(ChargeRequest("early", memo="how many?"), Pure("0.1")).stored
    assert ledger.remaining() == 0
    assert ledger.standing().closed
    ledger.reopen("the worker's memory limit was too small")
    ask(ledger, "next")
    assert ledger.verify().spent.epsilon == F("0.5")


def test_the_failure_found_on_retry_is_kept_even_if_it_closes_the_dataset(tmp_path):
    ledger = create_ledger(tmp_path, 10, failures=1)
    ledger.charge(ChargeRequest("k"), Pure("0.1"))
    ledger = reopen_ledger(ledger, tmp_path)
    with pytest.raises(Closed):
        ledger.charge(ChargeRequest("k"), Pure("0.1"))
    assert ledger.standing().failures == 1


# --- what a ledger is bound to ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        opening(2),
        opening(1, "1e-7"),
        opening(1, max_epsilon="0.5"),
        opening(1, analysts={"ana": "0.5"}),
        opening(1, failures=50),
        opening(1, dataset="others"),
        opening(1, unit="row"),
        opening(1, under="replace-one"),
    ],
)
def test_another_budget_unit_relation_or_dataset_is_refused(tmp_path, other):
    create_ledger(tmp_path, 1).close()
    with pytest.raises(IntegrityError) as refused:
        open_ledger(tmp_path, other)
    assert refused.value.exit == 6
    open_ledger(tmp_path, opening(1)).close()


def test_only_set_budget_changes_the_budget_and_it_is_an_entry(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ask(ledger, "a", Pure(1))
    with pytest.raises(BudgetExceeded):
        ask(ledger, "b")
    ledger.set_budget(Rules(budget(2)), why="the board agreed")
    ask(ledger, "b")
    assert [e["kind"] for e in ledger.entries()].count("budget") == 1
    assert ledger.entries()[-4]["why"] == "the board agreed"
    with pytest.raises(IntegrityError):
        open_ledger(tmp_path, opening(1))
    assert open_ledger(tmp_path, opening(2)).remaining() == F("0.9")
    for wrong in ("", None, 5):
        with pytest.raises(BadValue, match="why"):
            ledger.set_budget(Rules(budget(3)), why=wrong)


def test_a_budget_below_what_is_spent_leaves_nothing(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ask(ledger, "a", Pure("0.9"))
    ledger.set_budget(Rules(budget("0.5")), why="less")
    assert ledger.remaining() == 0
    with pytest.raises(BudgetExceeded):
        ask(ledger, "b", Pure("1e-9"))
    ledger.verify()


def test_a_changed_budget_weighs_old_charges_in_its_own_orders(tmp_path):
    ledger = create_ledger(tmp_path, 1, "1e-7")
    sigma = analytic.sigma("0.05", "1e-9")
    for n in range(5):
        ask(ledger, f"{n}", Gaussian(sigma), epsilon="0.05", delta="1e-9")
    ledger.set_budget(Rules(budget(3, "1e-6")), why="more")
    new = budget(3, "1e-6")
    spent = ledger.standing().spent
    for order, value in zip(new.orders, spent.renyi, strict=True):
        assert value / UNITS == pytest.approx(float(5 * order.order / 2 / sigma**2))
    assert open_ledger(tmp_path).standing().spent == spent
    with pytest.raises(BadValue, match="delta must stay above 0"):
        ledger.set_budget(Rules(budget(3)), why="no δ")


def test_a_budget_in_which_old_charges_cannot_be_weighed_is_not_written(tmp_path, monkeypatch):
    ledger = create_ledger(tmp_path, 1, "1e-7")
    ask(ledger, "a")

    def unknown(*_):
        raise NotPriced("No price.", "There is none.", "Wait.")

    with monkeypatch.context() as broken:
        broken.setattr(books, "weight_of", unknown)
        with pytest.raises(NotPriced):
            ledger.set_budget(Rules(budget(2, "1e-7")), why="more")
    ask(ledger, "b")
    assert open_ledger(tmp_path, opening(1, "1e-7")).verify().spent.epsilon == F("0.2")


def test_a_budget_changed_by_another_process_counts_at_once(tmp_path):
    ledger, other = create_ledger(tmp_path, 1), open_ledger(tmp_path)
    other.set_budget(Rules(budget(5, "1e-7")), why="more")
    ask(ledger, "a", Pure(4))
    assert len(ledger.standing().spent.renyi) == 4


# --- caps ----------------------------------------------------------------------


def test_caps_of_question_delta_and_analyst_hold(tmp_path):
    ledger = create_ledger(tmp_path, 3, "1e-7", max_epsilon=1, max_delta="1e-9", analysts={"ana": "1.5"})
    with pytest.raises(BudgetExceeded, match="One question may take at most ε = 1"):
        ledger.charge(ChargeRequest("a"), Pure(2))
    with pytest.raises(BudgetExceeded, match="One question may take at most δ"):
        ledger.charge(ChargeRequest("a"), Approx("0.1", "2e-9"))
    ask(ledger, "a", Pure(1), analyst="ana")
    with pytest.raises(BudgetExceeded, match=r"ana has ε = 0.5 left") as refused:
        ledger.charge(ChargeRequest("b", analyst="ana"), Pure(1))
    assert refused.value.remaining == F("0.5")
    assert ledger.remaining(analyst="ana") == F("0.5")
    assert ledger.remaining(analyst="ben") == 1
    ask(ledger, "b", Pure("0.5"), analyst="ana")
    ask(ledger, "c", Pure(1), analyst="ben")
    assert ledger.standing().analysts == {"ana": F("1.5"), "ben": F(1)}
    assert ledger.remaining(analyst="ana") == 0


def test_the_datasets_budget_holds_for_colluding_analysts(tmp_path):
    ledger = create_ledger(tmp_path, 1, analysts={"ana": 1, "ben": 1})
    ask(ledger, "a", Pure("0.6"), analyst="ana")
    with pytest.raises(BudgetExceeded):
        ledger.charge(ChargeRequest("b", analyst="ben"), Pure("0.6"))


# --- budgets with a δ ----------------------------------------------------------------------


def test_small_gaussian_questions_go_on_past_the_sum_of_epsilons(tmp_path):
    ledger = create_ledger(tmp_path, 1, "1e-7")
    sigma = analytic.sigma("0.2", "1e-9")
    for n in range(12):
        ask(ledger, f"{n}", Gaussian(sigma), epsilon="0.2", delta="1e-9")
    standing = ledger.standing()
    assert standing.spent.epsilon == F("2.4")
    assert standing.remaining > F("0.25")
    ask(ledger, "pure", Pure(standing.remaining))
    ledger.verify()


def test_key_selection_has_a_part_of_delta_of_its_own(tmp_path):
    ledger = create_ledger(tmp_path, 100, "1e-7")
    for n in range(50):
        ask(ledger, f"{n}", Approx("0.01", "1e-9"))
    with pytest.raises(BudgetExceeded, match="key selection 0 is left") as refused:
        ledger.charge(ChargeRequest("one more"), Approx("0.01", "1e-9"))
    assert "public" in refused.value.fix
    ask(ledger, "without keys")
    assert ledger.standing().remaining_keys == 0


def test_a_budget_of_epsilon_alone_names_the_delta_that_it_cannot_take(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    with pytest.raises(BudgetExceeded, match="without any δ"):
        ledger.charge(ChargeRequest("k"), Approx("0.1", "1e-9"))
    with pytest.raises(BudgetExceeded, match="without any δ"):
        ledger.charge(ChargeRequest("k", epsilon="0.5", delta="1e-9"), Gaussian(100))


# --- parts ----------------------------------------------------------------------


def test_parts_fixed_per_unit_are_paid_side_by_side(tmp_path):
    ledger = create_ledger(tmp_path, 1, fixed=["region"])
    for path in (NORTH, SOUTH):
        ledger.charge(ChargeRequest(f"{path}", path=path), Pure("0.7"))
    assert ledger.standing().spent.epsilon == F("0.7")
    assert ledger.remaining(NORTH) == ledger.remaining() == F("0.3")
    assert ledger.remaining((("region", "east"),)) == 1
    with pytest.raises(BudgetExceeded):
        ledger.charge(ChargeRequest("more", path=NORTH), Pure("0.4"))
    assert open_ledger(tmp_path, fixed=["region"]).verify().spent.epsilon == F("0.7")


def test_columns_that_may_change_within_a_unit_carry_no_parts(tmp_path):
    with pytest.raises(BadValue, match="fixed per unit"):
        create_ledger(tmp_path, 1, fixed=["sex"]).charge(ChargeRequest("k", path=NORTH), Pure("0.7"))


def test_replace_one_pays_for_every_part(tmp_path):
    ledger = create_ledger(tmp_path, 1, under="replace-one", fixed=["region"])
    ledger.charge(ChargeRequest("a", path=NORTH), Pure("0.5"))
    ledger.charge(ChargeRequest("b", path=SOUTH), Pure("0.5"))
    assert ledger.remaining() == ledger.remaining((("region", "east"),)) == 0
    with pytest.raises(BudgetExceeded):
        ledger.charge(ChargeRequest("c", path=(("region", "east"),)), Pure("0.1"))


def test_replace_one_pays_for_every_part_of_a_cost(tmp_path):
    ledger = create_ledger(tmp_path, 1, under="replace-one")
    ledger.charge(ChargeRequest("a"), Apart((Pure("0.5"), Pure("0.5"))))
    assert ledger.remaining() == 0


def test_a_unit_may_have_moved_between_snapshots(tmp_path):
    ledger = create_ledger(tmp_path, 1, fixed=["region"])
    ledger.charge(ChargeRequest("a", path=NORTH, snapshot="monday"), Pure("0.5"))
    ledger.charge(ChargeRequest("b", path=SOUTH, snapshot="monday"), Pure("0.5"))
    assert ledger.remaining() == F("0.5")
    ledger.charge(ChargeRequest("c", path=(("region", "east"),), snapshot="tuesday"), Pure("0.5"))
    assert ledger.remaining() == 0


def test_analysts_caps_count_parts_the_same_way(tmp_path):
    ledger = create_ledger(tmp_path, 3, fixed=["region"], analysts={"ana": 1})
    ledger.charge(ChargeRequest("a", path=NORTH, analyst="ana"), Pure(1))
    ledger.charge(ChargeRequest("b", path=SOUTH, analyst="ana"), Pure(1))
    with pytest.raises(BudgetExceeded):
        ledger.charge(ChargeRequest("c", analyst="ana"), Pure("0.1"))


# --- purses ----------------------------------------------------------------------


def test_a_purse_is_paid_once_and_spent_inside(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    purse = ledger.purse(ChargeRequest("run", memo="an adaptive run"), Pure("0.5"))
    assert ledger.remaining() == F("0.5")
    for n in range(5):
        receipt = purse.charge(ChargeRequest(f"run {n}", memo="a step"), Pure("0.1"))
        purse.commit(receipt, b"step %d" % n)
    with pytest.raises(BudgetExceeded, match="does not fit into its purse"):
        purse.charge(ChargeRequest("run 5", memo="a step too far"), Pure("1e-9"))
    assert ledger.remaining() == F("0.5")
    assert purse.stored("run 3") == b"step 3"
    assert ledger.verify().charges == 1


def test_a_purse_is_found_again_under_its_key(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ledger.purse(ChargeRequest("run", memo="run"), Pure("0.5")).charge(ChargeRequest("step 1"), Pure("0.3"))
    ledger = reopen_ledger(ledger, tmp_path)
    purse = ledger.purse(ChargeRequest("run", memo="run"), Pure("0.5"))
    with pytest.raises(BudgetExceeded):
        purse.charge(ChargeRequest("step 2"), Pure("0.3"))
    assert purse.charge(ChargeRequest("step 1"), Pure("0.3")).attempt == 2
    purse.charge(ChargeRequest("step 2"), Pure("0.2"))
    assert ledger.remaining() == F("0.5")


def test_purses_pay_for_charges_of_other_kinds(tmp_path):
    ledger = create_ledger(tmp_path, 3, "1e-7")
    purse = ledger.purse(ChargeRequest("zcdp", epsilon="1.2", delta="1e-9"), Zcdp("0.01"))
    for n in range(4):
        purse.charge(ChargeRequest(f"g{n}", epsilon="0.4", delta="1e-9"), Gaussian(20))
    purse.charge(ChargeRequest("e"), Exponential("0.1"))
    with pytest.raises(BudgetExceeded):
        purse.charge(ChargeRequest("e2"), Exponential("0.25"))
    with pytest.raises(BadValue, match="must cover"):
        purse.charge(ChargeRequest("e3", epsilon="0.05"), Exponential("0.1"))
    slots = ledger.purse(ChargeRequest("slots"), Together((Repeated(Pure("0.1"), 2), Approx("0.2", "1e-10"))))
    for n, cost in enumerate([Approx("0.2", "1e-10"), Pure("0.1"), Pure("0.1")]):
        slots.charge(ChargeRequest(f"s{n}"), cost)
    with pytest.raises(BudgetExceeded):
        slots.charge(ChargeRequest("s3"), Pure("0.1"))
    ledger.verify()


def test_a_purse_for_one_part_pays_for_nothing_outside_that_part(tmp_path):
    ledger = create_ledger(tmp_path, 1, fixed=["region"])
    north = ledger.purse(ChargeRequest("run north", path=NORTH), Pure(1))
    for outside in ((), SOUTH, (("sex", "f"),)):
        with pytest.raises(BadValue, match="must lie inside the path of its purse"):
            north.charge(ChargeRequest("outside", path=outside), Pure("0.1"))
    north.charge(ChargeRequest("inside", path=NORTH), Pure("0.5"))
    north.charge(ChargeRequest("further inside", path=(*NORTH, ("sex", "f"))), Pure("0.5"))
    assert ledger.remaining(SOUTH) == 1
    ledger.verify()


def test_a_purse_has_no_answer_of_its_own(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    purse = ledger.purse(ChargeRequest("run"), Pure(1))
    purse.commit(purse.charge(ChargeRequest("all of it"), Pure(1)), b"a step")
    for act in (lambda: ledger.commit(purse.receipt, b"for nothing"), lambda: ledger.fail(purse.receipt)):
        with pytest.raises(BadValue, match="a purse has no answer of its own"):
            act()
    assert ledger.stored("run") is None
    assert ledger.verify().failures == 0


def test_nothing_is_charged_inside_a_charge(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    receipt = ledger.charge(ChargeRequest("k"), Pure(1))
    with pytest.raises(BadValue, match="must be the receipt of a purse"):
        ledger.charge_part(receipt, ChargeRequest("inside"), Pure(1))


def test_a_chain_with_a_purse_spent_outside_or_answered_is_refused(tmp_path):
    ledger = create_ledger(tmp_path, 1, fixed=["region"])
    ledger.purse(ChargeRequest("run", path=NORTH), Pure(1)).charge(ChargeRequest("inside", path=NORTH), Pure("0.5"))
    rows = ledger._store.rows(0)
    part = {**rows[-1].entry, "key": "forged"}
    for forged in ({**part, "path": []}, {**part, "path": [["region", "south"]]}):
        with pytest.raises(IntegrityError, match="overspends its purse"):
            Books().read([*rows, next_row(rows[-1], forged)])
    with pytest.raises(IntegrityError, match="or a purse"):
        Books().read([*rows, next_row(rows[-1], {"kind": "answer", "charge": 2, "sha256": "", "size": 0})])
    Books().read([*rows, next_row(rows[-1], part)])


def test_many_equal_steps_fill_a_purse_exactly(tmp_path):
    ledger = create_ledger(tmp_path, 1, "1e-7")
    purse = ledger.purse(ChargeRequest("run"), Repeated(Approx("0.001", "1e-12"), 300))
    for n in range(300):
        purse.charge(ChargeRequest(f"{n}"), Approx("0.001", "1e-12"))
    with pytest.raises(BudgetExceeded, match="purse"):
        purse.charge(ChargeRequest("one more"), Approx("0.001", "1e-12"))
    inside = open_ledger(tmp_path)._read().purses[2].inside
    assert inside == Inside((("delta", F("3e-10")),), ((Odds(F("0.001")), 300),))  # one slot, however many steps


@pytest.mark.parametrize("seed", range(6))
def test_no_unit_meets_more_answers_than_the_budget_pays_for(tmp_path, seed):
    """The obvious twin: every unit adds up for itself what it met, purses by the charges inside them."""
    chance, columns = random.Random(seed), {"region": "ns", "sex": "fm"}
    ledger = create_ledger(tmp_path, 1, fixed=columns)
    met = dict.fromkeys(itertools.product(*columns.values()), F(0))
    purses = []

    def path():
        return tuple((c, chance.choice(columns[c])) for c in columns if chance.random() < 0.5)

    for n in range(60):
        node, cost = path(), Pure(F(chance.randint(1, 30), 100))
        try:
            if chance.random() < 0.3:
                purses.append(ledger.purse(ChargeRequest(f"{n}", path=node), cost))
                continue
            payer = chance.choice(purses) if purses and chance.random() < 0.6 else ledger
            payer.charge(ChargeRequest(f"{n}", path=node), cost)
        except (BudgetExceeded, BadValue):
            continue
        for unit in met:
            if set(node) <= set(zip(columns, unit, strict=True)):
                met[unit] += cost.epsilon
    assert F("0.3") < max(met.values()) <= ledger.verify().spent.epsilon <= 1


def test_purses_close_with_the_dataset(tmp_path):
    ledger = create_ledger(tmp_path, 1, failures=1)
    purse = ledger.purse(ChargeRequest("run"), Pure("0.5"))
    purse.fail(purse.charge(ChargeRequest("step"), Pure("0.1")))
    with pytest.raises(Closed):
        purse.charge(ChargeRequest("step 2"), Pure("0.1"))


# --- looking ----------------------------------------------------------------------


def test_export_is_checked_without_the_database(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ask(ledger, "a")
    lines = list(ledger.export())
    rows = rows_of_export(lines)
    assert rows[-1].hash.hex() == ledger.standing().head
    assert all(json.loads(line) for line in lines)


def test_nothing_but_public_words_is_stored(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    ask(ledger, "a", answer=b"noisy 17")
    fields = {name for entry in ledger.entries() for name in entry}
    assert fields == {
        "amounts", "analyst", "attempt", "charge", "cost", "dataset", "delta", "epsilon", "format", "hash", "holder",
        "key", "kind", "memo", "n", "path", "purse", "relation", "rules", "sha256", "size", "snapshot", "state", "time",
        "unit",
    }  # fmt: skip


def test_repr_shows_the_dataset_alone(tmp_path):
    assert repr(create_ledger(tmp_path, 1)) == "Ledger('people')"


def test_leaving_its_context_closes_a_ledger(tmp_path):
    with create_ledger(tmp_path, 1) as ledger:
        ask(ledger, "a")
    with open_ledger(tmp_path) as ledger:
        assert ledger.stored("a") == b"42"


@pytest.mark.parametrize(
    ("name", "value"), [("dataset", ""), ("unit", None), ("relation", "both"), ("rules", 1), ("dataset", "a\0b")]
)
def test_an_opening_with_wrong_facts_is_refused(name, value):
    facts = {"dataset": "people", "unit": "person", "relation": "add-remove", "rules": Rules(budget(1))}
    with pytest.raises(BadValue):
        Opening(**(facts | {name: value}))


@pytest.mark.parametrize(
    "caps",
    [
        {"max_epsilon": 0},
        {"max_delta": 2},
        {"analysts": {"": 1}},
        {"analysts": {"ana": -1}},
        {"failures": 0},
        {"failures": 1.5},
    ],
)
def test_caps_that_are_no_amounts_are_refused(caps):
    with pytest.raises(BadValue):
        Rules(budget(1), **caps)


# --- threads, and Ctrl-C ----------------------------------------------------------------------


def test_threads_of_one_process_never_overspend(tmp_path):
    ledger = create_ledger(tmp_path, 1)
    outcomes = []

    def run(who):
        for n in range(6):
            try:
                ask(ledger, f"{who} {n}", analyst=f"a{who}")
                outcomes.append("answered")
            except BudgetExceeded:
                outcomes.append("refused")

    threads = [threading.Thread(target=run, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("answered") == 10
    assert ledger.verify().spent.epsilon == 1


def test_ctrl_c_while_reading_leaves_books_that_can_be_read(tmp_path, monkeypatch):
    ledger, other = create_ledger(tmp_path, 1), open_ledger(tmp_path)
    ask(other, "a", analyst="ana")

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(Books, "_book", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.standing()
    assert ledger.standing() == other.standing()


def test_ctrl_c_leaves_a_reservation_that_counts(tmp_path):
    path, head = places(tmp_path)
    create_ledger(tmp_path, 1).close()
    script = f"""
import time
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.privacy.cost import Pure
ledger = Ledger.open({str(path)!r}, head={str(head)!r})
ledger.charge(ChargeRequest("k"), Pure("0.4"))
print("charged", flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout.readline() == b"charged\n"
        os.kill(child.pid, signal.SIGINT)
        child.wait(timeout=10)
    ledger = Ledger.open(path, head=head)
    assert ledger.remaining() == F("0.6")
    assert ledger.entries()[-1]["state"] == "RESERVED"
    assert ledger.charge(ChargeRequest("k"), Pure("0.4")).attempt == 2


# --- deaths ----------------------------------------------------------------------


def test_the_death_of_one_holder_is_one_failure_however_much_was_in_flight(tmp_path):
    ledger = create_ledger(tmp_path, 10, failures=3)
    for n in range(8):
        ledger.charge(ChargeRequest(f"k{n}"), Pure("0.1"))
    ledger = reopen_ledger(ledger, tmp_path)
    for n in range(8):
        receipt = ledger.charge(ChargeRequest(f"k{n}"), Pure("0.1"))
        assert receipt.attempt == 2
        ledger.commit(receipt, b"in the end")
    assert (ledger.standing().failures, ledger.standing().closed) == (1, False)
    ledger.close()
    assert open_ledger(tmp_path).verify().failures == 1


def test_each_holder_that_dies_counts_and_so_does_each_failure_that_is_told(tmp_path):
    ledger = create_ledger(tmp_path, 10, failures=4)
    for n in range(2):
        for m in range(3):
            ledger.charge(ChargeRequest(f"k{n}{m}"), Pure("0.1"))
        ledger = reopen_ledger(ledger, tmp_path)
    for n in range(2):
        for m in range(3):
            ledger.commit(ledger.charge(ChargeRequest(f"k{n}{m}"), Pure("0.1")), b"x")
    assert ledger.standing().failures == 2
    for n in range(2):
        ledger.fail(ledger.charge(ChargeRequest(f"told {n}"), Pure("0.1")))
    assert (ledger.standing().failures, ledger.standing().closed) == (4, True)


def test_a_death_gives_each_charge_one_more_attempt_and_no_third(tmp_path):
    ledger = create_ledger(tmp_path, 1, failures=100)
    for _ in range(2):
        for n in range(3):
            ledger.charge(ChargeRequest(f"k{n}"), Pure("0.1"))
        ledger = reopen_ledger(ledger, tmp_path)
    assert [ledger.charge(ChargeRequest(f"k{n}"), Pure("0.1")).attempt for n in range(3)] == [1, 1, 1]
    assert (ledger.standing().failures, ledger.remaining()) == (2, F("0.4"))


def test_a_death_is_counted_anew_after_the_curator_reopened(tmp_path):
    ledger = create_ledger(tmp_path, 10, failures=1)
    for n in range(2):
        ledger.charge(ChargeRequest(f"k{n}"), Pure("0.1"))
    ledger = reopen_ledger(ledger, tmp_path)
    for n in range(2):
        with pytest.raises(Closed):
            ledger.charge(ChargeRequest(f"k{n}"), Pure("0.1"))
        ledger.reopen("found the cause")
    assert ledger.charge(ChargeRequest("k0"), Pure("0.1")).attempt == 2


# --- waiting ----------------------------------------------------------------------


def in_threads(count, work):
    outcomes = []

    def run():
        try:
            outcomes.append(work())
        except DiscreetError as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_whoever_asks_what_is_being_computed_waits_and_replays(tmp_path):
    ledger, computed = create_ledger(tmp_path, 1), []

    def work():
        with open_ledger(tmp_path) as own:
            receipt = own.charge(ChargeRequest("k"), Pure("0.4"))
            if not receipt.stored:
                computed.append(receipt.attempt)
                time.sleep(0.3)
                own.commit(receipt, b"once")
            return own.stored("k")

    assert in_threads(6, work) == [b"once"] * 6
    assert computed == [1]
    assert (ledger.standing().failures, ledger.remaining()) == (0, F("0.6"))


def test_one_of_those_who_wait_takes_over_from_a_holder_that_dies(tmp_path):
    create_ledger(tmp_path, 1).close()
    first, computed = open_ledger(tmp_path), []
    first.charge(ChargeRequest("k"), Pure("0.4"))
    threading.Timer(0.2, first.close).start()

    def work():
        with open_ledger(tmp_path) as own:
            receipt = own.charge(ChargeRequest("k"), Pure("0.4"))
            if not receipt.stored:
                computed.append(receipt.attempt)
                own.commit(receipt, b"second")
            return own.stored("k")

    assert in_threads(4, work) == [b"second"] * 4
    assert computed == [2]
    assert open_ledger(tmp_path).verify().failures == 1


def test_those_who_waited_for_what_failed_twice_are_not_charged_again(tmp_path, monkeypatch):
    ledger, computed, waits, wait = create_ledger(tmp_path, 1), [], [], Ledger._wait_for

    def waiting(self, *given):
        waits.append(self)
        wait(self, *given)

    def work():
        with open_ledger(tmp_path) as own:
            receipt = own.charge(ChargeRequest("k"), Pure("0.4"))
            computed.append(receipt.attempt)
            while receipt.attempt == 1 and len(waits) < 3:  # until all others wait
                time.sleep(0.01)
            own.fail(receipt)
            return "failed"

    monkeypatch.setattr(Ledger, "_wait_for", waiting)
    outcomes = in_threads(4, work)
    assert (sorted(outcomes), computed) == (["Conflict"] * 2 + ["failed"] * 2, [1, 2])
    assert (ledger.standing().failures, ledger.remaining()) == (2, F("0.6"))


def test_waiting_holds_nothing_and_ends_in_time(tmp_path):
    ledger, other = create_ledger(tmp_path, 1), open_ledger(tmp_path)
    receipt = ledger.charge(ChargeRequest("k"), Pure("0.4"))
    began = time.monotonic()
    with pytest.raises(LedgerUnavailable, match="being computed"):
        other.charge(ChargeRequest("k"), Pure("0.4"), patience=0.3)
    assert 0.3 <= time.monotonic() - began < 5
    thread = threading.Thread(target=lambda: other.charge(ChargeRequest("k"), Pure("0.4")))
    thread.start()
    ask(ledger, "meanwhile")
    assert thread.is_alive()
    ledger.commit(receipt, b"done")
    thread.join(5)
    assert not thread.is_alive()
