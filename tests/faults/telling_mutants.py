"""Planted faults of what is told: answers with a look at exact numbers, and failures that say what went wrong."""

import logging
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from discreet import gate
from discreet.answer import compose
from discreet.answer.answer import Answer
from discreet.answer.noisy import Estimates, Noisy
from discreet.engine import engine as engines
from discreet.engine import process
from discreet.engine.process import Process, WorkerFailed
from discreet.errors import EngineFailed, engine_failed
from discreet.query.compile import exacts
from discreet.query.joint import Joint
from discreet.query.parts import Rows
from faults import telling
from faults.mutants import Mutant, Patch
from faults.promises import Promise


def _with_a_look(patch: Patch, change: Callable[[Answer, Any], Answer]) -> list[Any]:
    """Answers changed with a look at the exact numbers, which are kept in the list that is returned."""
    seen: list[Any] = []
    call, answered = Joint.__call__, compose.answer_of

    def looking(joint: Joint, exact: Any, source: Any) -> Any:
        seen[:] = [exact]
        return call(joint, exact, source)

    patch.setattr(Joint, "__call__", looking)
    patch.setattr(compose, "answer_of", lambda plan, released: change(answered(plan, released), seen[0]))
    return seen


def _total(exact: Any) -> int:
    """All exact numbers of an answer added up."""
    return sum(int(np.sum(getattr(part, "count", part))) for part in exact.parts.values())


def error_in_percent_of_the_exact_value(patch: Patch) -> None:
    def change(answer: Answer, exact: Any) -> Answer:
        first = answer.columns[0]
        wide = tuple(None if moe is None else abs(_total(exact)) / 20 for moe in first.moe)
        return replace(answer, columns=(replace(first, moe=wide), *answer.columns[1:]))

    _with_a_look(patch, change)


def interval_from_the_exact_number_of_rows(patch: Patch) -> None:
    seen, real = _with_a_look(patch, lambda answer, exact: answer), compose.estimates_of

    def estimated(recipe: Any, noisy: Any, level: Any) -> Estimates:
        known = {
            part: Noisy(seen[0].parts[part], noisy_part.law, noisy_part.rounding)
            for part, noisy_part in noisy.items()
            if isinstance(part, Rows) and len(seen[0].parts[part]) == len(noisy_part.values)
        }
        ends = real(recipe, {**noisy, **known}, level)
        return replace(real(recipe, noisy, level), low=ends.low, high=ends.high)

    patch.setattr(compose, "estimates_of", estimated)


def level_shared_by_all_groups_present(patch: Patch) -> None:
    seen, real = _with_a_look(patch, lambda answer, exact: answer), compose.estimates_of

    def estimated(recipe: Any, noisy: Any, level: Any) -> Estimates:
        return real(recipe, noisy, 1 - (1 - level) / len(seen[0].keys))

    patch.setattr(compose, "estimates_of", estimated)


def ranks_as_a_share_of_exact_rows(patch: Patch) -> None:
    def change(answer: Answer, exact: Any) -> Answer:
        rows = 1 + abs(_total(exact))
        told = (
            column if column.ranks is None else replace(column, ranks=column.ranks / rows) for column in answer.columns
        )
        return replace(answer, columns=tuple(told))

    _with_a_look(patch, change)


def caveat_when_no_row_matches(patch: Patch) -> None:
    def change(answer: Answer, exact: Any) -> Answer:
        return answer if _total(exact) else replace(answer, caveats=(*answer.caveats, "No row matches."))

    _with_a_look(patch, change)


def keys_as_they_were_stored(patch: Patch) -> None:
    def appearing(labels: Any) -> Any:
        place = {key: number for number, key in enumerate(dict.fromkeys(labels))}
        return tuple(place), np.array([place[key] for key in labels], dtype=np.int64)

    patch.setattr(exacts, "_distinct", appearing)


def _replying(patch: Patch, refusal: Callable[[Exception], Exception]) -> None:
    """A gate that says more of a failure."""

    def answer(held: Any, receipt: Any, compute: Callable[[], Any], released: Callable[[Any], bytes]) -> None:
        failed: list[Exception] = []
        try:
            released_exact = released(compute())
        except Exception as error:
            failed.append(error)
        if failed:  # outside of the handler, so that nothing hangs on the reply but what the mutant puts there
            held.fail(receipt)
            raise refusal(failed[0])
        held.commit(receipt, released_exact)

    patch.setattr(gate, "_answer", answer)


def error_text_with_a_cell(patch: Patch) -> None:
    """DuckDB's own words, all the way: from the worker, through the engine and the gate."""
    _replying(patch, lambda error: error)
    code = "from discreet.engine import worker; worker._cause = str; worker.main()"

    def started(command: list[str], **named: Any) -> Any:
        return subprocess.Popen([*command[:2], "-c", code, *command[4:]], **named)

    ask = Process.ask

    def told(process: Process, verb: str, *given: Any, **named: Any) -> Any:
        try:
            return ask(process, verb, *given, **named)
        except WorkerFailed as gone:
            raise EngineFailed(gone.cause, "", "") if verb == "run" else gone from None

    patch.setattr(process, "subprocess", SimpleNamespace(Popen=started, DEVNULL=subprocess.DEVNULL))
    patch.setattr(Process, "ask", told)
    patch.setattr(engines, "process", Process)


def cause_hung_on_the_reply(patch: Patch) -> None:
    def refusal(error: Exception) -> Exception:
        failure = engine_failed()
        failure.__context__ = error
        return failure

    _replying(patch, refusal)


def cause_logged(patch: Patch) -> None:
    def refusal(error: Exception) -> Exception:
        logging.getLogger("discreet").error("no answer: %s", error)
        return engine_failed()

    _replying(patch, refusal)


def reply_that_names_its_cause(patch: Patch) -> None:
    """The public word that the curator gets when preparing fails, given to whoever asks."""
    _replying(patch, lambda error: error if isinstance(error, EngineFailed) else engine_failed())
    ask = Process.ask

    def told(process: Process, verb: str, *given: Any, **named: Any) -> Any:
        try:
            return ask(process, verb, *given, **named)
        except WorkerFailed as gone:
            raise EngineFailed(f"No answer: {gone.cause}.", "", "") if verb == "run" else gone from None

    patch.setattr(Process, "ask", told)


def _in(words: str) -> Promise:
    """The promise about what was released, for the shapes with these words: where the mutant shows."""
    shapes = [shape for shape in telling.SHAPES if words in shape]
    return partial(telling.answers_follow_what_was_released, shapes=shapes)


ALWAYS: list[Mutant] = [
    (error_in_percent_of_the_exact_value, _in("SUM(pay)"), "SUM(pay)"),
    (interval_from_the_exact_number_of_rows, _in("AVG(age)"), "AVG(age)"),
    (level_shared_by_all_groups_present, _in("GROUP BY town"), "GROUP BY town"),
    (ranks_as_a_share_of_exact_rows, _in("QUANTILE(pay"), "QUANTILE(pay"),
    (caveat_when_no_row_matches, _in("age > 100"), "age > 100"),
    (error_text_with_a_cell, telling.failures_tell_nothing, "cannot be cast: a cell is told"),
    (cause_hung_on_the_reply, telling.failures_tell_nothing, "the noise: a cell is told"),
    (cause_logged, telling.failures_tell_nothing, "the answer's packing: a cell is told"),
    (reply_that_names_its_cause, telling.failures_tell_nothing, "failures differ"),
]
BY_CHANCE: list[Mutant] = [
    (keys_as_they_were_stored, telling.keys_come_in_their_own_order, "order of storage"),
]
