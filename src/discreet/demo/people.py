"""Makers of invented people: seedable, public, about nobody."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet import exact
from discreet.noise.source import Ints


class Chance(Protocol):
    """What `noise.public.generator` gives: numbers uniform on [0, 1) that protect nothing."""

    def random(self, size: int, /) -> NDArray[np.float64]: ...


def traits(people: int, share: Any, chance: Chance) -> Ints:
    """One 0 or 1 a person; each is 1 with probability `share`, which is public.

    >>> from discreet.noise.public import generator
    >>> traits(10, "0.5", generator(7)).shape
    (10,)
    """
    bias = float(exact.inner_probability(share, "share"))
    return (chance.random(exact.count(people, "people", 1, 10**8)) < bias).astype(np.int64)
