"""Whatever is asked, no cell is told: not by an answer, an error, a log, the ledger or a file left behind.

3,000 statements, 120,000 in the long run, each through parse → bound → plan and, if it is accepted, through the engine
and real noise; one in `GATED` of those through ledger and gate too.

False alarms: a key of few units is released with probability δ = 10⁻¹⁵, and one of 1,300 numbers of 15 digits is met by
chance in 1.5·10⁻¹² of all places where it might stand; an answer has some hundreds of those, so a test of 750
statements alarms wrongly with probability below 10⁻⁶.
"""

import csv
import io
import json
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import discreet as dp
from discreet.answer.answer import Answer
from discreet.answer.compose import answer_of
from discreet.ask.asking import Asking
from discreet.cli.formats import FORMATS
from discreet.errors import DiscreetError, EngineFailed
from discreet.noise.source import SYSTEM
from discreet.query import sql
from discreet.query.compile.exacts import exacts_of
from discreet.query.compile.statements import statements
from discreet.query.explain import words
from discreet.query.plan import Plan
from fuzz.grammar import statement
from fuzz.tokens import NEVER_FOUND, Secrets, chain, kept_apart, laid, left_behind, told_by
from fuzz.watch import ENGINE_WORDS, MOST_CPU, Hang, surrounded, watchdog, watched
from fuzz.words import HEAVY

PIECE = 750  # statements of one test
SHORT, LONG = 4, 160
GATED = 12
EPSILON = "0.01"


