"""A uniform real number on [0, 1), of which as many binary digits are drawn as decisions need.

    value / 2^bits  ≤  U  <  (value + 1) / 2^bits

Every sampler falls back to this slow, obvious form: it decides once the known digits force the decision, and draws more
digits until they do.
"""

from dataclasses import dataclass

from flint import arb

from discreet import real
from discreet.noise.source import Source

MORE = 64


@dataclass
class Digits:
    """The digits so far; they only ever grow."""

    value: int = 0
    bits: int = 0

    def grow(self, source: Source) -> None:
        """Draw 64 further digits."""
        self.value = (self.value << MORE) | int(source.words(1)[0])
        self.bits += MORE

    def ball(self) -> arb:
        """All numbers with these digits, as one enclosure."""
        unit = arb(2) ** -self.bits
        return (arb(self.value) * unit).union(arb(self.value + 1) * unit)


def below(uniform: Digits, bound: real.Real, source: Source) -> bool:
    """Whether U < bound, drawing as many digits as that takes."""
    while True:
        with real.precision(uniform.bits + 64):
            u, b = uniform.ball(), bound()
            if u < b:
                return True
            if u >= b:
                return False
        uniform.grow(source)


def floor_of(affine: real.Real, grow: Digits, source: Source) -> int:
    """⌊x⌋ for an x that depends on the digits of `grow`, drawing as many as that takes."""
    while True:
        with real.precision(grow.bits + 128):
            floor = affine().floor().unique_fmpz()
        if floor is not None:
            return int(floor)
        grow.grow(source)
