"""A protocol for values: people randomise their own answer, and a server estimates shares from the reports.

    reports = p.encode(answers)  →  tally = p.aggregate(reports)  →  p.estimate(tally)

ε is that of the integers that run, rounded up in the 18th digit, and else never above what was asked for.  It protects
which value is yours from everyone who sees the report, the server too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import NotAnswerable, bad, bad_private
from discreet.local.code import Code, ValueCode
from discreet.local.estimate import Estimate, require_of, share_estimate
from discreet.local.keep import epsilon_of
from discreet.local.reports import Reports, Tally, tally_of
from discreet.local.response_code import ResponseCode
from discreet.local.robust import Poisoned, disobedience, poison
from discreet.local.words import WordList
from discreet.ndarrays import Ints
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Cost, Pure, Response

YES_NO = ("no", "yes")
LARGEST_LAW = 10**6
MOST_VALUES = 2**22


@dataclass(frozen=True)
class ValueProtocol:
    """Reports about one of several public `values`."""

    name: str
    values: tuple[Any, ...]
    code: ValueCode
    why: str

    @property
    def epsilon(self) -> Fraction:
        """ln of the largest ratio of probabilities, rounded up."""
        return epsilon_of(self.code.ratio)

    @property
    def cost(self) -> Cost:
        """What a report costs its person."""
        return Response(self.epsilon) if isinstance(self.code, ResponseCode) else Pure(self.epsilon)

    @property
    def report_bytes(self) -> int:
        """The length of every report."""
        return self.code.report_bytes

    def encode(self, answers: Any) -> Reports:
        """A report for each answer, with randomness of the operating system.

        Answers are values; of no and yes also 0 and 1, or truth values.
        """
        return Reports(self.code.draw(self._indices(answers), SYSTEM))

    def encode_with(self, answer: Any, words: Iterable[int]) -> bytes:
        """The report that those 32-bit words give: what every other language must give too."""
        return self.code.report(int(self._indices([answer])[0]), WordList(words))

    def law(self, answer: Any) -> dict[bytes, Fraction]:
        """Every report with its exact probability."""
        return law_of(self.code, int(self._indices([answer])[0]))

    def aggregate(self, reports: Any) -> Tally:
        """The tally of reports; tallies of parts add up."""
        return tally_of(self.code, self.values, reports)

    def estimate(
        self, tally: Tally, level: Any = "0.95", of: str = "population", project: str | None = None
    ) -> Estimate:
        """The share of every value, unbiased, with intervals."""
        require_own(self.code, self.values, tally)
        return share_estimate(self.code, self.values, tally, level=level, of=of, project=project)

    def variance(self, share: Any, people: Any, of: str = "population") -> float:
        """Of the estimated share of a value whose share is `share`."""
        f, n = amounts.probability(share, "share"), amounts.count(people, "people", 1)
        return float(exact_variance(self.code, f, n, require_of(of)))

    def poisoned(self, liars: Any, people: Any) -> Poisoned:
        """How far so many of the people can move estimates by sending whatever they like."""
        n = amounts.count(people, "people", 1)
        return poison(self.code, amounts.count(liars, "liars", 0, n), n)

    def disobeyed(self, part: Any = "0.05", share: Any = "0.5") -> tuple[float, float]:
        """How far the estimate of a value moves on average if that part of people do not toss their coins.

        First if they send a report of the value's own, as those do who answer without randomising and hold it; then
        if they send a report of none.  `share` is the value's true share.
        """
        f = amounts.probability(share, "share")
        return disobedience(self.code, amounts.probability(part, "part"), f)

    def _indices(self, answers: Any) -> Ints:
        return indices_of(answers, self.values)


def values_of(values: Any) -> tuple[Any, ...]:
    """Public values, from a list or from how many there are: then they are 0, 1, 2 …"""
    if isinstance(values, int) and not isinstance(values, bool):
        return tuple(range(amounts.count(values, "values", 2, MOST_VALUES)))
    rule, fix = "must be two or more different texts or whole numbers", "Give a list such as ['no', 'yes']."
    try:
        listed = tuple(values) if not isinstance(values, str | bytes | set | frozenset) else ()  # sets have no order
    except TypeError:
        raise bad("values", rule, values, fix) from None
    plain = [value.item() if isinstance(value, np.generic) else value for value in listed]
    kinds = {type(value) for value in plain}
    if kinds not in ({str}, {int}) or len(set(plain)) != len(plain) or not 2 <= len(plain) <= MOST_VALUES:
        raise bad("values", rule, values, fix)
    if kinds == {int} and not all(-(2**63) <= value < 2**63 for value in plain):
        raise bad("values", "must be whole numbers of at most 64 bits", values, "Give texts instead.")
    if kinds == {str} and any(value.endswith("\0") for value in plain):
        raise bad("values", "must be texts that do not end in a null character", values, fix)
    return tuple(plain)


def indices_of(answers: Any, values: tuple[Any, ...]) -> Ints:
    """The index of each answer among the values; a refusal does not say which answer is none of them."""
    fix = "Give one of the protocol's values for each person."
    refusal = bad_private("answers", "must be a flat list of values of the protocol, all of one type", fix)
    if isinstance(answers, np.ma.MaskedArray):
        raise refusal  # what a mask hides is no answer of anyone
    if isinstance(answers, list | tuple) and not has_one_plain_type(answers):
        raise refusal  # NumPy would make texts of numbers, numbers of truth values, or other texts of a subclass
    try:
        array = np.asarray(answers)
    except ValueError:
        raise refusal from None
    if array.ndim != 1:
        raise refusal
    is_text, kind = isinstance(values[0], str), array.dtype.kind
    if kind in "iu" and (values in (YES_NO, tuple(range(len(values))))):
        return _within(array, len(values), refusal)
    if kind == "b" and values == YES_NO:
        return array.view(np.uint8)
    if kind in "iu" and not is_text:
        _within(array, 2**63, refusal, least=-(2**63))
        return _looked_up(array.astype(np.int64), np.array(values, dtype=np.int64), refusal)
    if not is_text or not all(type(answer) is str for answer in array.tolist()):
        raise refusal
    if any(str(answer).endswith("\0") for answer in answers):
        raise refusal  # NumPy drops it, and values end in none
    return _looked_up(array.astype(str), np.array(values), refusal)


def has_one_plain_type(answers: Sequence[Any]) -> bool:
    """Whether all answers are of one type, a plain one of Python or a scalar of NumPy."""
    types = {type(answer) for answer in answers}
    return len(types) <= 1 and all(kind in (str, int, float, bool) or issubclass(kind, np.generic) for kind in types)


def exact_variance(code: ValueCode, share: Fraction, people: int, of: str) -> Fraction:
    """Of the estimated share of a value of that share."""
    p, q = code.truth, code.lie
    noise = (q * (1 - q) + share * (p * (1 - p) - q * (1 - q))) / (p - q) ** 2
    return (noise + (share * (1 - share) if of == "population" else 0)) / people


def law_of(code: Code, answer: int) -> dict[bytes, Fraction]:
    """The law of a code, if it has few enough outputs."""
    if code.outputs > LARGEST_LAW:
        why = f"There are {f'{code.outputs:,}' if code.outputs <= 10**12 else 'more than 10¹²'} reports."
        raise NotAnswerable("The law is too long to list.", why, "Take fewer values, or fewer steps.")
    return dict(code.law(answer))


def require_own(code: Code, about: tuple[Any, ...], tally: Tally) -> None:
    """Refuses a tally of another protocol, or about other values."""
    if not isinstance(tally, Tally) or tally.code != code or tally.about != about:
        raise bad(
            "tally", "must come from this protocol's aggregate", type(tally).__name__, "Call p.aggregate(reports)."
        )


def _within(array: "np.ndarray[Any, Any]", size: int, refusal: Exception, least: int = 0) -> Ints:
    if array.size and (int(array.min()) < least or int(array.max()) >= size):
        raise refusal
    return array  # codes widen what they need, block by block


def _looked_up(array: "np.ndarray[Any, Any]", values: "np.ndarray[Any, Any]", refusal: Exception) -> Ints:
    order = np.argsort(values, kind="stable")
    places = np.minimum(np.searchsorted(values, array, sorter=order), values.size - 1)
    indices = order[places]
    if not np.array_equal(values[indices], array):
        raise refusal
    return indices
