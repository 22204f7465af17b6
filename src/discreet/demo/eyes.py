"""How many people have blue eyes?  One count at ε = 0.1: Laplace noise of scale 1/ε = 10, whatever the population."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.bounded import scalar
from discreet.demo.people import traits
from discreet.mechanism.additive import Additive, laplace
from discreet.ndarrays import Ints
from discreet.noise.public import Generator
from discreet.noise.source import SYSTEM

EPSILON = Fraction(1, 10)
LEVEL = Fraction(95, 100)
POPULATIONS = (1_000, 30_000, 1_000_000)
BLUE = "0.08"
REPEATS = 4000


@dataclass(frozen=True)
class EyeCount:
    """One town's question and answer; `exact` may be shown only because the town is invented."""

    people: int
    exact: int
    answer: int


@dataclass(frozen=True)
class BlueEyes:
    """The same noise for every town: stated before anything is drawn, and measured afterwards."""

    scale: Fraction
    radius: int  # ± at 95 %, stated before
    mean_abs: float  # mean absolute error, stated before
    towns: tuple[EyeCount, ...]
    repeats: int
    within: float  # share of repeated answers inside ±radius
    measured_abs: float  # their mean absolute error


def blue_eyes(chance: Generator) -> BlueEyes:
    """Towns of three sizes, one answer each, and many more answers to see whether the stated ± is true."""
    mechanism = laplace(scalar(1), EPSILON)
    towns = tuple(_eye_count(mechanism, traits(people, BLUE, chance)) for people in POPULATIONS)
    off = np.abs(mechanism(np.zeros(REPEATS, dtype=np.int64), SYSTEM))  # each coordinate has its own noise
    return BlueEyes(
        scale=1 / EPSILON,
        radius=mechanism.radius(LEVEL),
        mean_abs=mechanism.mean_abs,
        towns=towns,
        repeats=REPEATS,
        within=float(np.mean(off <= mechanism.radius(LEVEL))),
        measured_abs=float(np.mean(off)),
    )


def _eye_count(mechanism: Additive, eyes: Ints) -> EyeCount:
    count = int(eyes.sum())
    return EyeCount(eyes.size, count, int(mechanism(count, SYSTEM)))
