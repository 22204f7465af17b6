"""`replaced`: the same net with layers that can be clipped person by person."""

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn.utils import parametrize

from discreet.deep.modules.attention import Attention
from discreet.deep.modules.parts import is_trained
from discreet.deep.modules.recurrent import Recurrent, SingleStep
from discreet.deep.modules.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer
from discreet.errors import BadValue, bad

_MOST_GROUPS, _LEAST_CHANNELS = 32, 4  # of a group norm: Wu & He (2018) take 32 groups
_NORMS_OF_WEIGHTS = {"_WeightNorm", "_SpectralNorm"}  # PyTorch's own parametrizations by their class


def replaced(module: nn.Module) -> nn.Module:
    """A copy of the net in which every layer of these types is another one; the net itself stays as it is.

    BatchNorm1d           GroupNorm of one group. Statistics of a batch mix examples; those of a group do not.
    BatchNorm2d, 3d, Sync GroupNorm of the most groups that divide the channels: at most 32, each of 4 channels or more.
                          Weight and bias are carried over; running statistics are dropped, so outputs change.
    InstanceNorm          the same without running statistics.
    LSTM, GRU, RNN        linear layers called step by step, with the same outputs; so are LSTMCell, GRUCell, RNNCell.
                          Two biases of which only the sum is used are one weight, which a step moves half as far.
    MultiheadAttention    four linear layers, with the same outputs.
    Transformer…Layer     the same around that attention, without fast paths; so are encoders and decoders of them.
    Embedding             without max_norm, scale_grad_by_freq and sparse.
    weight and spectral norm   the weight as it is now, free from then on.

    Weights are carried over, but some under other names, so save and load weights of the net that this gives.
    """
    if not isinstance(module, nn.Module):
        raise bad("module", "must be a torch.nn.Module", module, "Give the net itself.")
    duplicate = copy.deepcopy(module)
    _require_own_weights(duplicate)
    return _replaced(duplicate, {})


def group_count(channels: int) -> int:
    """The most groups of a group norm: divisors of the channels up to 32, with 4 channels or more in each.

    >>> group_count(64), group_count(12), group_count(7), group_count(512)
    (16, 3, 1, 32)
    """
    ceiling = min(_MOST_GROUPS, channels // _LEAST_CHANNELS)
    return next((groups for groups in range(ceiling, 1, -1) if channels % groups == 0), 1)


def _replaced(layer: nn.Module, before: dict[nn.Module, nn.Module]) -> nn.Module:
    """The layer, or what takes its place, with its own submodules replaced; `before` holds what is done already."""
    if layer in before:
        return before[layer]
    if parametrize.is_parametrized(layer):
        _free_weights(layer)
    for name, child in layer._modules.items():
        layer._modules[name] = None if child is None else _replaced(child, before)
    build = _BUILDERS.get(type(layer))
    if build is not None and layer._forward_hooks | layer._forward_pre_hooks:
        what = f"A {type(layer).__name__} with hooks cannot be replaced."
        raise BadValue(what, "The hooks would be lost.", "Remove the hooks first.")
    result = layer if build is None else build(layer)
    before[layer] = result
    return result


def _group_norm(layer: Any) -> nn.Module:
    groups = 1 if isinstance(layer, nn.BatchNorm1d) else group_count(layer.num_features)
    norm = nn.GroupNorm(groups, layer.num_features, eps=layer.eps, affine=layer.affine)
    if layer.affine:
        norm.weight, norm.bias = layer.weight, layer.bias
    norm.training = layer.training
    return norm


def _without_statistics(layer: Any) -> nn.Module:
    layer.track_running_stats = False
    layer.running_mean = layer.running_var = layer.num_batches_tracked = None
    result: nn.Module = layer
    return result


def _plain_embedding(layer: Any) -> nn.Module:
    layer.max_norm, layer.scale_grad_by_freq, layer.sparse = None, False, False
    result: nn.Module = layer
    return result


def _stack(kind: type[nn.Module], inside: type[nn.Module]) -> Callable[[Any], nn.Module]:
    """A builder of encoders or decoders, which must be made of PyTorch's own layers."""

    def build(original: Any) -> nn.Module:
        if not all(isinstance(layer, inside) for layer in original.layers):
            what = f"A {type(original).__name__} of layers of your own cannot be replaced."
            why = "Whether they see examples first is not known."
            raise BadValue(what, why, "Call your layers one after the other in a module of your own.")
        return kind(original)

    return build


_BUILDERS: dict[type[nn.Module], Callable[[Any], nn.Module]] = {
    nn.BatchNorm1d: _group_norm,
    nn.BatchNorm2d: _group_norm,
    nn.BatchNorm3d: _group_norm,
    nn.SyncBatchNorm: _group_norm,
    nn.InstanceNorm1d: _without_statistics,
    nn.InstanceNorm2d: _without_statistics,
    nn.InstanceNorm3d: _without_statistics,
    nn.Embedding: _plain_embedding,
    nn.LSTM: Recurrent,
    nn.GRU: Recurrent,
    nn.RNN: Recurrent,
    nn.LSTMCell: SingleStep,
    nn.GRUCell: SingleStep,
    nn.RNNCell: SingleStep,
    nn.MultiheadAttention: Attention,
    nn.TransformerEncoderLayer: EncoderLayer,
    nn.TransformerDecoderLayer: DecoderLayer,
    nn.TransformerEncoder: _stack(Encoder, EncoderLayer),
    nn.TransformerDecoder: _stack(Decoder, DecoderLayer),
}
REPLACEABLE = frozenset(_BUILDERS)
_REBUILT = (nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention)  # their weights are cut and joined


def _require_own_weights(module: nn.Module) -> None:
    """Refuse to cut weights that another layer shares, as the two would part."""
    uses = Counter(id(parameter) for layer in module.modules() for parameter in layer._parameters.values())
    for name, layer in module.named_modules():
        own = [parameter for parameter in layer._parameters.values() if parameter is not None]
        if isinstance(layer, _REBUILT) and any(uses[id(parameter)] > 1 for parameter in own):
            what = f"{name or type(layer).__name__} shares a weight with another layer."
            raise BadValue(what, "Replaced, the two would no longer be one weight.", "Use linear layers for both.")


def _free_weights(layer: Any) -> None:
    """Make weights of weight norm and spectral norm plain ones, with the values that they have now.

    PyTorch's `remove_parametrizations` also changes the class, which a copy shares with its original.
    """
    chains = dict(layer.parametrizations.items())
    if any(type(part).__name__ not in _NORMS_OF_WEIGHTS for chain in chains.values() for part in chain):
        return
    values = {name: getattr(layer, name).detach().clone() for name in chains}
    del layer.parametrizations
    layer.__class__ = type(layer).__bases__[0]
    for name, chain in chains.items():
        layer.register_parameter(name, nn.Parameter(values[name], requires_grad=is_trained(*chain.parameters())))
