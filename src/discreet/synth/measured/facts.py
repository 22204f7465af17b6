"""What was measured for a synthetic table: columns, cells, σ and the exact share of the price."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.envelope import Part
from discreet.synth.measured.noisy import deviation_of, tables_of
from discreet.synth.plan import SynthPlan


@dataclass(frozen=True)
class Measurement:
    """One noisy table of counts, or the scores of all pairs.

    `deviation` is the standard deviation of the noise of one count of units, `share` the part of ε under Laplace noise,
    or of 1/σ² under Gaussian noise, that the measurement took.
    """

    step: str
    columns: tuple[str, ...]
    cells: int
    deviation: float
    share: Fraction

    def to_json(self) -> dict[str, Any]:
        """As JSON, the share as an exact text."""
        return {
            "step": self.step,
            "columns": list(self.columns),
            "cells": self.cells,
            "deviation": self.deviation,
            "share": str(self.share),
        }


def measurements_of(plan: SynthPlan, parts: Sequence[Part]) -> tuple[Measurement, ...]:
    """All measurements in their order; the shares add up to 1 exactly.

    Within one step tables share by what a unit adds to them: w of Σ w under Laplace noise, w² of Σ w² under Gaussian.
    """
    steps = {str(part.tally["name"]): part for part in parts}
    measured: list[Measurement] = []
    for name, part in steps.items():
        share = Fraction(part.tally["share"])
        if name == "scores":
            pairs = part.tally["pairs"]
            deviation = deviation_of(part) / part.tally["steps"]
            measured.append(Measurement(name, (), len(pairs), deviation, share))
            continue
        power = 1 if plan.price.is_pure else 2
        weights = [Fraction(int(weight)) ** power for weight in part.tally["weights"]]
        for table, weight in zip(tables_of(part), weights, strict=True):
            names = tuple(plan.subject.names[feature] for feature in table.features)
            own = share * weight / sum(weights)
            measured.append(Measurement(name, names, table.counts.size, table.deviation, own))
    return tuple(measured)
