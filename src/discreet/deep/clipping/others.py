"""The pieces of a layer without a formula of its own: its gradient for each example, by `torch.func`.

What the layer was given is run through it once more, example by example side by side, and differentiated by its own
parameters alone.  Layers inside it have pieces of their own.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vjp, vmap

from discreet.deep.clipping.pieces import Plain
from discreet.deep.clipping.tape import Call
from discreet.deep.clipping.workspace import Workspace


def pieces_of(call: Call, workspace: Workspace) -> Iterator[tuple[str, Plain]]:
    """The pieces of the trainable parameters that the layer owns itself."""
    if all(gradient is None for gradient in call.gradients):
        return
    layer, names = call.layer, sorted(call.kwargs)
    own = {name: p.detach() for name, p in layer.named_parameters(recurse=False) if p.requires_grad}
    rest = {name: p.detach() for name, p in layer.named_parameters() if name not in own}
    rest |= dict(layer.named_buffers())
    given = [*call.args, *(call.kwargs[name] for name in names)]
    tensors = [part for part in given if isinstance(part, Tensor)]
    wanted = [place for place, gradient in enumerate(call.gradients) if gradient is not None]

    def gradient_of(cells: tuple[Tensor, ...], cotangents: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """The gradient of one example."""
        single = iter(cells)
        full = [next(single).unsqueeze(0) if isinstance(part, Tensor) else part for part in given]
        args, kwargs = tuple(full[: len(call.args)]), dict(zip(names, full[len(call.args) :], strict=True))

        def outputs(parameters: dict[str, Tensor]) -> tuple[Tensor, ...]:
            output = functional_call(layer, {**rest, **parameters}, args, kwargs)
            parts = output if isinstance(output, (tuple, list)) else (output,)
            return tuple(parts[place] for place in wanted)

        _, pull = vjp(outputs, own)
        (gradients,) = pull(tuple(part.unsqueeze(0) for part in cotangents))
        return dict(gradients)

    cotangents = tuple(call.gradients[place] for place in wanted)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*batching rule.*")  # slower, and right
        gradients: Any = vmap(gradient_of, randomness="different")(tuple(tensors), cotangents)
    for name, values in gradients.items():
        yield name, Plain(values.reshape(len(values), -1))


def owners_of_parameters(module: nn.Module) -> list[nn.Module]:
    """The layers of a module that own trainable parameters themselves, each once."""
    return [layer for layer in module.modules() if any(p.requires_grad for p in layer.parameters(recurse=False))]
