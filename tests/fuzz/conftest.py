"""What the fuzz tests share."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def own_garbage_alone() -> Iterator[None]:
    """Keep what earlier tests left out of every collection, so that a refusal's CPU seconds are its own.

    One full collection of a process that has run thousands of tests takes about a second.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
