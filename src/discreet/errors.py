"""Every way Discreet says no.

    DiscreetError                 what happened, why, how to fix it; `code` is a stable slug, `exit` the CLI's status
    ├── BadValue                  2   a number, name or shape the caller gave breaks a stated rule
    ├── NotPriced                 4   no accountant can bound this cost; nothing was spent
    └── Refuted                   6   an audit found a lower bound above the claim

A message quotes only what the caller typed and what is public: never a row, a count, a score or an exact answer.
For the same reason an error keeps its own sentences as attributes and nothing else.
"""

from typing import Any

_LONGEST_QUOTE = 40


class DiscreetError(Exception):
    """The root: `what` went wrong, `why` that is refused, and the `fix` that would work."""

    code = "error"
    exit = 1

    def __init__(self, what: str, why: str, fix: str) -> None:
        super().__init__(f"{what} {why} {fix}")
        self.what, self.why, self.fix = what, why, fix

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.why, self.fix)

    def as_json(self) -> dict[str, Any]:
        """The error object that `--json` prints."""
        return {
            "ok": False,
            "code": self.code,
            "exit": self.exit,
            "what": self.what,
            "why": self.why,
            "fix": self.fix,
            "position": None,
        }


class BadValue(DiscreetError, ValueError):
    """A public parameter breaks its rule."""

    code = "bad-value"
    exit = 2


class NotPriced(DiscreetError):
    """A cost outside every accountant's proven range."""

    code = "not-priced"
    exit = 4


class Refuted(DiscreetError):
    """A measured lower bound on ε above the ε that was claimed."""

    code = "refuted"
    exit = 6


def bad(name: str, rule: str, value: object, fix: str) -> BadValue:
    """The refusal of a *public* parameter: names it, its rule, what was given, and the next step.

    >>> str(bad("scale", "must be positive", -1, "Give a scale such as 10."))
    'scale must be positive. You gave -1. Give a scale such as 10.'
    """
    return BadValue(f"{name} {rule}.", f"You gave {quoted(value)}.", fix)


def bad_private(name: str, rule: str, fix: str) -> BadValue:
    """The refusal of a *private* argument: the value stays unquoted, whatever it is."""
    return BadValue(f"{name} {rule}.", "What was given is private and not repeated here.", fix)


def quoted(value: object) -> str:
    """The caller's value, short enough for a sentence; a long one is cut and its length named."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    if len(text) <= _LONGEST_QUOTE:
        return text
    return f"{text[:_LONGEST_QUOTE]}… ({len(text)} characters)"
