"""What the product promises about telling: nothing but released numbers and public facts, by answers or by failures.

Each promise is a function that asks the real product and gives what it found broken.
"""

import contextlib
import io
import logging
import random
from collections.abc import Sequence
from typing import Any

import pytest

from discreet import table
from discreet.answer.answer import Answer
from discreet.query.joint import Joint, Released
from faults.promises import BY_TOWN, Promise, bare
from faults.world import FAULTS, OLD, OTHERS, ROWS, TOWNS, Maker, entries, fault, folder_of, public, reply
from fuzz.tokens import chain, left_behind, told_by
from replay import Replay, fair

SHAPES = [  # each says something else beside its values: an interval, ranks, a shortfall, keys, caveats
    "SELECT COUNT(*) AS n FROM people WHERE age > 100",
    "SELECT region, COUNT(*) AS n, COUNT(DISTINCT person) AS u FROM people GROUP BY region",
    "SELECT COUNT(DISTINCT age) AS d, SUM(pay) AS s FROM people",
    "SELECT region, AVG(age) AS a FROM people GROUP BY region",
    "SELECT AVG(pay * age) AS a FROM people WHERE age > 3",
    "SELECT VAR_SAMP(age) AS v, STDDEV(pay) AS s FROM people",
    "SELECT COVAR_SAMP(age, pay) AS c FROM people",
    "SELECT CORR(age, pay) AS c FROM people",
    "SELECT region, MEDIAN(age) AS m FROM people GROUP BY region",
    "SELECT QUANTILE(pay, 0.9) AS q, MAX(age) AS most FROM people",
    "SELECT MODE(region) AS r, TOP_K(region, 2) AS t FROM people",
    "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
    "SELECT town, AVG(age) AS a, MEDIAN(pay) AS m FROM people GROUP BY town",
    "SELECT town, SUM(pay) AS s, COUNT(*) AS n FROM people GROUP BY town HAVING n > 5 ORDER BY s DESC LIMIT 3",
]
PUBLIC_SIZE = 'neighbours = "replace-one"\npopulation = 1000'


def answers_follow_what_was_released(make: Maker, shapes: Sequence[str] = SHAPES) -> list[str]:
    """Where two tables release the same numbers, everything else that is said and written is the same.

    Noise is seeded; on the other table what the mechanism draws is put aside for what it released on the first one,
    which is possible there too: every key it names is present.
    """
    wrong = []
    for facts in ("", PUBLIC_SIZE):
        mine, other = make(OLD, dataset=facts), make(OTHERS, dataset=facts)
        for seed, text in enumerate(shapes):
            first, released, exact = _tapped(mine.sql(text), seed)
            second, _, unlike = _tapped(other.sql(text), seed + 1, released)
            assert repr(exact) != repr(unlike), "the tables must differ"
            if public(first) != public(second):
                wrong.append(f"more than what was released is told: {text}")
        kept = [[bare(entry) for entry in entries(people)] for people in (mine, other)]
        wrong += [] if kept[0] == kept[1] else ["more than what was released is written down"]
    return wrong


def _tapped(asking: Any, seed: int, instead: Released | None = None) -> tuple[Answer, Released, Any]:
    """The answer, what was released and what it was made from; the former replaced by `instead`."""
    seen: list[tuple[Released, Any]] = []
    inner = Joint.__call__

    def call(joint: Joint, exact: Any, source: Any) -> Released:
        released = inner(joint, exact, source)
        if instead is not None:
            assert set(instead.keys) <= set(exact.keys)
            released = instead
        seen.append((released, exact))
        return released

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Joint, "__call__", call)
        _seeded(patch, seed)
        answer = asking.ask(epsilon=30, delta="1e-8")
    return answer, *seen[-1]


def _seeded(patch: pytest.MonkeyPatch, seed: int) -> None:
    """Noise from a fixed seed, in the gate that is there now."""
    gate = table.disclose
    patch.setattr(table, "disclose", lambda *given, **named: gate(*given, **named, source=Replay(fair(10**5, seed))))


def keys_come_in_their_own_order(make: Maker) -> list[str]:
    """Keys found in the data are sorted, and the order of the source's rows changes nothing at all."""
    told, labels = set(), []
    for turn in range(3):
        shuffled = list(ROWS)
        random.Random(turn).shuffle(shuffled)
        with pytest.MonkeyPatch.context() as patch:
            _seeded(patch, 7)
            answer = make(shuffled).sql(BY_TOWN).ask(epsilon=30, delta="1e-8")
        told.add(public(answer))
        labels.append([label for (label,) in answer.labels])
    wrong = [] if all(keys == sorted(TOWNS) for keys in labels) else [f"keys come in the order of storage: {labels}"]
    return wrong if len(told) == 1 else [*wrong, "the order of rows shows"]


def failures_tell_nothing(make: Maker) -> list[str]:
    """Whatever went wrong, the reply, what hangs on it and what is written down are the same, and hold no cell."""
    people, secrets = make.secret(5)
    alike, wrong, said = set(), [], io.StringIO()
    handler, root = logging.StreamHandler(said), logging.getLogger()
    root.addHandler(handler)
    before = root.level
    root.setLevel(logging.DEBUG)
    try:
        for number, name in enumerate(FAULTS):
            asking = people.sql(f"SELECT COUNT(*) AS n FROM people WHERE TRY_CAST(note AS INTEGER) > {number}")
            with (
                contextlib.redirect_stdout(said),
                contextlib.redirect_stderr(said),
                fault(people, name, secrets.word()),
            ):
                code, error = reply(asking, epsilon=1)
            assert isinstance(error, Exception), f"{name} went wrong for nobody"
            left = left_behind(folder_of(people), but=("people.csv", "people.*.prepared"))
            everything = "\n".join([told_by(error), said.getvalue(), *(f"{place}: {held}" for place, held in left)])
            if leaks := secrets.found(everything):
                wrong.append(f"{name}: a cell is told: {leaks[:2]}")
            alike.add((code, str(error), repr(error.args), repr(vars(error)), len(list(chain(error)))))
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
    wrong += [f"failures differ: {sorted(alike)}"] if len(alike) > 1 else []
    return wrong + (["something was logged"] if said.getvalue() else [])


PROMISES: tuple[Promise, ...] = (
    answers_follow_what_was_released,
    keys_come_in_their_own_order,
    failures_tell_nothing,
)
