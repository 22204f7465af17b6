"""The law of a small database: exact against all sequences, draws against the exact law, and bugs that both catch."""

import tracemalloc
from collections import Counter
from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest

from discreet.errors import BadValue, NotAnswerable
from discreet.noise.source import SYSTEM
from discreet.synth.small import candidates as module
from discreet.synth.small.choice import SmallDatabaseChoice
from discreet.synth.small.multisets import Multiplicity, multisets, number_of_multisets
from discreet.synth.small.selection import selection_of
from mechanism.exact_laws import ALARM, assert_drawn_from, missed, surprise
from replay import Refusing, Seeded
from synth.small.twins import sequences_law, sorted_cells, table, uniform_law

CASES = {
    "three atoms": (table("110", "011"), [3, 1, 4], 8, 3, 2),
    "eight cells": (table("00001111", "00110011", "01010101"), [1, 0, 2, 0, 3, 1, 0, 0], 7, 3, 3),
    "cells alike": (table("00011", "00111"), [2, 0, 1, 1, 2], 6, 4, 1),
    "one atom": (table("111"), [2, 2, 2], 6, 3, 2),
    "fewer rows than N": (table("110", "011"), [1, 1, 1], 9, 3, 2),
    "more rows than N": (table("110", "011"), [9, 9, 9], 9, 3, 2),
    "twice the same query": (table("10", "10", "01"), [3, 2], 5, 5, 2),
}


def selected(case, **changed):
    truths, counts, rows, size, epsilon = CASES[case]
    given = {"epsilon": epsilon, "public_rows": rows, "size": size} | changed
    return selection_of(truths, **given), counts


def twin(case, law=sequences_law, **changed):
    truths, counts, rows, size, epsilon = CASES[case]
    return law(truths, counts, **({"rows": rows, "size": size, "epsilon": epsilon} | changed))


@pytest.mark.parametrize("case", CASES)
def test_the_law_is_that_of_all_sequences(case):
    selection, counts = selected(case)
    law, slow = selection.law(counts), twin(case)
    assert len(slow) == selection.databases
    for database, chance in slow.items():
        cell_counts = [database.count(cell) for cell in range(len(counts))]
        assert law.probability(cell_counts) == pytest.approx(float(chance), rel=1e-12)
    assert law.chances.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_worst_errors_have_the_chances_of_all_sequences(case):
    selection, counts = selected(case)
    law = selection.law(counts)
    slow = Counter()
    truths, rows = CASES[case][0], CASES[case][2]
    for database, chance in twin(case).items():
        cell_counts = np.array([database.count(cell) for cell in range(len(counts))])
        table_shares = np.minimum(truths @ np.array(counts), rows) / rows
        slow[round(float(np.abs(truths @ cell_counts / len(database) - table_shares).max()), 9)] += float(chance)
    assert dict(zip(law.errors.round(9).tolist(), law.chances.tolist(), strict=True)) == pytest.approx(dict(slow))
    assert law.mean == pytest.approx(sum(error * chance for error, chance in slow.items()))
    assert law.nearest == pytest.approx(min(slow))


def test_quantiles_are_the_least_errors_that_suffice():
    law = selected("eight cells")[0].law(CASES["eight cells"][1])
    for level in ("0.1", "0.5", "0.95", "0.999"):
        at_most = law.chances[law.errors <= law.quantile(level)].sum()
        below = law.chances[law.errors < law.quantile(level)].sum()
        assert at_most >= float(level) > below


@pytest.mark.parametrize("unit_rows", [2, 3])
def test_units_of_several_rows_flatten_the_law(unit_rows):
    selection, counts = selected("three atoms", unit_rows=unit_rows)
    slow = twin("three atoms", unit_rows=unit_rows)
    for database, chance in slow.items():
        cell_counts = [database.count(cell) for cell in range(3)]
        assert selection.law(counts).probability(cell_counts) == pytest.approx(float(chance), rel=1e-12)


# --- draws -----------------------------------------------------------------------------------------------------------


def drawn(selection, counts, n):
    databases = selection.mechanism.many(selection.counts(np.array(counts)), n, SYSTEM)
    return Counter(map(sorted_cells, databases))


def uneven(chances):
    """A law 10 % off: every second database more likely, the others less, before all are scaled to add up to 1."""
    off = {
        name: chance * (mpmath.mpf(11 if place % 2 else 9) / 10) for place, (name, chance) in enumerate(chances.items())
    }
    total = mpmath.fsum(off.values())
    return {name: chance / total for name, chance in off.items()}


