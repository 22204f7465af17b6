"""What the product promises about charging and handing out: each a function that gives what it found broken.

All ask the real product, from CSV to stored answer, and look at the ledger's own file and at what callers get.  Where
threads race, the interleaving is forced; where noise is drawn, equality is what is looked at.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from fractions import Fraction
from threading import Event, Thread, current_thread
from typing import Any

import pytest

import discreet as dp
from discreet.ledger import decide
from discreet.ledger.ledger import Ledger
from discreet.ledger.store import Pen, SqliteStore
from faults.world import (
    FAULTS,
    OLD,
    ROWS,
    TOWNS,
    WIDE,
    Maker,
    charged,
    entries,
    fault,
    folder_of,
    reply,
    rows,
    stored,
    write,
)

Promise = Callable[[Maker], list[str]]
COUNT = "SELECT COUNT(*) AS n FROM people"
BY_TOWN = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
PATIENCE = 60  # seconds: a guard against a hang, not a measure


# --- charging --------------------------------------------------------------------------------------------------------


def failures_stay_charged(make: Maker) -> list[str]:
    """Whatever goes wrong after the charge, what it took is gone."""
    wrong = []
    for name in FAULTS:
        people = make(budget="epsilon = 1")
        with fault(people, name):
            first, _ = reply(people.sql(COUNT), epsilon=1)
        if first != "engine-failed":
            wrong.append(f"{name}: {first}")
        second, _ = reply(people.sql(f"{COUNT} WHERE age > 3"), epsilon=1)
        if second != "budget-exceeded":
            wrong.append(f"{name}: a failure gave its charge back: {second}")
    return wrong


def races_do_not_overspend(make: Maker) -> list[str]:
    """Of two questions at once where one fits, one is answered, under a budget and under an analyst's cap."""
    wrong = []
    for budget, analyst in (("epsilon = 1", None), ("epsilon = 9\n[budget.analysts]\nana = 1", "ana")):
        first = make(budget=budget)
        people = [first, make.opened(folder_of(first))]
        for person in people:
            person.prepare()
            _ = person.table.ledger
        replies = _raced([asker.sql(f"{COUNT} WHERE age > {n}") for n, asker in enumerate(people)], analyst)
        if sorted(replies) != ["answered", "budget-exceeded"]:
            wrong.append(f"two at once got {sorted(replies)}")
        if charged(first) > 1:
            wrong.append(f"overspent: {charged(first)} of 1")
    return wrong


