"""Words for one pass, stretched from a key of 32 bytes by AES-256 in counter mode, as `noise.source` does it.

The source given to `View.sum` draws the key and the engine sends it along, so that a test can replay a pass.  These are
coins of kernels, which round with them; they are never noise.  Only a pass of an engine makes them; a test keeps that.
"""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR

from discreet.ndarrays import Words
from discreet.noise.source import Source

KEY_BYTES, _BLOCK_BYTES = 32, 16


def draw_key(source: Source) -> bytes:
    """A fresh key of 32 bytes."""
    return source.words(KEY_BYTES // 8).tobytes()


class Coins:
    """One stream of words: asked for in parts or at once, they are the same.

    >>> bool((Coins(bytes(32)).words(3)[1:] == [Coins(bytes(32)).words(2)[1], Coins(bytes(32)).words(3)[2]]).all())
    True
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self._stream = Cipher(AES256(key), CTR(bytes(_BLOCK_BYTES))).encryptor()  # a key is used once

    def words(self, n: int) -> Words:
        """The next n words."""
        return np.frombuffer(self._stream.update(bytes(8 * n)), dtype=np.uint64)
