"""The pieces of each layer's parameters, from one recorded call: what it was given, and the gradient at its output.

    Linear               weight Σ_t g_t ⊗ x_t          bias Σ_t g_t
    Conv1d, Conv2d       as Linear, where x_t is the patch of the input that the output's place t sees
    Embedding            Σ_t e(id_t) ⊗ g_t, without places of `padding_idx`
    LayerNorm, RMSNorm, GroupNorm, InstanceNorm
                         weight Σ_t g_t · x̂_t          bias Σ_t g_t, with x̂ the normalised input

Examples lie along the first axis.  Layers of another type, and subclasses, are in `others`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.deep.clipping.pieces import Outer, Picked, Piece, Plain, at_least_single
from discreet.deep.clipping.rule import is_ghost_cheaper
from discreet.deep.clipping.tape import Call
from discreet.deep.clipping.workspace import CACHED, Workspace

Pieces = Iterator[tuple[str, Piece]]  # the name of a parameter of the layer, and a piece of its gradient


def is_known(layer: nn.Module) -> bool:
    """Whether the layer's own formula is used: its exact type, and options for which the formula holds."""
    match layer:
        case nn.Embedding():
            is_plain = layer.max_norm is None and not layer.scale_grad_by_freq and not layer.sparse
        case nn.InstanceNorm1d() | nn.InstanceNorm2d() | nn.InstanceNorm3d():
            is_plain = not layer.track_running_stats
        case _:
            is_plain = True
    return is_plain and type(layer) in _FORMULAS and not hasattr(layer, "parametrizations")


def pieces_of(call: Call, workspace: Workspace) -> Pieces:
    """The pieces of the trainable parameters of a known layer."""
    gradient = call.gradients[0]
    if gradient is None:
        return
    (given,) = call.args or (call.kwargs["input"],)
    given, gradient = at_least_single(given), at_least_single(gradient)
    wanted = {name for name, parameter in call.layer._parameters.items() if parameter is not None}
    for name, piece in _FORMULAS[type(call.layer)](call.layer, given, gradient, workspace):
        if name in wanted and call.layer._parameters[name].requires_grad:
            yield name, piece


def _linear(layer: Any, given: Tensor, gradient: Tensor, workspace: Workspace) -> Pieces:
    left, right = _positions(gradient), _positions(given)
    yield "weight", Outer(left, right)
    if layer.bias is not None:
        yield "bias", Plain(left.sum(1) if left.shape[1] > 1 else left[:, 0])


def _convolution(layer: Any, given: Tensor, gradient: Tensor, workspace: Workspace) -> Pieces:
    left = gradient.flatten(2)  # examples × channels × places
    if layer.weight.requires_grad:
        rows, channels, *window = layer.weight.shape
        if layer.groups == 1 and is_ghost_cheaper(left.shape[2], rows, layer.weight[0].numel()):
            patches = _patches(layer, given)
            axes = gradient.dim() - 2
            right = patches.permute(0, *range(1, axes + 1), 2 * axes + 1, *range(axes + 1, 2 * axes + 1))
            copied = workspace.take(given, *right.shape).copy_(right)
            yield "weight", Outer(left.transpose(1, 2), copied.view(len(left), left.shape[2], -1))
        else:
            matrices = _matrices(layer, left, given, workspace)
            in_order = (0, len(window) + 1, *range(1, len(window) + 1))
            yield "weight", Plain(matrices.view(-1, rows, *window, channels), in_order)
    if layer.bias is not None:
        yield "bias", Plain(left.sum(2))


