"""A view remembers what it counted, tells constants of different types apart, and holds its state."""

from contextlib import closing

import pytest

from discreet.engine import Engine, Limits, remembering
from discreet.errors import BadValue
from discreet.query.bound import draft_of
from discreet.query.nodes import Col, Compare, CountRows, Key, Literal, Output, Question
from discreet.schema import Column, Schema, Unit

LIMITS = Limits(memory=2**29, seconds=20, prepare_seconds=60, threads=1)
SCHEMA = Schema("people", [Column("age", "integer", bounds=(0, 9)), Column("vip", "boolean")], Unit("who", 1))


@pytest.fixture
def engine(tmp_path):
    (tmp_path / "people.csv").write_text("who,age,vip\n" + "".join(f"{n},{n % 3},{n % 2}\n" for n in range(12)))
    with Engine(tmp_path, "people", SCHEMA, tmp_path / "people.csv", LIMITS) as engine:
        yield engine


def tally(where=None, key="age", schema=SCHEMA):
    return draft_of(Question("people", (Output("n", CountRows()),), (Key(key, Col(key)),), where), schema).tally


def counts(bounded, wanted):
    return bounded.compute().parts[wanted.parts[0]].tolist()


def test_a_tally_is_read_once_and_remembered(engine, monkeypatch):
    wanted = tally()
    with closing(engine.view()) as held:
        first = counts(held.tally(wanted), wanted)
        monkeypatch.setattr(Engine, "run", lambda *_: pytest.fail("read again"))
        assert counts(held.tally(tally()), wanted) == first == [4, 4, 4, 0, 0, 0, 0, 0, 0, 0]


def test_tallies_beyond_the_memory_of_a_view_are_counted_anew(engine, monkeypatch):
    monkeypatch.setattr(remembering, "MOST_REMEMBERED", 10)
    with closing(engine.view()) as held:
        before = held.tally(tally())
        assert counts(before, tally())[:3] == [4, 4, 4]
        repeated = held.tally(tally())  # remembered, so not compiled
        assert counts(held.tally(tally(key="vip")), tally(key="vip")) == [6, 6]
        assert counts(repeated, tally())[:3] == [4, 4, 4]


def test_constants_that_python_holds_for_equal_are_two_tallies(engine):
    """1 and True are equal, and as keys of what is remembered they would be one."""
    ages, flags = Compare("=", Col("age"), Literal(1)), Compare("=", Col("vip"), Literal(True))
    assert ages.right == flags.right
    with closing(engine.view()) as held:
        assert sum(counts(held.tally(tally(ages)), tally(ages))) == 4
        assert sum(counts(held.tally(tally(flags)), tally(flags))) == 6
    assert remembering._tally_text(tally(ages)) != remembering._tally_text(tally(flags))


def test_a_tally_of_other_facts_is_refused(engine):
    other = Schema("people", [Column("age", "integer", bounds=(0, 99))], Unit("who", 1))
    with closing(engine.view()) as held, pytest.raises(BadValue, match="this table's public facts"):
        held.tally(tally(schema=other))


def test_a_state_in_use_stays_while_another_is_prepared(engine, tmp_path):
    with closing(engine.view()) as held:
        (tmp_path / "people.csv").write_text("who,age,vip\n1,9,1\n")
        with closing(engine.view()) as new:
            assert counts(new.tally(tally()), tally())[9] == 1
            assert counts(held.tally(tally()), tally())[9] == 0
            assert held.snapshot != new.snapshot


def test_a_state_that_is_kept_outlives_its_holders(engine, tmp_path):
    first = engine.snapshot
    engine.keep([first])
    engine.close()
    (tmp_path / "people.csv").write_text("who,age,vip\n1,9,1\n")
    with closing(engine.view()) as new:
        assert new.snapshot != first
    engine.close()
    with closing(engine.view(snapshot=first)) as old:
        assert sum(counts(old.tally(tally()), tally())) == 12