@pytest.mark.parametrize("case", ["three atoms", "cells alike", "fewer rows than N"])
def test_draws_follow_the_law_of_all_sequences(case):
    """N = 30,000."""
    selection, counts = selected(case)
    law = twin(case)
    assert_drawn_from(drawn(selection, counts, 30_000), law, uneven(law))


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_a_million_draws_follow_the_law_of_all_sequences(case):
    """N = 10⁶ of each case, against every sequence one by one."""
    selection, counts = selected(case)
    assert surprise(drawn(selection, counts, 10**6), twin(case)) > ALARM


@pytest.mark.long
def test_draws_of_thousands_of_databases_follow_the_exact_law():
    """N = 300,000 over 6,435 databases of eight cells; other tests hold that law against twins."""
    selection = selection_of(CASES["eight cells"][0], epsilon=3, public_rows=40, size=8)
    histogram = [9, 1, 4, 6, 3, 11, 2, 4]
    law = selection.law(histogram)
    listed = multisets(np.arange(number_of_multisets(8, 8)), 8, 8).T
    chances = {sorted_cells(counts): mpmath.mpf(law.probability(counts.tolist())) for counts in listed}
    assert sum(chances.values()) == pytest.approx(1)
    assert_drawn_from(drawn(selection, histogram, 300_000), chances, uneven(chances))


def test_draws_at_a_rate_ten_percent_off_are_refuted():
    """N = 30,000."""
    selection, counts = selected("eight cells", epsilon=8)
    law, steeper = (twin("eight cells", epsilon=epsilon) for epsilon in (8, Fraction(44, 5)))
    assert_drawn_from(drawn(selection, counts, 30_000), law, steeper)


def test_calls_one_by_one_follow_the_law_too():
    """N = 4,000 calls, each of which enumerates anew."""
    selection, counts = selected("three atoms")
    held, mechanism = selection.counts(np.array(counts)), selection.mechanism
    seen = Counter(sorted_cells(mechanism(held, SYSTEM)) for _ in range(4000))
    assert surprise(seen, twin("three atoms")) > ALARM


def test_draws_over_many_runs_and_blocks_follow_the_law(monkeypatch):
    """N = 30,000, with blocks of twelve multisets and runs of three, so that every seam is crossed."""
    monkeypatch.setattr(module, "_BLOCK", 12)
    monkeypatch.setattr(module, "_RUN", 3)
    selection, counts = selected("eight cells")
    law = twin("eight cells")
    assert selection.candidates.number > 100
    assert_drawn_from(drawn(selection, counts, 30_000), law, uneven(law))


def test_equal_words_give_the_same_database():
    selection, counts = selected("eight cells")
    held = selection.counts(np.array(counts))
    first, second = (selection.mechanism.many(held, 20, Seeded(7)) for _ in range(2))
    assert np.array_equal(first, second)


def test_weights_of_all_losses_add_up_to_all_sequences():
    for case in CASES:
        selection, counts = selected(case)
        candidates = selection.candidates
        losses = candidates.losses(selection.mechanism.targets(selection.counts(np.array(counts))))
        weights = candidates.weights(losses)
        assert sum(weights) == selection.sequences
        for place, weight in enumerate(weights):
            assert sum(candidates.run_weights(losses, place)) == weight


# --- bugs ------------------------------------------------------------------------------------------------------------


def refuted(case, n=30_000, **changed):
    """Whether draws refute the true law: how each bug below is caught."""
    selection, counts = selected(case, **changed)
    return surprise(drawn(selection, counts, n), twin(case, **changed)) < ALARM


def test_no_bug_is_seen_where_there_is_none():
    assert not refuted("three atoms")


def test_a_forgotten_multiplicity_is_caught(monkeypatch):
    """N = 30,000: each multiset once, as if databases were lists in one order."""
    monkeypatch.setattr(
        Multiplicity, "residues", lambda self, counts: np.ones((len(self.primes), counts.shape[1]), "u8")
    )
    monkeypatch.setattr(Multiplicity, "exact", lambda self, counts: 1)
    assert missed(twin("three atoms", uniform_law), twin("three atoms"), 30_000) < ALARM
    assert refuted("three atoms")
    selection, counts = selected("three atoms")
    slow = twin("three atoms")
    assert any(
        selection.law(counts).probability([database.count(cell) for cell in range(3)])
        != pytest.approx(float(chance), rel=1e-3)
        for database, chance in slow.items()
    )


