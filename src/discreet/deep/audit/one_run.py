"""The audit of one training: invented persons are in or out by fair coins, and somebody who sees it guesses which.

The training is the trainer's own: the same plan, samples, clipping, noise and blocks, on a copy of its net, with
canaries in place of rows.  No row of anybody is read, so nothing is charged.  Guesses are the highest scores ("in") and
as many of the lowest ("out"); how many there are was fixed beforehand, in a few ways that share the error.

A lower bound is no estimate (Steinke, Nasr & Jagielski 2023).  Proof page: docs/proofs/deep/audit.md.
"""

import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import amounts
from discreet.deep.audit.bound import Guesses, best_of
from discreet.deep.audit.canaries import Canaries, example_rows, invented_canaries
from discreet.deep.audit.scores import Watch, losses_of
from discreet.errors import bad
from discreet.ndarrays import Bools, Floats
from discreet.noise.bernoulli import bernoulli
from discreet.noise.source import SYSTEM, Source

if TYPE_CHECKING:
    from discreet.deep.training.trainer import Trainer

SCORES = ("gradients", "losses")
_SHARES = (20, 10, 5, 2)  # guesses are a twentieth of the canaries, a tenth, …
_NO_ESTIMATE = "This bounds the cost from below and does not estimate it: another audit may find more."


@dataclass(frozen=True)
class OneRun:
    """What one audit showed: `epsilon_lower` at the plan's δ, but for an error of probability 1 − `confidence`."""

    canaries: int
    guesses: int
    correct: int
    epsilon_lower: Fraction
    epsilon_claimed: Fraction
    delta: Fraction
    confidence: Fraction
    score: str

    @property
    def is_refuted(self) -> bool:
        """Whether the bound lies above the claim."""
        return self.epsilon_lower > self.epsilon_claimed

    def words(self) -> str:
        """The result in sentences."""
        share, delta = f"{amounts.text_of(100 * self.confidence)} %", amounts.text_of(self.delta)
        right = f"{self.correct:,} of {self.guesses:,} guesses about {self.canaries:,} invented persons were right"
        claim = f"The plan claims ε = {amounts.text_up(self.epsilon_claimed)} at δ = {delta}."
        if not self.epsilon_lower:
            return f"This audit found nothing above ε = 0: {right}. {claim} {_NO_ESTIMATE}"
        least = f"A person's part in this training costs at least ε = {amounts.text_of(self.epsilon_lower)}"
        verdict = "The claim is refuted." if self.is_refuted else _NO_ESTIMATE
        return f"{least} at δ = {delta}, with confidence {share}: {right}. {claim} {verdict}"

    def to_json(self) -> dict[str, Any]:
        """The result as JSON; amounts are texts."""
        return {
            "canaries": self.canaries,
            "guesses": self.guesses,
            "correct": self.correct,
            "epsilon_lower": amounts.text_of(self.epsilon_lower),
            "epsilon_claimed": amounts.text_of(self.epsilon_claimed),
            "delta": amounts.text_of(self.delta),
            "confidence": amounts.text_of(self.confidence),
            "score": self.score,
        }


def audit_of(
    trainer: "Trainer",
    canaries: int = 1000,
    *,
    example: Any = None,
    score: str = "gradients",
    confidence: Any = "0.95",
    source: Source = SYSTEM,
) -> OneRun:
    """A lower bound on the ε of this trainer's own training, from one run on invented persons; charged nowhere.

    `example` has (inputs, targets) of a few public rows, of which only shapes and types are used; after a fit it may be
    left out.  `score` is "gradients" for somebody who sees every step, which is what ε is promised against, or "losses"
    for somebody who sees the last net alone.
    """
    if score not in SCORES:
        raise bad("score", "must be 'gradients' or 'losses'", score, "Leave it out: gradients show most.")
    alpha = 1 - amounts.inner_probability(confidence, "confidence")
    remembered = getattr(trainer, "rows_like_", None)
    like = example_rows(remembered.example if example is None and remembered is not None else example)
    persons = invented_canaries(copy.deepcopy(trainer.module), like, canaries, trainer.max_rows)
    delta = trainer.plan.delta
    _require_power(persons.count, delta, alpha)
    coins = bernoulli(Fraction(1, 2), persons.count, source)
    scores = _scores(trainer, persons, coins, score)
    tries = [guesses_of(own, coins, count) for own in scores for count in counts_of(persons.count)]
    best, least = best_of(tries, persons.count, delta, alpha)
    return OneRun(persons.count, best.count, best.right, least, trainer.plan.epsilon, delta, 1 - alpha, score)


def counts_of(canaries: int) -> list[int]:
    """How many guesses are tried, all even.

    >>> counts_of(1000), counts_of(10)
    ([50, 100, 200, 500], [2, 4])
    """
    return sorted({max(2, canaries // share // 2 * 2) for share in _SHARES})


def guesses_of(scores: Floats, coins: Bools, count: int) -> Guesses:
    """Guesses that the canaries with the highest scores are in and those with the lowest are out.

    >>> guesses_of(np.array([3.0, 1.0, 2.0, 0.0]), np.array([True, False, False, True]), 2)
    Guesses(count=2, right=1)
    """
    order = np.argsort(scores, kind="stable")
    out, into = order[: count // 2], order[len(order) - count // 2 :]
    return Guesses(count, int(np.count_nonzero(coins[into])) + int(np.count_nonzero(~coins[out])))


def _scores(trainer: "Trainer", persons: Canaries, coins: Bools, score: str) -> Floats:
    """The scores after one training of a twin on the canaries whose coin says so; a row is one way to score."""
    twin = _twin(trainer)
    chosen, course = persons.rows_of(coins), twin.course()
    if score == "losses":
        before = losses_of(twin.module, twin.loss, persons, course.rows_forward)
        twin.fit(chosen, units=persons.units_of(coins))
        return before - losses_of(twin.module, twin.loss, persons, course.rows_forward)
    watch = Watch(course, persons)
    twin.optimizer.register_step_pre_hook(watch)
    twin.fit(chosen, units=persons.units_of(coins))
    return watch.scores()


def _twin(trainer: "Trainer") -> "Trainer":
    """A trainer with the same options and a net of its own, which pays nobody and leaves no trace."""
    module, optimizer = copy.deepcopy((trainer.module, trainer.optimizer))
    twin = copy.copy(trainer)
    vars(twin).pop("privacy_", None)
    twin.renew()
    twin.module, twin.optimizer, twin.ledger, twin.checkpoint = module, optimizer, None, None
    return twin


def _require_power(canaries: int, delta: Fraction, alpha: Fraction) -> None:
    """Refuses an audit in which not even right guesses alone would show anything."""
    tries = [Guesses(count, count) for count in counts_of(canaries)]
    if best_of(tries, canaries, delta, alpha)[1] == 0:
        rule = "must be enough to show something, and few enough for δ: canaries · δ is how often δ may hide the truth"
        raise bad("canaries", rule, canaries, "Give 1000, and a plan whose δ is far below 1/1000.")
