"""Edges at which an answer, a report or a tally could be taken for another one."""

from fractions import Fraction as F

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.local import auto, binary, compare, cross, hashed, kary, number, subset, two_coins
from discreet.local.field import field
from discreet.local.hashing_code import HashedCode
from discreet.local.hybrid import HybridCode, hybrid_code
from discreet.local.keep import keep_threshold
from local.cases import slow_inner


def counts_of(protocol, answers):
    """Supports at the largest ε, where reports are the answers but for a part in 10⁸."""
    return {row.value: row.estimate for row in protocol.estimate(protocol.aggregate(protocol.encode(answers)))}


def test_whole_numbers_are_no_indices_of_texts() -> None:
    """Codes 1 … 5 of a scale would each have been read as the next text."""
    with pytest.raises(BadValue, match="private"):
        kary(20, ["1", "2", "3", "4", "5"]).encode([1, 2, 4])
    for answers in ([True], np.array([True])):
        with pytest.raises(BadValue, match="private"):
            kary(20, ["yes", "no"]).encode(answers)


def test_no_and_yes_may_be_0_and_1_or_truth_values() -> None:
    for answers in ([0, 1, 1, 1], [False, True, True, True], np.array([0, 1, 1, 1], dtype=np.uint8)):
        assert counts_of(binary(20), answers)["yes"] == pytest.approx(0.75, abs=1e-6)
    with pytest.raises(BadValue, match="private"):
        two_coins().encode([2])


def test_values_without_an_order_are_refused() -> None:
    """A set has another order in each process: a phone and a server would read other answers."""
    for values in ({"no", "yes"}, frozenset("ab"), b"ab"):
        with pytest.raises(BadValue, match="values"):
            kary(1, values)


def test_answers_of_subclasses_and_arrays_within_lists_are_refused() -> None:
    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "no"

    class Whole(int):
        def __index__(self) -> int:
            return 0

    for protocol, answer in (
        (kary(20, ["no", "yes", "maybe"]), Text("yes")),
        (kary(20, [0, 7]), Whole(7)),
        (kary(20, ["no", "yes"]), np.ma.array("yes", mask=True)),
        (number(1, 0, 5, 1), np.array(True)),
        (number(1, 0, 5, 1), np.ma.array(3, mask=True)),
    ):
        for answers in ([answer] * 2, [answer]):
            with pytest.raises(BadValue, match="private"):
                protocol.encode(answers)
    with pytest.raises(BadValue, match="private"):
        kary(20, ["no", "yes", "maybe"]).encode(np.array([Text("yes")], dtype=object))


def test_epsilons_and_steps_beyond_doubles_are_refused() -> None:
    for build in (subset, auto):
        with pytest.raises(BadValue, match="epsilon"):
            build(1000, 5)
    for high, step in (("5e390", "1e390"), ("5e-400", "1e-400")):
        with pytest.raises(BadValue, match="step"):
            number(1, 0, high, step)


def test_numbers_of_a_protocol_have_a_law() -> None:
    protocol = number(1, 0, "0.5", "0.1")
    assert protocol.law(protocol.values[3]) == protocol.law(0.3)


def test_what_a_mask_hides_is_no_answer() -> None:
    masked = np.ma.masked_array([1, 2], mask=[False, True])
    for protocol in (kary(1, 3), number(1, 0, 5, 1)):
        with pytest.raises(BadValue, match="private"):
            protocol.encode(masked)


def test_whole_numbers_beyond_64_bits_are_refused_and_large_ones_are_not_merged() -> None:
    with pytest.raises(BadValue, match="private"):
        kary(1, [-1, 0, 1, 5]).encode(np.array([2**64 - 1], dtype=np.uint64))
    with pytest.raises(BadValue, match="64 bits"):
        kary(1, [2**53, 2**63])
    close = kary(20, [2**53 + 1, -5, 2**53])
    assert counts_of(close, [2**53] * 50)[2**53] == pytest.approx(1, abs=1e-6)


def test_texts_that_end_in_a_null_character_are_refused() -> None:
    with pytest.raises(BadValue, match="null"):
        kary(1, ["a", "a\0", "b"])
    with pytest.raises(BadValue, match="private"):
        kary(1, ["a", "b"]).encode(["a\0"])


def test_numbers_that_doubles_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(BadValue, match="steps from 0"):
        number(1, 10**17, 10**17 + 10, 1)
    assert number(1, 10**14, 10**14 + 10, 1).code.steps == 10


