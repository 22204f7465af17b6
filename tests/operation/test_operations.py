"""Every operation, called without the command line, gives what `--json` prints, and nothing draws or prints there."""

import ast
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet import operation
from discreet.cli.verbs import load
from discreet.errors import BadValue, BudgetExceeded, IntegrityError
from discreet.fix import command_line, in_python
from discreet.operation import ask as asks
from discreet.operation.explain import explain
from discreet.operation.question import QuestionCall
from discreet.operation.release import ReleaseCall
from fixes import words_of

Told = Callable[..., dict[str, Any]]
COUNTS = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
TOML = Path("people.toml")
CALL = QuestionCall(TOML, COUNTS, "0.5")
FLAGS = ["people.toml", COUNTS, "--eps", "0.5"]
MODULES = sorted(Path(operation.__file__).parent.glob("*.py"))


def test_a_quote_is_what_the_command_line_prints(people: Path, told: Told) -> None:
    call = replace(CALL, epsilon=None, error=("n=15",), level="0.9", analyst="ana", verb="quote")
    reply = asks.quote(call)
    flags = ["--error", "n=15", "--level", "0.9", "--as", "ana"]
    assert reply.to_json(command_line) == told("quote", *FLAGS[:2], *flags)
    assert reply.exit == 0
    assert [fix.verb for fix in reply.next or ()] == ["ask"]
    assert reply.value.to_json().items() <= dict(reply.data).items()


def test_commands_offered_by_a_quote_can_be_called(people: Path, told: Told) -> None:
    too_dear = asks.quote(replace(CALL, epsilon="100"))
    (cheaper,) = too_dear.next or ()
    assert cheaper.words == "This fits:"
    assert told(*words_of(cheaper))["cost"]["epsilon"] == "3"


def test_an_answer_is_what_the_command_line_prints(people: Path, told: Told) -> None:
    first = asks.ask(CALL)
    assert first.value.replayed is False
    assert asks.ask(CALL).to_json(command_line) == told("ask", *FLAGS)


def test_nothing_is_charged_where_nobody_agrees(people: Path) -> None:
    seen = []

    def never(quote: Any) -> None:
        seen.append(quote.cost["epsilon"])
        raise BadValue("No.", "No.", "No.")

    with pytest.raises(BadValue, match="No"):
        asks.ask(CALL, agree=never)
    assert seen == ["0.5"]
    assert not people.with_suffix(".ledger").exists()


def test_too_dear_a_question_carries_the_call_that_fits(people: Path, told: Told) -> None:
    with pytest.raises(BudgetExceeded) as refused:
        asks.ask(replace(CALL, epsilon="5"))
    (fix,) = refused.value.fixes
    assert fix.to_json() == {
        "verb": "ask",
        "arguments": {"metadata": "people.toml", "sql": COUNTS, "epsilon": "3", "delta": "0"},
        "words": "Ask for less:",
    }
    assert asks.ask(replace(CALL, epsilon="3", delta="0")).value.remaining == told("budget", "people.toml")["remaining"]


@pytest.mark.parametrize("text", [COUNTS, "last"])
def test_an_explanation_is_what_the_command_line_prints(people: Path, told: Told, text: str) -> None:
    asks.ask(CALL)
    reply = explain(replace(CALL, sql=text, epsilon=None, verb="explain"))
    assert reply.to_json(command_line) == told("explain", "people.toml", text)
    assert reply.value


def test_a_refusal_is_spelt_for_whoever_reads_it(people: Path, told: Told) -> None:
    asks.ask(CALL)
    people.write_text(people.read_text().replace("epsilon = 3 ", "epsilon = 4 "))
    with pytest.raises(IntegrityError) as refused:
        asks.ask(CALL)
    problem = told("ask", *FLAGS, exit_code=6)
    assert refused.value.to_json(command_line) == problem
    assert problem["fixes"] == [
        {
            "verb": "budget set",
            "arguments": {"metadata": "people.toml", "epsilon": "4", "why": "…"},
            "words": "Put it back, or set it with a reason:",
        }
    ]
    told(*words_of(refused.value.fixes[0]))
    asks.ask(CALL)


def test_a_lost_ledger_is_adopted_in_python_or_by_a_command(people: Path, told: Told) -> None:
    asks.ask(CALL)
    asks.ask(replace(CALL, epsilon="0.25"))
    shutil.rmtree(people.parent / "state")
    with pytest.raises(IntegrityError) as refused:
        asks.ask(CALL)
    (fix,) = refused.value.fixes
    assert in_python(fix).startswith("Ledger.adopt(")
    told(*words_of(fix))
    asks.ask(CALL)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_operations_neither_draw_nor_print(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"print", "input", "open"}
    assert "sys" not in names


EVERY = {
    "ask": (
        QuestionCall(TOML, COUNTS, "1", ("n=1",), "0", "0.9", "ana", "9", True),
        {"second_ledger": True, "yes": True},
    ),
    "quote": (QuestionCall(TOML, COUNTS, "1", ("n=1",), "0", "0.9", "ana", "9", True), {}),
    "explain": (QuestionCall(TOML, COUNTS, "1", ("n=1",), "0", "0.9"), {}),
    "release plan": (ReleaseCall(*["x"] * 16), {"rehearse": True}),
    "release build": (ReleaseCall(*["x"] * 16, rehearse=True), {"resimulate": "9", "output": "x", "why": "x"}),
}


@pytest.mark.parametrize("verb", EVERY)
def test_every_argument_of_a_call_has_a_flag(verb: str) -> None:
    call, more = EVERY[verb]
    flags = {word for word in words_of(replace(call, verb=verb).fix("", **more)) if word.startswith("-")}
    assert flags <= {name for parameter in load(verb).params for name in parameter.opts}
    assert len(flags) >= 4


def test_an_ellipsis_is_no_reason(people: Path, told: Told) -> None:
    """An offered command is pasted as it stands: the ledger would keep its mark as the reason for ever."""
    asks.ask(CALL)
    refusal = told("budget", "set", "people.toml", "--epsilon", "12", "--why", "…", exit_code=2)
    assert refusal["code"] == "bad-value"
    assert told("budget", "people.toml")["remaining"]["epsilon"] == told("quote", *FLAGS)["remaining"]["epsilon"]


def test_a_dry_run_offers_no_charge(people: Path, told: Told) -> None:
    refusal = told("ask", "people.toml", COUNTS, "--dry-run", exit_code=2)
    assert {fix["verb"] for fix in refusal["fixes"]} == {"quote"}


def test_refusals_of_a_rehearsal_are_stamped_and_offer_rehearsals(people: Path) -> None:
    with pytest.raises(BadValue) as caught:
        explain(QuestionCall(TOML, "last", rehearse=True))
    assert str(caught.value).startswith("REHEARSAL")
    assert [fix.arguments["rehearse"] for fix in caught.value.fixes] == [True]
