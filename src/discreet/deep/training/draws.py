"""What a plan draws in each step: who takes part, and the noise on the sum of their gradients.

Plan          Poisson samples; noise of each step by itself, exact or in single precision
StreamPlan    each person in one step of every epoch, drawn for her once; noise correlated over steps, exact
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet import amounts
from discreet.deep.accounting.plan import Plan
from discreet.deep.accounting.stream import StreamPlan
from discreet.deep.accounting.stream_noise import StreamNoise, stream_lattice
from discreet.deep.sampling import Persons, poisson_sample, slot_sample, slots_of
from discreet.deep.training.noise import EXACT, FloatNoise, Lattice, LatticeNoise, SumNoise
from discreet.errors import bad
from discreet.ndarrays import Floats, Ints
from discreet.noise.source import Source
from discreet.privacy.cost import Cost

AnyPlan = Plan | StreamPlan


def samples(
    plan: AnyPlan, persons: Persons, max_rows: int, steps: int, source: Source
) -> Iterator[tuple[Ints, Ints | None]]:
    """The rows and owners of so many steps; of a stream, of the first ones."""
    match plan:
        case Plan():
            for _ in range(steps):
                yield poisson_sample(persons, plan.rate, max_rows, source)
        case StreamPlan():
            slots = slots_of(persons, plan.separation, source)
            for step in range(steps):
                yield slot_sample(persons, slots, step % plan.separation, max_rows, source)


@dataclass(frozen=True)
class Noise:
    """The law of the noise on sums of `size` numbers: of a plan, for gradients of length `clip`, in one form."""

    plan: AnyPlan
    clip: Fraction
    size: int
    form: str

    def __post_init__(self) -> None:
        if isinstance(self.plan, StreamPlan) and self.form != EXACT:
            fix = "Leave it out: noise that is correlated over steps is always exact."
            raise bad("noise", "must be 'exact' for a stream plan", self.form, fix)

    def begin(self, source: Source) -> SumNoise:
        """The noise of one block of steps."""
        if isinstance(self.plan, StreamPlan):
            return _Correlated(StreamNoise(self.plan, self.clip, self.size, source))
        lattice = Lattice(self.size, self.clip, self.plan.sigma)
        return LatticeNoise(lattice, source) if self.form == EXACT else FloatNoise(lattice, source)

    @property
    def variance(self) -> float:
        """Of each number of a gradient, which is a noisy sum divided by the public expected batch; of a stream, of
        its later steps."""
        if isinstance(self.plan, StreamPlan):
            each = stream_lattice(self.plan, self.clip, self.size).deviation ** 2
            variance = each * sum(weight**2 for weight in self.plan.coefficients)
        elif self.form == EXACT:
            variance = Lattice(self.size, self.clip, self.plan.sigma).deviation ** 2
        else:
            variance = float(self.clip * self.plan.sigma) ** 2
        return variance / float(self.plan.divisor) ** 2


class _Correlated:
    """The noise of a stream, whose steps cannot be left out."""

    def __init__(self, stream: StreamNoise) -> None:
        self._stream = stream

    def add(self, total: Floats) -> None:
        """As `SumNoise.add`."""
        total[:] = self._stream.next(total)


def cost_of_steps(plan: AnyPlan, steps: int) -> Cost:
    """What so many steps cost in one block; a stream is one block, of all its steps."""
    return plan.step_cost(steps) if isinstance(plan, Plan) else plan.cost


def scores_of_plan(plan: AnyPlan) -> int:
    """How many noisy scores were paid for."""
    return plan.scores if isinstance(plan, Plan) else 0


def share_words(plan: AnyPlan) -> str:
    """How often a person takes part, in words."""
    if isinstance(plan, Plan):
        return f"each person with probability {amounts.text_up(plan.rate)}"
    return f"each person once in {plan.separation:,} steps"


def mechanisms_of(plan: AnyPlan) -> tuple[str, ...]:
    """What is measured, in words."""
    sigma = amounts.text_of(plan.sigma)
    if isinstance(plan, StreamPlan):
        return (
            f"{plan.steps:,} sums of gradients, to which a person contributes once in {plan.separation:,} steps, with "
            f"Gaussian noise correlated over {plan.bands:,} steps, of {sigma} times what a person moves them all by",
        )
    steps = (
        f"{plan.steps:,} sums of gradients, each of a sample that a person is in with probability "
        f"{amounts.text_up(plan.rate)}, with Gaussian noise of {sigma} clips"
    )
    if plan.score_sigma is None:
        return (steps,)
    return (steps, f"{plan.scores:,} sums of scores, with Gaussian noise of {amounts.text_of(plan.score_sigma)}")


def require_plan(plan: Any) -> AnyPlan:
    """Refuses what is no plan, and a plan that was changed: its ε is priced again, once for equal plans."""
    if not isinstance(plan, (Plan, StreamPlan)):
        fix = "Give dp.deep.plan(rows=…, batch_size=…, epochs=…, epsilon=…, delta=…)."
        raise bad("plan", "must be a plan", type(plan).__name__, fix)
    _require_priced(plan)
    return plan


@lru_cache(maxsize=256)
def _require_priced(plan: AnyPlan) -> None:
    """Refuses a plan that says of itself what cannot be read back, or less than its cost."""
    kind = Plan if isinstance(plan, Plan) else StreamPlan
    kind.from_json(plan.to_json())
