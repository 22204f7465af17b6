"""Outputs of any Python function as numbers: what an event can look at, learnt on training runs alone.

    y             numbers                      kind
    2.5           2.5                          is a number
    (1, 4)        1, 4                         has 2 numbers
    "north"       5 (its length)               is 'north'
    None          -                            is None
    an exception  -                            raises ValueError

A row of coded outputs holds the numbers, then that of the kind.  Kinds and width come from the training half, so that
what is counted later has no part in choosing the event.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.features import Outputs
from discreet.inert import visible

_MOST_KINDS, _WIDEST, _LONGEST = 256, 64, 40
_UNSEEN = -1
NUMBER = "is a number"


@dataclass(frozen=True)
class Raised:
    """A call that ended in an exception of that class."""

    name: str


@dataclass(frozen=True)
class Coder:
    """The kinds that were seen, the commonest first, and the numbers of the longest output."""

    kinds: tuple[str, ...]
    width: int

    def rows(self, values: Sequence[Any]) -> Outputs:
        """A row for each output; −1 is a kind that training did not see, and 0 a number that is not there."""
        numbers_of_kinds = {kind: number for number, kind in enumerate(self.kinds)}
        rows = np.zeros((len(values), self.width + 1))
        for row, value in zip(rows, values, strict=True):
            kind, numbers = parts(value)
            shown = numbers[: self.width]
            row[: len(shown)] = shown
            row[-1] = numbers_of_kinds.get(kind, _UNSEEN)
        return rows


def coder(values: Sequence[Any]) -> Coder:
    """What these training outputs teach.

    >>> coder([1.5, 2, None]).rows([7, "x", None]).tolist()
    [[7.0, 0.0], [1.0, -1.0], [0.0, 1.0]]
    """
    seen = [parts(value) for value in values]
    kinds = [kind for kind, _ in Counter(kind for kind, _ in seen).most_common(_MOST_KINDS)]
    return Coder(tuple(kinds), min(_WIDEST, max(len(numbers) for _, numbers in seen)))


def parts(value: Any) -> tuple[str, tuple[float, ...]]:
    """The kind of an output, and its numbers.

    >>> parts(True), parts([1, 2]), parts("a"), parts(Raised("KeyError"))
    (('is a number', (1.0,)), ('has 2 numbers', (1.0, 2.0)), ("is 'a'", (1.0,)), ('raises KeyError', ()))
    """
    if isinstance(value, Raised):
        return f"raises {value.name}", ()
    if value is None:
        return "is None", ()
    if isinstance(value, (str, bytes)):
        return f"is {_short(repr(value))}", (float(len(value)),)
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except OverflowError:  # a whole number beyond every float
        return NUMBER, (float("inf") if isinstance(value, (int, Fraction)) and value > 0 else float("-inf"),)
    except (TypeError, ValueError):  # a dict, a list of texts: by how it prints
        text = repr(value)
        return f"is {_short(text)}", (float(len(text)),)
    if numbers.ndim == 0:
        return NUMBER, (float(numbers),)
    return f"has {numbers.size} numbers", tuple(numbers.reshape(-1).tolist())


def _short(text: str) -> str:
    """The text for a sentence; a longer one is told apart by its hash, as far as one process goes."""
    shown = visible(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(text)} characters, hash {hash(text):x})"
