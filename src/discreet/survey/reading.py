"""Read `survey.toml`: title, ε, dates, consent, questions.  Unknown keys are errors with a suggestion.

title = "Tax"           epsilon = "1"     consent = "…"      contact = "…"      opens, closes = 2026-11-01
every = "once"          mode = "auto"     wave = "…"         [groups]  region = ["North", "South"]
[questions.q1]          text = "…"        values = ["no", "yes"]   or   low, high, step
                        method = "auto"   required = false
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet import amounts
from discreet.errors import DiscreetError, MetadataError
from discreet.inert import visible
from discreet.local import face
from discreet.schema.words import suggestion
from discreet.survey.mode import Build, choose_mode
from discreet.survey.question import MOST_DIGITS, SILENCE, Protocol, Question, is_plain
from discreet.survey.spec import Survey

MODES = ("auto", "split", "sampled")
METHODS = ("auto", "two coins", "binary", "k-ary", "subset", "hashed", "unary", "number")
EVERY = ("once", "day")
_KEYS = ("title", "epsilon", "consent", "contact", "opens", "closes", "every", "mode", "wave", "groups", "questions")
_QUESTION_KEYS = ("text", "values", "method", "required", "low", "high", "step")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
LARGEST_EPSILON = 20
_LONGEST_VALUE = 200
_LONGEST_FILE, _LONGEST_TEXT, _MOST_QUESTIONS, _MOST_VALUES = 2**20, 10_000, 64, 4096


def read_survey(path: Path | str) -> Survey:
    """The survey that a TOML file describes."""
    place = Path(path)
    try:
        content = place.read_bytes()[: _LONGEST_FILE + 1]
        if len(content) <= _LONGEST_FILE:
            return survey_of(tomllib.loads(content.decode()))
    except OSError:
        raise _wrong(
            f"{place.name!r} cannot be read.", "It is not there, or may not be opened.", "Name a TOML file."
        ) from None
    except UnicodeDecodeError:
        why = "It has bytes that are no text, as a Parquet file or a store has."
        fix = "Name the survey's TOML file first, then the file of reports."
        raise _wrong(f"{place.name!r} is not TOML.", why, fix) from None
    except tomllib.TOMLDecodeError as error:
        raise _wrong(f"{place.name!r} is not TOML.", visible(f"{error}."), "Mend that line.") from None
    except RecursionError:
        why = "Its lists or tables are nested too deeply to be read."
        fix = "Give each key a text, a number or a list of texts."
        raise _wrong(f"{place.name!r} is not the TOML of a survey.", why, fix) from None
    raise _wrong(f"{place.name!r} is longer than a megabyte.", "A survey is short.", "Shorten it.")


def survey_of(table: Mapping[str, Any]) -> Survey:
    """The survey of a TOML table."""
    _require_keys(table, _KEYS, "the survey")
    entries = _questions(table)
    builders = {name: _builder(name, entry) for name, entry in entries.items()}
    coins = [name for name, entry in entries.items() if entry.get("method") == "two coins"]
    epsilon = _epsilon(table, entries, bool(coins))
    mode, why = _mode(table, epsilon, list(builders.values()))
    share = epsilon / len(entries) if mode == "split" else epsilon
    questions = tuple(
        Question(name, _text(entry, "text", name), builders[name](share), _is_required(entry, name), mode == "sampled")
        for name, entry in entries.items()
    )
    groups = _groups(table)
    if groups is not None and groups[0] in entries:
        why = "A file of reports has one column for each question and one for the groups."
        raise _wrong(f"{groups[0]!r} is both a question and the column of groups.", why, "Rename one of them.")
    opens, closes = _date(table, "opens"), _date(table, "closes")
    if opens and closes and opens > closes:
        raise _wrong("closes is before opens.", "Nobody could answer.", "Give a later date.")
    return Survey(
        title=_text(table, "title", "the survey"),
        consent=_text(table, "consent", "the survey", ""),
        contact=_text(table, "contact", "the survey", ""),
        mode=mode,
        why=why,
        every=_choice(table, "every", EVERY),
        opens=opens,
        closes=closes,
        groups=groups,
        questions=questions,
        wave=_text(table, "wave", "the survey", ""),
    )


def _questions(table: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    entries = table.get("questions")
    if not isinstance(entries, dict) or not 1 <= len(entries) <= _MOST_QUESTIONS:
        fix = 'Write [questions.q1] with text = "…" and values = ["no", "yes"].'
        raise _wrong("There are no questions.", f"A survey has 1 to {_MOST_QUESTIONS} of them.", fix)
    for name, entry in entries.items():
        if not _NAME.fullmatch(name) or not isinstance(entry, dict):
            why = "It is a short name of small letters, digits and underscores, with keys below it."
            raise _wrong(f"{name!r} is not a question.", why, "Write [questions.q1].")
        _require_keys(entry, _QUESTION_KEYS, name)
    return entries


def _builder(name: str, entry: Mapping[str, Any]) -> Build:
    """The protocol of a question as a function of ε."""
    method = _choice(entry, "method", METHODS, name)
    if any(key in entry for key in ("low", "high", "step")) or method == "number":
        return _number_builder(name, entry, method)
    values, is_required = _values(name, entry), _is_required(entry, name)
    if method in ("two coins", "binary") and (len(values) != 2 or not is_required):
        why = "It has two values, and silence would be a third."
        raise _wrong(
            f"{name}: method {method!r} needs two values and required = true.", why, 'Or take method = "auto".'
        )

    def build(epsilon: Fraction) -> Protocol:
        match method:
            case "two coins":
                protocol = face.two_coins()
            case "binary":
                protocol = face.binary(epsilon)
            case "k-ary":
                return face.kary(epsilon, values)
            case "subset":
                return face.subset(epsilon, values)
            case "hashed":
                return face.hashed(epsilon, values)
            case "unary":
                return face.unary(epsilon, values)
            case _:
                return face.auto(epsilon, values)
        return type(protocol)(protocol.name, tuple(values), protocol.code, protocol.why)

    return _named_after(name, build)


def _number_builder(name: str, entry: Mapping[str, Any], method: str) -> Build:
    if "values" in entry and method == "number":
        raise _wrong(f"{name}: values have no method 'number'.", "It is for low, high and step.", "Leave method out.")
    if "values" in entry:
        why = "It has both: values are for texts, low, high and step for a number."
        raise _wrong(f"{name} is neither a list of values nor a number.", why, "Leave one of them out.")
    if method not in ("auto", "number"):
        why = "That method is for values, and there are low, high and step."
        raise _wrong(f"{name}: a number has no method {method!r}.", why, "Leave method out.")
    if not _is_required(entry, name):
        why = "A report about a number has no room for silence."
        fix = 'Write required = true, or give values such as ["0", "1-5", "more"].'
        raise _wrong(f"{name}: a number must be required.", why, fix)
    low, high, step = (_decimal(entry, key, name) for key in ("low", "high", "step"))
    return _named_after(name, lambda epsilon: face.number(epsilon, low, high, step))


def _named_after(name: str, build: Build) -> Build:
    """The same, its refusals named after the question."""

    def build_by_name(epsilon: Fraction) -> Protocol:
        try:
            return build(epsilon)
        except DiscreetError as error:
            raise MetadataError(f"Question {name!r}: {error.what}", error.why, error.advice) from None

    return build_by_name


def _mode(table: Mapping[str, Any], epsilon: Fraction, builders: list[Build]) -> tuple[str, str]:
    mode = _choice(table, "mode", MODES)
    if mode == "auto":
        return choose_mode(epsilon, builders)
    return mode, f"The survey says mode = {mode!r}."


def _epsilon(table: Mapping[str, Any], entries: Mapping[str, Any], is_two_coins: bool) -> Fraction:
    if is_two_coins:
        return _two_coins_epsilon(table, entries)
    if "epsilon" not in table:
        raise _wrong("epsilon is missing.", "It is the ε of the whole questionnaire.", 'Write epsilon = "1".')
    return _parse_epsilon(table["epsilon"])


def _two_coins_epsilon(table: Mapping[str, Any], entries: Mapping[str, Any]) -> Fraction:
    own = face.two_coins().epsilon
    if len(entries) > 1:
        why = "Two fair coins cost ln 3 = 1.0986 for each question and cannot share ε."
        enough = amounts.text_up(own * len(entries), 5)
        fix = f'Take method = "auto" and epsilon = "{enough}"; slips on paper still have two coins for each question.'
        raise _wrong('method = "two coins" must be the only question.', why, fix)
    if "epsilon" in table and _parse_epsilon(table["epsilon"]) < own:
        raise _wrong(
            "epsilon is below ln 3.", "Two fair coins cost ln 3 = 1.0986.", 'Leave it out, or method = "binary".'
        )
    return own


def _parse_epsilon(value: Any) -> Fraction:
    try:
        epsilon = amounts.epsilon(value)
    except DiscreetError as error:
        raise MetadataError(error.what, error.why, 'Write epsilon = "1".') from None
    if epsilon > LARGEST_EPSILON:
        why = f"The answers of a whole questionnaire that may cost more than ε = {LARGEST_EPSILON} are not protected."
        raise _wrong("epsilon is too large.", why, 'Write epsilon = "1".')
    return epsilon


def _values(name: str, entry: Mapping[str, Any]) -> list[str]:
    values, is_required = entry.get("values"), _is_required(entry, name)
    fault = _fault_of(values, 2 if is_required else 1)
    if fault is not None:
        raise _wrong(f"{name}: {fault[0]}", fault[1], 'Write values = ["no", "yes"].')
    assert values is not None
    if is_required:
        return list(values)
    if SILENCE in values:
        raise _wrong(f"{name}: {SILENCE!r} is among the values.", "It is added by itself.", "Leave it out.")
    return [*values, SILENCE]


def _fault_of(values: Any, needed: int) -> tuple[str, str] | None:
    """What is wrong with a list of values, and why; None if nothing is."""
    if values is None:
        return "values are missing.", "A question has values, or low, high and step for a number."
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return (
            "values are not a list of texts.",
            "Values such as 1 need quotes; a number has low, high and step.",
        )
    if not all(0 < len(value) <= _LONGEST_VALUE for value in values):
        return "a value is empty or too long.", f"A value has 1 to {_LONGEST_VALUE} characters."
    if len(set(values)) != len(values):
        return "a value stands there twice.", "Values must be different, or people could not tell them apart."
    if not needed <= len(values) <= _MOST_VALUES:
        why = f"There must be {needed} to {_MOST_VALUES:,} of them."
        return f"there {'is 1 value' if len(values) == 1 else f'are {len(values):,} values'}.", why
    return None


def _groups(table: Mapping[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    groups = table.get("groups")
    if groups is None:
        return None
    fix = 'Write [groups] and region = ["North", "South"].'
    if not isinstance(groups, dict) or len(groups) != 1:
        raise _wrong("groups is not one public column.", "Each invitation belongs to one group.", fix)
    ((name, values),) = groups.items()
    is_list = isinstance(values, list) and all(isinstance(value, str) and value for value in values)
    if not _NAME.fullmatch(name) or not is_list or not 1 <= len(set(values)) == len(values) <= 1000:
        raise _wrong("groups is not a column with different texts.", "Invitations are given out by group.", fix)
    return name, tuple(values)


def _require_keys(table: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    for key in table:
        if key not in keys:
            meant = suggestion(key, keys)
            fix = f"Keys are {', '.join(keys)}." if meant is None else f"Did you mean {meant!r}?"
            if key in _KEYS:
                fix = f"Write {key} above the first line in brackets: what follows [questions.…] belongs to it."
            raise _wrong(f"{where} has no key {key!r}.", "A key that is not known would be ignored in silence.", fix)


def _text(table: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
    text = table.get(key, default)
    if text is None:
        raise _wrong(f"{where}: {key} is missing.", "People read it on the page.", f'Write {key} = "…".')
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or (default is None and not text.strip()):
        raise _wrong(
            f"{where}: {key} is not a text.", f"It has 1 to {_LONGEST_TEXT:,} characters.", f'Write {key} = "…".'
        )
    return text


def _choice(table: Mapping[str, Any], key: str, choices: tuple[str, ...], where: str = "the survey") -> str:
    choice = table.get(key, choices[0])
    if choice not in choices:
        meant = suggestion(choice, choices) if isinstance(choice, str) else None
        fix = f'Write {key} = "{choices[0] if meant is None else meant}".'
        named = repr(choice) if isinstance(choice, str) and len(choice) <= 40 else "that"
        raise _wrong(f"{where}: {key} cannot be {visible(named)}.", f"It is one of {', '.join(choices)}.", fix)
    return str(choice)


def _is_required(entry: Mapping[str, Any], name: str) -> bool:
    required = entry.get("required", False)
    if not isinstance(required, bool):
        raise _wrong(f"{name}: required is neither true nor false.", "It has no quotes.", "Write required = true.")
    return required


def _date(table: Mapping[str, Any], key: str) -> date | None:
    day = table.get(key)
    if day is None:
        return None
    if not isinstance(day, date) or isinstance(day, datetime):
        raise _wrong(f"{key} is not a date.", "It is a day, without quotes.", f"Write {key} = 2026-11-01.")
    return day


def _decimal(entry: Mapping[str, Any], key: str, name: str) -> Fraction:
    if key not in entry:
        raise _wrong(f"{name}: {key} is missing.", "A number has low, high and step.", f"Write {key} = 1.")
    try:
        number = amounts.decimal(entry[key], key)
    except DiscreetError as error:
        raise MetadataError(f"{name}: {error.what}", error.why, error.advice) from None
    if not is_plain(number):
        what = f"{name}: {key} has no exact decimal with at most {MOST_DIGITS} digits before and after the point."
        why = "People type such numbers on the page, and every device must read them exactly."
        raise _wrong(what, why, f'Write {key} = "0.25", for example.')
    return number


def _wrong(what: str, why: str, fix: str) -> MetadataError:
    return MetadataError(what, why, fix)
