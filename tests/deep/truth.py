"""The slow obvious twin of clipping: one person at a time, by plain autograd in float64."""

import copy

import torch

from discreet.deep.clipping.rule import MARGIN


def person_gradients(module, loss, inputs, targets, owners=None):
    """The gradient of each person by name, one backward pass for each."""
    double = copy.deepcopy(module).double()
    cells = inputs if isinstance(inputs, tuple) else (inputs,)
    cells = tuple(part.double() if part.is_floating_point() else part for part in cells)
    goals = targets.double() if targets.is_floating_point() else targets
    owners = torch.arange(len(targets)) if owners is None else owners
    trained = {name: p for name, p in double.named_parameters() if p.requires_grad}
    for person in owners.unique():
        rows = owners == person
        losses = loss(double(*(part[rows] for part in cells)), goals[rows])
        gradients = torch.autograd.grad(losses.sum(), list(trained.values()), allow_unused=True)
        filled = zip(trained.items(), gradients, strict=True)
        yield {name: torch.zeros_like(p) if own is None else own for (name, p), own in filled}


def clipped_total(module, loss, inputs, targets, owners=None, *, clip):
    """Σ over persons of gradients shortened to `clip`, by name, in float64."""
    total = {}
    for gradient in person_gradients(module, loss, inputs, targets, owners):
        norm = torch.sqrt(sum(part.square().sum() for part in gradient.values()))
        factor = min(1.0, clip * MARGIN / float(norm))
        for name, part in gradient.items():
            total[name] = total.get(name, 0) + factor * part
    return total
