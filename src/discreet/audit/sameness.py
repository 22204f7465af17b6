"""Starts of a program within one second: a generator seeded by the clock gives them the same noise.

    reference   on the first table
    first       on the first table: repeats the reference, number by number, where the clock seeds
    second      on the second table: repeats it seldom or never, where the answer moved

Twice, in a second each: one to choose the event, one to be counted.  Starts follow one another, since a program may
keep files that two of them at once would spoil; so what takes half a second to start is not seen.  Given the reference,
the two others are draws on neighbours, so the event is one like any other (docs/proofs/audit.md, 2).
"""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.audit.bounds import ALPHA, Odds
from discreet.audit.clock import Clock
from discreet.audit.command import Command, printed_numbers
from discreet.audit.events import threshold_families
from discreet.audit.features import Outputs, Repeated
from discreet.audit.trial import Finding, findings_of
from discreet.errors import BadValue
from discreet.ndarrays import Floats

TESTS_ALPHA = ALPHA / 4  # both orders of the long starts, and both orders of these
_ROUNDS, _STARTS = 2, 3
_LONGEST, _FEWEST = 0.15, 20  # seconds of repeats, and how many at least


@dataclass(frozen=True)
class Short:
    """So many repeats a start, which takes about so many seconds."""

    repeats: int
    seconds: float

    @classmethod
    def of(cls, start: float, each: float, largest: int) -> "Short":
        """As many repeats as fit beside two more starts into a second, where a start and a repeat take that long."""
        repeats = max(1, min(largest, max(_FEWEST, int(_LONGEST / each))))
        return cls(repeats, start + repeats * each)


@dataclass(frozen=True)
class Second:
    """What three starts in a row printed."""

    reference: Floats
    first: Floats
    second: Floats


def starts_of_a_second(command: Command, pair: tuple[Path, Path], short: Short, watch: Clock) -> list[Second]:
    """Both rounds; none where too little time is left, or where a start fails, which the long ones did not."""
    if watch.left < _ROUNDS * (1.5 + 2 * _STARTS * short.seconds):
        return []
    rounds = []
    for _ in range(_ROUNDS):
        _wait_for_a_second(short.seconds)
        try:
            starts = [printed_numbers(command, table, short.repeats, watch.left) for table in (pair[0], *pair)]
        except BadValue:
            return []
        rounds.append(Second(*starts))
    return rounds


def findings_of_a_second(claim: Odds, rounds: list[Second], label: str) -> list[Finding]:
    """Whether a start repeats the reference on one table alone; nothing without rounds."""
    if not rounds:
        return []
    first, second = (_beside_references(rounds, [getattr(r, side) for r in rounds]) for side in ("first", "second"))
    half = len(first) // 2
    families = threshold_families([Repeated(1, f"{label} in the same second")], first[:half], second[:half])
    return findings_of((claim,), families, first, second, TESTS_ALPHA)


def _beside_references(rounds: list[Second], numbers: list[Floats]) -> Outputs:
    return np.column_stack([np.concatenate(numbers), np.concatenate([r.reference for r in rounds])])


def _wait_for_a_second(seconds: float) -> None:
    """Waits for a new second, unless two starts that take so long surely fit into this one."""
    left = 1 - time.time() % 1
    if left < 0.2 + 2 * seconds:
        time.sleep(left + 0.005)
