"""Formulas of lectures that are wrong or loose, pinned on the systems that do it right."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.learn.counts.naive_bayes import NaiveBayesLearner
from discreet.learn.input.arrays import ArrayFacts, columns_of, subject_of_arrays
from discreet.learn.price import parse_price
from discreet.learn.risk.line_loss import line_loss
from discreet.learn.risk.output import lecture_sensitivity, output_plan
from discreet.learn.risk.spec import spec_of
from discreet.learn.steps import tables_tallies, tally_sensitivities
from discreet.privacy.cost import Pure


def subject_of_columns(columns, relation):
    x = np.zeros((4, columns))
    facts = ArrayFacts(values={f"x{place}": (0, 1) for place in range(columns)}, classes=(0, 1), relation=relation)
    return subject_of_arrays(columns_of(x), np.zeros(4, dtype=int), None, facts)[0]


@pytest.mark.parametrize(("relation", "doubled"), [("add-remove", 1), ("replace-one", 2)])
def test_one_changed_row_moves_each_table_of_naive_bayes_twice(relation, doubled):
    """A lecture has 1 and D for tables that 'agree except for one entry': these are the values of a row added."""
    subject = subject_of_columns(5, relation)
    own = tally_sensitivities(tables_tallies(subject, 16))
    assert {sensitivity.l1 for sensitivity in own.values()} == {doubled}
    plan = NaiveBayesLearner().plan(subject, parse_price("0.5"))
    assert plan.cost == Pure(Fraction(1, 2))
    assert {noise.noise.scale for noise in plan.tables.noise.values()} == {doubled * 5 / Fraction(1, 2)}


def test_output_perturbation_uses_a_quarter_or_half_of_the_lectures_noise():
    """A lecture has 4G/(nλ); with its own regulariser λ‖w‖², that is Λ = 2nλ, it is 8 and 4 times too much."""
    for relation, waste in (("add-remove", 4), ("replace-one", 2)):
        subject = subject_of_columns(2, relation)
        loss = line_loss("logistic")
        plan = output_plan(subject, parse_price(1, "1e-5"), spec_of(subject, loss), loss, alpha="50")
        mechanism = plan.mechanism({})
        used = mechanism.last.variance**0.5 * float(mechanism.step)
        lecture = 3.73063 * float(lecture_sensitivity(mechanism.spec.norm, Fraction(50)))
        assert lecture / used == pytest.approx(waste, rel=1e-3)
