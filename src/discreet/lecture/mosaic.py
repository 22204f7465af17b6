"""A picture made of people: every bit of everybody's tile is flipped at random, and zoomed out the picture remains.

    flipped bit     b' = b with probability 1 − p, else 1 − b             ε = |ln((1 − p)/p)| a bit, k·ε a tile of k
    block of z²     (mean of b' − p)/(1 − 2p), unbiased, with noise of variance N = p(1 − p)/(z²(1 − 2p)²)
    correlation     √(S/(S + N)) expected with the original zoomed out alike, S the variance of its blocks

For p > ½ the flipped picture itself is a negative; 1 − 2p turns it back.  At p = ½ nothing is left.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.amounts import text_of
from discreet.mechanism.response import response
from discreet.ndarrays import Bools, Floats
from discreet.noise.bernoulli import bernoulli
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM

TILE = 16  # bits a side of what one person holds
READABLE = 0.9  # the correlation from which the picture is said to remain
_CLEAR = 0.8
_CLOSE = 128  # bits a side that are shown close up
_FEWEST_BLOCKS = 16  # a side: with fewer there is no picture


@dataclass(frozen=True)
class Zoom:
    """The picture in blocks of `block`² bits: what the flipped bits correlate with the original, and should."""

    block: int
    blocks: int  # a side
    expected: float
    correlation: float


@dataclass(frozen=True, eq=False)
class Mosaic:
    """Bits before and after, and what was learnt of them at every zoom."""

    flip: float
    epsilon_bit: float
    bits: Bools  # the original, size × size
    flipped: Bools
    person: tuple[int, int]  # the top left corner of the tile that is shown
    zoom: int  # block that is shown
    zooms: tuple[Zoom, ...]

    @property
    def size(self) -> int:
        """Bits a side."""
        return len(self.bits)

    @property
    def inverted(self) -> bool:
        """Whether more bits are wrong than right, so that the picture comes out as its negative."""
        return self.flip > 0.5

    @property
    def epsilon_tile(self) -> float:
        """All bits of one person together."""
        return TILE**2 * self.epsilon_bit

    @property
    def zoom_needed(self) -> int | None:
        """The least block at which the picture is expected to remain; None if no block leaves one."""
        return next((zoom.block for zoom in self.zooms if zoom.expected >= READABLE), None)

    @property
    def correlation(self) -> float:
        """Between the unbiased picture and the original, both in the blocks that are shown."""
        return next(zoom.correlation for zoom in self.zooms if zoom.block == self.zoom)

    def tile(self, *, sent: bool) -> tuple[str, ...]:
        """The lines of the person's tile, M for 1 and . for 0: as they are, or as they are sent."""
        top, left = self.person
        rows = (self.flipped if sent else self.bits)[top : top + TILE, left : left + TILE]
        return tuple("".join("M" if bit else "." for bit in row) for row in rows)

    def unbiased_means(self, block: int) -> Floats:
        """The picture from flipped bits."""
        restored: Floats = (block_means(self.flipped, block) - self.flip) / (1 - 2 * self.flip)
        return restored

    @property
    def sentence(self) -> str:
        """The result in words."""
        needed, widest = self.zoom_needed, self.zooms[-1].block
        odds = f"{math.exp(self.epsilon_bit):.3g}"
        negative = (
            " More bits are wrong than right, so the picture is inverted; unbiasing turns it back." * self.inverted
        )
        tile = (
            f"Every bit is flipped with probability {self.flip:.4g}: ε = {self.epsilon_bit:.3g} a bit, odds × {odds}, "
        )
        tile += f"and {self.epsilon_tile:.4g} for a person's tile of {TILE**2} bits."
        if needed is None:
            return f"{tile}{negative} No block of a picture of {self.size:,}² bits is enough, up to {widest}² bits."
        shown = f"It remains in blocks of {needed}² bits and more; in those of {self.zoom}² that are shown it "
        return f"{tile}{negative} {shown}correlates with the original by {self.correlation:.3f}."

    def figure(self, title: str) -> Any:
        """The picture of it all, as a figure of matplotlib."""
        from discreet.plot.mosaic import Panels, mosaic_picture

        top, left = (min(max(place - _CLOSE // 2, 0), self.size - _CLOSE) for place in self.person)
        close = self.flipped[top : top + _CLOSE, left : left + _CLOSE].astype(float)
        restored, original = self.unbiased_means(self.zoom), block_means(self.bits, self.zoom)
        panels = Panels(self.tile(sent=False), self.tile(sent=True), self.zoom, restored, close, original)
        return mosaic_picture(panels, title=title, caption=self.sentence)

    @property
    def alt(self) -> str:
        """The picture in words."""
        seen = (
            "can be made out"
            if self.correlation >= _CLEAR
            else "is seen dimly"
            if self.correlation >= 0.4
            else "is lost"
        )
        blocks = self.size // self.zoom
        return (
            f"Five panels: a person's tile of M and . before and after flipping, {blocks} by {blocks} block means in "
            f"which the picture {seen}, flipped bits close up, and the original zoomed out. {self.sentence}"
        )

    def to_json(self) -> dict[str, Any]:
        """One object for programs."""
        return {
            "flip": round(self.flip, 9),
            "size": self.size,
            "zoom": self.zoom,
            "epsilon_bit": round(self.epsilon_bit, 9),
            "epsilon_tile": round(self.epsilon_tile, 6),
            "tile_bits": TILE**2,
            "people": (self.size // TILE) ** 2,
            "zoom_needed": self.zoom_needed,
            "correlation": round(self.correlation, 4),
            "inverted": self.inverted,
            "wrong_bits": int((self.bits != self.flipped).sum()),
            "tile": list(self.tile(sent=False)),
            "tile_sent": list(self.tile(sent=True)),
            "zooms": [
                {
                    "block": z.block,
                    "blocks": z.blocks,
                    "expected": round(z.expected, 4),
                    "correlation": round(z.correlation, 4),
                }
                for z in self.zooms
            ],
            "sentence": self.sentence,
        }


def bits_of(darkness: Floats, seed: int) -> Bools:
    """People's bits: 1 with the probability of the darkness there, from the public seed."""
    bits: Bools = generator(seed).random(darkness.shape) < darkness
    return bits


def mosaic(
    bits: Bools, *, flip: Fraction | None = None, epsilon: Fraction | None = None, zoom: int | None, seed: int
) -> Mosaic:
    """Every bit flipped with probability `flip`, or by randomized response at ε; the zoom that is needed by default.

    Conditions: 0 < flip < 1, flip ≠ ½; the side of `bits` is a power of two.
    """
    import numpy as np

    if epsilon is not None:
        mechanism = response(epsilon)
        sent = mechanism(bits.ravel().astype(np.int64), SYSTEM).reshape(bits.shape) == 1
        share, loss = 1 - mechanism.keep, float(epsilon)
    else:
        share = float(flip or 0)
        sent = bits ^ bernoulli(Fraction(flip or 0), bits.size, SYSTEM).reshape(bits.shape)
        loss = abs(math.log((1 - share) / share))
    zooms = tuple(_zoom(bits, sent, share, 2**k) for k in range(int(math.log2(len(bits) // _FEWEST_BLOCKS)) + 1))
    row, column = generator(seed).integers(len(bits) // TILE // 8, len(bits) // TILE * 7 // 8, 2)
    result = Mosaic(share, loss, bits, sent, (int(row) * TILE, int(column) * TILE), zooms[-1].block, zooms)
    shown = zoom or result.zoom_needed or zooms[-1].block
    return Mosaic(share, loss, bits, sent, result.person, shown, zooms)


def block_means(bits: Bools, block: int) -> Floats:
    """Means over blocks."""
    blocks = len(bits) // block
    means: Floats = bits.reshape(blocks, block, blocks, block).mean(axis=(1, 3))
    return means


def noise_variance(flip: float, block: int) -> float:
    """Of an unbiased block: p(1 − p)/(z²(1 − 2p)²).

    >>> round(noise_variance(0.25, 16), 5)
    0.00293
    """
    return flip * (1 - flip) / (block * (1 - 2 * flip)) ** 2


def flip_text(flip: Fraction) -> str:
    """A probability in per cent.

    >>> flip_text(Fraction(1, 4))
    '25 %'
    """
    return f"{text_of(100 * flip)} %"


def _zoom(bits: Bools, sent: Bools, flip: float, block: int) -> Zoom:
    import numpy as np

    original, seen = block_means(bits, block), block_means(sent, block) * (1 if flip < 0.5 else -1)
    signal = float(original.var())
    expected = math.sqrt(signal / (signal + noise_variance(flip, block)))
    return Zoom(block, len(original), expected, float(np.corrcoef(original.ravel(), seen.ravel())[0, 1]))
