"""A curator's act needs a reason, which the ledger keeps for ever."""

import shlex

from discreet.errors import BadValue
from discreet.ledger.question import reason


def require_why(why: str | None, *command: str) -> str:
    """The reason, or the refusal that shows the whole command with one."""
    if why is None or not why.strip():
        fix = f'{shlex.join(command)} --why "…"'
        raise BadValue("A reason must be given.", "The ledger keeps it beside the change.", f"Write: {fix}")
    return reason(why.strip())