def _matrices(layer: Any, left: Tensor, given: Tensor, workspace: Workspace) -> Tensor:
    """Σ_t g_t ⊗ patch_t of each example; patches are copied for a few examples at a time, which stay in the cache."""
    groups, (examples, rows, places) = layer.groups, left.shape
    width = layer.weight[0].numel()
    matrices = workspace.take(left, examples, rows, width)
    few = max(1, min(examples, CACHED // (places * width * groups)))
    for group, cells in enumerate(given.chunk(groups, 1)):
        patches, own = _patches(layer, cells), slice(group * rows // groups, (group + 1) * rows // groups)
        copied = workspace.take(left, few, *patches.shape[1:])
        for start in range(0, examples, few):
            block = slice(start, min(start + few, examples))
            right = copied[: block.stop - start].copy_(patches[block]).view(-1, places, width)
            if groups == 1:
                torch.bmm(left[block], right, out=matrices[block])
            else:
                matrices[block, own] = torch.bmm(left[block, own], right)
    return matrices


def _patches(layer: Any, given: Tensor) -> Tensor:
    """Examples × places … × window … × channels: for each place of the output the patch that it sees, as a view.

    Channels come last, so that a patch is a few long runs of memory.
    """
    axes = given.dim() - 2
    patches = functional.pad(given, layer._reversed_padding_repeated_twice, mode=_padding_mode(layer))
    patches = patches.movedim(1, -1).contiguous().movedim(-1, 1)
    for axis, (size, step, spread) in enumerate(zip(layer.kernel_size, layer.stride, layer.dilation, strict=True), 2):
        patches = patches.unfold(axis, spread * (size - 1) + 1, step)[..., ::spread]
    return patches.permute(0, *range(2, 2 + 2 * axes), 1)


def _padding_mode(layer: Any) -> str:
    return "constant" if layer.padding_mode == "zeros" else str(layer.padding_mode)


def _embedding(layer: Any, given: Tensor, gradient: Tensor, workspace: Workspace) -> Pieces:
    rows = given.reshape(len(given), -1)
    right = gradient.reshape(*rows.shape, -1)
    if layer.padding_idx is not None:
        right = right.masked_fill((rows == layer.padding_idx).unsqueeze(2), 0)
    yield "weight", Picked(rows, right, layer.num_embeddings)


def _layer_norm(layer: Any, given: Tensor, gradient: Tensor, workspace: Workspace) -> Pieces:
    shape = layer.normalized_shape
    normal = functional.layer_norm(given, shape, eps=layer.eps)
    yield from _scale_and_shift(normal, gradient, tuple(range(1, given.dim() - len(shape))))


def _rms_norm(layer: Any, given: Tensor, gradient: Tensor, workspace: Workspace) -> Pieces:
    shape = layer.normalized_shape
    normal = functional.rms_norm(given, shape, eps=layer.eps)
    yield from _scale_and_shift(normal, gradient, tuple(range(1, given.dim() - len(shape))))


def _group_norm(layer: Any, given: Tensor, gradient: Tensor, workspace: Workspace) -> Pieces:
    normal = functional.group_norm(given, layer.num_groups, eps=layer.eps)
    yield from _scale_and_shift(normal, gradient, tuple(range(2, given.dim())))


def _instance_norm(layer: Any, given: Tensor, gradient: Tensor, workspace: Workspace) -> Pieces:
    normal = functional.instance_norm(given, eps=layer.eps)
    yield from _scale_and_shift(normal, gradient, tuple(range(2, given.dim())))


def _scale_and_shift(normal: Tensor, gradient: Tensor, places: tuple[int, ...]) -> Pieces:
    """Weight and bias of a norm, added up over the axes `places`."""
    scale = gradient * normal
    yield "weight", Plain((scale.sum(places) if places else scale).flatten(1))
    yield "bias", Plain((gradient.sum(places) if places else gradient).flatten(1))


def _positions(values: Tensor) -> Tensor:
    """Examples × positions × numbers: all axes between the first and the last are positions."""
    return values.unsqueeze(1) if values.dim() == 2 else values.flatten(1, -2)


_FORMULAS: dict[type[nn.Module], Callable[[Any, Tensor, Tensor, Workspace], Pieces]] = {
    nn.Linear: _linear,
    nn.modules.linear.NonDynamicallyQuantizableLinear: _linear,
    nn.Conv1d: _convolution,
    nn.Conv2d: _convolution,
    nn.Embedding: _embedding,
    nn.LayerNorm: _layer_norm,
    nn.RMSNorm: _rms_norm,
    nn.GroupNorm: _group_norm,
    nn.InstanceNorm1d: _instance_norm,
    nn.InstanceNorm2d: _instance_norm,
    nn.InstanceNorm3d: _instance_norm,
}
