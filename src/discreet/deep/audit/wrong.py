"""Trainings that are wrong on purpose: the real block with one part exchanged for a mistake that somebody has made.

Each is drawn as `steps.draw_sums` draws the real one.  What catches it is in audit/mutants/deep.py.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discreet.deep.audit.steps import draw_sums
from discreet.deep.audit.tiny import Steps, TinyTable
from discreet.deep.clipping.clipper import Clipper
from discreet.deep.clipping.pieces import Piece, add_weighted, squared_norms
from discreet.deep.clipping.rule import Automatic, Flat
from discreet.deep.training import block, draws, noise
from discreet.deep.training.block import Gradient
from discreet.deep.training.noise import Lattice, LatticeNoise
from discreet.ndarrays import Floats, Ints
from discreet.noise.source import Source

Exchange = tuple[Any, str, Any]  # a module, a name in it, and what stands there instead


class WholeBatch(Clipper):
    """Clips the sum of a batch, not each person's gradient."""

    def add(self, inputs: Any, targets: Any, owners: Tensor | None = None) -> Tensor:
        return super().add(inputs, targets, torch.zeros(len(inputs), dtype=torch.int64))


class RowByRow(Clipper):
    """Clips each row of a person, not their sum."""

    def add(self, inputs: Any, targets: Any, owners: Tensor | None = None) -> Tensor:
        return super().add(inputs, targets)


class FirstLayer(Clipper):
    """Takes the norm over the first layer alone."""

    def _add(self, pieces: Mapping[str, list[Piece]]) -> None:
        factors = self.rule.factors(squared_norms(next(iter(pieces.values()))).sqrt())
        for name, own in pieces.items():
            add_weighted(own, factors, self._views[name], self._workspace)


class BatchMean(Automatic):
    """Divides every gradient by the mean length of the batch's."""

    def factors(self, norms: Tensor) -> Tensor:
        return torch.full_like(norms, self.to) / (norms.mean() + self.stability)


class Unguarded(Flat):
    """Shortens what is longer, and lets pass what is not a number."""

    def factors(self, norms: Tensor) -> Tensor:
        return self.norm / norms.clamp(min=self.norm)


class OneLayer(LatticeNoise):
    """Adds noise to the first layer alone."""

    def add(self, total: Floats) -> None:
        bare = total[1:].copy()
        super().add(total)
        total[1:] = bare


class Repeating(LatticeNoise):
    """Adds to every second step the noise of the step before."""

    _drawn: Ints | None = None

    def _next_noise(self) -> Ints:
        if self._drawn is not None:
            repeated, self._drawn = self._drawn, None
            return repeated
        self._drawn = super()._next_noise().copy()
        return self._drawn


class Silent:
    """Adds nothing, as somebody else has added noise before."""

    def __init__(self, lattice: Lattice, source: Source) -> None:
        pass

    def add(self, total: Floats) -> None:
        pass


class RealisedBatch(Gradient):
    """Divides the sum by the batch that came; the noise is made for the expected one."""

    def total(self, clipper: Clipper, rows: Any, indices: Any, owners: Any) -> Tensor:
        share = self._course.plan.divisor / max(1, indices.size)
        return super().total(clipper, rows, indices, owners).mul_(float(share))


class Leaking(Gradient):
    """Adds to a buffer that is emptied before a run, and not before a step."""

    _buffer: Any = 0
    _taken = 0

    def __init__(self, course: Any, *, steps: int) -> None:
        super().__init__(course)
        self._steps = steps

    def total(self, clipper: Clipper, rows: Any, indices: Any, owners: Any) -> Tensor:
        self._buffer = super().total(clipper, rows, indices, owners) + (self._buffer if self._taken else 0)
        self._taken = (self._taken + 1) % self._steps
        return self._buffer.clone()


class ExampleNoise(Gradient):
    """Gives each gradient noise of its own, so that as much noise comes as there are persons."""

    def __init__(self, course: Any, *, source: Source) -> None:
        super().__init__(course)
        lattice = Lattice(course.noise.size, course.noise.clip, course.plan.sigma)
        root = int(np.sqrt(float(course.plan.divisor)))  # the expected batch is a square
        self._noise = LatticeNoise(replace(lattice, sigma=lattice.sigma / root), source)

    def total(self, clipper: Clipper, rows: Any, indices: Any, owners: Any) -> Tensor:
        total = super().total(clipper, rows, indices, owners)
        for _ in indices:
            self._noise.add(total.numpy())
        return total


def _small_noise(steps: Steps, lattice: Lattice, source: Source) -> LatticeNoise:
    """Noise for the mean, added to the sum, which is divided after it."""
    return LatticeNoise(replace(lattice, sigma=lattice.sigma / steps.divisor), source)


# --- the real block with one part exchanged --------------------------------------------------------------------------


def draw_wrong(name: str, steps: Steps, table: TinyTable, n: int, source: Source) -> Floats:
    """The noisy sums of n runs with that mistake."""
    if name in _RULES:
        steps = replace(steps, clip=_RULES[name])
    parts: dict[str, list[Exchange]] = {
        "sigma-twice": [(draws, "LatticeNoise", partial(_small_noise, steps))],
        "buffer": [(block, "Gradient", partial(Leaking, steps=steps.steps))],
        "noise-by-example": [
            (block, "Gradient", partial(ExampleNoise, source=source)),
            (draws, "LatticeNoise", Silent),
        ],
        **_PARTS,
    }
    with exchange(parts.get(name, [])):
        return draw_sums(steps, table, n, source)


_RULES = {"automatic-unbounded": BatchMean(), "nan": Unguarded(1.0)}
_PARTS: dict[str, list[Exchange]] = {
    "batch-clipped": [(block, "Clipper", WholeBatch)],
    "rows-clipped": [(block, "Clipper", RowByRow)],
    "norm-of-one-layer": [(block, "Clipper", FirstLayer)],
    "noise-on-one-layer": [(draws, "LatticeNoise", OneLayer)],
    "noise-repeated": [(draws, "LatticeNoise", Repeating)],
    "realised-batch": [(block, "Gradient", RealisedBatch)],
    "nan": [(noise, "require_finite", lambda total: None)],
}


@contextmanager
def exchange(parts: list[Exchange]) -> Iterator[None]:
    """Other objects under these names of modules, for as long as the context lasts."""
    before = [(module, name, getattr(module, name)) for module, name, _ in parts]
    try:
        for module, name, part in parts:
            setattr(module, name, part)
        yield
    finally:
        for module, name, part in before:
            setattr(module, name, part)
