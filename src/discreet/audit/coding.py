"""Outputs of any Python function as numbers: what an event can look at, learnt on training runs alone.

    y             numbers                      kind
    2.5           2.5                          is a number
    (1, 4)        1, 4                         has 2 numbers
    "north"       5 (its length)               is 'north'
    None          -                            is None
    an exception  -                            raises ValueError

A row of coded outputs holds the numbers of the first 64 places, then what stands beside them, then the number of the
kind.  Beside them stand, where an output has more places or digits than floats and rows hold:

    y[79]            the places beyond the 64th that tell the training runs of both sides apart best
    sum of y         the sum of all places
    digits of y[0]   what rounding to a float leaves over
    hash of y        48 bits of a hash of all places, each with all its digits

Whole numbers beyond 2^53 are first counted from the first training output, exactly.  Kinds, places and origins come
from the training half, so that what is counted later has no part in choosing the event.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.features import Beside, Outputs
from discreet.inert import visible
from discreet.ndarrays import Floats

Exact = int | float | Fraction
_MOST_KINDS, _WIDEST, _LONGEST = 256, 64, 40
_BEYOND, _MOST_DIGITS = 8, 4  # places beside the first: those further on, and those that are rounded
_WHOLE = 2**53  # floats hold every whole number up to it
_UNSEEN = -1
NUMBER = "is a number"


@dataclass(frozen=True)
class Raised:
    """A call that ended in an exception of that class."""

    name: str


@dataclass(frozen=True)
class Coder:
    """The kinds that were seen, the commonest first, and how the numbers of an output are laid out."""

    kinds: tuple[str, ...]
    width: int
    origins: tuple[Exact, ...] = ()  # of all places, where one is beyond 2^53
    beyond: tuple[int, ...] = ()  # places after the first `width`
    rounded: tuple[int, ...] = ()  # places whose digits are too many
    has_whole: bool = False  # whether sum and hash stand there too

    @property
    def beside(self) -> list[Beside]:
        """The features of what stands beside the first places."""
        labels = [f"y[{place}]" for place in self.beyond] + [f"digits of y[{place}]" for place in self.rounded]
        labels += ["sum of y", "hash of y"] if self.has_whole else []
        return [Beside(self.width + i, label) for i, label in enumerate(labels)]

    def rows(self, values: Sequence[Any]) -> Outputs:
        """A row for each output; −1 is a kind that training did not see, and 0 a number that is not there."""
        numbers_of_kinds = {kind: number for number, kind in enumerate(self.kinds)}
        rows = np.zeros((len(values), self.width + len(self.beside) + 1))
        for row, value in zip(rows, values, strict=True):
            kind, numbers = parts(value)
            shown = self._differences(numbers)
            row[: min(self.width, len(shown))] = _floats(shown[: self.width])
            row[self.width : -1] = self._beside(numbers, shown)
            row[-1] = numbers_of_kinds.get(kind, _UNSEEN)
        return rows

    def _differences(self, numbers: Sequence[Exact]) -> Sequence[Exact]:
        if not self.origins:
            return numbers
        return [minus(number, origin) for number, origin in zip(numbers, self.origins, strict=False)]

    def _beside(self, numbers: Sequence[Exact], shown: Sequence[Exact]) -> list[float]:
        beside = [_float(shown[place]) if place < len(shown) else 0.0 for place in self.beyond]
        beside += [_left_over(shown[place]) if place < len(shown) else 0.0 for place in self.rounded]
        if self.has_whole:
            with np.errstate(invalid="ignore", over="ignore"):
                beside.append(float(_floats(shown).sum()))
            beside.append(float(int.from_bytes(hashlib.blake2b(_text(numbers).encode(), digest_size=6).digest())))
        return beside


def coder(values: Sequence[Any], others: Sequence[Any] = ()) -> Coder:
    """What these training outputs teach, those of one side and those of the other.

    >>> coder([1.5, 2, None]).rows([7, "x", None]).tolist()
    [[7.0, 0.0], [1.0, -1.0], [0.0, 1.0]]
    >>> coder([2**70, 2**70 + 3]).rows([2**70 + 1])[:, 0].tolist()
    [1.0]
    """
    sides = [[parts(value) for value in side] for side in (values, others)]
    seen = [*sides[0], *sides[1]]
    kinds = tuple(kind for kind, _ in Counter(kind for kind, _ in seen).most_common(_MOST_KINDS))
    longest = max(len(numbers) for _, numbers in seen)
    width = min(_WIDEST, longest)
    first = next(numbers for _, numbers in seen if len(numbers) == longest)
    far = {i for _, numbers in seen for i, n in enumerate(numbers) if _is_far(n)}
    origins = tuple(n if i in far and _is_finite(n) else 0 for i, n in enumerate(first)) if far else ()
    plain = Coder(kinds, width, origins)
    shown = [[plain._differences(numbers) for _, numbers in side] for side in sides]
    rounded = sorted({i for side in shown for row in side for i, n in enumerate(row) if _left_over(n) != 0})
    beyond = _telling(shown[0], shown[1], width, longest) if longest > width else ()
    has_whole = longest > width or bool(far or rounded)
    return Coder(kinds, width, origins, beyond, tuple(rounded[:_MOST_DIGITS]), has_whole)


def parts(value: Any) -> tuple[str, tuple[Exact, ...]]:
    """The kind of an output, and its numbers with all their digits.

    >>> parts(True), parts([1, 2.5]), parts("a"), parts(Raised("KeyError"))
    (('is a number', (1,)), ('has 2 numbers', (1, 2.5)), ("is 'a'", (1,)), ('raises KeyError', ()))
    """
    if isinstance(value, Raised):
        return f"raises {value.name}", ()
    if value is None:
        return "is None", ()
    if isinstance(value, (str, bytes)):
        return f"is {_short(repr(value))}", (len(value),)
    try:
        array = np.asarray(value) if isinstance(value, np.ndarray) else np.asarray(value, dtype=object)
        numbers = tuple(map(_exact, array.reshape(-1).tolist()))
    except (TypeError, ValueError):  # a dict, a list of texts: by how it prints
        text = repr(value)
        return f"is {_short(text)}", (len(text),)
    if array.ndim == 0:
        return NUMBER, numbers
    return f"has {'×'.join(map(str, array.shape))} numbers", numbers


def are_alike(values: Sequence[Any]) -> bool:
    """Whether all outputs are the same, in every place and digit."""
    kind, numbers = parts(values[0])
    text = _text(numbers)
    return all(other == kind and _text(others) == text for other, others in map(parts, values))


def minus(number: Exact, origin: Exact) -> Exact:
    """number − origin, exactly; what is not finite stays as it is."""
    if origin == 0 or not _is_finite(number):
        return number
    if isinstance(number, int) and isinstance(origin, int):
        return number - origin
    return Fraction(number) - Fraction(origin)


def _exact(number: Any) -> Exact:
    """The number with all its digits, where its type is known; else as a float."""
    match number:
        case float():
            return float(number)
        case int() | np.bool_() | np.integer():
            return int(number)
        case Fraction():
            return number
        case np.floating() if np.isfinite(number) and float(number) != number:  # longer than a float
            return Fraction(*number.as_integer_ratio())
        case Decimal() if number.is_finite():
            return Fraction(number)
        case str() | bytes():
            raise TypeError("a text is no number")
        case _:
            return float(number)


def _text(numbers: Sequence[Exact]) -> str:
    """Every digit, in base 16: no number is too long for it."""
    return " ".join(n.hex() if isinstance(n, float) else f"{n.numerator:x}/{n.denominator:x}" for n in numbers)


def _is_far(number: Exact) -> bool:
    return not isinstance(number, float) and not -_WHOLE < number < _WHOLE


def _is_finite(number: Exact) -> bool:
    return not isinstance(number, float) or math.isfinite(number)


def _float(number: Exact) -> float:
    try:
        return float(number)
    except OverflowError:  # beyond every float
        return math.inf if number > 0 else -math.inf


def _floats(numbers: Sequence[Exact]) -> Floats:
    try:
        return np.array(numbers, dtype=np.float64)
    except (OverflowError, TypeError):
        return np.array([_float(number) for number in numbers])


def _left_over(number: Exact) -> float:
    """What rounding to a float leaves over; 0 for floats, and for what is beyond them all."""
    if isinstance(number, float) or (isinstance(number, int) and -_WHOLE <= number <= _WHOLE):
        return 0.0
    rounded = _float(number)
    return _float(minus(number, Fraction(rounded))) if math.isfinite(rounded) else 0.0


def _telling(first: list[Any], second: list[Any], width: int, longest: int) -> tuple[int, ...]:
    """The places from `width` on whose means, or those of their squares, lie furthest apart beside their spreads."""
    with np.errstate(all="ignore"):  # outputs may be infinite
        sides = [_moments(side, width, longest) for side in (first, second) if side]
        if len(sides) < 2:
            return tuple(range(width, min(longest, width + _BEYOND)))
        (middle, spread), (other, its_spread) = sides
        apart = np.abs(middle - other) / (spread + its_spread + 1e-9 * (np.abs(middle) + np.abs(other)) + 1e-300)
        score = np.nan_to_num(apart, nan=0.0, posinf=1e300).max(axis=0)
    return tuple(sorted((width + np.argsort(-score, kind="stable")[:_BEYOND]).tolist()))


def _moments(side: list[Any], width: int, longest: int) -> tuple[Floats, Floats]:
    """Means and spreads of the numbers from `width` on and of their squares, run by run: there may be many places."""
    total, square = np.zeros((2, longest - width)), np.zeros((2, longest - width))
    for numbers in side:
        row = np.zeros(longest - width)
        row[: max(0, len(numbers) - width)] = _floats(numbers[width:])
        powers = np.stack([row, row * row])
        total += powers
        square += powers * powers
    middle = total / len(side)
    return middle, np.sqrt(np.maximum(0.0, square / len(side) - middle * middle))


def _short(text: str) -> str:
    """The text for a sentence; a longer one is told apart by its hash, as far as one process goes."""
    shown = visible(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(text)} characters, hash {hash(text):x})"
