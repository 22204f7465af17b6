"""What orders a unit's rows is even for every shape of rows, and equal in SQL and in this process."""

from collections import Counter

import duckdb
import numpy as np
import pytest

from discreet.engine.mixing import LIMB, MASK, limbs, mixed, steps

UNITS = 200_000
SHAPES = {
    "three": [0, 1, 2],
    "runs": list(range(10)),
    "steps of 128": [128 * place for place in range(10)],
    "steps of 2^27": [place << 27 for place in range(10)],
    "powers of two": [1 << place for place in range(0, 61, 6)],
    "upper limb alone": [place << LIMB for place in range(10)],
    "top bits": [place << 55 for place in range(10)],
}


def order(seeds, words):
    """The places of the words in each unit's order."""
    mixtures = [mixed(seeds, [np.full(len(seeds), word & MASK), np.full(len(seeds), word >> LIMB)]) for word in words]
    return np.argsort(np.stack(mixtures, axis=1), axis=1, kind="stable")


def unevenness(ordered):
    """The largest |count − mean| / σ over which word comes first, and over which two come first."""
    units, words = ordered.shape
    pairs = [tuple(sorted(pair)) for pair in ordered[:, :2].tolist()]
    counts = [*(Counter(ordered[:, 0].tolist())[word] for word in range(words))]
    chances = [1 / words] * words
    both = Counter(pairs)
    for low in range(words):
        for high in range(low + 1, words):
            counts.append(both[(low, high)])
            chances.append(2 / (words * (words - 1)))
    return max(abs(n - units * p) / (units * p * (1 - p)) ** 0.5 for n, p in zip(counts, chances, strict=True))


@pytest.mark.parametrize("shape", SHAPES)
def test_each_row_and_each_pair_of_rows_comes_first_equally_often(shape):
    """200,000 units; at most 66 counts in each of 7 shapes within 6.5 σ: false alarm below 462 · 8e-11 = 4e-8."""
    seeds = np.random.default_rng(7).integers(0, 2**31, UNITS)
    assert unevenness(order(seeds, SHAPES[shape])) < 6.5


def test_a_linear_order_is_uneven():
    seeds = np.random.default_rng(7).integers(0, 2**31, (2, UNITS))
    linear = np.stack([(seeds[0] * word + seeds[1]) & MASK for word in SHAPES["three"]], axis=1)
    assert unevenness(np.argsort(linear, axis=1)) > 50


def test_sql_mixes_as_python_does():
    dice = np.random.default_rng(8)
    unit, word = dice.integers(-(2**63), 2**63, 500), dice.integers(0, 2**62, 500)
    sql = "SELECT unnest(CAST($unit AS BIGINT[])) AS id, unnest(CAST($word AS BIGINT[])) AS w"
    for step in steps(f"id & {MASK}", limbs("w", 2 * LIMB), "xor({}, {})"):
        sql = f"SELECT id, w, {step} AS x FROM ({sql})"
    told = duckdb.execute(f"SELECT x FROM ({sql})", {"unit": unit.tolist(), "word": word.tolist()}).fetchall()
    assert [x for (x,) in told] == mixed(unit & MASK, [word & MASK, word >> LIMB]).tolist()


def test_rows_of_one_limb_never_tie():
    seeds = np.full(2**16, 12345)
    assert len(set(mixed(seeds, [np.arange(2**16)]).tolist())) == 2**16


def test_a_mixed_number_is_what_earlier_versions_computed():
    """Of a fixed seed and word: another number keeps other rows, which is another format."""
    assert mixed(np.array([123456789]), [np.array([987654321]), np.array([1])]).tolist() == [1611577052]