@dataclass
class Replies:
    """How many of each kind; what told or broke something; and the slowest refusal's seconds of CPU, of all, number."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: tuple[float, float, int] = (0.0, 0.0, -1)


def ungated(asking: Asking, plan: Plan) -> Answer:
    """What the gate would hand out, without a charge: exact numbers, real noise, the same bytes."""
    draft, parts = plan.draft, [measured.part for measured in plan.measured]
    asked = statements(draft.schema, draft.cells, draft.question.where, draft.caps, parts)
    engine = asking.table.engine
    exacts = exacts_of(asked, engine.run([statement.sql for statement in asked]), draft.cells)
    return Answer.from_bytes(answer_of(plan, plan.joint(exacts, SYSTEM)).to_bytes())


def told(answer: Answer) -> str:
    """An answer in every form that has text."""
    parts = [repr(answer), answer._repr_html_(), answer.explain(), json.dumps(answer.to_json())]
    parts += [FORMATS[name](answer).decode() for name in ("csv", "tsv", "json", "jsonl", "md", "html")]
    assert next(csv.reader(io.StringIO(FORMATS["csv"](answer).decode())))[: len(answer.keys)] == list(answer.keys)
    return "\n".join([*parts, answer.to_bytes().decode()])


def reply(dataset: dp.Dataset, text: str, *, gated: bool) -> tuple[str, str]:
    """What came of a statement, and all that was said."""
    try:
        asking = dataset.sql(text)
        if gated:
            said = asking.explain(epsilon=EPSILON, delta=NEVER_FOUND)
            return "answered", said + told(asking.ask(epsilon=EPSILON, delta=NEVER_FOUND))
        plan = asking.plan(epsilon=EPSILON, delta=NEVER_FOUND)
        return "answered", "\n".join([*words(plan), told(ungated(asking, plan))])
    except DiscreetError as error:
        refusal = error
    assert not isinstance(refusal, EngineFailed), "the engine failed"
    assert all((refusal.what, refusal.why, refusal.fix))
    assert not any(type(error).__module__.split(".")[0].strip("_") == "duckdb" for error in chain(refusal))
    return refusal.code, told_by(refusal) + json.dumps(refusal.to_json())


def run(folder: Path, piece: int, secrets: Secrets) -> Replies:
    """The replies of one piece."""
    replies, known = Replies(), secrets.known()
    with dp.open(folder / "people.toml") as dataset:
        dataset.prepare()
        for number in range(piece * PIECE, (piece + 1) * PIECE):
            text = statement(number, known)
            secrets.typed.append(text)
            begun, cpu = time.monotonic(), time.thread_time()
            try:
                with watchdog():
                    code, said = reply(dataset, text, gated=number % GATED == 0)
            except (Exception, Hang) as error:  # one report of all that went wrong, not of the first
                replies.wrong.append(f"{number}: {type(error).__name__}: {str(error)[:150]}: {text[:700]!r}")
                continue
            replies.counts[code] += 1
            if code != "answered":
                replies.slowest = max(replies.slowest, (time.thread_time() - cpu, time.monotonic() - begun, number))
            leaks = secrets.found(said, text) or ENGINE_WORDS.findall(said)
            if leaks:
                replies.wrong.append(f"{number} tells {leaks}: {text[:700]!r}")
    return replies


def searched(folder: Path, secrets: Secrets) -> list[str]:
    """Files and names that hold a token which nobody typed."""
    files = left_behind(folder, but=("people.csv", "people.*.prepared"))
    return [name for name, content in files if secrets.found(name) or secrets.leaked(content)]


def fuzzed(folder: Path, piece: int, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> Replies:
    surrounded(folder, patch)
    secrets = laid(folder, seed=5_000_000 + piece)
    with watched(folder, secrets) as told_meanwhile:
        replies = run(folder, piece, secrets)
    assert not replies.wrong, "\n".join([f"{len(replies.wrong)} of {PIECE}", *replies.wrong])
    assert told_meanwhile == []
    assert searched(folder, secrets) == []
    assert capfd.readouterr() == ("", "")
    (prepared,) = folder.glob("people.*.prepared")
    assert all(kept_apart(path) for path in (prepared, folder / "people.key", folder / "people.ledger"))
    cpu, wall, number = replies.slowest
    assert cpu < MOST_CPU, f"{number} was refused after {cpu:.2f} s of CPU, {wall:.2f} s in all"
    return replies


def recorded(replies: Replies, record_property: Callable[[str, object], None]) -> None:
    record_property("replies", dict(replies.counts))
    record_property("slowest refusal", replies.slowest)


@pytest.mark.parametrize("piece", range(SHORT))
def test_no_statement_tells_a_cell_breaks_or_hangs(piece, tmp_path, capfd, monkeypatch, record_property):
    replies = fuzzed(tmp_path, piece, capfd, monkeypatch)
    recorded(replies, record_property)
    counts = replies.counts
    assert counts["answered"] > PIECE // 10, counts  # a fuzz that is always refused would test the parser alone
    assert counts["not-answerable"] > PIECE // 10, counts


@pytest.mark.long
@pytest.mark.parametrize("piece", range(SHORT, LONG))
def test_no_statement_of_a_long_run_tells_a_cell_breaks_or_hangs(piece, tmp_path, capfd, monkeypatch, record_property):
    recorded(fuzzed(tmp_path, piece, capfd, monkeypatch), record_property)


def test_the_search_finds_a_token_cut_short_in_other_case_or_inside_a_longer_number(tmp_path):
    secrets = laid(tmp_path, seed=1)
    word, number = secrets.words[0], min(secrets.numbers)
    for said in (word, word.upper(), f"Could not convert string '{word[:9]}…'", f"-{number}.00", f"1{number}9"):
        assert secrets.found(said), said
    assert not secrets.found(f"{word} {number}", typed=f"name = '{word}' AND serial = {number}")
    assert not secrets.found("SELECT COUNT(*) FROM people WHERE code = 123")


def test_the_search_looks_at_what_an_error_drags_along():
    error = KeyError("no such thing")
    error.__context__, error.__suppress_context__ = ValueError("zqxjkvaaaaaa"), True
    assert "zqxjkv" not in "".join(traceback.format_exception(error))
    assert Secrets(0).found(told_by(error)) == ["zqxjkvaaaaaa"]


def test_a_planted_leak_is_reported(tmp_path, capfd, monkeypatch):
    leaky = lambda answer: repr(answer) + " near zqxjkvabcdef"  # noqa: E731
    monkeypatch.setattr("fuzz.test_sql_fuzz.PIECE", 24)
    monkeypatch.setattr("fuzz.test_sql_fuzz.told", leaky)
    with pytest.raises(AssertionError, match="zqxjkvabcdef"):
        fuzzed(tmp_path, 0, capfd, monkeypatch)


def test_a_planted_engine_error_is_reported(tmp_path, capfd, monkeypatch):
    def failing(*arguments, compiled=statements):
        return [
            replace(statement, sql="SELECT CAST(c1 AS INTEGER) AS cell FROM prepared")
            for statement in compiled(*arguments)
        ]

    monkeypatch.setattr("fuzz.test_sql_fuzz.PIECE", 24)
    monkeypatch.setattr("fuzz.test_sql_fuzz.GATED", 10**9)
    monkeypatch.setattr("fuzz.test_sql_fuzz.statements", failing)
    with pytest.raises(AssertionError, match="the engine failed"):
        fuzzed(tmp_path, 1, capfd, monkeypatch)


@pytest.mark.parametrize("text", HEAVY, ids=lambda text: f"{text[:30]} … {len(text)}")
def test_a_long_or_deep_statement_is_refused_or_answered_within_a_second(text, quiet):
    begun = time.thread_time()
    with watchdog():
        reply(quiet, text, gated=False)
    assert time.thread_time() - begun < MOST_CPU


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A dataset that has been asked once, so that what is loaded at first is."""
    folder = tmp_path_factory.mktemp("quiet")
    laid(folder, seed=2)
    with dp.open(folder / "people.toml") as dataset:
        reply(dataset, "SELECT COUNT(*) AS n FROM people", gated=False)
        yield dataset


def test_a_slow_refusal_is_reported(tmp_path, capfd, monkeypatch):
    def slow(text, read=sql.parse_sql):
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass
        return read(text)

    monkeypatch.setattr("fuzz.test_sql_fuzz.PIECE", 24)
    monkeypatch.setattr("fuzz.test_sql_fuzz.MOST_CPU", 0.05)
    monkeypatch.setattr("discreet.dataset.parse_sql", slow)
    with pytest.raises(AssertionError, match=r"was refused after 0\.[0-9]+ s of CPU"):
        fuzzed(tmp_path, 0, capfd, monkeypatch)


def test_a_statement_is_a_function_of_its_number():
    assert [statement(i, ["zqxjkvaaaaaa", "1"]) for i in range(50)] == [
        statement(i, ["zqxjkvaaaaaa", "1"]) for i in range(50)
    ]
