"""Options of `synthesize` that mean nothing are refused where they are given, and what is one is told as one."""

import pytest

import discreet as dp
from discreet.errors import BadValue, NotAnswerable
from discreet.schema import Column
from discreet.synth.column.column import synth_column
from discreet.synth.small.plan import small_plan
from synth.folk import rows_of, written

PRICE = {"alpha": "0.3", "epsilon": 1, "public_rows": 5000}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    with dp.open(written(tmp_path_factory.mktemp("options"), rows_of(40))) as dataset:
        yield dataset


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "gan"}, "method must be one of auto, independent"),
        ({"rows": -5}, "rows must be a whole number"),
        ({"max_cells": 3}, "max_cells must be a whole number"),
        ({"epsilon": 1}, r"synthesize takes columns, .* synthesize\(\).build\(epsilon=1\)"),
        ({"colums": ["age"]}, "synthesize takes columns, .* Did you mean columns"),
    ],
)
def test_options_are_refused_at_once(people, options, said):
    train, _ = people.split(test="0.5")
    for dataset in (people, train):
        with pytest.raises(BadValue, match=f"(?s){said}"):
            dataset.synthesize(**options)


def test_metadata_without_columns_say_what_to_write(tmp_path):
    toml = tmp_path / "people.toml"
    dataset = '[dataset]\nname = "people"\nsource = "people.csv"\nneighbours = "add-remove"'
    toml.write_text(f"{dataset}\n[budget]\nepsilon = 1\n")
    (tmp_path / "people.csv").write_text("a\n1\n")
    with dp.open(toml) as dataset, pytest.raises(BadValue, match="declare no columns") as refused:
        dataset.synthesize()
    assert "[columns.age]" in str(refused.value)


def test_the_class_of_a_check_is_suggested_among_synthesised_columns(people):
    table = people.synthesize(columns=["region", "ill"]).build(epsilon=2)
    with pytest.raises(BadValue, match="Name one of region, ill") as refused:
        table.quote_check(epsilon=1, target="pay")
    assert "Did you mean" not in str(refused.value)
    with pytest.raises(BadValue, match="Did you mean 'ill'"):
        table.quote_check(epsilon=1, target="il")


def test_a_check_under_much_noise_says_that_it_hides_how_many_there_are(people):
    check = people.synthesize(columns=["region", "ill"]).build(epsilon=2).check(epsilon="0.001")
    assert check.words()[0] == "How many units were compared is hidden by the noise."


def test_one_pair_and_one_unit_are_not_told_as_several(people):
    table = people.synthesize(columns=["region", "ill"]).build(epsilon=100)
    told = str(table.quote_check(epsilon=100))
    assert "the one pair" in told
    assert "1 pairs" not in told
    assert "Below some 1 unit (who)" in str(people.synthesize(columns=["region", "ill"]).quote(epsilon=100))


def test_edges_of_many_digits_are_told_in_four_and_declared_ones_as_they_are():
    column = synth_column(Column("distance", "number", bounds=(0, 40)))
    labels = [column.label(code) for code in range(column.cells)]
    assert len(set(labels)) == len(labels)
    assert max(map(len, labels)) <= 20
    assert labels[0].startswith("[0, 0.0")
    declared = synth_column(Column("fare", "number", bounds=(0, 2), bins=(0, 0.123456789, 2)))
    assert declared.label(0) == "[0, 0.1235)"
    close = synth_column(Column("x", "number", bounds=(0, 2), bins=(0, 1.00001, 1.00002, 2)))
    assert close.label(1) == "[1.00001, 1.00002)"


def test_a_small_database_takes_conditions_and_says_so(people):
    with pytest.raises(NotAnswerable, match="not a question") as refused:
        small_plan(people, ["SELECT COUNT(*) FROM people WHERE ill"], **PRICE)
    assert "SELECT" not in refused.value.fix
    assert "after WHERE alone" in refused.value.fix


def test_too_many_cells_of_a_small_database_are_told_as_cells_with_bins(people):
    queries = ["pay >= 20", "ill", "region = 'north'", "sex = 'f'", "age >= 18"]
    with pytest.raises(NotAnswerable, match="too many cells") as refused:
        small_plan(people, queries * 2, **PRICE, bins={"age": list(range(0, 111))})
    assert "groups" not in str(refused.value)
    assert "bins={'pay': [0, 50, 100]}" in refused.value.fix


def test_what_the_docstring_names_is_there():
    assert dp.synth.small_plan is small_plan
