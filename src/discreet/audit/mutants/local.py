"""Planted bugs of local protocols: reports that cost more than is said, and reports that tell without noise."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.bounds import Odds
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Outputs
from discreet.audit.laws import OutputLaw, independent
from discreet.audit.mutants.planted import Drawn, Planted, Proven
from discreet.audit.reporting import Reporting
from discreet.local import face
from discreet.local.response_code import ResponseCode
from discreet.local.subset_code import subset_code
from discreet.local.words import SIDES
from discreet.ndarrays import Words
from discreet.noise.source import Source
from discreet.privacy.cost import Pure, Response
from discreet.real import ball

_ONE = Fraction(1)
_BINARY = face.binary(1)
_PAIR = ((0, 1),)
_SETS = subset_code(_ONE, 8)  # of two values
_DAYS = 7


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    yield from _thresholds()
    yield from _repeats()
    yield from _without_noise()
    yield from _generators()
    use = face.number(1, 0, 6, 1, protects="use")
    wrong = "Noise for a single use is priced as if it hid all uses of a person."
    yield Proven("local-use-as-person", wrong, Pure(use.epsilon), ((0, 6),), _law_of(use.code))


def _thresholds() -> Iterator[Planted]:
    keep = _BINARY.code.to_json()["keep"]
    wrong = "The threshold of a coin is rounded up, not down: e^ε is missed by less than a part in 10⁸."
    yield Proven("local-threshold-rounded-up", wrong, Response(_ONE), _PAIR, _law_of(ResponseCode(2, keep + 1)))
    wrong = "Five values take the threshold of two."
    yield Proven("local-threshold-of-two", wrong, Response(_ONE), _PAIR, _law_of(ResponseCode(5, keep)))
    wrong = "Each bit of a unary report keeps the truth as if it were alone, but two bits tell values apart."
    yield Proven("local-unary-bits-alone", wrong, Pure(_ONE), ((0, 1), (1, 2)), _symmetric_bits)

    wrong = "Sets of two values take the threshold of one value in two."
    law = _law_of(replace(_SETS, keep=keep))
    yield Proven("local-subset-threshold-of-two", wrong, Pure(_ONE), _PAIR, law)
    wrong = "The truth joins a set without a member that makes room, so that long sets tell it."
    yield Proven("local-subset-grows", wrong, Pure(_ONE), _PAIR, _growing_sets)


def _repeats() -> Iterator[Planted]:
    wrong = "A daily question forgets its memo: seven fresh reports at the price of one."
    law = _law_of(_BINARY.code)
    yield Proven("local-memo-forgotten", wrong, _BINARY.cost, _PAIR, lambda x: independent([law(x)] * _DAYS))
    hashed = face.hashed(1, 4, 4)
    wrong = "A retry draws its noise afresh: whoever saw the first report has two."
    yield Proven("local-retry-with-fresh-noise", wrong, hashed.cost, _PAIR, _tried_twice)
    wrong = "Two questions share one seed and the price of one, though each has a symbol of its own."
    yield Proven("local-seed-reused", wrong, hashed.cost, _PAIR, _two_symbols)


def _without_noise() -> Iterator[Planted]:
    kary = face.kary(1, 300)
    wrong = "A report is as long as the true value needs, whatever value it names."

    def long_as_the_answer(answer: int) -> OutputLaw:
        return {(1 if answer < 256 else 2, y): chance for y, chance in _law_of(kary.code)(answer).items()}

    yield Proven("local-length-by-value", wrong, kary.cost, ((0, 299),), long_as_the_answer)
    wrong = "The next question is only sent after a yes, so that silence tells the answer."
    yield Proven("local-silence", wrong, _BINARY.cost, _PAIR, lambda x: {(report, x): p for report, p in _yes(x)})
    wrong = "The seed of a hash comes from a pool of the person's own value."
    yield Proven("local-seed-by-value", wrong, face.hashed(1, 6, 4).cost, _PAIR, _seed_of_value)


def _generators() -> Iterator[Planted]:
    wrong = "Words have 31 bits, as those of a generator of signed numbers: coins keep the truth twice as often."
    kept = Fraction(2 * _BINARY.code.to_json()["keep"], SIDES)
    chances = float(kept + (1 - kept) / 2) - 1e-15, float((1 - kept) / 2) + 1e-15
    event, reporting = Event(Coordinate(0), "=", 1), Reporting(_BINARY.code, _BINARY.cost, 1)

    def draw(answer: int, n: int, source: Source) -> Outputs:
        return reporting.many(answer, n, _SignedWords(source))

    yield Drawn("local-biased-generator", wrong, Odds(_BINARY.epsilon), (1, 0), draw, event, chances, 500)


@dataclass(frozen=True)
class _SignedWords:
    """The source with the highest bit of every 32 left out."""

    source: Source

    def words(self, n: int) -> Words:
        """n words of two numbers of 31 bits."""
        return self.source.words(n) & np.uint64(0x7FFF_FFFF_7FFF_FFFF)


def _law_of(code: Any) -> Any:
    return Reporting(code, Pure(_ONE), 1).exact_law


def _yes(answer: int) -> list[tuple[Any, Any]]:
    return list(_law_of(_BINARY.code)(answer).items())


def _symmetric_bits(answer: int) -> OutputLaw:
    keep = 1 / (1 + (-ball(1)).exp())
    return independent([{1: keep, 0: 1 - keep} if v == answer else {0: keep, 1: 1 - keep} for v in range(3)])


def _growing_sets(answer: int) -> OutputLaw:
    """Sets of two of eight values by the law, and, where the coin keeps the truth outside of one, of three."""
    uniform, keep = replace(_SETS, keep=0), ball(_SETS.keep) / SIDES
    law: OutputLaw = {}
    for number, chance in _law_of(uniform)(answer).items():
        for kept, part in ((True, keep), (False, 1 - keep)):
            report = number | 1 << answer if kept else number
            law[report] = law.get(report, ball(0)) + chance * part
    return law


def _tried_twice(answer: int) -> OutputLaw:
    return independent([_law_of(face.hashed(1, 4, 4).code)(answer)] * 2)


def _two_symbols(answer: int) -> OutputLaw:
    """The pairs of reports with one seed: that seed, and two symbols that are drawn apart."""
    order = 4
    law = _law_of(face.hashed(1, 4, order).code)(answer)
    pairs = [(a, b) for a in law for b in law if a // order == b // order]
    return {(a, b): law[a] * law[b] * order for a, b in pairs}


def _seed_of_value(answer: int) -> OutputLaw:
    """Of 16 seeds, those that leave the remainder of the value when divided by 6."""
    law = _law_of(face.hashed(1, 6, 4).code)(answer)
    pool = [report for report in law if report // 4 % 6 == answer]
    total = sum((law[report] for report in pool), start=ball(0))
    return {report: law[report] / total for report in pool}
