"""Two synthetic tables: synthetic units, and the rows that belong to them, joined by the synthetic unit's number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from discreet.errors import NotAnswerable
from discreet.ndarrays import Bools, Ints
from discreet.noise.public import generator
from discreet.synth.children.joining import Joining
from discreet.synth.children.table import JoinedTable
from discreet.synth.column.column import SynthColumn
from discreet.synth.column.values import arrow_of, frame_of
from discreet.synth.drawn import seed_of
from discreet.synth.synthetic import SyntheticTable


@dataclass(frozen=True, eq=False)
class ChildRows:
    """The rows of the second table."""

    units: "SyntheticTables"
    name: str
    key: str  # the column of synthetic units, as the table's own metadata spells it
    columns: Sequence[SynthColumn]
    names: Mapping[str, str]  # from the joined table's to the child's own
    codes: Mapping[str, Ints]
    owners: Ints
    seed: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.owners)

    def to_pandas(self) -> Any:
        """The rows as a pandas frame."""
        import pandas  # type: ignore[import-untyped]

        frame = frame_of(self.columns, self.codes, generator(self.seed), self.owners).rename(columns=dict(self.names))
        return pandas.concat([pandas.DataFrame({self.key: self.owners}), frame], axis=1)

    def to_arrow(self) -> Any:
        """The rows as an Arrow table."""
        arrow = arrow_of(self.columns, self.codes, generator(self.seed), self.owners)
        return _with_key(self.key, self.owners, arrow, self.names)

    def replicates(self, count: int = 20) -> tuple[Any, ...]:
        """Frames of these rows in the replicates of both tables, in the order of those of units; free."""
        return tuple(tables.children[self.name].to_pandas() for tables in self.units.replicate_tables(count))

    def __repr__(self) -> str:
        return f"<synthetic rows of {self.name}: {self.rows:,} rows, {len(self.columns) + 1} columns>"


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticTables(SyntheticTable):
    """A synthetic table of units; `children` holds that of their rows."""

    @property
    def rows(self) -> int:
        """How many units there are: a noisy or a public number, never the true one."""
        return int(self._is_first.sum())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of units."""
        return (self.unit_column, *(column.name for column in self._of_units))

    @cached_property
    def children(self) -> dict[str, ChildRows]:
        """The rows of the second table, under the name that it was given."""
        joining = self._joining
        own = {joined: name for name, joined in joining.names.items()}
        columns = [column for column in self.build.plan.subject.columns if column.name in own]
        is_there = self._codes[joining.presence] == 1
        codes = {column.name: self._codes[column.name][is_there] for column in columns}
        seed = seed_of(self.build.parts) + 2
        rows = ChildRows(self, joining.child, joining.key, columns, own, codes, self._units[is_there], seed)
        return {joining.child: rows}

    def to_pandas(self) -> Any:
        """The units as a pandas frame; `children` has their rows."""
        import pandas

        frame = frame_of(self._of_units, self._first_codes, self._random)
        return pandas.concat([pandas.DataFrame({self.unit_column: self._units[self._is_first]}), frame], axis=1)

    def to_arrow(self) -> Any:
        """The units as an Arrow table."""
        arrow = arrow_of(self._of_units, self._first_codes, self._random)
        return _with_key(self.unit_column, self._units[self._is_first], arrow, {})

    def replicate_tables(self, count: int = 20) -> "tuple[SyntheticTables, ...]":
        """Both tables as they could have come out with other noise, without the model's error; free."""
        from discreet.synth.answers.replicate import replicate_tables

        return tuple(table for table in replicate_tables(self, count) if isinstance(table, SyntheticTables))

    def save(self, place: str | Path, *, replace: bool = False) -> Path:
        """Write both tables, the rows of the second beside units: synthetic.parquet and synthetic.visits.parquet."""
        from discreet.synth.children.files import save_both

        return save_both(self, place, replace=replace)

    def check(self, **_: Any) -> NoReturn:
        """Refused: rows of two tables are compared by nobody yet."""
        raise _not_checked(self._joining)

    def quote_check(self, **_: Any) -> NoReturn:
        """Refused, as `check` is."""
        raise _not_checked(self._joining)

    @property
    def _joining(self) -> Joining:
        if not isinstance(self.table, JoinedTable):
            raise TypeError
        return self.table.joining

    @property
    def _units(self) -> Ints:
        units = self.codes.units
        return np.arange(self.codes.rows) if units is None else units

    @cached_property
    def _is_first(self) -> Bools:
        is_first: Bools = np.diff(self._units, prepend=-1) != 0
        return is_first

    @property
    def _of_units(self) -> list[SynthColumn]:
        return [column for column in self.build.plan.subject.columns if column.name in self._joining.persons]

    @property
    def _first_codes(self) -> dict[str, Ints]:
        return {column.name: self._codes[column.name][self._is_first] for column in self._of_units}


def _with_key(key: str, units: Ints, arrow: Any, names: Mapping[str, str]) -> Any:
    """The table behind a column of units, which may be its only one, with its columns named anew."""
    import pyarrow  # type: ignore[import-untyped]

    columns = {names.get(name, name): arrow.column(name) for name in arrow.column_names}
    return pyarrow.table({key: units, **columns})


def _not_checked(joining: Joining) -> NotAnswerable:
    persons, rows = joining.tables
    why = f"A check compares rows of one table, and a row of {rows} belongs to a unit of {persons}."
    fix = f"Build a synthetic table of {persons} or of {rows} alone and check that, or compare by to_pandas()."
    return NotAnswerable("Two synthetic tables are not checked together.", why, fix)
