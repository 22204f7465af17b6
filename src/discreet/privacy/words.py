"""Sentences about privacy, all with the denominator 100 and the worst case, none with a verdict.

Numbers are rounded to the worse side for privacy, but an excess of 10⁻⁹ is ignored: ¾, known only from above, is 75
of 100.  Nothing here says "safe", "anonymous" or "cannot".
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet import amounts
from discreet.privacy.certify import up
from discreet.privacy.odds import Question, Reach
from discreet.real import ball

STRENGTHS = (("strong", Fraction("0.7311")), ("moderate", Fraction("0.9526")), ("weak", Fraction("0.99996")))
LARGEST_FACTOR = 20  # e²⁰ is about 485 million
_ASIDE = Fraction(1, 10**9)
_COUNTED = 10**15  # chances rarer than one in so many are not counted out


def strength(best_guess: Fraction) -> str:
    """A neutral word for how often the best 50/50 guess is right: a convention, not a theorem.

    The ends are e^ε/(1+e^ε) at ε = 1, 3, 10, rounded up: a pure ε of 1 is strong, and so is all noise that allows no
    better a guess.

    >>> [strength(Fraction(right)) for right in ("0.7311", "0.9526", "0.99996", "1")]
    ['strong', 'moderate', 'weak', 'needs justification']
    """
    return next((word for word, limit in STRENGTHS if best_guess <= limit), "needs justification")


def factor(loss: Fraction) -> str:
    """e^ε in digits, rounded up; past e²⁰ it is only called large.

    >>> factor(Fraction(1)), factor(Fraction(8)), factor(Fraction(1000))
    ('at most 2.72', 'at most 2,981', 'more than 400 million')
    """
    if loss > LARGEST_FACTOR:
        return "more than 400 million"
    times = up(lambda: ball(loss).exp())
    digits = 4 if times < Fraction(101, 100) else 2 if times < 10 else 1 if times < 100 else 0
    return f"at most {_ceiling(times * 10**digits) / 10**digits:,.{digits}f}"


def at_most(share: Fraction) -> str:
    """A share as so many of 100, rounded up to a tenth, or to two digits where a tenth is too coarse.

    >>> at_most(Fraction(1, 3)), at_most(Fraction(1, 2)), at_most(Fraction(1, 10**6))
    ('33.4', '50', '0.0001')
    """
    if share < Fraction(1, 1000):
        return amounts.text_up(share * 100, 2)
    return _tenths(_ceiling(share * 1000))


def at_least(share: Fraction) -> str:
    """A share as so many of 100, rounded down to a tenth."""
    return _tenths(math.floor(share * 1000 + _ASIDE))


def chance(rare: Fraction) -> str:
    """A small probability in words, rounded up; 0 is "never".

    >>> chance(Fraction(1, 10**6)), chance(Fraction(0))
    ('at most one in 1,000,000', 'never')
    """
    if rare == 0:
        return "never"
    return f"at most one in {min(math.floor(1 / rare), _COUNTED):,}"


def person(best_guess: Fraction, *, seen_by: str, others: int = 0) -> str:
    """For someone who decides, with so many others, whether to take part: how often an observer says yes either way."""
    return (
        f"Suppose someone suspects {together(others)} are {_quantity(others)}in this data. Of 100 results this system "
        f"could publish, {at_least(1 - best_guess)} would make them say yes if {_you_all(others)} stay out and "
        f"{at_most(best_guess)} if {_you_all(others)} take part. {_seen_by(others, seen_by)}"
    )


def person_value(best_guess: Fraction, *, seen_by: str, others: int = 0) -> str:
    """For someone whose presence is known and whose value is not: how often an observer is right about the value."""
    return (
        f"Suppose someone suspects {_subject(Question.VALUE, others)}. Of 100 results this system could publish, "
        f"{at_least(1 - best_guess)} would make them say so if it is not and {at_most(best_guess)} if it is. "
        f"{_seen_by(others, seen_by)}"
    )


def together(others: int) -> str:
    """The reader and so many others as a subject.

    >>> together(0), together(1), together(3)
    ('you', 'you and 1 other', 'you and 3 others')
    """
    return "you" if others == 0 else "you and 1 other" if others == 1 else f"you and {others:,} others"


def _quantity(others: int) -> str:
    return "" if others == 0 else "both " if others == 1 else "all "


def _you_all(others: int) -> str:
    return f"you {_quantity(others)}".rstrip()


def _seen_by(others: int, seen_by: str) -> str:
    return f"Your exact {'records are' if others else 'record is'} seen by {seen_by}."


def odds_moved(doer: str, reaches: Sequence[Reach], *, others: int = 0) -> str:
    """By how much something can multiply anyone's odds, for each of the `odds.reaches`.

    >>> reach = Reach(Question.VALUE, 1, Fraction(1), Fraction(0), Fraction(3, 4))
    >>> odds_moved("This", [reach]).partition(". ")[0]
    "This can multiply anyone's odds on which of two values is yours by at most 2.72"
    """
    factors = [
        f"on {_subject(reach.question, others)} by {factor(reach.loss)}{_except(reach)}"
        for reach in reaches
        if reach.loss is not None
    ]
    sentences = [f"{doer} can multiply anyone's odds {', and '.join(factors)}."] if factors else []
    unknown = [_subject(reach.question, others) for reach in reaches if reach.loss is None]
    sentences += [f"With so large a δ no factor can be stated on {subject}." for subject in unknown]
    if len(reaches) > 1:
        sentences.append("A changed value is twice as far, being a removal and an addition.")
    else:
        sentences.append(
            f"How many there are is public under replace-one, so that {together(others)} are among them is not hidden."
        )
    return " ".join(sentences)


def _subject(question: Question, others: int) -> str:
    if question is Question.PRESENCE:
        return f"whether {together(others)} are {_quantity(others)}in this data"
    return f"which of two values {together(others)} have" if others else "which of two values is yours"


def _except(reach: Reach) -> str:
    return f", except with a chance of {chance(reach.chance)}" if reach.chance else ""


def reviewer(caught: Fraction, false_alarms: Fraction, measured: Fraction | None = None) -> str:
    """For a reviewer: the catch rate of an ideal attacker, and the rate that real attacks reached."""
    bound = f"At {accusations(false_alarms)} per 100, an ideal attacker names at most {at_most(caught)} of 100 members."
    return bound if measured is None else f"{bound} Our attacks reached {at_most(measured)}."


def public(unit: str) -> str:
    """For everyone: results barely depend on one unit."""
    return (
        f"Results barely depend on any one {unit}. General facts can still be learned, and may say something about you "
        "even if you stay out."
    )


def accusations(rate: Fraction) -> str:
    """The number of false accusations of 100."""
    return "one false accusation" if rate == Fraction(1, 100) else f"{amounts.text_of(rate * 100)} false accusations"


def _ceiling(value: Fraction) -> int:
    return math.ceil(value - _ASIDE)


def _tenths(tenths: int) -> str:
    return str(tenths // 10) if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10}"
