"""The rows of an audit, one a claim, in words that promise no more than was shown.

"Not refuted" means that this audit found no lower bound above the claim: not that the claim is true.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["not refuted", "refuted"]


@dataclass(frozen=True)
class Row:
    """One claim beside the largest lower bound found for it."""

    name: str
    claim: str
    lower_bound: float  # in the unit of the claim; +∞ where an event is possible on one side only
    runs: int  # per side and pair, training half included; 0 for an exact law
    event: str
    verdict: Verdict

    @property
    def is_refuted(self) -> bool:
        return self.verdict == "refuted"

    def to_json(self) -> dict[str, Any]:
        """The object of the public face; an infinite bound is null."""
        return {
            "name": self.name,
            "claim": self.claim,
            "lower_bound": None if self.lower_bound == math.inf else rounded_down(self.lower_bound),
            "runs": self.runs,
            "event": self.event,
            "verdict": self.verdict,
        }


def verdict(refuted: bool) -> Verdict:
    """One of the two possible verdicts."""
    return "refuted" if refuted else "not refuted"


def rounded_down(bound: float) -> float:
    """A bound for display: four significant digits, rounded down; 0 where nothing is proven.

    >>> rounded_down(0.99999), rounded_down(-3.0), rounded_down(math.inf)
    (0.9999, 0.0, inf)
    """
    if bound <= 0 or math.isinf(bound):
        return max(0.0, bound)
    unit = 10.0 ** (math.floor(math.log10(bound)) - 3)
    return float(f"{math.floor(bound / unit + 1e-9) * unit:.4g}")
