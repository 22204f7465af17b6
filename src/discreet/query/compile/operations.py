"""The SQL of operations in which engines differ: types, constants, arithmetic, casts, joins.

`Operations` has DuckDB's SQL, and another engine overrides what differs there (`postgres`); every engine reads all
other SQL of this folder alike.  An operation never fails, whatever a row holds, and gives the same value in every
engine.  Where an engine has none such, it raises `NotAnswerable` while compiling, before anything is charged.
"""

from collections.abc import Sequence
from fractions import Fraction

from discreet.query.compile import keyed, spelling
from discreet.query.compile.piece import Kind
from discreet.query.layout import SECRET
from discreet.schema import Type

_TEXT_TYPES = {Type.INTEGER: "BIGINT", Type.NUMBER: "DOUBLE", Type.DATE: "DATE", Type.DATETIME: "TIMESTAMP"}


class Operations:
    """Total operations, as SQL made of SQL: doubles never fail in DuckDB, TRY and TRY_CAST make NULL of the rest."""

    def type(self, kind: Kind) -> str:
        """The type that holds such values."""
        return {Kind.REAL: "DOUBLE", Kind.FLAG: "BOOLEAN", Kind.TEXT: "VARCHAR"}.get(kind, "BIGINT")

    def text(self, value: str) -> str:
        """A public text; texts compare by their bytes."""
        return spelling.text(value)

    def real(self, value: Fraction | int) -> str:
        """The double nearest to a public number."""
        return spelling.real(value)

    def attempt(self, sql: str) -> str:
        """NULL instead of any error, where a piece could raise one."""
        return f"TRY({sql})"

    def double(self, sql: str) -> str:
        """A whole number as a double."""
        return f"CAST({sql} AS {self.type(Kind.REAL)})"

    def flag_as_whole(self, sql: str) -> str:
        """A flag as the BIGINT 0 or 1."""
        return f"CAST({sql} AS BIGINT)"

    def flag_as_double(self, sql: str) -> str:
        """A flag as the double 0 or 1."""
        return self.double(f"CAST({sql} AS INTEGER)")

    def whole(self, sql: str) -> str:
        """A double as the nearest BIGINT; NULL where none fits."""
        return f"TRY_CAST({sql} AS BIGINT)"

    def is_nan(self, sql: str) -> str:
        """Whether a double is NaN."""
        return f"isnan({sql})"

    def is_finite(self, sql: str) -> str:
        """Whether a double is a number."""
        return f"isfinite({sql})"

    def quotient(self, sql: str, by: int) -> str:
        """A whole number divided by a public one, cut towards 0."""
        return f"{sql} // {by}"

    def arithmetic(self, op: str, left: str, right: str, *, tame: bool) -> str:
        """+, −, ·, / or % of doubles by IEEE 754; no divisor is 0.

        `tame` says that by public facts both are 0 or within 1e-100 … 1e100 in size: nothing leaves the doubles.
        """
        return f"({left} {op} {right})"

    def nearest(self, sql: str, step: str, first: str | None = None) -> str:
        """⌊(x − first)/step + ½⌋ as a double."""
        distance = sql if first is None else f"({sql} - {first})"
        return f"floor({distance} / {step} + 0.5e0)"

    def steps_within(self, name: str, step: Fraction | int, first: Fraction | int | None = None) -> str:
        """⌊(x − first)/step + ½⌋ as a BIGINT, of a number between public ends at most 2⁶² steps from `first` or 0."""
        # a step may be too small for a double
        return self.whole(self.nearest(name, self.real(step), None if first is None else self.real(first)))

    def function(self, name: str, sql: str) -> str:
        """floor, ceil, round, abs, sqrt, ln or exp of a double; NULL outside of its domain."""
        match name:
            case "sqrt":
                return f"sqrt(CASE WHEN {sql} >= 0 THEN {sql} END)"
            case "ln":
                return f"ln(CASE WHEN {sql} > 0 THEN {sql} END)"
            case "round":
                return f"floor({sql} + 0.5e0)"
            case _:
                return f"{name}({sql})"

    def difference(self, left: str, right: str) -> str:
        """Of whole numbers; NULL where it overflows."""
        return f"TRY({left} - {right})"

    def difference_within(self, left: str, right: str) -> str:
        """Of whole numbers, the second below a day: unguarded where `attempt` stands around it."""
        return f"({left} - {right})"

    def product(self, sql: str, by: int) -> str:
        """Of whole numbers; NULL where it overflows."""
        return f"TRY({sql} * {by})"

    def lower_or_upper(self, name: str, sql: str) -> str:
        """lower or upper of a text."""
        return f"{name}({sql})"

    def lowered_letters(self, sql: str) -> str:
        """A text to be compared with words of a to z: A to Z as a to z."""
        return f"lower({sql})"

    def trim(self, sql: str) -> str:
        """A text without the spaces around it."""
        return f"trim({sql}, ' ')"

    def like(self, sql: str, pattern: str) -> str:
        """LIKE without an escape."""
        return f"({sql} LIKE {spelling.text(pattern)})"

    def calendar(self, part: str, days: str) -> str:
        """year, quarter, month, week or day of days since 1970, clamped to the years 1 to 9999."""
        return f"{part}(DATE '1970-01-01' + CAST({days} AS INTEGER))"

    def if_matches(self, sql: str, pattern: str, result: str) -> str:
        """The result where all of a text matches the pattern; NULL elsewhere."""
        return f"TRY(CASE WHEN regexp_full_match({sql}, {spelling.text(pattern)}) THEN {result} END)"

    def value_in_text(self, sql: str, kind: Type) -> str:
        """A text of the right shape as a whole number, a double, days or seconds; NULL where there is none such."""
        typed = f"TRY_CAST({sql} AS {_TEXT_TYPES[kind]})"
        match kind:
            case Type.DATE:
                return f"({typed} - DATE '1970-01-01')"
            case Type.DATETIME:
                return f"CAST(epoch({typed}) AS BIGINT)"
            case _:
                return typed

    def label(self, cell: str, values: Sequence[str]) -> str:
        """The public text that a stored code stands for."""
        return f"enum_range(CAST(NULL AS t{cell}))[CAST({cell} AS INTEGER) + 1]"

    def element(self, listed: Sequence[str], kind: Kind, cell: str) -> str:
        """The constant of the list whose number, from 0, is the stored code."""
        return f"CAST([{', '.join(listed)}] AS {self.type(kind)}[])[CAST({cell} AS INTEGER) + 1]"

    def position(self, listed: Sequence[str], kind: Kind, name: str) -> str:
        """The number of a value in the list, from 0, as a BIGINT; NULL for NULL and for what is not there."""
        return f"CAST(nullif(list_position([{', '.join(listed)}], {name}), 0) - 1 AS BIGINT)"

    def message_part(self, name: str, kind: Kind) -> str:
        """A value as a part of a message (`keyed`)."""
        return keyed.message_part(name, kind)

    def group_order(self, parts: Sequence[str]) -> str:
        """What orders a unit's groups: order64 by the key of groups."""
        return keyed.order64(f"(SELECT word FROM {SECRET})", parts)

    def subquery(self, sql: str) -> str:
        """A query as what follows FROM."""
        return f"({sql})"

    def subquery_computed_once(self, sql: str) -> str:
        """The same of a query whose columns are computed once for each row, however often they are named."""
        return f"({sql})"

    def among(self, rows: str, column: str, chosen: str) -> str:
        """What follows FROM: rows whose `column` is in the query `chosen`."""
        return f"{rows} SEMI JOIN ({chosen}) USING ({column})"

    def without(self, rows: str, left_out: str, same: str) -> str:
        """What follows FROM: rows `a` with no row `b` of the query `left_out` for which `same` holds."""
        return f"{rows} a ANTI JOIN ({left_out}) b ON {same}"


DUCKDB = Operations()
