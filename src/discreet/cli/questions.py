"""The answers that `discreet init` needs, typed as flags or on a terminal, parsed into public facts."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import typer

from discreet.cli.terminal import Stopped
from discreet.errors import BadValue, DiscreetError, MetadataError, bad, fixed_by, short_text
from discreet.fix import Fix, command_line
from discreet.metadata.header import like_unit
from discreet.relation import Relation
from discreet.schema import Budget, Column, Hierarchy, Schema, Type, Unit
from discreet.schema.kind import ORDERED, SYNONYMS
from discreet.schema.unit import RELATIONS
from discreet.schema.words import choice, suggestion, toml_value

_SHOWN = 20
_EXAMPLE = {
    Type.CATEGORY: ":north|south",
    Type.TEXT: "",
    Type.BOOLEAN: "",
    Type.INTEGER: ":0:110",
    Type.NUMBER: ":0:5000",
    Type.DATE: ":2020-01-01:2029-12-31",
    Type.DATETIME: ":2020-01-01:2029-12-31",
}


@dataclass(frozen=True)
class Answers:
    """The answers as typed, None or empty where there was none; `other_arguments` are the rest of the command."""

    unit: str | None = None
    max_rows: str | None = None
    columns: tuple[str, ...] = ()
    hierarchies: tuple[str, ...] = ()
    epsilon: str | None = None
    delta: str | None = None
    other_arguments: Mapping[str, Any] = field(default_factory=lambda: {"table": "people.csv"})

    def fix(self, words: str = "", **more: Any) -> Fix:
        """The command that gives these answers.

        >>> command_line(Answers("person_id", "5", ("region:category:north|south",)).fix())
        "discreet init people.csv --unit person_id --max-rows 5 --column 'region:category:north|south'"
        """
        flags = {"unit": self.unit, "max_rows": self.max_rows, "column": self.columns, "hierarchy": self.hierarchies}
        price = {"epsilon": self.epsilon, "delta": self.delta}
        return Fix(words, "init", {**self.other_arguments, **flags, **price, **more})


def completed(answers: Answers, names: Sequence[str] | None) -> Answers:
    """The answers with an example, in the header's names, for each missing one but columns, whose types are unknown."""
    declared = {spec.partition(":")[0].casefold() for spec in answers.columns}
    if answers.unit is None:
        key = like_unit([name for name in names or ("person_id", "age") if name.casefold() not in declared])
        answers = answers if key is None else replace(answers, unit=key, max_rows=answers.max_rows or "5")
    return replace(answers, epsilon=answers.epsilon or "3", delta=answers.delta or "1e-7")


def unit(answers: Answers, names: Sequence[str] | None = None) -> Unit | None:
    """Who is protected; a fix suggests one of the header's names."""
    if answers.unit is None:
        if answers.max_rows is not None:
            likely = like_unit(names or ())
            fix = "Name the column that says whose row it is: --unit COLUMN"
            fix = fix if likely is None else f"Add, for example: --unit {shlex.quote(likely)}"
            raise bad("--max-rows", "must come with --unit", answers.max_rows, fix)
        return None
    if answers.max_rows is None:
        rule = "must come with the number of its rows that may count"
        raise bad("--unit", rule, answers.unit, replace(answers, max_rows="5").fix("Write, with your number:"))
    flags = shlex.join(["--unit", answers.unit or "person_id", "--max-rows", "5"])
    with fixed_by(f"Write, for example: {flags}"):
        text = answers.max_rows.strip()
        is_number = text.isascii() and text.isdecimal() and len(text) < 20
        return Unit(answers.unit, int(text) if is_number else text)  # type: ignore[arg-type]


def budget(answers: Answers) -> Budget | None:
    """What may be spent."""
    if answers.epsilon is None:
        if answers.delta is not None:
            raise bad("--delta", "must come with --epsilon", answers.delta, "Add, for example: --epsilon 3")
        return None
    with fixed_by("Write, for example: --epsilon 3 --delta 1e-7"):
        return Budget(answers.epsilon, answers.delta or 0)  # type: ignore[arg-type]


