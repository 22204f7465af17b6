"""Every attack of the lab on its built-in example: raw, at ε = 0.1, 1 and 10, beside guessing and the ceiling.

One process, one attack after another; CPU seconds are those of raw and all three ε together.
"""

import sys

from benchmarks.cpu import Family
from benchmarks.report import Report, Table
from discreet.attack import words
from discreet.attack.catalog import ATTACKS
from discreet.attack.result import Result

EPSILONS = ("0.1", "1", "10")
SEED = 7
_COLUMNS = (
    "attack",
    "what is measured",
    "raw",
    *(f"ε = {epsilon} (ceiling)" for epsilon in EPSILONS),
    "guessing",
    "CPU s",
)


def report() -> Report:
    """A row for each attack."""
    rows, figures, clock = [], {}, Family()
    for name, attack in ATTACKS.items():
        print(f"  {name} …", file=sys.stderr)
        started = clock()
        result = attack.example(EPSILONS, SEED)
        seconds = clock() - started
        rows.append(row_of(name, result, seconds))
        figures[name] = result.to_json() | {"cpu_seconds": seconds}
    meaning = (
        "Ceilings are what (ε, δ) leaves to any attacker, for the unit and group that the attack used; — where the "
        "promise bounds nothing. Numbers are those of one run; intervals are in --json."
    )
    return Report((Table("Attacks", meaning, _COLUMNS, tuple(rows)),), figures)


def row_of(name: str, result: Result, seconds: float) -> tuple[str, ...]:
    """The numbers of one attack as text."""
    private = [
        f"{words.number(result.private.get(epsilon))} ({words.number(result.ceiling.get(epsilon))})"
        for epsilon in EPSILONS
    ]
    numbers = (words.number(result.raw), *private, words.number(result.baseline), f"{seconds:.1f}")
    return (name, result.metric, *numbers)
