"""A dataset of invented rows has a real ledger, and leaves nothing behind."""

import pytest

from discreet.attack.invented import invented_dataset
from discreet.errors import BudgetExceeded

TOML = """
[unit]
key = "person"
max_rows = 1
[columns.name]
type = "category"
values = ["é", "o"]
[budget]
epsilon = 1
"""
ROWS = {"person": [1, 2, 3], "name": ["é", "é", "o"]}
QUESTION = "SELECT name, COUNT(*) AS n FROM invented GROUP BY name"


def test_the_budget_holds_and_answers_are_stored():
    with invented_dataset(TOML, ROWS) as people:
        first = people.sql(QUESTION).ask(epsilon=1)
        assert [row["name"] for row in first.rows] == ["é", "o"]
        assert people.sql(QUESTION).ask(epsilon=1).replayed
        with pytest.raises(BudgetExceeded):
            people.sql(QUESTION).ask(epsilon="0.5")


def test_the_same_rows_may_be_attacked_again_and_no_file_stays():
    places = []
    for _ in range(2):
        with invented_dataset(TOML, ROWS) as people:
            people.sql(QUESTION).ask(epsilon=1)
            places.append(people.table.toml.parent)
    assert places[0] != places[1]
    assert not any(place.exists() for place in places)
