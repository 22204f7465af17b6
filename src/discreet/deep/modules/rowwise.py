"""Is a function of a batch one of each of its rows?  It is tried on invented rows, as nets are in `probe`.

    alone      each row by itself gives what it gave among others, up to rounding
    others     one row stays, and all others, or one, are drawn anew, wildly, or become huge, infinite, not a number, …:
               numbers of the rows that stay are equal to the last bit

Whole numbers are 0 and 1, and in targets also 2, 100 and −1, which a loss may refuse but not mix.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discreet.deep.modules.invented import (
    EXTREMES,
    Batch,
    Change,
    changed_rows,
    invented,
    mapped,
    picked,
    with_change,
    with_others_of,
)
from discreet.errors import DiscreetError, bad
from discreet.ndarrays import Floats

RowNumbers = Callable[[Any, Any], Floats]  # of inputs and targets, one number a row
_SIZE, _WILD = 8, 8  # rows of a batch, and batches of numbers of very different sizes


def require_own_rows(name: str, numbers: RowNumbers, inputs_like: Batch, targets_like: Batch) -> None:
    """Refuse a function that gives no number for each row, or whose number of a row depends on other rows."""
    chance = torch.Generator().manual_seed(17)

    def drawn_rows(law: Any) -> tuple[Batch, Batch]:
        return invented(inputs_like, _SIZE, law, chance), invented(targets_like, _SIZE, law, chance)

    inputs, targets = drawn_rows("even")
    together = numbers(*_copies_of(inputs, targets))
    alone = [numbers(picked(inputs, [place]), picked(targets, [place])) for place in range(_SIZE)]
    is_own = together.shape == (_SIZE,) and np.allclose(together, np.concatenate(alone), atol=1e-3, equal_nan=True)
    others = _neighbours((inputs, targets), [drawn_rows("wild") for _ in range(_WILD)]) if is_own else iter(())
    for other_inputs, other_targets, places in others:
        try:
            other = numbers(*_copies_of(other_inputs, other_targets))
        except DiscreetError:
            raise
        except Exception:
            continue  # it may refuse rows of such values, but not mix them with others
        is_own = is_own and other.shape == (_SIZE,) and np.array_equal(other[places], together[places], equal_nan=True)
    if not is_own:
        rule = "must give each row a number that depends on that row alone"
        raise bad(name, rule, f"a {name} of rows together", "Leave out means: they are taken afterwards.")


def _neighbours(own: tuple[Batch, Batch], wild: list[tuple[Batch, Batch]]) -> Iterator[tuple[Batch, Batch, list[int]]]:
    """Batches, and the places of the rows that are as they were."""
    inputs, targets = own
    for number, (other_inputs, other_targets) in enumerate(wild):
        place = number % _SIZE
        yield with_others_of(inputs, other_inputs, place), with_others_of(targets, other_targets, place), [place]
    for number, change in enumerate([*EXTREMES.values(), *map(_whole, (2, 100, -1))]):
        place = number % _SIZE
        rest = [other for other in range(_SIZE) if other != place]
        yield with_change(inputs, place, change), targets, rest
        yield inputs, with_change(targets, place, change), rest
        yield with_others_of(inputs, changed_rows(inputs, change), place), targets, [place]
        yield inputs, with_others_of(targets, changed_rows(targets, change), place), [place]


def _copies_of(*batches: Batch) -> list[Batch]:
    """Batches in memory of their own, as a function may write into what it is given."""
    return [mapped(batch, torch.clone) for batch in batches]


def _whole(value: int) -> Change:
    """Another whole number; in main memory, as graphics cards stop at ids out of range."""

    def filled_part(part: Tensor) -> Tensor:
        is_changed = not part.is_floating_point() and part.dtype != torch.bool and part.device.type == "cpu"
        return torch.full_like(part, value) if is_changed else part

    return filled_part
