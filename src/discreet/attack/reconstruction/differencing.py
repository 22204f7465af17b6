"""Subtract two counts that differ in one person: COUNT(all) − COUNT(all but Alice) says whether Alice is there.

    difference  d = (n + z₁) − (n − x + z₂) = x + z₁ − z₂        x is 1 if she is there, else 0; z₁, z₂ the noise
    guess       "there" iff d ≥ 1/2

Each count alone is about many, so a rule against small groups lets both pass (Dwork & Roth 2014, §1.1).  At ε for both
together nobody is right more often than e^ε/(1 + e^ε), in the mean over both cases, or than who always says the more
frequent of them.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.ceiling import guess_of_bit
from discreet.attack.given import bits, column_of, numbers
from discreet.attack.interval import share_interval
from discreet.attack.reconstruction.wards import WARDS, answered_counts, question, refusal_beyond, ward_dataset
from discreet.attack.result import RAW, Result
from discreet.dataset import Dataset
from discreet.errors import bad_private
from discreet.ndarrays import Bools
from discreet.noise.public import generator

OTHERS = 19  # people of a ward, beside its Alice or without her
_BUT_ALICE, _ALICE = "name <> 'Alice'", "name = 'Alice'"
_TOML = """
[columns.name]
type = "category"
values = ["Alice", "somebody else"]
"""


def differencing(of_all: Any, of_others: Any, present: Any, *, epsilon: Any = None, delta: Any = 0) -> Result:
    """How often the difference of two counts says rightly whether the person between them is there.

    Each of the three lists has an entry for each trial: the count of all, the count of all but that person, and 0 or 1
    for whether she is there.  `epsilon` and `delta` are those of both counts together; without them there is no noise.

    >>> differencing([20, 19], [19, 19], [1, 0]).raw
    1.0
    """
    first, second = numbers(of_all, "of_all", dimensions=1), numbers(of_others, "of_others", dimensions=1)
    if first.size != second.size:
        raise bad_private("of_others", "must be as many as of_all", "Give both counts of each trial.")
    truth = bits(present, "present", length=first.size)
    hits = {column_of(epsilon): int((is_there(first, second) == truth).sum())}
    terms = float(amounts.delta(delta, ceiling=Fraction(1, 2))), float(truth.mean())
    told = _result(hits, first.size, *terms)
    return replace(told, of_real_data=True)


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """1,000 wards, each asked for with and without its Alice: exactly, and by two questions of ε/2 on a budget of ε."""
    present = generator(seed).integers(0, 2, size=WARDS) == 1
    exact = OTHERS + present
    hits = {RAW: int((is_there(exact, np.full(WARDS, OTHERS)) == present).sum())}
    direct, refusals = {}, {}
    for epsilon in epsilons:
        with _patients(present, epsilon) as patients:
            halves = [
                answered_counts(patients, question(where), amounts.epsilon(epsilon) / 2) for where in ("", _BUT_ALICE)
            ]
            hits[epsilon] = int((is_there(*halves) == present).sum())
            refusals[epsilon] = refusal_beyond(patients, question(_ALICE))
        with _patients(present, epsilon) as patients:
            alices = answered_counts(patients, question(_ALICE), epsilon)
            direct[epsilon] = float((is_there(alices, np.zeros(WARDS)) == present).mean())
    return _result(hits, WARDS, 0.0, 0.5, direct=direct, refusals=refusals)


def is_there(of_all: Any, of_others: Any) -> Bools:
    """The guess: whether the difference is nearer 1 than 0."""
    return np.asarray(np.asarray(of_all) - np.asarray(of_others) >= 0.5)


def _patients(present: Bools, epsilon: str) -> AbstractContextManager[Dataset]:
    """Wards of 19 people, and an Alice in some."""
    sizes = OTHERS + present
    is_first = np.concatenate([np.arange(size) == 0 for size in sizes])
    is_alice = is_first & np.repeat(present, sizes)
    names = np.where(is_alice, "Alice", "somebody else").tolist()
    return ward_dataset(sizes.tolist(), epsilon, columns={"name": names}, toml=_TOML)


def _result(
    hits: Mapping[str, int],
    trials: int,
    delta: float,
    share: float,  # of trials where she is there, by the law that they are drawn by or as they are
    *,
    direct: Mapping[str, float] | None = None,
    refusals: Mapping[str, str] | None = None,
) -> Result:
    notes = [
        f"One question by her name, at all of ε = {epsilon}, gave {share:.3f} right guesses in these trials; its law, "
        "e^ε/(1 + e^ε), is the ceiling."
        for epsilon, share in (direct or {}).items()
    ]
    return Result(
        name="differencing",
        metric="right guesses",
        measure="share of right guesses whether one person is in the table, from two counts",
        raw=None if RAW not in hits else hits[RAW] / trials,
        private={name: right / trials for name, right in hits.items() if name != RAW},
        baseline=max(share, 1 - share),
        ceiling={name: guess_of_bit(float(amounts.epsilon(name)), delta, share=share) for name in hits if name != RAW},
        units="one person, who is there or not",
        trials=trials,
        intervals={name: share_interval(right, trials) for name, right in hits.items()},
        notes=tuple(notes),
        details={"asked_for_by_name": dict(direct or {}), "third_question": dict(refusals or {})},
    )
