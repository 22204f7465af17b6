"""Fast ways beside slow twins on the same words: reports, coins, choices, biased bits, supports and sums of columns."""

from itertools import product

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.local import hashed, kary, number, subset, two_coins, unary
from discreet.local.bits import biased_words, column_sums
from discreet.local.field import field, orders
from discreet.local.words import SIDES, WordList, bytes_of, coins, numbers_of, uniforms, width_of
from local.cases import Tape, slow_inner, slow_product, slow_report, slow_support
from replay import Replay, Seeded

PROTOCOLS = {
    "two coins": two_coins(),
    "3-ary": kary(1, 3),
    "300-ary": kary("0.5", 300),
    "GF(2)": hashed(1, 100, 2),
    "GF(4)": hashed(1, 1024),
    "GF(5)": hashed(1, 77, 5),
    "GF(16)": hashed(3, 300, 16),
    "GF(17)": hashed(3, 1000, 17),
    "GF(256)": hashed(4, 300, 256),
    "2 of 8": subset(1, 8),
    "4 of 8": subset("0.1", 8),
    "9 of 70": subset(2, 70),
    "122 of 256": subset("0.1", 256),
    "unary 3": unary(1, 3),
    "unary 8": unary(1, 8),
    "unary 70": unary(2, 70),
    "hybrid": number(1, 0, 24, 1),
    "hybrid of two points": number("0.5", 0, 24, 1),
    "hybrid of 1,000 steps": number(4, -500, 500, 1),
    "uses": number(1, 0, 10, 1, protects="use"),
}


def edge_words(law: dict[str, int]) -> list[int]:
    """Words next to every threshold and to the limits of uniform choices."""
    numbers = {value for name, value in law.items() if name in ("keep", "yes", "no", "share", "base", "more")}
    sizes = {value for name, value in law.items() if name in ("size", "field", "window", "steps")}
    if law["kind"] == "subset":
        sizes = {*range(law["size"] - law["chosen"] + 1, law["size"] + 1), law["chosen"]}
    if law["kind"] == "hashed":
        sizes.add(law["field"] ** law["digits"])
    if law["kind"] == "number":
        numbers |= {law["base"] + law["slope"] * steps for steps in range(law["steps"] + 1)}
        sizes.add(law["steps"] + law["window"])
    limits = numbers | {SIDES - SIDES % size for size in sizes}
    around = {limit + step for limit in limits for step in (-1, 0, 1)} | {0, 1, SIDES - 1}
    return sorted(word for word in around if 0 <= word < SIDES)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_reports_of_given_words_are_those_of_the_slow_rule(name: str) -> None:
    """2,000 reports: words at random, and words next to thresholds and limits."""
    protocol, numbers = PROTOCOLS[name], np.random.default_rng(len(name))
    law = dict(protocol.code.to_json())
    edges = np.array(edge_words(law))
    for _ in range(2_000):
        words = np.where(numbers.random(400) < 0.5, numbers.integers(0, SIDES, 400), numbers.choice(edges, 400))
        answer = int(numbers.integers(protocol.code.size))
        tape = Tape([*words.tolist(), *([0, SIDES - 1] * 20)])
        reported = protocol.code.report(answer, WordList([*words.tolist(), *([0, SIDES - 1] * 20)]))
        assert reported == slow_report(law, answer, tape)
        assert len(reported) == protocol.report_bytes
        assert reported == protocol.code.report(answer, WordList(tape.words[: tape.read]))  # and reads no word more
        if tape.read > 1:
            with pytest.raises(BadValue, match="enough"):
                protocol.code.report(answer, WordList(tape.words[: tape.read - 1]))


def test_protocols_take_the_words_that_codes_take() -> None:
    protocol = kary(1, ["red", "green", "blue"])
    assert protocol.encode_with("green", [0, 7]) == b"\x01"
    assert protocol.encode_with("green", [SIDES - 1, SIDES - 1, 5]) == b"\x02"  # 2³² − 1 is no choice among three
    assert number(1, 10, 20, 2).encode_with(14, [SIDES - 1, 0]) == slow_report(
        dict(number(1, 10, 20, 2).code.to_json()), 2, Tape([SIDES - 1, 0])
    )


@pytest.mark.parametrize("word", [-1, SIDES, True, None])
def test_words_that_are_none_are_refused(word) -> None:
    with pytest.raises(BadValue, match="32-bit words"):
        kary(1, 3).encode_with(0, [word, 0])


