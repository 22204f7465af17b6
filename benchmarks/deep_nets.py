"""The nets whose steps are timed, and invented batches for them.  PyTorch only, for any environment."""

import json
import statistics
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.memory import peak

WARM = 2  # steps that fill buffers first
CLASSES, WORDS, LENGTH, WIDTH, HEADS = 10, 1000, 32, 64, 4


class Transformer(nn.Module):
    """Two layers over words and their places, whose mean is classified."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.Sequential(*(_layer() for _ in range(2)))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, words: Tensor) -> Tensor:
        """Scores of the classes."""
        places = torch.arange(LENGTH).expand_as(words)
        scores: Tensor = self.head(self.layers(self.words(words) + self.places(places)).mean(1))
        return scores


def _layer() -> nn.Module:
    return nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0, activation="gelu", batch_first=True)


class Recurrent(nn.Module):
    """An LSTM over words, whose last state is classified."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH // 2)
        self.steps = nn.LSTM(WIDTH // 2, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, words: Tensor) -> Tensor:
        """Scores of the classes."""
        scores: Tensor = self.head(self.steps(self.words(words))[0][:, -1])
        return scores


def convolutional() -> nn.Module:
    """The net of Opacus's example for MNIST."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, CLASSES),
    )  # fmt: skip


def perceptron() -> nn.Module:
    """784-256-10."""
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, CLASSES))


@dataclass(frozen=True)
class Case:
    """A net and the size of its batches; so many steps of ours are timed in a round, a quarter of Opacus's."""

    build: Callable[[], nn.Module]
    batch: int
    steps: int
    inputs: Callable[[int], Tensor]


def _words(count: int) -> Tensor:
    return torch.randint(WORDS, (count, LENGTH))


CASES: Mapping[str, Case] = {
    "CNN": Case(convolutional, 256, 5, lambda count: torch.randn(count, 1, 28, 28)),
    "MLP": Case(perceptron, 256, 40, lambda count: torch.randn(count, 784)),
    "MLP, large batch": Case(perceptron, 2048, 8, lambda count: torch.randn(count, 784)),
    "transformer": Case(Transformer, 256, 3, _words),
    "LSTM": Case(Recurrent, 256, 5, _words),
}
TINY = "tiny"
_ALL = {**CASES, TINY: Case(lambda: nn.Linear(2, CLASSES), 2, 1, lambda count: torch.randn(count, 2))}


def net_of(name: str) -> tuple[nn.Module, Tensor, Tensor]:
    """A case's net with its first weights, and a batch."""
    torch.manual_seed(0)
    case = _ALL[name]
    return case.build(), case.inputs(case.batch), torch.randint(CLASSES, (case.batch,))


def orders_of(inputs: Tensor) -> tuple[Tensor, ...]:
    """The batch as it is, and pictures also with channels last in memory, where convolutions are quicker."""
    return (inputs, inputs.to(memory_format=torch.channels_last)) if inputs.dim() == 4 else (inputs,)


@dataclass
class Clock:
    """CPU seconds at the end of each step of an optimizer."""

    ends: list[float]

    @classmethod
    def on(cls, optimizer: torch.optim.Optimizer) -> "Clock":
        """A clock that runs from now on."""
        clock = cls([])
        optimizer.register_step_post_hook(lambda *_: clock.ends.append(time.process_time()))
        return clock

    def of_last(self, count: int) -> float:
        """Seconds of one of the last `count` steps."""
        return (self.ends[-1] - self.ends[-1 - count]) / count


def sgd(net: nn.Module) -> torch.optim.Optimizer:
    """The optimizer of all steps."""
    return torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)


def plain_steps(net: nn.Module, inputs: Tensor, targets: Tensor, count: int) -> float:
    """Seconds of a step of plain PyTorch."""
    return looped(net, sgd(net), nn.CrossEntropyLoss(), inputs, targets, count)


def looped(net: nn.Module, optimizer: Any, loss: Any, inputs: Tensor, targets: Tensor, count: int) -> float:
    """Seconds of a step of the usual loop."""
    clock = Clock.on(getattr(optimizer, "original_optimizer", optimizer))
    for _ in range(WARM + count):
        optimizer.zero_grad()
        loss(net(inputs), targets).backward()
        optimizer.step()
    return clock.of_last(count)


Steps = Callable[[str, str, int], float]  # a net, a kind of step and how many: seconds of one


def tell(steps: Steps, forms: Sequence[str], arguments: Sequence[str]) -> None:
    """`NET ROUNDS COUNT`: milliseconds of a step of each kind, kinds in turns; `NET KIND memory`: bytes of steps."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    if arguments[-1] == "memory":
        print(json.dumps(_memory(steps, arguments[0], arguments[1])))
        return
    name, rounds, count = arguments[0], int(arguments[1]), int(arguments[2])
    each: dict[str, list[float]] = {form: [] for form in forms}
    failures: dict[str, str] = {}
    for turn in range(rounds):
        for form in forms if turn % 2 == 0 else reversed(forms):
            if form in failures:
                continue
            try:
                each[form].append(1000 * steps(name, form, count))
            except Exception as error:  # a mode that cannot train a net says so in many ways
                failures[form] = f"{type(error).__name__}: {error}".splitlines()[0]
    milliseconds = {form: statistics.median(times) for form, times in each.items() if times}
    print(json.dumps({"milliseconds": milliseconds, "failures": failures}))


def _memory(steps: Steps, name: str, form: str) -> dict[str, int]:
    """The most memory that the process held, and by how much the steps raised it once all code was loaded (Linux)."""
    steps(TINY, form, 1)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what is held now: proc(5)
    before = peak()
    steps(name, form, 2)
    return {"peak": peak(), "growth": peak() - before}
