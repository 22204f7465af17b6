"""Invented people, from a seedable public generator."""

from typing import Any

import numpy as np

from discreet import amounts
from discreet.ndarrays import Ints
from discreet.noise.public import Generator


def traits(people: int, share: Any, chance: Generator) -> Ints:
    """One 0 or 1 a person; each is 1 with probability `share`, which is public.

    >>> from discreet.noise.public import generator
    >>> traits(10, "0.5", generator(7)).shape
    (10,)
    """
    bias = float(amounts.inner_probability(share, "share"))
    return (chance.random(amounts.count(people, "people", 1, 10**8)) < bias).astype(np.int64)
