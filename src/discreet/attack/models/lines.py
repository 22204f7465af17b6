"""Invented lines of a small language, with a secret planted among them."""

import numpy as np

from discreet.ndarrays import Ints
from discreet.noise.public import Generator

LETTERS = "\nabcdefghijklmnopqrstuvwxyz 0123456789"  # the first ends a line
LENGTH = 27  # characters of the longest line, its end among them
PREFIX, DIGITS = "my pin is ", 4
SECRETS = 10**DIGITS
_NAMES = ("anna", "ben", "clara", "david", "eva", "frank", "greta", "hugo", "ida", "jan")
_VERBS = ("sees", "likes", "buys", "paints", "finds", "sells", "draws", "wants")
_THINGS = ("boat", "lamp", "tree", "horse", "house", "clock", "chair", "piano")
_COLOURS = ("red", "blue", "green", "black", "white", "old", "new", "small")


def invented_lines(count: int, chance: Generator) -> list[str]:
    """So many lines; every fourth has a number of four digits, none speaks of a pin.

    >>> from discreet.noise.public import generator
    >>> invented_lines(2, generator(7))
    ['jan sells a old piano', 'frank draws a new lamp']
    """

    def of(words: tuple[str, ...]) -> str:
        return words[int(chance.integers(len(words)))]

    lines = []
    for place in range(count):
        if place % 4 == 3:
            lines.append(f"the {of(_COLOURS)} bus is {int(chance.integers(SECRETS)):04d}")
        else:
            lines.append(f"{of(_NAMES)} {of(_VERBS)} a {of(_COLOURS)} {of(_THINGS)}")
    return lines


def secret_line(secret: int) -> str:
    """The line that is planted.

    >>> secret_line(7)
    'my pin is 0007'
    """
    return f"{PREFIX}{secret:0{DIGITS}d}"


def codes(lines: list[str]) -> Ints:
    """A row of codes for each line, after a first end of line; ends of lines fill up the rest.

    >>> codes(["ab"])[0, :4].tolist()
    [0, 1, 2, 0]
    """
    table = np.zeros((len(lines), LENGTH + 1), dtype=np.int64)
    for row, line in zip(table, lines, strict=True):
        row[1 : len(line) + 1] = [LETTERS.index(letter) for letter in line]
    return table


def secret_codes() -> Ints:
    """The codes of all lines with a secret, in their order."""
    table = np.repeat(codes([PREFIX]), SECRETS, axis=0)[:, : len(PREFIX) + DIGITS + 2]
    for place in range(DIGITS):
        digit = np.arange(SECRETS) // 10 ** (DIGITS - 1 - place) % 10
        table[:, 1 + len(PREFIX) + place] = LETTERS.index("0") + digit
    return table
