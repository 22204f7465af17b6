"""Samples follow the law that is priced: every person by her own coin, and with a uniform choice of her rows.

Statistical tests compare counts with their exact law by Pearson's test; each has a false-alarm rate of 10⁻⁶.
"""

import itertools
import time
from datetime import date
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from discreet.deep.sampling import persons_of, poisson_sample, slot_sample, slots_of
from discreet.errors import BadValue
from discreet.noise.source import SYSTEM
from replay import Replay, Seeded, then_system

ALARM = 1e-6


def is_refuted(counts, law):
    """Whether Pearson's test refutes the law at the false-alarm rate."""
    return stats.chisquare(counts, np.array(law) * np.sum(counts)).pvalue < ALARM


def persons_by_row(units):
    """The person of each row that belongs to somebody, read back from the arrays."""
    persons = persons_of(units, len(units))
    return {int(row): person for person in range(persons.count) for row in rows_of(persons, person)}


def rows_of(persons, person):
    return persons.order[persons.starts[person] : persons.starts[person + 1]].tolist()


# --- persons -------------------------------------------------------------------------------------------------------


def test_without_units_each_row_is_a_person():
    persons = persons_of(None, 4)
    assert persons.sizes.tolist() == [1, 1, 1, 1]
    assert persons.order.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "units",
    [
        ["b", "a", "b", "c", "a", "b"],
        [7, 3, 7, 2**70, 3, 7],
        np.array([7, 3, 7, -1, 3, 7]),
        np.array([7, 3, 7, 2**64 - 1, 3, 7], dtype=np.uint64),
        [date(2020, 1, 1), date(2021, 1, 1), date(2020, 1, 1), date(2022, 1, 1), date(2021, 1, 1), date(2020, 1, 1)],
        np.array([b"x", b"y", b"x", b"z", b"y", b"x"]),
    ],
)
def test_rows_of_one_key_are_one_person(units):
    by_row = persons_by_row(units)
    persons = [by_row[row] for row in range(6)]
    assert persons[0] == persons[2] == persons[5]
    assert persons[1] == persons[4]
    assert len(set(persons)) == 3
    assert rows_of(persons_of(units, 6), persons[0]) == [0, 2, 5]


def test_keys_of_other_types_neither_merge_persons_nor_part_them():
    by_row = persons_by_row([1, 1.0, "1", np.int64(1), Decimal(1), np.float32(1), True, b"1", "1.5", "True"])
    assert len({by_row[row] for row in range(6)}) == 1
    assert by_row[6] == by_row[9]  # a boolean is spelt as its text
    assert len({by_row[row] for row in (0, 6, 7, 8)}) == 4


def test_rows_without_a_key_are_nobodys():
    keys = ["a", None, float("nan"), "a", 1.5, Decimal("nan"), object(), (1, 2), "b"]
    assert sorted(persons_by_row(keys)) == [0, 3, 8]
    masked = np.ma.masked_array([5, 5, 6], [False, True, False])
    assert sorted(persons_by_row(masked)) == [0, 2]


def test_floats_that_may_be_several_keys_are_nobodys():
    """2⁵³ + 1 became 2⁵³: two persons under one key would be clipped as one, which promises less to each."""
    assert sorted(persons_by_row([2.0**53, 2**53, 2.0**53 - 1, float("inf")])) == [1, 2]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_a_column_of_floats_is_refused_by_its_type_alone(dtype):
    texts = set()
    for cells in ([1.0, 2.0], [3.0, float("nan")]):
        with pytest.raises(BadValue, match="must not be floats") as refused:
            persons_of(np.array(cells, dtype=dtype), 2)
        texts.add(str(refused.value))
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("large", "smaller"),
    [
        (complex(2**53), complex(2**53 - 1)),
        (np.complex64(2**24), np.complex64(2**24 - 1)),
        (np.float32(2**24), np.float32(2**24 - 1)),
        (np.float16(2**11), np.float16(2**11 - 1)),
    ],
)
def test_cells_of_shorter_floats_and_of_complex_numbers_merge_keys_earlier(large, smaller):
    assert sorted(persons_by_row([large, smaller, 5])) == [1, 2]


