"""Change the numbers under [budget] in the text itself; comments, order and everything else stay.

Lines are looked for as people write them.  The new text is read again, and refused unless it says what the old one
said with exactly the wanted changes.
"""

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.errors import MetadataError
from discreet.schema.words import key, toml_value

_HEADING = re.compile(r"\s*\[")
_COMMENT = re.compile(r"\s*(#.*)?")


def with_budget(
    text: str, numbers: Mapping[str, Fraction], analysts: Mapping[str, Fraction], *, file: str = "metadata.toml"
) -> str:
    """The text with these keys of [budget] and these caps of [budget.analysts].

    >>> print(with_budget("[budget]\\nepsilon = 3  # all of it\\n", {"epsilon": Fraction(5)}, {}))
    [budget]
    epsilon = 5  # all of it
    <BLANKLINE>
    """
    document = _document(text)
    budget = document.get("budget", {})
    changed = {name: value for name, value in numbers.items() if not _same(budget.get(name), value)}
    caps = budget.get("analysts", {})
    capped = {name: value for name, value in analysts.items() if not _same(caps.get(name), value)}
    edited = _with_values(_with_values(text, ("budget",), changed), ("budget", "analysts"), capped)
    if _document(edited) != _expected_document(document, changed, capped):
        lines = [f"{key(name)} = {toml_value(value)}" for name, value in changed.items()]
        lines += [f"analysts.{key(name)} = {toml_value(value)}" for name, value in capped.items()]
        why = "Its [budget] is written in a way that cannot be changed line by line."
        fix = "Write it as a table of its own:\n" + "\n".join(["[budget]", *lines])
        raise MetadataError(f"{file} was left as it is.", why, fix)
    return edited


def _with_values(text: str, table: tuple[str, ...], values: Mapping[str, Fraction]) -> str:
    """The text with each key set under the heading of the table, which is added where it is not there."""
    if not values:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    heading = re.compile(r"\s*\[\s*" + r"\s*\.\s*".join(map(_spellings, table)) + r"\s*\]\s*(#.*)?")
    start = next((place for place, line in enumerate(lines) if heading.fullmatch(line)), None)
    if start is None:
        start = _end_of(lines, table)
        lines[start:start] = ["", f"[{key(*table)}]"] if start else [f"[{key(*table)}]"]
        start += 1 if start else 0
    for name, value in values.items():
        _set(lines, start, name, toml_value(value))
    return end.join(lines)


def _end_of(lines: list[str], table: tuple[str, ...]) -> int:
    """Where a new heading belongs: after the table it is a part of, else after the last line."""
    above = re.compile(r"\s*\[\s*" + r"\s*\.\s*".join(map(_spellings, table[:-1])) + r"\s*\]\s*(#.*)?")
    start = next((place for place, line in enumerate(lines) if table[:-1] and above.fullmatch(line)), None)
    if start is not None:
        return _last_line(lines, start) + 1
    while lines and not lines[-1].strip():
        lines.pop()
    lines.append("")  # the file ends with a line's end
    return len(lines) - 1


def _set(lines: list[str], start: int, name: str, value: str) -> None:
    """Puts `name = value` under the heading at `start`, over the old value if there is one."""
    pattern = re.compile(rf"(\s*{_spellings(name)}\s*=\s*)([^#\s][^#]*?)(\s*)(#.*)?")
    last = _last_line(lines, start)
    for place in range(start + 1, last + 1):
        line = pattern.fullmatch(lines[place])
        if line is not None:
            gap = line[3]
            if line[4] and len(gap) > 1:  # the comments of a table stay in one column
                gap = " " * max(1, len(gap) + len(line[2]) - len(value))
            lines[place] = f"{line[1]}{value}{gap}{line[4] or ''}"
            return
    lines.insert(last + 1, f"{key(name)} = {value}")


def _last_line(lines: list[str], start: int) -> int:
    """The last line with a key under the heading at `start`; the heading itself where it has none."""
    last = start
    for place in range(start + 1, len(lines)):
        if _HEADING.match(lines[place]):
            break
        if not _COMMENT.fullmatch(lines[place]):
            last = place
    return last


def _spellings(name: str) -> str:
    return "(?:" + "|".join(re.escape(form) for form in {name, f'"{name}"', f"'{name}'", key(name)}) + ")"


def _document(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError:
        return {}


def _same(value: Any, number: Fraction) -> bool:
    try:
        return not isinstance(value, bool) and value is not None and Fraction(value) == number
    except (ValueError, TypeError, ZeroDivisionError):
        return False


def _expected_document(
    document: Mapping[str, Any], numbers: Mapping[str, Fraction], analysts: Mapping[str, Fraction]
) -> dict[str, Any]:
    """What the text must say afterwards."""
    values = {name: _as_read(value) for name, value in numbers.items()}
    caps = {name: _as_read(value) for name, value in analysts.items()}
    budget = {**document.get("budget", {}), **values}
    if caps:
        budget["analysts"] = {**budget.get("analysts", {}), **caps}
    return {**document, **({"budget": budget} if budget or "budget" in document else {})}


def _as_read(value: Fraction) -> Any:
    return tomllib.loads(f"x = {toml_value(value)}", parse_float=Decimal)["x"]
