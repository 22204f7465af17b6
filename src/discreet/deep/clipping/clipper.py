"""Clipper: the sum over persons of their clipped gradients, by one forward and one backward pass of known layers.

    forward      a tape records what each layer was given
    backward     to the outputs of the layers alone; no gradient of a parameter of a known layer is computed
    norms        of each person, over all parameters, from the recorded pairs
    sum          Σ factor · gradient, from the same pairs, so that norms and sums cannot disagree

Pictures go through the net with channels last in memory (`order`), where convolutions and pooling are quickest.

Book-keeping: Bu, Wang, Zha & Karypis (2023b).  Proof page: docs/proofs/deep/clipping.md.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from discreet.deep.clipping import layers, others
from discreet.deep.clipping.order import Forward
from discreet.deep.clipping.persons import Owners, owners_of
from discreet.deep.clipping.pieces import (
    Outer,
    Picked,
    Piece,
    Plain,
    add_weighted,
    cheapest,
    piece_at_least_single,
    squared_norms,
)
from discreet.deep.clipping.rule import rule_of
from discreet.deep.clipping.tape import Call, Tape
from discreet.deep.clipping.workspace import Workspace
from discreet.errors import bad, bad_private

Loss = Callable[[Any, Any], Tensor]
_WIDE_ROWS = 128  # of a net with many numbers for each row: what its layers made of more would leave the cache
_NARROW_ROWS = 1024  # of other nets, where what is done once for each call would cost more than the cache saves


@dataclass(frozen=True)
class Layout:
    """The trainable parameters in the order of the module: names, shapes and how many numbers."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    size: int

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """The parts of a flat vector by name, as views."""
        parts, start = {}, 0
        for name, shape in zip(self.names, self.shapes, strict=True):
            length = torch.Size(shape).numel()
            parts[name] = flat[start : start + length].view(shape)
            start += length
        return parts


def layout_of(module: nn.Module) -> Layout:
    """The layout of a module's trainable parameters; a tied parameter counts once."""
    trained = [(name, parameter) for name, parameter in module.named_parameters() if parameter.requires_grad]
    if not trained:
        raise bad("module", "must have trainable parameters", type(module).__name__, "Set requires_grad on some.")
    shapes = tuple(tuple(parameter.shape) for _, parameter in trained)
    return Layout(tuple(name for name, _ in trained), shapes, sum(parameter.numel() for _, parameter in trained))


