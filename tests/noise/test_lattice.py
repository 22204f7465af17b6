"""Three stages, one law: what a stage proves is right, and what it cannot prove is handed on with all its digits."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet.noise import lattice
from discreet.noise.cells import EXPONENTIAL, NORMAL, H, locate, tables
from discreet.noise.digits import Digits
from discreet.noise.lattice import FEWEST, LARGEST, PLACE_BITS, Rounding, draw_certified, draw_rounded
from replay import Replay, fair, then_system

from .certified import density
from .certified import proposal as proposal_of

HALF = Fraction(1, 2)
SCALES = [
    Fraction(1, 2),
    Fraction(3),
    Fraction(101, 7),
    Fraction(1000),
    Fraction(10**9),
    Fraction(10**12),
    Fraction(1, 20),
]
GEOMETRIC = [Rounding(EXPONENTIAL, 1, scale, Fraction(0)) for scale in SCALES]
GAUSSIAN = [Rounding(NORMAL, 2, scale, HALF) for scale in SCALES]
ALL = pytest.mark.parametrize("rounding", GEOMETRIC + GAUSSIAN, ids=lambda r: f"{r.sides}-sided-{r.scale}")
SOME = pytest.mark.parametrize(
    "rounding", [GEOMETRIC[2], GAUSSIAN[2], GAUSSIAN[5]], ids=lambda r: f"{r.sides}-{r.scale}"
)


def floors(rounding, cell, place):
    """⌊scale·h·(cell + V) + offset⌋ at both ends of the V that begin with these 40 digits."""
    unit = rounding.scale * H
    low = unit * (cell + Fraction(place, 2**PLACE_BITS)) + rounding.offset
    high = low + unit / 2**PLACE_BITS
    return math.floor(low), math.ceil(high) - 1


def wrong_proofs(rounding, words):
    """How many of stage 1's proven integers are not forced by the digits, and how many are proven."""
    out = np.empty(words.size, dtype=np.int64)
    proven = lattice._fill_by_table(rounding, words, out)
    cells = (lattice._lookup(rounding.cells, rounding.sides) + 2.0**52) / 2.0**PLACE_BITS
    wrong = 0
    for i in np.flatnonzero(proven):
        word = int(words[i])
        wrong += floors(rounding, int(cells[word >> 48]), word & (2**PLACE_BITS - 1)) != (out[i], out[i])
    return wrong, int(proven.sum())


def boundary_words(rounding, n, seed):
    """Words whose place is the last before a lattice boundary of their cell, or the first after it."""
    cells = (lattice._lookup(rounding.cells, rounding.sides) + 2.0**52) / 2.0**PLACE_BITS
    named, where = np.unique(cells[~np.isnan(cells)].astype(int), return_index=True)
    index = dict(zip(named.tolist(), np.flatnonzero(~np.isnan(cells))[where].tolist(), strict=True))
    rng = np.random.default_rng(seed)
    words = []
    while len(words) < n:
        k = math.floor(rounding.scale * H * int(rng.choice(named)) + rounding.offset) + int(rng.integers(0, 10**6))
        point = (k - rounding.offset) / (rounding.scale * H)
        place = math.floor((point - math.floor(point)) * 2**PLACE_BITS) + int(rng.integers(-1, 2))
        if math.floor(point) in index and 0 <= place < 2**PLACE_BITS:
            words.append(index[math.floor(point)] << 48 | place)
        elif rounding.scale < 10**6:  # few boundaries in all: near ones again
            k = int(rng.integers(-3, 4)) if rounding.sides == 2 else int(rng.integers(1, 5))
            point = (k - rounding.offset) / (rounding.scale * H)
            if math.floor(point) in index:
                words.append(index[math.floor(point)] << 48 | math.floor((point - math.floor(point)) * 2**PLACE_BITS))
    return np.array(words, dtype=np.uint64)


@ALL
def test_what_stage_one_proves_is_forced_by_the_digits(rounding):
    wrong, proven = wrong_proofs(rounding, fair(3000, 31))
    assert wrong == 0
    assert proven > 2500, "and it proves nearly everything"


@pytest.mark.parametrize("rounding", GEOMETRIC[:6] + GAUSSIAN[:6], ids=lambda r: f"{r.sides}-sided-{r.scale}")
def test_on_lattice_boundaries_stage_one_proves_nothing_wrong(rounding):
    assert wrong_proofs(rounding, boundary_words(rounding, 2000, 32))[0] == 0