def test_an_array_without_rows_is_not_refused_for_the_type_that_it_has_by_default():
    assert persons_of(np.array([]), 0).count == 0
    with pytest.raises(BadValue, match="must have one length"):
        persons_of(np.array([]), 3)


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "timedelta64[ns]", "V8", [("a", int), ("b", int)]])
def test_a_column_of_no_keys_is_refused_by_its_type_alone(dtype):
    texts = set()
    for count in (1, 2, 7):
        with pytest.raises(BadValue, match="units must") as refused:
            persons_of(np.zeros(count, dtype=dtype), count)
        texts.add(str(refused.value))
    assert len(texts) == 1


def test_spans_of_pandas_are_refused_by_their_type_and_its_dates_are_keys():
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2020-01-01", periods=3)
    for wrong in (days.to_period("D"), days - days[0], pandas.interval_range(0, 3), pandas.cut([1, 2, 3], 3)):
        with pytest.raises(BadValue, match="must be whole numbers, texts, dates or UUIDs"):
            persons_of(pandas.Series(wrong), 3)
    assert persons_of(pandas.Series(days), 3).count == 3


def test_tensors_and_arrays_of_one_number_are_that_number():
    import torch

    masked = np.ma.masked_array(5, True)
    cells = [torch.tensor(5), np.array(5), 5, torch.tensor(5.0), masked, np.ma.masked, np.array("5"), np.array([5])]
    by_row = persons_by_row(cells)
    assert sorted(by_row) == [0, 1, 2, 3, 6]
    assert len(set(by_row.values())) == 1
    cells = [torch.tensor(2.0**24), torch.tensor(2.0**8, dtype=torch.bfloat16), torch.tensor(1, device="meta")]
    assert not persons_by_row([*cells, torch.tensor(16.0).to(torch.float8_e4m3fn)])


def test_a_tensor_names_persons_too():
    import torch

    assert persons_of(torch.tensor([3, 4, 3]), 3).sizes.tolist() == [2, 1]
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        with pytest.raises(BadValue, match="must not be floats"):
            persons_of(torch.tensor([3.0, 4.0], dtype=dtype), 2)


def test_refusals_of_units_tell_no_number_of_rows():
    texts = set()
    for units, size in ((["a"], 2), (["a", "b", "c"], 977)):
        with pytest.raises(BadValue, match="must have one length") as refused:
            persons_of(units, size)
        texts.add(str(refused.value))
    assert len(texts) == 1
    for units in ("ab", np.array([[1], [2]]), np.array(1)):
        with pytest.raises(BadValue, match="must be a column of keys"):
            persons_of(units, 2)


# --- coins ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [F(1, 3), F(1, 300), F(1024, 60_000)])
def test_the_size_of_a_sample_is_binomial(rate):
    """N = 4,000 samples of 40 persons each, coins with and without units."""
    people, draws = 40, 4000
    law = stats.binom(people, float(rate))
    cut = max(1, int(law.ppf(1 - 50 / draws)))  # larger samples are counted together
    for persons in (persons_of(None, people), persons_of(np.repeat(np.arange(people), 2), 2 * people)):
        sizes = []
        for _ in range(draws):
            rows, owners = poisson_sample(persons, rate, 2, SYSTEM)
            sizes.append(rows.size if owners is None else len(set(owners.tolist())))
        counts = np.bincount(np.minimum(sizes, cut), minlength=cut + 1)
        assert not is_refuted(counts, [*law.pmf(range(cut)), law.sf(cut - 1)])


def test_a_rare_coin_falls_as_often_as_its_rate_says():
    """N = 60,000,000 coins of 1/60,000: 1,000 heads, by the exact binomial test."""
    persons, rate = persons_of(None, 60_000), F(1, 60_000)
    heads = sum(poisson_sample(persons, rate, 1, SYSTEM)[0].size for _ in range(1000))
    assert stats.binomtest(heads, 60_000_000, float(rate)).pvalue > ALARM
    assert stats.binomtest(1200, 60_000_000, float(rate)).pvalue < ALARM


def test_persons_are_sampled_independently():
    """N = 20,000 samples of two persons: all four outcomes have their products."""
    persons, rate = persons_of(["a", "b", "a"], 3), F(3, 10)
    counts = np.zeros(4, dtype=int)
    for _ in range(20_000):
        rows, _ = poisson_sample(persons, rate, 2, SYSTEM)
        counts[(0 in rows) + 2 * (1 in rows)] += 1
    assert not is_refuted(counts, [0.49, 0.21, 0.21, 0.09])
    assert is_refuted(counts, [0.539, 0.189, 0.189, 0.083])  # a law 10 % off