class Clipper:
    """Hooks on a module, and a buffer for the sum, which the next call overwrites.

    `precision` is the type in which clipped gradients are added up.
    """

    def __init__(self, module: nn.Module, loss: Loss, *, clip: Any, precision: torch.dtype = torch.float64) -> None:
        self.module, self.loss, self.rule = module, loss, rule_of(clip)
        self.layout = layout_of(module)
        self.sum = torch.zeros(self.layout.size, dtype=precision)
        self._views = self.layout.views(self.sum)
        self._names = {id(parameter): name for name, parameter in module.named_parameters() if parameter.requires_grad}
        self.rows_at_once = _WIDE_ROWS  # how many rows are quickest together, by what the net did when called last
        self._workspace = Workspace()
        self._tape = Tape(others.owners_of_parameters(module))
        self._forward = Forward(module)

    def __enter__(self) -> "Clipper":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the hooks off the module."""
        self._tape.close()

    def total(self, inputs: Any, targets: Any, owners: Tensor | None = None) -> Tensor:
        """Σ over persons of clipped gradients, flat; `owners` names the person of each row."""
        return self.begin().add(inputs, targets, owners)

    def begin(self) -> "Clipper":
        """Begin a sum of no persons."""
        self.sum.zero_()
        return self

    def add(self, inputs: Any, targets: Any, owners: Tensor | None = None) -> Tensor:
        """The sum with these persons too, of whom all rows are given together."""
        pieces = self.pieces(inputs, targets, owners)
        if pieces:
            with self._full_precision():
                self._add(pieces)
        return self.sum

    def _add(self, pieces: Mapping[str, list[Piece]]) -> None:
        """Add Σ over persons of factor · gradient to the buffer."""
        factors = self.rule.factors(sum(map(squared_norms, pieces.values())).sqrt())
        if not bool((factors > 0).all()):
            pieces = {name: [_without(piece, factors == 0) for piece in own] for name, own in pieces.items()}
        for name, own in pieces.items():
            add_weighted(own, factors, self._views[name], self._workspace)

    def _full_precision(self) -> Any:
        """A caller's autocast may shorten what the net computes, and never what bounds it."""
        return torch.autocast(self.sum.device.type, enabled=False)

    def pieces(self, inputs: Any, targets: Any, owners: Tensor | None = None) -> Mapping[str, list[Piece]]:
        """The gradient of each trainable parameter for each person, in its cheapest form; none for no rows."""
        count = rows_in(inputs)
        if count == 0:
            return {}
        self._workspace.start()
        try:
            with torch.enable_grad():
                output = self._forward(inputs, self._tape.start)
                calls = self._tape.calls(_require_losses(self.loss(output, targets), count))
        finally:
            self._tape.stop()
        parts: dict[str, list[Piece]] = defaultdict(list)
        persons = owners_of(owners)
        self.rows_at_once = _WIDE_ROWS if any(_has_positions(call.gradients) for call in calls) else _NARROW_ROWS
        for call in calls:
            for name, piece in self._pieces_of(call):
                parts[self._names[id(call.layer._parameters[name])]].append(_of_persons(piece, persons, count))
        with self._full_precision():
            return {name: cheapest(own, self._workspace) for name, own in parts.items()}

    def _pieces_of(self, call: Call) -> list[tuple[str, Piece]]:
        """The pieces of one call by the parameter's name in its layer."""
        if not layers.is_known(call.layer):
            return list(others.pieces_of(call, self._workspace))
        with self._full_precision():
            return list(layers.pieces_of(call, self._workspace))


def rows_in(inputs: Any) -> int:
    """How many rows a batch has."""
    if isinstance(inputs, Mapping):
        inputs = tuple(inputs.values())
    return len(inputs[0] if isinstance(inputs, (tuple, list)) else inputs)


def _of_persons(piece: Piece, persons: Owners | None, count: int) -> Piece:
    rows = piece.values if isinstance(piece, Plain) else piece.right
    if len(rows) != count:
        what = "whose inputs and outputs have one example in each place of the first axis"
        raise bad_private("module", f"must have layers {what}", "Check it with dp.deep.check(module, example).")
    wide = piece_at_least_single(piece)
    return wide if persons is None or persons.longest == 1 else persons.of_persons(wide)


def _has_positions(gradients: Sequence[Tensor | None]) -> bool:
    """Whether a layer was called at several positions of an example, as in pictures and sequences."""
    return any(gradient is not None and gradient.dim() > 2 for gradient in gradients)


def _require_losses(losses: Any, count: int) -> Tensor:
    """The losses, refused unless there is one number for each example."""
    if isinstance(losses, Tensor) and losses.shape == (count,):
        return losses
    rule = "must give one number for each example, not a mean or a sum over them"
    fix = 'Use reduction="none", and average what belongs to one example.'
    if isinstance(losses, Tensor) and losses.dim() > 1:
        rule = "must give one number for each example, and gives several axes"
        fix = "Give outputs and targets the same shape, and write: lambda o, t: loss(o, t).flatten(1).mean(1)"
    raise bad_private("loss", rule, fix)


def _without(piece: Piece, dropped: Tensor) -> Piece:
    """The piece with zeros in place of the persons in `dropped`, whose numbers need not be finite."""
    match piece:
        case Plain():
            return Plain(piece.values.masked_fill(_shaped(dropped, piece.values), 0), piece.axes)
        case Outer():
            left, right = (part.masked_fill(_shaped(dropped, part), 0) for part in (piece.left, piece.right))
            return Outer(left, right)
        case Picked():
            return Picked(piece.rows, piece.right.masked_fill(_shaped(dropped, piece.right), 0), piece.height)


def _shaped(dropped: Tensor, values: Tensor) -> Tensor:
    return dropped.view(-1, *[1] * (values.dim() - 1))
