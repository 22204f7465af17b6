"""The source of every random bit.

The system source keeps no state: each request draws a fresh 256-bit key from the operating system and stretches it
with AES-256 in counter mode.  A forked, spawned or threaded worker therefore cannot repeat anything, and no seed or
environment variable reaches it.  `Source` is a protocol so that tests can replay chosen bits; nothing in the package
makes any other source.
"""

import os
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR

from discreet.ndarrays import Words

_FEW_BYTES = 512  # below this the kernel is quicker than a key schedule
_KEY_BYTES, _BLOCK_BYTES = 32, 16


class Source(Protocol):
    """Independent uniform 64-bit words."""

    def words(self, n: int) -> Words: ...


@dataclass(frozen=True)
class System:
    """The operating system's generator, stretched; the only source that protects anyone."""

    def words(self, n: int) -> Words:
        size = 8 * n
        if size <= _FEW_BYTES:
            return np.frombuffer(os.urandom(size), dtype=np.uint64)
        secret = os.urandom(_KEY_BYTES + _BLOCK_BYTES)
        stream = Cipher(AES256(secret[:_KEY_BYTES]), CTR(secret[_KEY_BYTES:])).encryptor()
        output = bytearray(size + _BLOCK_BYTES - 1)
        stream.update_into(_zeros(size), output)
        return np.frombuffer(output, dtype=np.uint64, count=n)


SYSTEM = System()

_ZEROS = bytes(1 << 19)


def _zeros(size: int) -> memoryview | bytes:
    return memoryview(_ZEROS)[:size] if size <= len(_ZEROS) else bytes(size)
