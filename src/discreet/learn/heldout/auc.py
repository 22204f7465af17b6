"""The area under the ROC curve from a noisy histogram, class × bin of the predicted probability.

    AUC = P(a person of the class scores above one of the rest), ties counting half = xᵀK y / (N₁ N₀)

x and y are the counts of the class and of the rest by bin, K[b, c] is 1 for c < b and ½ for c = b.  Bins are cut from
the model, which is public, and from no row: it scores invented rows, and half of the edges are quantiles of what it
says, the others even in ln p/(1 − p) between the least and the largest.  Equal models have equal edges.

For a guess θ, noise alone is left of xᵀ(K − θ) y at the exact θ; its variance is taken from the noisy counts, which
makes it larger on average.
Proof page: docs/proofs/learn/heldout/score.md.
"""

import numpy as np

from discreet.learn.heldout.interval import Estimate, Law, estimate_of, hull, width_factor
from discreet.learn.heldout.predictor import Predictor
from discreet.learn.input.column import ModelColumn
from discreet.ndarrays import Bools, Floats, Ints
from discreet.noise.public import words_of

BINS = 96
RULE = 2  # the version of how edges are cut, for keys; 1 was even from −8 to 8, whatever the model
_INVENTED = 4000  # rows
_FURTHEST = 8.0  # ln p/(1 − p) up to which bins are even
_TINY = 1e-15


def edges_of(model: Predictor, positive: int, bins: int) -> Floats:
    """The probabilities between the bins, for that model and that class."""
    rows = {feature.name: _invented_cells(feature) for feature in model.subject.features}
    return edges(model.scores(rows)[:, positive], bins)


def edges(scores: Floats, bins: int) -> Floats:
    """So many bins for scores like these; the outermost have no end."""
    known = np.sort(scores[np.isfinite(scores)])
    values = np.unique(known)
    quantiles = known[np.arange(1, bins // 2 + 1) * len(known) // (bins // 2 + 1)] if len(known) else known
    places = np.unique(np.searchsorted(values, quantiles))
    if len(values) <= len(quantiles):
        places = np.arange(len(values))
    cuts = np.array([(values[place - 1] + values[place]) / 2 for place in places if place > 0])
    low, high = _ends(values)
    even = 1 / (1 + np.exp(-np.linspace(low, high, bins - len(cuts) + 1)[1:-1]))
    together: Floats = np.sort(np.concatenate([cuts, even]))
    return together


def _ends(values: Floats) -> tuple[float, float]:
    """ln p/(1 − p) of the least and of the largest, cut off at −8 and 8 unless nothing is left between."""
    if len(values) < 2:
        return -_FURTHEST, _FURTHEST
    shares = np.clip(values[[0, -1]], _TINY, 1 - _TINY)
    low, high = (float(odds) for odds in np.log(shares / (1 - shares)))
    inner = max(low, -_FURTHEST), min(high, _FURTHEST)
    return inner if inner[0] < inner[1] else (low, high)


def _invented_cells(feature: ModelColumn) -> Floats | Ints:
    """Cells of invented rows as `Subject.encoded` makes them: public values, or numbers within the bounds.

    Half of the numbers are drawn evenly, half evenly in the logarithm of the way from the lower bound.
    """
    words = words_of(f"rows for an area, {RULE}: {feature.name}", 2 * _INVENTED).astype(np.float64) / 2.0**64
    drawn, coin = np.minimum(words[:_INVENTED], 1 - 2.0**-53), words[_INVENTED:]
    if feature.values is not None:
        codes = (drawn * len(feature.values)).astype(np.int64)
        return codes if feature.is_coded else np.array([float(value) for value in feature.values])[codes]
    points = float((feature.high - feature.low) / feature.step) + 1
    steps = np.floor(np.where(coin < 0.5, drawn * points, np.expm1(drawn * np.log1p(points))))
    low, high = float(feature.low), float(feature.high)
    return np.clip(low + steps * float(feature.step), low, high)


def histogram(is_class: Bools, probability: Floats, between: Floats) -> Ints:
    """The counts of the rest by bin, then those of the class; a probability on an edge lies below it."""
    bins = len(between) + 1
    places = np.searchsorted(between, probability)  # NaN lies in the last
    return np.bincount(is_class.astype(np.int64) * bins + places, minlength=2 * bins).astype(np.int64)


def auc_estimate(noisy: Ints, law: Law, unordered: float = 0.0) -> Estimate:
    """The area that the noisy counts give, and those that are possible if so many pairs may be in either order.

    Two persons of one bin count as equal.  By their exact scores either may be above, so the area of exact scores lies
    within half of such pairs.

    Noise is whole: where there is hardly any, one step of one count is more than its spread, so half of the most that
    such a step moves is added.
    About the population the variance is larger by A(1 − A)/min(N₁, N₀), the most it can be (Birnbaum & Klose 1957).
    """
    rest, own = np.split(noisy.astype(np.float64), 2)
    total_rest, total_own = float(rest.sum()), float(own.sum())
    below = np.cumsum(rest) - rest / 2  # K y
    above = own.sum() - np.cumsum(own) + own / 2  # Kᵀ x
    pairs, wins = total_rest * total_own, float(own @ below)
    squares = (
        below @ below + above @ above,
        -2 * (total_rest * below.sum() + total_own * above.sum()),
        len(own) * (total_rest**2 + total_own**2),
    )
    drawn = law.rows * pairs**2 / max(min(total_rest, total_own), 1.0) if law.is_population else 0.0

    def step(areas: Floats) -> Floats:
        ends = ((below[0], below[-1], total_rest), (above[0], above[-1], total_own))
        furthest: Floats = np.max([np.abs(end - areas * total) for *both, total in ends for end in both], axis=0)
        return furthest

    def accepts(areas: Floats) -> Bools:
        noise = squares[0] + areas * squares[1] + areas**2 * squares[2]  # |K y − θN₀|² + |Kᵀx − θN₁|²
        spread = np.sqrt(np.maximum(law.variance * noise + drawn * areas * (1 - areas), 0.0))
        furthest = width_factor(law.level) * spread + (step(areas) + unordered) / 2
        accepted: Bools = np.abs(wins - areas * pairs) <= furthest
        return accepted

    if total_rest <= 0 or total_own <= 0:
        return Estimate(None, 0.0, 1.0)
    value = min(max(wins / pairs, 0.0), 1.0)
    return estimate_of(value, *hull(accepts, value))


def most_pairs_within(noisy: Ints, law: Law) -> float:
    """At most how many pairs of both classes lie in one bin: Σ x·y of noisy counts, which is right on average, and as
    many of its standard deviations as the level asks for, whose square taken from noisy counts is larger on average."""
    rest, own = np.split(noisy.astype(np.float64), 2)
    spread = np.sqrt(law.variance * (rest @ rest + own @ own))
    step = float(np.abs(noisy).max()) / 2  # noise is whole, as above
    return max(float(rest @ own + width_factor(law.level) * spread) + step, 0.0)
