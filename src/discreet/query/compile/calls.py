"""The total functions as SQL, of arguments that are SQL already."""

from discreet.query.compile import spelling
from discreet.query.compile.operations import Operations
from discreet.query.compile.piece import Kind, Sql, alike


def called(name: str, parts: list[Sql], ops: Operations, *, bounded: bool) -> Sql:
    """A function of numbers, dates or text; a NULL argument gives NULL, except in coalesce.

    `bounded` says that every number among the arguments is finite.
    """
    match name:
        case "coalesce":
            kind, made = alike(ops, *parts)
            return Sql(f"coalesce({', '.join(one.known(ops) for one in made)})", kind)
        case "least" | "greatest":
            return _extreme(name, parts, ops)
        case "clamp":
            return _clamped(parts, ops)
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
    """The engine's own least() skips NULL; here any NULL makes the whole NULL."""
    kind, made = alike(ops, *parts)
    empty = " OR ".join(f"({one.known(ops)}) IS NULL" for one in made)
    listed = ", ".join(one.known(ops) for one in made)
    return Sql(f"(CASE WHEN {empty} THEN NULL ELSE {name}({listed}) END)", kind)


def _clamped(parts: list[Sql], ops: Operations) -> Sql:
    kind, (item, low, high) = alike(ops, *parts)
    known = spelling.short(item.known(ops))
    between = f"greatest({low.text}, least({high.text}, {known}))"
    return Sql(f"(CASE WHEN ({known}) IS NULL THEN NULL ELSE {between} END)", kind)
