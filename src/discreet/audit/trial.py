"""The audit of one claim by draws: choose events on one half of the runs, count them on the other.

Every pair is tested in both orders, for every test of the claim; with T of these in all each gets α/T, so that a true
claim is refuted with probability at most α (Bonferroni), however the events were chosen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.audit.bounds import ALPHA, Odds, Shift, Test, lower_bound, refutes
from discreet.audit.events import Event, candidates, loudest
from discreet.audit.features import Outputs
from discreet.audit.report import Row, verdict
from discreet.errors import NotPriced
from discreet.noise.source import SYSTEM, Source
from discreet.privacy import price
from discreet.privacy.certify import up
from discreet.privacy.cost import Approx, Cost, Gaussian
from discreet.real import ball

Pair = tuple[Any, Any]
Draw = Callable[[Any, int, Source], Outputs]
RUNS = 20_000
LEAST_RUNS = 200
_DELTA = Fraction(1, 100)  # where a curve is read: rarer events would need far more runs


def readings(cost: Cost) -> tuple[Test, ...]:
    """What a cost lets one test: its ε at δ = 0 where it has one, its own (ε, δ), its μ, else its ε at δ = 1/100.

    >>> from discreet.privacy.cost import Pure
    >>> [str(test) for test in (*readings(Pure(1)), *readings(Gaussian(2)))]
    ['ε = 1', 'μ = 0.5', 'ε = 0.919458, δ = 0.01']
    """
    match cost:
        case Approx():
            return (Odds(cost.epsilon, cost.delta),)
        case Gaussian():
            return Shift(up(lambda: 1 / ball(cost.sigma))), Odds(price.epsilon(cost, _DELTA).value, _DELTA)
    try:
        return (Odds(price.epsilon(cost, 0).value),)
    except NotPriced:
        return (Odds(price.epsilon(cost, _DELTA).value, _DELTA),)


@dataclass(frozen=True)
class Finding:
    """What one test of one pair in one order gave."""

    test: Test
    bound: float
    event: Event

    @property
    def excess(self) -> float:
        """How far the bound lies above the claim; negative where it does not."""
        return self.bound - float(self.test.size)

    @property
    def refuted(self) -> bool:
        return refutes(self.test, self.bound)


def audited(
    name: str,
    cost: Cost,
    *,
    draw: Draw,
    pairs: tuple[Pair, ...],
    runs: int = RUNS,
    alpha: float = ALPHA,
    source: Source = SYSTEM,
) -> Row:
    """The row of one claim: the pair, order and event whose bound came nearest to the claim, or furthest above it."""
    tests = readings(cost)
    each = alpha / (2 * len(tests) * len(pairs))
    found: list[Finding] = []
    for one, other in pairs:
        found += both_orders(tests, draw(one, runs, source), draw(other, runs, source), each)
    worst = max(found, key=lambda f: (f.refuted, f.excess))
    return Row(name, str(worst.test), worst.bound, runs, str(worst.event), verdict(worst.refuted))


def both_orders(tests: tuple[Test, ...], one: Outputs, other: Outputs, alpha: float) -> list[Finding]:
    """What each test gives in either order: events chosen on the first halves, counted on the second at level alpha."""
    half = len(one) // 2
    found = candidates(one[:half], other[:half])
    orders = ((found, one, other), ([family.turned() for family in found], other, one))
    findings = []
    for families, first, second in orders:
        for test in tests:
            event = loudest(test, families, half)
            findings.append(Finding(test, lower_bound(test, event.hits(first[half:], second[half:]), alpha), event))
    return findings
