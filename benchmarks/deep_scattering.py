"""Digits by a linear layer on scattering coefficients, standardised by noisy sums that ε pays for.

    1  gains of the orders, typed here with the data in view; each row to length 1
    2  − noisy mean; to length 1                                        one sum over all rows, cost Gaussian(20)
    3  ÷ noisy deviation of each channel and of each place; to length 1  one sum over all rows, cost Gaussian(20)
    4  a linear layer, 800 steps on samples of 2,048

σ of the steps is the least with which all three together cost ε at δ.
"""

import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.deep_data import DELTA, Pictures, Trial
from benchmarks.deep_wavelets import ANGLES, CHANNELS, PLACES, features
from discreet import deep
from discreet.privacy import calibrate, price
from discreet.privacy.cost import Together

RATES = {1.2: 120, 2.93: 200}  # learning rates
STEPS, BATCH, CLIP = 800, 2048, 0.1
_GAINS = torch.tensor([1.0] + [6.0] * ANGLES + [4.0] * ANGLES + [20.0] * ANGLES**2)
_SIGMA, _LEAST = 20, 3e-5  # of the sums; the least mean square of a coefficient: an eighth of what all have on average


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Rows × channels × places, and the CPU seconds that they took."""

    train: Tensor
    test: Tensor
    seconds: float


def coefficients(pictures: Pictures) -> Coefficients:
    """The scattering coefficients of all pictures, which nothing private enters."""
    started = time.process_time()
    train, test = features(pictures.inputs), features(pictures.test_inputs)
    return Coefficients(train, test, time.process_time() - started)


def trials(pictures: Pictures, seeds: int, rates: dict[float, int] = RATES) -> tuple[list[Trial], float]:
    """The accuracies seed by seed, and the CPU seconds of the features; noise is exact."""
    shared = coefficients(pictures)
    results = []
    for epsilon in rates:
        for seed in range(seeds):
            cpu, wall = time.process_time(), time.perf_counter()
            net, test = trained(pictures, shared, epsilon, rates[epsilon], seed)
            spent = time.process_time() - cpu, time.perf_counter() - wall
            score = Pictures(shared.train, pictures.targets, test, pictures.test_targets).accuracy(net)
            results.append(Trial(epsilon, seed, score, *spent))
    return results, shared.seconds


def trained(
    pictures: Pictures, shared: Coefficients, epsilon: float, rate: float, seed: int
) -> tuple[nn.Module, Tensor]:
    """The linear layer, and the test rows as it sees them."""
    rows = len(shared.train)
    sums = deep.plan(rows=rows, rate=1, steps=1, sigma=_SIGMA, delta=DELTA)
    beside = Together((sums.cost, sums.cost))
    sigma = calibrate.sampled_sigma(deep.plan(rows=rows, batch_size=BATCH, steps=1, sigma=1, delta=DELTA).rate,
                                    STEPS, str(epsilon), DELTA, beside)  # fmt: skip
    plan = deep.plan(rows=rows, batch_size=BATCH, steps=STEPS, sigma=sigma, delta=DELTA)
    if price.epsilon(Together((beside, plan.cost)), DELTA).value > epsilon:
        raise AssertionError("the parts cost more than ε")

    train, test = (_of_length(part * _GAINS[:, None]) for part in (shared.train, shared.test))
    mean = _noisy_sum(train, sums) / rows
    train, test = _of_length(train - mean), _of_length(test - mean)
    scale = _deviations(_noisy_sum(train.square(), sums) / rows)
    train, test = _of_length(train / scale), _of_length(test / scale)

    torch.manual_seed(seed)
    net = nn.Linear(train.shape[1], 10, bias=False)
    nn.init.zeros_(net.weight)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
    loss = nn.CrossEntropyLoss(reduction="none")
    trainer = deep.Trainer(net, loss, optimizer, plan=plan, clip=CLIP, schedule=lambda done: 1 - done)
    return trainer.fit((train, pictures.targets)), test


def _of_length(rows: Tensor) -> Tensor:
    """Rows as vectors of length 1."""
    return nn.functional.normalize(rows.flatten(1))


def _noisy_sum(rows: Tensor, plan: Any) -> Tensor:
    """The sum of all rows, each of length 1 at most, with exact noise: a row is the gradient of a linear output."""
    layer = nn.Linear(rows.shape[1], 1, bias=False)
    with plan.run((rows, torch.zeros(len(rows))), clip=1) as run:
        for step in run:
            sums = deep.clipped_sum(layer, lambda output, _: output[:, 0], *step.batch, clip=run.clip)
            return step.noisy(sums)["weight"][0] * float(plan.divisor)
    raise AssertionError("a plan has steps")


def _deviations(squares: Tensor) -> Tensor:
    """The root of the part of each channel times that of each place: fewer numbers, so less noise on each.

    What hardly varies, as at the edges, is not raised to the length of the rest.
    """
    table = squares.view(CHANNELS, PLACES**2)
    channels, places = (table.sum(axis, keepdim=True).clamp_min(0) for axis in (1, 0))
    return (channels * places).clamp_min(_LEAST).sqrt().flatten()
