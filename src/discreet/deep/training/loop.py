"""A loop of the caller's own over the steps of a plan: charged when it is entered; each step gives one noisy gradient.

    with plan.run((X, y), clip=0.1) as run:
        for step in run:
            gradients = step.noisy(dp.deep.clipped_sum(module, loss, *step.batch, clip=run.clip))

The batch and its clipped sum are private.  What `noisy` returns is released, and everything made of it alone is free.
What else the loop does with its batches is not covered.  Proof page: docs/proofs/deep/training.md.

A step is over before its noise is drawn, so whatever ends the drawing, no sum gets noise twice.  A stream's private
memory moves with every step: one that broke off in a draw, of rows or of noise, gives nothing more.
"""

import os
import threading
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from discreet import amounts
from discreet.deep.accounting.stream import StreamPlan
from discreet.deep.clipping.clipped import ClippedSum, require_unchanged
from discreet.deep.clipping.clipper import Loss
from discreet.deep.clipping.rule import Rule, rule_of
from discreet.deep.clipping.secret import secret_draws
from discreet.deep.modules.check import require_clippable
from discreet.deep.training.data import Rows, rows_of
from discreet.deep.training.draws import AnyPlan, Noise, require_plan, samples, scores_of_plan
from discreet.deep.training.noise import SumNoise, require_form
from discreet.deep.training.payer import PERSON, require_ledger, schema_of
from discreet.deep.training.promise import privacy_of
from discreet.deep.training.undo import put_modes
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
    if scores_of_plan(require_plan(plan)):
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
        self._plan, self._clip, self.max_rows = plan, rule_of(clip), amounts.count(max_rows, "max_rows", 1)
        self._rows, self._has_units, self._form = rows, has_units, require_form(noise)
        self._ledger = None if ledger is None else require_ledger(ledger)
        self._purse: Purse | Unbooked | None = None
        self._lock, self._process = threading.RLock(), os.getpid()
        self._taken, self._is_over, self._is_broken = 0, False, False
        self._drawn = samples(plan, rows.persons, self.max_rows, plan.steps, SYSTEM)
        self._current: OwnStep | None = None
        self._tried = dict[tuple[int, int, tuple[bool, ...]], tuple[nn.Module, Loss]]()
        self._law: Noise | None = None
        self._noise: SumNoise | None = None

    def __enter__(self) -> "OwnRun":
        if self._purse is not None:
            fix = "Call plan.run again: that is charged as a run of its own."
            raise bad("run", "must be entered once", "a run that was entered before", fix)
        self._process = os.getpid()
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
        if self._purse is not None and self._process == os.getpid():
            self._purse.end("done")

    def __reduce__(self) -> NoReturn:
        """Refuses copies: two would draw noise for one sum, and their mean has half the variance."""
        raise bad("run", "must not be copied", "a copy of a run", "Call plan.run again: that is charged by itself.")

    @property
    def plan(self) -> AnyPlan:
        """The plan that is charged."""
        return self._plan

    @property
    def clip(self) -> Rule:
        """The rule that clipped sums must be made by."""
        return self._clip

    def __iter__(self) -> Iterator["OwnStep"]:
        """The steps that are left, each with a batch of its own."""
        if self._purse is None:
            raise bad("run", "must be entered before its steps are taken", "a run", "Write: with plan.run(…) as run:")
        if self._is_over or self._taken >= self.plan.steps:
            fix = "Make a plan with more steps; it costs more."
            raise bad("steps", f"must be at most the {self.plan.steps} of the plan", "one more", fix)
        return self._steps()

    def _steps(self) -> Iterator["OwnStep"]:
        while (step := self._next_step()) is not None:
            yield step

    def _next_step(self) -> "OwnStep | None":
        """The next step, or None after the last; nothing of it is drawn where it is refused."""
        self._require_own_process()
        with self._lock:
            if self._taken >= self.plan.steps:
                return None
            self._require_going()
            if self._is_stream and self._current is not None:
                fix = "Call step.noisy in every step, or leave the loop."
                raise bad("step", "must not be left out of a stream", f"step {self._taken}", fix)
            self._is_broken, self._current = self._is_stream, None  # a slot that is lost moves all later ones
            drawn = next(self._drawn, None)
            if drawn is None:  # an interrupted draw ends its generator
                self._is_broken = True
                raise _broken()
            self._taken += 1
            indices, owners = drawn
            with secret_draws(SYSTEM):
                picked = self._rows.pick(indices)
            batch = (*picked, None if owners is None else torch.from_numpy(owners))
            self._current = step = OwnStep(self, self._taken, batch)
            self._is_broken = False
            return step

    @property
    def noise_variance(self) -> float:
        """The variance of the noise on each number of a gradient; before the first, but for one part in a thousand."""
        law = self._law or Noise(self.plan, Fraction(self.clip.norm), 1, self._form)
        return law.variance

    def noisy(self, step: "OwnStep", total: ClippedSum) -> dict[str, Tensor]:
        """As `OwnStep.noisy`."""
        self._require_own_process()
        with self._lock:
            self._require_present(step)
            self._require_own(step, total)
            self._require_clippable(total)
            exact = total.flat.detach().cpu().double().numpy().copy()
            require_unchanged(total)
            noise = self._noise_of(exact.size)
            self._require_present(step)  # what was called meanwhile is the caller's
            self._is_broken, self._current = self._is_stream, None  # the step is over, whatever happens from here on
            noise.add(exact)
            self._is_broken = False
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

    @property
    def _is_stream(self) -> bool:
        return isinstance(self.plan, StreamPlan)

    def _require_own_process(self) -> None:
        """Refuses a forked process, which has the same private sums: each would draw noise of its own for them."""
        if self._process != os.getpid():
            fix = "Take all steps in one process, or call plan.run in each: every run is charged."
            raise bad("run", "must be used in the process that entered it", "another process", fix)

    def _require_going(self) -> None:
        """Refuses steps after the end of the loop, and after a draw that broke off."""
        if self._is_over:
            raise bad("run", "must be used inside its with block", "a run that is over", "Call plan.run again.")
        if self._is_broken:
            raise _broken()

    def _require_present(self, step: "OwnStep") -> None:
        """Refuses a step that is over."""
        if self._is_broken:
            raise _broken()
        if self._current is not step:
            rule = "must be the present one, with no noisy gradient yet"
            raise bad("step", rule, f"step {step.number}", "Take the next step: each gives one noisy gradient.")

    def _require_clippable(self, total: ClippedSum) -> None:
        """Refuses a net that mixes rows, on invented ones, when a sum was first made with its layers in these modes."""
        (module, loss), present = total.net, {layer: layer.training for layer in total.modes}
        invented, mode = self._rows.invented_rows(2), (id(module), id(loss), tuple(total.modes.values()))
        if invented is not None and mode not in self._tried:
            put_modes(total.modes)
            try:
                require_clippable(module, loss, *invented)
            finally:
                put_modes(present)
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


def _broken() -> BadValue:
    what = "The run broke off while rows or noise were drawn, and gives no more steps."
    return BadValue(what, "What was drawn is lost, and later steps count on it.", "Call plan.run again.")


class OwnStep:
    """One step: its private batch (inputs, targets, owners), and its one noisy gradient."""

    def __init__(self, run: OwnRun, number: int, batch: tuple[Any, Any, Tensor | None]) -> None:
        self._run, self.number, self.batch = run, number, batch

    def noisy(self, total: ClippedSum) -> dict[str, Tensor]:
        """The noisy gradient by the names of parameters: the sum plus noise, divided by the public expected batch."""
        return self._run.noisy(self, total)
