"""A seedable generator for what is not protected: demo tables, random splits, simulated readers.

Never a source of privacy noise: it is not a `Source`, so no mechanism takes it.
"""

import numpy as np

Generator = np.random.Generator


def generator(seed: int | None = None) -> Generator:
    """NumPy's default generator."""
    return np.random.default_rng(seed)
