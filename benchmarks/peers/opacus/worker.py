"""Opacus's steps, in each of its modes, on the same nets and batches; its noise is PyTorch's in single precision.

NET ROUNDS COUNT    milliseconds of each kind of step; what a mode cannot train is among the failures
NET KIND memory     bytes that a few steps take
"""

import sys

import torch
from opacus import PrivacyEngine
from opacus.validators import ModuleValidator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.deep_nets import looped, net_of, orders_of, plain_steps, sgd, tell

MODES = ("hooks", "functorch", "ew", "ghost")


def seconds(name: str, form: str, count: int) -> float:
    """CPU seconds of a step, of pictures in the order of memory that is quicker for the mode; the batch is fixed, so
    drawing it is left out."""
    net, inputs, targets = net_of(name)
    if form == "plain":
        return plain_steps(net, inputs, targets, count)
    return min(_private_seconds(name, form, count, order) for order in orders_of(inputs))


def _private_seconds(name: str, form: str, count: int, inputs: torch.Tensor) -> float:
    net, _, targets = net_of(name)
    net = ModuleValidator.fix(net.train())
    loader = DataLoader(TensorDataset(inputs, targets), batch_size=len(targets))
    parts = PrivacyEngine(accountant="rdp").make_private(
        module=net, optimizer=sgd(net), criterion=nn.CrossEntropyLoss(), data_loader=loader,
        noise_multiplier=1.0, max_grad_norm=0.1, poisson_sampling=False, grad_sample_mode=form,
    )  # fmt: skip
    loss = parts[2] if form == "ghost" else nn.CrossEntropyLoss()
    return looped(parts[0], parts[1], loss, inputs, targets, count)


if __name__ == "__main__":
    torch.manual_seed(0)
    tell(seconds, ("plain", *MODES), sys.argv[1:])
