"""Audit one claim by draws: choose events on one half of the runs, count them on the other.

Every pair is tested in both orders, for every test of the claim; with T of these in all each gets α/T, so that a true
claim is refuted with probability at most α (Bonferroni), however the events were chosen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.audit.bounds import ALPHA, Odds, Shift, Test, lower_bound, refutes
from discreet.audit.events import Candidates, Event, candidates, loudest
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
    """The tests of a cost: its ε at δ = 0 where it has one, its own (ε, δ), its μ, else its ε at δ = 1/100.

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
    """The result of one test of one pair in one order."""

    test: Test
    bound: float
    event: Event

    @property
    def excess(self) -> float:
        """How far the bound lies above the claim; negative where it does not."""
        return self.bound - float(self.test.size)

    @property
    def is_refuted(self) -> bool:
        return refutes(self.test, self.bound)


def audit(
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
    test_alpha = alpha / (2 * len(tests) * len(pairs))
    findings: list[Finding] = []
    for first, second in pairs:
        findings += both_orders(tests, draw(first, runs, source), draw(second, runs, source), test_alpha)
    worst = max(findings, key=lambda f: (f.is_refuted, f.excess))
    return Row(name, str(worst.test), worst.bound, runs, str(worst.event), verdict(worst.is_refuted))


def both_orders(tests: tuple[Test, ...], first: Outputs, second: Outputs, alpha: float) -> list[Finding]:
    """The findings of each test in both orders: events chosen on the first halves, counted on the second at alpha."""
    half = len(first) // 2
    return findings_of(tests, candidates(first[:half], second[:half]), first, second, alpha)


def findings_of(
    tests: tuple[Test, ...], families: list[Candidates], first: Outputs, second: Outputs, alpha: float
) -> list[Finding]:
    """The same for families that were counted on the first halves."""
    half = len(first) // 2
    orders = ((families, first, second), ([family.turned() for family in families], second, first))
    findings = []
    for ordered, likelier, rarer in orders:
        for test in tests:
            event = loudest(test, ordered, half)
            findings.append(Finding(test, lower_bound(test, event.hits(likelier[half:], rarer[half:]), alpha), event))
    return findings
