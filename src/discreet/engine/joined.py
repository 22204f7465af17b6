"""Two tables of the same units read as one: persons, and rows that belong to them, such as patients and their visits.

    rows    each row of the second table beside its person's row of the first; a person without such rows has one row,
            whose other cells are empty
    left    rows of nobody in the first table are left out, as are further rows of one person there: of several, the
            first by their cells counts

So whatever the two tables hold, adding or removing a person adds or removes exactly the rows with that person's key.
Keys are compared as texts, letter by letter.  The join runs where both files are read, in the worker, before rows are
capped.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.engine import files, prepare, tables
from discreet.engine import source as origin
from discreet.engine.cells import Family, unit_key
from discreet.engine.prepare import commas
from discreet.engine.source import File, Format
from discreet.errors import SourceUnavailable, bad
from discreet.schema import Schema

_COLLATIONS = (
    f"SELECT sql FROM duckdb_tables() WHERE database_name = '{tables.SOURCE}' AND contains(upper(sql), 'COLLATE')"
)


@dataclass(frozen=True)
class JoinedSource:
    """Where both tables lie, their public facts, and what their columns are called in the joined table.

    `names` has for each column of the rows its own name and the joined one; those of persons keep theirs.
    `presence` names the boolean column that says whether a row of the second table is there.
    """

    persons: Path
    persons_schema: Schema
    rows: Path
    rows_schema: Schema
    names: Mapping[str, str]
    presence: str

    def file(self) -> "JoinedFile":
        """Both files with their formats; refused where one connection could not read them."""
        persons, rows = origin.file(self.persons), origin.file(self.rows)
        if persons.format is rows.format is Format.DUCKDB and persons.path != rows.path:
            fix = "Put both tables into one DuckDB file, or save one of them as Parquet."
            raise bad("children", "must not lie in a second DuckDB file", rows.path.name, fix)
        return JoinedFile(self, persons, rows)


@dataclass(frozen=True)
class JoinedFile:
    """Both files, as the engine asks one file."""

    source: JoinedSource
    persons: File
    rows: File

    @property
    def shown(self) -> str:
        """Their names as a message has them."""
        return f"{self.persons.shown} or {self.rows.shown}"

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that holds some of the rows."""
        return tuple(dict.fromkeys((*self.persons.paths, *self.rows.paths)))

    def stamps(self) -> tuple[files.Stamp, ...]:
        """As `File.stamps`; the first one is of no file and says how both are joined."""
        how = int.from_bytes(self._how[:8], "big")
        return ((how, 0, 0, 0), *self.persons.stamps(), *self.rows.stamps())

    def digest(self) -> bytes:
        """A hash of both digests and of how both are joined; of one file that holds both tables too."""
        return hashlib.sha256(b"joined" + self._how + self.persons.digest() + self.rows.digest()).digest()

    @property
    def _how(self) -> bytes:
        """A hash of what decides which column is read where: equal joined schemas do not tell that."""
        source = self.source
        layouts = [prepare.layout(schema) for schema in (source.persons_schema, source.rows_schema)]
        facts = json.dumps([*layouts, sorted(source.names.items()), source.presence])
        return hashlib.sha256(facts.encode()).digest()

    def attachment(self) -> tuple[str, ...]:
        """As `tables.attachment`."""
        return tuple(dict.fromkeys((*tables.attachment(self.persons), *tables.attachment(self.rows))))

    def table(self, _schema: Schema, look: tables.Look) -> prepare.Table:
        """How to read the joined rows: raw cells keep their types, and the key is a text."""
        source = self.source
        self._require_plain_keys(look)
        persons = tables.table(self.persons, source.persons_schema, look)
        rows = tables.table(self.rows, source.rows_schema, look)
        own = _Side("p", persons, source.persons_schema)
        other = _Side("v", rows, source.rows_schema)
        first = f"QUALIFY row_number() OVER (PARTITION BY u ORDER BY {commas(own.cells) or '1'}) = 1"
        joined = (
            f"(SELECT p.u AS u, v.u IS NOT NULL AS b, {commas([*own.cells, *other.cells]) or '1 AS nothing'} "
            f"FROM ({own.sql} {first}) p LEFT JOIN ({other.sql}) v ON p.u = v.u)"
        )
        columns = {source.presence: ("b", Family.FLAG), **own.columns({})}
        return prepare.Table(joined, {**columns, **other.columns(source.names)} | _key(source, own))

    def _require_plain_keys(self, look: tables.Look) -> None:
        """Refuses a DuckDB file that takes different texts as equal: one table's unit could be two of the other's."""
        before = self.attachment()
        if before and look([*before, _COLLATIONS])[-1]:
            why = "Keys of both tables are compared letter by letter, and a collation makes different ones equal."
            fix = "Save that table as Parquet, or make it anew without COLLATE."
            raise SourceUnavailable("A table with a collation is not joined.", why, fix)


def read_as(file: "File | JoinedFile", schema: Schema, look: tables.Look) -> prepare.Table:
    """How to read the rows of one file, or of two."""
    return file.table(schema, look) if isinstance(file, JoinedFile) else tables.table(file, schema, look)


def attachment(file: "File | JoinedFile") -> tuple[str, ...]:
    """The statements by which the worker gets at one file, or at two."""
    return file.attachment() if isinstance(file, JoinedFile) else tables.attachment(file)


@dataclass(frozen=True)
class _Side:
    """One of the two tables: its raw cells under short names."""

    letter: str
    table: prepare.Table
    schema: Schema

    @property
    def cells(self) -> list[str]:
        """The short names."""
        return [f"{self.letter}{place}" for place in range(len(self.schema.columns))]

    @property
    def sql(self) -> str:
        """A SELECT of key and cells; rows without a key are nobody's."""
        if self.schema.unit is None:
            raise ValueError("both tables have a unit")
        raw = self.table.columns[self.schema.unit.key]
        key = f"CAST({unit_key(*raw)} AS VARCHAR)"
        cells = [
            f"{self.table.columns[column.name][0]} AS {cell}"
            for column, cell in zip(self.schema.columns, self.cells, strict=True)
        ]
        rows = f"SELECT {commas([f'{key} AS u', *cells])} FROM {self.table.rows}"
        return f"SELECT * FROM ({rows}) WHERE u IS NOT NULL"

    def columns(self, names: Mapping[str, str]) -> dict[str, tuple[str, Family]]:
        """The cells by the columns' names in the joined table, each with the type that it was read with."""
        cells = zip(self.schema.columns, self.cells, strict=True)
        return {
            names.get(column.name, column.name): (cell, self.table.columns[column.name][1]) for column, cell in cells
        }


def _key(source: JoinedSource, own: _Side) -> dict[str, tuple[str, Family]]:
    unit = source.persons_schema.unit
    return {} if unit is None else {unit.key: ("u", Family.TEXT)}