@pytest.mark.parametrize(("cells", "sides"), [(EXPONENTIAL, 1), (NORMAL, 2)], ids=["geometric", "gaussian"])
def test_a_margin_of_zero_is_caught_on_the_boundaries(cells, sides):
    careful = Rounding(cells, sides, Fraction(12 * 10**12, 13), HALF)
    assert wrong_proofs(careful, boundary_words(careful, 2000, 32))[0] == 0
    careless = Rounding(cells, sides, careful.scale, HALF)
    object.__setattr__(careless, "margin", 0.0)
    wrong, _ = wrong_proofs(careless, boundary_words(careless, 2000, 32))
    assert 0 < wrong < 40, "only what is lost to rounding: the open digits of the place have a margin of their own"


def test_a_table_off_by_one_cell_is_caught(monkeypatch):
    rounding = GEOMETRIC[2]
    right = lattice._lookup(rounding.cells, rounding.sides)
    words, rest = fair(2000, 33), fair(4000, 34)
    assert disagreements(rounding, words, rest, 200) == 0
    monkeypatch.setattr(lattice, "_lookup", lambda cells, sides: np.roll(right, 1))
    assert disagreements(rounding, words, rest, 200) > 0


def test_a_coin_that_always_keeps_is_caught(monkeypatch):
    rounding = GAUSSIAN[2]
    words, rest = fair(2000, 33), fair(4000, 34)
    everything = (np.ones(2000, dtype=bool), np.ones(2000, dtype=bool))
    monkeypatch.setattr(lattice, "_keep_by_floats", lambda *given: everything)
    assert disagreements(rounding, words, rest, 2000) > 0


def digits_of(rounding, word, more):
    """The layout of a word: sign, 15 or 16 digits of the proposal (48 or 49 more follow), 8 unused, 40 of the place."""
    if rounding.sides == 2:
        return word >> 63 == 1, Digits(((word >> 48) & 0x7FFF) << 49 | more >> 15, 64), Digits(word & (2**40 - 1), 40)
    return False, Digits((word >> 48) << 48 | more >> 16, 64), Digits(word & (2**40 - 1), 40)


@cache
def second(cells):
    """The proposal computed a second time; test_cells.py shows that `locate` agrees with it."""
    return proposal_of(cells.alpha, cells.beta, tables(cells).count)


def slow(rounding, word, more, coin):
    """The draw by stage 3 alone: None if refused."""
    mirrored, proposal, place = digits_of(rounding, word, more)
    source = Replay([2**62 + 1] * 9)
    j, sure = second(rounding.cells).located(proposal.value, 64) or locate(rounding.cells, proposal, source)
    return draw_certified(rounding, j, sure, place, Digits(coin, 64), source, mirrored=mirrored)


def disagreements(rounding, words, rest, checked):
    """Stages 1, 2 and 3 against stage 3 alone, on the same words; stage 2 sees every word, proven before or not."""
    out = np.empty(words.size, dtype=np.int64)
    proven = lattice._fill_by_table(rounding, words, out)
    redrawn, refused = lattice._draw_doubtful(rounding, words, Replay([*rest.tolist(), *([2**62 + 1] * 999)]))
    more, coin = rest[: words.size].tolist(), rest[words.size :].tolist()
    wrong = int((proven & (refused | (redrawn != out))).sum())
    doubtful_first = np.argsort(proven, kind="stable")[:checked]
    for i in doubtful_first.tolist():
        exact = slow(rounding, int(words[i]), more[i], coin[i])
        wrong += (exact is None) != refused[i] or (exact is not None and exact != redrawn[i])
    return wrong


@SOME
def test_all_stages_agree_with_the_slow_twin(rounding):
    """2,000 words, the doubtful ones first, read twice."""
    assert disagreements(rounding, fair(2000, 35), fair(4000, 36), 2000) == 0


