"""A training as a run: blocks of steps, and between them the scores that were paid for.

Each block and each score is a step of the run: stored before it is seen, and the same whenever the run is taken up
again.  Whether the training ends early depends on scores that were shown, and on nothing else.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from struct import pack, unpack

import torch
from torch import Tensor

from discreet.bounded import Bounded
from discreet.deep.accounting.stream import StreamPlan
from discreet.deep.training.block import Block, Report, put, weights_of
from discreet.deep.training.course import Course
from discreet.deep.training.data import Rows
from discreet.deep.training.optimizer import Average
from discreet.deep.training.score import Metric, Score
from discreet.deep.training.state import bytes_of, contents_of, from_bytes
from discreet.errors import IntegrityError
from discreet.run import Run

BLOCKS = 10  # of a training that can be taken up; a block in flight is tried again only if it is cut as it was


@dataclass(frozen=True, eq=False)
class Trained:
    """What a training released: weights in the order of the module, noisy scores, and how many steps it took."""

    weights: tuple[Tensor, ...]
    history: tuple[float, ...]
    steps: int
    is_replayed: bool = False


@dataclass(frozen=True)
class Stops:
    """When a training shows scores, and after how many without a better one it ends; None for never."""

    metric: Metric
    patience: int | None = None

    def is_over(self, history: Sequence[float]) -> bool:
        """Whether the last `patience` scores are all no better than the best one before them."""
        if self.patience is None or len(history) <= self.patience:
            return False
        return max(history[-self.patience :]) <= max(history[: -self.patience])


def train(run: Run, course: Course, rows: Bounded[Rows], stops: Stops, *, blocks: int, report: Report) -> Trained:
    """Train, or go on where an interrupted run stood, or replay a finished one; the module holds the weights."""
    result = run.result()
    is_replayed = result is not None
    if result is None:
        result = run.done(_take_steps(run, course, rows, stops, blocks, report)).stored
    outcome = outcome_of(result, is_replayed)
    put_weights(course, outcome.weights)
    return outcome


def _take_steps(run: Run, course: Course, rows: Bounded[Rows], stops: Stops, blocks: int, report: Report) -> bytes:
    """The result of all blocks, or of those up to an early end."""
    number_of_blocks = 1 if isinstance(course.plan, StreamPlan) else course.scores or blocks
    ends, state, reached, history = ends_of(course.plan.steps, number_of_blocks), None, None, list[float]()
    for number in itertools.count():
        first = 0 if reached is None else reached.step  # of what is stored, however blocks were cut when it began
        if first == course.plan.steps or stops.is_over(history):
            break
        last = next(end for end in ends if end > first)
        state = run.step(f"block {number}", Block(course, state, first, last - first, report), rows, pack=bytes)
        reached = from_bytes(state)
        if course.scores:
            put(reached, course, Average(course.parameters if course.decay else (), course.decay))
            put_weights(course, tuple(weights_of(reached, course.decay)))
            stored = run.step(
                f"score {number}", Score(course, stops.metric), rows, pack=lambda score: pack("<d", score)
            )
            history.append(unpack("<d", stored)[0])
    assert reached is not None
    return bytes_of({"history": history, "steps": reached.step}, tuple(weights_of(reached, course.decay)))


def ends_of(steps: int, blocks: int) -> list[int]:
    """After which steps blocks end, as even as whole steps allow.

    >>> ends_of(10, 4), ends_of(2, 10)
    ([3, 5, 8, 10], [1, 2])
    """
    return sorted({-(-steps * number // blocks) for number in range(1, blocks + 1)})


def outcome_of(result: bytes, is_replayed: bool) -> Trained:
    """The outcome in the stored result of a run."""
    facts, weights = contents_of(result)
    try:
        history = tuple(float(score) for score in facts["history"])
        return Trained(tuple(weights), history, int(facts["steps"]), is_replayed)
    except (KeyError, TypeError, ValueError):
        pass
    raise IntegrityError("What is stored is no result of a training.", "Its facts are others.", "Verify the ledger.")


def put_weights(course: Course, weights: Sequence[Tensor]) -> None:
    """Put released weights into the module."""
    shapes = [(weight.dtype, weight.shape) for weight in weights]
    if shapes != [(parameter.dtype, parameter.shape) for parameter in course.parameters]:
        why = "Its weights have other shapes than the module's."
        raise IntegrityError("The stored training is of another module.", why, "Give the module that it began with.")
    with torch.no_grad():
        for parameter, weight in zip(course.parameters, weights, strict=True):
            parameter.copy_(weight)
    torch.clear_autocast_cache()
