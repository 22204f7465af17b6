"""How far a person's gradient is shortened, and by which of two formulas its norm is computed.

    flat        factor = min(1, C / norm)            the norm of the clipped gradient is at most C
    automatic   factor = C / (norm + γ)              below C, for every gradient (Bu, Wang, Zha & Karypis 2023a)

Factors are computed for a norm that is at least the true one, and for C(1 − 2⁻¹⁰) instead of C: what rounding can add
to a clipped gradient has room in the rest (docs/proofs/deep/clipping.md).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from discreet import amounts
from discreet.errors import bad

MARGIN = 1 - 2.0**-10
_PASSES = 8  # multiplications that cost as much as writing one number to memory and reading it twice


@dataclass(frozen=True)
class Flat:
    """Gradients longer than `norm` are shortened to it; others stay as they are."""

    norm: float

    def factors(self, norms: Tensor) -> Tensor:
        """The factor of each person; 0 for a gradient that is not finite."""
        bound = self.norm * MARGIN
        return _of_finite(norms, (bound / norms.clamp(min=bound)))

    def words(self) -> str:
        """The rule in a sentence."""
        return f"A gradient longer than {self.norm:g} is shortened to just below it."

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON."""
        return {"rule": "flat", "norm": self.norm}


@dataclass(frozen=True)
class Automatic:
    """Every gradient is scaled to almost the length `to`; `stability` is the norm at which it gets half of it.

    >>> Automatic(to=1.0).norm
    1.0
    """

    to: float = 1.0
    stability: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "to", _positive(self.to, "to"))
        object.__setattr__(self, "stability", _positive(self.stability, "stability"))

    @property
    def norm(self) -> float:
        """The length that no clipped gradient exceeds."""
        return self.to

    def factors(self, norms: Tensor) -> Tensor:
        """The factor of each person; 0 for a gradient that is not finite."""
        return _of_finite(norms, self.to * MARGIN / (norms + self.stability))

    def words(self) -> str:
        """The rule in a sentence."""
        return f"Every gradient is divided by its length plus {self.stability:g}, and multiplied by {self.to:g}."

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON."""
        return {"rule": "automatic", "norm": self.to, "stability": self.stability}


Rule = Flat | Automatic


def rule_of(clip: Any) -> Rule:
    """The rule that a caller gave: a norm, or `Automatic(…)`.

    >>> rule_of("0.1")
    Flat(norm=0.1)
    """
    return clip if isinstance(clip, (Flat, Automatic)) else Flat(_positive(clip, "clip"))


def is_ghost_cheaper(positions: int, rows: int, columns: int) -> bool:
    """Whether a norm is cheaper from inner products of positions than from the matrix itself.

    The gradient of a matrix is Σ_t l_t ⊗ r_t over T positions.  Inner products take T²·(rows + columns)
    multiplications; the matrix itself is written once and read twice, rows·columns numbers for each person.
    """
    return positions * positions * (rows + columns) <= _PASSES * rows * columns


def _of_finite(norms: Tensor, factors: Tensor) -> Tensor:
    return torch.where(torch.isfinite(norms), factors, torch.zeros_like(factors))


def _positive(value: Any, name: str) -> float:
    parsed = float(amounts.positive(value, name))
    if not 1e-12 <= parsed <= 1e12:
        raise bad(name, "must be between 1e-12 and 1e12", value, "Give, for example, 0.1.")
    return parsed
