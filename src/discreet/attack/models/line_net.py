"""A language model of single characters, trained on lines: as usual, or privately, a line a person.

    character → 32 numbers → gated recurrent unit of 96 → one of 37 characters

A line's loss is −ln of the chance of the whole line, its end included.
"""

from typing import Any

import numpy as np

from discreet.attack.models.lines import LETTERS
from discreet.attack.packages import require
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import Generator

_EMBEDDED, _HIDDEN = 32, 96
_EPOCHS, _BATCH, _RATE = 12, 16, 5e-3
_PRIVATE_STEPS, _PRIVATE_BATCH, _PRIVATE_RATE, _CLIP = 100, 256, 0.01, 1.0
_AT_ONCE = 2500  # lines that are scored at a time


def line_net(chance: Generator) -> Any:
    """The untrained net; its first weights follow from the generator."""
    require("torch")
    import torch
    from torch import nn

    class LineNet(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(len(LETTERS), _EMBEDDED)
            self.memory = nn.GRU(_EMBEDDED, _HIDDEN, batch_first=True)
            self.output = nn.Linear(_HIDDEN, len(LETTERS))

        def forward(self, given: Any) -> Any:
            return self.output(self.memory(self.embedding(given))[0])

    net = LineNet()
    with torch.no_grad():
        for parameter in net.parameters():
            reach = 1.0 if parameter.shape[0] == len(LETTERS) and parameter.dim() == 2 else _HIDDEN**-0.5
            parameter.copy_(torch.from_numpy(chance.uniform(-reach, reach, size=tuple(parameter.shape))))
        net.output.weight.mul_(_HIDDEN**-0.5)
    return net


def line_losses(outputs: Any, targets: Any) -> Any:
    """The loss of each line; ends of lines after the first do not count."""
    import torch

    counted = torch.ones_like(targets)
    counted[:, 1:] = (targets[:, :-1] != 0).long().cumprod(1)
    losses = torch.nn.functional.cross_entropy(outputs.transpose(1, 2), targets, reduction="none")
    return (losses * counted).sum(1)


def train_plainly(table: Ints, chance: Generator) -> Any:
    """The net after 12 passes over the lines with Adam, without any noise."""
    import torch

    net, rows = line_net(chance), torch.from_numpy(table)
    optimizer = torch.optim.Adam(net.parameters(), lr=_RATE)
    for _ in range(_EPOCHS):
        for places in np.array_split(chance.permutation(len(table)), len(table) // _BATCH):
            batch = rows[torch.from_numpy(places)]
            optimizer.zero_grad()
            line_losses(net(batch[:, :-1]), batch[:, 1:]).mean().backward()
            optimizer.step()
    return net.eval()


def train_privately(table: Ints, epsilon: str, delta: str, chance: Generator) -> Any:
    """The same net trained by the product: each line is a person, (ε, δ) the price of the whole training."""
    import torch

    from discreet import deep

    net, rows = deep.replaced(line_net(chance)), torch.from_numpy(table)
    plan = deep.plan(rows=len(table), batch_size=_PRIVATE_BATCH, steps=_PRIVATE_STEPS, epsilon=epsilon, delta=delta)
    optimizer = torch.optim.Adam(net.parameters(), lr=_PRIVATE_RATE)
    trainer = deep.Trainer(net, line_losses, optimizer, plan=plan, clip=_CLIP, average=None)
    return trainer.fit((rows[:, :-1], rows[:, 1:]))


def losses_of(net: Any, table: Ints) -> Floats:
    """The loss of each line under the net."""
    import torch

    with torch.no_grad():
        parts = torch.from_numpy(table).split(_AT_ONCE)
        losses = [line_losses(net(part[:, :-1]), part[:, 1:]).double().numpy() for part in parts]
    return np.concatenate(losses)


def longest_run(net: Any, line: Ints) -> int:
    """How many characters of a line the net continues by itself, from its best beginning.

    From every beginning of the line the likeliest character follows, again and again, as long as it is the line's.
    """
    import torch

    length = int((line[1:] != 0).sum())
    with torch.no_grad():
        likeliest = net(torch.from_numpy(line)[None, : length + 1])[0].argmax(1).numpy()
    longest = run = 0
    for place in range(length):
        run = run + 1 if likeliest[place] == line[place + 1] else 0
        longest = max(longest, run)
    return longest
