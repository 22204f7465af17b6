"""The time that an audit of a program may take."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """How much of the allowed time is left."""

    seconds: float
    began: float

    @property
    def left(self) -> float:
        """Seconds, and a little where none is left."""
        return max(0.01, self.began + self.seconds - time.monotonic())
