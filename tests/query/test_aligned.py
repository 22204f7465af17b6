"""Items that lie on their lattice already: held against the engine, and seen in the ± through the whole path."""

from statistics import correlation, covariance, mean, pvariance

import pytest

import discreet as dp
from discreet.query.bound import draft_of
from discreet.query.compile.aligned import is_aligned
from discreet.query.parts import RowSum
from discreet.query.recipe import parts
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema

COLUMNS = [
    Column("age", "integer", bounds=(0, 110)),
    Column("five", "integer", bounds=(-10, 60), step=5),
    Column("vast", "integer", bounds=(0, 2**40)),
    Column("free", "integer"),
    Column("half", "number", bounds=(0, 5), step="0.5"),
    Column("cents", "number", bounds=(0, 100), step="0.01"),
    Column("real", "number", bounds=(0, 100)),
    Column("vip", "boolean"),
    Column("came", "date", bounds=("2020-01-01", "2020-12-31")),
    Column("left", "date", bounds=("2020-01-01", "2020-12-31")),
]
SCHEMA = Schema("t", COLUMNS)


def alignments(aggregate):
    draft = draft_of(parse_sql(f"SELECT {aggregate} AS x FROM t").question, SCHEMA)
    return [is_aligned(p.item, p.lattice, SCHEMA) for r in draft.recipes for p in parts(r) if isinstance(p, RowSum)]


ALIGNED = [
    *("AVG(age)", "AVG(age - 50)", "AVG(50 - age)", "AVG(age * 3 + 1)", "AVG(five * five)", "AVG(age % 7)"),
    *("VAR_POP(age)", "STDDEV(five)", "COVAR_POP(age, five)", "CORR(age, five)", "AVG(abs(age - 50))"),
    *("AVG(round(age / 10))", "AVG(floor(real))", "AVG(CAST(real AS INTEGER))", "AVG(left - came)", "AVG(month(came))"),
    *("AVG(CASE WHEN real > 3 THEN 1 ELSE 0 END)", "AVG(clamp(free, 0, 100))", "AVG(coalesce(age, 0))", "AVG(half)"),
    *("AVG(half * 2)", "VAR_POP(half)", "AVG(cents)", "AVG(nullif(age, 3))", "AVG(CASE WHEN vip THEN age END)"),
]
ROUNDED = [
    *("AVG(age / 3)", "AVG(age * 0.1)", "AVG(age - 0.3)", "AVG(cents * 2)", "AVG(sqrt(age))", "VAR_POP(cents)"),
    *("AVG(CASE WHEN vip THEN 0.1 ELSE age END)", "AVG(clamp(age, 0.1, 50))", "AVG(age * cents)", "AVG(cents - age)"),
]


@pytest.mark.parametrize("aggregate", ALIGNED)
def test_whole_numbers_computed_exactly_lie_on_their_lattice(aggregate):
    assert alignments(aggregate)
    assert all(alignments(aggregate))


@pytest.mark.parametrize("aggregate", [*ROUNDED, "AVG(vast * vast)", "VAR_POP(vast)", "AVG(vast * 8192 + half)"])
def test_values_not_surely_on_the_lattice_may_be_moved(aggregate):
    assert not all(alignments(aggregate))


# --- beside the engine ---------------------------------------------------------------------------------------------

TOML = """\
[dataset]
name = "t"
source = "t.csv"
[columns.age]
type = "integer"
bounds = [0, 110]
[columns.five]
type = "integer"
bounds = [-10, 60]
step = 5
[columns.half]
type = "number"
bounds = [0, 5]
step = 0.5
[budget]
epsilon = 1e6
"""
ROWS = [(i * 37 % 111, 5 * (i % 15) - 10, (i * 7 % 11) / 2) for i in range(500)]
TRUE = {
    "AVG(age - 50)": lambda age, five, half: mean(age) - 50,
    "AVG(abs(five))": lambda age, five, half: mean(map(abs, five)),
    "AVG(round(age / 10))": lambda age, five, half: mean((a + 5) // 10 for a in age),
    "AVG(half * 2 - 1)": lambda age, five, half: 2 * mean(half) - 1,
    "VAR_POP(age)": lambda age, five, half: pvariance(age),
    "COVAR_POP(age, five)": lambda age, five, half: covariance(age, five) * 499 / 500,
    "CORR(age, half)": lambda age, five, half: correlation(age, half),
}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aligned")
    (folder / "t.csv").write_text("age,five,half\n" + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS))
    (folder / "t.toml").write_text(TOML)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        dataset = dp.open(folder / "t.toml")
        yield dataset
        dataset.close()


@pytest.mark.parametrize("aggregate", TRUE)
def test_without_noise_the_interval_of_an_aligned_item_is_a_point(people, aggregate):
    """At an ε at which an interval of level 1 − 10⁻⁷ is narrow: seven of them fail by chance less than once in 10⁶."""
    answer = people.sql(f"SELECT {aggregate} AS x FROM t").ask(epsilon=140_000, level="0.9999999")
    (column,) = answer.columns
    (low, high), wanted = (column.low[0], column.high[0]), TRUE[aggregate](*zip(*ROWS, strict=True))
    assert low - 1e-9 <= wanted <= high + 1e-9
    assert high - low < 0.02