def test_tallies_about_other_values_are_refused_though_their_code_is_the_same() -> None:
    first, turned = kary(1, ["no", "yes"]), kary(1, ["yes", "no"])
    tally = first.aggregate(first.encode(["yes"] * 10))
    assert first.code == turned.code
    with pytest.raises(BadValue, match="tally"):
        turned.estimate(tally)
    with pytest.raises(BadValue, match="same protocol"):
        tally + turned.aggregate(turned.encode(["yes"]))
    hours, euros = number(1, 0, 24, 1), number(1, 1000, 1240, 10)
    assert hours.code == euros.code
    with pytest.raises(BadValue, match="tally"):
        euros.estimate(hours.aggregate(hours.encode([1])))


def test_reports_of_windows_are_rejected_where_only_two_points_are_sent() -> None:
    """At a small ε the law gives windows no probability, and such a report would weigh more than any real one."""
    few = number("0.6", 0, 24, 1)
    law = few.law(5)
    possible = [report for report, chance in law.items() if chance]
    assert len(possible) == 2
    assert [few.aggregate([report]).reports for report in law] == [int(report in possible) for report in law]
    spread = few.code.unbiased_steps(few.code.spread + 1) - few.code.unbiased_steps(few.code.spread)
    assert few.poisoned(1, 10).move == pytest.approx(float(spread) / 10)
    assert "1 of 10 people" in few.poisoned(1, 10).words


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64])
@pytest.mark.parametrize("order", [251, 256])
def test_short_whole_numbers_are_hashed_like_long_ones(kind, order) -> None:
    protocol = hashed(5, 300, order)
    answers = np.array([1, 7, 100], dtype=kind)
    assert protocol.aggregate(protocol.encode(answers)).reports == 3


@pytest.mark.parametrize(("size", "order"), [(9, 8), (60, 16), (65, 8), (300, 17)])
def test_few_values_of_a_large_field_are_supported_like_all_of_them(size: int, order: int) -> None:
    """One way goes value by value, the other through all vectors of the field; which is taken depends on their work."""
    code = HashedCode(size, order, 2**31)
    counts = np.random.default_rng(size).integers(0, 100, code.outputs)
    every = field(order).sums_along_lines(counts, code.digits)[:size]
    assert code.supports(counts).tolist() == every.tolist()
    polynomial = field(order).polynomial
    slow = sum(
        counts[seed * order + slow_inner(seed, size - 1, order, code.digits, polynomial)] for seed in range(code.seeds)
    )
    assert code.supports(counts)[-1] == slow


def test_levels_that_doubles_cannot_hold_are_refused_everywhere() -> None:
    level = "0.99999999999999999999"
    protocol, hours = kary(1, 3), number(1, 0, 24, 1)
    with pytest.raises(BadValue, match="level"):
        protocol.estimate(protocol.aggregate(protocol.encode([1] * 20_000)), level=level, of="respondents")
    with pytest.raises(BadValue, match="level"):
        hours.estimate(hours.aggregate(hours.encode([1, 2])), level=level)
    with pytest.raises(BadValue, match="level"):
        cross(protocol, protocol, protocol.encode([1]), protocol.encode([1]), level)


def test_estimates_that_are_moved_stay_inside_their_interval() -> None:
    protocol = kary("0.5", 8)
    for _ in range(200):
        tally = protocol.aggregate(protocol.encode(np.zeros(60, dtype=np.int64)))
        for project in ("clip", "simplex"):
            assert all(row.low <= row.estimate <= row.high for row in protocol.estimate(tally, project=project))


def test_more_liars_than_people_are_refused() -> None:
    for protocol in (binary(1), number(1, 0, 5, 1)):
        with pytest.raises(BadValue, match="liars"):
            protocol.poisoned(20, 10)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "3.6", "3.7", "5", "12", "20"])
def test_three_trusts_are_compared_at_every_epsilon(epsilon: str) -> None:
    """The curator's ± falls steadily; one counted in whole people would be 0 from ε = 3.7 on."""
    rows = compare(epsilon, 1000, "1e-6").rows
    assert rows[0].radius > rows[2].radius > 0
    assert compare(epsilon, 1000, "1e-6").factor > 1


# --- two answers at once ------------------------------------------------------------


def test_numbers_are_not_crossed_and_swapped_reports_are_named() -> None:
    protocol, hours = kary(1, 300), number(1, 0, 5, 1)
    with pytest.raises(BadValue, match="must be one for values"):
        cross(protocol, hours, protocol.encode([1]), hours.encode([1]))
    few = kary(1, 3)
    many = kary(1, 200)
    with pytest.raises(BadValue, match="in the order of the protocols"):
        cross(few, many, [b"\x7f"], [b"\x01"])


