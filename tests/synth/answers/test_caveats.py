"""Answers of synthetic rows say what answers of private rows say, where it holds of them too."""

import pytest

import discreet as dp
from discreet.errors import NotAnswerable
from synth.answers.built import built

ROWS = "At most 3 rows of one who can count; of more, a fixed choice of them does. ± does not cover what is left out."


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return built(tmp_path_factory.mktemp("one"))


def test_row_limits_quantiles_groups_and_choices_are_told(tmp_path):
    table = built(tmp_path, max_rows=3, count=60)
    sql = "SELECT region, MAX(age) AS oldest, AVG(pay) AS p FROM people GROUP BY region ORDER BY p LIMIT 2"
    answer = table.answer(sql)
    assert answer.notes[-4:] == (
        ROWS,
        "oldest is the 0.99-quantile: the largest value itself belongs to one unit.",
        "Rows whose region is empty or not listed in the metadata are left out; ± does not cover that.",
        "Rows were chosen by their noisy numbers, which favours lucky ones; ± does not know of that.",
    )
    assert all(note in repr(answer) and note in answer.to_json()["notes"] for note in answer.notes)


def test_an_answer_has_no_caveat_that_does_not_hold_of_it(table):
    notes = table.answer("SELECT COUNT(*) AS n FROM people").notes
    assert [note for note in notes if "quantile" in note or "left out;" in note or "chosen" in note] == []


@pytest.mark.parametrize("column", ["mark", "MARK"])
def test_a_declared_column_that_was_left_out_is_named_after_loading_too(tmp_path, column):
    from synth.folk import rows_of, written

    toml = written(tmp_path, rows_of(60), columns='[columns.mark]\ntype = "text"\n')
    with dp.open(toml) as people:
        people.synthesize().build(epsilon=2).save(tmp_path / "s.parquet")
    table = dp.synth.load(tmp_path / "s.parquet")
    with pytest.raises(NotAnswerable, match="The synthetic table has no mark") as refused:
        table.answer(f"SELECT {column}, COUNT(*) AS n FROM people GROUP BY {column}")
    assert "free text" in refused.value.why
    assert len(table.answer("SELECT COUNT(DISTINCT who) AS n FROM people")) == 1


def test_no_zero_is_negative():
    from discreet.answer.show import number

    assert [number(value, 0.0123) for value in (-0.0, -0.0001, 0.0, -0.02)] == ["0.000", "0.000", "0.000", "-0.020"]
    assert number(-0.0, None) == "0"
    assert number(-1234.4, 12.0) == "-1,234"
