"""The stored form of everything that was released: per part what was counted, the law of its noise, the integers.

    discreet released 1 ⏎ zlib( JSON of the facts ⏎ the parts' integers, 64 bits each, little-endian, in order )

Estimates, intervals, caveats, HAVING, ORDER BY and LIMIT are computed when it is handed out.  So what was released once
can be shown better, merged or fitted again later, for nothing.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from math import prod
from typing import Any

import numpy as np

from discreet.errors import IntegrityError
from discreet.fix import Fix
from discreet.ndarrays import Ints

HEAD = b"discreet released 1\n"
FAILED = b"discreet failed 1\n"  # stored where an answer was drawn and could not be packed: it is never drawn again
LARGEST = 2**31  # bytes unpacked
_FAST = 1  # of zlib: noise hardly shrinks


@dataclass(frozen=True, eq=False)
class Part:
    """One vector or table of released integers; `tally` and `law` are JSON under explicit tags."""

    tally: Any
    law: Any
    values: Ints


@dataclass(frozen=True, eq=False)
class Envelope:
    """All parts of one charge and the public facts that they need to be read; `version` is that of the Discreet that
    drew them."""

    kind: str
    version: str
    facts: Mapping[str, Any]
    parts: tuple[Part, ...]

    def to_bytes(self) -> bytes:
        """The stored form."""
        parts = [{"tally": part.tally, "law": part.law, "shape": list(part.values.shape)} for part in self.parts]
        stored = {"kind": self.kind, "version": self.version, "facts": dict(self.facts), "parts": parts}
        head = json.dumps(stored, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
        numbers = b"".join(part.values.astype("<i8").tobytes() for part in self.parts)
        return HEAD + zlib.compress(head + b"\n" + numbers, _FAST)


def from_bytes(stored: bytes, kind: str) -> Envelope:
    """The envelope with these bytes; refused unless it is one of that kind.

    >>> part = Part({"is": "rows"}, {"is": "laplace"}, np.array([3, -1]))
    >>> from_bytes(Envelope("question", "1", {}, (part,)).to_bytes(), "question").parts[0].values.tolist()
    [3, -1]
    """
    try:
        envelope = _read(stored)
    except (ValueError, KeyError, TypeError, zlib.error, RecursionError):
        envelope = None
    if envelope is None or envelope.kind != kind:
        why = "The ledger holds another kind of answer there, or one of a newer Discreet."
        fix = Fix("Verify the ledger:", "ledger", {"verify": True})
        raise IntegrityError(f"What is stored under this key is no {kind}.", why, fix)
    return envelope


def _read(stored: bytes) -> Envelope | None:
    if not stored.startswith(HEAD):
        return None
    unpacking = zlib.decompressobj()
    body = unpacking.decompress(stored[len(HEAD) :], LARGEST)
    if not unpacking.eof or unpacking.unused_data:
        return None
    head, _, numbers = body.partition(b"\n")
    fields = json.loads(head)
    values, start = np.frombuffer(numbers, dtype="<i8").astype(np.int64), 0
    parts = []
    for part in fields["parts"]:
        shape = tuple(int(size) for size in part["shape"])
        end = start + prod(shape)
        parts.append(Part(part["tally"], part["law"], values[start:end].reshape(shape)))
        start = end
    if start != values.size:
        return None
    return Envelope(fields["kind"], fields["version"], fields["facts"], tuple(parts))


@cache
def version() -> str:
    """The version of this Discreet."""
    try:
        return installed("discreet")
    except PackageNotFoundError:
        return "unknown"
