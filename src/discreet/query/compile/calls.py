"""The total functions as SQL, of arguments that are SQL already."""

from discreet.query.compile import spelling
from discreet.query.compile.piece import Kind, Sql, alike

_ROUNDED = {"floor": "floor({})", "ceil": "ceil({})", "round": "floor({} + 0.5e0)", "abs": "abs({})"}


def called(name: str, parts: list[Sql], *, bounded: bool) -> Sql:
    """A function of numbers, dates or text; a NULL argument gives NULL, except in coalesce.

    `bounded` says that every number among the arguments is finite.
    """
    match name:
        case "coalesce":
            kind, made = alike(*parts)
            return Sql(f"coalesce({', '.join(one.known for one in made)})", kind)
        case "least" | "greatest":
            return _extreme(name, parts)
        case "clamp":
            return _clamped(parts)
        case "lower" | "upper":
            return Sql(f"{name}({parts[0].text})", Kind.TEXT)
        case "trim":
            return Sql(f"trim({parts[0].text}, ' ')", Kind.TEXT)
        case "length":
            return Sql(f"CAST(length({parts[0].text}) AS BIGINT)", Kind.WHOLE)
        case _:
            return _of_number(name, parts[0], nan=parts[0].nan or not bounded)


def _of_number(name: str, item: Sql, *, nan: bool) -> Sql:
    match name:
        case "sqrt":
            return Sql(f"sqrt(CASE WHEN {item.real} >= 0 THEN {item.real} END)", Kind.REAL, nan)
        case "ln":
            return Sql(f"ln(CASE WHEN {item.real} > 0 THEN {item.real} END)", Kind.REAL, nan)
        case "exp":
            return Sql(f"exp({item.real})", Kind.REAL, nan)
        case _:
            return Sql(_ROUNDED[name].format(item.real), Kind.REAL, nan)


def _extreme(name: str, parts: list[Sql]) -> Sql:
    """The engine's own least() skips NULL; here any NULL makes the whole NULL."""
    kind, made = alike(*parts)
    empty = " OR ".join(f"({one.known}) IS NULL" for one in made)
    listed = ", ".join(one.known for one in made)
    return Sql(f"(CASE WHEN {empty} THEN NULL ELSE {name}({listed}) END)", kind)


def _clamped(parts: list[Sql]) -> Sql:
    kind, (item, low, high) = alike(*parts)
    known = spelling.short(item.known)
    between = f"greatest({low.text}, least({high.text}, {known}))"
    return Sql(f"(CASE WHEN ({known}) IS NULL THEN NULL ELSE {between} END)", kind)
