"""A classifier as a feature: its score tells from which of two neighbours an output came.

Logistic regression in NumPy on the standardised places of the output and their squares, by a few Newton steps with a
ridge (DP-Sniper, Bichsel et al. 2021).  By Neyman & Pearson the best event of a given size is {likelihood ratio ≥ c};
the score stands in for the ratio.
"""

from dataclasses import dataclass

import numpy as np

from discreet.audit.features import Outputs, Values
from discreet.ndarrays import Floats

_STEPS, _RIDGE, _FURTHEST, _MOST = 6, 1e-3, 30.0, 4_000


@dataclass(frozen=True)
class Score:
    """The trained score of each output: large where it looks like the first of the pair."""

    middle: tuple[float, ...]
    spread: tuple[float, ...]
    weights: tuple[float, ...]

    def of(self, outputs: Outputs) -> Values:
        return _product(_design(outputs, np.array(self.middle), np.array(self.spread)), np.array(self.weights))

    def __str__(self) -> str:
        return "classifier score"


def fitted_score(first: Outputs, second: Outputs) -> Score:
    """The score fitted to tell training outputs of one side from those of the other, by the first 4,000 of each."""
    first, second = first[:_MOST], second[:_MOST]
    rows = _rows(np.concatenate([first, second]))
    middle, spread = np.median(rows, axis=0), rows.std(axis=0)
    spread[spread == 0] = 1.0
    x = _design(np.concatenate([first, second]), middle, spread)
    y = np.concatenate([np.ones(len(first)), np.zeros(len(second))])
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(_product(x, weights), -_FURTHEST, _FURTHEST)))
        bend = np.einsum("ni,nj->ij", x * (p * (1 - p))[:, None], x) + _RIDGE * len(x) * np.eye(x.shape[1])
        slope = np.einsum("ni,n->i", x, y - p) - _RIDGE * len(x) * weights
        weights = weights + np.linalg.solve(bend, slope)
    return Score(tuple(middle.tolist()), tuple(spread.tolist()), tuple(weights.tolist()))


def _product(x: Floats, weights: Floats) -> Floats:
    # Not `@`: its threads wait for each other on a busy machine.
    product: Floats = np.einsum("ni,i->n", x, weights)
    return product


def _rows(outputs: Outputs) -> Floats:
    rows: Floats = np.nan_to_num(outputs.reshape(len(outputs), -1).astype(np.float64), posinf=0.0, neginf=0.0)
    return rows


def _design(outputs: Outputs, middle: Floats, spread: Floats) -> Floats:
    z = np.clip((_rows(outputs) - middle) / spread, -_FURTHEST, _FURTHEST)
    return np.hstack([np.ones((len(z), 1)), z, z * z])
