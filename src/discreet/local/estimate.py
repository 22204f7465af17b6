"""Estimates from tallies: unbiased, with the interval of what they are estimates of.

estimate    (S/n − q)/(p − q), never clipped unless asked
variance    of a population λ̂(1 − λ̂)/(n(p − q)²);  of respondents (q(1 − q) + f̂·(p(1 − p) − q(1 − q)))/(n(p − q)²)
project     "clip": each to [0, 1];  "simplex": the nearest shares that are not negative and add up to 1
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.inert import visible
from discreet.local.code import ValueCode
from discreet.local.interval import population_bounds, respondent_bounds
from discreet.local.reports import Tally
from discreet.ndarrays import Floats

OF = ("population", "respondents")
LARGEST_LEVEL = 1 - Fraction(1, 10**9)  # beyond, doubles cannot tell a tail from nothing
PROJECTIONS = (None, "clip", "simplex")


@dataclass(frozen=True)
class Row:
    """The estimate of a value's share, or of a mean."""

    value: Any
    estimate: float
    low: float
    high: float
    variance: float

    def to_json(self) -> dict[str, Any]:
        """The row as a dict."""
        return {name: getattr(self, name) for name in ("value", "estimate", "low", "high", "variance")}


@dataclass(frozen=True)
class Estimate:
    """Rows of estimates; the intervals are of a `population` (noise and sampling) or of the `respondents` (noise)."""

    rows: tuple[Row, ...]
    people: int
    rejected: int
    level: Fraction
    of: str

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, value: Any) -> Row:
        for row in self.rows:
            if row.value == value:
                return row
        raise bad("value", "must be a value of the question", value, "Look at estimate.rows.")

    def __str__(self) -> str:
        return "\n".join([*(f"{visible(str(row.value))}  {_words(row)}" for row in self.rows), self.words])

    @property
    def words(self) -> str:
        """What the intervals are of."""
        what = "noise and the draw of people" if self.of == "population" else "noise alone"
        return f"{self.people:,} reports; intervals at {float(self.level):.6g} of the {self.of}: {what}."

    def to_json(self) -> dict[str, Any]:
        """The rows and what they are of."""
        rows = [row.to_json() for row in self.rows]
        return {
            "people": self.people,
            "rejected": self.rejected,
            "level": float(self.level),
            "of": self.of,
            "rows": rows,
        }


def _words(row: Row) -> str:
    return f"{row.estimate:.4g}  ({row.low:.4g} … {row.high:.4g})"


def share_estimate(
    code: ValueCode, values: tuple[Any, ...], tally: Tally, *, level: Any, of: Any, project: Any
) -> Estimate:
    """The estimated share of every value."""
    sure, n = require_level(level), require_reports(tally)
    kind = require_of(of)
    if project not in PROJECTIONS:
        raise bad("project", "must be None, 'clip' or 'simplex'", project, "Leave it out for unbiased estimates.")
    p, q = float(code.truth), float(code.lie)
    counts = code.supports(tally.counts)
    shares = (counts / n - q) / (p - q)
    if kind == "population":
        low, high = ((bound - q) / (p - q) for bound in population_bounds(counts, n, sure))
        variances = (counts / n) * (1 - counts / n) / (n * (p - q) ** 2)
    else:
        low, high = respondent_bounds(counts, n, p, q, sure)
        variances = noise_variances(code, np.clip(shares, 0, 1)) / n
    moved = _projected(shares, project)
    if project is not None:  # an estimate that is moved takes the nearer end of its interval along
        low, high = np.minimum(np.clip(low, 0, 1), moved), np.maximum(np.clip(high, 0, 1), moved)
    columns = zip(values, moved, low, high, variances, strict=True)
    rows = tuple(Row(value, float(e), float(a), float(b), float(v)) for value, e, a, b, v in columns)
    return Estimate(rows, n, tally.rejected, sure, kind)


def noise_variances(code: ValueCode, shares: Floats) -> Floats:
    """n times the variance of an estimated share by noise alone: q(1 − q)/(p − q)² + f·(1 − p − q)/(p − q)."""
    p, q = float(code.truth), float(code.lie)
    return q * (1 - q) / (p - q) ** 2 + shares * (1 - p - q) / (p - q)


def require_reports(tally: Tally) -> int:
    """The number of reports; refused where there are none."""
    if tally.reports < 1:
        raise bad("tally", "must have at least one report", tally.reports, "Collect reports first.")
    return tally.reports


def require_level(level: Any) -> Fraction:
    """The level of intervals; refused where it is so near to 1 that no interval but everything has it."""
    sure = amounts.inner_probability(level, "level")
    if sure > LARGEST_LEVEL:
        raise bad("level", "must be at most 0.999999999", level, "Give a number such as 0.95.")
    return sure


def require_of(of: Any) -> str:
    """'population' or 'respondents'."""
    if of not in OF:
        raise bad("of", "must be 'population' or 'respondents'", of, "Leave it out for the population.")
    return str(of)


def _projected(shares: Floats, project: Any) -> Floats:
    match project:
        case "clip":
            return np.clip(shares, 0, 1)
        case "simplex":
            return _nearest_on_simplex(shares)
        case _:
            return shares


def _nearest_on_simplex(shares: Floats) -> Floats:
    """max(f − θ, 0) with θ such that they add up to 1: the nearest point in least squares."""
    falling = np.sort(shares)[::-1]
    thresholds = (np.cumsum(falling) - 1) / np.arange(1, shares.size + 1)
    theta = thresholds[np.flatnonzero(falling > thresholds)[-1]]
    nearest: Floats = np.clip(shares - theta, 0, None)
    return nearest