def relation(name: str) -> Relation:
    """The relation of that name."""
    if name in tuple(Relation):
        return Relation(name)
    likely = suggestion(name, tuple(Relation), RELATIONS)
    hint = f"Did you mean {likely}? Write:" if likely else "Write, for example:"
    fix = f"{hint} --neighbours {likely or Relation.ADD_REMOVE}"
    raise bad("--neighbours", f"must be one of {', '.join(Relation)}", name, fix)


def plain_name(text: str) -> str:
    """The text as a word that SQL needs no quotes for.

    >>> plain_name("2020 visits")
    't_2020_visits'
    """
    plain = "".join(letter if letter.isalnum() else "_" for letter in text)[:60]
    return plain if plain.isidentifier() else f"t_{plain}"


def require_name(name: str) -> None:
    """Refuses a name of the table that questions could not use."""
    if not name.isidentifier():
        fix = f"Write: --name {shlex.quote(plain_name(name))}"
        raise bad("--name", "must be letters, digits and _, not beginning with a digit", name, fix)


def column(spec: str) -> Column:
    """The column of NAME:TYPE, NAME:TYPE:LOW:HIGH or NAME:TYPE:A|B|C.

    >>> column("age:integer:0:110").bounds, column("region:category:north|south").values
    ((0, 110), ('north', 'south'))
    """
    name, _, type_and_limits = spec.partition(":")
    kind, _, limits = type_and_limits.partition(":")
    if not name or not kind:
        example = f"{name or 'age'}:integer:0:110"
        raise bad("--column", "must be NAME:TYPE", spec, f"Write, for example: --column {shlex.quote(example)}")
    if name != name.strip() and name.strip():
        typed = shlex.quote(f"{name.strip()}:{type_and_limits}")
        raise bad("--column", "must have no spaces around the name", spec, f"Write: --column {typed}")
    example = f"{name}:{_likely_type(kind)}{_EXAMPLE[_likely_type(kind)]}"
    with fixed_by(f"Write, for example: --column {shlex.quote(example)}"):
        column_type = Type(choice(kind, f"columns.{name}.type", tuple(Type), SYNONYMS))
        if not limits:
            return Column(name, column_type)
        if column_type in ORDERED and "|" not in limits:
            parts = limits.split(":")
            half = len(parts) // 2  # the time of a datetime has colons of its own
            ends = (":".join(parts[:half]), ":".join(parts[half:]))
            return Column(name, column_type, bounds=ends if half else tuple(parts))  # type: ignore[arg-type]
        if "" in limits.split("|"):  # a value that is meant to be empty is written into the TOML
            raise bad("--column", "must have a value on both sides of each |", spec, "Leave the last | out.")
        if "," not in limits or "|" in limits:
            return Column(name, column_type, values=tuple(limits.split("|")))
    fix = f"Write: --column {shlex.quote(f'{name}:{kind}:{_with_bars(limits)}')}"
    raise bad("--column", "must have | between its values, not a comma", spec, fix)


def hierarchy(spec: str) -> Hierarchy:
    """The hierarchy of NAME:TOP>…>COLUMN.

    >>> hierarchy("geo:region > ward").levels
    ('region', 'ward')
    """
    name, _, levels = spec.partition(":")
    with fixed_by("Write, for example: --hierarchy 'geo:country>region>ward'"):
        return Hierarchy(name.strip(), tuple(level.strip() for level in levels.split(">")))


def require_together(columns: Sequence[Column], unit: Unit | None, hierarchies: Sequence[Hierarchy]) -> None:
    """Refuses, in the words of the flags, a unit that is a column too and a hierarchy that ends in no category."""
    declared = {column.name.casefold(): column for column in columns}
    if unit is not None and unit.key.casefold() in declared:
        fix = f"Remove --column {declared[unit.key.casefold()].name}:…, or give another --unit."
        raise bad("--unit", "must not be declared as a column too: no answer may be about one unit", unit.key, fix)
    for hierarchy in hierarchies:
        lowest = hierarchy.levels[-1]
        column = declared.get(lowest.casefold())
        if column is None:
            likely = suggestion(lowest, [column.name for column in columns])
            hint = f"Did you mean {toml_value(likely)}? Otherwise add" if likely else "Add"
            fix = f"{hint} the column: --column {shlex.quote(f'{lowest}:category')}"
            fix += f" (with its values, if they are public: --column {shlex.quote(f'{lowest}:category:A|B')})"
            raise bad("--hierarchy", "must end with a column that is declared", lowest, fix)
        if column.type not in (Type.CATEGORY, Type.TEXT):
            fix = f"Write: --column {shlex.quote(f'{column.name}:category')}"
            raise bad("--hierarchy", "must end with a category column", lowest, fix)


