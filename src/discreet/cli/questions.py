"""The answers `discreet init` needs, from flags or from a terminal, as public facts."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import typer

from discreet.cli.terminal import Stopped
from discreet.errors import BadValue, DiscreetError, MetadataError, bad, fixed_by, quoted
from discreet.fix import Fix, command_line
from discreet.metadata.header import like_unit
from discreet.relation import Relation
from discreet.schema import Budget, Column, Hierarchy, Schema, Type, Unit
from discreet.schema.kind import ORDERED, SYNONYMS
from discreet.schema.unit import RELATIONS
from discreet.schema.words import choice, suggestion, written

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
    """The answers as typed, None or empty where there was none; `before` are arguments that are no answers."""

    unit: str | None = None
    max_rows: str | None = None
    columns: tuple[str, ...] = ()
    hierarchies: tuple[str, ...] = ()
    epsilon: str | None = None
    delta: str | None = None
    before: Mapping[str, Any] = field(default_factory=lambda: {"table": "people.csv"})


def again(given: Answers, words: str = "", **more: Any) -> Fix:
    """The call that gives these answers.

    >>> command_line(again(Answers("person_id", "5", ("region:category:north|south",))))
    "discreet init people.csv --unit person_id --max-rows 5 --column 'region:category:north|south'"
    """
    answers = {
        "unit": given.unit,
        "max_rows": given.max_rows,
        "column": given.columns,
        "hierarchy": given.hierarchies,
        "epsilon": given.epsilon,
        "delta": given.delta,
    }
    return Fix(words, "init", {**given.before, **answers, **more})


def filled(given: Answers, names: Sequence[str] | None) -> Answers:
    """The answers with an example, in the header's own words, for each that is missing and would leave a gap; but for
    columns, of whose types nothing is known."""
    there = names or ("person_id", "age")
    declared = {spec.partition(":")[0].casefold() for spec in given.columns}
    if given.unit is None:
        key = like_unit([name for name in there if name.casefold() not in declared])
        given = given if key is None else replace(given, unit=key, max_rows=given.max_rows or "5")
    return replace(given, epsilon=given.epsilon or "3", delta=given.delta or "1e-7")


def unit(given: Answers, names: Sequence[str] | None = None) -> Unit | None:
    """Who is protected; the header's names serve the fix."""
    if given.unit is None:
        if given.max_rows is not None:
            named = like_unit(names or ())
            fix = "Name the column that says whose row it is: --unit COLUMN"
            fix = fix if named is None else f"Add, for example: --unit {shlex.quote(named)}"
            raise bad("--max-rows", "must come with --unit", given.max_rows, fix)
        return None
    if given.max_rows is None:
        rule = "must come with the number of its rows that may count"
        raise bad("--unit", rule, given.unit, again(replace(given, max_rows="5"), "Write, with your number:"))
    flags = shlex.join(["--unit", given.unit or "person_id", "--max-rows", "5"])
    with fixed_by(f"Write, for example: {flags}"):
        typed = given.max_rows.strip()
        small = typed.isascii() and typed.isdecimal() and len(typed) < 20
        return Unit(given.unit, int(typed) if small else typed)  # type: ignore[arg-type]


def budget(given: Answers) -> Budget | None:
    """What may be spent."""
    if given.epsilon is None:
        if given.delta is not None:
            raise bad("--delta", "must come with --epsilon", given.delta, "Add, for example: --epsilon 3")
        return None
    with fixed_by("Write, for example: --epsilon 3 --delta 1e-7"):
        return Budget(given.epsilon, given.delta or 0)  # type: ignore[arg-type]


def relation(given: str) -> Relation:
    """When two tables are neighbours."""
    if given in tuple(Relation):
        return Relation(given)
    meant = suggestion(given, tuple(Relation), RELATIONS)
    fix = (
        f"Did you mean {meant}? Write: --neighbours {meant}" if meant else "Write, for example: --neighbours add-remove"
    )
    raise bad("--neighbours", f"must be one of {', '.join(Relation)}", given, fix)


def plain_name(text: str) -> str:
    """The text as a word that SQL needs no quotes for.

    >>> plain_name("2020 visits")
    't_2020_visits'
    """
    plain = "".join(letter if letter.isalnum() else "_" for letter in text)[:60]
    return plain if plain.isidentifier() else f"t_{plain}"


def called(given: str) -> str:
    """The table's name, if questions can use it."""
    if not given.isidentifier():
        fix = f"Write: --name {shlex.quote(plain_name(given))}"
        raise bad("--name", "must be letters, digits and _, not beginning with a digit", given, fix)
    return given


