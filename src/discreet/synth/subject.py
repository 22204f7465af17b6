"""What is synthesised: the columns of a table as cells, impossible combinations, and how a unit's rows count.

    one row a unit      each row counts once
    several rows        each unit counts once: its rows share its weight, and how many rows it has is a column of its
                        own, 1 … max_rows, so that whole units can be drawn

All of it is public.  The number of units of a table with one row each is the number of its rows.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from discreet.bounded import RowLimit
from discreet.errors import bad
from discreet.kernel.encode import MOST_ROWS
from discreet.ndarrays import Bools, Ints
from discreet.query.canonical import canonical
from discreet.query.explain import unit
from discreet.query.nodes import Expr
from discreet.schema import Schema
from discreet.synth.column.absence import ROWS, Absence, absence_zeros, absent_codes
from discreet.synth.column.choice import columns_of
from discreet.synth.column.column import SynthColumn
from discreet.synth.column.stated import cuts_of, stated_zeros
from discreet.synth.column.zeros import Zero, profile_of, zeros_of

MOST_COLUMNS = 256
ROWS_STEPS, SHARED_STEPS = 2**10, 2**20  # of what one unit adds to a table, where it is not shared and where it is


@dataclass(frozen=True, eq=False)
class Subject:
    """Columns and zeros of the units that satisfy `where`; `left_out` says why other columns are not here."""

    schema: Schema
    columns: tuple[SynthColumn, ...]
    zeros: tuple[Zero, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    where: Expr | None = None
    absence: Absence | None = None

    @property
    def limit(self) -> RowLimit:
        """How many rows a unit has, by public facts; the bound of what is measured is derived from it."""
        return RowLimit(self.schema.max_rows, self.schema.relation)

    @property
    def is_shared(self) -> bool:
        """Whether a unit can have several rows, which then share its weight."""
        return self.schema.max_rows > 1

    @property
    def steps(self) -> int:
        """How many steps one unit adds to a table of weight 1."""
        return SHARED_STEPS if self.is_shared else ROWS_STEPS

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The fine cells of each feature with its empty cell; of whole units the last one is their number of rows."""
        sizes = [column.cells + 1 for column in self.columns]
        return (*sizes, self.schema.max_rows + 1) if self.is_shared else tuple(sizes)

    @property
    def are_ordered(self) -> tuple[bool, ...]:
        """Whether neighbouring cells of each feature are neighbours in size."""
        ordered = [column.is_ordered for column in self.columns]
        return (*ordered, True) if self.is_shared else tuple(ordered)

    @property
    def names(self) -> tuple[str, ...]:
        """What people call each feature."""
        names = [column.name for column in self.columns]
        return (*names, f"rows of one {unit(self.schema)}") if self.is_shared else tuple(names)

    @property
    def keys(self) -> tuple[str, ...]:
        """What zeros call each feature: columns by their names, the number of rows by `ROWS`."""
        names = [column.name for column in self.columns]
        return (*names, ROWS) if self.is_shared else tuple(names)

    @cached_property
    def absent_codes(self) -> dict[int, int]:
        """The code that each feature has in a unit of which only the first table has a row; the others are left out."""
        if self.absence is None:
            return {}
        codes = absent_codes(self.absence, self.columns)
        return {feature: code for feature, code in codes.items() if feature < len(self.sizes)}

    @property
    def presence(self) -> int | None:
        """The feature that says whether a unit has rows in the second of two tables; None for one table."""
        if self.absence is None:
            return None
        return next(place for place, column in enumerate(self.columns) if column.name == self.absence.presence)

    def is_of_rows(self, features: Iterable[int]) -> bool:
        """Whether a table of these features is of the second table: only units with rows there are counted in it."""
        return not self.absent_codes.keys().isdisjoint(features)

    @property
    def first(self) -> tuple[int, ...]:
        """The features that are the same in all rows of a unit, drawn before the others; none with one row a unit."""
        if not self.is_shared:
            return ()
        return (*(place for place, column in enumerate(self.columns) if column.is_person), len(self.columns))

    @cached_property
    def profiles(self) -> tuple[Ints, ...]:
        """For each feature the profile of each cell: cells of different ones are never joined."""
        keys = zip(self.keys, self.sizes, strict=True)
        return tuple(profile_of(key, size, self.zeros) for key, size in keys)

    def public(
        self, groups: Sequence[Ints], cliques: Sequence[Sequence[int]], weights: Sequence[int]
    ) -> dict[str, Any]:
        """The parameters of the kernel that counts these cliques by these groups (`kernel.marginals`)."""
        described = [column.described for column in self.columns]
        if self.is_shared:
            described.append({"rows_of_unit": self.schema.max_rows})
        return {
            "features": described,
            "groups": [np.asarray(group, dtype=np.int64) for group in groups],
            "cliques": [np.array(clique, dtype=np.int64) for clique in cliques],
            "weights": np.array(weights, dtype=np.int64),
            "rows": self.schema.max_rows,
            "each": "unit" if self.is_shared else "row",
        }

    @property
    def column_names(self) -> list[str]:
        """The columns of the table that the kernel reads."""
        return [column.name for column in self.columns]

    def zero_masks(self) -> list[tuple[tuple[int, ...], Sequence[Bools]]]:
        """Each impossible combination as features in increasing order, with a mask over the cells of each."""
        places = {key: place for place, key in enumerate(self.keys)}
        combinations = list[tuple[tuple[int, ...], Sequence[Bools]]]()
        for zero in self.zeros:
            ordered = sorted(zero.masks, key=lambda name: places[name])
            combinations.append((tuple(places[name] for name in ordered), [zero.masks[name] for name in ordered]))
        return combinations

    @cached_property
    def zero_pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of features that an impossible combination joins: a tree must hold each combination in one clique."""
        return tuple(sorted({pair for features, _ in self.zero_masks() for pair in combinations(features, 2)}))

    def to_json(self) -> dict[str, Any]:
        """What an equal synthesis shares: columns, zeros and how rows count."""
        return {
            "columns": [column.to_json() for column in self.columns],
            "zeros": [zero.to_json() for zero in self.zeros],
            "max_rows": self.schema.max_rows,
            **({} if self.where is None else {"where": canonical(self.where)}),
            **({} if self.absence is None else {"absence": self.absence.to_json()}),
        }

    def words(self) -> str:
        """How a unit counts, in a sentence."""
        name = unit(self.schema)
        if self.absence is not None:
            return self.absence.words(name, self.schema.max_rows, self.schema.relation)
        if not self.is_shared:
            return f"Each {name} counts once."
        rows = f"its rows, at most {self.schema.max_rows}, share its weight"
        return f"Each {name} counts once: {rows}, and their number is synthesised too."


def subject_of(
    schema: Schema,
    columns: Sequence[str] | None = None,
    zeros: Iterable[Mapping[str, Any]] | None = None,
    *,
    where: Expr | None = None,
    absence: Absence | None = None,
) -> Subject:
    """The subject with these columns, all that have public cells by default; refused where it has no meaning."""
    stated = stated_zeros(schema, zeros)
    chosen = columns_of(schema, columns, cuts_of(stated))
    if len(chosen.columns) > MOST_COLUMNS:
        fix = "Name the columns to synthesise together."
        raise bad("columns", f"must be at most {MOST_COLUMNS}", len(chosen.columns), fix)
    if schema.max_rows > MOST_ROWS:
        fix = f"Lower unit.max_rows in the metadata to at most {MOST_ROWS}."
        raise bad("unit.max_rows", f"must be at most {MOST_ROWS:,} for a synthetic table", schema.max_rows, fix)
    places = {column.name: place for place, column in enumerate(schema.columns)}
    ordered = tuple(sorted(chosen.columns, key=lambda column: places[column.name]))  # one order, one key, one charge
    of_absence = () if absence is None else absence_zeros(absence, ordered, schema.max_rows)
    by_text = {json.dumps(zero.to_json(), sort_keys=True): zero for zero in zeros_of(stated, ordered)}
    zeros_of_rows = (*(by_text[text] for text in sorted(by_text)), *of_absence)
    return Subject(schema, ordered, zeros_of_rows, chosen.left_out, where, absence)
