"""Small nets, rows and plans that tests of training share."""

import functools

import torch

from discreet.deep.accounting.plan import plan

CROSS_ENTROPY = torch.nn.CrossEntropyLoss(reduction="none")
COUNT, SIZE = 60, 4


def net(seed=0):
    """Four numbers → three → two classes: 23 weights."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(SIZE, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))


def rows(count=COUNT, seed=1):
    """Inputs and classes."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, SIZE, generator=generator)
    return inputs, (inputs[:, 0] > 0).long()


def sgd(module, rate=0.5):
    return torch.optim.SGD(module.parameters(), lr=rate, momentum=0.9)


@functools.cache
def small_plan(steps=6, sigma="2", scores=0, rate="0.5", rows=COUNT):
    return plan(rows=rows, rate=rate, steps=steps, sigma=sigma, delta="1e-5", scores=scores)


def weights(module):
    return torch.cat([parameter.detach().reshape(-1) for parameter in module.parameters()])
