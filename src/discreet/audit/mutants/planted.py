"""A bug planted on purpose: its fault, the cost it pretends to have, and how the audit catches it.

Those with a small exact law are caught by proof.  The others are drawn, with one event fixed beforehand and enough runs
that the binomial law of its true chances makes a miss rarer than 10⁻⁶.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.audit.bounds import ALPHA, Test, lower_bound, refutes
from discreet.audit.brute import Pairs, brute
from discreet.audit.events import Event
from discreet.audit.laws import ExactLaw
from discreet.audit.report import Row, verdict
from discreet.audit.trial import Draw, Pair
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.cost import Cost
from discreet.real import Real, lower, upper


@dataclass(frozen=True)
class Proven:
    """A bug whose exact law breaks the pretended cost on one of the pairs."""

    name: str
    wrong: str
    cost: Cost
    pairs: Pairs
    law: Callable[[Any], ExactLaw]


@dataclass(frozen=True)
class Drawn:
    """A bug seen in draws: the event is likelier on the first of the pair than the pretended test allows."""

    name: str
    wrong: str
    test: Test
    pair: Pair
    draw: Draw
    event: Event
    chances: tuple[float, float]  # of the event on either side: the first rounded down, the second up
    runs: int
    most_runs: int = 20_000  # that tests of its chances may draw


Planted = Proven | Drawn


def chance_bounds(first: Real, second: Real) -> tuple[float, float]:
    """The chances of an event on either side: the first rounded down, the second up."""
    return float(lower(first)) - 1e-15, float(upper(second)) + 1e-15


def audit_bug(planted: Planted, *, alpha: float = ALPHA, source: Source = SYSTEM) -> Row:
    """The row of a planted bug; it must say "refuted"."""
    match planted:
        case Proven():
            return brute(planted.name, planted.cost, pairs=planted.pairs, law=planted.law)
        case Drawn():
            first, second = (planted.draw(side, planted.runs, source) for side in planted.pair)
            bound = lower_bound(planted.test, planted.event.hits(first, second), alpha)
            result = verdict(refutes(planted.test, bound))
            return Row(planted.name, str(planted.test), bound, planted.runs, str(planted.event), result)
        case _:
            raise TypeError("not a planted bug")
