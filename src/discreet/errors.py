"""The refusals of Discreet: one exception for each kind.

    DiscreetError                 what happened, why, how to fix it; `code` is a stable slug, `exit` the CLI's status
    ├── BadValue                  2   a number, name or shape the caller gave breaks a stated rule
    ├── MetadataError             3   the TOML or the header it describes breaks a stated rule; no row was read
    ├── NotPriced                 4   no accountant can bound this cost; nothing was spent
    ├── NotAnswerable             4   a question outside what can be answered privately; nothing was spent
    ├── BudgetExceeded            5   the charge does not fit any more; nothing was spent
    ├── Conflict                  2   a key of another kind of charge, a second or late answer, a ledger made twice
    ├── IntegrityError            6   a ledger that was edited, cut, swapped or restored, or is not the one asked for
    ├── SecondLedger              6   another ledger stands over the same rows; nothing was spent
    ├── LedgerUnavailable         7   the ledger cannot be read or written now
    │   └── Closed                7   too many failures: only the curator opens the dataset again
    ├── SourceUnavailable         7   the private table is not there or may not be opened
    ├── EngineFailed              7   the engine gave no answer: one fixed reply whatever the cause; the charge stays
    ├── CannotWrite               7   a file could not be written; what was there before still is
    └── Refuted                   6   an audit found a lower bound above the claim

A message quotes only what the caller typed and what is public: never a row, a count, a score or an exact answer.
For the same reason an error keeps its sentences, the operations of its fix and public facts, and nothing else.
The operations of a fix are values, which each surface writes in its own way; nobody parses them from a sentence.
"""

import contextlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Self

from discreet.fix import Advice, Fix, Spelling, advice_text, in_python, parts_of
from discreet.inert import visible_lines

_LONGEST_QUOTE = 40


