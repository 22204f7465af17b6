"""Every family finds the leak it is for, on runs it may look at, and reads outputs as it says."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.bounds import Odds, Shift
from discreet.audit.classify import fitted_score
from discreet.audit.events import Event, candidates, loudest
from discreet.audit.features import Coordinate, Difference, LowestBit, NoNumber, Pattern, Residue, Total
from discreet.noise.public import generator

ONE = Odds(Fraction(1))
N = 4_000


def lowest(value: float) -> float:
    """The slow twin: the power of two in the exact fraction."""
    exact = Fraction(value)
    if exact == 0:
        return 1024.0
    power = -(exact.denominator.bit_length() - 1)
    whole = abs(exact.numerator)
    while whole % 2 == 0:
        whole, power = whole // 2, power + 1
    return float(power)


def test_lowest_bit_is_that_of_the_exact_fraction() -> None:
    chance = generator(1)
    floats = np.concatenate([chance.normal(size=300), [0.0, 1.0, -0.5, 2.0**-1074, 1e308, 3 * 2.0**-60]])
    assert LowestBit(0).of(floats).tolist() == [lowest(v) for v in floats.tolist()]
    whole = np.array([0, 1, -1, 6, -8, 2**62, -(2**62), 2**62 + 4])
    assert LowestBit(0).of(whole).tolist() == [lowest(v) for v in whole.tolist()]
    assert LowestBit(0).of(np.array([math.nan, math.inf])).tolist() == [1024.0, 1024.0]


def test_features_read_the_numbers_that_they_name() -> None:
    rows = np.array([[3, 5], [-2, 4]])
    assert Coordinate(1).of(rows).tolist() == [5, 4]
    assert Total().of(rows).tolist() == [8, 2]
    assert Difference(0, 1).of(rows).tolist() == [-2, -6]
    assert Residue(0, 3).of(rows).tolist() == [0, 1]
    assert Pattern((3, 5)).of(rows).tolist() == [1, 0]
    assert Pattern((-2,)).of(rows).tolist() == [0, 1]
    assert NoNumber(0).of(np.array([1.0, math.nan])).tolist() == [0, 1]


def test_whole_numbers_stay_whole_at_the_ends() -> None:
    """Floats could not tell these apart."""
    low, high = np.full(N, 2**62 - 1), np.full(N, 2**62)
    event = most_telling(ONE, high, low)
    assert event.hits(high, low) == Event(Coordinate(0), "=", 2**62).hits(high, low)


def most_telling(test: Odds | Shift, first: np.ndarray, second: np.ndarray) -> Event:
    return loudest(test, candidates(first, second), len(first))


def leaks() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(first, second) sides told apart by one family only, or best by it."""
    chance = generator(7)
    noise, other = chance.normal(size=N) * 50, chance.normal(size=N) * 50
    patterns = (
        np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]]),
        np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]]),
    )
    whole = chance.integers(0, 1000, N)
    return {
        "thresholds": (np.rint(noise) + 100, np.rint(other) - 100),
        "points": (np.where(chance.random(N) < 0.3, 500, whole), whole),
        "patterns": tuple(side[chance.integers(0, 4, N)] for side in patterns),  # alike in every place
        "classifier": (np.column_stack([noise, noise + chance.normal(size=N)]), np.column_stack([noise, -noise])),
        "lowest bit": (chance.random(N) * 0.1, np.rint(chance.random(N) * 2**20) * 2.0**-20 * 0.125),
        "residue": (2 * whole, 2 * chance.integers(0, 1000, N) + 1),
        "no number": (np.where(chance.random(N) < 0.5, np.nan, noise), other),
    }


@pytest.mark.parametrize("family", list(leaks()))
def test_family_finds_its_leak_on_runs_not_trained_on(family: str) -> None:
    first, second = leaks()[family]
    event = most_telling(ONE, first[: N // 2], second[: N // 2])
    hits = event.hits(first[N // 2 :], second[N // 2 :])
    assert hits.first > 3 * hits.second + 100, str(event)


@pytest.mark.parametrize("test", [ONE, Odds(Fraction(0), Fraction(1, 10)), Shift(Fraction(1, 2))])
def test_equal_sides_show_nothing_on_held_out_runs(test: Odds | Shift) -> None:
    chance = generator(3)
    first, second = chance.integers(-50, 50, (2, 2 * N))
    hits = most_telling(test, first[:N], second[:N]).hits(first[N:], second[N:])
    assert abs(hits.first - hits.second) < 5 * math.sqrt(2 * N)


def test_classifier_scores_the_likelier_side_higher() -> None:
    chance = generator(5)
    narrow, far = chance.normal(size=(N, 2)), chance.normal(size=(N, 2)) * 3
    score = fitted_score(narrow, far)
    assert score.of(narrow).mean() > score.of(far).mean() + 0.5
    constant = fitted_score(np.ones(N), np.ones(N))
    assert np.isfinite(constant.of(np.ones(3))).all()


def test_sign_must_be_one_of_three() -> None:
    with pytest.raises(ValueError, match="sign"):
        Event(Coordinate(0), "<", 3).holds(np.array([1]))


def test_events_describe_themselves() -> None:
    assert str(Event(Coordinate(0), "≥", 3)) == "y ≥ 3"
    assert str(Event(Coordinate(1), "=", -2)) == "y[1] = -2"
    assert str(Event(Pattern((0, 1)), "=", 1)) == "y is (0, 1)"
    assert str(Event(LowestBit(0), "≤", -54.0)) == "lowest set bit of y ≤ -54"
    assert str(Event(NoNumber(0), "=", 1)) == "y is no number"
