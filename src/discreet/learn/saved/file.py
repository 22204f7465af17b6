"""The file of a model: public facts and released numbers behind a digest; reading it runs nothing and trusts nothing.

    discreet model 1 ⏎ SHA-256 of all that follows, in hexadecimal ⏎ JSON of the facts ⏎
    the released numbers, 64 bits each, little-endian, in the order of the parts

Nothing is packed: a small file stays small in memory, and equal models are equal bytes on every machine.  The digest
reveals accidents, not forgery: anyone can write a file.  `verify` checks what a file states, against a ledger too.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from discreet import envelope, outputs
from discreet.errors import BadValue, CannotWrite, DiscreetError, IntegrityError, bad
from discreet.fix import UNKNOWN, Fix
from discreet.learn.fit import Fit
from discreet.learn.learner import Released
from discreet.learn.saved.rebuild import description_of, rebuild
from discreet.ndarrays import Ints

HEAD = b"discreet model 1\n"
_NET = b"discreet net "  # begins the file of a net, which has verbs of its own
LARGEST = 2**28  # bytes of a file
LARGEST_FACTS = 2**26  # bytes of its JSON
_DIGEST = 65  # bytes of its line
_MOST_AXES = 8
_WIDTH = 8  # bytes of a number


def to_bytes(fit: Fit) -> bytes:
    """The file of that fit; equal fits have equal bytes."""
    arrays = {name: np.asarray(values) for name, values in fit.released.items()}
    parts = [{"name": name, "shape": list(values.shape)} for name, values in arrays.items()]
    facts = {**description_of(fit), "parts": parts, "version": envelope.version()}
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
    body = text + b"\n" + b"".join(values.astype("<i8").tobytes() for values in arrays.values())
    return HEAD + hashlib.sha256(body).hexdigest().encode("ascii") + b"\n" + body


def from_bytes(stored: bytes) -> Fit:
    """The fit in these bytes; IntegrityError where they are not a whole model."""
    facts, released = contents(stored)
    try:
        return rebuild(facts, released)
    except DiscreetError as error:
        if not isinstance(error, (BadValue, IntegrityError)):
            raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError):
        pass
    raise _no_model("Its facts and its numbers make no model that this Discreet knows.")


def contents(stored: bytes) -> tuple[Mapping[str, Any], Released]:
    """The stated facts and the released numbers, after the digest was compared."""
    if stored.startswith(_NET):
        fix = Fix("Describe it:", "train card", {"model_file": UNKNOWN})
        why = "What is read here are models that learners of dp.learn fitted."
        raise IntegrityError("This is the file of a net.", why, fix)
    if not stored.startswith(HEAD):
        raise _no_model("It does not begin like one.")
    if len(stored) > LARGEST:
        raise _no_model(f"It has more than {LARGEST >> 20} MiB.")
    start = len(HEAD) + _DIGEST
    body = stored[start:]
    if stored[len(HEAD) : start] != hashlib.sha256(body).hexdigest().encode("ascii") + b"\n":
        raise _no_model("Its digest is another: bytes were changed or are missing.")
    end = body.find(b"\n", 0, LARGEST_FACTS)
    try:
        if end >= 0:
            facts = json.loads(body[:end])
            return facts, _numbers(facts["parts"], body[end + 1 :])
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise _no_model("Its facts cannot be read.")


def _numbers(parts: list[Mapping[str, Any]], packed: bytes) -> dict[str, Ints]:
    """The parts; ValueError unless their shapes take all bytes and no more."""
    shapes = {str(part["name"]): tuple(part["shape"]) for part in parts}
    sizes = [size for shape in shapes.values() for size in (len(shape), *shape)]
    if len(shapes) < len(parts) or any(type(size) is not int or size < 0 for size in sizes):
        raise ValueError
    if any(len(shape) > _MOST_AXES for shape in shapes.values()):
        raise ValueError
    if sum(map(prod, shapes.values())) * _WIDTH != len(packed):
        raise ValueError
    values, start, released = np.frombuffer(packed, dtype="<i8").astype(np.int64), 0, {}
    for name, shape in shapes.items():
        released[name] = values[start : start + prod(shape)].reshape(shape)
        start += prod(shape)
    return released


def save(fit: Fit, path: Any, *, replace: bool = False, toml: Path | None = None) -> Path:
    """Write the file of a fit; never onto an input of a dataset, and onto another file only with `replace`."""
    place = Path(path)
    require_free(place, replace=replace, toml=toml)
    content = to_bytes(fit)
    try:
        with outputs.replacing(place, toml) as draft:
            draft.write_bytes(content)
    except OSError:
        why = "Its folder is not there, may not be written, or the disk is full."
        fix = "Give another name; the model is still in memory."
        raise CannotWrite(f"The model could not be written to {str(place)!r}.", why, fix) from None
    return place


def require_free(path: Path, *, replace: bool, toml: Path | None = None) -> None:
    """Refuses a place where no model may be written."""
    outputs.require_harmless(path, toml)
    if os.path.lexists(path) and not replace:
        fix = "Give another name, or let it be replaced: replace=True, --yes at the command line."
        raise bad("output", "must not be there yet", str(path), fix)


def read_bytes(path: Any) -> bytes:
    """The bytes of a model's file; refused unless it is a plain file of at most 256 MiB."""
    place = Path(path)
    try:
        with open(place, "rb", opener=_open_at_once) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read(LARGEST + 1)
    except FileNotFoundError:
        fix = "Give a file that a model was saved to, by its path from here."
        raise bad("model file", "must be there", str(place), fix) from None
    except (OSError, ValueError):
        pass
    raise bad(
        "model file", "must be a plain file that you may read", str(place), "Give a file that a model was saved to."
    )


def read(path: Any) -> Fit:
    """The fit in a file."""
    return from_bytes(read_bytes(path))


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for whoever writes a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def _no_model(why: str) -> IntegrityError:
    fix = "Save the model again where it was fitted, or fetch the file again."
    return IntegrityError("This is no whole file of a model.", why, fix)
