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
    return SeededWords(seed)("", count)


class SeededWords:
    """Words of one seed and many names: `SeededWords(seed)(name, count)` is `words_of(seed + name, count)`.

    The seed, which may be long, is hashed once.

    >>> SeededWords("a ")("forest", 2)[1] == words_of("a forest", 2)[1]
    np.True_
    """

    def __init__(self, seed: str) -> None:
        self._hashed = hashlib.shake_256(seed.encode())

    def __call__(self, name: str, count: int) -> Words:
        """So many words of that name."""
        own = self._hashed.copy()
        own.update(name.encode())
        return np.frombuffer(own.digest(8 * count), dtype="<u8").astype(np.uint64)