# --- arrays ------------------------------------------------------------


def word_stream(words: np.ndarray) -> Replay:
    """A source whose 64-bit words hold those 32-bit ones in order."""
    return Replay(np.ascontiguousarray(words.astype("<u4")).view("<u8"))


@pytest.mark.parametrize("threshold", [0, 1, 2**31, 3_000_000_001, SIDES - 1, SIDES])
def test_many_coins_fall_like_single_ones_on_the_same_words(threshold: int) -> None:
    words = np.random.default_rng(1).integers(0, SIDES, 1_000)
    words[:6] = np.clip([threshold - 1, threshold, threshold + 1, 0, SIDES - 1, 1], 0, SIDES - 1)
    tossed = coins(threshold, 999, word_stream(words))
    tape = WordList(words.tolist())
    assert tossed.tolist() == [tape.coin(threshold) for _ in range(999)]


@pytest.mark.parametrize("size", [3, 5, 1024, 1000, 3 * 2**30, 2**31 + 1, 2**24])
def test_many_choices_are_those_of_single_ones_up_to_the_order_of_repeats(size: int) -> None:
    """Words beyond the limit are replaced by later ones: the same words decide, and each once."""
    words = np.random.default_rng(2).integers(0, SIDES, 40_000)
    words[::7] = SIDES - 1
    chosen = uniforms(size, 1_000, word_stream(words))
    limit = SIDES - SIDES % size
    first = [word % size if word < limit else None for word in words[:1_000].tolist()]
    assert all(choice == known for choice, known in zip(chosen.tolist(), first, strict=True) if known is not None)
    replaced = [choice for choice, known in zip(chosen.tolist(), first, strict=True) if known is None]
    accepted = [word % size for word in words[1_000:].tolist() if word < limit]
    assert all(choice < size for choice in replaced)
    assert set(replaced) <= set(accepted)


