"""Where a synthetic table and its page are written: refused before anything is spent if that could not be."""

import os
import shlex
from pathlib import Path
from typing import Any

from discreet import outputs
from discreet.errors import bad
from discreet.fix import Fix


def require_place(path: Path, metadata: Path, *, replaces: bool, example: str, fix: Fix | str) -> None:
    """Refuses a file that could not be written: no folder, a folder itself, an input, or one that is to be kept."""
    try:
        is_placed, is_folder = path.absolute().parent.is_dir(), path.is_dir()
    except OSError:
        raise bad("output", "must be a name that the system takes", str(path), "Give a shorter one after -o.") from None
    if not is_placed:
        make = f"Make it first: mkdir -p {shlex.quote(str(path.parent))}"
        raise bad("output", "must lie in a folder that exists", str(path), make)
    if is_folder:
        raise bad("output", "must be a file", str(path), f"Name one in it, for example: -o {path / example}")
    require_new(path, metadata, replaces=replaces, fix=fix)


def require_new(path: Path, metadata: Path | None, *, replaces: bool, fix: Fix | str) -> None:
    """Refuses an input, and a file that is there and is to be kept; `again` says how to go on."""
    outputs.require_harmless(path, metadata)
    if os.path.lexists(path) and not replaces:
        raise bad("output", "must not be there yet", str(path), fix)


def rerun_fix(call: Any) -> Fix | str:
    """What to do where the file is there: the same call, which replaces it; invented rows replace nothing."""
    if call.rehearse:
        return "Give another name after -o."
    fix: Fix = call.fix("To replace it:", output=None if call.output is None else str(call.output), yes=True)
    return fix
