"""What is measured of side channels: that tables differ by their target alone, and that every figure is found."""

import pytest

from benchmarks import channel_cells, channel_tables, channels

SMALL = channels.Sizes(
    people=200, asks=4, rows=(100,), repeats=2, unit_rows=30, long_text=1000, row_text=10, memory=2**26
)


def test_tables_differ_by_the_target_alone() -> None:
    without, given = channel_tables.table(20), channel_tables.table(20, ("a", "b"))
    assert given.slice(0, 20).equals(without)
    assert given.slice(20).to_pylist() == [
        {"person_id": channel_tables.TARGET, "region": "north", "age": 50, "note": note} for note in "ab"
    ]


def test_separation_is_the_chance_that_the_target_takes_longer() -> None:
    low, high = [float(i) for i in range(30)], [float(i) for i in range(100, 130)]
    assert channels.separation(low, high)[0] == 1
    assert channels.separation(high, low)[0] == 0
    assert channels.separation(low, low)[0] == 0.5
    assert channels.separation(low, high)[1] < 1e-9


def test_both_sides_are_called_equally_often_and_in_either_order() -> None:
    called: list[int] = []
    times = channels.in_turns(lambda: called.append(0), lambda: called.append(1), 40)
    assert list(map(len, times)) == [40, 40]
    assert called.count(0) == called.count(1) == 43
    assert {tuple(called[i : i + 2]) for i in range(0, len(called), 2)} == {(0, 1), (1, 0)}


def test_failures_tell_more_bits_than_there_are_failures() -> None:
    assert channels.told(5, 5) == 5
    assert channels.told(10, 10) == 10
    assert channels.told(100, 1) == pytest.approx(6.658, abs=1e-3)  # none, or which of the hundred
    assert channels.told(10_000, channels.FAILURES) > 59


def test_each_pair_is_timed_asked_and_in_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = channels.pairs(SMALL)
    assert [len(pair.target) for pair in pairs] == [0, 1, 30, 30, 1]
    monkeypatch.setattr(channels, "pairs", lambda _: pairs[-1:])
    table = channels.timed(SMALL)
    *timed, guessed = [row[:3] for row in table.rows]
    assert timed == [(pairs[-1].name, where, "4") for where in ("ask", "engine")]
    assert guessed[1:] == ("ask", "4")
    assert all(0 <= float(row[5]) <= 1 for row in table.rows)


def test_progress_tells_the_same_steps_whatever_the_size() -> None:
    table = channels.grown(channels.Sizes(rows=(10, 3000), repeats=1))
    few, many = table.rows
    assert few[4] == many[4] == "reading 0, ranking 0.1, writing 0.7, writing 1"


def test_memory_of_every_question_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "HEAVY", {"count": channels.PLAIN})
    (counted, prepared) = channels.memory(SMALL).rows
    assert all(float(counted[i]) > 10 for i in (1, 2))
    assert counted[3:] == ("answers", "answers")
    assert prepared[3:] == ("prepares", "prepares")


def test_a_dataset_closes_for_everyone_after_its_failures() -> None:
    assert channels.closing() == "5 times engine-failed, then closed, and ε = 0 left for another analyst"


def test_another_analyst_sees_what_was_spent() -> None:
    apart, together = channels.shared(SMALL).rows
    assert (apart[1:], together[1:]) == (("1000000", "999999.7", "false"), ("1000000", "999999.7", "true"))


def test_a_key_that_one_person_has_alone_is_not_released() -> None:
    """2 asks at δ = 1e-9 each; 80 people have each common key, 31 σ above the threshold: false alarms below 1e-8."""
    table = channels.keys(channels.Sizes(people=8000, repeats=2))
    assert table.rows == (("many people's", "200 of 200"), ("the target's alone", "0 of 20"))
    assert "keys: always." in table.meaning


def test_private_files_are_their_owners_alone_and_the_worker_dumps_no_core() -> None:
    rows = {row[0]: row[1] for row in channels.beside(SMALL).rows}
    prepared = [name for name in rows if name.startswith("people.") and name.endswith(".prepared")]
    assert {rows[name] for name in ("people.key", "people.ledger", *prepared)} == {"mode 600"}
    assert len(prepared) == 1
    assert rows["worker"] == "core dumps 0, hard limit 0"


def test_cells_that_refuse_a_source_are_told_from_those_that_do_not() -> None:
    names = ("emoji", "é in Latin-1", "CR without quotes", "quote never closed")
    table = channel_cells.refused({name: channel_cells.CONTENTS[name] for name in names})
    assert "kept with: emoji." in table.meaning
    assert [row[0] for row in table.rows] == list(names[1:])
    latin, carriage, quote = table.rows
    assert latin[1:] == ("refused: A CSV must be UTF-8.", "refused: The table could not be read.")
    assert carriage[1:] == ("refused: Line ends within the cells of a CSV must be in quotes.", channel_cells.KEPT)
    assert quote[1:] == ("refused: Quotes in a CSV must come in pairs.", channel_cells.KEPT)
