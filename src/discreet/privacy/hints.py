"""A cache on disk for numbers that took long to find.  They are checked before use, so errors here are ignored.

The directory is $DISCREET_CACHE, else $XDG_CACHE_HOME/discreet, else ~/.cache/discreet.  One small file per number,
written beside and moved into place, so a reader never meets half of one.
"""

import contextlib
import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path

from discreet import amounts, durable
from discreet.errors import BadValue

_LARGEST = 4096  # bytes


def directory() -> Path | None:
    """The folder of the hints; None where the system names no home folder."""
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
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        durable.replace(place, json.dumps({"key": key, "value": str(value)}).encode(), mode=0o600)


def _place(key: str) -> Path | None:
    home = directory()
    return None if home is None else home / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
