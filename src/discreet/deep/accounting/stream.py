"""The plan of a training without sampling: every person takes part once an epoch, and noise of one step undoes noise of
steps before.

    steps      epochs · ⌈rows / batch_size⌉; a person's steps lie one epoch apart
    released   v = C·G + z for the clipped sums G, z rounded Gaussian; the noisy sums are C⁻¹·v = G + C⁻¹·z
    cost       Gaussian(sigma): z has sigma per unit of the sensitivity of C·G, for the whole training at once

Which step of an epoch a person belongs to must not depend on anybody else: `sampling.slots_of` draws it once for each.
docs/proofs/deep/accounting/stream.md proves the sensitivity.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any

from discreet import amounts
from discreet.deep.accounting import toeplitz
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
from discreet.privacy import calibrate
from discreet.privacy import cost as costs
from discreet.privacy.cost import Cost, Gaussian

_MOST_STEPS, _MOST_BANDS = 10**5, 4096
_ROUNDING = Fraction(1, 2**11)  # of the sensitivity: what rounding to the lattice may add, and more
_KIND = "deep stream plan"


@dataclass(frozen=True)
class StreamPlan:
    """What a training with correlated noise will do and cost, from public facts alone."""

    rows: int
    separation: int  # steps of an epoch
    epochs: int
    bands: int
    sigma: Fraction
    delta: Fraction
    epsilon: Fraction

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return self.epochs * self.separation

    @property
    def divisor(self) -> Fraction:
        """The expected number of rows in a step, by which a noisy sum is divided."""
        return Fraction(self.rows, self.separation)

    @property
    def cost(self) -> Cost:
        """What is charged before the first step, for all of them."""
        return Gaussian(self.sigma)

    @property
    def sensitivity(self) -> Fraction:
        """How far one person moves all that is released, in clips."""
        return toeplitz.sensitivity(self.bands, self.steps, self.separation, self.epochs)

    @property
    def coefficients(self) -> tuple[float, ...]:
        """r_0, r_1 …: released sums v give the noisy sum Σ_j r_j v_{t−j} of step t."""
        return toeplitz.coefficients(self.bands)

    def rms_error(self) -> float:
        """The root of the mean squared error of sums over steps 1 … t, over all t, for sigma = 1 and a clip of 1."""
        return toeplitz.prefix_error(self.bands, self.steps, self.separation, self.epochs)

    def epsilon_after(self, steps: int) -> Fraction:
        """ε at the plan's δ of the first so many steps, rounded up."""
        return _epsilon_after(self, amounts.count(steps, "steps", 0, self.steps))

    def words(self) -> str:
        """The plan in sentences."""
        once = "once" if self.epochs == 1 else f"{self.epochs} times, {self.separation} steps apart"
        plain = toeplitz.prefix_error(1, self.steps, self.separation, self.epochs)
        whole = f"ε = {amounts.text_up(self.epsilon)} at δ = {amounts.text_of(self.delta)}"
        lines = [
            f"{self.steps} steps without sampling; each person takes part {once}, and "
            f"{amounts.text_up(self.divisor)} rows are expected in a step.",
            f"Noise is correlated over {self.bands} steps: sums over steps err by {self.rms_error():.3g} clips for "
            f"each unit of σ, where independent noise errs by {plain:.3g}. σ is {amounts.text_of(self.sigma)}.",
            f"All of it is {whole}, for adding or removing one person with all her rows.",
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON; amounts are texts, exact."""
        return {
            "kind": _KIND,
            "rows": self.rows,
            "separation": self.separation,
            "epochs": self.epochs,
            "bands": self.bands,
            "sigma": str(self.sigma),
            "delta": str(self.delta),
            "epsilon": str(self.epsilon),
            "cost": costs.to_json(self.cost),
        }

    @classmethod
    def from_json(cls, stored: Any) -> "StreamPlan":
        """The plan that `to_json` described; its ε is priced again, and refused if it is below that price."""
        read = _plan_read(stored) if isinstance(stored, Mapping) else None
        if read is None:
            fix = "Give what to_json gave, or make the plan anew."
            raise IntegrityError("This is not a stored plan.", "It is not what a plan writes.", fix)
        if not is_enough(read.epsilon, read.delta, read.cost):
            why = "Its cost is priced higher than the ε that it states."
            raise IntegrityError("This plan was changed.", why, "Make it anew.")
        return read

    def run(self, data: Any, units: Any = None, *, ledger: Any = None, clip: Any = 0.1, max_rows: int = 1) -> Any:
        """A loop of one's own over all steps: charged when it is entered; none of them can be left out."""
        loop = import_module("discreet.deep.training.loop")  # it brings torch, and makes steps of plans
        return loop.run_of(self, data, units, ledger=ledger, clip=clip, max_rows=max_rows, noise="exact")


def stream_plan(
    *,
    rows: Any,
    batch_size: Any,
    epochs: Any = 1,
    epsilon: Any = None,
    delta: Any,
    sigma: Any = None,
    bands: Any = None,
) -> StreamPlan:
    """The plan of a training whose data cannot be sampled: by noise that is correlated over `bands` steps.

    Exactly one of `epsilon` and `sigma` is given.  Without `bands`, the fewest are taken whose error on sums over steps
    is within 5 % of the least of up to 256 bands; over more than some thousand steps more bands err less.  Each band
    keeps two more copies of a gradient in memory.

    >>> once = stream_plan(rows=1024, batch_size=1, sigma=1, delta="1e-5")
    >>> once.steps, once.bands, once.rms_error() < 3.2
    (1024, 128, True)
    """
    count = public_rows(rows)
    require_single("epsilon", epsilon, "sigma", sigma, 'epsilon="1"')
    batch = amounts.whole(batch_size, "batch_size", 1, 2**40, such_as=1024)
    if batch > count:
        raise bad("batch_size", f"must be at most the {count} rows", batch_size, "Give a smaller batch.")
    separation, times = math.ceil(Fraction(count, batch)), amounts.whole(epochs, "epochs", 1, _MOST_STEPS, such_as=1)
    steps = separation * times
    if steps > _MOST_STEPS:
        fix = "Give larger batches or fewer epochs."
        raise bad("rows, batch_size and epochs", f"must give at most {_MOST_STEPS} steps", steps, fix)
    open_at = delta_among(delta, count)
    asked = None if epsilon is None else amounts.epsilon(epsilon)
    noise = amounts.positive(sigma, "sigma") if asked is None else calibrate.gaussian_sigma(asked, open_at)
    if bands is None:
        width = toeplitz.best_bands(steps, separation, times)
    else:
        width = amounts.whole(bands, "bands", 1, min(steps, _MOST_BANDS), such_as=min(steps, 16))
    return StreamPlan(count, separation, times, width, noise, open_at, stated_epsilon(Gaussian(noise), open_at, asked))


@lru_cache(maxsize=256)
def _epsilon_after(plan: StreamPlan, steps: int) -> Fraction:
    """The price of the first rows of C·G, whose sensitivity is smaller under the same noise; docs/proofs as above."""
    if steps in (0, plan.steps):
        return plan.epsilon if steps else Fraction(0)
    whole = plan.sensitivity
    part = toeplitz.sensitivity(plan.bands, plan.steps, plan.separation, plan.epochs, first=steps)
    wider = plan.sigma * whole / (part + whole * _ROUNDING)
    return min(plan.epsilon, stated_epsilon(Gaussian(wider), plan.delta))


def _plan_read(stored: Mapping[str, Any]) -> StreamPlan | None:
    """The plan that writes exactly this; None where there is none."""
    try:
        read = StreamPlan(
            public_rows(stored["rows"]),
            amounts.count(stored["separation"], "separation", 1, _MOST_STEPS),
            amounts.count(stored["epochs"], "epochs", 1, _MOST_STEPS // stored["separation"]),
            amounts.count(stored["bands"], "bands", 1, _MOST_BANDS),
            stored_amount(stored["sigma"]),
            open_delta(stored_amount(stored["delta"])),
            stored_amount(stored["epsilon"]),
        )
        return read if read.to_json() == dict(stored) else None
    except (KeyError, ValueError, TypeError, ZeroDivisionError):
        return None
