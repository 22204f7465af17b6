"""Noise on answers or on the counts of all cells: what a small database stands beside.

Everybody knows the cells, that counts are not negative, and how many rows N there are.  So noisy answers to K queries
are fitted for nothing: the nearest answers, in squares, that some table of N rows with fractions would give.  Noisy
cells become the nearest counts that are at least 0 and sum to N.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.synth_error import nearest_counts
from discreet import noise
from discreet.ndarrays import Bools, Floats, Ints
from discreet.privacy import calibrate

EPSILON, DELTA, LEVEL = Fraction(1), Fraction(1, 10**9), 0.95
_TOTAL_WEIGHT = 1e4  # of the equation Σ counts = N in a fit, beside one noisy answer


@dataclass(frozen=True)
class Noise:
    """Errors of noise on answers; the formulas need no table, and what is fitted does."""

    rows: int
    epsilon: Fraction = EPSILON

    def laplace(self, queries: int) -> float:
        """Of continuous Laplace noise of scale K/ε: P[all |Y| ≤ t] = (1 − e^(−tε/K))^K."""
        return -queries / float(self.epsilon) * math.log(_miss_of_each(queries)) / self.rows

    def gaussian(self, queries: int) -> float:
        """Of Gaussian noise of σ·√K, by the analytic σ."""
        return self._sigma * math.sqrt(queries) * _spread(queries) / self.rows

    @property
    def _sigma(self) -> float:
        return float(calibrate.gaussian_sigma(self.epsilon, DELTA))

    def cells(self, queries: int, cells: int) -> float:
        """Of the sum over half of the cells, each with Laplace noise of scale 2/ε: by the normal approximation."""
        return 2 * math.sqrt(cells) / float(self.epsilon) * _spread(min(queries, 2 ** min(cells, 60))) / self.rows

    def noises(self, queries: int, runs: int) -> dict[str, Floats]:
        """Draws of the integer noise that would run on K answers, one run a row."""
        scale, sigma = queries / self.epsilon, self._sigma * math.sqrt(queries)
        laplace = [noise.discrete_laplace(scale, queries) for _ in range(runs)]
        gaussian = [noise.rounded_gaussian(sigma, queries) for _ in range(runs)]
        return {"laplace": np.array(laplace, dtype=np.float64), "gaussian": np.array(gaussian, dtype=np.float64)}

    def drawn(self, queries: int, runs: int) -> dict[str, float]:
        """The worst errors of these draws, as shares, in 95 of 100."""
        noises = self.noises(queries, runs)
        return {law: quantile(np.abs(drawn).max(axis=1)) / self.rows for law, drawn in noises.items()}

    def answered(self, truths: Bools, histogram: Ints, runs: int) -> dict[str, float]:
        """Worst errors in 95 of 100 runs of answers to these queries (queries × cells), as noisy and as fitted."""
        asked, told = differing(truths), dict[str, float]()
        matrix = asked.astype(np.float64)
        if not len(asked):
            return dict.fromkeys(("laplace", "laplace fitted", "gaussian", "gaussian fitted"), 0.0)
        for law, drawn in self.noises(len(asked), runs).items():
            answers = drawn + matrix @ histogram
            fits = [fitted_counts(matrix, own, self.rows) for own in answers]
            errors = (np.array(fits) - histogram) @ matrix.T
            told[law] = quantile(np.abs(drawn).max(axis=1)) / self.rows
            told[f"{law} fitted"] = quantile(np.abs(errors).max(axis=1)) / self.rows
        return told

    def cells_answered(self, truths: Bools, histogram: Ints, runs: int) -> float:
        """The same of queries that noisy counts of all cells answer."""
        noises = [noise.discrete_laplace(2 / self.epsilon, len(histogram)) for _ in range(runs)]
        errors = [nearest_counts(histogram + own, self.rows) - histogram for own in np.array(noises, dtype=np.float64)]
        return quantile(np.abs(np.array(errors) @ truths.T.astype(np.float64)).max(axis=1)) / self.rows


def differing(truths: Bools) -> Bools:
    """The queries that need an answer: none that all cells answer alike, and of φ and NOT φ one."""
    turned = truths ^ truths[:, :1]
    queries: Bools = np.unique(turned[turned.any(axis=1)], axis=0)
    return queries


def fitted_counts(matrix: Floats, answers: Floats, rows: int) -> Floats:
    """Counts x ≥ 0 by cell with Σ x = N and the least Σ (matrix·x − answers)²."""
    equations = np.vstack([matrix, np.full(matrix.shape[1], _TOTAL_WEIGHT)])
    counts, _ = nnls(equations, np.append(answers, _TOTAL_WEIGHT * rows))
    scaled: Floats = counts * (rows / counts.sum())
    return scaled


def quantile(errors: Any) -> float:
    """What 95 of 100 errors are at most."""
    return float(np.quantile(np.asarray(errors, dtype=np.float64), LEVEL, method="higher"))


def _miss_of_each(queries: int) -> float:
    """1 − 0.95^(1/K), the chance that each of K errors may take."""
    return -math.expm1(math.log(LEVEL) / queries)


def _spread(queries: int) -> float:
    """Within how many standard deviations K normal errors all lie."""
    return -NormalDist().inv_cdf(_miss_of_each(queries) / 2)
