"""Refusals of layers by what they are, before anything is tried: each says why, and what to put in its place."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.nn.utils import parametrize

from discreet.deep.modules.replaced import REPLACEABLE
from discreet.errors import BadValue

_REPLACE = "Replace it by dp.deep.replaced(module)."
_WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel, torch.jit.ScriptModule)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")

Reason = tuple[str, str]  # why the layer is refused, and what to do


def require_suited(module: nn.Module) -> None:
    """Refuse nets with a layer that mixes examples, writes while it computes, or hides what it computes."""
    _require_no_global_hooks()
    for name, layer in module.named_modules():
        for reason_of in _REASONS:
            reason = reason_of(layer)
            if reason is not None:
                what = f"{type(layer).__name__} cannot be clipped person by person"
                why, fix = reason
                if fix == _REPLACE and type(layer) not in REPLACEABLE:
                    fix = "Use PyTorch's own layers, which dp.deep.replaced(module) can replace."
                raise BadValue(f"{what}{f' (layer {name})' if name else ''}.", why, fix)


def _of_wrappers(layer: nn.Module) -> Reason | None:
    if isinstance(layer, _WRAPPERS) or type(layer).__name__ == "OptimizedModule":
        return "It runs the net where hooks of layers are not called.", "Give the net that is inside it."
    return None


def _of_batch_norm(layer: nn.Module) -> Reason | None:
    if not isinstance(layer, nn.modules.batchnorm._NormBase):
        return None
    is_instance = isinstance(layer, nn.modules.instancenorm._InstanceNorm)
    if is_instance and (layer.training and layer.track_running_stats):
        return "Running statistics are written from unprotected examples.", _REPLACE
    if not is_instance and (layer.training or layer.running_mean is None):
        return "Statistics of the batch let one example change the outputs of all others.", _REPLACE
    return None


def _of_embedding(layer: nn.Module) -> Reason | None:
    if not isinstance(layer, (nn.Embedding, nn.EmbeddingBag)):
        return None
    if layer.max_norm is not None:
        return "With max_norm it rewrites weights of the examples that it sees.", _REPLACE
    if layer.scale_grad_by_freq:
        return "With scale_grad_by_freq gradients depend on how often others have the same id.", _REPLACE
    return ("Gradients of sparse=True cannot be clipped.", _REPLACE) if layer.sparse else None


def _of_stock_layers(layer: nn.Module) -> Reason | None:
    """Layers whose weights belong to no linear layer, and stacks with fast paths."""
    recurrent = (nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention)
    if isinstance(layer, recurrent) and any(parameter.requires_grad for parameter in layer.parameters()):
        return "It uses its weights where no hook sees what they are multiplied by.", _REPLACE
    if isinstance(layer, (nn.TransformerEncoder, nn.TransformerEncoderLayer)):
        return "Its fast path is chosen by the padding of the whole batch.", _REPLACE
    return None


def _of_parametrizations(layer: nn.Module) -> Reason | None:
    if parametrize.is_parametrized(layer) and any(parameter.requires_grad for parameter in layer.parameters()):
        why = "Its weight is computed by layers that see no example, such as weight norm."
        return why, f"Train a plain weight; for weight and spectral norm: {_REPLACE}"
    return None


def _of_hooks(layer: nn.Module) -> Reason | None:
    hooks = [hook for name in _HOOKS for hook in getattr(layer, name, {})]
    hooks += [hook for parameter in layer.parameters(recurse=False) for hook in _hooks_of_weight(parameter)]
    if hooks:
        why = "It has hooks, which see unprotected examples and can change what is clipped."
        return why, "Remove the hooks, and write what they do into forward."
    return None


def _of_weights(layer: nn.Module) -> Reason | None:
    tensors = [*layer.parameters(recurse=False), *layer.buffers(recurse=False)]
    if any(is_lazy(tensor) for tensor in tensors):
        return "Its weights have no shape yet.", "Call the net once on an invented example."
    trained = [parameter for parameter in layer.parameters(recurse=False) if parameter.requires_grad]
    if any(parameter.is_complex() or parameter.layout != torch.strided for parameter in trained):
        return "Complex and sparse weights are not clipped here.", "Use real, dense weights."
    if any(tensor.device.type == "meta" for tensor in tensors):
        return "Its weights have no values yet.", "Load or initialise them first."
    return None


_REASONS: tuple[Callable[[nn.Module], Reason | None], ...] = (
    _of_wrappers,
    _of_weights,
    _of_batch_norm,
    _of_embedding,
    _of_stock_layers,
    _of_parametrizations,
    _of_hooks,
)


def _hooks_of_weight(parameter: Any) -> Iterator[Any]:
    if not is_lazy(parameter):
        yield from getattr(parameter, "_backward_hooks", None) or ()
        yield from getattr(parameter, "_post_accumulate_grad_hooks", None) or ()


def _require_no_global_hooks() -> None:
    shared = vars(nn.modules.module)
    if any(shared.get(f"_global{name}") for name in _HOOKS):
        what = "There are hooks on all modules of PyTorch."
        why = "They see unprotected examples and can change what is clipped."
        raise BadValue(what, why, "Remove the global hooks.")
