"""Laws of the ledger: whatever happens, in whatever order, it is never overspent and never forgets."""

import tempfile
from fractions import Fraction as F
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, Closed, Conflict, LedgerUnavailable
from discreet.ledger.chain import rows_of_export
from discreet.ledger.filter import accepts, budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.rules import Opening, Rules
from discreet.privacy import analytic
from discreet.privacy.cost import Approx, Exponential, Gaussian, Pure, Together

SLOW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
SIGMA = analytic.sigma("0.2", "1e-9")
COSTS = [
    (Pure("0.1"), {}),
    (Pure("0.37"), {}),
    (Pure("1/3"), {}),
    (Exponential("0.2"), {}),
    (Together((Pure("0.05"), Exponential("0.05"))), {}),
    (Approx("0.1", "2e-8"), {}),
    (Gaussian(SIGMA), {"epsilon": "0.2", "delta": "1e-9"}),
]
PATHS = [(), (("region", "north"),), (("region", "south"),), (("region", "north"), ("sex", "f"))]
acts = st.lists(
    st.tuples(
        st.sampled_from(["answer", "fail", "leave", "again", "reopen"]),
        st.sampled_from(COSTS),
        st.sampled_from(PATHS),
        st.sampled_from(["ana", "ben", None]),
        st.integers(0, 7),
    ),
    max_size=24,
)
budgets = st.sampled_from([(1, 0), (1, "1e-7"), ("0.5", "1e-6")])


def opened(folder, epsilon, delta, under="add-remove"):
    rules = Rules(budget(epsilon, delta), analysts={"ana": "0.6"}, failures=2)
    place = Path(folder)
    bound = Opening("people", "person", under, rules)
    ledger = Ledger.create(place / "a.ledger", bound, fixed=["region", "sex"], head=place / "s" / "head")
    return ledger, rules


def act(ledger, what, asked, path, analyst, n):
    """One step of an arbitrary user; what the ledger refuses is refused."""
    cost, typed_as = asked
    if what == "reopen":
        ledger.reopen("looked into it")
        return
    key = f"{n} {analyst} {path} {cost}"[:200]
    try:
        receipt = ledger.charge(ChargeRequest(key, path=path, memo="q", analyst=analyst, **typed_as), cost, patience=0)
    except (BudgetExceeded, Closed, Conflict):
        return
    except LedgerUnavailable as busy:
        if "being computed" not in busy.what:  # the only reason there can be here
            raise
        return
    if not receipt.stored and what == "answer":
        ledger.commit(receipt, key.encode())
    if not receipt.stored and what == "fail":
        ledger.fail(receipt)


@given(acts, budgets, st.sampled_from(["add-remove", "replace-one"]))
@SLOW
def test_no_sequence_of_charges_exceeds_the_budget(steps, size, under):
    with tempfile.TemporaryDirectory() as folder:
        ledger, rules = opened(folder, *size, under)
        for step in steps:
            act(ledger, *step)
            standing = ledger.standing()
            assert accepts(rules.budget, standing.spent)
            assert standing.analysts.get("ana", F(0)) <= F("0.6")
        assert ledger.verify() == standing if steps else True
        ledger.close()
        with Ledger.open(Path(folder) / "a.ledger", head=Path(folder) / "s" / "head") as fresh:
            assert fresh.verify() == fresh.standing()
            assert rows_of_export(fresh.export())[-1].hash.hex() == fresh.standing().head


@given(acts, budgets)
@SLOW
def test_the_remaining_budget_is_accepted_and_never_grows(steps, size):
    with tempfile.TemporaryDirectory() as folder:
        ledger, _ = opened(folder, *size)
        left = ledger.remaining()
        for what, *rest in steps:
            if what != "reopen":
                act(ledger, what, *rest)
            after = ledger.remaining()
            assert after <= left
            left = after
        if left and not ledger.standing().closed:
            ledger.charge(ChargeRequest("the rest"), Pure(left))
        ledger.close()


@given(st.lists(st.sampled_from(COSTS), min_size=2, max_size=8), st.randoms(use_true_random=False))
@settings(SLOW, max_examples=10)
def test_the_sum_does_not_depend_on_the_order_of_charges(asked, chance):
    sums = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            ledger, _ = opened(folder, 100, "1e-6")
            for n, (cost, typed_as) in enumerate(asked):
                ledger.charge(ChargeRequest(f"{n}", **typed_as), cost)
            sums.append(ledger.standing().spent)
            ledger.close()
        chance.shuffle(asked)
    assert sums[0] == sums[1]


@given(st.lists(st.sampled_from(COSTS), min_size=1, max_size=5))
@SLOW
def test_replay_is_free_and_identical(asked):
    with tempfile.TemporaryDirectory() as folder:
        ledger, _ = opened(folder, 100, "1e-6")
        for n, (cost, typed_as) in enumerate(asked):
            ledger.commit(ledger.charge(ChargeRequest(f"{n}", **typed_as), cost), b"%d" % n)
        before = ledger.standing()
        for n, (cost, typed_as) in enumerate(asked):
            assert ledger.charge(ChargeRequest(f"{n}", **typed_as), cost).stored
            assert ledger.stored(f"{n}") == b"%d" % n
        assert ledger.standing() == before
        ledger.close()
