"""What is drawn follows the law, errs as much as the formula says, and wrong ways are told from right ones.

Every test states its N; false alarms are below 10⁻⁶ a test, and a law 10 % off is refused.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, chi2

from discreet.local import auto, binary, hashed, kary, number, subset, two_coins, unary
from discreet.local.code import mean_noise
from discreet.local.protocol import ValueProtocol
from discreet.noise.source import SYSTEM
from local.cases import SIDES
from replay import Seeded

N = 200_000
ALARM = 1e-7
SMALL = {
    "two coins": two_coins(),
    "binary": binary(1),
    "5-ary": kary(1, 5),
    "GF(2)": hashed(1, 6, 2),
    "GF(3)": hashed(1, 6, 3),
    "GF(4)": hashed(1, 6),
    "unary": unary(1, 6),
    "2 of 8": subset(1, 8),
    "hybrid": number(1, 0, 6, 1),
    "two points": number("0.5", 0, 6, 1),
    "uses": number(1, 0, 3, 1, protects="use"),
}
LARGE = {
    "GF(4)": hashed(1, 1024),
    "GF(8)": hashed(2, 1024, 8),
    "unary": unary(1, 1024),
    "100-ary": kary(4, 100),
    "24 of 200": subset(2, 200),
}


def is_refused(counts: dict[bytes, int], law: dict[bytes, object]) -> bool:
    """Pearson's test at ALARM, outputs expected less than 20 times put together."""
    total = sum(counts.values())
    assert set(counts) <= set(law)
    expected = np.array([float(chance) * total for chance in law.values()])
    seen = np.array([counts.get(report, 0) for report in law])
    rare = expected < 20
    if rare.any():
        expected, seen = np.append(expected[~rare], expected[rare].sum()), np.append(seen[~rare], seen[rare].sum())
        expected, seen = expected[expected > 0], seen[expected > 0]
    statistic = ((seen - expected) ** 2 / expected).sum()
    return bool(statistic > chi2.isf(ALARM, len(seen) - 1))


def counted(reports: np.ndarray) -> dict[bytes, int]:
    rows, times = np.unique(reports, axis=0, return_counts=True)
    return {row.tobytes(): int(many) for row, many in zip(rows, times, strict=True)}


def off(code):
    """The code with its first threshold a tenth smaller."""
    name = next(name for name in ("slope", "keep", "no", "more") if hasattr(code, name))
    return replace(code, **{name: int(getattr(code, name) * 0.9)})


@pytest.mark.parametrize("name", SMALL)
def test_drawn_reports_follow_their_law_and_not_one_a_tenth_off(name: str) -> None:
    """N = 200,000 reports of one answer by the operating system's randomness."""
    code = SMALL[name].code
    answer = code.size - 1
    counts = counted(code.draw(np.full(N, answer), SYSTEM))
    assert not is_refused(counts, dict(code.law(answer)))
    wrong = off(code)
    if wrong.outputs == code.outputs:
        assert is_refused(counts, dict(wrong.law(answer)))
    assert is_refused(counts, dict(code.law(0)))


@pytest.mark.parametrize("name", LARGE)
def test_reports_about_many_values_support_them_as_often_as_the_law_says(name: str) -> None:
    """N = 200,000 people with one answer: their own value Bin(N, p), some others Bin(N, q) each."""
    code = LARGE[name].code
    supports = code.supports(code.counts(code.draw(np.full(N, 37), SYSTEM)))
    for value, chance in [(37, code.truth), *((v, code.lie) for v in (0, 1, 36, 38, code.size - 1))]:
        low, high = binom.isf([1 - ALARM / 12, ALARM / 12], N, float(chance))
        assert low <= supports[value] <= high
        assert value != 37 or not low <= round(supports[value] * 1.1) <= high


def test_reports_of_different_people_are_not_alike() -> None:
    """Seeds are drawn for each person: of 1,024 seeds none is far from N/1,024, and neighbours are independent."""
    code = hashed(1, 1024).code
    reports = code.draw(np.zeros(N, dtype=np.int64), SYSTEM)
    seeds = reports.view("<u2")[:, 0] // code.order
    assert not is_refused(counted(seeds.astype("<u2").view(np.uint8).reshape(-1, 2)), dict.fromkeys(_seeds(), 1 / 1024))
    pairs = (seeds[:-1] % 8) * 8 + seeds[1:] % 8
    chances = np.bincount(pairs, minlength=64)
    assert ((chances - (N - 1) / 64) ** 2 / ((N - 1) / 64)).sum() < chi2.isf(ALARM, 63) * 2


