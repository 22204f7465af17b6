"""In a rehearsal a failure shows its own exception and traceback; on a real table nothing of it is ever shown."""

import inspect
import pickle
import traceback
from contextlib import closing

import pytest

import discreet as dp
from discreet import gate
from discreet.engine import prepare
from discreet.errors import BadValue, EngineFailed, engine_failed
from discreet.ledger.ledger import Ledger
from discreet.privacy.cost import Pure
from discreet.rehearsal import Rehearsal
from rehearsal.parts import SQL, Breaking, as_bytes, divided_by_nothing, parts_of, written

PLACES = ("compute", "mechanism", "pack")


@pytest.fixture
def toml(tmp_path):
    return written(tmp_path)


def room(table, place, *, in_a_run=False):
    """A room that breaks in one place."""
    with closing(table.view()) as view:
        request, mechanism, counts = parts_of(table, view)
        if place == "compute":
            counts = counts.then(lambda exact: divided_by_nothing(int(exact.sum())), counts.sensitivity, proof="toy.md")
        packs = {"pack": broken_pack, "text": lambda noisy: "text"}
        broken = Breaking(mechanism) if place == "mechanism" else mechanism
        if not in_a_run:
            return table.disclose(request, view, broken, counts, pack=packs.get(place, as_bytes))
    return table.run(request, Pure(1)).step("one", broken, counts, pack=packs.get(place, as_bytes))


def broken_pack(noisy):
    raise ZeroDivisionError("rows over nothing")


@pytest.mark.parametrize("in_a_run", [False, True], ids=["disclose", "run"])
@pytest.mark.parametrize("place", PLACES)
def test_a_room_that_raises_shows_its_own_exception(toml, place, in_a_run):
    with (
        dp.open(toml, rehearsal=True) as rehearsed,
        pytest.raises(ZeroDivisionError, match="rows over nothing") as seen,
    ):
        room(rehearsed.table, place, in_a_run=in_a_run)
    told = "".join(traceback.format_exception(seen.value))
    assert ("broken_pack" if place == "pack" else "divided_by_nothing") in told
    assert "EngineFailed" not in told
    if place != "pack":
        assert isinstance(seen.value.__cause__, KeyError)  # the room's own chain


@pytest.mark.parametrize("in_a_run", [False, True], ids=["disclose", "run"])
@pytest.mark.parametrize("place", PLACES)
def test_a_real_ledger_never_reveals(toml, place, in_a_run):
    with dp.open(toml) as real, pytest.raises(EngineFailed) as seen:
        room(real.table, place, in_a_run=in_a_run)
    assert str(seen.value) == str(engine_failed())
    assert seen.value.__cause__ is None
    assert seen.value.__context__ is None
    told = "".join(traceback.format_exception(seen.value))
    assert "nothing" not in told
    assert "divided" not in told


def test_a_purse_and_a_ledger_of_a_rehearsal_are_plain_ones_and_the_gate_knows_no_rehearsal(toml):
    """What hides causes is the gate, and there is nothing that could tell it not to."""
    with dp.open(toml, rehearsal=True) as rehearsed, closing(rehearsed.table.view()) as view:
        assert type(rehearsed.table.ledger) is Ledger
        request, mechanism, counts = parts_of(rehearsed.table, view)
        order = rehearsed.table.charge_request(request, view.snapshot)
        with pytest.raises(EngineFailed) as seen:
            gate.disclose(rehearsed.table.ledger, order, Breaking(mechanism), counts, pack=as_bytes)
    assert (seen.value.__cause__, seen.value.__context__) == (None, None)
    assert set(inspect.signature(gate.disclose).parameters) == {
        "payer", "request", "mechanism", "bounded", "pack", "source",
    }  # fmt: skip
    assert "rehears" not in inspect.getsource(gate)


def test_a_rehearsal_cannot_be_given_rows(toml):
    assert set(inspect.signature(Rehearsal).parameters) == {"metadata", "toml", "limits", "units", "seed"}
    with dp.open(toml, table=object(), rehearsal=True) as rehearsed:
        assert rehearsed.table.engine._source.parent == rehearsed.table.folder


