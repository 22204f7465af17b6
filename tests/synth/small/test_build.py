"""Small databases through the gate: one charge, equal bytes, and refusals that cost nothing."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet import envelope
from discreet.bounded import cells
from discreet.errors import BadValue, BudgetExceeded, DiscreetError, IntegrityError, NotAnswerable
from discreet.privacy.cost import Exponential
from discreet.rehearsal.stamp import SENTENCE
from discreet.relation import Relation
from discreet.synth.small import build as module
from discreet.synth.small.build import build, small_database
from discreet.synth.small.plan import SmallPlan, small_plan
from discreet.synth.small.result import SmallDatabase
from discreet.synth.small.selection import Selection
from faults.common import driven
from synth.small.kill_driver import EDGES
from synth.small.town import QUERIES, ROWS, written

ASKED = {"epsilon": 1, "public_rows": ROWS, "size": 9}


@pytest.fixture
def people(tmp_path):
    with dp.open(written(tmp_path)) as dataset:
        yield dataset


def test_a_small_database_is_rows_of_public_values_and_answers_every_query(people):
    result = small_database(people, QUERIES, alpha="0.3", epsilon=1, public_rows=ROWS)
    assert len(result.database) == result.plan.size == 12
    for row in result.database:
        assert list(row) == ["ill", "region", "age"]
        assert row["ill"] in (True, False)
        assert row["region"] in ("north", "south", "east", None)
        assert row["age"] in ("[0, 18)", "[18, 40)", "[40, 110]")
    ill = [row["ill"] for row in result.database]
    old = [row["age"] == "[40, 110]" for row in result.database]
    assert result.answers[0] == sum(ill) / 12
    assert result.answers[1] == sum(map(bool.__and__, ill, old)) / 12
    assert all(0 <= answer <= 1 for answer in result.answers)
    assert result.bound <= result.lecture_bound
    assert people.budget.spent.epsilon == 1


def test_what_was_released_is_replayed_for_nothing(people):
    first = small_database(people, QUERIES, **ASKED)
    repeated = small_database(people, QUERIES, **ASKED)
    assert (first.is_replayed, repeated.is_replayed) == (False, True)
    assert np.array_equal(first.counts, repeated.counts)
    assert first.receipt == repeated.receipt
    assert people.budget.spent.epsilon == 1
    assert people.budget.charges == 1


def test_the_order_of_queries_the_level_and_alpha_change_only_what_is_shown(people):
    first = small_database(people, QUERIES, alpha="0.3", epsilon=1, public_rows=ROWS)
    turned = small_database(people, [*QUERIES[::-1], "ILL"][:4], epsilon=1, public_rows=ROWS, size=12, level="0.5")
    assert turned.is_replayed
    assert turned.answers == first.answers[::-1]
    assert turned.bound < first.bound
    assert people.budget.charges == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"epsilon": 2},
        {"public_rows": ROWS + 1},
        {"size": 8},
        {"queries": QUERIES[:3]},
        {"bins": {"age": [0, 18, 40, 80, 110]}},
        {"analyst": "ana"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_another_small_database_is_another_charge(people, changed):
    small_database(people, QUERIES, **ASKED)
    request = {"queries": QUERIES} | ASKED | changed
    assert not small_database(people, **request).is_replayed
    assert people.budget.charges == 2


def test_what_is_stored_are_counts_with_their_law(people, monkeypatch):
    stored = []
    real = module._read
    monkeypatch.setattr(module, "_read", lambda given, plan: stored.append(given) or real(given, plan))
    result = small_database(people, QUERIES, **ASKED)
    read = envelope.from_bytes(stored[0], "small database")
    (part,) = read.parts
    assert part.values.tolist() == result.counts.tolist()
    assert sum(part.values) == 9
    assert part.tally == {"is": "small database", "by": ["ill", "region", "age"]}
    assert Fraction(part.law["rate"]) == Fraction(1, 2 * 9)
    assert read.facts["size"] == 9
    with pytest.raises(IntegrityError, match="another small database"):
        real(stored[0], small_plan(people, ["ill"], **ASKED))


def test_a_killed_choice_is_charged_once_and_gives_equal_bytes_ever_after(tmp_path):
    """A child is killed at each edge; whoever asks next pays no second time."""
    outcome = driven("synth.small.kill_driver", tmp_path / "killed", folder=tmp_path)
    assert outcome == {"wrong": [], "killed": len(EDGES)}


# --- prices and bounds -----------------------------------------------------------------------------------------------


def test_a_plan_reads_no_row_and_charges_nothing(tmp_path, monkeypatch):
    with dp.open(written(tmp_path)) as people:
        monkeypatch.setattr(type(people.table), "view", lambda *given: pytest.fail("rows were looked at"))
        plan = small_plan(people, QUERIES, **ASKED)
        assert people.budget is None
        told = json.loads(json.dumps(plan.to_json()))
    assert told["databases"] == str(plan.databases)
    assert told["enumerated"] == plan.enumerated <= plan.databases
    assert told["cost"] == {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "who"}
    assert (told["remaining"]["epsilon"], told["remaining_after"]["epsilon"]) == ("100", "99")
    assert "Small database of 9 rows for 4 queries: ε = 1; of ε = 100 there would remain 99." in str(plan)
    assert len(plan.cells) == 24


def test_bounds_that_say_nothing_are_said_to_say_nothing(people):
    assert "it says nothing" in str(small_plan(people, QUERIES, epsilon="0.01", public_rows=ROWS, size=9))
    assert "it says nothing" not in str(small_plan(people, QUERIES, epsilon=3, public_rows=ROWS, size=9))


def test_a_bound_is_never_told_without_its_condition(people):
    plan = small_plan(people, QUERIES, epsilon=3, public_rows=ROWS, size=9)
    result = small_database(people, QUERIES, epsilon=3, public_rows=ROWS, size=9)
    assert f"exactly {ROWS} rows, none with an empty cell" in plan.condition
    for told in (plan, result):
        assert f"No answer is more than {plan.bound:.3g} off" in str(told)
        assert plan.condition in str(told)
        assert told.to_json()["condition"] == plan.condition


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("max_rows", [1, 3])
def test_the_charge_is_epsilon_and_the_rate_follows_the_rows_of_a_unit(tmp_path, neighbours, max_rows):
    with dp.open(written(tmp_path, neighbours=neighbours, max_rows=max_rows)) as people:
        plan = small_plan(people, QUERIES, **ASKED)
        mechanism = plan.selection.mechanism
        assert mechanism.cost == Exponential(1)
        assert mechanism.sensitivity == cells(4, max_rows, Relation(neighbours))
        assert mechanism.rate == Fraction(1, 2 * 9 * max_rows)
        assert plan.lecture_bound > small_plan(people, QUERIES, **(ASKED | {"epsilon": 2})).lecture_bound
        assert not build(plan).is_replayed
        assert people.budget.spent.epsilon == 1


def test_a_mechanism_for_fewer_rows_of_a_unit_is_refused_by_the_gate(tmp_path, monkeypatch):
    with dp.open(written(tmp_path, max_rows=3)) as people:
        narrow = property(lambda self: cells(self.candidates.truths.shape[0], 1, self.relation))
        monkeypatch.setattr(Selection, "sensitivity", narrow)
        with pytest.raises(BadValue, match="must cover the sensitivity"):
            small_database(people, QUERIES, **ASKED)
        assert people.budget is None or people.budget.charges == 0


# --- what is refused -------------------------------------------------------------------------------------------------


REFUSED = {
    "columns without values": ({"queries": ["note = 'x'"]}, "no public values"),
    "too many databases": ({"size": 60}, "too many databases"),
    "epsilon": ({"epsilon": 0}, "epsilon must be"),
    "no rows": ({"public_rows": 0}, "public_rows must be"),
    "no whole rows": ({"public_rows": 2.5}, "public_rows must be"),
    "level": ({"level": 1}, "level must be"),
    "size": ({"size": "largest"}, "size must be"),
    "alpha with a number": ({"alpha": "0.3"}, "alpha must be left out"),
}


@pytest.mark.parametrize(("changed", "match"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_chosen_is_refused_before_anything_is_charged(people, changed, match):
    with pytest.raises(DiscreetError, match=match):
        small_database(people, **({"queries": QUERIES} | ASKED | changed))
    assert people.budget is None
    assert not people.table.ledger_path.exists()


def test_a_small_database_that_does_not_fit_the_budget_is_not_chosen(tmp_path):
    with dp.open(written(tmp_path, epsilon=1)) as people:
        with pytest.raises(BudgetExceeded):
            small_database(people, QUERIES, **(ASKED | {"epsilon": 2}))
        assert people.budget is None or people.budget.spent.epsilon == 0


def test_only_whole_datasets_have_small_databases(people):
    with pytest.raises(BadValue, match="people must be a dataset"):
        small_plan([1, 2, 3], QUERIES, **ASKED)
    with pytest.raises(BadValue, match="people must be a dataset"):
        small_plan(people.synthesize(), QUERIES, **ASKED)
    with pytest.raises(NotAnswerable, match="of a whole dataset"):
        small_plan(people.split(test="0.2")[0], QUERIES, **ASKED)
    assert isinstance(small_plan(people.table, QUERIES, **ASKED), SmallPlan)


def test_a_synthetic_table_does_not_charge_the_private_one(people):
    table = people.synthesize().build(epsilon=1)
    spent = people.budget.spent.epsilon
    assert table.table is people.table
    with pytest.raises(BadValue, match="people must be a dataset"):
        small_database(table, QUERIES, **ASKED)
    assert people.budget.spent.epsilon == spent


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_the_law_of_a_release_is_that_of_its_own_shares_or_of_invented_counts(people, monkeypatch):
    """Without the table: its engine and ledger are gone."""
    result = small_database(people, QUERIES, **ASKED)
    people.close()
    monkeypatch.setattr(type(people.table), "engine", property(lambda self: pytest.fail("rows were looked at")))
    own = result.law()
    assert own.nearest == 0
    scaled = replace(result.plan.selection.candidates, rows=9)
    assert own.probability(result.counts.tolist()) == pytest.approx(
        type(own)(scaled, 9 * scaled.held(scaled.atom_counts(result.counts)), own.rate * ROWS / 9).probability(
            result.counts.tolist()
        )
    )
    invented = [ROWS] + [0] * 23
    assert result.law(invented).probability(result.counts.tolist()) == result.plan.law(invented).probability(
        result.counts.tolist()
    )


def test_results_say_what_was_paid_and_how_far_they_may_be_off(people):
    result = small_database(people, QUERIES, **ASKED)
    repeated = small_database(people, QUERIES, **ASKED)
    assert f"It cost ε = 1; receipt {result.receipt}." in str(result)
    assert "It was replayed and cost 0 (when first asked, ε = 1)" in str(repeated)
    told = json.loads(json.dumps(repeated.to_json()))
    assert told["answers"] == list(result.answers)
    assert told["replayed"] is True
    assert len(told["database"]) == 9


def test_dates_are_texts_in_json(people):
    result = small_database(people, ["born > '2000-01-04'"], **ASKED)
    assert all(row["born"].startswith("2000-01-0") for row in json.loads(json.dumps(result.to_json()))["database"])


def test_a_rehearsal_says_that_its_rows_are_invented(tmp_path):
    with dp.open(written(tmp_path), rehearsal=True) as people:
        plan, result = small_plan(people, QUERIES, **ASKED), small_database(people, QUERIES, **ASKED)
        assert str(plan).startswith("REHEARSAL: small database of 9 rows")
        assert str(result).startswith(SENTENCE)
        assert result.receipt.startswith("rehearsal-")
        for told in (plan.to_json(), result.to_json()):
            assert next(iter(told.items())) == ("rehearsal", True)
            assert told["title"].startswith("REHEARSAL: ")
        assert plan.to_json()["words"][0] == SENTENCE
        assert [row["rehearsal"] for row in result.to_json()["database"]] == ["invented"] * 9
        assert all(list(row) == ["ill", "region", "age"] for row in result.database)
        assert small_database(people, QUERIES, **ASKED).is_replayed
    assert not (tmp_path / "people.ledger").exists()


def test_small_databases_of_real_rows_have_no_stamp(people):
    result = small_database(people, QUERIES, **ASKED)
    assert (type(result), type(result.plan)) == (SmallDatabase, SmallPlan)
    for told in (str(result.plan), str(result), json.dumps(result.plan.to_json()), json.dumps(result.to_json())):
        assert "rehears" not in told.casefold()


def test_the_face_of_the_package_is_the_mechanism():
    assert dp.synth.small_database is small_database


def test_progress_names_the_step(people):
    told = []
    small_database(people, QUERIES, **ASKED, progress=lambda step, share: told.append(step))
    assert "choosing a small database" in told
