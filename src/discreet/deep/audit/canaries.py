"""Canaries: invented persons, each with as many rows as a step may take, of the public shape of a row.

    numbers          normal                         targets that are numbers      0 or 1
    whole numbers    below the smallest embedding   targets that are classes      below the number of outputs

A target has nothing to do with its inputs, so a net that answers it has learnt that very person.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discreet import amounts
from discreet.deep.clipping.order import outputs_of
from discreet.deep.training.data import Tree, mapped, tensors_of
from discreet.errors import bad
from discreet.ndarrays import Bools, Ints
from discreet.noise.public import Generator, generator

_FEWEST, _MANY = 10, 10**6


@dataclass(frozen=True, eq=False)
class Canaries:
    """`count` persons of `max_rows` rows each; the rows of a person lie side by side."""

    count: int
    max_rows: int
    inputs: Tree
    targets: Tree

    def rows_of(self, persons: Ints | Bools) -> tuple[Tree, Tree]:
        """Inputs and targets of all rows of these persons."""
        numbers = torch.from_numpy(np.arange(self.count)[persons])
        rows = (numbers[:, None] * self.max_rows + torch.arange(self.max_rows)).flatten()
        return mapped(self.inputs, lambda leaf: leaf[rows]), mapped(self.targets, lambda leaf: leaf[rows])

    def units_of(self, persons: Bools) -> Ints | None:
        """The person of each of their rows; None where each row is a person."""
        return None if self.max_rows == 1 else np.repeat(np.flatnonzero(persons), self.max_rows)


def invented_canaries(module: nn.Module, example: tuple[Tree, Tree], count: int, max_rows: int) -> Canaries:
    """So many invented persons; of the example's rows only shapes and types are looked at."""
    persons = amounts.count(count, "canaries", _FEWEST, _MANY)
    chance, rows = generator(), persons * max_rows
    words = min((layer.num_embeddings for layer in module.modules() if isinstance(layer, nn.Embedding)), default=2)
    inputs = mapped(example[0], lambda leaf: _numbers(leaf, rows, words, chance))
    targets = mapped(example[1], lambda leaf: _answers(leaf, rows, _classes(module, inputs, words), chance))
    return Canaries(persons, max_rows, inputs, targets)


def example_rows(example: Any) -> tuple[Tree, Tree]:
    """Inputs and targets of a few rows as tensors; refused where they are none."""
    if not isinstance(example, (tuple, list)) or len(example) != 2:
        fix = "Call fit first, or give a few public rows: trainer.audit(canaries=1000, example=(X[:2], y[:2]))."
        raise bad("example", "must be (inputs, targets) of the shape of the rows", type(example).__name__, fix)
    return tensors_of(example[0], "example"), tensors_of(example[1], "example")


def _numbers(leaf: Tensor, rows: int, words: int, chance: Generator) -> Tensor:
    shape = (rows, *leaf.shape[1:])
    values = chance.standard_normal(shape) if leaf.is_floating_point() else chance.integers(0, words, shape)
    return torch.from_numpy(np.asarray(values)).to(leaf.dtype).to(leaf.device)


def _answers(leaf: Tensor, rows: int, classes: int, chance: Generator) -> Tensor:
    shape = (rows, *leaf.shape[1:])
    largest = 2 if leaf.is_floating_point() or leaf.dtype is torch.bool else classes
    return torch.from_numpy(chance.integers(0, largest, shape)).to(leaf.dtype).to(leaf.device)


def _classes(module: nn.Module, inputs: Tree, words: int) -> int:
    """How many classes a row's outputs stand for."""
    few = mapped(inputs, lambda leaf: leaf[:2])
    with torch.no_grad():
        outputs = outputs_of(module, few)
    return int(outputs.shape[1]) if isinstance(outputs, Tensor) and outputs.dim() == 2 else words
