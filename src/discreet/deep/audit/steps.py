"""Steps of the real training on a handful of persons: many independent ones in one block, for audits of the mechanism.

The net has two layers of one weight each, side by side, and its loss is linear: the gradient of a row (a, b) is (a, b),
whatever the weights are.  The rate of the optimizer is 0, so every step begins at the same weights, and a block of n·T
steps is n independent runs of T.
"""

from fractions import Fraction

import numpy as np
import torch
from torch import Tensor, nn

from discreet.deep.accounting.plan import Plan
from discreet.deep.audit.tiny import Steps, TinyTable
from discreet.deep.clipping.rule import rule_of
from discreet.deep.training.block import Block
from discreet.deep.training.course import Course
from discreet.deep.training.data import Rows, rows_of
from discreet.deep.training.noise import EXACT
from discreet.ndarrays import Floats
from discreet.noise.source import Source

_DELTA, _AT_ONCE = Fraction(1, 10**5), 64


class Aside(nn.Module):
    """a·u + b·v, with u in one layer and v in another."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        """One number for each row."""
        return (self.first(rows[:, :1]) + self.second(rows[:, 1:])).squeeze(1)


def draw_sums(steps: Steps, table: TinyTable, n: int, source: Source) -> Floats:
    """The noisy sums of n runs, as the optimizer is given them, one run in each row."""
    course = course_of(steps, n)
    sums, weights = np.empty((n * steps.steps, 2)), course.parameters

    def note(step: int) -> None:
        sums[step - 1] = [weight.grad.item() for weight in weights]

    Block(course, None, 0, n * steps.steps, note)(private_rows(table), source)
    whole: Floats = sums.reshape(n, -1) * float(course.plan.divisor)
    return whole


def course_of(steps: Steps, n: int) -> Course:
    """The course of n runs in one block."""
    module, rows = Aside().double(), Fraction(steps.divisor) / steps.rate
    plan = Plan(int(rows), steps.rate, n * steps.steps, steps.sigma, _DELTA, Fraction(1))
    optimizer = torch.optim.SGD(module.parameters(), lr=0.0)
    rule = rule_of(steps.clip)
    return Course(module, _outputs, optimizer, plan, rule, steps.max_rows, _AT_ONCE, 0.0, None, EXACT)


def private_rows(table: TinyTable) -> Rows:
    """The rows of all persons."""
    numbers = [row for person in table for row in person]
    units = np.repeat(np.arange(len(table)), [len(person) for person in table])
    inputs = torch.tensor(numbers, dtype=torch.float64).reshape(-1, 2)
    return rows_of((inputs, torch.zeros(len(numbers))), units)


def _outputs(outputs: Tensor, targets: Tensor) -> Tensor:
    return outputs
