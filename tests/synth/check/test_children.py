"""A check of two tables: patients and visits are compared as the units that they were built from, and both pay."""

import pytest

from discreet.errors import BadValue
from discreet.synth.check.check import check
from synth.children.clinic import opened, patients_of, task, written


def test_two_tables_are_checked_as_one_and_both_ledgers_pay(tmp_path):
    with opened(written(tmp_path)) as (persons, rows):
        table = task(persons, rows).build(epsilon=20, delta=0)
        charges = [own.budget.spent.epsilon for own in (persons, rows)]
        told = check(table, epsilon=20, delta=0, target="has visits")
        assert [own.budget.spent.epsilon for own in (persons, rows)] == [before + 20 for before in charges]
        assert check(table, epsilon=20, delta=0, target="has visits").rows() == told.rows()
        assert [own.budget.spent.epsilon for own in (persons, rows)] == [before + 20 for before in charges]
        with pytest.raises(BadValue, match="part of the table"):
            check(table, epsilon=1, on=rows.split(test="0.5")[1])
    assert told.find("units").value == pytest.approx(len(patients_of()), abs=5)
    assert {"has visits", "reason", "sex"} <= {column for own in told.all_of("each column") for column in own.columns}
    assert told.find("accuracy").value is not None
