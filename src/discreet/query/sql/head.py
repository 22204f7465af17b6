"""BigQuery's SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(…), which states ε, δ and caps in the question.

SQLGlot does not know it, so its tokens are read and removed here; the others keep their offsets in the text.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.amounts import decimal, epsilon
from discreet.errors import BadValue
from discreet.query.nodes import Caps
from discreet.query.sql.refusal import Refusal, refusal
from discreet.schema.words import suggestion

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

OPTIONS = ("epsilon", "delta", "max_groups_contributed", "max_rows_contributed", "privacy_unit_column")
_SYNONYMS = {"eps": "epsilon", "unit": "privacy_unit_column", "max_rows": "max_rows_contributed"}
_MOST_CAP = 10**9
_WHY = "The options decide the price, so nothing in them is guessed."
_EXAMPLE = "OPTIONS(epsilon = 1, delta = 1e-7, max_rows_contributed = 3, privacy_unit_column = person_id)"
_NO_CAPS = Caps()


@dataclass(frozen=True)
class Options:
    """The options in the text: None where it gives none.

    `unit` is the privacy unit's column as typed; the holder of the schema checks that it is the unit's key.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    unit: str | None = None


NO_OPTIONS = Options()


@dataclass(frozen=True)
class Head:
    """The options and caps, and their text."""

    options: Options = NO_OPTIONS
    caps: Caps = _NO_CAPS
    text: str = ""


def head(words: "list[Token]", text: str) -> "tuple[Head, list[Token]]":
    """The options before the first selected column, and the tokens without them."""
    upper = [word.text.upper() for word in words[:4]]
    if upper[1:2] != ["WITH"]:
        return Head(), words
    if upper[2:3] != ["DIFFERENTIAL_PRIVACY"]:
        start = words[min(2, len(words) - 1)].start
        fix = f"Write SELECT WITH DIFFERENTIAL_PRIVACY {_EXAMPLE}, or nothing."
        raise refusal(start, "Only WITH DIFFERENTIAL_PRIVACY can follow SELECT.", _WHY, fix)
    if upper[3:4] != ["OPTIONS"]:
        return Head(text=text[words[1].start : words[2].end + 1]), [words[0], *words[3:]]
    close = next((i for i, word in enumerate(words) if i > 4 and word.token_type.name == "R_PAREN"), None)
    if len(words) < 6 or words[4].token_type.name != "L_PAREN" or close is None or close + 1 == len(words):
        raise refusal(words[3].start, "OPTIONS is not followed by a list in brackets.", _WHY, f"Write {_EXAMPLE}.")
    typed = _typed_options(words[5:close], text)
    caps = Caps(_whole(typed, "max_rows_contributed"), _whole(typed, "max_groups_contributed"))
    options = Head(_options(typed), caps, text[words[1].start : words[close].end + 1])
    return options, [words[0], *words[close + 1 :]]


def with_head(sql: str, options: Head) -> str:
    """The statement with the options put back."""
    return f"SELECT {options.text} {sql.removeprefix('SELECT ')}" if options.text else sql


@dataclass(frozen=True)
class _Option:
    value: str
    start: int


def _typed_options(words: "list[Token]", text: str) -> dict[str, _Option]:
    """Each option by its name, its value as typed."""
    typed: dict[str, _Option] = {}
    remaining = list(words)
    while remaining:
        end = next((i for i, word in enumerate(remaining) if word.token_type.name == "COMMA"), len(remaining))
        option, following = remaining[:end], remaining[end + 1 :]
        if len(option) < 3 or option[1].token_type.name != "EQ" or (end < len(remaining) and not following):
            raise refusal(remaining[0].start, "An option is not written name = value.", _WHY, f"Write {_EXAMPLE}.")
        name = option[0].text.lower()
        if name not in OPTIONS:
            raise _unknown(option[0])
        if name in typed:
            raise refusal(option[0].start, f"The option {name} is given twice.", _WHY, "Give it once.")
        typed[name] = _Option(_value(option[2:], text), option[2].start)
        remaining = following
    return typed


def _value(words: "list[Token]", text: str) -> str:
    names = [word.text for word in words if word.token_type.name != "DOT"]
    if words[0].token_type.name in ("VAR", "IDENTIFIER") and len(words) in (1, 3):
        return names[-1]  # people.person_id is person_id
    return text[words[0].start : words[-1].end + 1]


def _unknown(word: "Token") -> Refusal:
    close = suggestion(word.text, OPTIONS, _SYNONYMS)
    hint = f"Did you mean {close}?" if close else f"The options are {', '.join(OPTIONS)}."
    return refusal(word.start, f"There is no option {word.text[:40]!r}.", _WHY, hint)


def _options(typed: dict[str, _Option]) -> Options:
    unit = typed.get("privacy_unit_column")
    if unit is not None and not re.fullmatch(r"[^\W\d].*", unit.value, re.DOTALL):
        raise refusal(unit.start, "privacy_unit_column must be a column's name.", _WHY, f"Write {_EXAMPLE}.")
    return Options(_number(typed, "epsilon"), _number(typed, "delta"), None if unit is None else unit.value)


def _number(typed: dict[str, _Option], name: str) -> Fraction | None:
    option = typed.get(name)
    if option is None:
        return None
    try:
        if name == "epsilon":
            return epsilon(option.value)
        value = decimal(option.value, name, "must be a decimal number from 0 to below 1", "Give a number such as 1e-7.")
    except BadValue as error:
        raise refusal(option.start, error.what, error.why, error.fix) from None
    if not 0 <= value < 1:
        fix = "Give a number such as 1e-7."
        raise refusal(option.start, "delta must be a decimal number from 0 to below 1.", _WHY, fix)
    return value


def _whole(typed: dict[str, _Option], name: str) -> int | None:
    option = typed.get(name)
    if option is None:
        return None
    digits = re.fullmatch(r"[0-9]{1,10}", option.value)
    if not digits or not 1 <= int(option.value) <= _MOST_CAP:
        what = f"{name} must be a whole number from 1 to {_MOST_CAP:,}."
        raise refusal(option.start, what, _WHY, f"Write {name} = 3.")
    return int(option.value)
