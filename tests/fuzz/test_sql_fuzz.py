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
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import discreet as dp
from discreet.answer.answer import Answer
from discreet.answer.compose import answered
from discreet.cli.formats import FORMATS
from discreet.dataset import Asking
from discreet.errors import DiscreetError, EngineFailed
from discreet.noise.source import SYSTEM
from discreet.query.compile.exacts import gathered
from discreet.query.compile.statements import statements
from fuzz.grammar import statement
from fuzz.tokens import NEVER_FOUND, Secrets, chain, kept_apart, laid, left_behind, told_by

PIECE = 750  # statements of one test
SHORT, LONG = 4, 160
GATED = 12
EPSILON = "0.01"
PATIENCE = 60  # seconds: far beyond what any statement takes on a busy machine


class Hang(BaseException):
    """A statement that did not come back."""


@contextmanager
def watchdog() -> Iterator[None]:
    def bark(signum: int, frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ungated(asking: Asking) -> Answer:
    """What the gate would hand out, without a charge: exact numbers, real noise, the same bytes."""
    made = asking.plan(epsilon=EPSILON, delta=NEVER_FOUND)
    draft, parts = made.draft, [one.part for one in made.measured]
    asked = statements(draft.schema, draft.cells, draft.question.where, draft.caps, parts)
    engine = asking.table.engine
    exacts = gathered(asked, engine.run([one.sql for one in asked]), draft.cells)
    return Answer.from_bytes(answered(made, made.joint(exacts, SYSTEM)).to_bytes())


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
        said = asking.explain(epsilon=EPSILON, delta=NEVER_FOUND)
        answer = asking.ask(epsilon=EPSILON, delta=NEVER_FOUND) if gated else ungated(asking)
        return "answered", said + told(answer)
    except DiscreetError as error:
        refusal = error
    assert not isinstance(refusal, EngineFailed), "the engine failed"
    assert all((refusal.what, refusal.why, refusal.fix))
    assert not any(type(one).__module__.split(".")[0].strip("_") == "duckdb" for one in chain(refusal))
    return refusal.code, told_by(refusal) + json.dumps(refusal.as_json())


def run(folder: Path, piece: int, secrets: Secrets) -> tuple[Counter[str], list[str]]:
    """The replies of one piece, counted; and every statement that told something or broke something."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with dp.open(folder / "people.toml") as dataset:
        dataset.prepare()
        for number in range(piece * PIECE, (piece + 1) * PIECE):
            text, begun = statement(number, secrets.known()), time.monotonic()
            try:
                with watchdog():
                    code, said = reply(dataset, text, gated=number % GATED == 0)
            except (Exception, Hang) as error:  # one report of all that went wrong, not of the first
                wrong.append(f"{number}: {type(error).__name__}: {str(error)[:150]}: {text[:700]!r}")
                continue
            counts[code] += 1
            counts["slow refusals"] += code != "answered" and time.monotonic() - begun > 1
            if leaks := secrets.found(said, text):
                wrong.append(f"{number} tells {leaks}: {text[:700]!r}")
    return counts, wrong


def searched(folder: Path, secrets: Secrets) -> list[str]:
    """Files and names that hold a token which nobody typed."""
    typed = " ".join(secrets.known())
    files = left_behind(folder, but=("people.csv", "people.prepared"))
    return [name for name, content in files if secrets.found(name) or secrets.found(content, typed)]


def fuzzed(folder: Path, piece: int, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> Counter[str]:
    scratch = folder / "scratch"
    scratch.mkdir()
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    patch.setenv("TMPDIR", str(scratch))
    patch.setattr(tempfile, "tempdir", str(scratch))
    secrets = laid(folder, seed=5_000_000 + piece)
    counts, wrong = run(folder, piece, secrets)
    assert not wrong, "\n".join([f"{len(wrong)} of {PIECE}", *wrong])
    assert searched(folder, secrets) == []
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
    assert all(kept_apart(folder / name) for name in ("people.prepared", "people.key", "people.ledger"))
    return counts


@pytest.mark.parametrize("piece", range(SHORT))
def test_no_statement_tells_a_cell_breaks_or_hangs(piece, tmp_path, capfd, monkeypatch, record_property):
    counts = fuzzed(tmp_path, piece, capfd, monkeypatch)
    record_property("replies", dict(counts))
    assert counts["answered"] > PIECE // 10, counts  # a fuzz that is always refused would test the parser alone
    assert counts["not-answerable"] > PIECE // 10, counts


@pytest.mark.long
@pytest.mark.parametrize("piece", range(SHORT, LONG))
def test_no_statement_of_a_long_run_tells_a_cell_breaks_or_hangs(piece, tmp_path, capfd, monkeypatch, record_property):
    record_property("replies", dict(fuzzed(tmp_path, piece, capfd, monkeypatch)))


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
        return [replace(one, sql="SELECT CAST(c1 AS INTEGER) AS cell FROM prepared") for one in compiled(*arguments)]

    monkeypatch.setattr("fuzz.test_sql_fuzz.PIECE", 24)
    monkeypatch.setattr("fuzz.test_sql_fuzz.GATED", 10**9)
    monkeypatch.setattr("fuzz.test_sql_fuzz.statements", failing)
    with pytest.raises(AssertionError, match="the engine failed"):
        fuzzed(tmp_path, 1, capfd, monkeypatch)


def test_a_statement_is_a_function_of_its_number():
    assert [statement(i, ["zqxjkvaaaaaa", "1"]) for i in range(50)] == [
        statement(i, ["zqxjkvaaaaaa", "1"]) for i in range(50)
    ]
