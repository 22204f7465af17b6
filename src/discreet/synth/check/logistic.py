"""A plain logistic model of synthetic rows, a number for each cell of each column: nothing is charged for it.

    ln p/(1 − p) = b + Σ_f w_f[cell_f]        least Σ log loss + ½·Σ w²

More than two classes get such a line each, of the class against the rest.  Scores are made by operations that are
rounded row by row, since real rows are scored behind the gate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.ndarrays import Bools, Floats, Ints

_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class Line:
    """b, and for each column a number for each of its cells."""

    intercept: float
    weights: tuple[Floats, ...]

    def of(self, codes: Sequence[Ints]) -> Floats:
        """The line of each row."""
        line = np.full(len(codes[0]), self.intercept)
        for own, code in zip(self.weights, codes, strict=True):
            line += own[code]
        return line


def line_of(codes: Sequence[Ints], sizes: Sequence[int], is_class: Bools) -> Line:
    """The line that tells the class from the rest best."""
    from scipy.optimize import minimize

    sign = np.where(is_class, 1.0, -1.0)
    ends = np.cumsum([1, *sizes])

    def loss(flat: Floats) -> tuple[float, Floats]:
        line = _line(flat, ends).of(codes)
        margin = sign * line
        pull = -sign / (1 + np.exp(np.minimum(margin, 700)))
        slopes = [np.array([pull.sum()])]
        slopes += [np.bincount(code, weights=pull, minlength=size) for code, size in zip(codes, sizes, strict=True)]
        penalised = flat.copy()
        penalised[0] = 0.0
        total = float(np.logaddexp(0, -margin).sum() + penalised @ penalised / 2)
        return total, np.concatenate(slopes) + penalised

    fitted = minimize(loss, np.zeros(ends[-1]), jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS})
    return _line(np.clip(fitted.x, -50, 50), ends)


def _line(flat: Floats, ends: Ints) -> Line:
    return Line(float(flat[0]), tuple(np.split(flat, ends)[1:-1]))
