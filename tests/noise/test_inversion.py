"""Inversion: each number has exactly the width of its step of the cumulative chances."""

from collections import Counter
from fractions import Fraction as F

from discreet import real
from discreet.noise.inversion import inverse_draw
from replay import Replay


def sixths(k):
    return lambda: real.ball(F(k, 6))


def test_every_number_has_its_width():
    """256 evenly spread uniform numbers: each face of a die gets 42 or 43 of them."""
    faces = Counter(inverse_draw(sixths, Replay([(2 * i + 1) << 55])) for i in range(256))
    assert sum(faces.values()) == 256
    assert all(abs(faces[face] - 256 / 6) < 1 for face in range(1, 7))


def test_a_tie_takes_further_digits():
    half = 1 << 63
    for further, face in ((1 << 60, 2), ((1 << 64) - 1, 2)):
        source = Replay([half, further])
        assert inverse_draw(lambda k: lambda: 1 - real.ball(F(1, 2**k)), source) == face
        assert source.left.size == 0


def test_one_number_is_compared_with_all_chances():
    source = Replay([(1 << 64) - (1 << 50)])
    assert inverse_draw(sixths, source) == 6
    assert source.asked == 1
