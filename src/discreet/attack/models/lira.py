"""Scores by which a row is called a member: its loss alone, or how its loss compares with that of shadow models.

    φ = ln(p/(1 − p))        p: the chance that the model gives to the row's own class
    LiRA: ln N(φ; μ_in, σ_in) − ln N(φ; μ_out, σ_out)      μ, σ of the row's φ over shadows with it and without it

Carlini, Chien, Nasr, Song, Terzis & Tramèr, “Membership inference attacks from first principles” (2022).  Yeom,
Giacomelli, Fredrikson & Jha (2018) for the loss.
"""

import numpy as np

from discreet.ndarrays import Bools, Floats

_LEAST_DEVIATION = 1e-3


def likelihood_ratios(own: Floats, shadows: Floats, members: Bools) -> Floats:
    """The score of each row: `own` is its φ under the attacked model, a line of `shadows` that under each shadow.

    `members` says which rows each shadow was trained on.
    """
    with_mean, with_deviation = _law(shadows, members)
    without_mean, without_deviation = _law(shadows, ~members)
    ratios: Floats = _log_density(own, with_mean, with_deviation) - _log_density(own, without_mean, without_deviation)
    return ratios


def caught_share(scores: Floats, members: Bools, false_alarms: float) -> tuple[float, float]:
    """(TPR, threshold): of the members, how many score above a threshold that so many of the others reach at most."""
    others = np.sort(scores[~members])[::-1]
    threshold = float(others[int(false_alarms * len(others))])
    return float((scores[members] > threshold).mean()), threshold


def _law(shadows: Floats, chosen: Bools) -> tuple[Floats, Floats]:
    """The mean of each row's φ over the chosen shadows, and its deviation."""
    counts = np.maximum(chosen.sum(0), 1)
    mean = (shadows * chosen).sum(0) / counts
    square = (((shadows - mean) ** 2) * chosen).sum(0) / np.maximum(counts - 1, 1)
    return mean, np.sqrt(square) + _LEAST_DEVIATION


def _log_density(values: Floats, mean: Floats, deviation: Floats) -> Floats:
    density: Floats = -np.log(deviation) - ((values - mean) / deviation) ** 2 / 2
    return density
