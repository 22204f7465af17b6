"""Both ledgers pay once for two synthetic tables: replays, refusals, interrupts and kills between both charges."""

import shutil
from fractions import Fraction

import pandas
import pytest

import discreet as dp
from discreet.dataset import Dataset
from discreet.errors import BadValue, BudgetExceeded, NotAnswerable, SecondLedger
from discreet.ledger.ledger import Ledger
from discreet.synth.children import table as joined
from discreet.table import Table
from faults.common import driven
from synth.children.kill_driver import EDGES

from .clinic import BUDGET, fill, opened, patients_of, spent, task, visits_of, written

FEW = ["sex", "age", "reason"]


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path, patients_of(150))


def same(first, other):
    pandas.testing.assert_frame_equal(first.to_pandas(), other.to_pandas())
    pandas.testing.assert_frame_equal(first.children["visits"].to_pandas(), other.children["visits"].to_pandas())
    return True


def test_both_ledgers_are_charged_once_and_the_same_again_is_free(folder):
    with opened(folder) as (persons, rows):
        first = task(persons, rows, columns=FEW).build(epsilon=2)
        assert spent(persons, rows) == [2, 2]
        assert same(first, task(persons, rows, columns=FEW).build(epsilon=2))
    with opened(folder) as (persons, rows):
        repeated = task(persons, rows, columns=FEW).build(epsilon="2.0")
        assert same(first, repeated)
        assert repeated.build.is_replayed
        assert [dataset.budget.charges for dataset in (persons, rows)] == [1, 1]
        task(persons, rows, columns=FEW).build(epsilon=1)
        task(persons, rows, columns=FEW, method="independent").build(epsilon=1)
        assert spent(persons, rows) == [4, 4]
        for dataset in (persons, rows):
            dataset.table.ledger.verify()


def test_a_quote_reads_nothing_charges_nothing_and_tells_the_lesser_remainder(tmp_path, monkeypatch):
    folder = written(tmp_path, patients_of(50), epsilon=9, rows_epsilon=4)
    with opened(folder) as (persons, rows):
        monkeypatch.setattr(Table, "view", lambda *_, **__: pytest.fail("rows were looked at"))
        quote = task(persons, rows).quote(epsilon=1)
        assert (quote.remaining["epsilon"], quote.remaining_after["epsilon"]) == ("4", "3")
        assert quote.fits
        assert not task(persons, rows).quote(epsilon=5).fits
        text = str(quote)
        assert "Both ledgers are charged, that of patients and that of visits" in text
        assert "none to 6, share its weight" in text
        assert text.count("unit's key") == 1
        assert "Left out: note." in text
        assert spent(persons, rows) == [0, 0]
    assert not list(folder.glob("*.ledger"))


@pytest.mark.parametrize(("own", "other", "whose"), [(1, 100, "patients"), (100, 1, "visits")], ids=["persons", "rows"])
def test_either_budget_too_small_charges_neither_and_says_whose_it_is(tmp_path, own, other, whose):
    folder = written(tmp_path, patients_of(50), epsilon=own, rows_epsilon=other)
    with opened(folder) as (persons, rows):
        with pytest.raises(BudgetExceeded, match=f"the budget of {whose}; nothing was charged") as refused:
            task(persons, rows, columns=FEW).build(epsilon=2)
        assert refused.value.remaining == 1
        assert spent(persons, rows) == [0, 0]
        assert all(dataset.budget.charges == 0 for dataset in (persons, rows) if dataset.budget is not None)
        task(persons, rows, columns=FEW).build(epsilon=1)
        assert spent(persons, rows) == [1, 1]


CAPS = {
    "one question": "max_epsilon_per_question = 1\n",
    "an analyst": "[budget.analysts]\nana = 1\n",
}


@pytest.mark.parametrize("cap", CAPS.values(), ids=CAPS)
@pytest.mark.parametrize("which", ["budget", "rows_budget"])
def test_caps_of_either_table_hold_for_both(tmp_path, cap, which):
    plain = {"budget": BUDGET, "rows_budget": BUDGET} | {which: BUDGET + cap}
    with opened(written(tmp_path, patients_of(50), **plain)) as (persons, rows):
        asked = task(persons, rows, columns=FEW)
        assert asked.quote(epsilon=1, analyst="ana").remaining["epsilon"] == "1"
        with pytest.raises(BudgetExceeded):
            asked.build(epsilon=2, analyst="ana")
        assert spent(persons, rows) == [0, 0]
        asked.build(epsilon=1, analyst="ana")
        assert spent(persons, rows) == [1, 1]
        if "ana" in cap:
            with pytest.raises(BadValue, match="analyst must be spelt"):
                asked.build(epsilon=1, analyst="anna")


