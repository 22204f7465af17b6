"""One survey of yes and no under three trusts: everyone randomises, a shuffler mixes, a curator adds noise once.

    local       ε for everybody who sees a report;             ± of order 1/(ε√n)
    shuffled    the same reports and ±; a smaller ε for whoever sees only what an *independent* shuffler hands on
    central     a curator who holds the answers adds integer noise to the count;   ± of order 1/(εn)

Radii are 1.96 standard deviations of a share of ½, of the respondents: by noise alone, so that only
trust differs.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, sqrt
from statistics import NormalDist
from typing import Any

from discreet import amounts
from discreet.local.protocol import exact_variance
from discreet.local.response_code import response_code
from discreet.privacy.amplify import shuffled_response

_LEVEL = Fraction(95, 100)
_SHUFFLER = "an independent shuffler, and that the others follow the protocol"
NOISE_ALONE = "These ± are 1.96 standard deviations of noise alone; the draw of people comes on top in each row."


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
        lines = [f"{row.name}: {_promise(row)}, ± {row.radius:.3g}; trusted: {row.trusted}" for row in self.rows]
        last = f"The ± of local reports is {self.factor:.3g} times the curator's for {self.people:,} people."
        return "\n".join([*lines, last, NOISE_ALONE])

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
    central = z * _geometric_deviation(float(bound)) / n
    rows = (
        Trust("local", "the page on each device", bound, Fraction(0), radius),
        Trust("shuffled", _SHUFFLER, behind.epsilon, behind.delta, radius),
        Trust("central", "a curator who holds every answer", bound, Fraction(0), central),
    )
    return Comparison(n, rows)


def _geometric_deviation(epsilon: float) -> float:
    """√(2a)/(1 − a) for a = e^(−ε): of the integer noise of a count that one person moves by 1."""
    return sqrt(2) * exp(-epsilon / 2) / -expm1(-epsilon)


def _promise(row: Trust) -> str:
    epsilon = f"ε = {amounts.text_up(row.epsilon)}"
    return f"{epsilon}, δ = {float(row.delta):.3g}" if row.delta else epsilon
