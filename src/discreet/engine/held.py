"""Chunks that stay in memory between passes: an algorithm of many passes reads and encodes rows once, if they fit."""

from collections.abc import Callable, Iterator
from typing import Any

from discreet.kernel.rows import UnitRows


class HeldChunks:
    """The chunks of the last pass, if all of them took at most `room` bytes; what kernels made of them comes along."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._key: Any = None
        self._chunks: list[UnitRows] = []

    def chunks(self, key: Any, read: Callable[[], Iterator[UnitRows]]) -> Iterator[UnitRows]:
        """The chunks that `key` names: those in memory, or those that `read` reads now."""
        if key == self._key:
            yield from self._chunks
            return
        self.drop()
        kept, left = list[UnitRows](), self._room
        for chunk in read():
            left -= sum(column.nbytes for column in chunk.columns.values()) + chunk.starts.nbytes
            if left >= 0:
                kept.append(chunk)
            else:
                kept.clear()
            yield chunk
        if left >= 0:
            self._key, self._chunks = key, kept

    def drop(self) -> None:
        """Let go of them."""
        self._key, self._chunks = None, []
