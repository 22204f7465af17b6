"""Layers of transformers around our own attention.

PyTorch's layers have fast paths that read weights past all hooks, and one that is chosen by what the padding of the
whole batch looks like.  These have none.  Inside, examples lie along the first axis, whatever `batch_first` says.
Names of submodules are PyTorch's.  Definitions: Vaswani et al. (2017); the documentation of `torch.nn.Transformer`.
"""

from typing import Any

from torch import Tensor, nn


class EncoderLayer(nn.Module):
    """What `nn.TransformerEncoderLayer` computes; its submodules are replaced already."""

    parts = "self_attn linear1 dropout linear2 norm1 norm2 dropout1 dropout2"

    def __init__(self, original: Any) -> None:
        super().__init__()
        _take_parts(self, original)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The sequence after attention to itself and the two linear layers."""
        x = src if self.batch_first else src.transpose(0, 1)

        def attended(y: Tensor) -> Tensor:
            return self.dropout1(_attended(self.self_attn, y, y, src_mask, src_key_padding_mask))

        x = x + attended(self.norm1(x)) if self.norm_first else self.norm1(x + attended(x))
        x = x + self._fed(self.norm2(x)) if self.norm_first else self.norm2(x + self._fed(x))
        return x if self.batch_first else x.transpose(0, 1)

    def _fed(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class DecoderLayer(nn.Module):
    """What `nn.TransformerDecoderLayer` computes; its submodules are replaced already."""

    parts = "self_attn multihead_attn linear1 dropout linear2 norm1 norm2 norm3 dropout1 dropout2 dropout3"

    def __init__(self, original: Any) -> None:
        super().__init__()
        _take_parts(self, original)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The sequence after attention to itself, to the memory, and the two linear layers."""
        x, seen = (part if self.batch_first else part.transpose(0, 1) for part in (tgt, memory))

        def to_itself(y: Tensor) -> Tensor:
            return self.dropout1(_attended(self.self_attn, y, y, tgt_mask, tgt_key_padding_mask))

        def to_memory(y: Tensor) -> Tensor:
            return self.dropout2(_attended(self.multihead_attn, y, seen, memory_mask, memory_key_padding_mask))

        x = x + to_itself(self.norm1(x)) if self.norm_first else self.norm1(x + to_itself(x))
        x = x + to_memory(self.norm2(x)) if self.norm_first else self.norm2(x + to_memory(x))
        x = x + self._fed(self.norm3(x)) if self.norm_first else self.norm3(x + self._fed(x))
        return x if self.batch_first else x.transpose(0, 1)

    def _fed(self, x: Tensor) -> Tensor:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class Encoder(nn.Module):
    """What `nn.TransformerEncoder` computes; its layers are replaced already."""

    def __init__(self, original: Any) -> None:
        super().__init__()
        _take_layers(self, original)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The sequence after all layers."""
        x = src if self.batch_first else src.transpose(0, 1)
        for layer in self.layers:
            x = layer(x, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        x = x if self.norm is None else self.norm(x)
        return x if self.batch_first else x.transpose(0, 1)


class Decoder(nn.Module):
    """What `nn.TransformerDecoder` computes; its layers are replaced already."""

    def __init__(self, original: Any) -> None:
        super().__init__()
        _take_layers(self, original)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The sequence after all layers."""
        masks = {"tgt_mask": tgt_mask, "tgt_key_padding_mask": tgt_key_padding_mask}
        masks |= {"memory_mask": memory_mask, "memory_key_padding_mask": memory_key_padding_mask}
        x, seen = (part if self.batch_first else part.transpose(0, 1) for part in (tgt, memory))
        for layer in self.layers:
            x = layer(x, seen, **masks)
        x = x if self.norm is None else self.norm(x)
        return x if self.batch_first else x.transpose(0, 1)


def _attended(attention: nn.Module, x: Tensor, seen: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor:
    output: Tensor = attention(x, seen, seen, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]
    return output


def _take_parts(layer: Any, original: Any) -> None:
    """Submodules and options of the original; attention inside a layer gets examples first."""
    for name in layer.parts.split():
        setattr(layer, name, getattr(original, name))
    layer.norm_first, layer.activation = original.norm_first, original.activation
    layer.batch_first = original.self_attn.batch_first
    for attention in (layer.self_attn, getattr(layer, "multihead_attn", layer.self_attn)):
        attention.batch_first = True
    layer.training = original.training


def _take_layers(stack: Any, original: Any) -> None:
    """Layers and norm of the original; layers inside a stack get examples first."""
    stack.layers, stack.norm, stack.num_layers = original.layers, original.norm, original.num_layers
    stack.batch_first = original.layers[0].batch_first
    for layer in stack.layers:
        layer.batch_first = True
    stack.training = original.training