def test_a_rehearsal_says_what_was_packed_wrongly(toml):
    with dp.open(toml, rehearsal=True) as rehearsed, pytest.raises(TypeError, match="must give bytes, and gave str"):
        room(rehearsed.table, "text")


def test_a_stored_failure_is_told_again_as_it_was(toml):
    with dp.open(toml, rehearsal=True) as rehearsed:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                room(rehearsed.table, "mechanism")
        assert rehearsed.budget.charges == 1


def test_a_mechanism_that_does_not_cover_is_refused_by_its_name(toml):
    with dp.open(toml, rehearsal=True) as rehearsed, closing(rehearsed.table.view()) as view:
        request, mechanism, counts = parts_of(rehearsed.table, view)
        wide = counts.then(lambda exact: exact, type(counts.sensitivity)(99, 99, 99, 99), proof="toy.md")
        with pytest.raises(BadValue, match=type(mechanism).__name__):
            rehearsed.table.disclose(request, view, mechanism, wide, pack=as_bytes)


# --- the engine ------------------------------------------------------------------------------------------------------


def test_a_statement_that_fails_in_the_worker_shows_the_engines_own_words(toml):
    import duckdb

    with dp.open(toml, rehearsal=True) as rehearsed:
        with pytest.raises(duckdb.CatalogException, match="nowhere"):
            rehearsed.table.engine.run(["SELECT 1 FROM nowhere"])
        assert len(rehearsed.sql(SQL).ask(epsilon=1)) == 2  # the next question has a worker again
    with dp.open(toml) as real, pytest.raises(EngineFailed) as seen:
        real.table.engine.run(["SELECT 1 FROM nowhere"])
    assert str(seen.value) == str(engine_failed())


def test_a_question_whose_statement_fails_shows_it_through_the_gate(toml, monkeypatch):
    import duckdb

    from discreet.engine import remembering

    compiled = remembering.statements

    def broken(*arguments):
        return tuple(
            type(statement)(**{**vars(statement), "sql": "SELECT 1 FROM nowhere"}) for statement in compiled(*arguments)
        )

    monkeypatch.setattr(remembering, "statements", broken)
    with dp.open(toml, rehearsal=True) as rehearsed, pytest.raises(duckdb.CatalogException, match="nowhere"):
        rehearsed.sql(SQL).ask(epsilon=1)
    with dp.open(toml) as real, pytest.raises(EngineFailed):
        real.sql(SQL).ask(epsilon=1)


def test_preparing_that_fails_shows_the_engines_own_words(toml, monkeypatch):
    import duckdb

    steps = prepare.steps

    def broken(*arguments):
        first, *rest = steps(*arguments)
        return [type(first)(first.name, (*first.statements, "SELECT 1 FROM nowhere")), *rest]

    monkeypatch.setattr(prepare, "steps", broken)
    with dp.open(toml, rehearsal=True) as rehearsed, pytest.raises(duckdb.CatalogException, match="nowhere"):
        rehearsed.prepare()


def test_a_pass_over_rows_that_fails_in_the_worker_shows_its_exception(toml, monkeypatch):
    from discreet.engine import view as views

    with dp.open(toml, rehearsal=True) as rehearsed, closing(rehearsed.table.view()) as view:
        assert view.rows(["age"]).compute().size > 1000
        monkeypatch.setattr(views, "_condition", lambda *_: "no_such_column = 1")
        with pytest.raises(Exception, match="no_such_column"):
            view.rows(["age"]).compute()


def test_a_rehearsal_says_what_cannot_be_sent_to_the_worker(toml):
    with dp.open(toml, rehearsal=True) as rehearsed:
        rehearsed.prepare()
        with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="pickle"):
            rehearsed.table.engine.run([lambda: None])


def test_a_rehearsal_says_in_the_fixed_words_what_ran_out_of_time(toml):
    limits = dp.Limits(seconds=0.001)
    with dp.open(toml, limits=limits, rehearsal=True) as rehearsed, pytest.raises(EngineFailed):
        rehearsed.sql(SQL).ask(epsilon=1)