def test_the_delta_of_a_build_is_the_lesser_default_and_both_must_allow_a_typed_one(tmp_path):
    folder = written(tmp_path, patients_of(50), rows_budget='delta = "1e-7"\n')
    with opened(folder) as (persons, rows):
        asked = task(persons, rows, columns=FEW)
        assert asked.plan(epsilon=1).price.terms.delta == Fraction(1, 10**9)
    pure = written(tmp_path / "pure", patients_of(50), rows_budget="")
    with opened(pure) as (persons, rows):
        asked = task(persons, rows, columns=FEW)
        assert asked.plan(epsilon=1).price.is_pure
        with pytest.raises(BadValue, match="budget without a delta"):
            asked.build(epsilon=1, delta="1e-7")
        assert asked.build(epsilon=1).privacy_.delta == 0
        assert spent(persons, rows) == [1, 1]


# --- killed and interrupted ------------------------------------------------------------------------------------------


def test_a_killed_build_is_charged_once_to_each_ledger_and_gives_equal_rows_ever_after(tmp_path):
    """A child is killed at each edge, also between both charges; whoever builds next pays no second time."""
    outcome = driven("synth.children.kill_driver", tmp_path / "killed", folder=tmp_path)
    assert outcome == {"wrong": [], "killed": len(EDGES)}


def interrupted(monkeypatch, owner, name):
    """The build raises KeyboardInterrupt the first time that function has ended."""
    real, calls = getattr(owner, name), []

    def wrapped(*given, **named):
        result = real(*given, **named)
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(owner, name, wrapped)


@pytest.mark.parametrize(("owner", "name"), [(joined, "pay_rows"), (Ledger, "purse")], ids=["paid", "purse"])
def test_an_interrupt_between_both_charges_costs_nothing_more(folder, monkeypatch, owner, name):
    with opened(folder) as (persons, rows):
        with monkeypatch.context() as patch:
            interrupted(patch, owner, name)
            with pytest.raises(KeyboardInterrupt):
                task(persons, rows, columns=FEW).build(epsilon=2)
        assert spent(persons, rows) == [0, 2]
        task(persons, rows, columns=FEW).build(epsilon=2)
        assert spent(persons, rows) == [2, 2]


def test_a_run_begun_later_at_another_default_delta_is_paid_for_by_both(folder, monkeypatch):
    """Between both charges the default δ grows: the rows' ledger must not have paid for less noise than there is."""
    with opened(folder) as (persons, rows):
        for delta in (Fraction(1, 10**9), Fraction(1, 10**8)):
            with monkeypatch.context() as patch:
                patch.setattr(joined.JoinedTable, "delta", lambda *_, own=delta: own)
                if delta == Fraction(1, 10**9):
                    interrupted(patch, joined, "pay_rows")
                    with pytest.raises(KeyboardInterrupt):
                        task(persons, rows, columns=FEW).build(epsilon=2)
                else:
                    task(persons, rows, columns=FEW).build(epsilon=2)
        costs = [
            [entry["cost"] for entry in dataset.table.ledger.entries() if entry["kind"] == "purse"]
            for dataset in (persons, rows)
        ]
        assert len(costs[0]) == 1
        assert costs[1][-1] == costs[0][0] != costs[1][0]


def test_a_source_that_changed_between_both_charges_is_another_table(folder, monkeypatch):
    with opened(folder) as (persons, rows):
        with monkeypatch.context() as patch:
            interrupted(patch, joined, "pay_rows")
            with pytest.raises(KeyboardInterrupt):
                task(persons, rows, columns=FEW).build(epsilon=2)
        patients = patients_of(150)
        fill(folder, patients, visits_of(patients, seed=9))
        table = task(persons, rows, columns=FEW).build(epsilon=2)
        assert spent(persons, rows) == [2, 4]  # what was paid for rows that nobody was told of stays paid
        assert same(table, task(persons, rows, columns=FEW).build(epsilon=2))
        assert spent(persons, rows) == [2, 4]


