"""A block of steps as one mechanism: from rows and a released state to the next released state.

    sample    every person by a coin of her own, with at most max_rows of her rows
    sum       of gradients clipped person by person, some rows differentiated at a time (at_once)
    noise     on the sum, which is then divided by the public expected batch
    step      of the optimizer, which sees nothing else; then the average takes the weights in

Nothing of a block is handed out before the gate has stored it.  Proof page: docs/proofs/deep/training.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from discreet.bounded import RowLimit
from discreet.deep.clipping.clipper import Clipper
from discreet.deep.clipping.secret import secret_draws
from discreet.deep.training.adam import Adam
from discreet.deep.training.course import Course
from discreet.deep.training.data import Rows
from discreet.deep.training.draws import cost_of_steps, samples
from discreet.deep.training.optimizer import Average, Rates
from discreet.deep.training.state import State, from_bytes
from discreet.ndarrays import Ints
from discreet.noise.source import Source
from discreet.privacy.cost import Cost

Report = Callable[[int], None]  # of the number of steps that were taken


@dataclass(frozen=True, eq=False)
class Block:
    """`count` steps of a course after the first `first`, from the state `begun`, or from the module as it is."""

    course: Course
    begun: bytes | None
    first: int
    count: int
    report: Report = lambda step: None

    @property
    def sensitivity(self) -> RowLimit:
        """Rows of which each person brings at most so many to a step."""
        return RowLimit(self.course.max_rows)

    @property
    def cost(self) -> Cost:
        """What these steps cost."""
        return cost_of_steps(self.course.plan, self.count)

    def __call__(self, exact: Rows, source: Source) -> bytes:
        """The state after these steps."""
        course = self.course
        average = Average(course.parameters if course.decay else (), course.decay)
        if self.begun is not None:
            put(from_bytes(self.begun), course, average)
        noise = course.noise.begin(source)
        rates, gradient = Rates(course.optimizer, course.factors), Gradient(course)
        course.module.train()
        clipper = Clipper(course.module, course.loss, clip=course.rule, precision=course.precision)
        try:
            with clipper, secret_draws(source):
                drawn = samples(course.plan, exact.persons, course.max_rows, self.count, source)
                for step, (indices, owners) in enumerate(drawn, self.first):
                    total = gradient.total(clipper, exact, indices, owners)
                    noise.add(total.numpy())
                    rates.set(step)
                    gradient.take(total)
                    if course.decay:
                        average.add(course.parameters)
                    self.report(step + 1)
        finally:
            rates.restore()
            gradient.clear()
        return state_of(course, average, self.first + self.count).to_bytes()


class Gradient:
    """The gradient that the optimizer sees in one block, in a buffer."""

    def __init__(self, course: Course) -> None:
        self._course, parameters = course, course.parameters
        self._flat = torch.zeros(course.noise.size, dtype=parameters[0].dtype, device=parameters[0].device)
        sizes = [parameter.numel() for parameter in parameters]
        parts = zip(self._flat.split(sizes), parameters, strict=True)
        self._parts = [part.view(parameter.shape) for part, parameter in parts]
        self._scale = 1 / float(course.plan.divisor)
        if isinstance(course.optimizer, Adam):
            course.optimizer.noise_variance = course.noise_variance

    def total(self, clipper: Clipper, rows: Rows, indices: Ints, owners: Ints | None) -> Tensor:
        """Σ over the persons of a sample of their clipped gradients; a buffer."""
        clipper.begin()
        at_once = self._course.at_once or clipper.rows_at_once
        for part in slices(indices.size, owners, max(at_once, self._course.max_rows)):
            clipper.add(*rows.pick(indices[part]), None if owners is None else torch.from_numpy(owners[part]))
        return clipper.sum

    def take(self, noisy: Tensor) -> None:
        """One step of the optimizer along a noisy sum divided by the public expected batch."""
        if self._flat.dtype == noisy.dtype and self._flat.device == noisy.device:
            torch.mul(noisy, self._scale, out=self._flat)
        else:
            noisy *= self._scale
            self._flat.copy_(noisy)
        for parameter, part in zip(self._course.parameters, self._parts, strict=True):
            parameter.grad = part
        self._course.optimizer.step()
        torch.clear_autocast_cache()  # which holds the weights from before the step

    def clear(self) -> None:
        """Take the gradients off the parameters."""
        for parameter in self._course.parameters:
            parameter.grad = None


def slices(count: int, owners: Ints | None, at_once: int) -> list[slice]:
    """A sample cut into about equal parts of whole persons: at_once rows on average, and at most half as many more.

    One person's rows beyond that come on top.

    >>> slices(10, None, 4)
    [slice(0, 5, None), slice(5, 10, None)]
    """
    if count == 0:
        return []
    number = max(1, round(count / at_once))
    ends = [count * part // number for part in range(number + 1)]
    if owners is not None:
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        ends = [0, *starts[np.searchsorted(starts, ends[1:-1], side="right") - 1].tolist(), count]
    return [slice(first, last) for first, last in pairwise(ends) if last > first]


# --- states ----------------------------------------------------------------------------------------------------------


def state_of(course: Course, average: Average, step: int) -> State:
    """The state of a course as it is now."""
    memory = course.optimizer.state
    return State(
        step,
        tuple(parameter.detach() for parameter in course.parameters),
        tuple(average.values),
        tuple(dict(memory.get(parameter, {})) for parameter in course.parameters),
    )


def put(state: State, course: Course, average: Average) -> None:
    """Put a released state into the module, the optimizer and the average."""
    with torch.no_grad():
        for parameter, weight in zip(course.parameters, state.weights, strict=True):
            parameter.copy_(weight)
        for value, stored in zip(average.values, state.averages, strict=True):
            value.copy_(stored)
    torch.clear_autocast_cache()
    average.count = state.step
    for parameter, remembered in zip(course.parameters, state.optimizer, strict=True):
        course.optimizer.state[parameter] = {
            name: value.to(parameter.device) if isinstance(value, Tensor) and value.dim() else value
            for name, value in remembered.items()
        }


def weights_of(state: State, decay: float) -> Iterator[Tensor]:
    """The weights that a training gives: their average, or those of the last step."""
    if not decay:
        return iter(state.weights)
    share = 1 - decay**state.step
    return (value / share for value in state.averages)
