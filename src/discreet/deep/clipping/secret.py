"""What a net draws while it is trained, as dropout does: from a state of PyTorch's generator that nobody knows.

The caller's generator may have a known seed, and what it gives next would tell how much was drawn: how many rows there
were.  So all 19,937 bits of the state come from the system's source, for each block of steps anew, and the caller's
state stands again afterwards.  These draws are pseudo-random (Matsumoto & Nishimura 1998); noise, samples and subsets
have nothing to do with them.
"""

import contextlib
import os
import threading
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from discreet.noise.source import Source


class _Turn:
    """One thread at a time: all threads of a process share PyTorch's generator."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        """A child has a lock of its own: another thread of its parent may have held the old one."""
        self.lock = threading.RLock()


TURN = _Turn()
_WORDS, _FIRST_BYTE = 624, 24  # the state's words of 32 bits, each in 8 bytes, and where they begin


@contextlib.contextmanager
def secret_draws(source: Source) -> Iterator[None]:
    """PyTorch's generator draws from a secret state inside, and goes on outside as if nothing had been drawn."""
    with own_draws():
        torch.set_rng_state(_state(source))
        yield


@contextlib.contextmanager
def own_draws() -> Iterator[None]:
    """PyTorch's generator belongs to this thread inside, and stands afterwards where it stood before."""
    with TURN.lock:
        before = torch.get_rng_state()
        try:
            yield
        finally:
            torch.set_rng_state(before)


def _state(source: Source) -> Tensor:
    """A state of the Mersenne twister whose words are the source's."""
    state = torch.Generator().get_state()
    words = source.words(_WORDS // 2).view(np.uint32).astype(np.uint64)
    state.numpy()[_FIRST_BYTE : _FIRST_BYTE + 8 * _WORDS] = words.view(np.uint8)
    return state
