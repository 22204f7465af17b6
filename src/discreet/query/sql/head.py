"""BigQuery's SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(…): a way to give ε, δ and caps inside the question.

SQLGlot does not know it, so its words are read here and taken out; the others keep their places in the text.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.amounts import decimal, epsilon
from discreet.errors import BadValue
from discreet.query.nodes import Caps
from discreet.query.sql.refusal import Refusal, refused
from discreet.schema.words import suggestion

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

OPTIONS = ("epsilon", "delta", "max_groups_contributed", "max_rows_contributed", "privacy_unit_column")
_SYNONYMS = {"eps": "epsilon", "unit": "privacy_unit_column", "max_rows": "max_rows_contributed"}
_MOST_CAP = 10**9
_WHY = "The terms of a question must be read exactly as they were meant."
_EXAMPLE = "OPTIONS(epsilon = 1, delta = 1e-7, max_rows_contributed = 3, privacy_unit_column = person_id)"


_NO_CAPS = Caps()


@dataclass(frozen=True)
class Options:
    """What the text itself says about the price: None where it says nothing.

    `unit` is the privacy unit's column as typed; whoever holds the schema must check that it is that one.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    unit: str | None = None


NO_OPTIONS = Options()


@dataclass(frozen=True)
class Head:
    """The options and caps, and the text that gave them."""

    options: Options = NO_OPTIONS
    caps: Caps = _NO_CAPS
    text: str = ""


def head(words: "list[Token]", text: str) -> "tuple[Head, list[Token]]":
    """The options in front of the first selected column, and the words without them."""
    upper = [word.text.upper() for word in words[:4]]
    if upper[1:2] != ["WITH"]:
        return Head(), words
    if upper[2:3] != ["DIFFERENTIAL_PRIVACY"]:
        at = words[2].start if len(words) > 2 else words[1].start
        fix = f"Write SELECT WITH DIFFERENTIAL_PRIVACY {_EXAMPLE}, or nothing."
        raise refused(at, "Only WITH DIFFERENTIAL_PRIVACY can follow SELECT.", _WHY, fix)
    if upper[3:4] != ["OPTIONS"]:
        return Head(text=text[words[1].start : words[2].end + 1]), [words[0], *words[3:]]
    close = next((i for i, word in enumerate(words) if i > 4 and word.token_type.name == "R_PAREN"), None)
    if len(words) < 6 or words[4].token_type.name != "L_PAREN" or close is None or close + 1 == len(words):
        raise refused(words[3].start, "OPTIONS is not followed by a list in brackets.", _WHY, f"Write {_EXAMPLE}.")
    given = _given(words[5:close], text)
    found = Head(_options(given), _caps(given), text[words[1].start : words[close].end + 1])
    return found, [words[0], *words[close + 1 :]]


def with_head(sql: str, found: Head) -> str:
    """The statement with the options back in their place."""
    return f"SELECT {found.text} {sql.removeprefix('SELECT ')}" if found.text else sql


@dataclass(frozen=True)
class _Option:
    value: str
    start: int


def _given(words: "list[Token]", text: str) -> dict[str, _Option]:
    """Each option once, its value as typed."""
    given: dict[str, _Option] = {}
    rest = list(words)
    while rest:
        end = next((i for i, word in enumerate(rest) if word.token_type.name == "COMMA"), len(rest))
        option, after = rest[:end], rest[end + 1 :]
        if len(option) < 3 or option[1].token_type.name != "EQ" or (end < len(rest) and not after):
            raise refused(rest[0].start, "An option is not written name = value.", _WHY, f"Write {_EXAMPLE}.")
        name = option[0].text.lower()
        if name not in OPTIONS:
            raise _unknown(option[0])
        if name in given:
            raise refused(option[0].start, f"The option {name} is given twice.", _WHY, "Give it once.")
        given[name] = _Option(_value(option[2:], text), option[2].start)
        rest = after
    return given


def _value(words: "list[Token]", text: str) -> str:
    names = [word.text for word in words if word.token_type.name != "DOT"]
    if words[0].token_type.name in ("VAR", "IDENTIFIER") and len(words) in (1, 3):
        return names[-1]  # people.person_id is person_id
    return text[words[0].start : words[-1].end + 1]


def _unknown(word: "Token") -> Refusal:
    close = suggestion(word.text, OPTIONS, _SYNONYMS)
    hint = f"Did you mean {close}?" if close else f"The options are {', '.join(OPTIONS)}."
    return refused(word.start, f"There is no option {word.text[:40]!r}.", _WHY, hint)


def _options(given: dict[str, _Option]) -> Options:
    eps = _number(given, "epsilon")
    delta = _number(given, "delta")
    unit = given.get("privacy_unit_column")
    if unit is not None and not re.fullmatch(r"[^\W\d].*", unit.value, re.DOTALL):
        raise refused(unit.start, "privacy_unit_column must be a column's name.", _WHY, f"Write {_EXAMPLE}.")
    return Options(eps, delta, None if unit is None else unit.value)


def _number(given: dict[str, _Option], name: str) -> Fraction | None:
    option = given.get(name)
    if option is None:
        return None
    try:
        if name == "epsilon":
            return epsilon(option.value)
        value = decimal(option.value, name, "must be a decimal number from 0 to below 1", "Give a number such as 1e-7.")
    except BadValue as error:
        raise refused(option.start, error.what, error.why, error.fix) from None
    if not 0 <= value < 1:
        fix = "Give a number such as 1e-7."
        raise refused(option.start, "delta must be a decimal number from 0 to below 1.", _WHY, fix)
    return value


def _caps(given: dict[str, _Option]) -> Caps:
    return Caps(_whole(given, "max_rows_contributed"), _whole(given, "max_groups_contributed"))


def _whole(given: dict[str, _Option], name: str) -> int | None:
    option = given.get(name)
    if option is None:
        return None
    digits = re.fullmatch(r"[0-9]{1,10}", option.value)
    if not digits or not 1 <= int(option.value) <= _MOST_CAP:
        what = f"{name} must be a whole number from 1 to {_MOST_CAP:,}."
        raise refused(option.start, what, _WHY, f"Write {name} = 3.")
    return int(option.value)
