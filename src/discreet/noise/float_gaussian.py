"""Gaussian noise in single precision, for training on request only: quick, and with no proof of its last digits.

    N₁, N₂ = √(−2 ln U)·(cos 2πV, sin 2πV)             Box & Muller (1958)

U is a whole number of 2⁻³² in (0, 1], V one in [−½, ½), from the words of the source, rounded to single precision.
Logarithm, root and angle are those of the processor, and |N| is at most √(2·32·ln 2) < 6.67.  So ε holds for this noise
in real arithmetic, with normal digits, and not for what runs (Mironov 2012).  Its words are as good as those of all
other noise.
"""

import numpy as np
from numpy.typing import NDArray

from discreet.ndarrays import Words
from discreet.noise.source import Source

Singles = NDArray[np.float32]
_DRAWN = 1 << 16  # words that are drawn at once, since each draw has a key of its own
_CHUNK = 1 << 13  # pairs: their arrays stay in a core's cache
_UNIT = np.float32(2.0**-32)
_ANGLE = np.float32(2 * np.pi * 2.0**-32)


def add_normal(total: Singles, deviation: float, source: Source) -> None:
    """Add independent normal numbers of that standard deviation to a flat array, in place."""
    for start in range(0, total.size, 2 * _DRAWN):
        part = total[start : start + 2 * _DRAWN]
        words = source.words((part.size + 1) // 2)
        for first in range(0, words.size, _CHUNK):
            _add_to_chunk(part[2 * first : 2 * (first + _CHUNK)], deviation, words[first : first + _CHUNK])


def _add_to_chunk(total: Singles, deviation: float, drawn: Words) -> None:
    pairs = drawn.size
    words = drawn.view(np.uint32)
    radius = words[:pairs].astype(np.float32)
    radius += 1
    radius *= _UNIT
    np.log(radius, out=radius)
    radius *= np.float32(-2)
    np.sqrt(radius, out=radius)
    radius *= np.float32(deviation)
    angle = words[pairs:].view(np.int32).astype(np.float32)
    angle *= _ANGLE
    first = np.cos(angle)
    first *= radius
    total[:pairs] += first
    np.sin(angle, out=angle)
    angle *= radius
    total[pairs:] += angle[: total.size - pairs]
