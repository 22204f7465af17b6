"""Publish people under an (0, δ) promise whose δ is too large.

    name and shame   each row with probability δ        someone is named with probability 1 − (1 − δ)ⁿ
    all or nothing   every row with probability δ       everyone is named with probability δ

Both keep (0, δ)-DP, so at δ = 1/n the promise allows to name one person a release on average (Dwork & Roth 2014, §2.3).
The two mechanisms are those of `mechanism.demonstration`; nothing answers a question by them.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.interval import share_interval
from discreet.attack.invented import invented_dataset
from discreet.attack.result import RAW, Result
from discreet.errors import DiscreetError
from discreet.mechanism.demonstration import all_or_nothing, name_and_shame
from discreet.noise.source import SYSTEM
from discreet.plot.attack import Chart, Line

PEOPLE, RUNS = 10_000, 2_000
TOO_LARGE = "1e-4"  # 1/n
_MOST_CELLS = 10**9
_DELTAS = ("1e-8", "1e-7", "1e-6", "1e-5", "1e-4", "1e-3")
_TOML = """
[unit]
key = "person"
max_rows = 1
[budget]
epsilon = {epsilon}
delta = 1e-6
"""


def shame(people: Any = PEOPLE, delta: Any = TOO_LARGE, *, runs: Any = RUNS) -> Result:
    """How often name-and-shame names at least one of so many people, and all-or-nothing names all of them.

    >>> round(shame(1000, "0.5", runs=10).raw, 3)
    1.0
    """
    return _result({RAW: amounts.probability(delta, "delta")}, *_sizes(people, runs))


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """10,000 people: δ = 1/n, the ceiling of δ that Discreet keeps to at every ε, and its refusal of 1/n.

    The coins are the operating system's, so the seed moves nothing.
    """
    deltas = {RAW: Fraction(TOO_LARGE)} | dict.fromkeys(epsilons, amounts.DELTA_CEILING)
    return _result(deltas, PEOPLE, RUNS, refusal=refusal_of(TOO_LARGE, epsilons))


def someone_named(people: int, delta: Fraction) -> float:
    """1 − (1 − δ)ⁿ, without losing small δ.

    >>> round(someone_named(10_000, Fraction("1e-4")), 3), round(someone_named(10_000, Fraction("1e-6")), 4)
    (0.632, 0.01)
    """
    return 1.0 if delta == 1 else -math.expm1(people * math.log1p(-float(delta)))


def refusal_of(delta: str, epsilons: tuple[str, ...]) -> str:
    """What Discreet says when a question asks for that δ; nothing is charged."""
    with invented_dataset(_TOML.format(epsilon=epsilons[0] if epsilons else 1), {"person": [1, 2, 3]}) as people:
        try:
            people.sql("SELECT COUNT(*) AS n FROM invented").ask(epsilon="0.001", delta=delta)
        except DiscreetError as refused:
            return str(refused)
    raise AssertionError("a δ above its ceiling was taken")


def _sizes(people: Any, runs: Any) -> tuple[int, int]:
    number = amounts.count(people, "people", 1, _MOST_CELLS)
    return number, amounts.count(runs, "runs", 1, _MOST_CELLS // number)


def _names_in_runs(people: int, delta: Fraction, runs: int) -> dict[str, int]:
    """Runs in which someone was named, in which all were, and how often the first person was named."""
    rows = np.arange(people)
    each, together = name_and_shame(delta), all_or_nothing(delta)
    named = [each(rows, SYSTEM) for _ in range(runs)]
    everyone = sum(len(together(rows[:1], SYSTEM)) for _ in range(runs))
    return {"someone": sum(map(bool, named)), "everyone": everyone, "published": sum(map(len, named))}


def _result(deltas: Mapping[str, Fraction], people: int, runs: int, *, refusal: str | None = None) -> Result:
    seen = {name: _names_in_runs(people, delta, runs) for name, delta in deltas.items()}
    chances = {name: someone_named(people, delta) for name, delta in deltas.items()}
    private = {name: delta for name, delta in deltas.items() if name != RAW}
    xs = tuple(map(float, _DELTAS))
    chart = Chart(
        "δ",
        f"chance, for {people:,} people",
        (
            Line("someone is named", xs, tuple(someone_named(people, Fraction(delta)) for delta in _DELTAS)),
            Line("everyone is named", xs, xs),
        ),
        log_x=True,
        log_y=True,
    )
    notes = [
        f"δ = {amounts.text_of(delta)}: someone named in {seen[name]['someone']:,} of {runs:,} releases, "
        f"{seen[name]['published'] / runs:.3g} people a release; all by all-or-nothing in {seen[name]['everyone']}."
        for name, delta in dict(list(deltas.items())[:2]).items()
    ]
    if refusal is not None:
        notes.append(f"Discreet refuses δ = {TOO_LARGE}: {refusal}")
    return Result(
        name="shame",
        metric="someone named",
        measure=f"chance that name-and-shame names any of {people:,} people, where ε comes with the greatest δ "
        f"that is taken, {amounts.text_of(amounts.DELTA_CEILING)}",
        raw=chances[RAW],  # the law itself; `details` has what was drawn
        private={name: chances[name] for name in private},
        baseline=0.0,
        ceiling={name: min(1.0, people * float(delta)) for name, delta in private.items()},
        units="all people together, each named with chance δ at most",
        trials=runs,
        without=f"at δ = {amounts.text_of(deltas[RAW])}",
        chart=chart,
        notes=tuple(notes),
        details={
            "releases": seen,
            "drawn": {name: list(share_interval(hits["someone"], runs)) for name, hits in seen.items()},
            "delta": {name: float(delta) for name, delta in deltas.items()},
            "refusal": refusal,
        },
    )
