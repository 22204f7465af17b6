"""A curator's act needs a reason, which the ledger keeps for ever."""

from discreet.errors import BadValue
from discreet.fix import UNKNOWN, Fix
from discreet.ledger.question import reason


def require_why(why: str | None, act: Fix) -> str:
    """The reason, or the refusal that shows the whole act with one."""
    if why is None or not why.strip():
        fix = Fix("Write:", act.verb, {**act.arguments, "why": UNKNOWN})
        raise BadValue("A reason must be given.", "The ledger keeps it beside the change.", fix)
    return reason(why.strip())
