"""Rows to train on: tensors and arrays, or a Dataset of torch, and whose rows they are.

    (X, y)        X and y are tensors or arrays, or tuples, lists or dicts of them; rows lie along the first axis
    a Dataset     with a length, which gives (inputs, target) for an index; what it gives depends on that row alone

Which rows are in a step is drawn here and nowhere else, so batches that somebody has drawn already are refused.  The
shapes and types of rows are public, of a Dataset those of index 0; how many rows there are is not.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, default_collate

from discreet.bounded import Bounded, RowLimit
from discreet.deep.clipping.secret import secret_draws
from discreet.deep.sampling import Persons, persons_of
from discreet.errors import bad, bad_private
from discreet.ndarrays import Ints
from discreet.noise.source import SYSTEM

Tree = Any  # a tensor, or a tuple, list or dict of trees
_ARRAYS = "(X, y) of tensors or arrays, or a Dataset of torch with a length"
_GIVE_PAIRS = "Let __getitem__ give two things, each a dense tensor, a number, or a tuple or dict of them."


@dataclass(frozen=True, eq=False)
class Rows:
    """Private rows and their persons.  `pick` gives the inputs and targets of chosen rows, in their order."""

    persons: Persons
    pick: Callable[[Ints], tuple[Tree, Tree]]
    example: tuple[Tree, Tree] | None  # inputs and targets of no rows: shapes and types; None of an empty Dataset

    def invented_rows(self, count: int) -> tuple[Tree, Tree] | None:
        """Rows of zeros, shaped like these."""
        if self.example is None:
            return None
        inputs, targets = (mapped(part, lambda leaf: leaf.new_zeros(count, *leaf.shape[1:])) for part in self.example)
        return inputs, targets

    def shapes(self) -> "Rows":
        """No rows, of the same shapes: what a trainer may remember."""
        example = self.example
        return Rows(persons_of(None, 0), lambda indices: example or ((), ()), example)

    def for_gate(self, max_rows: int) -> Bounded["Rows"]:
        """These rows for the gate; a sample holds at most `max_rows` rows of a person."""
        return Bounded(lambda: self, RowLimit(max_rows), "deep/training.md")


def rows_of(data: Any, units: Any = None) -> Rows:
    """The rows of a caller, each one's person named by `units`; without units each row is a person."""
    require_unsampled(data)
    if type(data) is TensorDataset:  # a subclass may have rows of its own
        tensors = data.tensors
        data = (tensors[0] if len(tensors) == 2 else tensors[:-1], tensors[-1])
    if isinstance(data, (tuple, list)) and len(data) == 2:
        return _rows_of_arrays(data[0], data[1], units)
    if isinstance(data, Dataset) or (hasattr(data, "__getitem__") and hasattr(data, "__len__") and _is_object(data)):
        return _rows_of_dataset(data, units)
    raise bad("data", f"must be {_ARRAYS}", type(data).__name__, "Give, for example, trainer.fit((X, y)).")


def require_unsampled(data: Any) -> None:
    """Refuses batches that were drawn before: nobody could say with which chance a person is in one."""
    is_stream = isinstance(data, (DataLoader, IterableDataset)) or hasattr(data, "__next__")
    if is_stream:
        rule = "must be rows and not batches: the price holds for samples that are drawn here, each person by a coin"
        raise bad("data", rule, type(data).__name__, f"Give {_ARRAYS}; the plan has the batch size.")


# --- arrays ----------------------------------------------------------------------------------------------------------


def _rows_of_arrays(inputs: Any, targets: Any, units: Any) -> Rows:
    tensors = (tensors_of(inputs, "X"), tensors_of(targets, "y"))
    lengths = {len(leaf) for part in tensors for leaf in leaves(part)}
    if len(lengths) > 1:
        raise bad_private("X and y", "must have one length", "Hand over one target a row.")
    persons = persons_of(_units(units), lengths.pop())
    example = _without_rows(tensors)

    def pick(indices: Ints) -> tuple[Tree, Tree]:
        index = torch.from_numpy(indices)
        inputs, targets = (mapped(part, lambda leaf: leaf.index_select(0, index.to(leaf.device))) for part in tensors)
        return inputs, targets

    return Rows(persons, pick, example)


def tensors_of(tree: Any, name: str) -> Tree:
    """The tree with tensors for arrays; doubles of numpy become torch's default type, as weights are of it."""
    if isinstance(tree, Mapping):
        return {key: tensors_of(part, name) for key, part in tree.items()}
    if isinstance(tree, (tuple, list)) and tree and all(hasattr(part, "shape") for part in tree):
        return tuple(tensors_of(part, name) for part in tree)
    if hasattr(tree, "to_numpy"):  # a column or frame
        tree = _array_of(tree, name)
    if type(tree) is np.ndarray and tree.dtype.kind in "fiub":
        tree = _tensor_of(tree)
    if not isinstance(tree, Tensor) or tree.dim() == 0 or not _is_dense(tree):
        rule = "must be a dense tensor or array of numbers with rows along its first axis, or several of them"
        fix = "Give, for example, torch.as_tensor(values); of texts the number of each class, from 0 upwards."
        raise bad(name, rule, type(tree).__name__, fix)
    return tree.detach()


def _array_of(frame: Any, name: str) -> Any:
    """The array of a column or frame of pandas whose types are all NumPy's.

    Columns of other types may have empty cells, and one of them would give all rows another type: they are refused by
    their type, whatever they hold.
    """
    kinds: Any = getattr(frame, "dtypes", None)
    declared: list[Any] = kinds.tolist() if hasattr(kinds, "tolist") else [kinds]
    if not all(isinstance(kind, np.dtype) for kind in declared):
        rule = "must be tensors, arrays or columns of NumPy's types: one empty cell would give all rows another type"
        fix = "Fill empty cells and hand over arrays, for example frame.fillna(0).to_numpy() in pandas."
        raise bad(name, rule, f"a {type(frame).__name__} of other types", fix)
    return frame.to_numpy()


