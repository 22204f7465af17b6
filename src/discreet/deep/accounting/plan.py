"""The plan of a training: who is sampled, how many steps, how much noise, and what all of it costs.

    rate     chance of each person to be in a step's sample, independently (Poisson)      batch_size / rows
    steps    ⌈epochs / rate⌉
    sigma    standard deviation of the noise on the sum of clipped gradients, per clip
    divisor  rate · rows, the expected batch: public, never the size of a sample
    cost     Repeated(Sampled(rate, Gaussian(sigma)), steps), and beside it the paid scores

Sampling and accounting are one object, so they cannot disagree; docs/proofs/deep/accounting/plan.md proves the step.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any

from discreet import amounts
from discreet.deep.accounting.asked import (
    delta_among,
    is_enough,
    open_delta,
    public_rows,
    require_single,
    stated_epsilon,
    stored_amount,
)
from discreet.errors import IntegrityError, bad
from discreet.mechanism.additive import readable_sigma, root_up
from discreet.privacy import calibrate
from discreet.privacy import cost as costs
from discreet.privacy.cost import FREE, Cost, Gaussian, Repeated, Sampled, Together

_MOST_STEPS, _MOST_SCORES = 10**8, 10**6
_LARGEST_SHARE = Fraction(1, 2)
_KIND = "deep plan"


@dataclass(frozen=True)
class Plan:
    """What a training will do and cost, from public facts alone."""

    rows: int
    rate: Fraction
    steps: int
    sigma: Fraction
    delta: Fraction
    epsilon: Fraction
    scores: int = 0  # noisy scores that are paid for, each a sum of numbers in [0, 1], one a person
    score_sigma: Fraction | None = None  # the standard deviation of the noise on such a sum

    def __post_init__(self) -> None:
        if (self.scores == 0) != (self.score_sigma is None):
            raise bad("score_sigma", "must be there exactly if there are scores", self.scores, "Use plan(…, scores=…).")

    @property
    def divisor(self) -> Fraction:
        """The expected batch, by which a noisy sum is divided."""
        return self.rate * self.rows

    @property
    def cost(self) -> Cost:
        """What is charged before the first step."""
        steps = self.step_cost(self.steps)
        scores = _scores_cost(self.scores, self.score_sigma)
        return steps if scores == FREE else Together((steps, scores))

    def step_cost(self, steps: int) -> Cost:
        """What so many of the steps cost."""
        times = amounts.count(steps, "steps", 1, self.steps)
        return Repeated(Sampled(self.rate, Gaussian(self.sigma)), times)

    @property
    def score_cost(self) -> Cost:
        """What one score costs; refused where the plan has none."""
        if self.score_sigma is None:
            fix = "Give scores= when the plan is made, for example plan(…, scores=20)."
            raise bad("scores", "must be planned before they are shown: each is charged", self.scores, fix)
        return Gaussian(self.score_sigma)

    def epsilon_after(self, steps: int) -> Fraction:
        """ε at the plan's δ of the first so many steps and all scores, rounded up; of no step that of the scores."""
        return _epsilon_after(self, amounts.count(steps, "steps", 0, self.steps))

    def words(self) -> str:
        """The plan in sentences."""
        share, batch = amounts.text_up(self.rate), amounts.text_of(self.divisor)
        lines = [
            f"{self.steps} steps; each draws every person with probability {share}, independently: "
            f"{batch} of {self.rows} rows are expected, and any number may come.",
            f"Noise on the sum of clipped gradients has σ = {amounts.text_of(self.sigma)} clips; the noisy sum is "
            f"divided by {batch}, whatever came.",
        ]
        if self.score_sigma is not None:
            noise = amounts.text_up(self.score_sigma)
            lines.append(f"{self.scores} noisy scores are paid for, each a sum over persons with noise σ = {noise}.")
        whole = f"ε = {amounts.text_up(self.epsilon)} at δ = {amounts.text_of(self.delta)}"
        lines.append(f"All of it is {whole}, for adding or removing one person with all her rows.")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON; amounts are texts, exact."""
        score_sigma = None if self.score_sigma is None else str(self.score_sigma)
        return {
            "kind": _KIND,
            "rows": self.rows,
            "rate": str(self.rate),
            "steps": self.steps,
            "sigma": str(self.sigma),
            "delta": str(self.delta),
            "epsilon": str(self.epsilon),
            "scores": self.scores,
            "score_sigma": score_sigma,
            "cost": costs.to_json(self.cost),
        }

    @classmethod
    def from_json(cls, stored: Any) -> "Plan":
        """The plan that `to_json` described; its ε is priced again, and refused if it is below that price."""
        read = _plan_read(stored) if isinstance(stored, Mapping) else None
        if read is None:
            fix = "Give what to_json gave, or make the plan anew."
            raise IntegrityError("This is not a stored plan.", "It is not what a plan writes.", fix)
        if not is_enough(read.epsilon, read.delta, read.cost):
            why = "Its cost is priced higher than the ε that it states."
            raise IntegrityError("This plan was changed.", why, "Make it anew.")
        return read

    def run(
        self,
        data: Any,
        units: Any = None,
        *,
        ledger: Any = None,
        clip: Any = 0.1,
        max_rows: int = 1,
        noise: str = "exact",
    ) -> Any:
        """A loop of one's own over these steps: charged when it is entered, and each step gives a noisy gradient."""
        loop = import_module("discreet.deep.training.loop")  # it brings torch, and makes steps of plans
        return loop.run_of(self, data, units, ledger=ledger, clip=clip, max_rows=max_rows, noise=noise)


