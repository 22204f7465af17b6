"""Draw invitation tokens.  They are handed out once; the store has their hashes only."""

import base64
from collections.abc import Sequence

from discreet.errors import bad
from discreet.noise.source import SYSTEM
from discreet.survey.store import Store
from discreet.survey.submission import token_hash

_LARGEST_COUNT = 1_000_000
_TOKEN_BYTES = 16


def invite(store: Store, count: int, groups: Sequence[str] | None = None) -> list[tuple[str | None, str]]:
    """Draw `count` tokens in all, store their hashes, and return them with their groups, which take turns."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _LARGEST_COUNT:
        rule = f"must be a whole number from 1 to {_LARGEST_COUNT:,}"
        raise bad("count", rule, count, "Give the number of people to invite, such as 500.")
    if groups is not None and not groups:
        raise bad("groups", "must name at least one group", groups, "Leave groups out, or name those of the survey.")
    tokens = draw_tokens(count)
    invitations = [(groups[number % len(groups)] if groups else None, token) for number, token in enumerate(tokens)]
    store.add_invitations((token_hash(token), group) for group, token in invitations)
    return invitations


def draw_tokens(count: int) -> list[str]:
    """Draw tokens of 128 bits, each written in 22 base64url characters."""
    drawn = SYSTEM.words(count * _TOKEN_BYTES // 8).tobytes()
    starts = range(0, count * _TOKEN_BYTES, _TOKEN_BYTES)
    return [base64.urlsafe_b64encode(drawn[start : start + _TOKEN_BYTES]).decode().rstrip("=") for start in starts]
