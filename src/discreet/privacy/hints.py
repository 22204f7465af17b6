"""Numbers that took long to find, remembered on disk; nobody trusts them, so nothing here can fail loudly.

The directory is $DISCREET_CACHE, else $XDG_CACHE_HOME/discreet, else ~/.cache/discreet.  One small file per number,
written beside and moved into place, so a reader never meets half of one.
"""

import contextlib
import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path

from discreet import amounts
from discreet.errors import BadValue

_LARGEST = 4096  # bytes


def directory() -> Path | None:
    """Where hints lie; None where the system names no such place."""
    named = os.environ.get("DISCREET_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):
        return (Path(base) if base else Path.home() / ".cache") / "discreet"
    return None


def recall(key: str) -> Fraction | None:
    """The number remembered for `key`, if the file is whole and names that very key."""
    place = _place(key)
    if place is None:
        return None
    try:
        with place.open("rb") as file:
            text = file.read(_LARGEST + 1)
        stored = json.loads(text) if len(text) <= _LARGEST else None
        if not isinstance(stored, dict) or stored.get("key") != key or not isinstance(stored.get("value"), str):
            return None
        return amounts.positive(stored["value"], "hint")
    except (OSError, ValueError, RecursionError, BadValue):
        return None


def remember(key: str, value: Fraction) -> None:
    """Keep `value` for `key` if the disk allows it."""
    place = _place(key)
    if place is None:
        return
    beside = place.with_suffix(f".{os.getpid()}.tmp")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"key": key, "value": str(value)}, file)
        os.replace(beside, place)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()


def _place(key: str) -> Path | None:
    home = directory()
    return None if home is None else home / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
