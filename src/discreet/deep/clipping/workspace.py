"""Buffers that are used again in every step: asking the system for large ones anew costs more than filling them."""

from torch import Tensor

CACHED = 2**17  # numbers that stay in a core's cache


class Workspace:
    """Numbered buffers; `start` begins again at the first.  Whoever takes one writes all of it before reading any."""

    def __init__(self) -> None:
        self._buffers: list[Tensor] = []
        self._next = 0

    def start(self) -> None:
        """All buffers may be taken again."""
        self._next = 0

    def take(self, like: Tensor, *shape: int) -> Tensor:
        """A buffer of that shape, of the type of `like`, holding whatever it held before."""
        size = 1
        for length in shape:
            size *= length
        if self._next == len(self._buffers):
            self._buffers.append(like.new_empty(0))
        buffer = self._buffers[self._next]
        if buffer.numel() < size or buffer.dtype != like.dtype:
            buffer = self._buffers[self._next] = like.new_empty(size + size // 8)  # the next sample may be larger
        self._next += 1
        return buffer[:size].view(shape)
