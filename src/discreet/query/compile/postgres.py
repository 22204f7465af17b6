"""PostgreSQL's total operations.  Functions of our own replace those that raise on overflow, underflow or a cast.

The functions lie in the prepared schema beside the rows (`engine.postgres.functions`) and are called by these names:

    discreet_plus, _minus, _times, _over, _remainder, _exp     doubles by IEEE 754
    discreet_whole                                             a double as BIGINT, or NULL
    discreet_difference, _product                              of BIGINTs, or NULL
    discreet_integer, _double, _day, _second                   what a text of the right shape says, or NULL
    discreet_order                                             order64 of a message, as text that sorts alike

PostgreSQL evaluates CASE from left to right and only the branch it takes, so a cast behind its own test is total.
"""

import re
from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import NotAnswerable
from discreet.query.compile import spelling
from discreet.query.compile.keyed import message
from discreet.query.compile.operations import Operations
from discreet.query.compile.piece import Kind
from discreet.query.layout import SECRET
from discreet.schema import Type

_LARGE = Fraction(10**100)
_OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "over", "%": "remainder"}
_READ = {Type.INTEGER: "integer", Type.NUMBER: "double", Type.DATE: "day", Type.DATETIME: "second"}


class Postgres(Operations):
    """Where PostgreSQL differs from DuckDB; docstrings are those of `Operations`."""

    def type(self, kind: Kind) -> str:
        return {Kind.REAL: "float8", Kind.FLAG: "boolean", Kind.TEXT: "text"}.get(kind, "bigint")

    def text(self, value: str) -> str:
        return f'({spelling.text(value)} COLLATE "C")'

    def real(self, value: Fraction | int) -> str:
        spelling.real(value)  # refused where it is beyond all doubles
        return f"CAST('{float(value)!r}' AS float8)"

    def attempt(self, sql: str) -> str:
        return sql

    def flag_as_whole(self, sql: str) -> str:
        return f"CAST(CAST({sql} AS integer) AS bigint)"

    def whole(self, sql: str) -> str:
        return f"discreet_whole({sql})"

    def is_nan(self, sql: str) -> str:
        return f"(({sql}) = CAST('NaN' AS float8))"

    def is_finite(self, sql: str) -> str:
        return f"abs({sql}) < CAST('Infinity' AS float8)"

    def quotient(self, sql: str, by: int) -> str:
        return f"{sql} / {by}"

    def arithmetic(self, op: str, left: str, right: str, *, tame: bool) -> str:
        if tame and op != "%":
            return f"({left} {op} {right})"
        return f"discreet_{_OPERATORS[op]}({left}, {right})"

    def nearest(self, sql: str, step: str, first: str | None = None) -> str:
        distance = sql if first is None else f"discreet_minus({sql}, {first})"
        return f"floor(discreet_over({distance}, {step}) + 0.5)"

    def steps_within(self, name: str, step: Fraction | int, first: Fraction | int | None = None) -> str:
        tame = 1 <= Fraction(step) * _LARGE <= _LARGE**2 and abs(Fraction(first or 0)) <= _LARGE
        if not tame:
            return super().steps_within(name, step, first)
        distance = name if first is None else f"({name} - {self.real(first)})"
        # a quotient would underflow only where it is nearest to 0 anyway
        tests = (f"{distance} {side} CAST('{sign}1e-150' AS float8)" for side, sign in ((">", ""), ("<", "-")))
        cases = " ".join(f"WHEN {test} THEN floor({distance} / {self.real(step)} + 0.5)" for test in tests)
        return f"CAST(CASE {cases} ELSE 0 END AS bigint)"

    def function(self, name: str, sql: str) -> str:
        return f"discreet_exp({sql})" if name == "exp" else super().function(name, sql)

    def difference(self, left: str, right: str) -> str:
        return f"discreet_difference({left}, {right})"

    def difference_within(self, left: str, right: str) -> str:
        return f"discreet_difference({left}, {right})"

    def product(self, sql: str, by: int) -> str:
        return f"discreet_product({sql}, {by})"

    def lower_or_upper(self, name: str, sql: str) -> str:
        what = f"{name} of a text that is not public is not supported on PostgreSQL."
        why = "Which letters it changes depends on the server's locale, so two servers would count differently."
        raise NotAnswerable(what, why, "Declare the column's values, or compare the text as it is stored.")

    def lowered_letters(self, sql: str) -> str:
        return f'lower({sql} COLLATE "C")'

    def trim(self, sql: str) -> str:
        return f"btrim({sql}, ' ')"

    def like(self, sql: str, pattern: str) -> str:
        return f"({sql} LIKE {self.text(pattern)} ESCAPE '')"

    def calendar(self, part: str, days: str) -> str:
        return f"extract({part} FROM DATE '1970-01-01' + CAST({days} AS integer))"

    def if_matches(self, sql: str, pattern: str, result: str) -> str:
        return f"CASE WHEN {sql} ~ {self.text(f'^({pattern})$')} THEN {result} END"

    def value_in_text(self, sql: str, kind: Type) -> str:
        return f"discreet_{_READ[kind]}({sql})"

    def label(self, cell: str, values: Sequence[str]) -> str:
        return self.element([self.text(value) for value in values], Kind.TEXT, cell)

    def element(self, listed: Sequence[str], kind: Kind, cell: str) -> str:
        return f"(CAST(ARRAY[{', '.join(listed)}] AS {self.type(kind)}[]))[CAST({cell} AS integer) + 1]"

    def position(self, listed: Sequence[str], kind: Kind, name: str) -> str:
        values = f"CAST(ARRAY[{', '.join(listed)}] AS {self.type(kind)}[])"
        number = f"array_position({values}, CAST({name} AS {self.type(kind)}))"
        return f"CASE WHEN {name} IS NOT NULL THEN CAST({number} - 1 AS bigint) END"

    def message_part(self, name: str, kind: Kind) -> str:
        match kind:
            case Kind.TEXT:
                return f"octet_length({name}) || ':' || {name}"
            case Kind.REAL:
                return f"CAST(CAST('x' || encode(float8send({name}), 'hex') AS bit(64)) AS bigint)"
            case _:
                return super().message_part(name, kind)

    def group_order(self, parts: Sequence[str]) -> str:
        return order64(f"(SELECT word FROM pg_temp.{SECRET})", parts)

    def subquery(self, sql: str) -> str:
        return f"({sql}) AS discreet_q"

    def subquery_computed_once(self, sql: str) -> str:
        # The planner repeats each column wherever it is named: cheap for a product, dear where functions are called.
        barrier = " OFFSET 0" if _CALL.search(sql) else ""
        return f"({sql}{barrier}) AS discreet_q"

    def among(self, rows: str, column: str, chosen: str) -> str:
        return f"{rows} WHERE {column} IN ({chosen})"

    def without(self, rows: str, left_out: str, same: str) -> str:
        return f"{rows} a WHERE NOT EXISTS (SELECT 1 FROM ({left_out}) b WHERE {same})"


def order64(key: str, parts: Sequence[str]) -> str:
    """As `keyed.order64`: 16 hexadecimal digits, most significant first, which sort as the numbers do."""
    return f'discreet_order({message(key, parts)}) COLLATE "C"'


def id64(key: str, parts: Sequence[str]) -> str:
    """As `keyed.id64`."""
    hashed = f"encode(sha256(convert_to({message(key, parts)}, 'UTF8')), 'hex')"
    return f"CAST(CAST('x' || left({hashed}, 16) AS bit(64)) AS bigint)"


_CALL = re.compile(r"\b(?!CAST\b|IN\b)\w+\(", re.IGNORECASE)
POSTGRES = Postgres()
