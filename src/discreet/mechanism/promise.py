"""The promise every mechanism makes.

Inputs that differ by at most `sensitivity` give outputs whose laws differ by at most `cost`.  Fields are public; the
exact input and the source of noise enter only as arguments of the call.
"""

from typing import Any, Protocol

import numpy as np

from discreet.bounded import AnySensitivity
from discreet.errors import bad, bad_private
from discreet.ndarrays import Ints
from discreet.noise.source import Source
from discreet.privacy.cost import Cost

# Exact values saturate here: clamping moves no two inputs further apart.  A sum of two such, and the gap between them,
# stays below 2⁶³.
LARGEST = 2**62 - 1
MOST_CANDIDATES = 2**21  # so that the whole-number weights of an exponential choice add up below 2⁶²


class Mechanism(Protocol):
    """The contract; see docs/proofs for one proof per mechanism."""

    @property
    def sensitivity(self) -> AnySensitivity: ...

    @property
    def cost(self) -> Cost: ...

    def __call__(self, exact: Any, source: Source) -> Any: ...


def lattice_vector(exact: Any, name: str = "exact") -> Ints:
    """The input as int64, saturated at ±(2⁶² − 1).

    Refused by type and shape alone, so that no error depends on a value: floats (NaN or not) are refused as floats, and
    integers too large for int64 saturate like any other.
    """
    fix = "Round to the public lattice first and pass whole steps."
    if isinstance(exact, (list, tuple)):
        if not all(isinstance(e, (int, np.integer)) and not isinstance(e, (bool, np.bool_)) for e in exact):
            raise bad_private(name, "must hold whole numbers of lattice steps only", fix)
        return np.array([max(-LARGEST, min(LARGEST, int(e))) for e in exact], dtype=np.int64)
    if isinstance(exact, (int, np.integer)) and not isinstance(exact, bool):
        return np.array(max(-LARGEST, min(LARGEST, int(exact))), dtype=np.int64)
    # Subclasses are refused: a masked array would carry its mask, which is private, past the noise.
    if type(exact) is not np.ndarray or exact.dtype.kind not in "iu":
        raise bad_private(name, "must be a plain array of whole numbers (an integer dtype)", fix)
    if exact.dtype.kind == "u":
        return np.minimum(exact, np.uint64(LARGEST)).astype(np.int64)
    return np.clip(exact.astype(np.int64), -LARGEST, LARGEST)


def scores_vector(scores: Any) -> Ints:
    """Scores of a non-empty list of public candidates."""
    vector = lattice_vector(scores, "scores")
    if vector.ndim != 1 or not 1 <= vector.size <= MOST_CANDIDATES:
        rule = f"must be a flat list of 1 to {MOST_CANDIDATES} candidates"
        raise bad("scores", rule, vector.shape, "Give one score a candidate; on a grid, choose a coarser step.")
    return vector


def saturated_sum(exact: Ints, noise: Ints) -> Ints:
    """exact + noise without wrapping: |exact| < 2⁶², so one clip of the noise is enough.

    The noise is clipped, not the sum: sums clipped where scores may lie would tie in `NoisyMax`, and the first of many
    tied candidates may win far more than e^ε times as often.  Noise reaches 2⁶² with probability below 2⁻¹⁰⁰⁰.
    """
    return exact + np.clip(noise, -LARGEST, LARGEST)
