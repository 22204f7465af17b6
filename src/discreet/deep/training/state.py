"""What a block of steps releases: weights, their average, and what the optimizer remembers, as bytes that run nothing.

    discreet training 1 ⏎ SHA-256 of all that follows, in hexadecimal ⏎ JSON ⏎ the arrays, one after the other

All of it follows from noisy gradients, so it may be stored and shown.  Its length follows from public facts alone.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor

from discreet.errors import IntegrityError

HEAD = b"discreet training 1\n"
LARGEST = 2**28  # bytes, as of every stored answer
_DIGEST = 65  # bytes of its line
_LARGEST_FACTS = 2**26
_MOST_AXES = 16
_TYPES = {
    str(kind).removeprefix("torch."): kind
    for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool)
}
Number = bool | int | float | None
Remembered = Mapping[str, Tensor | Number]  # what an optimizer keeps of one parameter


@dataclass(frozen=True, eq=False)
class State:
    """After `step` steps: the weights in the order of the module, their average, and the optimizer's memory of each."""

    step: int
    weights: tuple[Tensor, ...]
    averages: tuple[Tensor, ...]
    optimizer: tuple[Remembered, ...]

    def to_bytes(self) -> bytes:
        """The stored form."""
        arrays = [*self.weights, *self.averages]
        memory: list[dict[str, Any]] = []
        for remembered in self.optimizer:
            own: dict[str, Any] = {}
            for name, value in remembered.items():
                own[name] = [len(arrays)] if isinstance(value, Tensor) else value
                arrays += [value] if isinstance(value, Tensor) else []
            memory.append(own)
        facts = {"step": self.step, "weights": len(self.weights), "averages": len(self.averages), "optimizer": memory}
        return bytes_of(facts, arrays)


def from_bytes(stored: bytes) -> State:
    """The state in these bytes; IntegrityError where they are not a whole one."""
    facts, arrays = contents_of(stored)
    try:
        weights, averages = int(facts["weights"]), int(facts["averages"])
        optimizer = tuple(
            {str(name): arrays[value[0]] if isinstance(value, list) else value for name, value in own.items()}
            for own in facts["optimizer"]
        )
        return State(
            int(facts["step"]), tuple(arrays[:weights]), tuple(arrays[weights : weights + averages]), optimizer
        )
    except (KeyError, TypeError, IndexError, AttributeError, ValueError):
        pass
    raise _broken("Its facts are not those of a training.")


# --- facts and arrays as bytes ---------------------------------------------------------------------------------------


def bytes_of(facts: Mapping[str, Any], arrays: Sequence[Tensor], head: bytes = HEAD) -> bytes:
    """JSON facts and tensors as bytes, behind a digest."""
    plain = [array.detach().cpu().contiguous() for array in arrays]
    shapes = [[str(array.dtype).removeprefix("torch."), list(array.shape)] for array in plain]
    text = json.dumps({**facts, "arrays": shapes}, sort_keys=True, separators=(",", ":")).encode("ascii")
    body = b"\n".join([text, b"".join(array.reshape(-1).view(torch.uint8).numpy().tobytes() for array in plain)])
    return head + hashlib.sha256(body).hexdigest().encode("ascii") + b"\n" + body


def contents_of(stored: bytes, head: bytes = HEAD) -> tuple[dict[str, Any], list[Tensor]]:
    """The facts and tensors of `bytes_of`; IntegrityError where a byte is another, or something is missing."""
    if not stored.startswith(head) or len(stored) > LARGEST:
        raise _broken("It does not begin like one, or is too long.")
    start = len(head) + _DIGEST
    body = memoryview(stored)[start:]
    if stored[len(head) : start] != hashlib.sha256(body).hexdigest().encode("ascii") + b"\n":
        raise _broken("Its digest is another: bytes were changed or are missing.")
    end = stored.find(b"\n", start, start + _LARGEST_FACTS)
    try:
        if end >= 0:
            facts = json.loads(stored[start:end])
            return facts, _tensors(facts.pop("arrays"), memoryview(stored)[end + 1 :])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise _broken("Its facts cannot be read.")


def _tensors(shapes: Any, numbers: memoryview) -> list[Tensor]:
    """The tensors; ValueError unless their shapes take all bytes and no more."""
    tensors, start = [], 0
    for name, shape in shapes:
        kind, sizes = _TYPES[name], [int(size) for size in shape]
        if len(sizes) > _MOST_AXES or any(type(size) is not int or size < 0 for size in shape):
            raise ValueError
        end = start + prod(sizes) * kind.itemsize
        if end > len(numbers):
            raise ValueError
        flat = (
            torch.frombuffer(bytearray(numbers[start:end]), dtype=kind) if end > start else torch.empty(0, dtype=kind)
        )
        tensors.append(flat.reshape(sizes))
        start = end
    if start != len(numbers):
        raise ValueError
    return tensors


def _broken(why: str) -> IntegrityError:
    fix = "Fetch the file or the ledger again, or begin anew under another name."
    return IntegrityError("This is no whole state of a training.", why, fix)
