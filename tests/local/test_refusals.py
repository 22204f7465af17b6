"""Wrong input: one refusal each, before any noise is drawn, and never with a private answer in it."""

import numpy as np
import pytest

from discreet.errors import BadValue, DiscreetError, NotAnswerable
from discreet.local import auto, binary, compare, cross, hashed, kary, number, protocol, subset, two_coins, unary
from discreet.local import number_protocol as numbers
from replay import Refusing

SECRET = "Voldemort"
TEXTS, INTS, OTHERS = kary(1, ["red", "green", "blue"]), kary(1, 3), kary(1, [10, 20, 30])


@pytest.fixture(autouse=True)
def no_noise(monkeypatch) -> None:
    """Whatever is drawn fails the test."""
    monkeypatch.setattr(protocol, "SYSTEM", Refusing())
    monkeypatch.setattr(numbers, "SYSTEM", Refusing())


@pytest.mark.parametrize("build", [kary, hashed, subset, unary, auto])
@pytest.mark.parametrize(
    "values",
    [
        ["a", "a"],
        [1, "1"],
        [True, False],
        ["a"],
        [],
        1,
        0,
        -3,
        True,
        None,
        "yes",
        1.5,
        [1.0, 2.0],
        [None, "a"],
        [["a"], ["b"]],
        [b"a", b"b"],
        [float("nan"), 1.0],
        2**22 + 1,
    ],
)
def test_values_that_are_none_are_refused(build, values) -> None:
    with pytest.raises(BadValue, match="values"):
        build(1, values)


@pytest.mark.parametrize("epsilon", [0, -1, "0", "nan", "inf", None, True, "much", 21, 1e9])
@pytest.mark.parametrize(
    "build",
    [
        binary,
        lambda epsilon: kary(epsilon, 3),
        lambda epsilon: hashed(epsilon, 3),
        lambda epsilon: hashed(epsilon, 3, 4),
        lambda epsilon: subset(epsilon, 3),
        lambda epsilon: unary(epsilon, 3),
        lambda epsilon: auto(epsilon, 3),
        lambda epsilon: number(epsilon, 0, 10, 1),
        lambda epsilon: number(epsilon, 0, 10, 1, protects="use"),
    ],
)
def test_epsilon_out_of_range_is_refused(build, epsilon) -> None:
    with pytest.raises(DiscreetError, match=r"(?i)epsilon|ε"):
        build(epsilon)


def test_epsilon_too_small_for_coins_of_32_bits_is_refused() -> None:
    with pytest.raises(BadValue, match="32 bits"):
        kary("0.0001", 1024)
    with pytest.raises(BadValue, match="32 bits"):
        unary("0.0000001", 8)


WRONG_ANSWERS = [
    [SECRET],
    [SECRET, "red"],
    [None],
    [1.0],
    [float("nan")],
    [b"red"],
    [["red"]],
    ["red", ["green"]],
    ["red", 1],
    "red",
    None,
    {"red"},
    [3],
    [-1],
    [2**70],
    np.array([["red"]]),
    np.array([1.0]),
    [np.datetime64("2026-01-01")],
    [1j],
]


@pytest.mark.parametrize("answers", WRONG_ANSWERS, ids=str)
def test_answers_that_are_none_of_the_texts_are_refused_without_being_quoted(answers) -> None:
    with pytest.raises(BadValue) as refusal:
        TEXTS.encode(answers)
    assert SECRET not in str(refusal.value)
    assert "private" in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize(
    "answers",
    [["1"], [1.0], [True], [None], [float("nan")], [b"1"], [[1]], [1, [1]], [1, "1"], [3], [-1], [2**70], ["red"], 1],
    ids=str,
)
@pytest.mark.parametrize("of", [INTS, OTHERS], ids=["0 1 2", "10 20 30"])
def test_answers_that_are_none_of_the_numbers_are_refused(of, answers) -> None:
    with pytest.raises(BadValue, match="private"):
        of.encode(answers)


@pytest.mark.parametrize("build", [lambda v: hashed(1, v), lambda v: unary(1, v), lambda v: auto(1, v)])
def test_every_protocol_refuses_the_same_answers(build) -> None:
    for answers in ([SECRET], [float("nan")], [None], [["a"]]):
        for values in (["a", "b", "c"], 3):
            with pytest.raises(BadValue) as refusal:
                build(values).encode(answers)
            assert SECRET not in str(refusal.value)
    with pytest.raises(BadValue):
        build(["a", "b"]).law(SECRET)
    with pytest.raises(BadValue):
        build(["a", "b"]).encode_with(SECRET, [0] * 10)


@pytest.mark.parametrize(
    "answers",
    [[float("nan")], [float("inf")], [None], ["7"], [[1]], [1, [2]], 7, None, [b"7"], [1j], [2**2000]],
    ids=lambda answers: str(answers)[:20],
)
@pytest.mark.parametrize("protects", ["person", "use"])
def test_numbers_that_are_none_are_refused(answers, protects) -> None:
    with pytest.raises(BadValue, match="private"):
        number(1, 0, 10, 1, protects=protects).encode(answers)


# --- reports and tallies ------------------------------------------------------------


@pytest.mark.parametrize(
    "reports",
    [
        None,
        7,
        "text",
        b"\x00\x01",
        [b""],
        [b"\x00\x00"],
        [b"\x00", b"\x00\x00"],
        ["\x00"],
        [0],
        np.zeros((2, 2), dtype=np.uint8),
        np.zeros((2, 1), dtype=np.int64),
        np.zeros((2, 1), dtype=np.float64),
        np.zeros(2, dtype=np.uint8),
        np.zeros((2, 1, 1), dtype=np.uint8),
        np.zeros((2, 1), dtype=object),
    ],
    ids=lambda reports: repr(reports)[:40],
)
def test_reports_of_another_length_or_type_are_refused(reports) -> None:
    with pytest.raises(BadValue, match="reports"):
        TEXTS.aggregate(reports)