def test_a_build_under_way_goes_on_with_the_rows_that_it_began_with(folder, monkeypatch):
    from discreet.synth.measuring import Measuring

    with opened(folder) as (persons, rows):
        with monkeypatch.context() as patch:
            interrupted(patch, Measuring, "singles")
            with pytest.raises(KeyboardInterrupt):
                task(persons, rows, columns=FEW).build(epsilon=200)
        patients = patients_of(20)
        fill(folder, patients, visits_of(patients, seed=9))
        assert task(persons, rows, columns=FEW).build(epsilon=200).rows > 100
        assert spent(persons, rows) == [200, 200]


# --- whose rows ------------------------------------------------------------------------------------------------------


def test_ledgers_of_both_tables_are_registered(folder):
    with opened(folder) as (persons, rows):
        task(persons, rows, columns=FEW).build(epsilon=1)
    for name in ("patients", "visits"):
        other = folder / f"other_{name}.toml"
        other.write_text((folder / f"{name}.toml").read_text().replace(f'name = "{name}"', f'name = "o{name}"'))
        with dp.open(other) as second, pytest.raises(SecondLedger):
            second.sql(f"SELECT COUNT(*) AS n FROM o{name}").ask(epsilon=1)


def test_rows_over_which_another_ledger_stands_are_not_synthesised(folder):
    other = folder / "other.toml"
    other.write_text((folder / "visits.toml").read_text())
    with dp.open(other) as first:
        first.sql("SELECT COUNT(*) AS n FROM visits").ask(epsilon=1)
    with opened(folder) as (persons, rows):
        with pytest.raises(SecondLedger):
            task(persons, rows, columns=FEW).build(epsilon=1)
        assert spent(persons, rows) == [0, 0]


def test_other_rows_of_equal_public_facts_are_another_run(folder, tmp_path, monkeypatch):
    """A run that was begun with one ledger of rows is not gone on with under another."""
    from discreet.synth.measuring import Measuring

    elsewhere = written(tmp_path / "elsewhere", patients_of(150), visits_of(patients_of(150), seed=5))
    with opened(folder) as (persons, rows), dp.open(elsewhere / "visits.toml") as others:
        with monkeypatch.context() as patch:
            interrupted(patch, Measuring, "singles")
            with pytest.raises(KeyboardInterrupt):
                task(persons, rows, columns=FEW).build(epsilon=2)
        task(persons, others, columns=FEW).build(epsilon=2)
        assert spent(persons, rows, others) == [4, 2, 2]
        task(persons, rows, columns=FEW).build(epsilon=2)
        assert spent(persons, rows, others) == [4, 2, 2]


def test_charges_of_the_rows_alone_and_of_both_add_up_in_their_ledger(folder):
    with opened(folder) as (persons, rows):
        rows.sql("SELECT COUNT(*) AS n FROM visits").ask(epsilon=1)
        task(persons, rows, columns=FEW).build(epsilon=2)
        rows.synthesize(columns=["reason"]).build(epsilon=3)
        assert spent(persons, rows) == [2, 6]


def test_one_worker_serves_patients_and_both(folder):
    with opened(folder) as (persons, rows):
        table = task(persons, rows, columns=FEW).build(epsilon=1)
        assert table.table.engine.process is persons.table.engine.process
        persons.sql("SELECT COUNT(*) AS n FROM patients").ask(epsilon=1)
    assert not persons.table.engine.process._pair


def test_another_ledger_of_persons_over_copied_keys_pays_the_rows_anew(folder, tmp_path):
    """With the keys of both, a copy begins the same purse: other noise, so the rows' ledger is charged again."""
    copy = tmp_path / "copy"
    copy.mkdir()
    with opened(folder) as (persons, rows):
        first = task(persons, rows, columns=FEW).build(epsilon=2)
        for name in ("patients.csv", "patients.toml", "patients.key", "patients+visits.key"):
            shutil.copy(folder / name, copy / name)
        with dp.open(copy / "patients.toml", second_ledger="a copy") as others:
            second = task(others, rows, columns=FEW).build(epsilon=2)
            assert not second.build.is_replayed
            assert spent(others, rows) == [2, 4]
        assert not first.to_pandas().equals(second.to_pandas())


