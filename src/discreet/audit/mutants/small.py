"""Planted bugs of small databases: wrong steps of the loss, parts read off the rows, laws that are not what is weighed.

A multiplicity that is forgotten everywhere is not here: what is left is another mechanism, and private too.  The tests
of the law catch it (tests/synth/small/test_law.py).
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from discreet import real
from discreet.audit.bounds import Odds
from discreet.audit.brute import Pairs, one_row_more, one_row_other
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Outputs
from discreet.audit.laws import OutputLaw
from discreet.audit.mutants.planted import Drawn, Planted, Proven, chance_bounds
from discreet.audit.small_claims import two_rows_other
from discreet.audit.small_tables import databases, law_by_losses, law_of_weights
from discreet.bounded import cells
from discreet.noise.source import Source
from discreet.privacy.cost import Exponential
from discreet.real import Real, ball
from discreet.relation import Relation
from discreet.synth.small.choice import SmallDatabaseChoice
from discreet.synth.small.selection import Selection, selection_of

Table = tuple[int, ...]
Times = Callable[[Table], Any]
_ONE, _HALF = Fraction(1), Fraction(1, 2)
_PROMISE = Exponential(_ONE)
_ROWS = 4  # of the tables, as published
_ONE_QUERY = np.array([[False, True]])
_TWO_QUERIES = np.array([[0, 1, 1], [1, 0, 1]], dtype=np.bool_)
_TRIES = 12


def bugs() -> Iterator[Planted]:
    """All bugs of this module; their names begin with small."""
    yield from _steps()
    yield from _read_off_rows()
    yield from _errors()
    yield from _other_laws()


def _steps() -> Iterator[Planted]:
    wrong = "The exponent is ε·N·loss, though a row moves some losses up and others down."
    yield _proven("without-2", wrong, partial(_law, rate_factor=Fraction(2)))
    yield _drawn_without_2()
    wrong = "One step of the loss is taken for its sensitivity, though a row moves it by 1/N, which is N̂ steps."
    yield _proven("step-of-one", wrong, partial(_law, rate_factor=Fraction(3), size=3))
    wrong = "A unit has two rows and the sensitivity counts one."
    yield _proven("rows-of-unit", wrong, partial(_law, size=2, public_rows=5), two_rows_other())


def _drawn_without_2() -> Drawn:
    """The real sampler at twice its rate, on three rows of which none or one satisfies the query; ε = 2."""
    own = selection_of(_ONE_QUERY, epsilon=2, public_rows=3, size=1)
    wrong_choice = SmallDatabaseChoice(cells(1, _HALF, Relation.REPLACE_ONE), Fraction(2), own.candidates)
    pair = ((2, 1), (3, 0))

    def draw(table: Table, n: int, source: Source) -> Outputs:
        return wrong_choice.many(own.counts(np.array(table)), n, source)

    def chance(table: Table) -> Real:
        targets = wrong_choice.targets(own.counts(np.array(table)))
        return lambda: law_by_losses(own.candidates, targets, wrong_choice.rate)[0, 1]

    wrong = "The same, through the sampler itself, at ε = 2."
    event = Event(Coordinate(1), "=", 1)
    chances = chance_bounds(*map(chance, pair))
    return Drawn("small-without-2-drawn", wrong, Odds(Fraction(2)), pair, draw, event, chances, 8_000)


def _read_off_rows() -> Iterator[Planted]:
    wrong = "N̂ is the number of cells that some row lies in."
    yield _proven("size-from-rows", wrong, lambda table: _law(table, size=max(1, sum(n > 0 for n in table))))
    wrong = "Only cells that some row lies in are candidates."
    yield _proven("candidates-from-rows", wrong, _occupied_cells_alone)
    wrong = "N is the true number of rows, and the bound beside the answers is computed from it."
    yield _proven("true-rows", wrong, _with_bound, one_row_more(3, 4)[3:])


def _errors() -> Iterator[Planted]:
    wrong = "An error within α counts as 0 and a larger one as 1, with the sensitivity 1/N of the error itself."
    yield _proven("error-clipped", wrong, partial(_law_of_errors, error=_clipped))
    wrong = "The error is taken relative to the true answer, with the sensitivity 1/N of the error itself."
    yield _proven("error-relative", wrong, partial(_law_of_errors, error=_relative))
    wrong = "Losses are divided by the largest of them, so that they lie between 0 and 1, with the sensitivity 1/N."
    yield _proven("error-scaled-by-largest", wrong, _scaled_by_largest)


def _other_laws() -> Iterator[Planted]:
    wrong = "Classes of equal loss are weighed by their multisets, and the multisets in them by their sequences."
    yield _proven("multiplicity-in-one-step", wrong, _multiplicity_in_one_step)
    wrong = "Two databases are drawn and the nearer one is given out, at the price of one."
    yield _proven("nearer-of-two", wrong, _nearer_of_two)
    wrong = f"A database is drawn and kept by a coin, and after {_TRIES} tries it is told that none was kept."
    yield _proven("tries-told", wrong, _tries_told, [((0, 0, 4), (0, 1, 3)), ((4, 0, 0), (3, 1, 0))])


def _proven(name: str, wrong: str, law: Callable[[Any], OutputLaw], pairs: Pairs | None = None) -> Proven:
    chosen = pairs if pairs is not None else [pair for pair in one_row_other(3, 4) if sum(pair[0]) == _ROWS]
    return Proven(f"small-{name}", wrong, _PROMISE, chosen, law)


# --- laws ------------------------------------------------------------------------------------------------------------


def _selection(size: int = 3, public_rows: int = _ROWS) -> Selection:
    return selection_of(_TWO_QUERIES, epsilon=_ONE, public_rows=public_rows, size=size)


def _law(table: Table, *, rate_factor: Fraction = _ONE, size: int = 3, public_rows: int = _ROWS) -> OutputLaw:
    """The true law at a rate that is wrong by a factor, or for units that have more rows."""
    own = _selection(size, public_rows)
    targets = own.mechanism.targets(own.counts(np.array(table)))
    return law_by_losses(own.candidates, targets, rate_factor * own.mechanism.rate)


def _occupied_cells_alone(table: Table) -> OutputLaw:
    return law_of_weights(
        {
            database: chance
            for database, chance in _law(table).items()
            if all(n == 0 or rows > 0 for n, rows in zip(database, table, strict=True))
        }
    )


def _with_bound(table: Table) -> OutputLaw:
    rows = sum(table)
    return {(database, _selection(3, rows).bound): chance for database, chance in _law(table, public_rows=rows).items()}


def _weights(size: int, exponents: Callable[[Table], Fraction], times: Times | None = None) -> dict[Any, arb]:
    """M·e^(−exponent) of every database of three cells; the rates of bugs that weigh something else than the loss."""
    own = _selection(size).candidates
    count: Times = times or (lambda database: own.sequences(np.array(database)))
    return {database: count(database) * real.exp(-exponents(database))() for database in databases(size, 3)}


def _shares(table: Table) -> list[Fraction]:
    """The answers of a table to both queries."""
    held = _TWO_QUERIES.astype(int) @ np.array(table)
    return [Fraction(int(n), sum(table)) for n in held]


def _law_of_errors(table: Table, *, error: Callable[[Fraction, Fraction], Fraction]) -> OutputLaw:
    """The law at the rate εN/2 for the worst of these errors."""
    true = _shares(table)

    def exponent(database: Table) -> Fraction:
        return _ROWS * _HALF * max(map(error, _shares(database), true))

    return law_of_weights(_weights(3, exponent))


def _clipped(share: Fraction, true: Fraction) -> Fraction:
    return Fraction(abs(share - true) > Fraction(1, 4))


def _relative(share: Fraction, true: Fraction) -> Fraction:
    return abs(share - true) / max(true, Fraction(1, _ROWS))


def _worst(database: Table, table: Table) -> Fraction:
    return max(abs(share - true) for share, true in zip(_shares(database), _shares(table), strict=True))


def _scaled_by_largest(table: Table) -> OutputLaw:
    largest = max(_worst(database, table) for database in databases(3, 3))
    return law_of_weights(_weights(3, lambda database: _ROWS * _HALF * _worst(database, table) / largest))


def _multiplicity_in_one_step(table: Table, size: int = 6) -> OutputLaw:
    own = _selection(size)
    listed = databases(size, 3)
    losses = {database: _worst(database, table) for database in listed}
    ways = {database: own.candidates.sequences(np.array(database)) for database in listed}
    weights = {}
    for database in listed:
        equal = [other for other in listed if losses[other] == losses[database]]
        within = Fraction(ways[database], sum(ways[other] for other in equal))
        chance = real.exp(-_ROWS * _HALF * losses[database])() * len(equal)
        weights[database] = chance * ball(within)
    return law_of_weights(weights)


def _nearer_of_two(table: Table) -> OutputLaw:
    law = _law(table)
    return {
        database: sum(
            (chance * other * ball(_wins(database, rival, table)) for rival, other in law.items()), start=ball(0)
        )
        for database, chance in law.items()
    }


def _wins(database: Table, rival: Table, table: Table) -> Fraction:
    """How often of two draws this one is given out if the other is the rival, counted for both orders."""
    own, other = _worst(database, table), _worst(rival, table)
    return Fraction(1) if own == other else Fraction(2 * (own < other))


def _tries_told(table: Table) -> OutputLaw:
    """Kept with the chance e^(−ε·N·loss/2); sequences are drawn uniformly."""
    size = 3
    uniform = law_of_weights(_weights(size, lambda database: Fraction(0)))
    kept = {d: chance * real.exp(-_ROWS * _HALF * _worst(d, table))() for d, chance in uniform.items()}
    share = sum(kept.values(), start=ball(0))
    none = (1 - share) ** _TRIES
    return {d: chance / share * (1 - none) for d, chance in kept.items()} | {"none": none}