def plan(
    *,
    rows: Any,
    batch_size: Any = None,
    epochs: Any = None,
    steps: Any = None,
    epsilon: Any = None,
    delta: Any,
    sigma: Any = None,
    rate: Any = None,
    scores: int = 0,
    score_share: Any = "0.1",
) -> Plan:
    """The plan of a training with Poisson samples: for a total ε the least noise, or the ε of a given noise.

    Exactly one of `epsilon` and `sigma`, of `batch_size` and `rate`, and of `epochs` and `steps` is given.  `rows` is
    the public number of persons, each with her rows, or an answer that released it.  Of `scores` noisy scores, all
    inside the same ε, each one's noise is such that together they are `score_share` of what a Gaussian mechanism of
    that ε would be.

    >>> full = plan(rows=1000, rate=1, steps=100, sigma=40, delta="1e-5")
    >>> full.divisor, round(float(full.epsilon), 4)
    (Fraction(1000, 1), 0.9263)
    """
    count = public_rows(rows)
    require_single("epsilon", epsilon, "sigma", sigma, 'epsilon="1"')
    chance = _rate(count, batch_size, rate)
    times = _steps(chance, epochs, steps)
    open_at = delta_among(delta, count)
    number = amounts.count(scores, "scores", 0, _MOST_SCORES)
    share = amounts.inner_probability(score_share, "score_share")
    if share > _LARGEST_SHARE:
        raise bad("score_share", "must be at most 0.5", score_share, "Give a share such as 0.1.")
    if sigma is not None:
        noise, asked = amounts.positive(sigma, "sigma"), None
        alone = stated_epsilon(Repeated(Sampled(chance, Gaussian(noise)), times), open_at)
        score_sigma = _score_sigma(number, share / (1 - share), alone, open_at)
    else:
        asked = amounts.epsilon(epsilon)
        score_sigma = _score_sigma(number, share, asked, open_at)
        noise = _least_sigma(chance, times, asked, open_at, _scores_cost(number, score_sigma))
    draft = Plan(count, chance, times, noise, open_at, Fraction(0), number, score_sigma)
    stated = stated_epsilon(draft.cost, open_at, asked)
    return Plan(count, chance, times, noise, open_at, stated, number, score_sigma)


def _rate(rows: int, batch_size: Any, rate: Any) -> Fraction:
    require_single("batch_size", batch_size, "rate", rate, "batch_size=1024")
    if rate is None:
        batch = amounts.whole(batch_size, "batch_size", 1, 2**40, such_as=1024)
        if batch > rows:
            raise bad("batch_size", f"must be at most the {rows} rows", batch_size, "Give a smaller batch, or rate=1.")
        return Fraction(batch, rows)
    chance = amounts.probability(rate, "rate")
    if chance == 0:
        raise bad("rate", "must be above 0", rate, "Give the chance of a person to be in a sample, such as 0.01.")
    return chance


def _steps(rate: Fraction, epochs: Any, steps: Any) -> int:
    require_single("epochs", epochs, "steps", steps, "epochs=10")
    if steps is not None:
        return amounts.whole(steps, "steps", 1, _MOST_STEPS, such_as=1000)
    times = math.ceil(amounts.positive(epochs, "epochs") / rate)
    if times > _MOST_STEPS:
        raise bad("epochs", f"must give at most {_MOST_STEPS} steps", epochs, "Give fewer epochs or larger batches.")
    return times


def _least_sigma(rate: Fraction, steps: int, epsilon: Fraction, delta: Fraction, scores: Cost) -> Fraction:
    """The least σ for the whole; of full batches by the closed form, as all is one Gaussian: T/σ² + k/s² = μ²."""
    if rate < 1:
        return calibrate.sampled_sigma(rate, steps, epsilon, delta, scores)
    left = 1 / calibrate.gaussian_sigma(epsilon, delta) ** 2
    match scores:
        case Repeated(cost=Gaussian() as score):
            left -= scores.times / score.sigma**2
    return readable_sigma(root_up(steps / left))


def _score_sigma(scores: int, share: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction | None:
    """√(scores/share)·σ(ε, δ): all scores have that share of the μ² of a Gaussian mechanism."""
    if scores == 0:
        return None
    whole = calibrate.gaussian_sigma(min(max(epsilon, amounts.MIN_EPSILON), amounts.MAX_EPSILON), delta)
    return readable_sigma(root_up(scores / share) * whole)


def _scores_cost(scores: int, sigma: Fraction | None) -> Cost:
    return FREE if sigma is None else Repeated(Gaussian(sigma), scores)


@lru_cache(maxsize=256)
def _epsilon_after(plan: Plan, steps: int) -> Fraction:
    if steps == plan.steps:
        return plan.epsilon
    scores = _scores_cost(plan.scores, plan.score_sigma)
    cost = Together((plan.step_cost(steps), scores)) if steps else scores
    return min(plan.epsilon, stated_epsilon(cost, plan.delta))


def _plan_read(stored: Mapping[str, Any]) -> Plan | None:
    """The plan that writes exactly this; None where there is none."""
    try:
        read = Plan(
            public_rows(stored["rows"]),
            amounts.probability(stored_amount(stored["rate"]), "rate"),
            amounts.count(stored["steps"], "steps", 1, _MOST_STEPS),
            stored_amount(stored["sigma"]),
            open_delta(stored_amount(stored["delta"])),
            stored_amount(stored["epsilon"]),
            amounts.count(stored["scores"], "scores", 0, _MOST_SCORES),
            None if stored["score_sigma"] is None else stored_amount(stored["score_sigma"]),
        )
        return read if read.to_json() == dict(stored) else None
    except (KeyError, ValueError, ZeroDivisionError):
        return None
