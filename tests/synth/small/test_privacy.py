"""Laws of neighbouring tables, one by one: every table of a tiny domain and every change that one unit can make."""

from fractions import Fraction
from itertools import product

import mpmath
import pytest

from discreet.bounded import Sensitivity
from discreet.relation import Relation
from discreet.synth.small.choice import SmallDatabaseChoice
from discreet.synth.small.selection import selection_of
from mechanism.exact_laws import ROUND_OFF, largest_loss, number
from synth.small.twins import histograms, sequences_law, table

TRUTHS = table("100", "011", "010")
ROWS, SIZE, EPSILON = 3, 3, Fraction(2)


def changes(unit_rows, relation):
    """What one unit can add to the counts by cell."""
    units = [counts for rows in range(unit_rows + 1) for counts in histograms(TRUTHS.shape[1], rows)]
    if relation is Relation.ADD_REMOVE:
        return units
    return [[new - old for new, old in zip(after, before, strict=True)] for after, before in product(units, repeat=2)]


def neighbours(unit_rows, relation):
    """All pairs of tables of up to five rows, more and fewer than the public N = 3 among them."""
    tables = [tuple(counts) for rows in range(6) for counts in histograms(TRUTHS.shape[1], rows)]
    for counts in tables:
        for change in changes(unit_rows, relation):
            other = tuple(old + step for old, step in zip(counts, change, strict=True))
            if other in tables:
                yield counts, other


def worst_loss(selection, unit_rows, relation):
    """The largest |ln P/P′| over all neighbours and databases, at the rate of the mechanism."""
    charged = selection.mechanism.rate * 2 * SIZE * selection.setting.unit_rows  # ε if nothing is wrong
    laws = {}

    def law(counts):
        if counts not in laws:
            laws[counts] = sequences_law(
                TRUTHS, counts, rows=ROWS, size=SIZE, epsilon=charged, unit_rows=selection.setting.unit_rows
            )
        return laws[counts]

    return max(largest_loss(law(counts), law(other)) for counts, other in set(neighbours(unit_rows, relation)))


def selected(unit_rows, relation):
    return selection_of(TRUTHS, epsilon=EPSILON, public_rows=ROWS, size=SIZE, unit_rows=unit_rows, relation=relation)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("unit_rows", [1, 2])
def test_neighbouring_tables_have_laws_within_epsilon(unit_rows, relation):
    loss = worst_loss(selected(unit_rows, relation), unit_rows, relation)
    assert loss <= number(EPSILON) + ROUND_OFF
    assert loss > number(EPSILON) / 2  # so that a doubled rate breaks the promise


@pytest.mark.parametrize("relation", list(Relation))
def test_a_forgotten_factor_two_breaks_the_promise(relation, monkeypatch):
    rate = SmallDatabaseChoice.rate.fget
    monkeypatch.setattr(SmallDatabaseChoice, "rate", property(lambda self: 2 * rate(self)))
    assert worst_loss(selected(1, relation), 1, relation) > number(EPSILON)


@pytest.mark.parametrize("relation", list(Relation))
def test_a_bound_that_forgets_the_rows_of_a_unit_breaks_the_promise(relation):
    assert worst_loss(selected(1, relation), 2, relation) > number(EPSILON)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("unit_rows", [1, 2, 5])
def test_a_unit_moves_each_count_by_its_rows_at_most(unit_rows, relation):
    """Counts of queries, not of cells: under replace-one a unit leaves a query or enters it, never both."""
    stated = selected(unit_rows, relation).sensitivity
    queries = TRUTHS.shape[0]
    assert stated == Sensitivity(queries, queries * unit_rows, queries * unit_rows**2, unit_rows, relation)
    moved = [[abs(int(step)) for step in TRUTHS @ change] for change in changes(min(unit_rows, 2), relation)]
    assert max(map(max, moved)) == min(unit_rows, 2)


def test_losses_are_of_bounded_range():
    """max ln P/P′ − min ln P/P′ ≤ ε for all neighbours: what Exponential(ε) means."""
    for counts, other in set(neighbours(1, Relation.REPLACE_ONE)):
        law, changed = (sequences_law(TRUTHS, own, rows=ROWS, size=SIZE, epsilon=EPSILON) for own in (counts, other))
        ratios = [mpmath.log(law[database] / changed[database]) for database in law]
        assert max(ratios) - min(ratios) <= number(EPSILON) + ROUND_OFF
