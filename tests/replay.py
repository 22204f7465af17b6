"""Sources that replay chosen bits: for tests only, and nothing in the package imports them."""

from collections.abc import Iterable

import numpy as np

from discreet.noise.source import SYSTEM, Source, Words


class Exhausted(Exception):
    """More digits were asked for than the test gave."""


class Replay:
    """Hands out the given 64-bit words in order, then `after`, or raises if there is none."""

    def __init__(self, words: Iterable[int] | Words, after: Source | None = None) -> None:
        self.left = np.array(words if isinstance(words, np.ndarray) else list(words), dtype=np.uint64)
        self.after = after
        self.asked = 0

    def words(self, n: int) -> Words:
        self.asked += n
        given, self.left = self.left[:n], self.left[n:]
        if given.size == n:
            return given
        if self.after is None:
            raise Exhausted(f"{n - given.size} words more than the test gave")
        return np.concatenate([given, self.after.words(n - given.size)])


class Seeded:
    """The same words again for the same seed: for draws that a test must see twice, or must not leave to chance."""

    def __init__(self, seed: int) -> None:
        self.numbers = np.random.default_rng(seed)

    def words(self, n: int) -> Words:
        return self.numbers.integers(0, 2**64, n, dtype=np.uint64)


class Refusing:
    """Fails at the first request: what a test uses to show that no noise is drawn."""

    def words(self, n: int) -> Words:
        raise AssertionError(f"{n} words were drawn")


def then_system(words: Iterable[int] | Words) -> Replay:
    """The given words first, then the operating system's."""
    return Replay(words, SYSTEM)


def fair(n: int, seed: int) -> Words:
    """n words from a seeded generator: fixed digits for comparing two ways of reading them."""
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


def bytes_as_words(values: Iterable[int]) -> Words:
    """Bytes packed so that `coins` reads them in this order, eight to a word."""
    given = bytes(values)
    return np.frombuffer(given + bytes(-len(given) % 8), dtype=np.uint64)
