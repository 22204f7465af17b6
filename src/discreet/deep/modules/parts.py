"""Linear layers that hold given weights."""

from torch import Tensor, nn


def linear_of(weight: Tensor, bias: Tensor | None, *, trained: bool = True) -> nn.Linear:
    """A linear layer with these weights; nothing is drawn, so no generator moves."""
    rows, columns = weight.shape
    layer = nn.Linear(columns, rows, bias=bias is not None, device="meta")
    layer.weight = nn.Parameter(weight.detach().clone(), requires_grad=trained)
    if bias is not None:
        layer.bias = nn.Parameter(bias.detach().clone(), requires_grad=trained)
    return layer


def is_trained(*parameters: Tensor | None) -> bool:
    """Whether any of them is trained."""
    return any(parameter is not None and parameter.requires_grad for parameter in parameters)
