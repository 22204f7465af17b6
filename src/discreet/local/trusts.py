"""One survey of yes and no under three trusts: everyone randomises, a shuffler mixes, a curator adds noise once.

    local       ε for everybody who sees a report;             ± of order 1/(ε√n)
    shuffled    the same reports and ±; a smaller ε for whoever sees only what an *independent* shuffler hands on
    central     a curator who holds the answers adds integer noise to the count;   ± of order 1/(εn)

Radii are at 95 %, for a share of ½, and of the respondents: by noise alone, so that the three are alike but for trust.
"""

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from discreet import amounts
from discreet.bounded import scalar
from discreet.local.protocol import exact_variance
from discreet.local.response_code import response_code
from discreet.mechanism.additive import laplace
from discreet.privacy.amplify import shuffled_response
from discreet.relation import Relation

_LEVEL = Fraction(95, 100)


@dataclass(frozen=True)
class Trust:
    """Who must be trusted, what others learn at most, and the ± of the share."""

    name: str
    trusted: str
    epsilon: Fraction
    delta: Fraction
    radius: float

    def to_json(self) -> dict[str, Any]:
        """The row as a dict."""
        amount = {"epsilon": float(self.epsilon), "delta": float(self.delta), "radius": self.radius}
        return {"name": self.name, "trusted": self.trusted, **amount}


@dataclass(frozen=True)
class Comparison:
    """The three side by side."""

    people: int
    rows: tuple[Trust, ...]

    @property
    def factor(self) -> float:
        """How many times the curator's ± that of the phones is: of order √n."""
        return self.rows[0].radius / self.rows[-1].radius

    def __str__(self) -> str:
        lines = [
            f"{row.name}: ε = {_text(row.epsilon)}, ± {row.radius:.3g}; trusted: {row.trusted}" for row in self.rows
        ]
        return "\n".join(
            [*lines, f"The ± of phones is {self.factor:.3g} times the curator's for {self.people:,} people."]
        )

    def to_json(self) -> dict[str, Any]:
        """All rows and the factor."""
        return {"people": self.people, "factor": self.factor, "rows": [row.to_json() for row in self.rows]}


def comparison(epsilon: Any, people: Any, delta: Any) -> Comparison:
    """Local, shuffled and central promises of one yes-or-no survey of so many people."""
    bound, n = amounts.epsilon(epsilon), amounts.count(people, "people", 1)
    allowed = amounts.probability(delta, "delta")
    z = NormalDist().inv_cdf(float(1 + _LEVEL) / 2)
    radius = z * float(exact_variance(response_code(bound, 2), Fraction(1, 2), n, "respondents")) ** 0.5
    behind = shuffled_response(bound, n, allowed).cost
    central = laplace(scalar(1, Relation.REPLACE_ONE), bound).radius(_LEVEL) / n
    rows = (
        Trust("local", "nobody", bound, Fraction(0), radius),
        Trust("shuffled", "an independent shuffler", behind.epsilon, behind.delta, radius),
        Trust("central", "a curator who holds every answer", bound, Fraction(0), float(central)),
    )
    return Comparison(n, rows)


def _text(epsilon: Fraction) -> str:
    return str(amounts.rounded_up(epsilon, 4))
