"""Chunks that stay in memory between passes: an algorithm of many passes reads and encodes those that fit once."""

from collections.abc import Callable, Iterator
from typing import Any

from discreet.engine.chunks import BEGINNING, Place
from discreet.kernel.rows import UnitRows

Read = Callable[[Place], Iterator[tuple[UnitRows, Place | None]]]  # chunks from a place on, with the place after each


class HeldChunks:
    """The first chunks of the last pass, as many as take `room` bytes; what kernels made of them comes along."""

    def __init__(self, room: int) -> None:
        self._room = self._left = room
        self._key: Any = None
        self._chunks: list[UnitRows] = []
        self._place: Place | None = BEGINNING  # after the last of them

    def chunks(self, key: Any, read: Read) -> Iterator[UnitRows]:
        """The chunks that `key` names: those in memory, then those that `read` reads now."""
        if key != self._key:
            self._key, self._chunks, self._left, self._place = key, [], self._room, BEGINNING
        yield from tuple(self._chunks)
        for chunk, following in read(self._place) if self._place is not None else ():
            taken = sum(column.nbytes for column in chunk.columns.values()) + chunk.starts.nbytes
            if taken <= self._left:
                self._chunks.append(chunk)
                self._left, self._place = self._left - taken, following
            else:
                self._left = 0  # what lies behind it is not held either: chunks are held without a gap
            yield chunk
