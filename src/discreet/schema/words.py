"""The TOML text of a public value, and refusals that quote it."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from discreet import amounts
from discreet.errors import BadValue
from discreet.inert import visible

Item = TypeVar("Item")

MOST_CHARACTERS = 200
LONGEST_NUMBER = 80  # what `amounts.decimal` reads back
_LONGEST_QUOTE = 60
_MOST_BITS = 10_000
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def toml_value(value: Any) -> str:
    """The TOML that reads back as `value`.

    >>> toml_value((Fraction(1, 4), 3, Fraction(1, 3), "a", True))
    '[0.25, 3, "1/3", "a", true]'
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if value.bit_length() <= _MOST_BITS else f"an integer of {value.bit_length()} bits"
        case Fraction() | Decimal():
            return _number(value)
        case str():
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case date():
            return value.isoformat()  # a datetime is a date too
        case _:
            return repr(value)


def key(*parts: str) -> str:
    """A dotted TOML key.

    >>> key("columns", "first name", "type")
    'columns."first name".type'
    """
    return ".".join(part if _BARE_KEY.fullmatch(part) else toml_value(part) for part in parts)


def refusal(where: str, rule: str, given: Any, fix: str) -> BadValue:
    """The refusal of the public fact at the key `where`; what was given is quoted as TOML, cut short."""
    text = visible(toml_value(given))
    short = text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}… ({len(text)} characters)"
    return BadValue(f"{where} {rule}.", f"You gave {short}.", fix, rule)


def suggestion(
    given: str, known: Iterable[str], synonyms: Mapping[str, str] | None = None, *, nearness: float = 0.6
) -> str | None:
    """The known word that `given` was probably meant to be; `nearness` is the least share of letters in common.

    >>> suggestion("bouns", ["bounds", "bins"]), suggestion("int", ["integer"]), suggestion("x", ["bins"])
    ('bounds', 'integer', None)
    """
    word = given.strip().lower().replace("-", "_").replace(" ", "_")
    if synonyms and word in synonyms:
        return synonyms[word]
    folded = {name.lower().replace("-", "_"): name for name in known}
    close = difflib.get_close_matches(word[:MOST_CHARACTERS], folded, n=1, cutoff=nearness)
    return folded[close[0]] if close else None


def text(value: Any, where: str, fix: str) -> str:
    """A text of 1 to 200 printable characters."""
    printable = isinstance(value, str) and 0 < len(value) <= MOST_CHARACTERS and not _CONTROL.search(value)
    if not printable:
        raise refusal(where, f"must be text of 1 to {MOST_CHARACTERS} printable characters", value, fix)
    return str(value)


def name(value: Any, where: str, fix: str) -> str:
    """A text without spaces around it and without hidden characters, such as those that turn the way of writing."""
    named = text(value, where, fix)
    if visible(named) != named:
        raise refusal(where, f"must be text of 1 to {MOST_CHARACTERS} printable characters", value, fix)
    if named != named.strip():
        raise refusal(where, "must have no spaces around it", value, fix)
    return named


def first_twice(items: Iterable[Item]) -> Item | None:
    """The first item that occurs for the second time."""
    seen: set[Item] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def choice(value: Any, where: str, known: tuple[str, ...], synonyms: Mapping[str, str] | None = None) -> str:
    """One of the known words; a near miss is named in the fix."""
    if isinstance(value, str) and value in known:
        return str(value)
    suggested = suggestion(value, known, synonyms) if isinstance(value, str) else None
    field = where.rpartition(".")[2]
    fix = f"Did you mean {str(suggested)!r}? Write: " if suggested else "Write, for example: "
    raise refusal(
        where, f"must be one of {', '.join(known)}", value, f"{fix}{field} = {toml_value(suggested or known[0])}"
    )


def flag(value: Any, where: str) -> bool:
    """The value, refused unless it is true or false itself."""
    if not isinstance(value, bool):
        field = where.rpartition(".")[2]
        raise refusal(where, "must be true or false, without quotes", value, f"Write: {field} = true")
    return value


def number(value: Any, where: str, rule: str, fix: str) -> Fraction:
    """An exact number that TOML can hold: an int, a decimal, or a text such as "1/3"."""
    try:
        parsed = amounts.decimal(value, where)
    except BadValue:
        raise refusal(where, rule, value, fix) from None
    if parsed.denominator != 1 and len(toml_value(parsed)) > LONGEST_NUMBER:
        raise refusal(where, f"{rule}, of at most {LONGEST_NUMBER} characters", value, fix)
    return parsed


def _number(value: Fraction | Decimal) -> str:
    if isinstance(value, Decimal):
        return str(value).lower()
    if value.denominator == 1:
        return str(value.numerator)
    twos = (value.denominator & -value.denominator).bit_length() - 1
    odd, fives = value.denominator >> twos, 0
    while odd % 5 == 0:
        odd, fives = odd // 5, fives + 1
    if odd != 1:
        return toml_value(str(value))
    places = max(twos, fives)
    digits = tuple(int(digit) for digit in str(abs(value) * 10**places))
    text = str(Decimal((int(value < 0), digits, -places))).lower()
    return text if len(text) <= LONGEST_NUMBER else toml_value(str(value))