def column(spec: str) -> Column:
    """The column of NAME:TYPE, NAME:TYPE:LOW:HIGH or NAME:TYPE:A|B|C.

    >>> column("age:integer:0:110").bounds, column("region:category:north|south").values
    ((0, 110), ('north', 'south'))
    """
    name, _, rest = spec.partition(":")
    kind, _, limits = rest.partition(":")
    if not name or not kind:
        example = f"{name or 'age'}:integer:0:110"
        raise bad("--column", "must be NAME:TYPE", spec, f"Write, for example: --column {shlex.quote(example)}")
    example = f"{name}:{_meant(kind)}{_EXAMPLE[_meant(kind)]}"
    with fixed_by(f"Write, for example: --column {shlex.quote(example)}"):
        known = Type(choice(kind, f"columns.{name}.type", tuple(Type), SYNONYMS))
        if not limits:
            return Column(name, known)
        if known in ORDERED and "|" not in limits:
            parts = limits.split(":")
            half = len(parts) // 2  # the time of a datetime has colons of its own
            ends = (":".join(parts[:half]), ":".join(parts[half:]))
            return Column(name, known, bounds=ends if half else tuple(parts))  # type: ignore[arg-type]
        if "" in limits.split("|"):  # a value that is meant to be empty is written into the TOML
            raise bad("--column", "must have a value on both sides of each |", spec, "Leave the last | out.")
        if "," not in limits or "|" in limits:
            return Column(name, known, values=tuple(limits.split("|")))
    fix = f"Write: --column {shlex.quote(f'{name}:{kind}:{_barred(limits)}')}"
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
    known = {one.name.casefold(): one for one in columns}
    if unit is not None and unit.key.casefold() in known:
        fix = f"Remove --column {known[unit.key.casefold()].name}:…, or give another --unit."
        raise bad("--unit", "must not be declared as a column too: no answer may be about one unit", unit.key, fix)
    for one in hierarchies:
        lowest = one.levels[-1]
        there = known.get(lowest.casefold())
        if there is None:
            meant = suggestion(lowest, [column.name for column in columns])
            hint = f"Did you mean {written(meant)}? Otherwise add" if meant else "Add"
            fix = f"{hint} the column: --column {shlex.quote(f'{lowest}:category')}"
            fix += f" (with its values, if they are public: --column {shlex.quote(f'{lowest}:category:A|B')})"
            raise bad("--hierarchy", "must end with a column that is declared", lowest, fix)
        if there.type not in (Type.CATEGORY, Type.TEXT):
            fix = f"Write: --column {shlex.quote(f'{there.name}:category')}"
            raise bad("--hierarchy", "must end with a category column", lowest, fix)


def require_there(wanted: Sequence[str], names: Sequence[str] | None) -> None:
    """Refuses a name that the header does not have."""
    there = None if names is None else {name.casefold() for name in names}
    for name in wanted:
        if there is not None and name.casefold() not in there:
            meant = suggestion(name, names or ())
            fix = f"Did you mean {written(meant)}?" if meant else "Give one of these names."
            why = f"Its columns are {_some(names or ())}."
            raise MetadataError(f"The header has no column {written(name)}.", why, fix)


@dataclass
class _Asking:
    """Questions on a terminal, numbered as they come; stderr only, so that stdout stays the answer."""

    number: int = 0

    def answer(self, text: str, accept: Callable[[str], object], hint: Callable[[str], str]) -> str | None:
        """What was typed, asked for again until it is accepted; None for a bare Enter."""
        self.number += 1
        while typed := self._typed(f"{self.number}. {text}: "):
            try:
                accept(typed)
                return typed
            except BadValue as error:
                said = error.what if error.rule is None else f"It {error.rule}."
                typer.echo(f"   {said} You typed {quoted(typed)}. {hint(typed)}", err=True)
            except DiscreetError as error:
                typer.echo(f"   {error.what} {error.why} {error.spelt(command_line)}", err=True)
        return None

    def needed(self, text: str, accept: Callable[[str], object], hint: Callable[[str], str]) -> str:
        """What was typed, where a bare Enter is no answer."""
        while (typed := self.answer(text, accept, hint)) is None:
            typer.echo(f"   An answer is needed here. {hint('')}", err=True)
            self.number -= 1
        return typed

    def _typed(self, prompt: str) -> str:
        typer.echo(prompt, nl=False, err=True)
        return input().strip()


def asked(given: Answers, names: Sequence[str] | None) -> Answers:
    """The answers, with what the flags leave open asked for on the terminal."""
    require_there([column(spec).name for spec in given.columns], names)  # a bad flag is said before any question
    for spec in given.hierarchies:
        hierarchy(spec)
    if given.epsilon is not None:
        budget(given)
    try:
        return _asked(_Asking(), given, names)
    except (EOFError, KeyboardInterrupt):
        typer.echo("", err=True)
        why = "The questions were left before the last one."
        raise Stopped("No file was written.", why, again(given, "Start again:")) from None


def _asked(asking: _Asking, given: Answers, names: Sequence[str] | None) -> Answers:
    if names is not None:
        typer.echo(f"Columns in the header: {_some(names)}", err=True)
    given = _asked_unit(asking, given, names)
    if not given.columns:
        given = replace(given, columns=_asked_columns(asking, given, names))
    if not given.hierarchies:
        given = replace(given, hierarchies=_asked_hierarchies(asking, given))
    if given.epsilon is None:
        text = "Budget for all questions together: epsilon and delta, such as 3 1e-7 (Enter: later)"
        typed = asking.answer(text, lambda typed: budget(_spent(typed)), lambda _: "Type, for example: 3 1e-7")
        spent = _spent(typed or "")
        given = replace(given, epsilon=spent.epsilon, delta=spent.delta or given.delta)
    return given