def test_a_ledger_of_persons_that_was_set_back_and_adopted_pays_the_rows_anew(folder):
    with opened(folder) as (persons, rows):
        persons.agg(n=dp.count()).ask(epsilon=1)
    shutil.copy(folder / "patients.ledger", folder / "older")
    with opened(folder) as (persons, rows):
        task(persons, rows, columns=FEW).build(epsilon=2)
        assert spent(persons, rows) == [3, 2]
    for ending in ("-wal", "-shm"):
        (folder / f"patients.ledger{ending}").unlink(missing_ok=True)
    shutil.copy(folder / "older", folder / "patients.ledger")
    Ledger.adopt(folder / "patients.ledger", why="restored").close()
    with opened(folder) as (persons, rows):
        task(persons, rows, columns=FEW).build(epsilon=2)
        assert spent(persons, rows)[1] == 4


def test_columns_in_another_order_are_the_same_build(folder):
    with opened(folder) as (persons, rows):
        first = task(persons, rows, columns=FEW).build(epsilon=2)
        assert task(persons, rows, columns=FEW[::-1]).build(epsilon=2).build.is_replayed
        assert first.build.plan.subject.column_names == ["age", "sex", "has visits", "reason"]


def test_two_tables_are_only_synthesised(folder):
    """Another room would charge one ledger alone, or count with a bound that holds for one alone."""
    with opened(folder) as (persons, rows):
        both = task(persons, rows, columns=FEW)
        with pytest.raises(BadValue, match="must be a dataset"):
            dp.synth.small_database(both, ["sex = 'f'"], alpha="0.3", epsilon=1, public_rows=150)
        for ask in (
            lambda table: dp.synth.small_database(table, ["sex = 'f'"], alpha="0.3", epsilon=1, public_rows=150),
            lambda table: table.sql("SELECT sex, COUNT(*) AS n FROM patients_with_visits GROUP BY sex").ask(epsilon=1),
            lambda table: table.learn(dp.learn.NaiveBayes(), target="sex", features=["reason"]).fit(epsilon=1),
        ):
            with pytest.raises(NotAnswerable, match="only synthesised"):
                ask(Dataset(both.table))
        assert spent(persons, rows) == [0, 0]


def test_an_analyst_gets_anothers_build_only_where_both_tables_share_answers(tmp_path):
    shared = f"{BUDGET}share_answers = true\n"
    folder = written(tmp_path, patients_of(50), budget=shared, rows_budget=BUDGET)
    with opened(folder) as (persons, rows):
        task(persons, rows, columns=FEW).build(epsilon=2, analyst="ann")
        assert not task(persons, rows, columns=FEW).build(epsilon=2, analyst="bob").build.is_replayed
        assert spent(persons, rows) == [4, 4]


def test_a_question_between_an_interrupt_and_the_build_costs_the_rows_nothing(folder, monkeypatch):
    with opened(folder) as (persons, rows):
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "purse", interrupted_at(persons, Ledger.purse))
            with pytest.raises(KeyboardInterrupt):
                task(persons, rows, columns=FEW).build(epsilon=2)
        assert spent(persons, rows) == [0, 2]
        persons.agg(n=dp.count()).ask(epsilon=1)
        task(persons, rows, columns=FEW).build(epsilon=2)
        assert spent(persons, rows) == [3, 2]


def interrupted_at(persons, real):
    """`Ledger.purse` that is interrupted in the ledger of persons."""

    def purse(ledger, *given):
        if ledger is persons.table.ledger:
            raise KeyboardInterrupt
        return real(ledger, *given)

    return purse


def test_combinations_in_another_order_or_twice_are_the_same_build(folder):
    first, second = {"sex": "f", "age": (60, 89)}, {"sex": "m", "age": (0, 29)}
    with opened(folder) as (persons, rows):
        built = persons.synthesize(["sex", "age"], zeros=[first, second]).build(epsilon=1)
        for zeros in ([second, first], [first, second, first]):
            repeated = persons.synthesize(["sex", "age"], zeros=zeros).build(epsilon=1)
            assert repeated.build.is_replayed
            assert repeated.to_pandas().equals(built.to_pandas())
        assert spent(persons, rows) == [1, 0]
