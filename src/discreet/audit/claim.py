"""A claim: the promise of a mechanism, and the inputs on which it is tested by draws and by exact laws."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.audit.bounds import ALPHA
from discreet.audit.brute import brute
from discreet.audit.laws import ExactLaw, law, numbers, vector_numbers
from discreet.audit.minimised import intercept_law
from discreet.audit.report import Row
from discreet.audit.reporting import Reporting
from discreet.audit.runs import outputs
from discreet.audit.small_tables import SmallTables
from discreet.audit.trial import RUNS, Pair, audit
from discreet.learn.risk.objective import ObjectivePerturbation
from discreet.mechanism.additive import root_up
from discreet.mechanism.promise import Mechanism
from discreet.mechanism.vectors import Vectors
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.cost import Cost, Gaussian, Together
from discreet.privacy.flat import Normal, atoms_of
from discreet.release.measure import Measurement

EPSILONS = ("0.5", "1", "2")


@dataclass(frozen=True)
class Claim:
    """One promise: the mechanism, its constructor, and the inputs on which it is tested."""

    name: str
    constructor: Callable[..., Mechanism]
    mechanism: Any
    pairs: tuple[Pair, ...]  # for draws
    world: tuple[Pair, ...] = ()  # for exact laws; none where no exact law is small enough
    most_runs: int = RUNS * 1000
    margin: int = 2  # how far beyond the inputs exact laws tell noise apart

    @property
    def cost(self) -> Cost:
        """What the mechanism promises."""
        promised: Cost = self.mechanism.cost
        return merged_gaussians(promised)

    @cached_property
    def window(self) -> range:
        """The numbers told apart: from the least input of the world to the largest, and the margin."""
        values = [v for pair in self.world for side in pair for v in (side if isinstance(side, tuple) else (side,))]
        return range(min(values) - self.margin, max(values) + self.margin + 1)

    def exact_law(self, inputs: Any) -> ExactLaw:
        """The output law on one input of the world."""
        if isinstance(self.mechanism, Measurement):
            return numbers(self.mechanism, inputs)
        if isinstance(self.mechanism, Vectors):
            return vector_numbers(self.mechanism, inputs)
        if isinstance(self.mechanism, ObjectivePerturbation):
            return intercept_law(self.mechanism, inputs)
        if isinstance(self.mechanism, (Reporting, SmallTables)):
            return self.mechanism.exact_law(inputs)
        return law(self.mechanism, inputs, self.window)


def audit_draws(claim: Claim, *, runs: int = RUNS, alpha: float = ALPHA, source: Source = SYSTEM) -> Row:
    """Test the claim on outputs of its mechanism."""

    def draw(inputs: Any, n: int, words: Source) -> Any:
        return outputs(claim.mechanism, inputs, n, words)

    runs = min(runs, claim.most_runs)
    return audit(claim.name, claim.cost, draw=draw, pairs=claim.pairs, runs=runs, alpha=alpha, source=source)


def audit_exactly(claim: Claim) -> Row:
    """Compare the claim with the exact laws of every pair of its world."""
    return brute(claim.name, claim.cost, pairs=claim.world, law=claim.exact_law)


def merged_gaussians(cost: Cost) -> Cost:
    """Gaussians on the same units are one Gaussian, which can be tested by its μ; μ² adds up and is rounded up."""
    match cost, atoms_of(cost):
        case Together(), ((Normal(mu_squared=square), 1),):
            return Gaussian(1 / root_up(square))
        case _:
            return cost