def test_everybody_is_in_a_sample_of_rate_one():
    rows, owners = poisson_sample(persons_of([5, 6, 5], 3), F(1), 9, SYSTEM)
    assert rows.tolist() == [0, 2, 1]
    assert owners.tolist() == [0, 0, 1]


def test_empty_samples_and_empty_data_are_ordinary():
    for persons in (persons_of(None, 0), persons_of([], 0), persons_of([None, None], 2)):
        rows, owners = poisson_sample(persons, F(1, 2), 3, SYSTEM)
        assert rows.size == 0
        assert rows.dtype == np.int64
        assert owners is None or owners.size == 0
    tails = Replay([2**64 - 1] * 3)
    assert poisson_sample(persons_of(["a", "b"], 2), F(1, 2), 3, tails)[0].size == 0


def test_a_coin_costs_one_byte_of_randomness():
    source = Replay([], then_system([]))
    poisson_sample(persons_of(None, 8000), F(1, 256), 1, source)
    assert 1000 <= source.asked < 1000 + 100  # ties, one in 256, take a word more


def test_sixty_thousand_persons_take_a_millisecond():
    persons, spent = persons_of(None, 60_000), []
    for _ in range(30):
        start = time.process_time()
        poisson_sample(persons, F(1024, 60_000), 1, SYSTEM)
        spent.append(time.process_time() - start)
    assert min(spent) <= 1e-3


# --- rows of a sampled person ---------------------------------------------------------------------------------------


def test_owners_come_in_runs_and_nobody_brings_more_than_the_cap():
    units = np.array([3, 1, 3, 3, 2, 1, 3, 3])
    persons = persons_of(units, 8)
    for seed in range(200):
        rows, owners = poisson_sample(persons, F(2, 3), 3, Seeded(seed))
        assert len(set(rows.tolist())) == rows.size
        assert owners.tolist() == sorted(owners.tolist())
        for owner in set(owners.tolist()):
            keys = set(units[rows[owners == owner]].tolist())
            assert len(keys) == 1
            assert np.count_nonzero(owners == owner) == min(3, np.count_nonzero(units == keys.pop()))
        assert sorted(set(owners.tolist())) == list(range(len(set(owners.tolist()))))


def test_the_rows_of_one_person_are_a_uniform_subset():
    """N = 20,000 draws of 2 of 5 rows: ten pairs, each equally often."""
    persons = persons_of(["me"] * 5 + ["you"], 6)
    pairs = {pair: place for place, pair in enumerate(itertools.combinations(range(5), 2))}
    counts = np.zeros(10, dtype=int)
    for _ in range(20_000):
        rows, _ = poisson_sample(persons, F(1), 2, SYSTEM)
        counts[pairs[tuple(sorted(row for row in rows.tolist() if row < 5))]] += 1
    assert not is_refuted(counts, [0.1] * 10)
    assert is_refuted(counts, [0.11, 0.09] * 5)


def test_one_row_a_person_needs_no_owners():
    rows, owners = poisson_sample(persons_of(["a", "a", "b"], 3), F(1), 1, SYSTEM)
    assert owners is None
    assert rows.size == 2


# --- without sampling ------------------------------------------------------------------------------------------------


def test_every_person_has_one_slot_whoever_else_is_there():
    """N = 30,000 persons in seven slots, each as often; the slot of a person is her own draw."""
    slots = slots_of(persons_of(None, 30_000), 7, SYSTEM)
    assert not is_refuted(np.bincount(slots, minlength=7), [1 / 7] * 7)
    assert is_refuted(np.bincount(slots, minlength=7), [1.1 / 7] * 3 + [3.7 / 28] * 4)
    words = [5 << 61, 1 << 61, 3 << 61]
    assert slots_of(persons_of(None, 3), 7, Replay(words)).tolist() == [5, 1, 3]
    assert slots_of(persons_of(None, 2), 7, Replay(words[::2])).tolist() == [5, 3]


def test_slots_share_out_all_persons():
    persons = persons_of(["a", "b", "a", "c", "a"], 5)
    slots = np.array([1, 0, 1])
    rows, owners = slot_sample(persons, slots, 1, 2, SYSTEM)
    assert owners.tolist() == [0, 0, 1]
    assert set(rows.tolist()) < {0, 2, 3, 4}
    assert slot_sample(persons, slots, 0, 2, SYSTEM)[0].tolist() == [1]
    assert slot_sample(persons, slots, 2, 2, SYSTEM)[0].size == 0
