"""The informed adversary: who has all rows but one and an exact logistic model has that row too.

    J(w) = Σ ln(1 + e^(−yᵢ w·(1, xᵢ))) + ½ Σ Λⱼwⱼ²          yᵢ = ±1
    ∇J(w) = 0 at the minimum, so c·(1, x) = −Λw − Σ over known rows of cᵢ(1, xᵢ)      cᵢ = −yᵢ/(1 + e^(yᵢ w·(1, xᵢ)))

The right side is known.  Its first entry is c, whose sign is that of −y, and the others divided by it are x.
Condition: w is the minimum, and rows are not shortened (a row that is shortened gives x as well, y only by its sign).
Balle, Cherubin & Hayes, "Reconstructing training data with informed adversaries" (2022).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attack.ceiling import chance_of
from discreet.attack.given import numbers
from discreet.attack.interval import share_interval
from discreet.attack.models.trials import vector
from discreet.attack.result import Result
from discreet.errors import bad_private
from discreet.ndarrays import Floats
from discreet.noise.public import Generator, generator

CLOSE = 1e-6  # the largest error of a row that counts as recovered
_ROWS, _FEATURES, _RIDGE, _DRAWS = 100, 8, 2.0, 200
_GRID = 2**10  # the model's own coding of numbers keeps multiples of 2⁻¹⁰ as they are
_NEWTON_STEPS = 30
_MEASURE = f"share of missing rows that are recovered to within {CLOSE:g}"

Fit = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Recovered:
    """The row that the known rows leave over, its answer ±1, and how well both fit the model: 0 is exactly."""

    row: Floats
    answer: int
    misfit: float


def missing_row(weights: Any, rows: Any, answers: Any, *, ridge: Any, truth: Any = None) -> Result:
    """The one row of a logistic model that is not among the known ones.

    weights    of the model: the intercept's first, then one a column
    rows       all rows but one, as the model saw them
    answers    of those rows, 0 or 1, or −1 and 1
    ridge      Λ: one number, or one a weight (0 where the intercept has no ridge)
    truth      the row itself, for who wants to know the error

    `details` hold the row, its answer and the misfit: how far they are from explaining the model.

    >>> missing_row([0.5, 0.25], [[1.0]], [1], ridge=1.0).details["answer"]
    1
    """
    known = numbers(rows, "rows", dimensions=2)
    line = vector(weights, "weights", known.shape[1] + 1)
    signs = _signs(answers, len(known))
    penalty = vector(np.broadcast_to(ridge, len(line)) if np.ndim(ridge) == 0 else ridge, "ridge", len(line))
    recovered = left_over(line, known, signs, penalty)
    details: dict[str, Any] = {
        "row": recovered.row.tolist(),
        "answer": int(recovered.answer > 0),
        "misfit": recovered.misfit,
    }
    raw = None
    if truth is not None:
        details["error"] = float(np.abs(recovered.row - vector(truth, "truth", known.shape[1])).max())
        raw = float(details["error"] < CLOSE)
    return Result(
        name="missing_row", metric="rows recovered", measure=_MEASURE, raw=raw, private={}, baseline=0.0, ceiling={},
        units="one row, of which the attacker knows all others", trials=1, details=details, of_real_data=True,
        notes=("A misfit near 0 says that row, answer and model belong together.",),
    )  # fmt: skip


def left_over(weights: Floats, rows: Floats, signs: Floats, ridge: Floats) -> Recovered:
    """The row and answer that make the gradient 0."""
    known = _with_ones(rows)
    share = -(ridge * weights) - known.T @ _slopes(known @ weights, signs)
    row = share[1:] / share[0] if share[0] != 0 else np.zeros(len(weights) - 1)
    answer = -1 if share[0] > 0 else 1
    expected = _slopes(np.append(1.0, row) @ weights, np.float64(answer))
    return Recovered(row, answer, float(abs(expected - share[0])))


def exact_minimum(rows: Floats, signs: Floats, ridge: Floats) -> Floats:
    """The weights that minimise J, by Newton's method to the last digits of doubles."""
    design = _with_ones(rows)
    weights = np.zeros(design.shape[1])
    for _ in range(_NEWTON_STEPS):
        slopes = _slopes(design @ weights, signs)
        curvatures = np.abs(slopes) * (1 - np.abs(slopes))
        hessian = design.T @ (design * curvatures[:, None]) + np.diag(ridge)
        step = np.linalg.solve(hessian, ridge * weights + design.T @ slopes)
        weights = weights - step
        if np.abs(step).max() < 1e-15:
            break
    return weights


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """200 rows, each missing once: from the exact minimum, and from the product's output perturbation at each ε."""
    raw = _errors(_exact, generator(seed), _DRAWS)
    private = {epsilon: _errors(_private(epsilon), generator(seed), _DRAWS) for epsilon in epsilons}
    blind = float(2 * _GRID + 1) ** -_FEATURES
    hits = {key: int((errors < CLOSE).sum()) for key, errors in [("raw", raw), *private.items()]}
    return Result(
        name="missing_row",
        metric="rows recovered",
        measure=_MEASURE,
        raw=hits["raw"] / _DRAWS,
        private={epsilon: hits[epsilon] / _DRAWS for epsilon in epsilons},
        baseline=blind,
        ceiling={epsilon: chance_of(float(epsilon), 0.0, without=blind) for epsilon in epsilons},
        units="one row of a logistic model, by add-remove; the attacker knows all others and the ridge",
        trials=_DRAWS,
        intervals={key: share_interval(count, _DRAWS) for key, count in hits.items()},
        notes=(
            f"{_ROWS} invented rows with {_FEATURES} numbers in [−1, 1] and a ridge of {_RIDGE:g}; the private models "
            "are minima of that risk with clipped slopes, and noise (output perturbation, ε alone).",
            f"Numbers are multiples of 1/{_GRID}, and blind guessing names {_FEATURES} of them.",
        ),
        details={
            "largest_error_raw": float(raw.max()),
            "median_error": {epsilon: float(np.median(errors)) for epsilon, errors in private.items()},
        },
    )


