"""Scores of classes as probabilities, and amounts as shares."""

import numpy as np

from discreet.ndarrays import Floats
from discreet.noise.powers import exp_minus


def normalised(amounts: Floats) -> Floats:
    """Amounts divided by their sum; 0 where all of them are."""
    return amounts / (amounts.sum() or 1.0)


def softmax(lines: Floats) -> Floats:
    """e^line over their sum, row by row.

    By operations that are rounded one element at a time: what a row gets must not depend on the rows beside it, for
    scores of held-out persons are counted.
    """
    top = lines.max(axis=1, keepdims=True)
    powers = exp_minus(top - lines)
    total = np.zeros(len(lines))
    for power in powers.T:
        total += power
    return powers / total[:, None]
