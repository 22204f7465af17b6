"""A check through the gate: one charge, equal bytes, held-out persons, and refusals that cost nothing."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

import discreet as dp
from discreet.errors import BadValue, BudgetExceeded, DiscreetError, IntegrityError, NotAnswerable
from discreet.rehearsal.stamp import SENTENCE, STAMP
from discreet.synth.check import measuring
from discreet.synth.check import words as check_words
from discreet.synth.check.check import check, quote_check
from discreet.synth.drawn import Codes
from discreet.synth.saved.file import LoadedBuild
from discreet.table import Table
from faults.common import driven
from synth.check.kill_driver import EDGES
from synth.folk import HEAD, fill, rows_of, written

SOME = ["count stored", "comparison drawn", "before the result"]


@pytest.fixture
def people(tmp_path):
    with dp.open(written(tmp_path)) as dataset:
        yield dataset


@pytest.fixture
def table(people):
    return people.synthesize().build(epsilon=2)


def test_the_same_check_again_is_replayed_for_nothing(people, table):
    spent = people.budget.spent.epsilon
    first, repeated = table.check(epsilon="0.5", target="ill"), table.check(epsilon="0.5", target="ill")
    assert (first.is_replayed, repeated.is_replayed) == (False, True)
    assert first.rows() == repeated.rows()
    assert first.receipt == repeated.receipt
    assert people.budget.spent.epsilon - spent == Fraction(1, 2)
    assert "replayed and cost 0" in repeated.words()[-1]
    assert [entry["kind"] for entry in people.table.ledger.entries()].count("run") <= 2


@pytest.mark.parametrize("changed", [{"epsilon": 1}, {"delta": 0}, {"target": "ill"}, {"analyst": "ana"}], ids=str)
def test_another_price_target_or_analyst_is_another_check(people, table, changed):
    first = table.check(epsilon="0.5")
    charges = people.budget.charges
    assert table.check(**{"epsilon": "0.5", **changed}).receipt != first.receipt
    assert people.budget.charges == charges + 1


def test_another_synthetic_table_has_a_check_of_its_own(people, table):
    other = people.synthesize().build(epsilon=3)
    assert other.check(epsilon="0.5").receipt != table.check(epsilon="0.5").receipt


def test_an_equal_check_after_the_default_delta_changed_is_the_one_that_was_charged(people, table, monkeypatch):
    first = table.check(epsilon="0.5")
    plain = Table.delta
    other = Fraction(1, 10**10)
    monkeypatch.setattr(Table, "delta", lambda own, typed=None: other if typed is None else plain(own, typed))
    repeated = table.check(epsilon="0.5")
    assert repeated.is_replayed
    assert repeated.rows() == first.rows()
    assert repeated.privacy_.delta == first.privacy_.delta != other


def test_a_quote_is_free_and_tells_the_moe_that_the_check_then_has(people, table):
    spent = people.budget.spent.epsilon
    quote = table.quote_check(epsilon=200, target="ill")
    assert people.budget.spent.epsilon == spent
    assert quote.fits
    assert quote.cost["epsilon"] == "200"
    assert sum(map(Fraction, quote.shares.values())) == 1
    told = table.check(epsilon=200, target="ill")
    counted = told.find("units").value / table.rows  # the quote knows only the noisy number of the build
    for name in ("cells", "columns", "pairs", "triples", "each column", "each pair"):
        assert told.all_of(name)[0].moe * counted == pytest.approx(quote.moe[name], rel=0.02)
    assert told.find("units").moe == quote.moe["count"]
    assert told.find("accuracy").moe <= quote.moe["classes"] * 1.2
    assert "there would remain" in str(quote)
    assert quote.to_json()["moe"] == quote.moe


def test_what_noise_would_drown_is_not_asked_and_the_words_say_from_which_epsilon_on(table):
    quote, told = table.quote_check(epsilon="0.1"), table.check(epsilon="0.1")
    assert quote.moe["each pair"] is None
    assert not told.all_of("each pair")
    assert any(sentence.startswith("Not asked: the error of each of 10 pairs") for sentence in told.words())
    needed = next(sentence for sentence in told.not_asked if "each of 10 pairs" in sentence)
    epsilon = needed.removesuffix(".").split("ε = ")[1]
    assert table.quote_check(epsilon=2 * Fraction(epsilon)).moe["each pair"] is not None


def test_held_out_persons_are_said_to_be_held_out_and_charged_alone(people):
    training, held_out = people.split(test="0.4")
    table = training.synthesize().build(epsilon=2)
    spent = people.budget.spent.epsilon
    told = table.check(epsilon=1, on=held_out)
    assert told.is_held_out
    assert any("they were held out" in sentence for sentence in told.words())
    assert people.budget.spent.epsilon == max(spent, 1)  # parts are charged side by side
    assert told.find("units").value == pytest.approx(120, abs=60)
    own = table.check(epsilon=1)
    assert not own.is_held_out
    assert own.find("units").value == pytest.approx(180, abs=60)


def test_a_part_that_built_the_table_is_refused(people, table):
    training, held_out = people.split(test="0.4")
    charges = people.budget.charges
    part = training.synthesize().build(epsilon=2)
    for own, on in ((table, held_out), (part, training)):
        with pytest.raises(BadValue, match="are not held out"):
            own.check(epsilon=1, on=on)
    assert people.budget.charges == charges + 1


def test_parts_of_another_table_and_what_is_no_part_are_refused(people, table, tmp_path):
    with dp.open(written(tmp_path / "other")) as other:
        part = other.split(test="0.5")[1]
    with pytest.raises(BadValue, match="must be a part of the table that was synthesised"):
        table.check(epsilon=1, on=part)
    for on in (people, "test", 0.2):
        with pytest.raises(BadValue, match="on must be a part of the table"):
            table.check(epsilon=1, on=on)


@pytest.mark.parametrize("epsilon", [0, -1, "many", None, float("nan")], ids=str)
def test_a_price_that_is_none_is_refused_before_anything_is_charged(people, table, epsilon):
    charges = people.budget.charges
    for ask in (table.check, table.quote_check):
        with pytest.raises(BadValue):
            ask(epsilon=epsilon)
    assert people.budget.charges == charges


@pytest.mark.parametrize("target", ["pay", "who", "nobody", 3], ids=str)
def test_a_target_without_classes_is_refused(people, table, target):
    charges = people.budget.charges
    with pytest.raises(BadValue, match="target"):
        table.check(epsilon=1, target=target)
    assert people.budget.charges == charges


def test_a_target_needs_another_column(people):
    table = people.synthesize(["ill"]).build(epsilon=1)
    with pytest.raises(BadValue, match="another column"):
        table.check(epsilon=1, target="ill")
    told = table.check(epsilon=100)
    assert [row["statistic"] for row in told.rows()] == ["units", "cells", "columns"]


def test_a_check_beyond_the_budget_is_refused(tmp_path):
    with dp.open(written(tmp_path, epsilon=3)) as people:
        table = people.synthesize().build(epsilon=2, delta=0)
        assert not table.quote_check(epsilon=2, delta=0).fits
        with pytest.raises(BudgetExceeded):
            table.check(epsilon=2, delta=0)
        assert table.check(epsilon=1, delta=0).cost["epsilon"] == "1"


def test_without_the_private_table_or_with_another_nothing_is_compared(people, table, tmp_path):
    with pytest.raises(BadValue, match="not at hand"):
        check(replace(table, table=None), epsilon=1)
    with dp.open(written(tmp_path / "other", max_rows=2)) as other:
        moved = replace(table, table=other.table)
    with pytest.raises(BadValue, match="its public facts are others"):
        quote_check(moved, epsilon=1)


def test_a_table_that_was_built_elsewhere_is_not_said_to_be_of_these_rows(table, tmp_path):
    with dp.open(written(tmp_path / "other", rows_of(100))) as other:
        told = check(replace(table, table=other.table), epsilon=1)
    assert any("is not known here" in sentence for sentence in told.words())


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_nothing_is_claimed_of_a_table_that_states_another_part_than_the_ledger(tmp_path, neighbours):
    """A file may state any part, and the receipt of any table: under replace-one charges name no part at all."""
    with dp.open(written(tmp_path, neighbours=neighbours)) as people:
        table, (training, held_out) = people.synthesize().build(epsilon=2), people.split(test="0.4")
        own = training.synthesize().build(epsilon=2)
        subject = replace(table.build.plan.subject, where=training.where)
        forged = stated(table, subject=subject)
        told = forged.check(epsilon=1, on=held_out)
        assert not told.is_held_out
        assert not told.to_json()["held_out"]
        for words in (told.words(), forged.check(epsilon=1).words(), forged.quote_check(epsilon=1, on=held_out).words):
            assert any("is not known here" in sentence for sentence in words)
            assert not any("held out" in sentence or "these very" in sentence for sentence in words)
        with_receipt = replace(forged, build=replace(forged.build, receipt=own.build.receipt))
        assert not with_receipt.check(epsilon=1, on=held_out).is_held_out
        assert own.check(epsilon=1, on=held_out).is_held_out


def test_a_receipt_of_something_else_is_no_charge_of_the_table(people, table):
    answer, told = people.sql("SELECT COUNT(*) FROM people").ask(epsilon=1), table.check(epsilon=1)
    for receipt in (answer.provenance()["receipt"], told.receipt, "1-000000000000", "x"):
        other = replace(table, build=replace(table.build, receipt=receipt))
        assert any("is not known here" in sentence for sentence in other.check(epsilon=1).words())


def stated(table, parts=None, **changed):
    """The table with another plan or other parts, and the same rows."""
    build = table.build
    rows = {name: getattr(build, name) for name in ("plan", "parts", "receipt", "is_replayed")}
    rows |= {"plan": replace(build.plan, **changed)} | ({} if parts is None else {"parts": tuple(parts)})
    return replace(table, build=LoadedBuild(**rows, rows_read=build.codes))


@pytest.mark.parametrize("verb", [quote_check, check])
def test_a_table_without_rows_is_refused_before_the_charge(people, table, verb):
    """Its shares are none, so a check could be charged and never be finished."""
    build, spent = table.build, people.budget.spent.epsilon
    none = Codes(tuple(codes[:0] for codes in build.codes.columns), None)
    empty = replace(table, build=LoadedBuild(build.plan, build.parts, build.receipt, True, none))
    with pytest.raises(NotAnswerable, match="has no rows"):
        verb(empty, epsilon=1)
    assert people.budget.spent.epsilon == spent


def test_a_check_that_noise_drowns_is_json(people, table):
    """Where the number of units is less than its own ±, nothing bounds a correlation."""
    told = table.check(epsilon="0.0002")
    endless = replace(told.find("correlation"), moe=math.inf)  # as it is 98 times in 100
    assert endless.to_json()["moe"] is None
    told = replace(told, statistics=(*told.statistics, endless))
    assert json.loads(json.dumps(told.to_json(), allow_nan=False))["statistics"] == told.rows()
    assert "hidden by the noise" in str(told)


def test_a_check_is_of_the_groups_that_it_compares_by(table):
    """Equal rows and equal numbers under other groups, another law or other options are another table."""
    parts = table.build.parts
    first = parts[0]
    groups = [list(group) for group in first.tally["groups"]]
    groups[0] = [0] * len(groups[0])
    tally = replace(first, tally={**first.tally, "groups": groups})
    law = replace(first, law={**first.law, "more": 1})
    tables = [table, *(stated(table, [part, *parts[1:]]) for part in (tally, law)), stated(table, max_cells=7)]
    digests = [measuring.digest(own.build) for own in tables]
    assert len(set(digests)) == len(digests)
    assert digests[0] == measuring.digest(stated(table).build)


@pytest.mark.parametrize("what", ["key", "rows"])
def test_after_the_key_or_the_rows_changed_nobody_is_said_to_be_held_out(tmp_path, what):
    """Another key divides the persons anew; one name tells of key and rows, and neither can be told from the other."""
    toml = written(tmp_path)
    with dp.open(toml) as people:
        training, held_out = people.split(test="0.4")
        table = training.synthesize().build(epsilon=2)
        assert table.check(epsilon=1, on=held_out).is_held_out
        quote = table.quote_check(epsilon=1, on=held_out)
        assert any("held out. This is so if the rows and the key" in sentence for sentence in quote.words)
    if what == "key":
        toml.with_suffix(".key").unlink()
    else:
        fill(tmp_path, rows_of(280))
    with dp.open(toml) as people:
        other = replace(table, table=people.table)
        told = other.check(epsilon=1, on=people.split(test="0.4")[1])
        assert not told.is_held_out
        assert any("under another key some of these" in sentence for sentence in told.words())
        own = other.check(epsilon=1)
        assert any("maybe from these" in sentence for sentence in own.words())
        assert not any("held out" in sentence for sentence in (*told.words(), *own.words()))


def test_an_empty_table_is_checked_and_noise_hides_the_rest(tmp_path):
    with dp.open(written(tmp_path, [])) as people:
        told = people.synthesize().build(epsilon=1).check(epsilon=1, target="ill")
    assert told.find("units").low == 0
    assert told.find("pairs").moe > 1
    assert any("is hidden by the noise" in sentence for sentence in told.words())
    assert told.pictures()
    assert told.to_json()


def test_a_column_that_is_gone_meanwhile_is_refused_before_the_charge(people, table, tmp_path):
    charges = people.budget.charges
    source = tmp_path / "people.csv"
    text = source.read_text().replace(HEAD[3], "years", 1)
    source.write_text(text)
    with pytest.raises(DiscreetError, match="age"):
        table.check(epsilon=1)
    assert people.budget.charges == charges


def test_rows_that_changed_meanwhile_are_checked_anew(people, table, tmp_path):
    first = table.check(epsilon=5)
    fill(tmp_path, rows_of(100))
    later = table.check(epsilon=5)
    assert later.receipt != first.receipt
    assert later.find("units").value < first.find("units").value


def test_a_rehearsed_check_says_so_everywhere(tmp_path):
    with dp.open(written(tmp_path), rehearsal=True) as people:
        table = people.synthesize().build(epsilon=2)
        quote, told = table.quote_check(epsilon=1), table.check(epsilon=1, target="ill")
    assert quote.title.startswith(STAMP)
    assert SENTENCE in quote.words
    assert SENTENCE in told.words()
    assert next(iter(told.to_json())) == "rehearsal"
    assert all(row["rehearsal"] for row in told.rows())
    assert all(told.to_pandas()["rehearsal"])
    assert all(STAMP in picture.svg and STAMP in picture.alt for picture in told.pictures())
    assert STAMP in repr(told)
    assert STAMP in str(told)
    assert told.privacy_.is_invented


def test_steps_that_are_told_are_the_two_of_the_run(table):
    told = []
    table.check(epsilon=1, progress=lambda name, _: told.append(name))
    assert [name for name in told if name.startswith("checking")] == ["checking: count", "checking: comparison"]


def test_what_is_stored_of_another_check_is_refused(people, table, monkeypatch):
    table.check(epsilon=1)
    asked = property(lambda _: ("count", "cells"))
    monkeypatch.setattr(measuring.CheckPlan, "asked", asked)
    with pytest.raises(IntegrityError, match="no such check"):
        table.check(epsilon=1)


@pytest.mark.parametrize("edges", [SOME, pytest.param(sorted(EDGES), marks=pytest.mark.long)], ids=["some", "all"])
def test_a_check_that_is_killed_goes_on_and_pays_once(tmp_path, edges):
    said = driven("synth.check.kill_driver", tmp_path, *edges, folder=tmp_path)
    assert said == {"wrong": [], "killed": len(edges)}


def test_the_only_column_is_not_called_the_one_that_looks_furthest_off():
    statistic = SimpleNamespace(columns=("age",), value=0.1, moe=0.02)
    (alone,) = check_words._furthest(None, (statistic,), "column")
    (several,) = check_words._furthest(None, (statistic, statistic), "column")
    assert alone == "For the column age Σ|p − q| is 0.100 ± 0.020."
    assert several.endswith("Of 2 noisy numbers the largest looks worse than it is.")
