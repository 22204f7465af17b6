"""Digits by a small convolutional net, trained by the product's Trainer with exact noise.

The net of Opacus's example with tanh (Papernot et al. 2021) and without its hidden layer: 14,394 weights.  Its first
weights are public: wavelets of 8 angles and 2 phases in the first layer, zeros in the last.  Pixels are 0 … 1.
"""

import time
from math import cos, pi, sin

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.deep_data import DELTA, Pictures, Trial
from discreet import deep

RECIPES = {1.0: (500, 3), 2.93: (700, 4)}  # steps and learning rate
BATCH, CLIP = 2048, 0.1
_SIDE, _ANGLES = 8, 8


def network(seed: int) -> nn.Module:
    """The net with its first weights; the seed draws those of the second layer."""
    torch.manual_seed(seed)
    net = nn.Sequential(
        nn.Conv2d(1, 2 * _ANGLES, _SIDE, 2, padding=3), nn.Tanh(), nn.MaxPool2d(2, 1),
        nn.Conv2d(2 * _ANGLES, 32, 4, 2), nn.Tanh(), nn.MaxPool2d(2, 1),
        nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip
    first, last = net[0], net[-1]
    with torch.no_grad():
        first.weight.copy_(_wavelets())
        for parameter in (first.bias, last.weight, last.bias):
            parameter.zero_()
    return net


def _wavelets() -> Tensor:
    """A pair of waves, even and odd, for each angle: of mean 0 under a Gaussian, and of length 1."""
    rows, columns = np.mgrid[:_SIDE, :_SIDE] - (_SIDE - 1) / 2
    filters = []
    for number in range(_ANGLES):
        angle, frequency = pi * number / _ANGLES, 3 * pi / 8 * (0.8, 1.25)[number % 2]
        along, across = cos(angle) * columns + sin(angle) * rows, cos(angle) * rows - sin(angle) * columns
        envelope = np.exp(-(along**2 + across**2 / 2) / (2 * (_SIDE / 4) ** 2))
        for wave in (np.cos, np.sin):
            wavelet = envelope * wave(frequency * along)
            wavelet -= envelope * wavelet.sum() / envelope.sum()
            filters.append(wavelet / np.linalg.norm(wavelet))
    return torch.from_numpy(np.stack(filters)[:, None]).float()


def falling(progress: float) -> float:
    """The factor of the rate: 1 over the first half, then evenly to 0."""
    return min(1.0, 2 * (1 - progress))


def trial(pictures: Pictures, epsilon: float, seed: int) -> Trial:
    """A training with exact noise and what it reaches."""
    steps, rate = RECIPES[epsilon]
    plan = deep.plan(rows=60_000, batch_size=BATCH, steps=steps, epsilon=str(epsilon), delta=DELTA)
    net, loss = network(seed), nn.CrossEntropyLoss(reduction="none")
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
    trainer = deep.Trainer(net, loss, optimizer, plan=plan, clip=CLIP, schedule=falling)
    cpu, wall = time.process_time(), time.perf_counter()
    trainer.fit((pictures.inputs, pictures.targets))
    spent = time.process_time() - cpu, time.perf_counter() - wall
    return Trial(epsilon, seed, pictures.accuracy(net), *spent)


def trials(pictures: Pictures, seeds: int) -> list[Trial]:
    """Each ε, seed by seed."""
    return [trial(pictures, epsilon, seed) for epsilon in RECIPES for seed in range(seeds)]
