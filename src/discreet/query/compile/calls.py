"""The total functions as SQL, of arguments that are SQL already."""

from discreet.query.compile import spelling
from discreet.query.compile.operations import Operations
from discreet.query.compile.piece import Kind, Sql, as_joint_kind


def call_sql(name: str, parts: list[Sql], ops: Operations, *, bounded: bool) -> Sql:
    """A function of numbers, dates or text; a NULL argument gives NULL, except in coalesce.

    `bounded` says that every number among the arguments is finite.
    """
    match name:
        case "coalesce":
            kind, pieces = as_joint_kind(ops, *parts)
            return Sql(f"coalesce({', '.join(piece.without_nan(ops) for piece in pieces)})", kind)
        case "least" | "greatest":
            return _extreme(name, parts, ops)
        case "clamp":
            return _clamp(parts, ops)
        case "lower" | "upper":
            return Sql(ops.lower_or_upper(name, parts[0].text), Kind.TEXT)
        case "trim":
            return Sql(ops.trim(parts[0].text), Kind.TEXT)
        case "length":
            return Sql(f"CAST(length({parts[0].text}) AS BIGINT)", Kind.WHOLE)
        case _:
            nan = parts[0].nan or not bounded
            return Sql(ops.function(name, parts[0].real(ops)), Kind.REAL, nan)


def _extreme(name: str, parts: list[Sql], ops: Operations) -> Sql:
    """least or greatest; NULL if any argument is, although the engine's own functions skip NULL."""
    kind, pieces = as_joint_kind(ops, *parts)
    arguments = [piece.without_nan(ops) for piece in pieces]
    empty = " OR ".join(f"({argument}) IS NULL" for argument in arguments)
    return Sql(f"(CASE WHEN {empty} THEN NULL ELSE {name}({', '.join(arguments)}) END)", kind)


def _clamp(parts: list[Sql], ops: Operations) -> Sql:
    kind, (item, low, high) = as_joint_kind(ops, *parts)
    number = spelling.short(item.without_nan(ops))
    between = f"greatest({low.text}, least({high.text}, {number}))"
    return Sql(f"(CASE WHEN ({number}) IS NULL THEN NULL ELSE {between} END)", kind)