def test_a_forgotten_factor_two_is_caught(monkeypatch):
    """N = 30,000."""
    rate = SmallDatabaseChoice.rate.fget
    monkeypatch.setattr(SmallDatabaseChoice, "rate", property(lambda self: 2 * rate(self)))
    assert refuted("three atoms")


def test_a_rate_without_the_size_of_the_database_is_caught(monkeypatch):
    """N = 30,000: Δ taken as one step, as if the loss were counted in steps of 1/N."""
    rate = SmallDatabaseChoice.rate.fget
    monkeypatch.setattr(SmallDatabaseChoice, "rate", property(lambda self: rate(self) * self.candidates.size))
    assert refuted("three atoms")


def test_cells_of_an_atom_drawn_unevenly_are_caught(monkeypatch):
    """N = 30,000: the first cell of each atom always."""
    monkeypatch.setattr(module, "uniforms", lambda below, n, source: np.zeros(n, dtype=np.int64))
    assert refuted("cells alike")


# --- limits ----------------------------------------------------------------------------------------------------------


def test_the_worked_example_has_as_many_databases_as_its_notes_say():
    """|X| = 4, K = 8, α = 0.3, N̂ = 34: 7,770 multisets in place of 10^20.5 sequences; |X| = 8, N̂ = 16: 245,157."""
    queries = table(*(f"{subset:04b}" for subset in (1, 2, 4, 8, 3, 5, 6, 7)))
    lecture = selection_of(queries, epsilon=1, public_rows=1000, size="lecture", alpha="0.3")
    assert (lecture.candidates.size, lecture.databases, lecture.candidates.number) == (34, 7_770, 7_770)
    assert len(str(lecture.sequences)) == 21
    binary = table("00001111", "00110011", "01010101", *(f"{subset:08b}" for subset in (1, 2, 4, 8, 16)))
    tight = selection_of(binary, epsilon=1, public_rows=1000, size="tight", alpha="0.3")
    assert (tight.candidates.size, tight.databases) == (16, 245_157)


def test_cells_that_no_query_tells_apart_are_enumerated_together():
    truths = np.zeros((1, 300), dtype=bool)
    truths[0, :7] = True
    selection = selection_of(truths, epsilon=1, public_rows=100, size=20)
    assert selection.candidates.number == 21
    assert selection.databases == comb(319, 20)


@pytest.mark.parametrize(
    ("kinds", "size", "alpha", "fix"),
    [(8, 31, None, "Give size="), (8, "tight", "0.1", 'Give alpha="0.'), (16, "lecture", "0.2", 'Give alpha="0.')],
)
def test_too_many_databases_are_refused_with_what_would_work(kinds, size, alpha, fix):
    truths = np.array([[bool(cell >> bit & 1) for cell in range(kinds)] for bit in range(4)])
    truths = np.concatenate([truths, np.eye(kinds, dtype=bool)])
    with pytest.raises(NotAnswerable, match="too many databases") as refused:
        selection_of(truths, epsilon=1, public_rows=1000, size=size, alpha=alpha)
    assert refused.value.fix.startswith(fix)
    named = refused.value.fix.split(",")[0].split("=")[1].strip('"')
    smaller = {"alpha": named, "size": size} if alpha else {"size": int(named)}
    assert selection_of(truths, epsilon=1, public_rows=1000, **smaller).candidates.number <= 10**7


def test_millions_of_databases_take_the_memory_of_a_block():
    """2,035,800 multisets of eight counts would take 130 MB."""
    selection = selection_of(np.eye(8, dtype=bool), epsilon=1, public_rows=1000, size=23)
    tracemalloc.start()
    try:
        database = selection.mechanism([125] * 8, SYSTEM)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert selection.candidates.number == 2_035_800
    assert database.sum() == 23
    assert peak < 40 * 2**20


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, 3, 4], "123", [1, -2, 3], [1, 2.5, 3], None])
def test_histograms_that_are_none_are_refused(counts):
    with pytest.raises(BadValue, match="histogram"):
        selected("three atoms")[0].law(counts)


def test_a_database_of_another_size_has_no_probability():
    selection, counts = selected("three atoms")
    with pytest.raises(BadValue, match="as many rows as the small databases"):
        selection.law(counts).probability([1, 1, 0])


@pytest.mark.parametrize("exact", [[1], [1, 2, 3], [1.0, 2.0], [[1, 2]]])
def test_counts_of_another_shape_are_refused_before_anything_is_drawn(exact):
    selection, _ = selected("three atoms")
    with pytest.raises(BadValue, match=r"counts must be one for each query|exact must"):
        selection.mechanism(exact, Refusing())
