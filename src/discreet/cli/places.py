"""What lies where a file should: a pipe or a device would keep a verb waiting, or never end."""

import stat
from pathlib import Path

from discreet.errors import MetadataError, SourceUnavailable
from discreet.schema.words import written


def require_metadata_file(toml: Path) -> None:
    """Refuses metadata that are neither a file nor missing nor a folder; those have refusals of their own."""
    if _mode(toml) not in (None, stat.S_IFREG, stat.S_IFDIR):
        why = f"You gave {written(str(toml))}, which is a pipe or a device."
        raise MetadataError("The metadata must be a plain file.", why, "Save them to a file, such as people.toml.")


def require_no_device(table: Path) -> None:
    """Refuses a table that is a device or a socket; of a pipe only the header is taken."""
    if _mode(table) not in (None, stat.S_IFREG, stat.S_IFDIR, stat.S_IFIFO):
        why = f"You gave {written(table.name)}, which is a device or a socket."
        raise SourceUnavailable("The table must be a file.", why, "Save it to a file, such as people.csv.")


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):
        return None