@pytest.mark.parametrize("size", [1, 2, 4, 64, 256])
def test_choices_that_fit_a_byte_are_its_lowest_bits(size: int) -> None:
    """All 256 bytes in turn, each choice 256/size times: exactly uniform."""
    given = Replay(np.arange(256, dtype=np.uint8).view("<u8"))
    assert np.bincount(uniforms(size, 256, given)).tolist() == [256 // size] * size


def test_biased_bits_are_one_exactly_below_the_threshold() -> None:
    """64 numbers u at a time, digit planes first; every u that leaves T at one of its 32 digits, and T's neighbours."""
    numbers = np.random.default_rng(3)
    for threshold in (1, 2**31, 3 << 29, 1155106157, SIDES - 1, *numbers.integers(1, SIDES, 20).tolist()):
        flipped = [threshold ^ (1 << digit) for digit in range(32)]
        neighbours = [threshold - 1, threshold, min(threshold + 1, SIDES - 1), 0, SIDES - 1]
        uniform = np.array([*flipped, *neighbours, *numbers.integers(0, SIDES, 64 - 37).tolist()], dtype=np.uint64)
        planes = [
            int(sum(int(u >> np.uint64(d) & np.uint64(1)) << i for i, u in enumerate(uniform))) for d in range(32)
        ]
        bits = int(biased_words(threshold, 1, Replay(planes[::-1]))[0])
        assert [bits >> i & 1 for i in range(64)] == [int(u < threshold) for u in uniform]


def test_biased_bits_of_many_words_follow_their_threshold() -> None:
    """N = 64·10⁵ bits; 5.5 standard deviations, false alarms below 10⁻⁷ each; a threshold 1 % off is refused."""
    n = 10**5
    for threshold in (2**31, 1155106157, 77_252_500):
        ones = int(np.bitwise_count(biased_words(threshold, n, Seeded(threshold))).sum())
        chance = threshold / SIDES
        slack = 5.5 * (64 * n * chance * (1 - chance)) ** 0.5
        assert abs(ones - 64 * n * chance) < slack
        assert abs(ones - 64 * n * chance * 1.1) > slack


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7, 26, 27, 28, 1000, 4096])
def test_sums_of_columns_are_those_of_unpacked_bits(rows: int) -> None:
    for width in (1, 2, 16):
        words = np.random.default_rng(rows).integers(0, 2**64, (rows, width), dtype=np.uint64)
        words[: rows // 3] = ~np.uint64(0)
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        before = words.copy()
        assert column_sums(words).tolist() == bits.sum(axis=0, dtype=np.int64).tolist()
        assert np.array_equal(words, before)


@pytest.mark.parametrize("name", [n for n, p in PROTOCOLS.items() if hasattr(p.code, "supports") and n != "GF(256)"])
def test_supports_are_those_of_a_double_loop(name: str) -> None:
    """400 reports drawn: each value asked of each report by the slow rule."""
    code, numbers = PROTOCOLS[name].code, np.random.default_rng(4)
    reports = code.draw(numbers.integers(0, code.size, 400), Seeded(5))
    values = range(code.size) if code.size < 80 else numbers.choice(code.size, 40, replace=False).tolist()
    supports = code.supports(code.counts(reports))
    assert len(supports) == code.size
    law = dict(code.to_json())
    for value in values:
        slow = [slow_support(law, row.tobytes(), value) for row in reports]
        assert code.support_of(reports, value).tolist() == slow
        assert supports[value] == sum(slow)


@pytest.mark.parametrize("cells", [2, 3, 255, 256, 257, 65_536, 65_537, 2**24, 2**24 + 1, 2**31])
def test_numbers_come_back_from_their_bytes(cells: int) -> None:
    width = width_of(cells)
    assert 256 ** (width - 1) < cells <= 256**width or (cells <= 256 and width == 1)
    numbers = np.array([0, 1, cells // 2, cells - 1], dtype=np.uint32)
    rows = bytes_of(numbers, width)
    assert rows.shape == (4, width)
    assert [row.tobytes() for row in rows] == [int(n).to_bytes(width, "little") for n in numbers]
    assert numbers_of(rows).tolist() == numbers.tolist()


# --- fields ------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 3, 4, 5, 7, 8, 16, 31, 32, 64])
def test_fields_are_fields(order: int) -> None:
    """Every product by school multiplication; rows of both tables without 0 are permutations; products distribute."""
    gf = field(order)
    pairs = list(product(range(order), repeat=2))
    assert all(gf.times[a, b] == slow_product(a, b, order, gf.polynomial) for a, b in pairs)
    assert all(sorted(gf.plus[a]) == list(range(order)) for a in range(order))
    assert all(sorted(gf.times[a]) == list(range(order)) for a in range(1, order))
    some = np.random.default_rng(order).integers(0, order, (200, 3))
    for a, b, c in some.tolist():
        assert gf.times[a, gf.plus[b, c]] == gf.plus[gf.times[a, b], gf.times[a, c]]


@pytest.mark.parametrize(("order", "digits"), [(2, 3), (3, 2), (4, 2), (5, 2), (8, 1)])
def test_two_values_meet_under_exactly_one_in_order_of_the_seeds(order: int, digits: int) -> None:
    """⟨a, x⟩ = ⟨a, x′⟩ for a share of exactly 1/g of the seeds a: what makes hashed estimates unbiased."""
    seeds, polynomial = order**digits, field(order).polynomial
    for x, other in product(range(seeds), repeat=2):
        meet = sum(
            slow_inner(seed, x, order, digits, polynomial) == slow_inner(seed, other, order, digits, polynomial)
            for seed in range(seeds)
        )
        assert meet == (seeds if x == other else seeds // order)


@pytest.mark.parametrize(("order", "digits"), [(2, 6), (3, 3), (4, 3), (7, 2), (16, 2)])
def test_sums_along_lines_are_those_of_a_double_loop(order: int, digits: int) -> None:
    gf, numbers = field(order), np.random.default_rng(order)
    counts = numbers.integers(0, 10**6, order ** (digits + 1))
    sums = gf.sums_along_lines(counts, digits)
    for value in range(order**digits):
        slow = (
            counts[seed * order + slow_inner(seed, value, order, digits, gf.polynomial)]
            for seed in range(order**digits)
        )
        assert sums[value] == sum(slow)


def test_orders_are_the_primes_and_powers_of_two_up_to_256() -> None:
    assert orders()[:8] == (2, 3, 4, 5, 7, 8, 11, 13)
    assert {128, 251, 256} < set(orders())
    for order in (6, 9, 255):
        with pytest.raises(BadValue, match="prime or a power of two"):
            field(order)
