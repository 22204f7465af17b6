"""DuckDB connections that can load no extension, read no other file or Python object, and change no setting."""

from collections.abc import Sequence
from typing import Any

from discreet.query.meaning.names import text_in_sql

_SHUT = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}
# The planner would try functions on the least and the largest stored value, outside every TRY: an error there would
# tell of one cell.  And a Parquet file's least and largest leave NaN out, so that a test for it could be planned away
# because of other people's rows.
_NO_STATISTICS = "statistics_propagation"
# Looking for expressions that occur twice takes time with the square of the number of columns; what prepares a table
# names what it uses twice.
_NO_SEARCH = f"{_NO_STATISTICS},common_subexpressions"


def asking(path: str, *, memory: int, threads: int) -> Any:
    """A connection that reads this prepared file and nothing else, and writes nowhere."""
    import duckdb

    config = _SHUT | _bounds(memory, threads) | {"enable_external_access": "false", "temp_directory": ""}
    connection = duckdb.connect(path, read_only=True, config=config)
    for statement in (_without(_NO_STATISTICS), "SET lock_configuration = true"):
        connection.execute(statement)
    return connection


def preparing(path: str, sources: Sequence[str], *, memory: int, threads: int, spill: str) -> Any:
    """A connection that writes this file, reads these and no others, and puts what memory does not hold in `spill`.

    The overflow is as open as the prepared file beside it, and its owner's alone; DuckDB's own cipher for it can only
    be had with an extension that would have to be fetched.
    """
    import duckdb

    order = {"preserve_insertion_order": "false", "temp_directory": spill}
    connection = duckdb.connect(path, config=_SHUT | _bounds(memory, threads) | order)
    allowed = ", ".join(map(text_in_sql, sources))
    for statement in (
        _without(_NO_SEARCH),
        "SET TimeZone = 'UTC'",
        f"SET allowed_paths = [{allowed}]",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    ):
        connection.execute(statement)
    return connection


def _without(optimizers: str) -> str:
    return f"SET disabled_optimizers = '{optimizers}'"


def _bounds(memory: int, threads: int) -> dict[str, Any]:
    return {"memory_limit": f"{memory}B", "threads": threads}