@pytest.mark.parametrize("rounding", [GEOMETRIC[2], GAUSSIAN[2]], ids=["geometric", "gaussian"])
def test_stage_two_agrees_where_every_proposal_is_a_maybe(rounding):
    """Proposals above all sure mass: the keep coin decides each."""
    t = tables(rounding.cells)
    start = int(t.thresholds[t.count])
    span = (2**64 - 1 - start) * 9 // 10
    proposals = [start + int(w) * span // 2**64 for w in fair(200, 37)]
    words, more = [], []
    for p, w in zip(proposals, fair(200, 38).tolist(), strict=True):
        place = w & (2**40 - 1)
        words.append((w >> 63 << 63 | (p >> 49) << 48 | place) if rounding.sides == 2 else ((p >> 48) << 48 | place))
        more.append((p & (2**49 - 1)) << 15 if rounding.sides == 2 else (p & (2**48 - 1)) << 16)
    rest = np.array([*more, *fair(200, 39).tolist()], dtype=np.uint64)
    assert disagreements(rounding, np.array(words, dtype=np.uint64), rest, 200) == 0
    _, refused = lattice._draw_doubtful(
        rounding, np.array(words, dtype=np.uint64), Replay([*rest.tolist(), *([7] * 99)])
    )
    assert 40 < refused.sum() < 160, "about half are refused"


def test_a_proposal_equal_to_a_threshold_goes_to_the_digits():
    """The 64 digits equal the end of sure cell 40; the digits after it put the draw in cell 40 or 41."""
    rounding = Rounding(EXPONENTIAL, 1, Fraction(64), Fraction(0))  # one cell is one lattice step
    edge = int(tables(EXPONENTIAL).thresholds[40])
    word, more = edge >> 48 << 48 | 2**39, (edge & (2**48 - 1)) << 16
    for after, cell in [(0, 40), (2**64 - 1, 41)]:
        whole, refused = lattice._draw_doubtful(rounding, np.array([word], dtype=np.uint64), Replay([more, 0, after]))
        assert (whole[0], refused[0]) == (cell, False)


@pytest.mark.parametrize(("step", "refused"), [(-(2**45), False), (2**45, True)])
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_keep_coin_on_its_edge_goes_to_the_digits(step, refused, mirrored):
    """Maybe-cell 5 of the normal, V = 3/8 and zeros after; Y equals in 64 digits what that asks for, then differs."""
    ends, j = tables(NORMAL).thresholds, 5
    part = tables(NORMAL).count + 1 + j
    proposal = (int(ends[part - 1]) + int(ends[part])) // 2
    with mp.workdps(60):
        f, v = density(0, 1), mpf(5 if mirrored else 3) / 8
        low, high = f(mpf(j + 1) / 64), f(mpf(j) / 64)
        edge = (f((j + v) / 64) - low) / (high - low)
        coin = int(edge * 2**64)
        after = int(edge * mpf(2) ** 128) - (coin << 64)
    word = mirrored << 63 | (proposal >> 49) << 48 | 3 * 2**37
    source = Replay([(proposal & (2**49 - 1)) << 15, coin, 0, after + step])
    _, verdicts = lattice._draw_doubtful(GAUSSIAN[3], np.array([word], dtype=np.uint64), source)
    assert (verdicts[0], source.left.size) == (refused, 0)


@pytest.mark.parametrize(("step", "expected"), [(-1, 4), (1, 5)])
def test_a_place_on_a_lattice_boundary_is_refined(step, expected):
    """scale = 48: cells are 3/4 of a step; the boundary 5 lies 2/3 into cell 6, between two 40-digit places."""
    rounding = Rounding(EXPONENTIAL, 1, Fraction(48), Fraction(0))
    place, after = 2 * 2**40 // 3, 2 * 2**104 // 3 & (2**64 - 1)
    index = int(np.flatnonzero(tables(EXPONENTIAL).sure_cell == 6)[0])
    source = Replay([0, 0, after + step])
    whole, refused = lattice._draw_doubtful(rounding, np.array([index << 48 | place], dtype=np.uint64), source)
    assert (whole[0], refused[0], source.left.size) == (expected, False, 0)


@pytest.mark.parametrize("index", range(0, 1 << 15, 997))
def test_the_top_bit_is_the_sign_and_nothing_else(index):
    """The cell of the mirrored half is −1 − j, so that z and −z are equally likely."""
    both = (lattice._lookup(NORMAL, 2) + 2.0**52) / 2.0**PLACE_BITS
    assert both[index] == -1 - both[index + (1 << 15)] or np.isnan(both[[index, index + (1 << 15)]]).all()


def test_both_signs_get_the_same_digits_below():
    """A word and its mirror image — top bit set, place complemented — give K and −K away from the boundaries."""
    rounding = GAUSSIAN[2]
    words = fair(4000, 40) & np.uint64(2**63 - 1)
    mirror = (words ^ np.uint64(2**40 - 1)) | np.uint64(2**63)
    first, other = np.empty(4000, dtype=np.int64), np.empty(4000, dtype=np.int64)
    proven = lattice._fill_by_table(rounding, words, first) & lattice._fill_by_table(rounding, mirror, other)
    assert proven.sum() > 3800
    assert (first[proven] == -other[proven]).all()


def test_a_refused_proposal_is_drawn_anew_from_the_first_digit():
    rounding = GAUSSIAN[2]
    first, rest = fair(FEWEST, 41), fair(4 * FEWEST, 42)
    out = np.empty(FEWEST, dtype=np.int64)
    open_ = np.flatnonzero(~lattice._fill_by_table(rounding, first, out))
    given = rest[: 2 * open_.size]
    _, refused = lattice._draw_doubtful(rounding, first[open_], then_system(given))
    assert refused.any()
    second = fair(FEWEST, 43)
    fresh = np.empty(FEWEST, dtype=np.int64)
    known = lattice._fill_by_table(rounding, second, fresh)[: refused.sum()]
    values = draw_rounded(rounding, FEWEST, then_system(np.concatenate([first, given, second])))
    assert (values[open_[refused]][known] == fresh[: refused.sum()][known]).all()
    assert known.any()


@pytest.mark.parametrize("n", [0, 1, 7])
def test_small_requests_are_cut_from_a_batch(n):
    source = then_system([])
    assert draw_rounded(GEOMETRIC[3], n, source).size == n
    assert source.asked >= FEWEST


@pytest.mark.parametrize("n", [8191, 8192, 8193, 20_000])
def test_chunks_are_joined_in_order(n):
    values = draw_rounded(GEOMETRIC[3], n, then_system(np.full(n, 5, dtype=np.uint64)))
    assert values.size == n
    assert (values == values[0]).mean() > 0.99


def test_values_beyond_64_bits_saturate():
    rounding = Rounding(NORMAL, 2, Fraction(10**12), HALF)
    for mirrored, expected in [(False, LARGEST), (True, -LARGEST)]:
        assert draw_certified(rounding, 2**70, True, Digits(1, 40), Digits(), Replay([]), mirrored=mirrored) == expected
    assert -(2**63) < ~np.int64(LARGEST) < 0, "the complement that makes a negative draw stays within ±(2⁶³ − 1)"
    assert 2**63 / 10**12 / math.log(2) > 1000, "and the odds of saturation, e^(−2⁶³/scale), are below 2⁻¹⁰⁰⁰"


@pytest.mark.parametrize("scale", [Fraction(3, 10**8), Fraction(1, 10**20), Fraction(1, 10**300), Fraction(1, 10**400)])
@pytest.mark.parametrize("sides", [1, 2])
def test_tiny_scales_are_settled_without_the_slow_stage(scale, sides, monkeypatch):
    """A few of 10⁴ draws lie in open cells; hardly one may need certified balls."""
    slow_draws = []
    monkeypatch.setattr(lattice, "draw_certified", lambda *given, mirrored: slow_draws.append(given) or 0)
    rounding = Rounding(EXPONENTIAL, 1, scale, Fraction(0)) if sides == 1 else Rounding(NORMAL, 2, scale, HALF)
    assert not draw_rounded(rounding, 10_000, then_system([])).any()
    assert len(slow_draws) < 5


def test_margin_bounds_every_rounding_error():
    """x in floats, as stage 1 computes it, against the exact rational."""
    for rounding in GEOMETRIC + GAUSSIAN:
        cells = [0, 1, 100, tables(rounding.cells).count - 1]
        cells += [-1 - cell for cell in cells] if rounding.sides == 2 else []
        for cell in cells:
            for place in [0, 1, 2**39 + 12345, 2**40 - 1]:
                x = float(cell * 2**40 + place) * rounding.per_place + float(rounding.offset)
                exact = rounding.scale * H * (cell + Fraction(place, 2**40)) + rounding.offset
                assert abs(Fraction(x) - exact) <= Fraction(rounding.margin) / 2
