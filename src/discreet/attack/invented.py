"""A dataset of invented rows with a real ledger, for the private column of an example.

Everything runs as on a table of the curator's own: the gate, exact noise, the ledger and its refusals.  All files lie
in one temporary folder, and the registry of sources hears nothing of them: nobody is in these rows, so the same ones
may be attacked again with a ledger that begins empty.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet import metadata
from discreet.dataset import Dataset
from discreet.engine.protocol import View
from discreet.rehearsal.rows import as_csv
from discreet.table import Table

_NAME = "invented"


class InventedTable(Table):
    """A table whose ledger, head and key stay in its own folder."""

    @property
    def _head(self) -> Path:
        return self.toml.parent / "head" / "head.json"

    def _enter(self, view: View) -> None:
        """Do nothing: no registry knows invented rows."""


@contextmanager
def invented_dataset(toml: str, columns: Mapping[str, Sequence[Any]]) -> Iterator[Dataset]:
    """The dataset `invented` over these columns, removed at the end of the block; the TOML needs no [dataset]."""
    with tempfile.TemporaryDirectory(prefix="discreet-attack-") as place:
        folder, table = Path(place), as_csv({name: list(column) for name, column in columns.items()})
        (folder / f"{_NAME}.csv").write_text(table, encoding="utf-8", newline="")
        file = folder / f"{_NAME}.toml"
        file.write_text(f'[dataset]\nname = "{_NAME}"\nsource = "{_NAME}.csv"\n{toml}', encoding="utf-8")
        with Dataset(InventedTable(metadata.load(file), file)) as dataset:
            yield dataset