class DiscreetError(Exception):
    """The root: `what` went wrong, `why` that is refused, and the `fix` that would work."""

    code = "error"
    exit = 1
    facts: tuple[str, ...] = ()  # names of the attributes that a kind adds, in the order of its arguments

    def __init__(self, what: str, why: str, fix: Advice) -> None:
        self.what, self.why = visible_lines(what), visible_lines(why)  # they may quote what was typed
        self.advice = parts_of(fix)
        super().__init__(f"{self.what} {self.why} {self.fix}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.why, self.advice, *(getattr(self, name) for name in self.facts))

    @property
    def fix(self) -> str:
        """What would work, as a Python user writes it."""
        return self.fix_text(in_python)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """The operations that would work."""
        return tuple(part for part in self.advice if isinstance(part, Fix))

    def fix_text(self, spell: Spelling) -> str:
        """The fix, its operations as another surface writes them."""
        return visible_lines(advice_text(self.advice, spell))

    def with_fix(self, fix: Advice) -> Self:
        """The same refusal with another fix."""
        kind, (what, why, _, *more) = type(self), self.__reduce__()[1]
        return kind(what, why, fix, *more)

    def with_fixes(self, change: Callable[[Fix], Fix]) -> Self:
        """The same refusal with each operation of its fix changed."""
        return self.with_fix(tuple(change(part) if isinstance(part, Fix) else part for part in self.advice))

    def to_json(self, spell: Spelling = in_python) -> dict[str, Any]:
        """The error object that `--json` prints."""
        return {
            "ok": False,
            "code": self.code,
            "exit": self.exit,
            "what": self.what,
            "why": self.why,
            "fix": self.fix_text(spell),
            "fixes": [fix.to_json() for fix in self.fixes],
            "position": None,
        }


class BadValue(DiscreetError, ValueError):
    """A public parameter breaks its `rule`, which says what it must be; None where the sentence is of another form."""

    code = "bad-value"
    exit = 2
    facts = ("rule",)

    def __init__(self, what: str, why: str, fix: Advice, rule: str | None = None) -> None:
        super().__init__(what, why, fix)
        self.rule = rule


class MetadataError(DiscreetError):
    """The public facts about a table, as written down, break a rule."""

    code = "metadata"
    exit = 3


class NotPriced(DiscreetError):
    """A cost outside every accountant's proven range."""

    code = "not-priced"
    exit = 4


class NotAnswerable(DiscreetError):
    """A question that cannot be answered, and a rewrite that can; `position` is a line and column of its text."""

    code = "not-answerable"
    exit = 4
    facts = ("position",)

    def __init__(self, what: str, why: str, fix: Advice, position: tuple[int, int] | None = None) -> None:
        super().__init__(what, why, fix)
        self.position = position

    def to_json(self, spell: Spelling = in_python) -> dict[str, Any]:
        """The error object, with the position in the question's text."""
        position = None if self.position is None else dict(zip(("line", "column"), self.position, strict=True))
        return super().to_json(spell) | {"position": position}


class BudgetExceeded(DiscreetError):
    """A charge that does not fit; `remaining` is the largest pure ε that would, `requested` the ε that was asked."""

    code = "budget-exceeded"
    exit = 5
    facts = ("remaining", "requested")

    def __init__(self, what: str, why: str, fix: Advice, remaining: Fraction, requested: Fraction) -> None:
        super().__init__(what, why, fix)
        self.remaining, self.requested = remaining, requested  # sums of public amounts


class Conflict(DiscreetError):
    """A key of another kind of charge, an answer too many or too late, a ledger that is there already."""

    code = "conflict"
    exit = 2


class IntegrityError(DiscreetError):
    """A ledger or a model's file that is not what was written, or not the one that was asked for."""

    code = "integrity"
    exit = 6


class SecondLedger(DiscreetError):
    """A source that another ledger stands over already: a second one would be a fresh budget for the same rows."""

    code = "second-ledger"
    exit = 6


class LedgerUnavailable(DiscreetError):
    """A ledger that cannot be read or written now; without it nothing is answered."""

    code = "ledger-unavailable"
    exit = 7


class Closed(LedgerUnavailable):
    """A dataset closed after too many failed answers."""

    code = "closed"


class SourceUnavailable(DiscreetError):
    """The private table cannot be opened."""

    code = "source-unavailable"
    exit = 7


class EngineFailed(DiscreetError):
    """No answer came back; raised by `engine_failed` alone, so that its words never follow the cause."""

    code = "engine-failed"
    exit = 7


class CannotWrite(DiscreetError):
    """A file that a verb makes cannot be written."""

    code = "cannot-write"
    exit = 7


class Refuted(DiscreetError):
    """A measured lower bound on ε above the ε that was claimed."""

    code = "refuted"
    exit = 6


def bad(name: str, rule: str, value: object, fix: Advice) -> BadValue:
    """The refusal of a *public* parameter: names it, its rule, what was given, and the next step.

    >>> str(bad("scale", "must be positive", -1, "Give a scale such as 10."))
    'scale must be positive. You gave -1. Give a scale such as 10.'
    """
    return BadValue(f"{name} {rule}.", f"You gave {short_text(value)}.", fix, rule)


@contextlib.contextmanager
def fixed_by(fix: Advice, kind: type[DiscreetError] = BadValue) -> Iterator[None]:
    """Give refusals of that kind inside this fix."""
    try:
        yield
    except kind as error:
        raise error.with_fix(fix) from None


def engine_failed() -> EngineFailed:
    """The one reply to every failure of the engine: its cause may depend on rows."""
    what = "No answer came: something failed on the rows, or took more time or memory than is allowed."
    why = "The reason may depend on the data, so it is not told; what was charged stays charged."
    retry = "Ask it once more: a first failure is tried again under its charge, a second one is charged anew"
    return EngineFailed(what, why, f"{retry}; if it fails for good, ask at another epsilon or ask something simpler.")


def bad_private(name: str, rule: str, fix: Advice) -> BadValue:
    """The refusal of a *private* argument: the value stays unquoted, whatever it is."""
    return BadValue(f"{name} {rule}.", "What was given is private and not repeated here.", fix, rule)


def short_text(value: object) -> str:
    """The caller's value, short enough for a sentence; a long one is cut and its length named.

    What may hold rows, as an array or a frame does, is named by its type: somebody may have confused arguments.

    >>> short_text(Fraction(-5, 4)), short_text([Fraction(1, 3), Fraction(1, 100), 2])
    ('-1.25', '[1/3, 0.01, 2]')
    """
    if _may_hold_rows(value):
        return f"something of type {type(value).__name__}, which is not repeated here"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = _text(value)
    except ValueError:  # Python prints no integer of more than 4,300 digits
        return f"a {type(value).__name__} too long to print"
    if len(text) <= _LONGEST_QUOTE:
        return text
    return f"{text[:_LONGEST_QUOTE]}… ({len(text)} characters)"


def _may_hold_rows(value: object) -> bool:
    """Whether something is, or holds, an array, a column, a frame or a row of one."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return hasattr(value, "_fields") or any(map(_may_hold_rows, value))
    if isinstance(value, dict):
        return any(map(_may_hold_rows, [*value, *value.values()]))
    is_scalar = getattr(value, "shape", None) == () and getattr(getattr(value, "dtype", None), "kind", "") in _SCALARS
    return type(value).__module__.startswith(_OF_ROWS) or (hasattr(value, "shape") and not is_scalar)


_SCALARS = tuple("biuf")  # kinds of single numbers in NumPy
_OF_ROWS = ("pandas", "polars", "pyarrow", "torch")


def _text(value: object) -> str:
    """The value as Python writes it, but a Fraction as people do: 0.5, or 1/3 where no short decimal is equal."""
    if isinstance(value, (list, tuple)) and any(isinstance(part, Fraction) for part in value):
        inside = ", ".join(_text(part) if isinstance(part, Fraction) else repr(part) for part in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if not isinstance(value, Fraction):
        return repr(value)
    places = next((places for places in range(16) if 10**places % value.denominator == 0), 0)
    digits = str(abs(value.numerator) * 10**places // value.denominator).zfill(places + 1)
    if 10**places % value.denominator or not places:
        return str(value)
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