@pytest.mark.parametrize(
    "of",
    [
        two_coins(),
        TEXTS,
        hashed(1, 5, 3),
        subset(1, 12),
        unary(1, 9),
        number(1, 0, 5, 1),
        number(1, 0, 5, 1, protects="use"),
    ],
)
def test_reports_that_cannot_have_been_drawn_are_rejected_and_count_nowhere(of) -> None:
    possible = list(of.law(of.values[0] if hasattr(of.values[0], "upper") or isinstance(of.values[0], int) else 0))
    impossible = b"\xff" * of.report_bytes
    assert impossible not in possible
    tally = of.aggregate([impossible, possible[0], impossible])
    assert (tally.reports, tally.rejected) == (1, 2)
    alone = of.aggregate([possible[0]])
    assert np.array_equal(tally.counts, alone.counts)
    both = tally + alone
    assert (both.reports, both.rejected) == (2, 2)
    assert of.aggregate([possible[0]] * 3 + [impossible]).rejected == 1
    with pytest.raises(BadValue, match="at least one report"):
        of.estimate(of.aggregate([impossible]))


def test_every_report_of_a_protocol_is_one_and_no_other_row_is() -> None:
    """Length by value would show here: all 256 bytes, beside what the law lists."""
    for of in (two_coins(), TEXTS, hashed(1, 5, 3), subset(1, 7), unary(1, 5), number(1, 0, 5, 1)):
        law = of.law(0 if not isinstance(of.values[0], str) else of.values[0])
        rows = np.arange(256, dtype=np.uint8).reshape(-1, 1)
        assert [bytes([i]) in law for i in range(256)] == of.code.is_report(rows).tolist()


def test_tallies_of_another_protocol_are_refused() -> None:
    mine = TEXTS.aggregate([b"\x00"])
    for other in (kary(2, 3).aggregate([b"\x00"]), two_coins().aggregate([b"\x00"]), None, [1, 2, 3], mine.counts):
        with pytest.raises(BadValue, match="tally"):
            TEXTS.estimate(other)
        with pytest.raises((BadValue, TypeError)):
            mine + other
    with pytest.raises(BadValue, match="tally"):
        number(1, 0, 10, 1).estimate(mine)


@pytest.mark.parametrize("level", [0, 1, "0", "1", -1, 2, "nan", None, True, "sure"])
def test_levels_out_of_range_are_refused(level) -> None:
    for of in (TEXTS, number(1, 0, 10, 1)):
        with pytest.raises(BadValue, match="level"):
            of.estimate(of.aggregate([b"\x00"]), level=level)
    with pytest.raises(BadValue, match="level"):
        cross(TEXTS, TEXTS, [b"\x00"], [b"\x00"], level=level)


def test_other_words_of_estimates_are_refused() -> None:
    tally = TEXTS.aggregate([b"\x00"])
    for bad in ({"of": "everyone"}, {"project": "round"}, {"of": None}):
        with pytest.raises(BadValue, match=next(iter(bad))):
            TEXTS.estimate(tally, **bad)
    with pytest.raises(BadValue, match="value"):
        TEXTS.estimate(tally)["pink"]
    for share in (-1, "1.5", "nan"):
        with pytest.raises(BadValue, match="share"):
            TEXTS.variance(share, 10)
    for people in (0, -1, 1.5, True):
        with pytest.raises(BadValue, match="people"):
            TEXTS.variance("0.5", people)
        with pytest.raises(BadValue, match="people"):
            compare(1, people, "1e-6")
    with pytest.raises(BadValue, match="liars"):
        TEXTS.poisoned(-1, 10)


@pytest.mark.parametrize(
    "how", [(0, 0, 1), (5, 0, 1), (0, 10, 3), (0, 10, 0), (0, 10, -1), (0, 2**21, 1), ("a", 1, 1), (0, "nan", 1)]
)
def test_bounds_of_numbers_that_make_no_steps_are_refused(how) -> None:
    with pytest.raises(BadValue):
        number(1, *how)


def test_words_for_what_is_protected_are_two() -> None:
    with pytest.raises(BadValue, match="protects"):
        number(1, 0, 10, 1, protects="day")


@pytest.mark.parametrize("field", [0, 1, 6, 9, 257, -2, 1.5, True, "4x"])
def test_fields_that_are_none_are_refused(field) -> None:
    with pytest.raises(BadValue, match="field"):
        hashed(1, 10, field)


@pytest.mark.parametrize("room", [0, -1, 1.5, True, "many"])
def test_rooms_that_are_none_are_refused(room) -> None:
    with pytest.raises(BadValue, match="max_bytes"):
        auto(1, 10, max_bytes=room)


def test_long_laws_are_refused_and_short_ones_are_not() -> None:
    assert len(unary(1, 19).law(0)) == 2**19
    with pytest.raises(NotAnswerable, match="too long"):
        unary(1, 20).law(0)
    with pytest.raises(NotAnswerable, match="too long"):
        unary(1, 1024).law(0)


def test_crossed_reports_must_be_two_of_each_person() -> None:
    with pytest.raises(BadValue, match="two reports of each person"):
        cross(TEXTS, TEXTS, [b"\x00"], [b"\x00", b"\x01"])
    with pytest.raises(BadValue, match="at least one person"):
        cross(TEXTS, TEXTS, [b"\xff"], [b"\x00"])
    large = hashed(1, 1024)
    with pytest.raises(BadValue, match="pairs"):
        cross(large, large, [b"\x00\x00"], [b"\x00\x00"])
