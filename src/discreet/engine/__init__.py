"""Only engines read rows: a table is prepared once, and a question on it returns whole numbers or fails.

Engine      a source, the table prepared from it, and questions on that table
Limits      memory, time and threads
PostgresEngine   the same for a table in a PostgreSQL server, which stays there
Prepared    what may be known of a prepared table
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.engine.engine import Engine
    from discreet.engine.postgres.engine import PostgresEngine
    from discreet.engine.prepared import Prepared
    from discreet.schema.limits import Limits

__all__ = ["Engine", "Limits", "PostgresEngine", "Prepared"]

_HOMES = {  # fetched when used: the worker needs none
    "Engine": "discreet.engine.engine",
    "Limits": "discreet.schema.limits",
    "PostgresEngine": "discreet.engine.postgres.engine",
    "Prepared": "discreet.engine.prepared",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet.engine' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
