"""TOML → Schema, Budget and source.  Strict: an unknown key, a wrong type or a broken rule stops the reading."""

import contextlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.amounts import DELTA_CEILING
from discreet.errors import BadValue, MetadataError
from discreet.metadata import address as addresses
from discreet.metadata import files
from discreet.metadata.address import Address
from discreet.metadata.keys import NAMED, TABLES, missing, require_known, require_table
from discreet.schema import Budget, Column, Hierarchy, Schema, Unit
from discreet.schema.limits import GIBIBYTE, Limits
from discreet.schema.unit import FORMAT
from discreet.schema.words import key, name, number, refusal


@dataclass(frozen=True)
class Metadata:
    """What one TOML says.  `said` are the keys that were written down, as far as a default hides it."""

    schema: Schema
    budget: Budget | None = None
    source: str | None = None
    folder: Path = Path()
    values_from: tuple[tuple[str, str], ...] = ()
    said: frozenset[str] = frozenset()
    limits: Limits | None = None

    @property
    def source_path(self) -> Path | None:
        """Where the private table lies, seen from the folder of the TOML; None for none and for an address."""
        if self.source is None or "://" in self.source:
            return None
        return self.folder / self.source

    @property
    def address(self) -> Address | None:
        """Where the private table lies in a server; None for a file."""
        return addresses.parse(self.source) if self.source is not None and addresses.is_address(self.source) else None


def load(path: str | Path) -> Metadata:
    """The metadata in a TOML file; relative names in it start from its folder."""
    file = Path(path)
    return parse(files.toml_text(file), file=file.name, folder=file.parent)


def document(path: Path) -> Mapping[str, Any]:
    """What a TOML file says, read as `load` reads it and held against no rule yet."""
    return _document(files.toml_text(path), path.name)


def parse(text: str, *, file: str = "metadata.toml", folder: Path = Path()) -> Metadata:
    """The metadata in a TOML text.

    >>> parse('[dataset]\\nname = "people"\\n[budget]\\nepsilon = 0.1').budget.epsilon
    Fraction(1, 10)
    """
    document = _document(text, file)
    with _naming(file):
        require_known((), document)
        for kind in document:
            _require_known_below(kind, document[kind])
        if "dataset" not in document:
            raise missing(("dataset",), "name")
        return _metadata(document, folder)


def delta_ceiling(population: int | None) -> Fraction:
    """The largest δ without a `max_delta`: 1/population where a public one is declared, else 10⁻⁶."""
    return DELTA_CEILING if population is None else Fraction(1, population)


def delta_advised(population: int | None) -> Fraction:
    """The largest δ that `check` lets pass in silence: 1/(100·population) where one is declared, else 10⁻⁶.

    At δ = 1/n a mechanism may publish one random unit of n (docs/why/delta.md); a hundredth of that is far below.
    """
    return DELTA_CEILING if population is None else Fraction(1, 100 * population)


