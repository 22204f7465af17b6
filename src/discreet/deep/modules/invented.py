"""Invented examples: of the shape and type of the caller's, and of values that have nothing to do with them.

    numbers            even between 0 and 1, normal, or wild: normal times 10⁻² to 10³; by a generator with a fixed seed
    whole and truth    0 and 1, which every embedding of two rows has; along the last axis the first is 0, the last 1,
                       so that a mask never hides everything

The number of rows that the caller gave is not looked at.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import torch
from torch import Tensor

from discreet.errors import bad

Law = Literal["even", "normal", "wild"]
Batch = Any  # a tensor, or a tuple, list or dict of tensors
Change = Callable[[Tensor], Tensor]  # one example of one tensor, as another


def leaves(batch: Batch) -> Iterator[Tensor]:
    """The tensors of a batch."""
    if isinstance(batch, Tensor):
        yield batch
    elif batch is not None:
        yield from batch.values() if isinstance(batch, Mapping) else batch


def mapped(batch: Batch, change: Callable[[Tensor], Tensor]) -> Batch:
    """The batch with each of its tensors changed."""
    if batch is None or isinstance(batch, Tensor):
        return None if batch is None else change(batch)
    if isinstance(batch, Mapping):
        return {name: change(part) for name, part in batch.items()}
    return tuple(change(part) for part in batch)


def require_batch(batch: Batch, name: str) -> None:
    """Refuse what is no tensor, tuple, list or dict of tensors with examples along the first axis."""
    parts = [batch] if isinstance(batch, Tensor) else batch
    parts = list(parts.values()) if isinstance(parts, Mapping) else parts
    is_batch = isinstance(parts, (list, tuple)) and len(parts) > 0
    if not is_batch or not all(isinstance(part, Tensor) and part.dim() > 0 for part in parts):
        rule = "must be a tensor, or a tuple, list or dict of tensors, with examples along the first axis"
        raise bad(name, rule, type(batch).__name__, "Give, for example, torch.zeros(1, 28, 28).")


def invented(like: Batch, size: int, law: Law, generator: torch.Generator) -> Batch:
    """As many invented examples of the shapes and types of `like`."""
    return mapped(like, lambda part: _rows_of(part, size, law, generator))


def joined(first: Batch, second: Batch) -> Batch:
    """The examples of both."""
    rest = leaves(second)
    return mapped(first, lambda part: torch.cat([part, next(rest)]))


def picked(batch: Batch, places: list[int]) -> Batch:
    """The examples at these places."""
    return mapped(batch, lambda part: part[places])


def with_others_of(batch: Batch, other: Batch, kept_place: int) -> Batch:
    """All examples of `other` but one, which stays."""
    rest = leaves(batch)

    def mixed(part: Tensor) -> Tensor:
        result = part.clone()
        result[kept_place] = next(rest)[kept_place]
        return result

    return mapped(other, mixed)


def with_change(batch: Batch, place: int, change: Change) -> Batch:
    """The batch with one example changed."""

    def changed_part(part: Tensor) -> Tensor:
        result = part.clone()
        result[place] = change(part[place])
        return result

    return mapped(batch, changed_part)


def changed_rows(batch: Batch, change: Change) -> Batch:
    """The batch with each of its examples changed."""
    return mapped(batch, lambda part: torch.stack([change(row) for row in part]))


def _times(factor: float) -> Change:
    return lambda part: part * factor if part.is_floating_point() else _complement(part)


def _constant(value: float) -> Change:
    def filled_part(part: Tensor) -> Tensor:
        if not part.is_floating_point():
            return torch.full_like(part, bool(value))
        largest = torch.finfo(part.dtype).max
        return torch.full_like(part, min(value, largest) if math.isfinite(value) else value)

    return filled_part


def _first_infinite(part: Tensor) -> Tensor:
    """One number infinite among others: it stays so behind a layer, where signs of many would cancel to no number."""
    if not part.is_floating_point():
        return part
    result = part.clone(memory_format=torch.contiguous_format)
    result.view(-1)[:1] = math.inf
    return result


def _complement(part: Tensor) -> Tensor:
    return ~part if part.dtype == torch.bool else 1 - part


EXTREMES: dict[str, Change] = {
    "zeros": _constant(0.0),
    "a thousand times as large": _times(1000.0),
    "negated": _times(-1.0),
    "huge": _constant(1e30),
    "not a number": _constant(math.nan),
    "infinite": _constant(math.inf),
    "negative and infinite": _constant(-math.inf),
    "infinite in one place": _first_infinite,
}


STAYING = ("infinite in one place", "huge", "a thousand times as large")  # of examples that stay


def _rows_of(like: Tensor, size: int, law: Law, generator: torch.Generator) -> Tensor:
    shape = (size, *like.shape[1:])
    if like.is_floating_point() or like.is_complex():
        draws = torch.rand(shape, generator=generator)
        if law != "even":
            scales = 10 ** (5 * draws - 2) if law == "wild" else torch.ones(())
            # Seeded on purpose: invented rows to try a net on before the charge, and no noise of an answer.
            draws = torch.randn(shape, generator=generator) * scales
        return draws.to(like.dtype).to(like.device)
    coins = torch.randint(0, 2, shape, generator=generator)
    if len(shape) > 1 and shape[-1] > 1:
        coins[..., 0], coins[..., -1] = 0, 1
    return coins.to(like.dtype).to(like.device)
