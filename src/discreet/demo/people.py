"""Makers of invented people: seedable, public, about nobody."""

from typing import Any, Protocol

import numpy as np

from discreet import amounts
from discreet.ndarrays import Floats, Ints


class Chance(Protocol):
    """What `noise.public.generator` gives: numbers uniform on [0, 1) that protect nothing."""

    def random(self, size: int, /) -> Floats: ...


def traits(people: int, share: Any, chance: Chance) -> Ints:
    """One 0 or 1 a person; each is 1 with probability `share`, which is public.

    >>> from discreet.noise.public import generator
    >>> traits(10, "0.5", generator(7)).shape
    (10,)
    """
    bias = float(amounts.inner_probability(share, "share"))
    return (chance.random(amounts.count(people, "people", 1, 10**8)) < bias).astype(np.int64)
