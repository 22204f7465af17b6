"""Claims of local protocols: what a report costs its person, or, where single uses are protected, one use."""

from collections.abc import Iterator
from typing import Any

from discreet.audit.claim import EPSILONS, Claim
from discreet.audit.reporting import Reporting
from discreet.audit.trial import Pair
from discreet.local import face
from discreet.local.number_protocol import NumberProtocol
from discreet.local.protocol import ValueProtocol
from discreet.privacy.cost import Pure

_YES_NO: tuple[Pair, ...] = ((0, 1), ((0, 0, 0), (0, 1, 0)), ((1, 1), (1, 0)))


def family() -> Iterator[Claim]:
    """All claims of reports; their names begin with local."""
    yield _claim("local-two-coins", face.two_coins, face.two_coins(), _YES_NO)
    for e in EPSILONS:
        yield _claim(f"local-binary-{e}", face.binary, face.binary(e), _YES_NO)
        yield _claim(f"local-number-{e}", face.number, face.number(e, 0, 6, 1), ((0, 6), (2, 3), (6, 0)))
    yield _claim("local-kary", face.kary, face.kary(1, 5), ((0, 1), (0, 4), (2, 3), ((4, 4), (4, 0))))
    for e in EPSILONS:
        yield _claim(f"local-subset-{e}", face.subset, face.subset(e, 8), ((0, 1), (0, 7), (3, 4)))
    for field in (2, 3, 4):
        hashed = face.hashed(1, 6, field)
        yield _claim(f"local-hashed-{field}", face.hashed, hashed, ((0, 1), (0, 5), (2, 3)))
    yield _claim("local-unary", face.unary, face.unary(1, 4), ((0, 1), (0, 3), (2, 1)))
    yield _claim("local-auto", face.auto, face.auto(2, 20), ((0, 1), (0, 19), (10, 11)))
    use = face.number(1, 0, 6, 1, protects="use")
    steps: tuple[Pair, ...] = ((0, 1), (3, 2), (5, 6))
    constructor: Any = face.number
    yield Claim("local-use", constructor, Reporting(use.code, Pure(use.epsilon), 1), steps, steps)
    few = face.number("0.25", 0, 6, 1, protects="use")
    yield _claim("local-uses-of-a-person", face.number, few, ((0, 6), (1, 5), (6, 0)))


def _claim(name: str, constructor: Any, protocol: ValueProtocol | NumberProtocol, pairs: tuple[Pair, ...]) -> Claim:
    """What the protocol promises a person, whatever the two answers."""
    code = protocol.code
    return Claim(name, constructor, Reporting(code, protocol.cost, code.size - 1), pairs, pairs)
