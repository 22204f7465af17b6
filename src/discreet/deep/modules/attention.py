"""Attention of several heads whose projections are linear layers of their own.

    heads   A = softmax(QKᵀ/√d + mask)·V,  Q = query·W_q, K = key·W_k, V = value·W_v        output = A·W_o

`nn.MultiheadAttention` computes the same from one block of weights that no layer owns, and on a fast path that reads
weights past all hooks.  Here four linear layers see examples along the first axis, whatever `batch_first` says.
Definition: Vaswani et al. (2017), section 3.2, and the documentation of `torch.nn.MultiheadAttention`.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.deep.modules.parts import is_trained, linear_of
from discreet.errors import BadValue, bad


class Attention(nn.Module):
    """What `nn.MultiheadAttention` computes, from the same arguments, by four linear layers."""

    def __init__(self, original: nn.MultiheadAttention) -> None:
        super().__init__()
        _require_plain(original)
        self.embed_dim, self.num_heads = original.embed_dim, original.num_heads
        self.kdim, self.vdim = original.kdim, original.vdim
        self.batch_first, self.dropout = original.batch_first, original.dropout
        if original.in_proj_weight is not None:
            block, weights = original.in_proj_weight, original.in_proj_weight.chunk(3)
        else:
            block, weights = None, (original.q_proj_weight, original.k_proj_weight, original.v_proj_weight)
        bias = original.in_proj_bias
        biases = (None, None, None) if bias is None else bias.chunk(3)
        trained = [is_trained(block, bias) or (block is None and is_trained(weight)) for weight in weights]
        self.q_proj = linear_of(weights[0], biases[0], trained=trained[0])
        self.k_proj = linear_of(weights[1], biases[1], trained=trained[1])
        self.v_proj = linear_of(weights[2], biases[2], trained=trained[2])
        self.out_proj = original.out_proj
        self.train(original.training)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The output, and the weights of attention if they are needed; True in a mask means: not attended to.

        `is_causal` only says what `attn_mask` is, so the mask itself is enough.
        """
        if query.dim() != 3:
            rule = "must have three axes, one of them for examples"
            raise bad("query", rule, tuple(query.shape), "Add an axis of one example: query[None].")
        if is_causal and attn_mask is None:
            raise bad("attn_mask", "must be given where is_causal is", None, "Give the causal mask.")
        if not self.batch_first:
            query, key, value = (part.transpose(0, 1) for part in (query, key, value))
        queries, keys, values = (
            layer(part).unflatten(2, (self.num_heads, -1)).transpose(1, 2)
            for layer, part in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        mask = _added_mask(attn_mask, key_padding_mask, queries)
        rate = self.dropout if self.training else 0.0
        if need_weights:
            scores = (queries * queries.shape[-1] ** -0.5) @ keys.transpose(-2, -1)
            weights = (scores if mask is None else scores + mask).softmax(-1)
            weights = functional.dropout(weights, rate, self.training)
            attended = weights @ values
        else:
            attended = functional.scaled_dot_product_attention(queries, keys, values, mask, rate)
        output = self.out_proj(attended.transpose(1, 2).flatten(2))
        if not self.batch_first:
            output = output.transpose(0, 1)
        if not need_weights:
            return output, None
        return output, weights.mean(1) if average_attn_weights else weights


def _added_mask(attention: Tensor | None, padding: Tensor | None, heads: Tensor) -> Tensor | None:
    """Both masks as one number to add to each score, examples × heads × queries × keys or broadcast to that."""
    parts: list[Tensor] = []
    if attention is not None:
        full = attention if attention.dim() == 2 else attention.unflatten(0, (len(heads), -1))
        parts.append(_scores_of(full, heads.dtype))
    if padding is not None:
        parts.append(_scores_of(padding, heads.dtype)[:, None, None, :])
    return sum(parts[1:], start=parts[0]) if parts else None


def _scores_of(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """−∞ where a mask of truth values is true; a mask of numbers as it is."""
    if mask.dtype != torch.bool:
        return mask.to(dtype)
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -torch.inf)


def _require_plain(original: Any) -> None:
    if original.bias_k is not None or original.add_zero_attn:
        what = "Attention with add_bias_kv or add_zero_attn cannot be replaced."
        why = "Their keys and values belong to no layer."
        raise BadValue(what, why, "Make nn.MultiheadAttention without these two options.")