def require_in_header(names: Iterable[str], header: Sequence[str] | None) -> None:
    """Refuses a name that the header does not have; any name passes where there is no header."""
    for name in names if header is not None else ():
        if name.casefold() not in map(str.casefold, header or ()):
            likely = suggestion(name, header or ())
            fix = f"Did you mean {toml_value(likely)}?" if likely else "Give one of these names."
            why = f"Its columns are {_first_names(header or ())}."
            raise MetadataError(f"The header has no column {toml_value(name)}.", why, fix)


@dataclass
class _Dialog:
    """Numbered questions on a terminal; on stderr only, so that stdout stays the answer."""

    number: int = 0

    def answer(self, text: str, accept: Callable[[str], object], hint: Callable[[str], str]) -> str | None:
        """Ask until what is typed is accepted; None for a bare Enter."""
        self.number += 1
        while typed := _read_line(f"{self.number}. {text}: "):
            try:
                accept(typed)
                return typed
            except BadValue as error:
                problem = error.what if error.rule is None else f"It {error.rule}."
                typer.echo(f"   {problem} You typed {short_text(typed)}. {hint(typed)}", err=True)
            except DiscreetError as error:
                typer.echo(f"   {error.what} {error.why} {error.fix_text(command_line)}", err=True)
        return None

    def required_answer(self, text: str, accept: Callable[[str], object], hint: Callable[[str], str]) -> str:
        """Ask likewise where a bare Enter is no answer."""
        while (typed := self.answer(text, accept, hint)) is None:
            typer.echo(f"   An answer is needed here. {hint('')}", err=True)
            self.number -= 1
        return typed


def _read_line(prompt: str) -> str:
    typer.echo(prompt, nl=False, err=True)
    return input().strip()


def ask_missing(answers: Answers, names: Sequence[str] | None) -> Answers:
    """Ask on the terminal for what the flags leave open; all answers together."""
    require_in_header([column(spec).name for spec in answers.columns], names)  # a bad flag is said before any question
    for spec in answers.hierarchies:
        hierarchy(spec)
    if answers.epsilon is not None:
        budget(answers)
    try:
        return _ask_all(_Dialog(), answers, names)
    except (EOFError, KeyboardInterrupt):
        typer.echo("", err=True)
        why = "The questions were left before the last one."
        raise Stopped("No file was written.", why, answers.fix("Start again:")) from None


def _ask_all(dialog: _Dialog, answers: Answers, names: Sequence[str] | None) -> Answers:
    if names is not None:
        typer.echo(f"Columns in the header: {_first_names(names)}", err=True)
    answers = _ask_unit(dialog, answers, names)
    if not answers.columns:
        answers = replace(answers, columns=_ask_columns(dialog, answers, names))
    if not answers.hierarchies:
        answers = replace(answers, hierarchies=_ask_hierarchies(dialog, answers))
    if answers.epsilon is None:
        text = "Budget for all questions together: epsilon and delta, such as 3 1e-7 (Enter: later)"
        typed = dialog.answer(text, lambda typed: budget(_budget_answers(typed)), lambda _: "Type, for example: 3 1e-7")
        price = _budget_answers(typed or "")
        answers = replace(answers, epsilon=price.epsilon, delta=price.delta or answers.delta)
    return answers


def _ask_unit(dialog: _Dialog, answers: Answers, names: Sequence[str] | None) -> Answers:
    if answers.unit is None:
        text = "Who is protected? The column that says whose row it is (Enter: each row on its own)"
        is_there = lambda typed: require_in_header([typed], names)  # noqa: E731
        key = dialog.answer(text, is_there, lambda _: "Type a name of the header.")
        answers = replace(answers, unit=key)
    else:
        require_in_header([answers.unit], names)
    if answers.unit is not None and answers.max_rows is None:
        text, with_unit = f"How many rows with the same {answers.unit} may count, such as 5", answers
        accept = lambda typed: unit(replace(with_unit, max_rows=typed))  # noqa: E731
        answers = replace(answers, max_rows=dialog.required_answer(text, accept, lambda _: "Type, for example: 5"))
    return answers


