"""The dataset's key.  Without it nobody can predict the ranks of rows or link a snapshot id to its content."""

import contextlib
import hashlib
import hmac
import os
import stat
import threading
from dataclasses import dataclass, field
from pathlib import Path

from discreet import durable
from discreet.engine import files
from discreet.errors import IntegrityError
from discreet.noise.source import SYSTEM
from discreet.schema.words import toml_value

_BYTES = 32


@dataclass(frozen=True)
class Secret:
    """32 random bytes.

    >>> Secret(bytes(32)).snapshot(b"content", "schema", 1)
    '85bfbabc880f70c15442120f56e5193d'
    """

    key: bytes = field(repr=False)

    def key_for(self, purpose: str, digits: int) -> str:
        """The key of one purpose: the first hexadecimal digits of HMAC-SHA256(key, purpose)."""
        return hmac.new(self.key, purpose.encode(), "sha256").hexdigest()[:digits]

    def snapshot(self, content: bytes, layout: str, version: int) -> str:
        """HMAC-SHA256(key, content ‖ layout ‖ version), its first 32 hexadecimal digits: an id of one prepared state.

        Each part enters by its SHA-256, so that no part can be taken for the end of another.
        """
        parts = b"".join(hashlib.sha256(part).digest() for part in (content, layout.encode(), str(version).encode()))
        return hmac.new(self.key, b"snapshot" + parts, "sha256").hexdigest()[:32]


def new_secret() -> Secret:
    """Draw a key."""
    return Secret(SYSTEM.words(_BYTES // 8).tobytes())


def load_or_create_secret(path: Path) -> Secret:
    """Read the key in that file, or create it where there is none; only the file's owner may read it."""
    try:
        if not path.exists():
            _make(path)
        facts = path.lstat()
        text = path.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        raise files.cannot_write(path) from None
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
        why = "Others can read or change it, it belongs to someone else, or it is no regular file."
        raise IntegrityError(f"{toml_value(path.name)} is not its owner's alone.", why, f"Run: chmod 600 {path.name}")
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != _BYTES:
        fix = f"Remove {path.name}; the table then becomes another snapshot, and replays of old answers end."
        raise IntegrityError(f"{toml_value(path.name)} is not a key.", "It was changed or cut short.", fix)
    return Secret(key)


def _make(path: Path) -> None:
    """Write a new key whole, under its final name at once; a key that another process made meanwhile stays."""
    new = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    files.remove(new)
    try:
        durable.write(new, new_secret().key.hex().encode(), new=True)
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
    finally:
        files.remove(new)
    durable.sync(path.parent)
