"""Numbers off the command line, refused in the words of everything else."""

from collections.abc import Callable
from fractions import Fraction

from discreet import exact
from discreet.errors import BadValue, bad


def whole(text: str, name: str, least: int, most: int, *, such_as: int) -> int:
    """A whole number in [least, most] from its text; 1e5 is one.

    >>> whole("1e5", "runs", 200, 10**7, such_as=20_000)
    100000
    """
    rule, fix = f"must be a whole number between {least} and {most}", f"Give a number such as {such_as}."
    number = exact.decimal(text, name, rule, fix)
    if number.denominator != 1 or not least <= number <= most:
        raise bad(name, rule, text, fix)
    return int(number)


def named(text: str | None, flag: str) -> str | None:
    """A name as typed, or none at all; a blank one is a slip, such as a variable of the shell that is not set."""
    if text is not None and not text.strip():
        raise bad(flag, "must be a name", text, f"Write, for example: {flag} ana; or leave {flag} out.")
    return text


def refitted(parse: Callable[[], Fraction], fix: str) -> Fraction:
    """What `parse` finds, or its refusal with the fix that fits this flag."""
    try:
        return parse()
    except BadValue as error:
        raise BadValue(error.what, error.why, fix) from None
