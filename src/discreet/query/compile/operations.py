"""What engines do differently: operations that are total in each, and how it spells types, constants and joins.

Everything else in this folder is SQL that all of them read alike.  An operation never fails, whatever a row holds, and
gives the same value in every engine; where an engine has none such, it raises `NotAnswerable` while compiling, which is
before anything is charged.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from discreet.query.compile import keyed, spelling
from discreet.query.compile.piece import Kind
from discreet.query.layout import SECRET
from discreet.schema import Type

_ROUNDED = {"round": "floor({} + 0.5e0)"}
_TEXT_TYPES = {Type.INTEGER: "BIGINT", Type.NUMBER: "DOUBLE", Type.DATE: "DATE", Type.DATETIME: "TIMESTAMP"}


class Operations(Protocol):
    """The total operations of one engine, as SQL made of SQL."""

    def type(self, kind: Kind) -> str:
        """The type that holds such values."""

    def text(self, value: str) -> str:
        """A public text; texts compare by their bytes."""

    def real(self, value: Fraction | int) -> str:
        """The double nearest to a public number."""

    def attempt(self, sql: str) -> str:
        """NULL instead of any error, where a piece could raise one."""

    def double(self, sql: str) -> str:
        """A whole number as a double."""

    def flag_as_whole(self, sql: str) -> str:
        """A flag as the BIGINT 0 or 1."""

    def flag_as_double(self, sql: str) -> str:
        """A flag as the double 0 or 1."""

    def whole(self, sql: str) -> str:
        """A double as the nearest BIGINT; NULL where none fits."""

    def is_nan(self, sql: str) -> str:
        """Whether a double is NaN."""

    def is_finite(self, sql: str) -> str:
        """Whether a double is a number."""

    def quotient(self, sql: str, by: int) -> str:
        """A whole number divided by a public one, cut towards 0."""

    def arithmetic(self, op: str, left: str, right: str, *, tame: bool) -> str:
        """+, −, ·, / or % of doubles by IEEE 754; no divisor is 0.

        `tame` says that by public facts both are 0 or within 1e-100 … 1e100 in size: nothing leaves the doubles.
        """

    def nearest(self, sql: str, step: str, first: str | None = None) -> str:
        """⌊(x − first)/step + ½⌋ as a double."""

    def steps_within(self, name: str, step: Fraction | int, first: Fraction | int | None = None) -> str:
        """⌊(x − first)/step + ½⌋ as a BIGINT, of a number between public ends at most 2⁶² steps from `first` or 0."""

    def function(self, name: str, sql: str) -> str:
        """floor, ceil, round, abs, sqrt, ln or exp of a double; NULL outside of its domain."""

    def difference(self, left: str, right: str) -> str:
        """Of whole numbers; NULL where it overflows."""

    def difference_within(self, left: str, right: str) -> str:
        """Of whole numbers, the second below a day: unguarded where `attempt` stands around it."""

    def product(self, sql: str, by: int) -> str:
        """Of whole numbers; NULL where it overflows."""

    def cased(self, name: str, sql: str) -> str:
        """lower or upper of a text."""

    def lowered_letters(self, sql: str) -> str:
        """A text to be compared with words of a to z: A to Z as a to z."""

    def trimmed(self, sql: str) -> str:
        """A text without the spaces around it."""

    def like(self, sql: str, pattern: str) -> str:
        """LIKE without an escape."""

    def calendar(self, part: str, days: str) -> str:
        """year, quarter, month, week or day of days since 1970, clamped to the years 1 to 9999."""

    def shaped(self, sql: str, pattern: str, made: str) -> str:
        """What was read of a text, where the whole of it matches the pattern; NULL elsewhere."""

    def read(self, sql: str, kind: Type) -> str:
        """A text of the right shape as a whole number, a double, days or seconds; NULL where there is none such."""

    def label(self, cell: str, values: Sequence[str]) -> str:
        """The public text that a stored code stands for."""

    def picked(self, listed: Sequence[str], kind: Kind, cell: str) -> str:
        """The constant at the place that a stored code names."""

    def position(self, listed: Sequence[str], kind: Kind, name: str) -> str:
        """The place of a value among public ones, from 0, as a BIGINT; NULL for NULL and for what is not there."""

    def spelt(self, name: str, kind: Kind) -> str:
        """A value as a part of a message (`keyed`)."""

    def group_order(self, parts: Sequence[str]) -> str:
        """What orders a unit's groups: order64 by the key of groups."""

    def derived(self, sql: str) -> str:
        """A query as what follows FROM."""

    def computed(self, sql: str) -> str:
        """The same of a query whose columns are worked out once for each row, however often they are named."""

    def among(self, rows: str, column: str, chosen: str) -> str:
        """What follows FROM: rows whose `column` is in the query `chosen`."""

    def without(self, rows: str, left_out: str, same: str) -> str:
        """What follows FROM: rows `a` with no row `b` of the query `left_out` for which `same` holds."""


