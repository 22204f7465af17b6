"""A value that occurs in one row and that nobody declared comes out nowhere."""

import json

import pytest

import discreet as dp
from synth.folk import rows_of, written

TEXT, NUMBER, AGE, NOTE = "zqhamlet", "61.337", "107.75", "zqdiary"
RARE = (TEXT, NUMBER, AGE, NOTE)
COLUMNS = '[columns.note]\ntype = "text"\n'


@pytest.fixture
def people(tmp_path):
    """Sixty people, of whom one lives in a place that is on no list and has a number between two steps."""
    rows = rows_of(60)
    rows[17] = [17, TEXT, TEXT, AGE, NUMBER, "zqperhaps"]
    toml = written(tmp_path, [], columns=COLUMNS, epsilon=100_000)
    lines = ["who,sex,region,age,pay,ill,note", *(",".join(map(str, [*row, "x"])) for row in rows)]
    lines[18] = lines[18][:-1] + NOTE
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    with dp.open(toml) as dataset:
        yield dataset


def texts(people, number):
    """All that somebody sees of one build, as texts."""
    task = people.synthesize(zeros=[{"sex": "m", "ill": True}] if number % 3 == 2 else None)
    price = {"epsilon": 1 + number, **({"delta": 0} if number % 2 else {})}
    table = task.build(**price)
    yield from (repr(task), str(task.quote(**price)), json.dumps(task.quote(**price).to_json()), repr(table))
    yield table.to_pandas().to_csv()
    yield str(table.to_arrow().to_pydict())
    yield json.dumps([own.to_json() for own in table.measured])
    yield json.dumps(table.build.plan.subject.to_json())
    yield json.dumps([column.label(code) for column in task.subject.columns for code in range(column.cells + 1)])
    yield from (json.dumps(part.tally) + str(part.values.tolist()) for part in table.build.parts)
    yield repr(table.privacy_) + str(table.columns)


def shown(people, builds):
    return [(number, own) for number in range(builds) for text in texts(people, number) for own in RARE if own in text]


def test_a_value_of_one_row_that_is_not_declared_never_appears(people):
    """25 builds, large prices among them, at which noise hides nothing."""
    assert shown(people, 25) == []
    assert people.budget.charges == 25
    assert_not_stored(people)


def assert_not_stored(people):
    """Nor in what the ledger keeps."""
    stored = b"".join(path.read_bytes() for path in people.table.toml.parent.glob("people.ledger*"))
    assert len(stored) > 1000
    assert not any(own.encode() in stored for own in RARE)


@pytest.mark.long
def test_a_value_of_one_row_that_is_not_declared_never_appears_in_two_hundred_builds(people):
    assert shown(people, 200) == []
    assert_not_stored(people)


def test_the_rare_person_counts_in_empty_cells(people):
    """At ε = 500, where noise is a third of a person: the one without a listed sex, within 7 deviations."""
    table = people.synthesize().build(epsilon=500)
    for counted in table.build.synthesis.singles.tables[:2]:
        assert counted.deviation < 0.5
        assert abs(counted.counts[-1] - 1) < 7 * counted.deviation
