"""A state is pinned, no key reaches the server's log, and after a charge every failure has one reply."""

import os
import signal
import time

import psycopg
import pytest

import discreet as dp
from discreet.engine import Limits
from discreet.engine.prepare import KEYS
from discreet.engine.secret import Secret
from discreet.errors import EngineFailed, MetadataError, NotAnswerable, SourceUnavailable, engine_failed
from discreet.metadata import parse
from discreet.query.bound import draft_of
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema, Unit
from engine.postgres.beside import KEY, filled, opened
from engine.postgres.server import running
from people_toml import people_toml

SCHEMA = Schema(
    "people",
    [
        Column("region", "category", values=["north", "south"]),
        Column("age", "integer", bounds=(0, 110)),
        Column("town", "text"),
    ],
    Unit("who", 2),
)
COLUMNS = {"who": "text", "region": "text", "age": "integer", "town": "text"}
ROWS = [(f"u{i % 40}", ("north", "south")[i % 3 == 0], i % 90, f"t{i % 7}") for i in range(200)]
BY_REGION = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
TOML = people_toml(
    "epsilon = 10\ndelta = 1e-6", columns='[columns.town]\ntype = "text"\n', key="who", source="{source}"
)


def tally(sql):
    return draft_of(parse_sql(sql).question, SCHEMA).tally


def counted(view, sql=BY_REGION):
    return next(iter(view.tally(tally(sql)).compute().parts.values())).tolist()


@pytest.fixture
def engine(server, tmp_path):
    filled(server, "people", COLUMNS, ROWS)
    with opened(server, tmp_path / "people", SCHEMA, "people") as engine:
        yield engine


def test_rows_inserted_meanwhile_do_not_show(server, engine):
    view = engine.view()
    before = counted(view)
    with server.connect() as connection:
        connection.execute("INSERT INTO people VALUES ('new', 'north', 5, 't0'), ('newer', 'south', 5, 't0')")
    del view._remembered[next(iter(view._remembered))]
    assert counted(view) == before
    later = engine.view()
    assert later.snapshot != view.snapshot
    assert sum(counted(later)) == sum(before) + 2
    assert engine.view(snapshot=view.snapshot).snapshot == view.snapshot
    with server.connect() as connection:
        connection.execute("DELETE FROM people WHERE who IN ('new', 'newer')")
    assert engine.view().snapshot == view.snapshot  # the same content is the same state again


def test_states_that_nobody_holds_are_dropped(server, engine):
    view = engine.view()
    first = view.snapshot
    view.close()
    with server.connect() as connection:
        connection.execute("UPDATE people SET age = age + 1")
    assert engine.view().snapshot != first
    with pytest.raises(SourceUnavailable, match="are gone"):
        engine.view(snapshot=first)
    engine.clean()
    with server.connect() as connection:
        assert not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'discreet_people_%'").fetchall()


def test_an_unchanged_server_is_not_read_again(engine):
    engine.prepare()
    engine.view()
    counted(engine.view())
    engine.prepare()
    known = engine._known
    assert not engine.prepare().anew
    assert engine._known is known


def test_the_log_holds_no_key(server, engine):
    counted(engine.view())
    counted(engine.view(), "SELECT town, COUNT(*) AS n FROM people GROUP BY town")
    with server.connect() as connection:
        connection.execute("SELECT %s::text", ["a bound parameter"])
    log = server.log()
    assert "discreet_order" in log  # statements are logged
    assert "a bound parameter" in log  # and so are parameters: what is sent as one would be found
    secret = Secret(bytes.fromhex(KEY))
    for key in (KEY, *(secret.key_for(name, digits) for name, digits in KEYS.items())):
        assert key not in log
        assert key[:12] not in log


def test_no_table_that_stays_holds_a_key(server, engine):
    counted(engine.view())
    secret = Secret(bytes.fromhex(KEY))
    with server.connect() as connection:
        (space,) = connection.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'discreet_people_%'"
        ).fetchone()
        dump = connection.execute(f"SELECT schema_to_xml('{space}', true, false, '')::text").fetchone()[0]
    assert "discreet_facts" in dump
    assert not any(secret.key_for(name, digits) in dump for name, digits in KEYS.items())


def same_reply(error):
    expected = engine_failed()
    assert (error.what, error.why, error.fix) == (expected.what, expected.why, expected.fix)
    assert error.__cause__ is None
    assert error.__context__ is None


def test_a_killed_server_gives_the_one_reply(tmp_path):
    with running(logged=False) as server:
        filled(server, "people", COLUMNS, ROWS)
        engine = opened(server, tmp_path, SCHEMA, "people")
        view = engine.view()
        wanted = view.tally(tally(BY_REGION))
        server.kill()
        time.sleep(0.5)
        for _ in range(2):  # the line that was open, and a new one
            with pytest.raises(EngineFailed) as failed:
                wanted.compute()
            same_reply(failed.value)
        with pytest.raises(SourceUnavailable):
            engine.view()


def test_a_server_that_hangs_gives_the_one_reply_in_time(tmp_path):
    with running(logged=False) as server:
        filled(server, "people", COLUMNS, ROWS)
        engine = opened(server, tmp_path, SCHEMA, "people", Limits(memory=2**29, seconds=1))
        wanted = engine.view().tally(tally(BY_REGION))
        process = engine._connection.info.backend_pid
        os.kill(process, signal.SIGSTOP)
        try:
            started = time.monotonic()
            with pytest.raises(EngineFailed) as failed:
                wanted.compute()
            assert time.monotonic() - started < 10
            same_reply(failed.value)
        finally:
            os.kill(process, signal.SIGCONT)


