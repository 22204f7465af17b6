"""The six answers `discreet init` needs, from flags or from a terminal, as public facts."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import typer

from discreet.errors import BadValue, DiscreetError, MetadataError, bad
from discreet.schema import Budget, Column, Hierarchy, Type, Unit
from discreet.schema.kind import ORDERED, SYNONYMS
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
    """The six answers as typed; None or empty where there was none."""

    unit: str | None = None
    max_rows: str | None = None
    columns: tuple[str, ...] = ()
    hierarchies: tuple[str, ...] = ()
    epsilon: str | None = None
    delta: str | None = None


def unit(given: Answers) -> Unit | None:
    """Who is protected."""
    if given.unit is None:
        if given.max_rows is not None:
            raise bad("--max-rows", "must come with --unit", given.max_rows, "Add, for example: --unit person_id")
        return None
    if given.max_rows is None:
        fix = "Add, for example: --max-rows 5"
        raise bad("--unit", "must come with the number of its rows that may count", given.unit, fix)
    with _as_flags("--unit person_id --max-rows 5"):
        typed = given.max_rows.strip()
        small = typed.isascii() and typed.isdecimal() and len(typed) < 20
        return Unit(given.unit, int(typed) if small else typed)  # type: ignore[arg-type]


def budget(given: Answers) -> Budget | None:
    """What may be spent."""
    if given.epsilon is None:
        if given.delta is not None:
            raise bad("--delta", "must come with --epsilon", given.delta, "Add, for example: --epsilon 3")
        return None
    with _as_flags("--epsilon 3 --delta 1e-7"):
        return Budget(given.epsilon, given.delta or 0)  # type: ignore[arg-type]


def column(spec: str) -> Column:
    """The column of NAME:TYPE, NAME:TYPE:LOW:HIGH or NAME:TYPE:A|B|C.

    >>> column("age:integer:0:110").bounds, column("region:category:north|south").values
    ((0, 110), ('north', 'south'))
    """
    name, _, rest = spec.partition(":")
    kind, _, limits = rest.partition(":")
    if not name or not kind:
        raise bad("--column", "must be NAME:TYPE", spec, "Write, for example: --column age:integer:0:110")
    with _as_flags(f"--column {name}:{_meant(kind)}{_EXAMPLE[_meant(kind)]}"):
        known = Type(choice(kind, f"columns.{name}.type", tuple(Type), SYNONYMS))
        if not limits:
            return Column(name, known)
        if known in ORDERED and "|" not in limits:
            parts = limits.split(":")
            half = len(parts) // 2  # the time of a datetime has colons of its own
            ends = (":".join(parts[:half]), ":".join(parts[half:]))
            return Column(name, known, bounds=ends if half else tuple(parts))  # type: ignore[arg-type]
        return Column(name, known, values=tuple(limits.split("|")))


def hierarchy(spec: str) -> Hierarchy:
    """The hierarchy of NAME:TOP>…>COLUMN.

    >>> hierarchy("geo:region > ward").levels
    ('region', 'ward')
    """
    name, _, levels = spec.partition(":")
    with _as_flags("--hierarchy 'geo:country>region>ward'"):
        return Hierarchy(name.strip(), tuple(level.strip() for level in levels.split(">")))


def require_there(wanted: Sequence[str], names: Sequence[str] | None) -> None:
    """Refuses a name that the header does not have."""
    there = None if names is None else {name.casefold() for name in names}
    for name in wanted:
        if there is not None and name.casefold() not in there:
            meant = suggestion(name, names or ())
            fix = f"Did you mean {written(meant)}?" if meant else f"The header has: {_some(names or ())}"
            raise MetadataError(f"The header has no column {written(name)}.", "You gave it as one.", fix)


def asked(given: Answers, names: Sequence[str] | None) -> Answers:
    """The answers, with what the flags leave open asked for on the terminal."""
    if names is not None:
        typer.echo(f"Columns in the header: {_some(names)}", err=True)
    if given.unit is None:
        text = "1/6 Who is protected? The column that says whose row it is (Enter: each row on its own)"
        given = replace(given, unit=_answer(text, lambda typed: require_there([typed], names)))
    if given.unit is not None and given.max_rows is None:
        text = "2/6 How many rows of one of them may count?"
        known = given
        given = replace(given, max_rows=_needed(text, lambda typed: unit(replace(known, max_rows=typed))))
    if not given.columns:
        text = "3/6 Which columns may be asked about? For example: age:integer, region:category"
        specs = _specs(_answer(text, lambda typed: _checked(typed, names)) or "")
        given = replace(given, columns=tuple(map(_limited, specs)))
    if not given.hierarchies:
        typed = _answer("5/6 Do some nest? For example: geo:country>region>ward (Enter: no)", hierarchy)
        given = replace(given, hierarchies=() if typed is None else (typed,))
    if given.epsilon is None:
        text = "6/6 Budget: epsilon and delta, for example: 3 1e-7 (Enter: later)"
        epsilon, delta = _spent(_answer(text, lambda typed: budget(Answers(None, None, (), (), *_spent(typed)))))
        given = replace(given, epsilon=epsilon, delta=delta)
    return given


def _answer(text: str, accept: Callable[[str], object]) -> str | None:
    """What was typed, asked for again until it is accepted; None for a bare Enter."""
    while True:
        typed = str(typer.prompt(text, default="", show_default=False, err=True)).strip()
        if not typed:
            return None
        try:
            accept(typed)
            return typed
        except DiscreetError as error:
            typer.echo(f"{error.what} {error.why} {error.fix}", err=True)


def _needed(text: str, accept: Callable[[str], object]) -> str:
    while (typed := _answer(text, accept)) is None:
        typer.echo("A number is needed here, such as 5.", err=True)
    return typed


def _limited(spec: str) -> str:
    """The column with its public bounds or values."""
    plain = column(spec)
    if spec.count(":") > 1 or plain.type in (Type.BOOLEAN, Type.TEXT):
        return spec
    example = _EXAMPLE[plain.type].removeprefix(":")
    text = f"4/6 Public limits of {plain.name}, for example {example} (Enter: not public)"
    typed = _answer(text, lambda typed: column(f"{spec}:{typed}"))
    return spec if typed is None else f"{spec}:{typed}"


def _checked(typed: str, names: Sequence[str] | None) -> None:
    require_there([column(spec).name for spec in _specs(typed)], names)


def _specs(typed: str) -> list[str]:
    return [spec.strip() for spec in typed.split(",") if spec.strip()]


def _spent(typed: str | None) -> tuple[str | None, str | None]:
    epsilon, _, delta = (typed or "").replace(",", " ").partition(" ")
    return epsilon or None, delta.strip() or None


def _meant(kind: str) -> Type:
    meant = kind if kind in tuple(Type) else suggestion(kind, tuple(Type), SYNONYMS)
    return Type.INTEGER if meant is None else Type(meant)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


@contextlib.contextmanager
def _as_flags(example: str) -> Iterator[None]:
    """Refusals inside end with flags to paste instead of TOML."""
    try:
        yield
    except BadValue as error:
        raise BadValue(error.what, error.why, f"Write, for example: {example}") from None
