"""What an audit says: one frozen row a claim, in words that promise no more than was shown.

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
    def refuted(self) -> bool:
        return self.verdict == "refuted"

    def to_json(self) -> dict[str, Any]:
        """The object of the public face; an infinite bound is null."""
        return {
            "name": self.name,
            "claim": self.claim,
            "lower_bound": None if self.lower_bound == math.inf else shown(self.lower_bound),
            "runs": self.runs,
            "event": self.event,
            "verdict": self.verdict,
        }


def verdict(refuted: bool) -> Verdict:
    """The only two words there are."""
    return "refuted" if refuted else "not refuted"


def shown(bound: float) -> float:
    """A bound for people: four significant digits, rounded down, and nothing proven is 0.

    >>> shown(0.99999), shown(-3.0), shown(math.inf)
    (0.9999, 0.0, inf)
    """
    if bound <= 0 or math.isinf(bound):
        return max(0.0, bound)
    unit = 10.0 ** (math.floor(math.log10(bound)) - 3)
    return float(f"{math.floor(bound / unit + 1e-9) * unit:.4g}")