def _is_dense(tensor: Tensor) -> bool:
    """Whether it has one number in each place: not sparse in any layout, nested, quantized or without values."""
    is_special = tensor.is_nested or tensor.is_quantized or tensor.is_meta
    return tensor.layout is torch.strided and not is_special


def _tensor_of(array: Any) -> Any:
    """The array as a tensor, or itself where its numbers are of no type of torch."""
    native = np.require(array, dtype=array.dtype.newbyteorder("="), requirements=["C", "W"])
    with contextlib.suppress(TypeError):
        tensor = torch.from_numpy(native)
        return tensor.to(torch.get_default_dtype()) if native.dtype == np.float64 else tensor
    return array


def leaves(tree: Tree) -> Iterator[Tensor]:
    """The tensors of a tree, in order."""
    if isinstance(tree, Mapping):
        tree = tuple(tree.values())
    if isinstance(tree, (tuple, list)):
        for part in tree:
            yield from leaves(part)
    else:
        yield tree


def mapped(tree: Tree, change: Callable[[Tensor], Tensor]) -> Tree:
    """The tree with each tensor changed."""
    if isinstance(tree, Mapping):
        return {key: mapped(part, change) for key, part in tree.items()}
    if isinstance(tree, (tuple, list)):
        return tuple(mapped(part, change) for part in tree)
    return change(tree)


def _without_rows(pair: tuple[Tree, Tree]) -> tuple[Tree, Tree]:
    """Inputs and targets of no rows, which hold on to none."""
    inputs, targets = (mapped(part, lambda leaf: leaf.new_zeros(0, *leaf.shape[1:])) for part in pair)
    return inputs, targets


def _units(units: Any) -> Any:
    """Units as persons_of reads them: tensors as arrays, each key by its digits."""
    if isinstance(units, Tensor) and not units.is_floating_point() and units.dtype is not torch.bool:
        return units.detach().cpu().numpy()
    return units


# --- a Dataset -------------------------------------------------------------------------------------------------------


def _is_object(data: Any) -> bool:
    """Whether it is something of the caller's own with indices, and not a tensor, an array or a container."""
    return not isinstance(data, (Tensor, np.ndarray, Mapping, tuple, list, str, bytes)) and not hasattr(data, "columns")


def _rows_of_dataset(data: Any, units: Any) -> Rows:
    if not hasattr(data, "__len__"):
        raise bad("data", "must be a Dataset with a length", type(data).__name__, f"Give {_ARRAYS}.")
    persons = persons_of(_units(units), len(data))
    fetch = getattr(data, "__getitems__", None) or (lambda indices: [data[index] for index in indices])
    example = _without_rows(_first_row(fetch)) if len(data) else None

    def pick(indices: Ints) -> tuple[Tree, Tree]:
        if not indices.size:
            return example or ((), ())
        return _batch_of(fetch(indices.tolist()), indices.size, example)

    return Rows(persons, pick, example)


def _first_row(fetch: Callable[[list[int]], Any]) -> tuple[Tree, Tree]:
    """The row of index 0, for its shapes; what a Dataset raises may quote the row, so nothing of it is attached."""
    with contextlib.suppress(Exception), secret_draws(SYSTEM):
        return _batch_of(fetch([0]), 1)
    raise bad_private("data", "must give (inputs, target) for index 0", _GIVE_PAIRS)


def _batch_of(items: Any, count: int, example: tuple[Tree, Tree] | None = None) -> tuple[Tree, Tree]:
    """Inputs and targets of so many rows: one for each index, or a person would bring more than was priced.

    Rows have the types of the example: put together by themselves they would all get the type of the widest.
    """
    if not isinstance(items, (tuple, list)) or len(items) != count:
        raise bad_private("data", "must give one row for each index", _GIVE_PAIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they would tell of single rows
        pair = _pair(default_collate(items) if example is None else stacked(items, example))
    if any(leaf.dim() == 0 or not _is_dense(leaf) or len(leaf) != count for part in pair for leaf in leaves(part)):
        raise bad_private("data", "must give dense tensors or numbers, of one row for each index", _GIVE_PAIRS)
    return pair


def stacked(items: Any, like: Tree) -> Tree:
    """Rows as one tree of tensors, of the types of `like`."""
    if isinstance(like, Mapping):
        return {key: stacked([item[key] for item in items], part) for key, part in like.items()}
    if isinstance(like, (tuple, list)):
        if any(len(item) != len(like) for item in items):
            raise bad_private("data", "must give rows of one form", _GIVE_PAIRS)
        return tuple(stacked([item[place] for item in items], part) for place, part in enumerate(like))
    rows = [torch.as_tensor(item).to(like.dtype) for item in items]
    if any(row.shape != like.shape[1:] for row in rows):
        raise bad_private("data", "must give rows of one shape", _GIVE_PAIRS)
    return torch.stack(rows)


def _pair(item: Any) -> tuple[Tree, Tree]:
    """Inputs and targets of what a Dataset gave."""
    if not isinstance(item, (tuple, list)) or len(item) != 2 or not all(map(_is_tensor, leaves(tuple(item)))):
        raise bad_private("data", "must give (inputs, target) for an index", _GIVE_PAIRS)
    return mapped(item[0], Tensor.detach), mapped(item[1], Tensor.detach)


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, Tensor)
