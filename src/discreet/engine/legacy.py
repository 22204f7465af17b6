"""Prepared files of format 2, `{name}.prepared`: what is carried over from them, for replays alone.

The answers to an old state are stored under its old id.  That id is carried to the new file of the same content if the
old file's own facts give it; where answers differ by which rows were kept, it must never join two states.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from discreet.engine import files
from discreet.engine.secret import Secret
from discreet.schema import Column, Schema
from discreet.schema.words import toml_value

FORMAT = 2


def path(folder: Path, name: str) -> Path:
    """The path of the one file of that format."""
    return folder / f"{name}.prepared"


def old_snapshots(facts: dict[str, str], secret: Secret, schema: Schema, content: bytes) -> tuple[str, ...]:
    """The old state's id, if the file says that it was made from this content and the id follows from what it says."""
    if facts.get("content") != content.hex() or not facts.get("layout"):
        return ()
    expected = secret.snapshot(content, schema_hash(schema) + facts["layout"], FORMAT)
    return (expected,) if facts.get("snapshot") == expected else ()


def remove_unheld(path: Path) -> None:
    """Remove the old file unless an engine of that format has it open, which then locks its bytes."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for leftover in (path, Path(f"{path}.wal")):
                files.remove(leftover)
        finally:
            os.close(handle)


def schema_hash(schema: Schema) -> str:
    """The schema's hash as it was when format 2 was written; it must not follow what `Schema.hash` becomes."""
    facts = {
        "format": 1,
        "name": schema.name,
        "neighbours": str(schema.relation),
        "population": schema.population,
        "unit": None if schema.unit is None else {"key": schema.unit.key, "max_rows": schema.unit.max_rows},
        "columns": {column.name: _facts(column) for column in schema.columns},
        "hierarchies": {
            hierarchy.name: {"levels": hierarchy.levels, "branches": sorted(hierarchy.branches)}
            for hierarchy in schema.hierarchies
        },
    }
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _facts(column: Column) -> dict[str, Any]:
    return {
        "type": str(column.type),
        "bounds": None if column.bounds is None else [toml_value(end) for end in column.bounds],
        "values": None if column.values is None else sorted(toml_value(value) for value in column.values),
        "step": None if column.step is None else str(column.step),
        "bins": None if column.bins is None else [toml_value(edge) for edge in column.bins],
        "fixed_per_unit": column.fixed_per_unit,
        "null": str(column.null),
    }