def _asked_unit(asking: _Asking, given: Answers, names: Sequence[str] | None) -> Answers:
    if given.unit is None:
        text = "Who is protected? The column that says whose row it is (Enter: each row on its own)"
        key = asking.answer(text, lambda typed: require_there([typed], names), lambda _: "Type a name of the header.")
        given = replace(given, unit=key)
    else:
        require_there([given.unit], names)
    if given.unit is not None and given.max_rows is None:
        known, text = given, f"How many rows with the same {given.unit} may count, such as 5"
        accept = lambda typed: unit(replace(known, max_rows=typed))  # noqa: E731
        given = replace(given, max_rows=asking.needed(text, accept, lambda _: "Type, for example: 5"))
    return given


def _asked_columns(asking: _Asking, given: Answers, names: Sequence[str] | None) -> tuple[str, ...]:
    """The columns, each with its type and its public limits."""
    free = [name for name in names or ("age",) if given.unit is None or name.casefold() != given.unit.casefold()]

    def accept(typed: str) -> None:
        wanted = [column(spec if ":" in spec else f"{spec}:text") for spec in _specs(typed)]
        require_there([one.name for one in wanted], names)
        Schema("t", tuple(wanted), unit(given))

    text = "Which columns may be asked about? Their names, with commas between (Enter: none)"
    typed = asking.answer(text, accept, lambda _: f"Type, for example: {', '.join(free[:2])}")
    return tuple(_limited(asking, _typed(asking, spec)) for spec in _specs(typed or ""))


def _typed(asking: _Asking, spec: str) -> str:
    """The column with its type."""
    if ":" in spec:
        return spec
    kinds = ", ".join(Type)

    def hint(typed: str) -> str:
        meant = suggestion(typed, tuple(Type), SYNONYMS)
        return f"Type: {meant}" if meant else f"Type one of: {kinds}"

    kind = asking.needed(f"What does {spec} hold: {kinds}", lambda typed: column(f"{spec}:{typed}"), hint)
    return f"{spec}:{kind}"


def _limited(asking: _Asking, spec: str) -> str:
    """The column with its public bounds or values."""
    plain = column(spec)
    if spec.count(":") > 1 or plain.type in (Type.BOOLEAN, Type.TEXT):
        return spec
    example = _EXAMPLE[plain.type].removeprefix(":")
    kind = "lowest and highest" if plain.type in ORDERED else "values"
    text = f"Public {kind} of {plain.name}, such as {example} (Enter: not public)"

    def hint(typed: str) -> str:
        listed = plain.type is Type.CATEGORY and "," in typed and "|" not in typed
        return f"Type: {_barred(typed)}" if listed else f"Type, for example: {example}"

    typed = asking.answer(text, lambda typed: column(f"{spec}:{_ends(typed, plain.type)}"), hint)
    return spec if typed is None else f"{spec}:{_ends(typed, plain.type)}"


def _asked_hierarchies(asking: _Asking, given: Answers) -> tuple[str, ...]:
    """The hierarchy; not asked for where no column could be its lowest level."""
    columns = tuple(map(column, given.columns))
    leaf = next((one.name for one in columns if one.type in (Type.CATEGORY, Type.TEXT)), None)
    if leaf is None:
        return ()
    example = f"geo:country>{leaf}"
    text = f"Do places or groups nest? A name and the levels, top first, such as {example} (Enter: none)"
    accept = lambda typed: require_together(columns, None, [hierarchy(typed)])  # noqa: E731
    typed = asking.answer(text, accept, lambda _: f"Type, for example: {example}")
    return () if typed is None else (typed,)


def _ends(typed: str, kind: Type) -> str:
    """Bounds as LOW:HIGH, however the two were set apart; values as they are.

    >>> _ends("0 110", Type.INTEGER), _ends("[0, 110]", Type.INTEGER), _ends("0 to 110", Type.INTEGER)
    ('0:110', '0:110', '0:110')
    """
    if kind not in ORDERED or "|" in typed:
        return typed
    plain = re.sub(r"\s*:\s*", ":", typed.strip("[]() "))
    two = re.sub(r"\s+to\s+|,", " ", plain).split()
    return ":".join(two) if len(two) == 2 else plain


def _barred(limits: str) -> str:
    return "|".join(part.strip() for part in limits.split(",") if part.strip())


def _specs(typed: str) -> list[str]:
    return [spec.strip() for spec in typed.split(",") if spec.strip()]


def _spent(typed: str) -> Answers:
    epsilon, _, delta = typed.replace(",", " ").partition(" ")
    return Answers(epsilon=epsilon or None, delta=delta.strip() or None)


def _meant(kind: str) -> Type:
    meant = kind if kind in tuple(Type) else suggestion(kind, tuple(Type), SYNONYMS)
    return Type.INTEGER if meant is None else Type(meant)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
