"""The folder in which a machine keeps heads of ledgers and the registry of sources, apart from the ledgers."""

import os
from pathlib import Path

from discreet.errors import LedgerUnavailable


def state_folder() -> Path:
    """$XDG_STATE_HOME (or ~/.local/state)/discreet: what is remembered of ledgers outside their own folders."""
    named = os.environ.get("XDG_STATE_HOME")
    try:
        base = Path(named) if named and Path(named).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        why = "It belongs in a second place, and no home directory is known."
        raise LedgerUnavailable("The head of the ledger has no place.", why, "Set XDG_STATE_HOME.") from None
    return base / "discreet"
