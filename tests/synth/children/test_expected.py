"""What is expected of pairs, and where a fit of two tables begins: at shares that single columns have already."""

import numpy as np
import pytest

from discreet.synth.children.present import presence_pairs, with_absent
from discreet.synth.measured.expected import expected_of
from discreet.synth.model.belief import marginal
from discreet.synth.model.dual import fit
from discreet.synth.model.junction import junction

from .clinic import opened, patients_of, task, written


@pytest.fixture
def subject(tmp_path):
    with opened(written(tmp_path, patients_of(10))) as (persons, rows):
        yield task(persons, rows, columns=["age", "reason", "urgent"]).subject


def shares_of(subject, absent):
    draw = np.random.default_rng(3)
    return with_absent(subject, [draw.dirichlet(np.ones(size)) for size in subject.sizes], absent)


@pytest.mark.parametrize("absent", [0.0, 0.4, 0.95])
def test_a_fit_begins_where_single_columns_are(subject, absent):
    """With many columns of the second table the product of single ones would hardly have a unit without rows."""
    shares, groups = shares_of(subject, absent), [np.arange(size) for size in subject.sizes]
    expected = expected_of(subject, shares, shares, groups)
    given = expected.given_presence(subject.presence)
    base = [np.ones_like(own) if place in subject.absent_codes and place != subject.presence else own
            for place, own in enumerate(shares)]  # fmt: skip
    fitted = fit(junction(subject.sizes, presence_pairs(subject)), base, (), 100.0, given=given)
    for place, own in enumerate(shares):
        assert np.abs(marginal(fitted.tree, fitted.beliefs, (place,)) - own).max() < 1e-6


def test_tables_of_the_second_are_expected_to_hold_units_with_rows(subject):
    shares, groups = shares_of(subject, 0.25), [np.arange(size) for size in subject.sizes]
    expected = expected_of(subject, shares, shares, groups)
    reason, urgent, age = (subject.names.index(name) for name in ("reason", "urgent", "age"))
    assert expected.of((reason, urgent)).sum() == pytest.approx(0.75)
    assert expected.of((age, reason)).sum() == pytest.approx(0.75)
    assert expected.of((age, subject.presence)).sum(axis=0) == pytest.approx([0, 0.75, 0])
    assert expected.of((age, reason))[:, :-1].sum(axis=0) == pytest.approx(shares[reason][:-1])
