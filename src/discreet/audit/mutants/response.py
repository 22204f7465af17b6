"""Planted bugs of randomized response."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from flint import arb

from discreet.audit.bounds import Odds
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Outputs
from discreet.audit.laws import OutputLaw, independent
from discreet.audit.mutants.planted import Drawn, Planted, Proven
from discreet.mechanism.response import two_coins
from discreet.noise.source import Source
from discreet.privacy.certify import up
from discreet.privacy.cost import Response
from discreet.real import ball


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    uneven = two_coins("0.5", "0.1")
    fair = up(lambda: ball(3).log())
    wrong = "A second coin of bias 0.1 is priced by the fair coin's formula, ln((1 + t)/(1 − t))."

    def law(truth: int) -> OutputLaw:
        return {1: ball(uneven.said_yes(truth)), 0: 1 - ball(uneven.said_yes(truth))}

    yield Proven("uneven-coin-priced-as-fair", wrong, Response(fair), ((0, 1),), law)

    def draw(truth: int, n: int, source: Source) -> Outputs:
        return uneven(np.full(n, truth), source)

    chances = (float(uneven.said_yes(1)) - 1e-15, float(uneven.said_yes(0)) + 1e-15)
    event = Event(Coordinate(0), "=", 1)
    wrong = "The same, seen in reports."
    yield Drawn("uneven-coin-drawn", wrong, Odds(fair), (1, 0), draw, event, chances, 2_500)
    wrong = "The truth is kept with probability e^ε/(1 + e^ε) among five answers, as if there were two."
    yield Proven("kary-as-binary", wrong, Response(Fraction(1)), ((0, 1), (2, 4)), _five)
    wrong = "One person reports twice with fresh coins at the price of once."
    yield Proven("reports-twice", wrong, Response(Fraction(1)), ((0, 1),), lambda x: independent([_binary(x)] * 2))


def _keep() -> arb:
    return 1 / (1 + (-ball(1)).exp())


def _binary(truth: int) -> OutputLaw:
    return {truth: _keep(), 1 - truth: 1 - _keep()}


def _five(truth: int) -> OutputLaw:
    return {v: _keep() if v == truth else (1 - _keep()) / 4 for v in range(5)}