class DuckDB:
    """DuckDB's: doubles never fail, and TRY and TRY_CAST make NULL of the rest."""

    def type(self, kind: Kind) -> str:
        return {Kind.REAL: "DOUBLE", Kind.FLAG: "BOOLEAN", Kind.TEXT: "VARCHAR"}.get(kind, "BIGINT")

    def text(self, value: str) -> str:
        return spelling.text(value)

    def real(self, value: Fraction | int) -> str:
        return spelling.real(value)

    def attempt(self, sql: str) -> str:
        return f"TRY({sql})"

    def double(self, sql: str) -> str:
        return f"CAST({sql} AS DOUBLE)"

    def flag_as_whole(self, sql: str) -> str:
        return f"CAST({sql} AS BIGINT)"

    def flag_as_double(self, sql: str) -> str:
        return f"CAST(CAST({sql} AS INTEGER) AS DOUBLE)"

    def whole(self, sql: str) -> str:
        return f"TRY_CAST({sql} AS BIGINT)"

    def is_nan(self, sql: str) -> str:
        return f"isnan({sql})"

    def is_finite(self, sql: str) -> str:
        return f"isfinite({sql})"

    def quotient(self, sql: str, by: int) -> str:
        return f"{sql} // {by}"

    def arithmetic(self, op: str, left: str, right: str, *, tame: bool) -> str:
        return f"({left} {op} {right})"

    def nearest(self, sql: str, step: str, first: str | None = None) -> str:
        moved = sql if first is None else f"({sql} - {first})"
        return f"floor({moved} / {step} + 0.5e0)"

    def steps_within(self, name: str, step: Fraction | int, first: Fraction | int | None = None) -> str:
        # a step may be too small for a double
        return self.whole(self.nearest(name, self.real(step), None if first is None else self.real(first)))

    def function(self, name: str, sql: str) -> str:
        match name:
            case "sqrt":
                return f"sqrt(CASE WHEN {sql} >= 0 THEN {sql} END)"
            case "ln":
                return f"ln(CASE WHEN {sql} > 0 THEN {sql} END)"
            case _:
                return _ROUNDED.get(name, f"{name}({{}})").format(sql)

    def difference(self, left: str, right: str) -> str:
        return f"TRY({left} - {right})"

    def difference_within(self, left: str, right: str) -> str:
        return f"({left} - {right})"

    def product(self, sql: str, by: int) -> str:
        return f"TRY({sql} * {by})"

    def cased(self, name: str, sql: str) -> str:
        return f"{name}({sql})"

    def lowered_letters(self, sql: str) -> str:
        return f"lower({sql})"

    def trimmed(self, sql: str) -> str:
        return f"trim({sql}, ' ')"

    def like(self, sql: str, pattern: str) -> str:
        return f"({sql} LIKE {spelling.text(pattern)})"

    def calendar(self, part: str, days: str) -> str:
        return f"{part}(DATE '1970-01-01' + CAST({days} AS INTEGER))"

    def shaped(self, sql: str, pattern: str, made: str) -> str:
        return f"TRY(CASE WHEN regexp_full_match({sql}, {spelling.text(pattern)}) THEN {made} END)"

    def read(self, sql: str, kind: Type) -> str:
        made = f"TRY_CAST({sql} AS {_TEXT_TYPES[kind]})"
        match kind:
            case Type.DATE:
                return f"({made} - DATE '1970-01-01')"
            case Type.DATETIME:
                return f"CAST(epoch({made}) AS BIGINT)"
            case _:
                return made

    def label(self, cell: str, values: Sequence[str]) -> str:
        return f"enum_range(CAST(NULL AS t{cell}))[CAST({cell} AS INTEGER) + 1]"

    def picked(self, listed: Sequence[str], kind: Kind, cell: str) -> str:
        return f"CAST([{', '.join(listed)}] AS {self.type(kind)}[])[CAST({cell} AS INTEGER) + 1]"

    def position(self, listed: Sequence[str], kind: Kind, name: str) -> str:
        return f"CAST(nullif(list_position([{', '.join(listed)}], {name}), 0) - 1 AS BIGINT)"

    def spelt(self, name: str, kind: Kind) -> str:
        return keyed.spelt(name, kind)

    def group_order(self, parts: Sequence[str]) -> str:
        return keyed.order64(f"(SELECT word FROM {SECRET})", parts)

    def derived(self, sql: str) -> str:
        return f"({sql})"

    def computed(self, sql: str) -> str:
        return f"({sql})"

    def among(self, rows: str, column: str, chosen: str) -> str:
        return f"{rows} SEMI JOIN ({chosen}) USING ({column})"

    def without(self, rows: str, left_out: str, same: str) -> str:
        return f"{rows} a ANTI JOIN ({left_out}) b ON {same}"


DUCKDB = DuckDB()
