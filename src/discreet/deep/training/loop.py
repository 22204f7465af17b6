"""A loop of the caller's own over the steps of a plan: charged when it is entered; each step gives one noisy gradient.

    with plan.run((X, y), clip=0.1) as run:
        for step in run:
            gradients = step.noisy(dp.deep.clipped_sum(module, loss, *step.batch, clip=run.clip))

The batch and its clipped sum are private.  What `noisy` returns is released, and everything made of it alone is free.
What else the loop does with its batches is not covered.  Proof page: docs/proofs/deep/training.md.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor, nn

from discreet import amounts
from discreet.deep.accounting.stream import StreamPlan
from discreet.deep.clipping.clipped import ClippedSum
from discreet.deep.clipping.clipper import Loss
from discreet.deep.clipping.rule import rule_of
from discreet.deep.modules.check import require_clippable
from discreet.deep.training.data import Rows, rows_of
from discreet.deep.training.draws import AnyPlan, Noise, samples, scores_of_plan
from discreet.deep.training.noise import SumNoise, require_form
from discreet.deep.training.payer import PERSON, require_ledger, schema_of
from discreet.deep.training.promise import privacy_of
from discreet.errors import BadValue, bad
from discreet.learn.fit import purse_of_arrays
from discreet.learn.privacy import Privacy
from discreet.ledger.purse import Purse
from discreet.ledger.unbooked import Unbooked
from discreet.noise.source import SYSTEM
from discreet.schema.unit import ROW
from discreet.terms import Terms


def run_of(plan: AnyPlan, data: Any, units: Any, *, ledger: Any, clip: Any, max_rows: int, noise: str) -> "OwnRun":
    """The loop over those rows; nothing is charged until it is entered."""
    if units is None and max_rows != 1:
        raise bad("units", "must be given where a person has several rows", None, "Give the person of each row.")
    if scores_of_plan(plan):
        fix = "Make a plan without scores: in a loop of your own, nothing shows them."
        raise bad("plan", "must have no scores", scores_of_plan(plan), fix)
    return OwnRun(plan, rows_of(data, units), units is not None, ledger, clip, max_rows, noise)


class OwnRun:
    """One pass over the steps of a plan.

    clip             the rule that clipped sums must be made by: hand it to `clipped_sum`
    noise_variance   of the noise on each number of a gradient: for dp.deep.Adam
    privacy_         the promise, once the loop was entered
    """

    def __init__(
        self, plan: AnyPlan, rows: Rows, has_units: bool, ledger: Any, clip: Any, max_rows: int, noise: str
    ) -> None:
        self.plan, self.clip, self.max_rows = plan, rule_of(clip), amounts.count(max_rows, "max_rows", 1)
        self._rows, self._has_units, self._form = rows, has_units, require_form(noise)
        self._ledger = None if ledger is None else require_ledger(ledger)
        self._purse: Purse | Unbooked | None = None
        self._taken, self._is_over = 0, False
        self._drawn = samples(plan, rows.persons, self.max_rows, plan.steps, SYSTEM)
        self._current: OwnStep | None = None
        self._tried = dict[tuple[int, int, bool], tuple[nn.Module, Loss]]()
        self._law: Noise | None = None
        self._noise: SumNoise | None = None

    def __enter__(self) -> "OwnRun":
        if self._purse is not None:
            fix = "Call plan.run again: that is charged as a run of its own."
            raise bad("run", "must be entered once", "a run that was entered before", fix)
        plan, schema = self.plan, schema_of(self.max_rows, self._has_units)
        if self._ledger is None:
            self._purse = Unbooked()
        else:
            memo = {"text": f"{plan.steps} steps of a loop of its own"}
            self._purse = purse_of_arrays(self._ledger, schema, memo, Terms(plan.epsilon, plan.delta), plan.cost)
        public = {"clip": self.clip.to_json()}
        self.privacy_: Privacy = privacy_of(
            plan, public, noise=self._form, max_rows=self.max_rows, unit=PERSON if self._has_units else ROW,
            receipt=self._purse.receipt.name,
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._current, self._is_over = None, True
        if self._purse is not None:
            self._purse.end("done")

    def __iter__(self) -> Iterator["OwnStep"]:
        """The steps that are left, each with a batch of its own."""
        if self._purse is None:
            raise bad("run", "must be entered before its steps are taken", "a run", "Write: with plan.run(…) as run:")
        if self._is_over or self._taken >= self.plan.steps:
            fix = "Make a plan with more steps; it costs more."
            raise bad("steps", f"must be at most the {self.plan.steps} of the plan", "one more", fix)
        return self._steps()

    def _steps(self) -> Iterator["OwnStep"]:
        for indices, owners in self._drawn:
            if isinstance(self.plan, StreamPlan) and self._current is not None:
                fix = "Call step.noisy in every step, or leave the loop."
                raise bad("step", "must not be left out of a stream", f"step {self._taken}", fix)
            self._taken += 1
            batch = (*self._rows.pick(indices), None if owners is None else torch.from_numpy(owners))
            self._current = step = OwnStep(self, self._taken, batch)
            yield step

    @property
    def noise_variance(self) -> float:
        """The variance of the noise on each number of a gradient; before the first, but for one part in a thousand."""
        law = self._law or Noise(self.plan, Fraction(self.clip.norm), 1, self._form)
        return law.variance

    def noisy(self, step: "OwnStep", total: ClippedSum) -> dict[str, Tensor]:
        """As `OwnStep.noisy`."""
        if self._current is not step:
            rule = "must be the present one, with no noisy gradient yet"
            raise bad("step", rule, f"step {step.number}", "Take the next step: each gives one noisy gradient.")
        self._require_own(step, total)
        self._require_clippable(*total.net)
        exact = total.flat.detach().cpu().double().numpy().copy()
        self._noise_of(exact.size).add(exact)
        self._current = None
        flat = torch.from_numpy(exact).mul_(1 / float(self.plan.divisor)).to(torch.get_default_dtype())
        parts = flat.split([part.numel() for part in total.values()])
        return {name: part.view(total[name].shape) for name, part in zip(total, parts, strict=True)}

    def _noise_of(self, size: int) -> SumNoise:
        """The noise of this run: all its sums are of one net."""
        if self._law is None or self._noise is None:
            self._law = Noise(self.plan, Fraction(self.clip.norm), size, self._form)
            self._noise = self._law.begin(SYSTEM)
        if self._law.size != size:
            fix = "Freeze or add parameters before the run, not inside it."
            raise bad("sum", "must be of the same parameters in every step", size, fix)
        return self._noise

    def _require_clippable(self, module: nn.Module, loss: Loss) -> None:
        """Refuses a net that mixes rows, on invented ones, when it is first met in its mode."""
        invented, mode = self._rows.invented_rows(2), (id(module), id(loss), module.training)
        if invented is not None and mode not in self._tried:
            require_clippable(module, loss, *invented)
            self._tried[mode] = (module, loss)  # held, so that no other gets their ids

    def _require_own(self, step: "OwnStep", total: Any) -> None:
        """Refuses what is not the clipped sum of this step's batch, by this run's rule."""
        write = "Write: step.noisy(dp.deep.clipped_sum(module, loss, *step.batch, clip=run.clip))"
        if not isinstance(total, ClippedSum):
            raise bad("sum", "must be what dp.deep.clipped_sum gave", type(total).__name__, write)
        if total.rule != self.clip:
            raise bad("sum", "must be clipped as the run is", total.rule, write)
        if not all(given is own for given, own in zip(total.batch, step.batch, strict=True)):
            what = "The sum is of another batch than this step's."
            raise BadValue(what, "The noise and the price are for the sample that was drawn for this step.", write)


class OwnStep:
    """One step: its private batch (inputs, targets, owners), and its one noisy gradient."""

    def __init__(self, run: OwnRun, number: int, batch: tuple[Any, Any, Tensor | None]) -> None:
        self._run, self.number, self.batch = run, number, batch

    def noisy(self, total: ClippedSum) -> dict[str, Tensor]:
        """The noisy gradient by the names of parameters: the sum plus noise, divided by the public expected batch."""
        return self._run.noisy(self, total)
