"""Audit a command on two tables: a timing pilot, a plan of what the time allows, and eight starts.

Four starts on each table print equally many numbers.  The first two choose the event, the last two are counted.  Beside
the number itself an event may look at whether it repeats the number in the same place of the first start on one of the
tables: a tool that seeds its generator alike at each start is refuted by that, though each start looks right by itself.
Short starts within one second follow, where time is left, for a tool that seeds it by the clock (sameness.py).
Numbers in different places need not have the same chance of repeating: Σ of independent coins has tails no heavier than
those of the binomial law with their mean (Hoeffding 1956), so Clopper & Pearson's ends hold.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet import amounts
from discreet.audit.audited import Audited, result_of
from discreet.audit.bounds import Odds
from discreet.audit.classify import fitted_score
from discreet.audit.clock import Clock
from discreet.audit.command import Command, printed_numbers
from discreet.audit.events import Feature, threshold_families
from discreet.audit.features import Outputs, Repeated, Within, plain_features
from discreet.audit.foresight import factor_words
from discreet.audit.sameness import TESTS_ALPHA, Second, Short, findings_of_a_second, starts_of_a_second
from discreet.audit.trial import LEAST_RUNS, findings_of
from discreet.errors import BadValue

STARTS = 4  # on each table
MOST_RUNS = 10**6
_PILOTS = (20, 200, 2_000, 20_000)  # repeats, until one of them takes a noticeable time
_NOTICEABLE, _SHARE = 0.5, 0.8  # seconds; the part of the time that is planned
_SEEDED = "Starts repeat each other's noise: its generator is seeded alike at each start."
_BY_CLOCK = "Starts within one second repeat each other's noise: its generator is seeded by the clock."
Advance = Callable[[str, float], None]


@dataclass(frozen=True)
class Plan:
    """So many runs on each table, and what they can see; `seconds` is about how long they take.

    A start takes about `start` seconds, and each repeat `each`.
    """

    claim: Odds
    runs: int
    allowed: float
    seconds: float
    start: float
    each: float

    @property
    def repeats(self) -> int:
        """Numbers that one start prints."""
        return self.runs // STARTS

    @property
    def sentence(self) -> str:
        """What the audit can show, before it runs."""
        seen = factor_words(self.claim, self.runs // 2)
        return f"In {self.seconds:.1f} of {self.allowed:g} s about {self.runs:,} runs on each table: {seen}."

    def to_json(self) -> dict[str, Any]:
        """One object for programs."""
        return {"runs": self.runs, "seconds": round(self.seconds, 1), "sentence": self.sentence}


def clock(seconds: Any) -> Clock:
    """A clock that starts now."""
    rule_fix = "Give a number such as 300."
    allowed = amounts.decimal(seconds, "seconds", "must be a number between 1 and 86400", rule_fix)
    if not 1 <= allowed <= 86_400:
        raise BadValue("seconds must be a number between 1 and 86400.", f"You gave {float(allowed):g}.", rule_fix)
    return Clock(float(allowed), time.monotonic())


def plan_of(command: Command, pair: tuple[Path, Path], claim: Odds, watch: Clock, most_runs: int) -> Plan:
    """Time a few starts and plan the rest; refused where too few runs would fit."""
    took = [_seconds_of(command, pair[1], _PILOTS[0], watch)]
    for repeats in _PILOTS:
        took.append(_seconds_of(command, pair[0], repeats, watch))
        if took[-1] > max(_NOTICEABLE, 2 * min(took)) or repeats * STARTS >= most_runs:
            break
    start = min(took)
    each = max(1e-7, (took[-1] - start) / repeats)
    time_for_runs = _SHARE * watch.left - 2 * STARTS * start
    runs = min(most_runs, int(time_for_runs / (2 * each)))
    if runs < LEAST_RUNS:
        why = f"A start takes {start:.2f} s and a repeat {1000 * each:.1f} ms, and {2 * STARTS} starts are needed."
        raise BadValue(f"seconds must allow {LEAST_RUNS} runs on each table.", why, "Give more --seconds.")
    runs -= runs % STARTS
    return Plan(claim, runs, watch.seconds, 2 * (STARTS * start + runs * each), start, each)


def audit_command(command: Command, pair: tuple[Path, Path], plan: Plan, watch: Clock, advance: Advance) -> Audited:
    """Whether what the command prints costs more than it claims."""
    starts: tuple[list[Outputs], list[Outputs]] = ([], [])
    for index in range(STARTS):
        for side, table in enumerate(pair):
            advance(table.name, (2 * index + side) / (2 * STARTS))
            starts[side].append(printed_numbers(command, table, plan.repeats, watch.left))
    first, second = (_beside_first_starts(starts, side) for side in (0, 1))
    half = plan.runs // 2
    with np.errstate(invalid="ignore", over="ignore"):  # numbers may be infinite
        features: list[Feature] = [Within(feature, 1) for feature in _features(first[:half], second[:half])]
        features += [Repeated(1, pair[0].name), Repeated(2, pair[1].name)]
        families = threshold_families(features, first[:half], second[:half])
        findings = findings_of((plan.claim,), families, first, second, TESTS_ALPHA)
    short = Short.of(plan.start, plan.each, plan.repeats)
    seconds = starts_of_a_second(command, pair, short, watch)
    findings += findings_of_a_second(plan.claim, seconds, pair[0].name)
    notes = (_SEEDED,) if _are_seeded(starts) else (_BY_CLOCK,) if seconds and all(map(_are_repeated, seconds)) else ()
    return result_of("command", plan.claim, findings, plan.runs, notes)


def _seconds_of(command: Command, table: Path, repeats: int, watch: Clock) -> float:
    began = time.monotonic()
    printed_numbers(command, table, repeats, watch.left)
    return time.monotonic() - began


def _features(first: Outputs, second: Outputs) -> list[Any]:
    numbers = first[:, 0], second[:, 0]
    return [*plain_features(numbers[0]), fitted_score(*numbers)]


def _beside_first_starts(starts: tuple[list[Outputs], list[Outputs]], side: int) -> Outputs:
    """(number, that of the first start on the first table, that of the first start on the second).

    First starts are compared with nothing: a start repeats itself, and if one side alone had that, repeats would be
    rarer there by the comparisons that it lacks.
    """
    without = np.full_like(starts[side][0], np.nan)
    columns = [np.concatenate([without, *[starts[other][0]] * (STARTS - 1)]) for other in (0, 1)]
    return np.column_stack([np.concatenate(starts[side]), *columns])


def _are_seeded(starts: tuple[list[Outputs], list[Outputs]]) -> bool:
    """Whether every start on a table printed the same, and not one number alone."""
    return all(all(np.array_equal(own[0], start) for start in own[1:]) and np.ptp(own[0]) > 0 for own in starts)


def _are_repeated(second: Second) -> bool:
    """Whether the two starts on the first table printed the same, and not one number alone."""
    return np.array_equal(second.reference, second.first) and bool(np.ptp(second.first) > 0)
