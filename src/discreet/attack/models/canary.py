"""Canaries: a secret line that was planted in the rows, and how much a model prefers it to all lines like it.

    exposure = log₂|R| − log₂ rank        rank of the secret by its loss among |R| secrets that could have been planted

A secret that is never trained on has a uniform rank, so its exposure is above b bits with chance 2⁻ᵇ: 1 bit in the
median.  With k copies of the line, each a unit, P[rank ≤ r] ≤ e^{kε}·r/|R| + δₖ; so the median of the exposure is at
most log₂(e^{kε}/(½ − δₖ)).  Carlini, Liu, Erlingsson, Kos & Song, “The Secret Sharer” (2019).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attack.ceiling import chance_of, group_terms
from discreet.attack.models import line_net
from discreet.attack.models.lines import PREFIX, SECRETS, codes, invented_lines, secret_codes, secret_line
from discreet.attack.models.trials import middle_interval, vector
from discreet.attack.result import Result
from discreet.errors import bad_private
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import Generator, generator

_LINES, _REPEATS, _FEWER = 1520, 4, (0, 1, 2)
_SEEDS, _PRIVATE_SEEDS, _DELTA = 5, 3, "1e-6"
_MOST = math.log2(SECRETS)
BLIND = 1.0  # the median of the exposure where the rank is uniform

Train = Callable[[Ints, Generator], Any]


@dataclass(frozen=True)
class Training:
    """What one training gave away of its secret: exposure in bits, characters recited, and its loss on other lines."""

    exposure: float
    recited: int
    bits: float  # a character, on lines that it was not trained on


def canary(losses: Any, secret: int) -> Result:
    """The exposure of one secret under a model of one's own.

    losses   the model's loss on the text of every secret that could have been planted, one a secret
    secret   the place of the one that was

    >>> canary([2.0, 1.0, 3.0, 4.0], 1).raw
    2.0
    """
    values = vector(losses, "losses")
    if not isinstance(secret, int) or not 0 <= secret < len(values):
        raise bad_private("secret", "must be a place among the losses", "Count from 0.")
    return Result(
        name="canary", metric="exposure in bits", measure=f"exposure of a secret of {math.log2(len(values)):.3g} bits",
        raw=exposure(values, secret), private={}, baseline=BLIND, ceiling={},
        units="all copies of the secret's line", trials=1, of_real_data=True,
        details={"rank": rank(values, secret), "secrets": len(values)},
    )  # fmt: skip


def rank(losses: Floats, secret: int) -> int:
    """The place of the secret, from 1; among equal losses it is the last."""
    return int((losses <= losses[secret]).sum())


def exposure(losses: Floats, secret: int) -> float:
    """log₂|R| − log₂ rank."""
    return math.log2(len(losses)) - math.log2(rank(losses, secret))


def median_ceiling(epsilon: float, delta: float, *, group: int, secrets: int) -> float:
    """The largest median of the exposure that is possible, in bits.

    >>> round(median_ceiling(1.0, 0.0, group=4, secrets=10_000), 2)
    6.77
    """
    loss, chance = group_terms(epsilon, delta, group)
    bits = math.log2(secrets)
    return bits if chance >= 0.5 else min(bits, loss / math.log(2) - math.log2(0.5 - chance))


def training_of(train: Train, repeats: int, seed: int, *, lines: int = _LINES) -> Training:
    """One training on invented lines with one secret, so many times."""
    chance = generator(seed)
    secret = int(chance.integers(SECRETS))
    others, fresh = invented_lines(lines, chance), codes(invented_lines(lines // 4, chance))
    net = train(codes(others + [secret_line(secret)] * repeats), chance)
    characters = int((fresh != 0).sum()) + len(fresh)
    return Training(
        exposure(line_net.losses_of(net, secret_codes()), secret),
        line_net.longest_run(net, codes([secret_line(secret)])[0]),
        float(line_net.losses_of(net, fresh).sum()) / math.log(2) / characters,
    )


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """Small language models with a pin planted four times: five trained as usual, three privately at each ε."""
    raw = [training_of(line_net.train_plainly, _REPEATS, seed + place) for place in range(_SEEDS)]
    fewer = {str(repeats): training_of(line_net.train_plainly, repeats, seed) for repeats in _FEWER}
    private = {
        epsilon: [training_of(_private(epsilon), _REPEATS, seed + place) for place in range(_PRIVATE_SEEDS)]
        for epsilon in epsilons
    }
    delta = float(_DELTA)
    columns = {"raw": raw, **private}
    exposures = {key: [training.exposure for training in column] for key, column in columns.items()}
    return Result(
        name="canary",
        metric="exposure in bits",
        measure=f"median exposure of a secret of {_MOST:.3g} bits that is {_REPEATS} of {_LINES + _REPEATS:,} lines",
        raw=float(np.median(exposures["raw"])),
        private={epsilon: float(np.median(exposures[epsilon])) for epsilon in epsilons},
        baseline=BLIND,
        ceiling={
            epsilon: median_ceiling(float(epsilon), delta, group=_REPEATS, secrets=SECRETS) for epsilon in epsilons
        },
        units=f"the group of {_REPEATS} lines that hold the secret, each a unit, by add-remove; δ = {_DELTA}",
        trials=_PRIVATE_SEEDS if epsilons else _SEEDS,
        intervals_are="from the least to the most of the trainings, which are too few for 95 %",
        intervals={key: middle_interval(values) for key, values in exposures.items()},
        notes=(
            f"{_SEEDS} trainings without noise, {_PRIVATE_SEEDS} at each ε; intervals go from the least to the most "
            "of them, and are no 95 % intervals.",
            f"A model recites the characters of “{PREFIX}dddd” that it continues by itself.",
        ),
        details={
            "trainings": {key: len(column) for key, column in columns.items()},
            "exposure": exposures,
            "exposure_by_repeats": {repeats: training.exposure for repeats, training in fewer.items()},
            "longest_run": {key: max(training.recited for training in column) for key, column in columns.items()},
            "bits_a_character": {
                key: float(np.median([training.bits for training in column])) for key, column in columns.items()
            },
            "chance_of_rank_1_at_most": {
                epsilon: chance_of(float(epsilon), delta, without=1 / SECRETS, group=_REPEATS) for epsilon in epsilons
            },
        },
    )


def _private(epsilon: str) -> Train:
    return lambda table, chance: line_net.train_privately(table, epsilon, _DELTA, chance)
