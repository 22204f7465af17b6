"""What is shown while a net is trained: the step, ε so far and the public rate.  Nothing of it depends on rows."""

import contextlib
import time
from collections.abc import Callable

from discreet import amounts
from discreet.deep.training.draws import AnyPlan, share_words
from discreet.engine.protocol import Progress

PATIENCE = 2.0  # seconds without a word
_PAUSE = 1.0
_SHARE = 20.0  # pricing ε may take one part in so many of the time


class Telling:
    """Tells a function of the caller, at most once a second, how far a training is."""

    def __init__(self, plan: AnyPlan, progress: Progress, clock: Callable[[], float] = time.monotonic) -> None:
        self._plan, self._progress, self._clock = plan, progress, clock
        self._next = self._priced = clock() + PATIENCE
        self._words = ""

    def __call__(self, step: int) -> None:
        """Tell of a step that was taken, if it is time."""
        now = self._clock()
        if now >= self._next:
            if now >= self._priced:
                spent = amounts.text_up(self._plan.epsilon_after(step))
                self._words = f", ε = {spent} of {amounts.text_up(self._plan.epsilon)} by step {step:,}"
                self._priced = self._clock() + _SHARE * (self._clock() - now)
            text = f"step {step:,} of {self._plan.steps:,}, {share_words(self._plan)}{self._words}"
            self._next = float("inf")  # a function that breaks is not called again: the training goes on
            with contextlib.suppress(Exception):
                self._progress(text, step / self._plan.steps)
                self._next = self._clock() + _PAUSE
