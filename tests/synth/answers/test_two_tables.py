"""Two synthetic tables answer no questions, and say what to do; they have replicates."""

import pytest

from discreet.errors import NotAnswerable
from synth.children.clinic import opened, spent, task, written


def test_two_tables_are_refused_with_what_to_do_and_have_replicates(tmp_path):
    written(tmp_path)
    with opened(tmp_path) as (persons, visits):
        tables = task(persons, visits).build(epsilon=1)
        with pytest.raises(NotAnswerable, match="do not answer questions") as refused:
            tables.answer("SELECT COUNT(*) FROM patients")
        assert "replicate_tables(20)" in refused.value.fix
        first, second = tables.replicates(2)
        assert not first.equals(second)
        assert spent(persons, visits) == [1, 1]
