"""Audit a training of any kind by membership: invented rows are in or out by fair coins, and somebody guesses which.

Shadow models, trained by the same function on rows drawn by the same coins, show how each canary scores when it is in
and when it is out; the likelihood ratio of two normal laws makes one score of all (LiRA, Carlini et al. 2022):

    s(x) = ln N(score; μ_in, σ_in) − ln N(score; μ_out, σ_out)

One more model is audited.  The highest s are guessed "in", as many of the lowest "out", and the right guesses bound ε
(Steinke, Nasr & Jagielski 2023; docs/proofs/deep/audit.md), whatever the shadows did: they never saw its coins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.audit.bounds import Odds
from discreet.audit.callables import claim_of
from discreet.errors import BadValue, bad
from discreet.ndarrays import Bools, Floats
from discreet.noise.bernoulli import bernoulli
from discreet.noise.source import SYSTEM

ERROR = Fraction(1, 10**6)
_FEWEST_CANARIES, _MOST_CANARIES = 20, 10**5
_FEWEST_SHADOWS, _MOST_SHADOWS = 8, 10**4
_SHARES = (20, 10, 5, 2)  # guesses are a twentieth of the canaries, a tenth, …
_FALSE_ALARMS = 0.01
_FLOOR = 1e-6  # of a spread, beside that of all scores together


@dataclass(frozen=True)
class Members:
    """What one audited model showed: its training costs at least ε = `lower`, but for one audit of a million.

    `caught` is the share of canaries inside that the score finds at 1 % false alarms among those outside.
    """

    claim: Odds
    lower: float
    canaries: int
    guesses: int
    right: int
    caught: float
    shadows: int

    @property
    def refuted(self) -> bool:
        """Whether the bound lies above the claim."""
        return self.lower > self.claim.epsilon

    @property
    def sentence(self) -> str:
        """The result in words that promise no more than was shown."""
        guessed = f"{self.right:,} of {self.guesses:,} guesses about {self.canaries:,} invented rows were right"
        caught = f"{self.caught:.1%} of those inside are caught at 1 % false alarms"
        if self.refuted:
            return f"The claim {self.claim} is refuted: the cost is at least ε = {self.lower:g}: {guessed}; {caught}."
        return (
            f"The claim {self.claim} is not refuted: nothing above ε = {self.lower:g} was found; {guessed}; {caught}. "
            "A bound from one model lies far below the cost even where the claim is tight, and is no estimate."
        )


def membership(
    fit: Callable[[list[Any]], Any],
    score: Callable[[Any, Any], float],
    canaries: Sequence[Any],
    *,
    rows: Sequence[Any] = (),
    claim: Any = 1,
    delta: Any = 0,
    shadows: Any = 32,
) -> Members:
    """Whether the training `fit` of your own costs more than the ε (at δ) that it claims: refuted, or not.

    `fit` takes a list of rows and returns a model; `score(model, row)` is a number, such as the log-odds of the row's
    label.  `canaries` are invented rows, each its own person, and `rows` others that are always in: invent them too, as
    the result is a function of them.  shadows + 1 models are trained.
    """
    for name, function in (("fit", fit), ("score", score)):
        if not callable(function):
            raise bad(name, "must be a function", function, "Give fit(rows) and score(model, row).")
    for name, given in (("canaries", canaries), ("rows", rows)):
        _require_list(name, given)
    test = claim_of(claim, delta)
    count = amounts.count(len(canaries), "canaries", _FEWEST_CANARIES, _MOST_CANARIES)
    size = amounts.whole(shadows, "shadows", _FEWEST_SHADOWS, _MOST_SHADOWS, such_as=32)
    coins = bernoulli(Fraction(1, 2), (size + 1) * count, SYSTEM).reshape(size + 1, count)
    scores = np.array([_scores(fit, score, canaries, rows, inside) for inside in coins])
    odds = log_odds(scores[:-1], coins[:-1], scores[-1])
    return _result_of(test, odds, coins[-1], size)


def log_odds(shadows: Floats, coins: Bools, scores: Floats) -> Floats:
    """ln N(score; μ_in, σ_in) − ln N(score; μ_out, σ_out) for each canary, by its shadows; σ is at least a little."""
    floor = _FLOOR + 0.05 * float(np.std(shadows))
    sides = []
    for inside in (coins, ~coins):
        number = np.maximum(inside.sum(axis=0), 1)
        middle = np.where(inside, shadows, 0.0).sum(axis=0) / number
        square = np.where(inside, (shadows - middle) ** 2, 0.0).sum(axis=0) / number
        spread = np.sqrt(square) + floor
        sides.append(-(((scores - middle) / spread) ** 2) / 2 - np.log(spread))
    odds: Floats = sides[0] - sides[1]
    return odds


def _scores(fit: Any, score: Any, canaries: Sequence[Any], rows: Sequence[Any], inside: Bools) -> Floats:
    """The score of every canary after one training on those inside."""
    model = fit([*rows, *(canary for canary, is_in in zip(canaries, inside.tolist(), strict=True) if is_in)])
    scores: Floats = np.nan_to_num([_number(score(model, canary)) for canary in canaries])
    return scores


def _number(score: Any) -> float:
    """The score as a float; it is not quoted, since a model may hold rows."""
    try:
        if isinstance(score, (str, bytes)):
            raise TypeError
        return float(score)
    except (TypeError, ValueError, OverflowError):
        why = f"It returned what is no such number, of type {type(score).__name__}."
        fix = "Return a float, such as the log-odds of the row's label."
        raise BadValue("score must return a number for each row.", why, fix) from None


def _require_list(name: str, given: Any) -> None:
    """Refuses what cannot be gone through for each model anew; a text, a dict and a frame yield something else."""
    has_rows = all(hasattr(given, method) for method in ("__len__", "__getitem__", "__iter__"))
    if not has_rows or isinstance(given, (str, bytes)) or hasattr(given, "keys"):
        raise bad(
            name, "must be a list of rows", type(given).__name__, "Give a list; list(…) makes one of an iterator."
        )


def _result_of(test: Odds, odds: Floats, coins: Bools, shadows: int) -> Members:
    from discreet.deep.audit.bound import Guesses, best_of

    order = np.argsort(odds, kind="stable")
    tries = []
    for count in sorted({max(2, coins.size // share // 2 * 2) for share in _SHARES}):
        outside, inside = order[: count // 2], order[coins.size - count // 2 :]
        tries.append(Guesses(count, int(coins[inside].sum() + (~coins[outside]).sum())))
    best, least = best_of(tries, coins.size, test.delta, ERROR)
    return Members(test, float(least), coins.size, best.count, best.right, _share_caught(odds, coins), shadows)


def _share_caught(odds: Floats, coins: Bools) -> float:
    """The share inside above the threshold that 1 % of those outside reach."""
    outside = np.sort(odds[~coins])
    if outside.size == 0 or not coins.any():
        return 0.0
    threshold = outside[max(0, outside.size - 1 - int(_FALSE_ALARMS * outside.size))]
    return float((odds[coins] > threshold).mean())