def _seeds() -> list[bytes]:
    return [seed.to_bytes(2, "little") for seed in range(1024)]


def squared_errors(protocol: ValueProtocol, answers: np.ndarray) -> np.ndarray:
    """For each report, (z − x)² averaged over the values."""
    code = protocol.code
    gain = float(code.truth - code.lie)
    reports = protocol.encode(answers).bytes
    total = np.zeros(len(answers))
    for value in range(code.size):
        z = (code.support_of(reports, value) - float(code.lie)) / gain
        total += (z - (answers == value)) ** 2
    return total / code.size


@pytest.mark.parametrize("name", ["two coins", "binary", "5-ary", "GF(2)", "GF(3)", "GF(4)", "unary", "2 of 8"])
def test_variance_over_many_reports_is_the_formula_within_two_percent(name: str) -> None:
    """N = 400,000 reports, half of one value; 2 % are more than 5.5 standard errors, so alarms are below 10⁻⁷."""
    protocol, n = SMALL[name], 400_000
    k = len(protocol.values)
    answers = np.where(np.arange(n) % 2 == 0, 0, np.arange(n) % k)
    errors = squared_errors(protocol, answers)
    shares = np.bincount(answers, minlength=k) / n
    formula = np.mean([protocol.variance(f"{share:.12f}", 1, of="respondents") for share in shares])
    assert 5.5 * errors.std() / n**0.5 < 0.02 * formula
    assert errors.mean() == pytest.approx(formula, rel=0.02)
    assert errors.mean() != pytest.approx(1.1 * formula, rel=0.02)


# --- half the people on one value ------------------------------------------------------------

K, SURVEYS = 1024, 6


def test_tail_of_the_mean_squared_error_is_rare_enough() -> None:
    """Six surveys of 1,024 values: a mean square beyond 1.1 times its mean has probability below 10⁻⁶."""
    assert chi2.sf(1.1 * K * SURVEYS, K * SURVEYS) < 1e-6


