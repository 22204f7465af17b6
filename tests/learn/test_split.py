"""Persons are divided by their own keyed ids: no person is in both parts, and none moves another's part."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.engine import Engine, Limits
from discreet.engine.arrays import ArrayEngine, view_of_arrays
from discreet.errors import BadValue, NotAnswerable
from discreet.kernel.contract import kernel_of
from discreet.learn.heldout.split import split
from discreet.query.bound import draft_of, path
from discreet.query.canonical import TAGS, canonical
from discreet.query.compile.render import value as rendered
from discreet.query.excluded import with_kept
from discreet.query.layout import id_range
from discreet.query.meaning.cells import cells
from discreet.query.meaning.fold import is_fixed, value_table
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import And, Col, Compare, CountRows, CountUnits, Key, Literal, Not, Output, Question, UnitIn
from discreet.query.readable import question_text
from discreet.query.sql import parse_sql
from discreet.relation import Relation, unit_cut
from discreet.schema import Column, Schema, Unit

from .people import rows_of, write

LIMITS = Limits(memory=2**28, seconds=20, prepare_seconds=60, threads=1)
COLUMNS = [
    Column("age", "integer", bounds=(0, 110)),
    Column("sex", "category", values=["f", "m"], fixed_per_unit=True),
    Column("region", "category", values=["n", "s", "w"]),
]
SCHEMA = Schema("people", COLUMNS, Unit("who", 4))
ALONE = Schema("people", [COLUMNS[0], COLUMNS[2]])
LEFT, RIGHT = UnitIn(Fraction(0), Fraction(7, 10)), UnitIn(Fraction(7, 10), Fraction(1))
AGES = ["age", "region"]
PUBLIC = {"features": [{"low": 0, "high": 110}], "target": {"size": 3}, "rows": 3}


def table(persons, seed=1, rows=3):
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(persons), rows)
    sex = rng.choice(["f", "m"], persons)[person]
    region = rng.choice(["n", "s", "w"], len(person))
    return {"who": person, "age": rng.integers(0, 110, len(person)), "sex": sex, "region": region}


def question(where, *keys, aggregate=None):
    outputs = (Output("n", aggregate or CountRows()), Output("u", CountUnits()))
    return Question("people", outputs, tuple(Key(key, Col(key)) for key in keys), where)


def counts(view, where, *keys, schema=SCHEMA):
    tally = draft_of(question(where, *keys), schema).tally
    exacts = view.tally(tally).compute()
    return {part: exacts.parts[part].tolist() for part in tally.parts}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder, given = tmp_path_factory.mktemp("both"), table(200)
    with Engine(folder, "people", SCHEMA, pd.DataFrame(given), LIMITS) as files:
        yield files.view(), ArrayEngine(folder, "people", SCHEMA, given).view()


# --- both engines ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [LEFT, RIGHT, UnitIn(Fraction(1, 4), Fraction(3, 4)), And((LEFT, LEFT))], ids=str)
def test_arrays_and_files_divide_the_same_persons(both, where):
    files, arrays = both
    assert counts(files, where, "region") == counts(arrays, where, "region")
    of_files, of_arrays = (view.rows(["age", "region"], where=where).compute() for view in both)
    assert 0 < of_files.units < 200
    assert of_files.starts.tolist() == of_arrays.starts.tolist()
    assert all(of_files.columns[name].tolist() == of_arrays.columns[name].tolist() for name in of_files.columns)
    file_sums, array_sums = (view.sum("class_moments", AGES, PUBLIC, where=where).compute() for view in both)
    assert file_sums.tolist() == array_sums.tolist()


def test_the_parts_of_a_cut_add_up_to_the_whole(both):
    for view in both:
        whole, left, right = (counts(view, where, "region") for where in (None, LEFT, RIGHT))
        for part in whole:
            assert np.add(left[part], right[part]).tolist() == whole[part]
        sums = [view.sum("class_moments", AGES, PUBLIC, where=where).compute() for where in (None, LEFT, RIGHT)]
        assert sums[0].tolist() == (sums[1] + sums[2]).tolist()
        units = [view.rows(["age"], where=where).compute().units for where in (None, LEFT, RIGHT)]
        assert units[0] == 200 == units[1] + units[2]


def test_all_rows_of_a_person_are_in_one_part(both):
    """Caught here: a split by rows, which would leave parts of persons on both sides."""
    for view in both:
        for where in (LEFT, RIGHT):
            rows = view.rows(["age"], where=where).compute()
            assert set(np.diff(rows.starts, append=rows.size).tolist()) == {3}


def test_a_split_by_rows_is_caught(both, monkeypatch):
    def by_row(held, where):
        return (
            held
            if where is None
            else type(held)(
                held.unit[::2],
                held.rank[::2],
                {name: column[slice(None, None, 2)] for name, column in held.cells.items()},
            )
        )

    monkeypatch.setattr("discreet.engine.arrays.part_of", by_row)
    with pytest.raises(AssertionError):
        test_all_rows_of_a_person_are_in_one_part(both[1:])


@pytest.mark.parametrize("gone", [0, 57, 199])
def test_a_person_less_changes_one_part_alone(tmp_path, gone):
    given = table(200)
    less = {name: column[given["who"] != gone] for name, column in given.items()}
    before, after = (ArrayEngine(tmp_path, "people", SCHEMA, rows).view() for rows in (given, less))
    changed = [
        [
            column.tolist() != after.rows(["age", "region"], where=where).compute().columns[name].tolist()
            for name, column in before.rows(["age", "region"], where=where).compute().columns.items()
        ]
        for where in (LEFT, RIGHT)
    ]
    assert sorted(map(any, changed)) == [False, True]


def test_without_a_unit_a_row_less_changes_one_part_alone(tmp_path):
    """Equal rows are numbered, and one copy less takes away the last number and no other."""
    given = {"age": np.array([30] * 40 + list(range(40))), "region": np.array(["n"] * 80)}
    before = ArrayEngine(tmp_path, "people", ALONE, given).view()
    for gone in (0, 17, 39, 55):
        less = {name: np.delete(column, gone) for name, column in given.items()}
        after = ArrayEngine(tmp_path, "people", ALONE, less).view()
        sizes = [view.rows(["age"], where=where).compute().units for where in (LEFT, RIGHT) for view in (before, after)]
        assert sorted([sizes[0] - sizes[1], sizes[2] - sizes[3]]) == [0, 1]
        for where in (LEFT, RIGHT):
            old, new = (view.rows(["age"], where=where).compute().columns["age"].tolist() for view in (before, after))
            assert old == new or len(old) == len(new) + 1


def test_rows_whose_ids_are_places_are_not_divided():
    view = view_of_arrays(ALONE, {"age": np.arange(5), "region": np.array(["n"] * 5)})
    with pytest.raises(BadValue, match="keyed ids"):
        view.rows(["age"], where=LEFT)
    with pytest.raises(BadValue, match="keyed ids"):
        view.sum("class_moments", AGES, PUBLIC, where=LEFT)
    with pytest.raises(BadValue, match="keyed ids"):
        view.tally(draft_of(question(LEFT), ALONE).tally)


def test_arrays_refuse_other_conditions(both):
    other = Compare("=", Col("region"), Literal("n"))
    for where in (other, Not(LEFT), And((LEFT, other))):
        with pytest.raises(BadValue):
            both[1].rows(["age"], where=where)


# --- questions -------------------------------------------------------------------------------------------------------


def test_a_part_is_a_condition_like_any_other():
    joined = And((LEFT, Compare("=", Col("sex"), Literal("f"))))
    asked = resolved(question(joined, "region"), SCHEMA)
    assert TAGS.value(TAGS.plain(LEFT)) == LEFT
    assert canonical(asked.where) == canonical(resolved(question(And(joined.parts[::-1])), SCHEMA).where)
    assert "UNIT_SHARE FROM 0 TO 0.7" in question_text(asked)
    assert rendered(LEFT, SCHEMA) == f"(discreet_unit < {id_range(LEFT)[1]})"
    assert rendered(UnitIn(Fraction(0), Fraction(1)), SCHEMA) == "(TRUE)"
    assert value_table(joined, SCHEMA) is None
    assert is_fixed(LEFT, SCHEMA)
    groups = cells(resolved(question(Not(LEFT), "sex"), SCHEMA), SCHEMA)
    assert with_kept(groups, Not(LEFT), SCHEMA) == groups


def test_id_ranges_cover_every_id_once():
    assert id_range(LEFT)[1] == id_range(RIGHT)[0]
    assert id_range(LEFT)[0] == -(2**63)
    assert id_range(RIGHT)[1] == 2**63


@pytest.mark.parametrize(("first", "end"), [(0, 0), ("1/2", "1/4"), (-1, 1), (0, 2)])
def test_parts_that_are_none_are_refused(first, end):
    with pytest.raises(NotAnswerable, match="no such part"):
        draft_of(question(UnitIn(Fraction(first), Fraction(end))), SCHEMA)


def test_no_text_of_a_question_names_a_part():
    for text in ("UNIT_SHARE FROM 0 TO 1", "unit_in(0, 1)", "discreet_unit < 0"):
        with pytest.raises(NotAnswerable):
            draft_of(parse_sql(f"SELECT COUNT(*) AS n FROM people WHERE {text}").question, SCHEMA)


# --- charges ---------------------------------------------------------------------------------------------------------


def test_the_sides_of_one_cut_are_branches():
    left, right = path(LEFT, SCHEMA), path(RIGHT, SCHEMA)
    assert left[0][0] == right[0][0] == unit_cut(Fraction(7, 10))
    assert left != right
    assert path(UnitIn(Fraction(1, 4), Fraction(3, 4)), SCHEMA) == ()
    assert path(UnitIn(Fraction(0), Fraction(1)), SCHEMA) == ()
    assert path(Not(LEFT), SCHEMA) == ()
    assert len(path(And((LEFT, Compare("=", Col("sex"), Literal("f")))), SCHEMA)) == 2
    replaced = Schema("people", COLUMNS, Unit("who", 4), Relation.REPLACE_ONE)
    assert path(LEFT, replaced) == ()


def test_other_cuts_are_other_splits():
    """The parts of two cuts overlap, so their charges add up."""
    names = {path(UnitIn(Fraction(0), share), SCHEMA)[0][0] for share in (Fraction(7, 10), Fraction(8, 10))}
    assert len(names) == 2


@pytest.mark.parametrize(("relation", "spent"), [("add-remove", 3), ("replace-one", 5)])
def test_parts_are_charged_side_by_side_under_add_remove_alone(tmp_path, relation, spent):
    toml = write(tmp_path, rows_of(300, 11 if spent == 3 else 12), relation=relation)
    with dp.open(toml) as people:
        train, test = people.split(test="0.2")
        model = train.learn(dp.learn.NaiveBayes(), target="sick", features=["age"]).fit(epsilon=3)
        test.score(model, metric="accuracy", epsilon=2)
        assert people.budget.spent.epsilon == spent
        test.score(model, metric="accuracy", epsilon=2)
        assert people.budget.spent.epsilon == spent  # a replay
        other = people.split(test="0.3")[1]
        other.score(model, metric="accuracy", epsilon=1)
        assert people.budget.spent.epsilon == spent + 1  # it overlaps both parts
        people.score(model, metric="accuracy", epsilon=1)
        assert people.budget.spent.epsilon == spent + 2
        assert people.table.ledger.verify().spent.epsilon == spent + 2


def test_a_model_knows_its_part(tmp_path):
    with dp.open(write(tmp_path, rows_of(400, 13))) as people:
        train, test = people.split(test="0.25")
        assert (train.share, test.share) == (Fraction(3, 4), Fraction(1, 4))
        assert "75 of 100" in repr(train)
        task = train.learn(dp.learn.NaiveBayes(), target="sick", features=["age", "sex"])
        model = task.fit(epsilon=100)
        whole = people.learn(dp.learn.NaiveBayes(), target="sick", features=["age", "sex"]).fit(epsilon=100)
        assert task.fit(epsilon=100).fit_.is_replayed
        totals = [fit.fit_.released["age"].sum() for fit in (model, whole)]
        assert 399 <= totals[1] <= 401
        assert 250 < totals[0] < 350
        assert "not trained" in str(test.score(model, metric="accuracy", epsilon=1))
        for part, fitted in ((train, model), (test, whole), (people, model)):
            assert "trained on units of this table" in str(part.score(fitted, metric="accuracy", epsilon=1))


def test_a_table_that_is_declared_alike_knows_nothing_of_a_model(tmp_path):
    """Another key divides the same persons otherwise, and the same names may stand for other persons."""
    parts = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        with dp.open(write(tmp_path / name, rows_of(400, 13)), second_ledger="Two folders of a test.") as people:
            train, test = people.split(test="0.25")
            task = train.learn(dp.learn.NaiveBayes(), target="sick", features=["age", "sex"])
            parts.append(task.fit(epsilon=100))
            told = str(test.score(parts[0], metric="accuracy", epsilon=1))
            assert ("not trained on these" in told) is (name == "here")
            assert ("is not known here" in told) is (name == "there")


@pytest.mark.parametrize("test", [0, 1, "-0.1", "1/3", "0.12345678", "a", None])
def test_shares_that_are_none_are_refused(tmp_path, test):
    with dp.open(write(tmp_path, rows_of(10, 14))) as people, pytest.raises(BadValue):
        split(people.table, test)


def test_kernels_have_the_bound_of_the_whole_table(both):
    files, _ = both
    assert files.sum("class_moments", AGES, PUBLIC, where=LEFT).sensitivity == kernel_of("class_moments").sensitivity(
        PUBLIC, files.rows(["age"]).sensitivity
    )