def _raced(askings: list[Any], analyst: str | None) -> list[str]:
    """The replies where nobody acts on a decision before all have decided or stand before the lock, and cannot."""
    here = {str(n): Event() for n in range(len(askings))}
    write_, decided, replies = SqliteStore.writing, decide.charge, []

    def arrive() -> None:
        if current_thread().name in here:
            here[current_thread().name].set()

    def writing(store: SqliteStore) -> Any:
        arrive()
        return write_(store)

    def charge(*given: Any, **named: Any) -> Any:
        decision = decided(*given, **named)
        arrive()
        assert all(event.wait(PATIENCE) for event in here.values())
        return decision

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteStore, "writing", writing)
        patch.setattr(decide, "charge", charge)
        ask = [lambda asking=asking: replies.append(reply(asking, epsilon=1, analyst=analyst)[0]) for asking in askings]
        threads = [Thread(target=target, name=str(n)) for n, target in enumerate(ask)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(3 * PATIENCE)
    return replies


def nothing_is_read_before_its_charge(make: Maker) -> list[str]:
    """When the engine is first asked, the charge is in the file; a question that is refused never gets there."""
    wrong: list[str] = []
    people = make(budget="epsilon = 1")
    with _watched(people) as runs:
        reply(people.sql(COUNT), epsilon=2)
        wrong += ["rows were read for a question that is refused"] if runs else []
        reply(people.sql(COUNT), epsilon=1)
    return wrong + [f"rows were read with {paid} of 1 charged" for paid in runs if paid != 1]


@contextlib.contextmanager
def _watched(people: dp.Dataset) -> Iterator[list[Fraction]]:
    """What the file held as charged at each of the engine's runs."""
    runs: list[Fraction] = []
    engine = people.table.engine
    run = engine.run

    def told(*given: Any, **named: Any) -> Any:
        runs.append(charged(people))
        return run(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "run", told)
        yield runs


def only_decimals_pay(make: Maker) -> list[str]:
    """What is no decimal in range is refused; nothing is read and the ledger does not move."""
    people = make()
    people.sql(COUNT).ask(epsilon=1)
    before, wrong = entries(people), []
    odd = [*map(float, ("nan", "inf", "-inf", "-0.0", "1e308", "-1")), "nan", "1e-400", "0x1", "9" * 5000, "", "1_0"]
    with _watched(people) as runs:
        for value in [*odd, True, [1], b"1", 1j, -1, 0]:
            code, _ = reply(people.sql(f"{COUNT} WHERE age > 3"), epsilon=value)
            if code != "bad-value":
                wrong.append(f"epsilon = {str(value)[:20]} ({type(value).__name__}) got: {code}")
        for text in ("'nan'", "-1", "1e999"):
            code, _ = reply_to(people, f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon={text}) COUNT(*) FROM people")
            wrong += [f"OPTIONS(epsilon={text}) got: {code}"] if code == "answered" else []
    if runs or entries(people) != before:
        wrong.append("a refusal moved the ledger or read rows")
    return wrong


def reply_to(people: dp.Dataset, sql: str) -> tuple[str, Any]:
    """As `reply`, where the text itself may be refused."""
    try:
        asking = people.sql(sql)
    except dp.DiscreetError as error:
        return error.code, error
    return reply(asking)


def charges_are_never_rounded_down(make: Maker) -> list[str]:
    """Amounts that no decimal ends are written down as themselves or more, and shown so; ten tenths are one."""
    delta, wrong = Fraction(1, 3**17), []
    people = make()
    for text, epsilon in ((COUNT, Fraction(1, 1009)), (BY_TOWN, Fraction(1, 1009)), (BY_TOWN, Fraction(2))):
        answer = people.sql(text).ask(epsilon=epsilon, delta=delta)
        entry = entries(people, "charge")[-1]
        delta_charged = Fraction(entry["delta"])
        kept = {name: Fraction(entry["amounts"][name]) for name in ("epsilon", "delta", "keys")}
        wrong += [f"epsilon charged is {epsilon - kept['epsilon']} too small"] if kept["epsilon"] < epsilon else []
        wrong += ["delta charged is too small"] if kept["delta"] + kept["keys"] < delta_charged else []
        shown = Fraction(answer.cost["epsilon"]), Fraction(answer.cost["delta"])
        wrong += [f"shown cost {shown} is too small"] if shown[0] < epsilon or shown[1] < delta_charged else []
    people = make(budget="epsilon = 0.3")
    codes = [reply(people.sql(f"{COUNT} WHERE age > {n}"), epsilon="0.1")[0] for n in range(3)]
    codes.append(reply(people.sql(COUNT), epsilon="1e-9")[0])
    return wrong + ([] if codes == ["answered"] * 3 + ["budget-exceeded"] else [f"three tenths of 0.3: {codes}"])


def charges_follow_no_row(make: Maker) -> list[str]:
    """Quote, charge and cost are the same on tables of many, few and no groups, rows or units."""
    told = {}
    for name, table_rows in (("many", ROWS), ("few", rows(64, towns=TOWNS[:2])), ("none", [])):
        people, told[name] = make(table_rows), []
        for text in (BY_TOWN, COUNT, "SELECT town, AVG(age) AS a FROM people WHERE age > 100 GROUP BY town"):
            quote = people.sql(text).quote(epsilon=2).to_json()
            code, answer = reply(people.sql(text), epsilon=2)
            told[name].append([quote, code, getattr(answer, "cost", None), getattr(answer, "remaining", None)])
        told[name] += [bare(entry) for entry in entries(people, "charge")]
    return [f"the charge differs on {name} rows" for name in told if told[name] != told["many"]]


def bare(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry without what differs from table to table and from run to run."""
    return {name: value for name, value in entry.items() if name not in ("key", "time", "holder", "snapshot")}


def quotes_are_what_is_charged(make: Maker) -> list[str]:
    """Cost and what remains, as quoted, as answered and as written down."""
    people, wrong = make(), []
    for text in (COUNT, BY_TOWN, "SELECT region, AVG(age) AS a, MEDIAN(pay) AS m FROM people GROUP BY region"):
        asking, terms = people.sql(text), {"epsilon": "0.7", "delta": "1e-9", "analyst": "ana"}
        quote = asking.quote(**terms)
        answer = asking.ask(**terms)
        entry = entries(people, "charge")[-1]
        written = tuple(Fraction(entry[name]) for name in ("epsilon", "delta"))
        for name, cost in (("quoted", quote.cost), ("answered", answer.cost)):
            if tuple(Fraction(cost[part]) for part in ("epsilon", "delta")) != written:
                wrong.append(f"{name} {cost} but charged {written}: {text}")
        if quote.remaining_after != answer.remaining:
            wrong.append(f"{quote.remaining_after} was to remain, and {answer.remaining} does: {text}")
    return wrong


# --- handing out -----------------------------------------------------------------------------------------------------


def answers_are_computed_once(make: Maker) -> list[str]:
    """A charge is computed once, and once more if that failed; then it is another charge, and a stored answer never."""
    wrong = []
    people = make()
    with _watched(people) as runs:
        replies = [reply(people.sql(COUNT), epsilon=1) for _ in range(4)]
    if len(runs) != 1 or len({answer.to_bytes() for _, answer in replies}) != 1 or charged(people) != 1:
        wrong.append(f"one answered question was computed {len(runs)} times")
    with fault(people, "the engine"), _watched(people) as runs:
        codes = [reply(people.sql(BY_TOWN), epsilon=1)[0] for _ in range(4)]
    charges = len(entries(people, "charge")) - 1
    if len(runs) != 4 or charges != 2 or codes != ["engine-failed"] * 4:
        wrong.append(f"one failing question was computed {len(runs)} times under {charges} charge: {codes}")
    return wrong


def answers_are_stored_before_they_are_seen(make: Maker) -> list[str]:
    """What is returned lies in the file at that moment; where it cannot be written, nothing is returned."""
    people, wrong = make(), []
    append = Pen.append

    def full(pen: Pen, entry: dict[str, Any], answer: tuple[int, bytes] | None = None) -> Any:
        if entry["kind"] == "answer":
            raise sqlite3.OperationalError("database or disk is full")
        return append(pen, entry, answer)

    for broken in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if broken:
                patch.setattr(Pen, "append", full)
            code, answer = reply(people.sql(f"{COUNT} WHERE age > {broken:d}"), epsilon="1e-5")
        if code == "answered" and answer.to_bytes() not in stored(people):
            wrong.append("an answer was seen that is not stored")
    return wrong if code != "answered" else [*wrong, "an answer was seen although the disk is full"]


def answers_are_followed_by_their_like(make: Maker) -> list[str]:
    """The first answer, every replay and what is stored are the same bytes; noise of width 10⁵ tells them apart."""
    people = make()
    answers = [people.sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region").ask(epsilon="1e-5")]
    answers.append(people.sql("select REGION, count( * ) as n from PEOPLE group by 1").ask(epsilon="0.00001"))
    answers.append(make.opened(folder_of(people)).sql(answers[0].question).ask(epsilon="1e-5"))
    wrong = (
        [] if [answer.replayed for answer in answers] == [False, True, True] else ["the same question was asked anew"]
    )
    told = {answer.to_bytes() for answer in answers}
    return wrong if told == set(stored(people)) else [*wrong, f"{len(told)} answers to one charge"]


def replays_are_their_analysts_own(make: Maker) -> list[str]:
    """What ben gets and pays is the same whether or not ana asked before; unless the curator shares answers."""
    caps, wrong, told = "[budget.analysts]\nana = 5\nben = 5", [], {}
    for before in ("ana", "carl"):
        people = make(budget=f"{WIDE}\n{caps}")
        people.sql(COUNT if before == "ana" else f"{COUNT} WHERE age > 3").ask(epsilon=2, analyst=before)
        code, answer = reply(people.sql(COUNT), epsilon=2, analyst="ben")
        paid = sum(Fraction(entry["epsilon"]) for entry in entries(people, "charge") if entry["analyst"] == "ben")
        told[before] = code, paid, getattr(answer, "replayed", None), getattr(answer, "remaining", None)
    if told["ana"] != told["carl"] or told["ana"][:3] != ("answered", 2, False):
        wrong.append(f"ben sees that ana asked: {told}")
    people = make(budget=f"{WIDE}\nshare_answers = true\n{caps}")
    shared = [people.sql(COUNT).ask(epsilon=2, analyst=who).to_bytes() for who in ("ana", "ben")]
    return wrong if len(set(shared)) == 1 and charged(people) == 2 else [*wrong, "shared answers are not shared"]


def answers_are_of_their_snapshot(make: Maker) -> list[str]:
    """A changed table is another question; and after a change between charge and reading the charged state is read.

    At ε = 250 and two rows a unit noise moves a count with probability below 3·e⁻¹²⁵.
    """
    wrong, people = [], make(ROWS)
    first = people.sql(COUNT).ask(epsilon=250)
    write(folder_of(people), OLD)
    second = people.sql(COUNT).ask(epsilon=250)
    if second.rows == first.rows or second.replayed or charged(people) != 500:
        wrong.append("a stale answer was given for a changed table")
    people = make(ROWS)
    charge = Ledger.charge

    def changing(ledger: Ledger, *given: Any, **named: Any) -> Any:
        receipt = charge(ledger, *given, **named)
        write(folder_of(people), OLD)
        people.prepare()
        return receipt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "charge", changing)
        code, answer = reply(people.sql(COUNT), epsilon=500)
    same = code == "answered" and answer.rows == first.rows
    return wrong if same else [*wrong, f"another table was read than the one charged for: {code}"]


PROMISES: tuple[Promise, ...] = (
    failures_stay_charged,
    races_do_not_overspend,
    nothing_is_read_before_its_charge,
    only_decimals_pay,
    charges_are_never_rounded_down,
    charges_follow_no_row,
    quotes_are_what_is_charged,
    answers_are_computed_once,
    answers_are_stored_before_they_are_seen,
    answers_are_followed_by_their_like,
    replays_are_their_analysts_own,
    answers_are_of_their_snapshot,
)
