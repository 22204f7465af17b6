"""A seedable generator for what is not protected: demo tables, random splits, simulated readers.

Never a source of privacy noise: it is not a `Source`, so no mechanism takes it.
"""

import hashlib

import numpy as np

from discreet.ndarrays import Words

Generator = np.random.Generator


def generator(seed: int | None = None) -> Generator:
    """NumPy's default generator."""
    return np.random.default_rng(seed)


def words_of(seed: str, count: int) -> Words:
    """So many words of SHAKE-256: the same for the same text on every machine, in this version and all later ones.

    >>> words_of("a forest", 2)[0] == words_of("a forest", 3)[0]
    np.True_
    """
    return np.frombuffer(hashlib.shake_256(seed.encode()).digest(8 * count), dtype="<u8").astype(np.uint64)