def test_pairs_that_nobody_supports_have_an_interval_all_the_same() -> None:
    """One person, and fifty equal ones: the spread that is seen is 0, that of the noise is not."""
    first, second = kary(8, 15), binary(8)
    for people in (1, 50):
        estimate = cross(first, second, [b"\x00"] * people, [b"\x00"] * people)
        assert all(row.high - row.low > 1 / (2 * people) for row in estimate)


@pytest.mark.parametrize("epsilon", [1, 4, 8, 20])
@pytest.mark.parametrize(("people", "share"), [(60, 0.03), (1000, 0.001), (1000, 0.005), (1000, 0.2)])
def test_intervals_of_crossed_answers_cover(epsilon: int, people: int, share: float) -> None:
    """2,000 surveys, each pair's share drawn at random: at least 92.7 %, as for single answers (false alarm 4·10⁻⁶)."""
    first, second = kary(epsilon, 15), binary(epsilon)
    numbers = np.random.default_rng([epsilon, people, round(1000 * share)])
    covered = 0
    for _ in range(250):
        kinds = numbers.choice(4, (8, people), p=[share, 0.02, 0.25, 0.73 - share])
        for kind in kinds:  # holders of both, of the first value alone, of the second alone, of none
            left, right = np.where(kind < 2, 0, 1 + kind), (kind % 2 == 0) & (kind < 3)
            row = cross(first, second, first.encode(left), second.encode(right))[(0, "yes")]
            covered += row.low <= share <= row.high
    assert covered >= 0.927 * 2000


@pytest.mark.parametrize(("epsilon", "people"), [(4, 1), (4, 5), (4, 50), (20, 5), (20, 1000)])
def test_intervals_of_crossed_answers_hold_a_share_of_none(epsilon: int, people: int) -> None:
    """Everybody holds (no, no): 500 surveys, at least 90 of 100 intervals of (yes, yes) hold 0 (false alarm 2·10⁻⁶)."""
    protocol, answers = binary(epsilon), np.zeros(people, dtype=np.int64)
    rows = (cross(protocol, protocol, protocol.encode(answers), protocol.encode(answers)) for _ in range(500))
    assert sum(row[("yes", "yes")].low <= 0 <= row[("yes", "yes")].high for row in rows) >= 450


@pytest.mark.parametrize("epsilon", ["0.1", "0.61", "1", "2", "4", "8"])
@pytest.mark.parametrize("steps", [1, 2, 5, 24])
def test_mixture_of_a_number_has_the_least_worst_variance(epsilon: str, steps: int) -> None:
    """Beside every window up to 4N and every share in hundredths; exact variances, within a thousandth."""
    ours = hybrid_code(F(epsilon), steps)
    worst = max(ours.variance(x) for x in range(steps + 1))
    rivals = []
    for window in range(1, 4 * steps + 2):
        keep = keep_threshold(F(epsilon), F(steps + window, window))
        for share in (0, 1, *(F(part, 100) for part in range(5, 100, 5))):
            code = HybridCode(steps, window, int(share * 2**32), keep, ours.base, ours.slope)
            rivals.append(max(code.variance(x) for x in (0, steps // 2, steps)))
    assert float(worst) <= 1.001 * float(min(rivals))


def test_variance_of_crossed_answers_is_that_of_the_exact_law() -> None:
    """All four reports of both people's answers: E[(z·z′)²] − f² by enumeration."""
    first, second = kary(1, 3), binary("0.5")
    shares = {(0, 0): 0.2, (0, 1): 0.1, (1, 0): 0.3, (2, 1): 0.4}
    a, b = first.code, second.code
    square = 0.0
    for (x, y), share in shares.items():
        for left in (False, True):
            for right in (False, True):
                chance = float((a.truth if x == 0 else a.lie) if left else 1 - (a.truth if x == 0 else a.lie))
                chance *= float((b.truth if y == 1 else b.lie) if right else 1 - (b.truth if y == 1 else b.lie))
                z = float((left - a.lie) / (a.truth - a.lie) * (right - b.lie) / (b.truth - b.lie))
                square += share * chance * z**2
    n = 200_000
    numbers = np.random.default_rng(1)
    pairs = np.array(list(shares))[numbers.choice(4, n, p=list(shares.values()))]
    row = cross(first, second, first.encode(pairs[:, 0]), second.encode(pairs[:, 1]))[(0, "yes")]
    assert row.variance * n == pytest.approx(square - 0.1**2, rel=0.02)