def _ask_columns(dialog: _Dialog, answers: Answers, names: Sequence[str] | None) -> tuple[str, ...]:
    """Ask for the columns, each with its type and its public limits."""
    free = [name for name in names or ("age",) if answers.unit is None or name.casefold() != answers.unit.casefold()]

    def accept(typed: str) -> None:
        columns = [column(spec if ":" in spec else f"{spec}:text") for spec in _specs(typed)]
        require_in_header([column.name for column in columns], names)
        Schema("t", tuple(columns), unit(answers))

    text = "Which columns may be asked about? Their names, with commas between (Enter: none)"
    typed = dialog.answer(text, accept, lambda _: f"Type, for example: {', '.join(free[:2])}")
    return tuple(_ask_limits(dialog, _ask_type(dialog, spec)) for spec in _specs(typed or ""))


def _ask_type(dialog: _Dialog, spec: str) -> str:
    """Ask for the type of a column; its spec."""
    if ":" in spec:
        return spec
    kinds = ", ".join(Type)

    def hint(typed: str) -> str:
        likely = suggestion(typed, tuple(Type), SYNONYMS)
        return f"Type: {likely}" if likely else f"Type one of: {kinds}"

    kind = dialog.required_answer(f"What does {spec} hold: {kinds}", lambda typed: column(f"{spec}:{typed}"), hint)
    return f"{spec}:{kind}"


def _ask_limits(dialog: _Dialog, spec: str) -> str:
    """Ask for the public bounds or values of a column; its spec."""
    plain = column(spec)
    if spec.count(":") > 1 or plain.type in (Type.BOOLEAN, Type.TEXT):
        return spec
    example = _EXAMPLE[plain.type].removeprefix(":")
    kind = "lowest and highest" if plain.type in ORDERED else "values"
    text = f"Public {kind} of {plain.name}, such as {example} (Enter: not public)"

    def hint(typed: str) -> str:
        listed = plain.type is Type.CATEGORY and "," in typed and "|" not in typed
        return f"Type: {_with_bars(typed)}" if listed else f"Type, for example: {example}"

    typed = dialog.answer(text, lambda typed: column(f"{spec}:{_ends(typed, plain.type)}"), hint)
    return spec if typed is None else f"{spec}:{_ends(typed, plain.type)}"


def _ask_hierarchies(dialog: _Dialog, answers: Answers) -> tuple[str, ...]:
    """Ask for a hierarchy, unless no column could be its lowest level."""
    columns = tuple(map(column, answers.columns))
    leaf = next((column.name for column in columns if column.type in (Type.CATEGORY, Type.TEXT)), None)
    if leaf is None:
        return ()
    example = f"geo:country>{leaf}"
    text = f"Do places or groups nest? A name and the levels, top first, such as {example} (Enter: none)"
    accept = lambda typed: require_together(columns, None, [hierarchy(typed)])  # noqa: E731
    typed = dialog.answer(text, accept, lambda _: f"Type, for example: {example}")
    return () if typed is None else (typed,)


def _ends(typed: str, kind: Type) -> str:
    """Bounds as LOW:HIGH, whatever separates the two; values unchanged.

    >>> _ends("0 110", Type.INTEGER), _ends("[0, 110]", Type.INTEGER), _ends("0 to 110", Type.INTEGER)
    ('0:110', '0:110', '0:110')
    """
    if kind not in ORDERED or "|" in typed:
        return typed
    plain = re.sub(r"\s*:\s*", ":", typed.strip("[]() "))
    ends = re.sub(r"\s+to\s+|,", " ", plain).split()
    return ":".join(ends) if len(ends) == 2 else plain


def _with_bars(limits: str) -> str:
    return "|".join(part.strip() for part in limits.split(",") if part.strip())


def _specs(typed: str) -> list[str]:
    return [spec.strip() for spec in typed.split(",") if spec.strip()]


def _budget_answers(typed: str) -> Answers:
    epsilon, _, delta = typed.replace(",", " ").partition(" ")
    return Answers(epsilon=epsilon or None, delta=delta.strip() or None)


def _likely_type(kind: str) -> Type:
    likely = kind if kind in tuple(Type) else suggestion(kind, tuple(Type), SYNONYMS)
    return Type.INTEGER if likely is None else Type(likely)


def _first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