def test_a_question_beyond_its_time_gives_the_one_reply(server, engine, monkeypatch):
    wanted = engine.view().tally(tally(BY_REGION))
    engine.limits = Limits(memory=2**29, seconds=0.2)
    slow = "SELECT 0::bigint AS cell, count(*) AS p0 FROM pg_sleep(5)"
    run = engine.run
    monkeypatch.setattr(engine, "run", lambda statements, snapshot=None: run([slow], snapshot))
    with pytest.raises(EngineFailed) as failed:
        wanted.compute()
    same_reply(failed.value)


def test_a_state_that_lost_rows_is_not_asked(server, engine):
    view = engine.view()
    with server.connect() as connection:
        (space,) = connection.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'discreet_people_%'"
        ).fetchone()
        connection.execute(f'DELETE FROM "{space}".prepared WHERE discreet_rank = 1')
    with pytest.raises(EngineFailed) as failed:
        counted(view)
    same_reply(failed.value)


def test_an_ordinary_user_can_prepare_and_ask_and_others_cannot_look(server, tmp_path):
    filled(server, "people_of_asker", COLUMNS, ROWS)
    with server.connect() as connection:
        for role in ("asker", "stranger"):
            connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute("GRANT SELECT ON people_of_asker TO asker")
        with opened(server, tmp_path, SCHEMA, "people_of_asker", user="asker", key=KEY[::-1]) as engine:
            with pytest.raises(SourceUnavailable, match="could not be read"):
                engine.view()
            connection.execute("GRANT CREATE ON DATABASE postgres TO asker")
            assert sum(counted(engine.view())) > 0
            assert engine.identity()["file"].startswith("postgresql:")
            space = engine._states(engine._connection)[0]
            connection.execute("SET ROLE stranger")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f'SELECT * FROM "{space}".prepared')
            connection.execute("RESET ROLE")
            engine.clean()


def test_an_expression_that_a_server_cannot_compute_is_refused_before_the_charge(server, engine):
    view = engine.view()
    with pytest.raises(NotAnswerable, match="lower of a text"):
        view.tally(tally("SELECT COUNT(*) AS n FROM people WHERE lower(town) = 't1'"))


# --- the whole path --------------------------------------------------------------------------------------------------


def test_a_dataset_whose_source_is_a_server_is_asked_and_replayed(server, tmp_path, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "sesame-not-to-be-seen")
    filled(server, "people_asked", COLUMNS, ROWS)
    toml = tmp_path / "people.toml"
    toml.write_text(TOML.format(source=server.url("people_asked")))
    with dp.open(toml) as people:
        answer = people.sql(BY_REGION).ask(epsilon=1)
        assert not answer.replayed
        assert people.sql(BY_REGION).ask(epsilon=1).replayed
        town = people.sql("SELECT upper(town) AS t, COUNT(*) AS n FROM people GROUP BY upper(town)")
        left = people.table.remaining()
        with pytest.raises(NotAnswerable):
            town.ask(epsilon=1)
        assert people.table.remaining() == left
    said = b"".join(path.read_bytes() for path in tmp_path.iterdir()) + repr(answer).encode() + server.log().encode()
    assert b"sesame-not-to-be-seen" not in said


def test_a_failure_after_the_charge_stays_charged(tmp_path):
    with running(logged=False) as server:
        filled(server, "people", COLUMNS, ROWS)
        toml = tmp_path / "people.toml"
        toml.write_text(TOML.format(source=server.url("people")))
        with dp.open(toml) as people:
            people.sql(BY_REGION).ask(epsilon=1)
            run = people.table.engine.run

            def killed(statements, snapshot=None):
                server.kill()
                time.sleep(0.5)
                return run(statements, snapshot)

            people.table.engine.run = killed
            with pytest.raises(EngineFailed) as failed:
                people.sql("SELECT COUNT(*) AS n FROM people").ask(epsilon=1)
            same_reply(failed.value)
            assert float(people.table.remaining()["epsilon"]) <= 8


BAD = [
    "postgresql://me:sesame@localhost/db?table=people",
    "postgresql://me@localhost/db?table=people&password=sesame",
    "postgresql://me@localhost/db?table=people&PASSWORD=sesame",
    "postgresql://me@localhost/db?table=people&options=sesame",
    "postgresql://me@localhost/db?table=a.b.sesame",
    "postgresql://me@localhost/?table=sesame",
    "postgresql://localhost/db?table=sesame",
    "postgresql://me@localhost/db?sslmode=sesame&table=people",
    "postgresql://me@localhost:sesame/db?table=people",
]


@pytest.mark.parametrize("source", BAD)
def test_addresses_that_are_refused_are_not_repeated(source):
    with pytest.raises(MetadataError) as refused:
        parse(TOML.format(source=source))
    assert "sesame" not in str(refused.value)


def test_connections_to_other_machines_are_encrypted_by_default():
    metadata = parse(TOML.format(source="postgresql://me@db.example.org/clinic?table=people"))
    assert metadata.address.sslmode == "require"
    assert metadata.source_path is None
    assert parse(TOML.format(source="people.csv")).address is None


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
@pytest.mark.parametrize("bounds", [("2000-01-01", "2020-12-31"), None])
def test_no_day_is_too_far_to_be_read(server, tmp_path, kind, bounds):
    """The latest moments passed 64 bits in microseconds, and one cell failed every preparing."""
    latest = {"date": "5874897-12-31"}.get(kind, "294276-12-31")
    days = ["2001-01-01", latest, "4713-01-01 BC", "infinity", "-infinity", None]
    filled(server, "people", {"who": "text", "day": kind}, [(str(place), day) for place, day in enumerate(days)])
    schema = Schema("people", [Column("day", "date", bounds=bounds)], Unit("who", 1))
    with opened(server, tmp_path / "days", schema, "people") as engine:
        assert engine.prepare().anew
