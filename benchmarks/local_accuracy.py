"""Errors of local protocols: n·MSE beside the formula, and what `auto` gives away."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import BadValue
from discreet.local import auto, hashed, kary, subset, unary
from discreet.local.code import mean_noise
from discreet.local.field import orders

PEOPLE, VALUES, SURVEYS, COMMON = 4_000_000, 1024, 6, 700
_UNARY_PEOPLE = 100_000
EPSILONS = ("0.1", "0.5", "1", "2", "4")
SIZES = (2, 3, 10, 32, 100, 1024)
ROOMS = (None, 1, 2, 128)


@dataclass(frozen=True)
class Error:
    """n·MSE over all values and surveys, and what the formula says."""

    protocol: str
    people: int
    measured: float
    formula: float

    @property
    def ratio(self) -> float:
        """Measured over formula."""
        return self.measured / self.formula


def errors(people: int = PEOPLE, surveys: int = SURVEYS) -> list[Error]:
    """Half the people hold one value of 1,024, the others all values alike; ε = 1."""
    unary_people = min(people, _UNARY_PEOPLE)
    return [
        error("hashed", hashed(1, VALUES), people, surveys),
        error("k-ary", kary(1, VALUES), people, surveys),
        error("unary", unary(1, VALUES), unary_people, surveys),
    ]


def error(name: str, protocol: Any, people: int, surveys: int) -> Error:
    """The error of one protocol."""
    answers = np.where(np.arange(people) % 2 == 0, COMMON, np.arange(people) // 2 % VALUES)
    shares = np.bincount(answers, minlength=VALUES) / people
    squares = []
    for _ in range(surveys):
        rows = protocol.estimate(protocol.aggregate(protocol.encode(answers))).rows
        squares.append(people * float(np.mean((np.array([row.estimate for row in rows]) - shares) ** 2)))
    return Error(name, people, float(np.mean(squares)), float(mean_noise(protocol.code)))


def regret() -> tuple[float, str]:
    """The largest noise variance of `auto` over that of the best protocol that fits, minus 1, and where."""
    worst = (0.0, "")
    for epsilon in EPSILONS:
        for size in SIZES:
            rivals = _offered(epsilon, size)
            for room in ROOMS:
                fitting = [rival for rival in rivals if room is None or rival.report_bytes <= room]
                if fitting:
                    best = min(mean_noise(rival.code) for rival in fitting)
                    lost = float(mean_noise(auto(epsilon, size, max_bytes=room).code) / best) - 1
                    worst = max(worst, (lost, f"ε = {epsilon}, {size:,} values, {room or 'any'} bytes"))
    return worst


def _offered(epsilon: str, size: int) -> list[Any]:
    builders = [lambda: kary(epsilon, size), lambda: subset(epsilon, size), lambda: unary(epsilon, size)]
    builders += [lambda order=order: hashed(epsilon, size, order) for order in orders()]
    protocols = []
    for build in builders:
        try:
            protocols.append(build())
        except BadValue:
            continue
    return protocols