def half_on_one_value(n: int) -> np.ndarray:
    """The answers of n people: half 700, the others alike among all values."""
    return np.where(np.arange(n) % 2 == 0, 700, np.arange(n) // 2 % K)


def relative_error(protocol: ValueProtocol, n: int) -> float:
    """n·MSE over the values and surveys, divided by the formula."""
    answers = half_on_one_value(n)
    shares = np.bincount(answers, minlength=K) / n
    squares = []
    for _ in range(SURVEYS):
        rows = protocol.estimate(protocol.aggregate(protocol.encode(answers)), of="respondents").rows
        squares.append(n * np.mean((np.array([row.estimate for row in rows]) - shares) ** 2))
    return float(np.mean(squares)) / float(mean_noise(protocol.code))


@pytest.mark.parametrize("name", ["hashed", "auto"])
def test_half_the_people_on_one_value_of_many_err_by_the_formula(name: str) -> None:
    """n = 4·10⁶ people, six surveys, k = 1,024: n·MSE ≤ 1.1 times the formula."""
    assert relative_error({"hashed": hashed, "auto": auto}[name](1, K), 4_000_000) <= 1.1


def pooled_relative_error(n: int, pool: int, *, linear: bool) -> float:
    """The same with seeds from a pool: hashes filled at random, or a fixed choice of the linear ones."""
    code, numbers = hashed(1, K).code, np.random.default_rng(9)
    if linear:
        chosen = numbers.choice(code.seeds, pool, replace=False)
        hashes = code.field.inner(chosen[:, None], np.arange(K), code.digits).astype(np.int64)
    else:
        hashes = numbers.integers(0, code.order, (pool, K))
    answers = half_on_one_value(n)
    seeds = numbers.integers(0, pool, n)
    kept = numbers.random(n) < code.keep / SIDES
    symbols = np.where(kept, hashes[seeds, answers], numbers.integers(0, code.order, n))
    counts = np.bincount(seeds * code.order + symbols, minlength=pool * code.order).reshape(pool, code.order)
    supports = counts[np.arange(pool)[:, None], hashes].sum(axis=0)
    estimates = (supports / n - float(code.lie)) / float(code.truth - code.lie)
    shares = np.bincount(answers, minlength=K) / n
    return n * float(np.mean((estimates - shares) ** 2)) / float(mean_noise(code))


def test_pool_of_a_thousand_random_seeds_is_far_off() -> None:
    """The planted bug: a fixed bias that more people do not wash out; some 84 times too much at 4·10⁶ people."""
    few, many = (pooled_relative_error(n, 1_000, linear=False) for n in (400_000, 4_000_000))
    assert few > 5
    assert many > 50


def test_pool_of_linear_seeds_is_off_too_and_all_of_them_are_not() -> None:
    assert pooled_relative_error(400_000, 64, linear=True) > 5
    assert pooled_relative_error(400_000, K, linear=True) < 1.3


# --- wrong ways ------------------------------------------------------------


def test_unbiasing_with_the_power_of_a_probability_is_off() -> None:
    """The lecture's slip: z = (y − 1/(1 + p^k))·(p^k + 1)/(p^k − 1) with p^k in the place of e^ε."""
    protocol = binary(1)
    code = protocol.code
    ratio = float(code.ratio)
    for truth in (0, 1):
        law = {report[0]: float(chance) for report, chance in protocol.law(truth).items()}

        def mean(odds: float, law: dict[int, float] = law) -> float:
            return sum(chance * (y - 1 / (1 + odds)) * (odds + 1) / (odds - 1) for y, chance in law.items())

        assert mean(ratio) == pytest.approx(truth, abs=1e-12)
        assert abs(mean(float(code.truth) ** len(protocol.values)) - truth) > 0.1


@pytest.mark.parametrize("name", ["raw", "divided only", "of two coins", "of k values"])
def test_wrong_unbiasing_is_told_from_the_right_one(name: str) -> None:
    """N = 120,000 reports about five values, 30 % hold the first: only the right estimate is within 5.5 errors."""
    protocol, n, share = kary(1, 5), 120_000, 0.3
    p, q = float(protocol.code.truth), float(protocol.code.lie)
    answers = np.where(np.arange(n) % 10 < 3, 0, 1 + np.arange(n) % 4)
    tally = protocol.aggregate(protocol.encode(answers))
    rate = tally.counts[0] / n
    wrong = {
        "raw": rate,
        "divided only": rate / p,
        "of two coins": 2 * rate - 0.5,
        "of k values": (rate - 1 / 5) / (p - 1 / 5),
    }
    slack = 5.5 * protocol.variance("0.3", n, of="respondents") ** 0.5
    assert abs(protocol.estimate(tally)[0].estimate - share) < slack
    assert abs((rate - q) / (p - q) - protocol.estimate(tally)[0].estimate) < 1e-12
    assert abs(wrong[name] - share) > slack


class Biased:
    """A generator whose every bit is 1 with probability 0.55."""

    def __init__(self) -> None:
        self.numbers = np.random.default_rng(11)

    def words(self, n: int) -> np.ndarray:
        return np.packbits(self.numbers.random(64 * n) < 0.55).view(np.uint64)


class Truncated(Seeded):
    """A generator of 31 bits, as one of signed numbers gives."""

    def words(self, n: int) -> np.ndarray:
        return super().words(n) & np.uint64(0x7FFF_FFFF_7FFF_FFFF)


@pytest.mark.parametrize("source", [Biased(), Truncated(3)], ids=["bits", "31 bits"])
@pytest.mark.parametrize("name", ["two coins", "binary", "5-ary", "GF(4)", "GF(3)", "unary", "hybrid", "uses"])
def test_biased_generator_is_seen_in_the_law_of_reports(name: str, source) -> None:
    code = SMALL[name].code
    refused = [is_refused(counted(code.draw(np.full(N, x), source)), dict(code.law(x))) for x in (0, code.size - 1)]
    assert any(refused)


def test_uniform_choice_by_remainder_alone_is_seen() -> None:
    """u mod m without rejection favours the low half of m = 3·2³⁰ twofold: N = 10⁴."""
    size = 3 * 2**30
    words = np.random.default_rng(5).integers(0, SIDES, 10_000)
    low = int((words % size < 2**30).sum())
    assert abs(low - 10_000 / 3) > 5.5 * (10_000 * 2 / 9) ** 0.5
