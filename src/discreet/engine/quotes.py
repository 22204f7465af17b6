"""Check that every quote of a CSV opens or closes a cell, as the engine's reader takes it.

A quote opens a cell at its start, behind a separator or a line end, and closes it at its end, before one; within, two
stand for one.  Anywhere else the reader takes it as a letter, and whoever counts pairs is out of step with it: one
person's cell could join or split lines of others.
"""

import re

import numpy as np

_QUOTE, _MARK = 0x22, b"\xef\xbb\xbf"
_DELIMITERS = (",", ";", "\t", "|")


def delimiter(line: str) -> str:
    """The separator that the header has most of outside quotes, as `metadata.header` sees it.

    >>> delimiter('person;"a,b,c";age')
    ';'
    """
    return max(_DELIMITERS, key=re.sub('"[^"]*"', "", line).count)


class Quotes:
    """Reads a file part by part; `misplaced` once a quote stands where none opens or closes a cell."""

    def __init__(self, separator: str) -> None:
        self.misplaced = False
        self._beside = np.isin(np.arange(256), [_QUOTE, 0x0A, 0x0D, ord(separator)])
        self._inside = 0  # 1 within a quoted cell
        self._held = b"\n"  # the byte before the next part, and the last one seen, whose neighbour is not known yet
        self._begun = False

    def see(self, part: bytes) -> None:
        """Check the next part of the file."""
        if not self._begun:
            self._begun, part = True, part.removeprefix(_MARK)
        body = np.frombuffer(self._held + part, dtype=np.uint8)
        places = np.flatnonzero(body[1:-1] == _QUOTE) + 1
        opening = (np.arange(len(places)) + self._inside) % 2 == 0
        neighbours = body[np.where(opening, places - 1, places + 1)]
        self.misplaced = self.misplaced or not self._beside[neighbours].all()
        self._inside = (self._inside + len(places)) % 2
        self._held = body[-2:].tobytes()

    def end(self) -> None:
        """Check the end of the file."""
        self.see(b"\n")
