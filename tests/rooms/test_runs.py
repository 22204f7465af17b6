"""A run killed at every edge, once and twice, with the source left and changed: resumed, equal bytes, one charge."""

import threading
from contextlib import closing
from fractions import Fraction

import pytest

import discreet as dp
from discreet.bounded import RowLimit
from discreet.errors import BadValue, BudgetExceeded, Conflict, EngineFailed, SourceUnavailable
from discreet.gate import disclose
from discreet.ledger.payer import ChargeRequest, Payer
from discreet.ledger.unbooked import NOWHERE, Unbooked
from discreet.mechanism import additive
from discreet.privacy.cost import Approx, Gaussian, Pure, Together, Zcdp
from discreet.query.parts import Rows
from faults.common import driven
from ledger.book import create_ledger
from rooms import toy
from rooms.run_driver import TOML, edges, filled

DRIVER = "rooms.run_driver"


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.toml").write_text(TOML)
    filled(tmp_path, lambda n: "s" if n % 3 == 0 else "n")
    with dp.open(tmp_path / "people.toml") as dataset:
        yield dataset


# --- kills -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["once", "twice", "changed"])
def test_a_run_killed_at_an_edge_resumes_with_equal_bytes_and_one_charge(tmp_path, how):
    every = 1 if how == "once" else 2
    outcome = driven(DRIVER, tmp_path / "runs", how, every, 0, folder=tmp_path)
    assert outcome["wrong"] == []
    assert outcome["killed"] >= len(edges()) // every


@pytest.mark.long
@pytest.mark.parametrize("how", ["twice", "changed"])
def test_a_run_killed_at_the_other_edges_resumes_with_equal_bytes_and_one_charge(tmp_path, how):
    outcome = driven(DRIVER, tmp_path / "runs", how, 2, 1, folder=tmp_path)
    assert outcome["wrong"] == []


# --- found again, ended ----------------------------------------------------------------------------------------------


def test_a_finished_run_is_replayed_for_nothing(people):
    first, receipt = toy.toy(people.table)
    repeated, same = toy.toy(people.table)
    assert (repeated, same) == (first, receipt)
    assert people.budget.spent.epsilon == toy.EPSILON
    assert people.budget.charges == 1


def test_another_analyst_has_a_run_of_their_own(people):
    _, first = toy.toy(people.table, analyst="ana")
    _, second = toy.toy(people.table, analyst="ben")
    assert first != second
    assert people.budget.spent.epsilon == 2 * toy.EPSILON


def test_rows_that_changed_after_a_run_was_done_are_a_new_run(people):
    _, first = toy.toy(people.table)
    filled(people.table.toml.parent, lambda n: "s")
    result, second = toy.toy(people.table)
    assert first != second
    assert b'"best": "s"' in result


def test_an_abandoned_run_stays_spent_and_an_equal_request_begins_anew(people):
    run = people.table.run(toy.request(), toy.COST)
    toy.noisy_counts(run, "regions", toy.tally_of(people.table, "region"))
    run.abandon("changed my mind")
    with pytest.raises(Conflict, match="has ended"):
        toy.noisy_counts(run, "ages", toy.tally_of(people.table, "age"), 1)
    _, receipt = toy.toy(people.table)
    assert receipt != run.receipt
    assert people.budget.spent.epsilon == 2 * toy.EPSILON
    assert [entry["how"] for entry in people.table.ledger.entries() if entry["kind"] == "end"] == ["abandoned", "done"]
    people.table.ledger.verify()


def test_a_run_goes_on_with_its_rows_or_not_at_all(people):
    run = people.table.run(toy.request(), toy.COST)
    toy.noisy_counts(run, "regions", toy.tally_of(people.table, "region"))
    run.close()
    folder = people.table.toml.parent
    people.close()
    for path in folder.glob("*.prepared"):
        path.unlink()
    filled(folder, lambda n: "s")
    with dp.open(folder / "people.toml") as later:
        resumed = later.table.run(toy.request(), toy.COST)
        with pytest.raises(SourceUnavailable, match="began with are gone"):
            _ = resumed.view
        filled(folder, lambda n: "s" if n % 3 == 0 else "n")
        assert toy.toy(later.table)[1] == run.receipt


