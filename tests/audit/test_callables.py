"""An audit of any Python function: what it refutes, what it does not, and what it says of each."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit.audited import Audited
from discreet.audit.bounds import Odds
from discreet.audit.callables import mechanism
from discreet.audit.coding import Raised, coder, parts
from discreet.audit.foresight import FACTORS, factor_seen, factor_words
from discreet.errors import BadValue
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM

Draw = Callable[[Any], Any]


def noise(scale: Any) -> Callable[[], int]:
    """One number after the other, drawn in advance."""
    numbers = itertools.chain.from_iterable(
        DiscreteLaplace(Fraction(scale)).draw(10_000, SYSTEM).tolist() for _ in itertools.count()
    )
    return lambda: next(numbers)


def counted(scale: Any) -> Draw:
    drawn = noise(scale)
    return lambda rows: len(rows) + drawn()


PERSON: tuple[list[str], list[str]] = ([], ["Ada"])
MANY_ROWS: tuple[list[str], list[str]] = ([], ["Ada"] * 3)


@pytest.mark.parametrize("claim", ["0.5", 1, 2])
def test_a_right_count_is_not_refuted_and_the_bound_comes_near(claim: Any) -> None:
    audit = mechanism(counted(1 / Fraction(claim)), PERSON, claim, runs=20_000)
    assert not audit.refuted
    assert 0.6 * float(Fraction(claim)) < audit.lower < float(Fraction(claim))
    assert "is not refuted" in audit.sentence
    assert "nothing above" in audit.sentence
    assert "verified" not in audit.sentence


@pytest.mark.parametrize(
    ("claim", "runs", "wrong", "pair", "event"),
    [
        (2, 10_000, counted(Fraction(1, 4)), PERSON, "y"),  # half the scale
        ("0.5", 4_000, counted(Fraction(1, 2)), PERSON, "y"),  # scale ε, where 1/ε is due
        (1, 4_000, counted(1), MANY_ROWS, "y"),  # a row is protected where a person is claimed
    ],
)
def test_too_little_noise_is_refuted(claim: Any, runs: int, wrong: Draw, pair: Any, event: str) -> None:
    audit = mechanism(wrong, pair, claim, runs=runs)
    assert audit.refuted
    assert audit.lower > float(Fraction(claim))
    assert event in audit.event
    assert "is refuted" in audit.sentence


def test_laplace_noise_in_floats_is_refuted_by_its_lowest_bit() -> None:
    chance = generator(1)
    audit = mechanism(lambda rows: len(rows) + chance.laplace(0, 0.5), PERSON, 2, runs=2_000)
    assert audit.refuted
    assert "lowest set bit" in audit.event


def test_a_generator_seeded_in_each_call_is_refuted_and_named() -> None:
    audit = mechanism(lambda rows: len(rows) + generator(1).laplace(), PERSON, runs=600)
    assert audit.refuted
    assert "seeded" in audit.sentence
    assert "seeded" not in mechanism(counted(1), PERSON, runs=600).sentence


def test_a_constant_costs_nothing() -> None:
    audit = mechanism(lambda rows: 7, PERSON, runs=600)
    assert (audit.refuted, audit.lower) == (False, 0.0)


_PLACES = generator(4)


def beyond_every_float(rows: list[str]) -> int:
    return 2**70 * int(DiscreteLaplace(Fraction(1)).draw(1, SYSTEM)[0]) + len(rows)


@pytest.mark.parametrize(
    ("noiseless", "event"),
    [
        (lambda rows: [0] * 79 + [len(rows)], "y[79]"),
        (lambda rows: np.append(_PLACES.random(79), len(rows)), "y[79]"),
        (lambda rows: 2**70 + len(rows), "y"),
        (lambda rows: [0.5, 2**70 + len(rows)], "y"),
        (lambda rows: 10**9000 + len(rows), "y"),  # too long to print
        (lambda rows: Fraction(2**70 + len(rows), 3), "y"),
        (beyond_every_float, "digits of y[0]"),
        (lambda rows: (_PLACES.random(200) + 0.3 * len(rows)).tolist(), "y"),
    ],
)
def test_no_place_and_no_digit_is_dropped(noiseless: Draw, event: str) -> None:
    audit = mechanism(noiseless, PERSON, 1, runs=600)
    assert audit.refuted
    assert event in audit.event


def test_noise_on_a_number_beyond_floats_is_seen_and_not_called_seeded() -> None:
    """A true claim falls at most once in 10⁶ audits; the bound is some 0.7."""
    counts = counted(1)
    audit = mechanism(lambda rows: 2**60 + counts(rows), PERSON, 1, runs=4_000)
    assert not audit.refuted
    assert audit.lower > 0.3
    assert "seeded" not in audit.sentence
    assert "counted from the first output" in audit.sentence
    assert "counted from" not in mechanism(counts, PERSON, 1, runs=200).sentence


def test_noise_in_the_last_of_many_places_is_not_called_seeded() -> None:
    counts = counted(1)
    audit = mechanism(lambda rows: [0] * 79 + [counts(rows)], PERSON, 1, runs=4_000)
    assert not audit.refuted
    assert audit.lower > 0.3
    assert "seeded" not in audit.sentence
    constant = mechanism(lambda rows: [0] * 80, PERSON, 1, runs=200)
    assert (constant.refuted, constant.lower) == (False, 0.0)
    assert "seeded" in constant.sentence


def flips(rows: list[str]) -> bool:
    return bool(_CHANCE.random() < (0.95 if rows else 0.05))


_CHANCE = generator(2)


@pytest.mark.parametrize(
    ("tells", "event"),
    [
        (lambda rows: "yes" if flips(rows) else "no", "y is "),
        (lambda rows: None if flips(rows) else 1, "y is "),
        (lambda rows: 1 / flips(rows), "raises ZeroDivisionError"),
        (lambda rows: [1, 2, 3] if flips(rows) else [1, 2], "numbers"),
        (lambda rows: math.nan if flips(rows) else 2.5, "y"),
        (lambda rows: {"flips": flips(rows)}, "flips"),
        (lambda rows: np.array([3, flips(rows)]), "y"),
        (lambda rows: 10**400 if flips(rows) else 1, "y"),
    ],
)
def test_every_kind_of_output_can_tell(tells: Draw, event: str) -> None:
    audit = mechanism(tells, PERSON, 1, runs=2_000)
    assert audit.refuted
    assert event in audit.event


def test_noise_shared_by_two_answers_is_refuted() -> None:
    def shared(rows: list[str]) -> tuple[int, int]:
        same = int(DiscreteLaplace(Fraction(1)).draw(1, SYSTEM)[0])
        return 5 + same, 5 + len(rows) + same

    assert mechanism(shared, PERSON, 2, runs=600).refuted


def test_delta_counts() -> None:
    def publishes_one_of_ten(rows: list[str]) -> str:
        return "Ada" if rows and _CHANCE.random() < 0.1 else "nobody"

    assert mechanism(publishes_one_of_ten, PERSON, 1, runs=4_000).refuted
    allowed = mechanism(publishes_one_of_ten, PERSON, 1, delta="0.1", runs=4_000)
    assert not allowed.refuted
    assert "δ = 0.1" in allowed.sentence


def test_result_is_frozen_and_plain_for_programs() -> None:
    audit = mechanism(counted(1), PERSON, runs=400)
    with pytest.raises(AttributeError):
        audit.refuted = True  # type: ignore[misc]
    told = audit.to_json()
    assert set(told) == {"name", "claim", "lower_bound", "runs", "event", "verdict", "sentence"}
    assert dp.audit.mechanism is mechanism
    assert "mechanism" in dir(dp.audit)
    assert isinstance(audit, Audited)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((5, PERSON), "function must be"),
        ((len, 5), "pair must be"),
        ((len, "ab"), "pair must be"),
        ((len, ([],)), "pair must be"),
        ((lambda: 1, PERSON), "calls raised TypeError"),
        ((len, PERSON, 0), "claim must be"),
        ((len, PERSON, float("nan")), "claim must be"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments: Any, words: str) -> None:
    with pytest.raises(BadValue, match=words) as refusal:
        mechanism(*arguments, runs=400)
    assert refusal.value.fix


@pytest.mark.parametrize(("name", "value"), [("runs", 199), ("runs", "x"), ("delta", 0.6), ("delta", -1)])
def test_bad_numbers_are_refused(name: str, value: Any) -> None:
    with pytest.raises(BadValue, match=f"{name} must be"):
        mechanism(len, PERSON, 1, **{name: value})


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'mechanisms'"):
        dp.audit.mechanisms  # noqa: B018


def test_codes_come_from_training_outputs_alone() -> None:
    learnt = coder(["a", "a", (1, 2), Raised("KeyError")])
    assert learnt.width == 2
    rows = learnt.rows(["b", (1, 2, 3), "a", Raised("KeyError")])
    assert rows[:, -1].tolist() == [-1, -1, 0, 2]
    assert rows[1].tolist() == [1, 2, -1]


def test_what_stands_beside_the_first_places_is_exact() -> None:
    learnt = coder([[0] * 70 + [2**70, Fraction(1, 3)]], [[0] * 70 + [2**70 + 5, Fraction(1, 3)]])
    assert (learnt.width, learnt.rounded) == (64, (71,))
    labels = [str(feature) for feature in learnt.beside]
    assert "y[70]" in labels
    assert labels[-3:] == ["digits of y[71]", "sum of y", "hash of y"]
    same, other = learnt.rows([[0] * 70 + [2**70 + 1, Fraction(1, 3)], [0] * 70 + [2**70 + 1, Fraction(2, 3)]])
    assert dict(zip(labels, same[64:-1], strict=True))["y[70]"] == 1
    assert same[-2] != other[-2]
    assert parts(np.zeros((2, 3)))[0] != parts(np.zeros((3, 2)))[0]


def test_long_texts_are_cut_and_stay_apart() -> None:
    first, second = parts("x" * 100 + "1")[0], parts("x" * 100 + "2")[0]
    assert first != second
    assert len(first) < 100
    assert "\x1b" not in parts("\x1b[31m")[0]


def test_the_factor_that_is_seen_follows_the_table_of_runs() -> None:
    """Counted runs at which an audit sees a factor 99 times of 100: about those of notes that were computed apart."""
    for epsilon, factor, runs in (("0.5", "1.5", 3_500), ("1", "1.2", 6_900), ("1", "2", 400), ("2", "1.5", 700)):
        claim = Odds(Fraction(epsilon))
        assert factor_seen(claim, round(runs * 1.4)) <= Fraction(factor)  # type: ignore[operator]
        below = factor_seen(claim, round(runs * 0.7))
        assert below is None or below > Fraction(factor)


def test_more_runs_see_smaller_factors() -> None:
    seen = [factor_seen(Odds(Fraction(1)), runs) for runs in (200, 2_000, 20_000, 200_000)]
    assert all(factor in FACTORS for factor in seen)
    assert seen == sorted(seen, reverse=True)  # type: ignore[type-var]
    assert "not even" in factor_words(Odds(Fraction(1)), 10)


@pytest.mark.long
def test_a_right_mechanism_is_not_refuted_in_300_audits_and_a_wrong_one_always() -> None:
    """A true claim falls at most once in 10⁶ audits, so 300 give a false alarm with probability below 3·10⁻⁴."""
    assert not any(mechanism(counted(1), PERSON, 1, runs=4_000).refuted for _ in range(300))
    assert sum(mechanism(counted(Fraction(1, 2)), PERSON, 1, runs=4_000).refuted for _ in range(100)) >= 99