def _errors(fit: Fit, chance: Generator, draws: int) -> Floats:
    """The largest error of a coordinate, of each of so many rows that were missing."""
    slope = chance.normal(size=_FEATURES + 1)
    ridge = np.full(_FEATURES + 1, _RIDGE)
    errors = np.empty(draws)
    for draw in range(draws):
        rows = chance.integers(-_GRID, _GRID + 1, size=(_ROWS, _FEATURES)) / _GRID
        signs = np.where(_with_ones(rows) @ slope + chance.logistic(size=_ROWS) > 0, 1.0, -1.0)
        recovered = left_over(fit(rows, signs), rows[1:], signs[1:], ridge)
        errors[draw] = np.abs(np.clip(recovered.row, -1, 1) - rows[0]).max()
    return errors


def _exact(rows: Floats, signs: Floats) -> Floats:
    return exact_minimum(rows, signs, np.full(rows.shape[1] + 1, _RIDGE))


def _private(epsilon: str) -> Fit:
    """The product's own model of the same risk; rows are no longer than √9, so none is shortened."""
    from discreet.learn import LogisticRegression

    def fit(rows: Floats, signs: Floats) -> Floats:
        model = LogisticRegression(
            epsilon=epsilon, bounds=(-1, 1), classes=[-1, 1], solver="output", alpha=str(_RIDGE), norm=3, rows=len(rows)
        )
        model.fit(rows, signs.astype(np.int64))
        weights: Floats = np.append(model.intercept_, model.coef_)
        return weights

    return fit


def _slopes(lines: Any, signs: Any) -> Any:
    """The derivative of ln(1 + e^(−yz)) by z: −y/(1 + e^(yz))."""
    return -signs / (1 + np.exp(np.clip(signs * lines, -700, 700)))


def _with_ones(rows: Floats) -> Floats:
    return np.column_stack([np.ones(len(rows)), rows])


def _signs(answers: Any, length: int) -> Floats:
    """Answers as −1 and 1."""
    given = vector(answers, "answers", length)
    if not set(given.tolist()) <= {-1.0, 0.0, 1.0} or {-1.0, 0.0} <= set(given.tolist()):
        raise bad_private("answers", "must be 0 or 1, or −1 and 1", "Give the class of each known row as a number.")
    return np.where(given > 0, 1.0, -1.0)