def test_a_step_takes_no_more_than_the_purse_holds(people):
    run = people.table.run(toy.request(), toy.COST)
    tally = toy.tally_of(people.table, "region")
    toy.noisy_counts(run, "one", tally)
    with pytest.raises(BudgetExceeded):
        toy.noisy_counts(run, "two", tally)
    limit = RowLimit(people.table.schema.max_rows)
    for block in range(2):
        toy.stepped(run, f"block {block}", toy.Block(0, limit), run.view.rows(["age"]))
    with pytest.raises(BudgetExceeded):
        toy.stepped(run, "one block more", toy.Block(0, limit), run.view.rows(["age"]))
    assert people.budget.spent.epsilon == toy.EPSILON


def test_a_block_of_training_made_for_fewer_rows_a_person_is_refused(people):
    run = people.table.run(toy.request(), toy.COST)
    with pytest.raises(BadValue, match="must cover"):
        toy.stepped(run, "block", toy.Block(0, RowLimit(1)), run.view.rows(["age"]))


def test_a_step_in_flight_with_another_cost_is_a_new_part_if_it_fits(people):
    table = people.table
    run = table.run(toy.request(), Pure(toy.EPSILON))
    tally = toy.tally_of(table, "region")
    (part,) = tally.parts
    broken = table.engine.run

    def failing(*_):
        raise ValueError

    table.engine.run = failing
    with pytest.raises(EngineFailed):
        toy.noisy_counts(run, "one", tally)
    table.engine.run = broken
    wider = additive.laplace(tally.sensitivity.parts[part], 700)
    counts = run.view.tally(tally).then(lambda exacts: exacts.parts[part], wider.sensitivity, proof="query.md")
    assert run.step("one", wider, counts, pack=lambda noisy: str(noisy.tolist()).encode()) == b"[200, 100]"
    parts = [entry for entry in table.ledger.entries() if entry["kind"] == "part"]
    assert [entry["epsilon"] for entry in parts] == [None, None]
    assert people.budget.charges == 1


def test_the_name_of_the_result_is_no_step(people):
    run = people.table.run(toy.request(), toy.COST)
    with pytest.raises(BadValue, match="is that of the result"):
        toy.noisy_counts(run, "done", toy.tally_of(people.table, "region"))


def test_threads_that_take_one_run_compute_each_step_once(people):
    results = []
    threads = [threading.Thread(target=lambda: results.append(toy.toy(people.table))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(set(results)) == 1
    assert people.budget.spent.epsilon == toy.EPSILON


# --- payers ----------------------------------------------------------------------------------------------------------


def test_ledger_purse_and_unbooked_all_pay_for_an_answer(people):
    ledger = people.table.ledger
    purse = ledger.purse(ChargeRequest("p", epsilon=1), Pure(1))
    payers: list[Payer] = [ledger, purse, Unbooked()]
    noise = additive.laplace(toy.tally_of(people.table, "region").sensitivity.parts[Rows()], Fraction(1, 2))
    for number, payer in enumerate(payers):
        with closing(people.table.view()) as view:
            counts = view.tally(toy.tally_of(people.table, "region")).then(
                lambda exacts: exacts.parts[Rows()], noise.sensitivity, proof="query.md"
            )
            told = disclose(payer, ChargeRequest(f"k{number}"), noise, counts, pack=lambda noisy: bytes(len(noisy)))
        assert payer.stored(f"k{number}") == told.stored == bytes(2)
        assert not told.replayed
    assert told.receipt.name == NOWHERE


def test_a_purse_of_zcdp_and_delta_pays_for_key_selection_and_gaussian_noise(tmp_path):
    ledger = create_ledger(tmp_path, 5, "1e-6")
    reserved = Together((Zcdp("0.1"), Approx(0, "1e-9")))
    purse = ledger.purse(ChargeRequest("run", epsilon=4, delta="1e-7"), reserved)
    purse.commit(purse.charge(ChargeRequest("keys"), Approx("0.2", "1e-10")), b"keys")
    purse.commit(purse.charge(ChargeRequest("noise"), Gaussian(4)), b"noise")
    with pytest.raises(BudgetExceeded):
        purse.charge(ChargeRequest("more"), Gaussian(2))
    ledger.verify()
