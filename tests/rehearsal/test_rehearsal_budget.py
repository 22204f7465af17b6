"""A rehearsed budget refuses what the real one would, in the same words, and gives the same for nothing."""

import pytest

import discreet as dp
from discreet.errors import BadValue, DiscreetError, MetadataError
from rehearsal.parts import SQL, TOML, written

OTHER = "SELECT COUNT(*) AS n FROM people"


def outcome(dataset, sql, **price):
    """The cost and what remains, or the refusal."""
    try:
        answer = dataset.sql(sql).ask(**price)
    except DiscreetError as error:
        return type(error), error.what, error.why, error.fix
    return answer.cost, answer.remaining, answer.replayed


def test_a_series_of_questions_goes_as_it_would_on_the_real_ledger(tmp_path):
    toml = written(tmp_path)
    series = [
        (SQL, {"epsilon": 1}),
        (SQL, {"epsilon": 1}),
        (SQL, {"epsilon": "2.5"}),
        (SQL, {"epsilon": 1, "analyst": "ana"}),
        (OTHER, {"epsilon": 1, "analyst": "ana"}),
        (OTHER, {"epsilon": 1, "analyst": "anna"}),
        ("SELECT diagnosis, COUNT(*) AS n FROM people GROUP BY diagnosis", {"epsilon": "0.5"}),
        (OTHER, {"epsilon": 1}),
        (OTHER, {"epsilon": "0.5", "delta": "1e-3"}),
    ]
    with dp.open(toml) as real, dp.open(toml, rehearsal=True) as rehearsed:
        expected = [outcome(real, sql, **price) for sql, price in series]
        assert [outcome(rehearsed, sql, **price) for sql, price in series] == expected
    assert sum(isinstance(outcome[0], type) for outcome in expected) == 5
    assert [outcome[2] for outcome in expected[:2]] == [False, True]


def test_metadata_without_a_budget_answer_nothing_in_a_rehearsal_either(tmp_path):
    toml = written(tmp_path)
    toml.write_text(TOML.partition("[budget]")[0])
    with dp.open(toml, rehearsal=True) as rehearsed, pytest.raises(MetadataError, match="no \\[budget\\]"):
        rehearsed.sql(SQL).ask(epsilon=1)


def test_a_release_that_does_not_fit_is_refused(tmp_path):
    with dp.open(written(tmp_path), rehearsal=True) as rehearsed:
        rehearsed.release("geo").build(epsilon=2)
        with pytest.raises(dp.BudgetExceeded):
            rehearsed.release("geo", by="sex").build(epsilon="1.5")


def test_a_question_that_cannot_be_asked_is_refused_in_a_rehearsal_too(tmp_path):
    with dp.open(written(tmp_path), rehearsal=True) as rehearsed:
        with pytest.raises(dp.NotAnswerable):
            rehearsed.sql("SELECT * FROM people")
        with pytest.raises(BadValue):
            rehearsed.sql(SQL).ask()
