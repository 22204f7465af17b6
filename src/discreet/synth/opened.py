"""The private table behind what a caller gives: a dataset, or its table itself, and nothing that merely has one."""

from typing import Any, Protocol, runtime_checkable

from discreet.table import Table


@runtime_checkable
class Opened(Protocol):
    """What `dp.open` gives, which lies above this room: a table that questions are asked of."""

    @property
    def table(self) -> Table:
        """The private table."""

    def sql(self, text: str) -> Any:
        """A question of its rows: a synthetic table, a task and a part of the persons have a table and not this."""


def opened_table(people: Any) -> Table | None:
    """The table of a dataset; None for anything else, such as a synthetic table, whose private one was not meant."""
    table = people.table if isinstance(people, Opened) else people
    return table if isinstance(table, Table) else None