def _document(text: str, file: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        message, place = str(error), re.search(r" \((at .+)\)$", str(error))
        where = f", {place[1]}" if place else ""
        why = f"{message[: place.start()] if place else message}."
        fix = 'Put text in quotes, and write one key = value on a line, for example: name = "people"'
        if "overwrite" in message or "twice" in message or "mutate" in message:
            fix = "Write each key and each [table] once."
        raise MetadataError(f"{file}{where}: this is not TOML.", why, fix) from None
    except (RecursionError, ValueError, ArithmeticError):
        why, fix = "It nests too deeply or holds too long a number.", "Write plain tables of keys and values."
        raise MetadataError(f"{file}: this is not TOML.", why, fix) from None


def _require_known_below(kind: str, content: Any) -> None:
    table = require_table((kind,), content)
    if kind not in NAMED:
        require_known((kind,), table)
        return
    for named, below in table.items():
        require_known((kind, named), require_table((kind, named), below))


@contextlib.contextmanager
def _naming(file: str) -> Iterator[None]:
    """Put the file's name before the words of refusals inside."""
    try:
        yield
    except (BadValue, MetadataError) as error:
        raise MetadataError(f"{file}: {error.what}", error.why, error.advice) from None


def _metadata(document: Mapping[str, Any], folder: Path) -> Metadata:
    dataset = document["dataset"]
    if "name" not in dataset:
        raise missing(("dataset",), "name")
    if (given := dataset.get("format", FORMAT)) != FORMAT or isinstance(given, bool):
        raise refusal("dataset.format", "must be 1, the only format so far", given, f"Write: format = {FORMAT}")
    source = dataset.get("source")
    if source is not None:
        source = name(source, "dataset.source", 'Write, for example: source = "people.csv"')
        if addresses.is_address(source):
            addresses.parse(source)
    table = None if source is None or "://" in source else folder / source
    columns = document.get("columns", {})
    schema = Schema(
        dataset["name"],
        tuple(_column(named, facts, folder, table) for named, facts in columns.items()),
        _unit(document),
        dataset.get("neighbours", "add-remove"),
        dataset.get("population"),
        tuple(_hierarchy(named, facts, folder, table) for named, facts in document.get("hierarchy", {}).items()),
    )
    return Metadata(
        schema,
        _budget(document, schema.population),
        source,
        folder,
        tuple((named, facts["values_from"]) for named, facts in columns.items() if "values_from" in facts),
        frozenset(key(table, given) for table in ("budget", "limits") for given in document.get(table, {})),
        _limits(document["limits"]) if "limits" in document else None,
    )


def _unit(document: Mapping[str, Any]) -> Unit | None:
    if "unit" not in document:
        return None
    for needed in ("key", "max_rows"):
        if needed not in document["unit"]:
            raise missing(("unit",), needed)
    return Unit(**document["unit"])


def _column(named: str, facts: Mapping[str, Any], folder: Path, source: Path | None) -> Column:
    if "type" not in facts:
        raise missing(("columns", named), "type")
    fields = {field: value for field, value in facts.items() if field != "values_from"}
    if "values_from" not in facts:
        return Column(named, **fields)
    where = key("columns", named, "values_from")
    if "values" in facts:
        raise refusal(where, "must not stand beside values", facts["values_from"], "Keep one of the two.")
    cells = files.column(folder, facts["values_from"], where, heading=named, source=source)
    return Column(named, **fields, values=cells)  # type: ignore[arg-type]


def _budget(document: Mapping[str, Any], population: int | None) -> Budget | None:
    if "budget" not in document:
        return None
    if "epsilon" not in document["budget"]:
        raise missing(("budget",), "epsilon")
    return Budget(**{"max_delta": delta_ceiling(population), **document["budget"]})


def _limits(table: Mapping[str, Any]) -> Limits:
    facts: dict[str, Any] = {}
    for field, value in table.items():
        where, fix = key("limits", field), f"Write, for example: {TABLES['limits'][field]}"
        parsed = number(value, where, "must be a number above 0", fix)
        if parsed <= 0:
            raise refusal(where, "must be a number above 0", value, fix)
        if field == "memory_gib":
            facts["memory"] = int(parsed * GIBIBYTE)
        else:
            facts[field] = int(parsed) if parsed.denominator == 1 else float(parsed)
    return Limits(**facts)


def _hierarchy(named: str, facts: Mapping[str, Any], folder: Path, source: Path | None) -> Hierarchy:
    if "levels" not in facts:
        raise missing(("hierarchy", named), "levels")
    plain = Hierarchy(named, facts["levels"], facts.get("tree"), facts.get("branches", ()))
    if plain.tree is None:
        return plain
    where = plain.key("tree")
    if plain.branches:
        raise refusal(where, "must not stand beside branches", plain.tree, "Keep one of the two.")
    rows = files.branches(folder, plain.tree, where, levels=plain.levels, source=source)
    return Hierarchy(named, plain.levels, plain.tree, tuple(map(tuple, rows)))
