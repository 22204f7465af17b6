"""Where a synthetic table and its page are written: refused before anything is spent if that could not be."""

import os
from pathlib import Path
from typing import Any

from discreet import outputs
from discreet.errors import bad
from discreet.fix import Fix
from discreet.operation.learn import require_file_place


def require_place(path: Path, metadata: Path, *, replaces: bool, example: str, fix: Fix | str) -> None:
    """Refuses a file that could not be written: no folder, a folder itself, an input, or one that is to be kept."""
    require_file_place(path, example=example)
    require_new(path, metadata, replaces=replaces, fix=fix)


def require_new(path: Path, metadata: Path | None, *, replaces: bool, fix: Fix | str) -> None:
    """Refuses an input, and a file that is there and is to be kept; `fix` says how to go on."""
    outputs.require_harmless(path, metadata)
    if os.path.lexists(path) and not replaces:
        raise bad("output", "must not be there yet", str(path), fix)


def rerun_fix(call: Any) -> Fix | str:
    """What to do where the file is there: the same call, which replaces it; invented rows replace nothing."""
    if call.rehearse:
        return "Give another name after -o."
    fix: Fix = call.fix("To replace it:", output=None if call.output is None else str(call.output), yes=True)
    return fix
