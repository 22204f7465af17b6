"""Zip code, birth date and sex name most people in a table without names, and nobody in a synthetic one."""

import math
import os
import tracemalloc

import numpy as np
import pytest

import discreet as dp
from discreet.attack.linking import linkage as module
from discreet.attack.linking.keys import shared_keys, spelling, unique_matches
from discreet.attack.linking.linkage import DAYS, example, linkage, on_file
from discreet.attack.words import caveats
from discreet.errors import BadValue, DiscreetError
from discreet.noise.public import generator
from discreet.rehearsal.rows import as_csv

TOML = """
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "person"
max_rows = 1
[columns.town]
type = "category"
values = ["a", "b", "c"]
[columns.age]
type = "integer"
bounds = [0, 99]
[columns.member]
type = "boolean"
[budget]
epsilon = 3
delta = 1e-6
"""


@pytest.fixture(scope="module")
def built_in():
    return example(("1",), 7)


def test_most_people_are_unique_as_the_law_says(built_in):
    """.87 at 8,000 people in a zip code: 15,768 patients, so ± .014 but for 1 seed in 10⁶."""
    assert built_in.raw == pytest.approx(math.exp(-7999 / (2 * DAYS)), abs=0.014)
    assert built_in.raw == pytest.approx(0.87, abs=0.01)
    for row in built_in.details["by_size"].values():
        assert row["unique"] == pytest.approx(row["law"], abs=0.014)


def test_larger_zip_codes_hide_more_people_and_make_claims_less_precise(built_in):
    rows = list(built_in.details["by_size"].values())
    assert [row["unique"] for row in rows] == sorted((row["unique"] for row in rows), reverse=True)
    assert built_in.details["by_size"]["8000"]["precision"] == pytest.approx(0.97, abs=0.02)
    assert rows[-1]["precision"] < 0.85


def test_a_synthetic_table_names_no_more_than_blind_rows_do(built_in):
    """Some 76 of 15,768 claims are right by chance; Poisson of 76 lies in 36 to 125 but for 1 run in 10⁶."""
    assert 0.002 < built_in.private["1"] < 0.0085
    assert built_in.baseline == pytest.approx(0.00436, abs=0.0001)
    assert built_in.private["1"] < built_in.ceiling["1"]


def test_the_bound_is_not_called_a_ceiling_for_any_attacker(built_in):
    assert built_in.notes[-1].startswith("Bounds this attack's claims only")
    assert not any("any attacker against" in caveat for caveat in caveats(built_in))


def test_blind_guessing_is_what_blind_rows_achieve_on_average():
    """Ten tables of blind rows tell some 750 patients rightly: ± 3.7 %, one standard deviation, by a public seed."""
    chance = generator(3)
    people = module._population(module.PER_ZIP, module.ZIPS, chance)
    is_patient = chance.random(module.PER_ZIP * module.ZIPS) < module.SAMPLE
    rows = -(-int(is_patient.sum()) // module.ZIPS)
    claims = [module._right_claims(module._population(rows, module.ZIPS, chance), people) for _ in range(10)]
    measured = np.mean([(claim & is_patient).sum() for claim in claims]) / is_patient.sum()
    assert module.blind_share(people, is_patient) == pytest.approx(measured, rel=0.15)


def test_unique_matches_agree_with_comparing_all_pairs():
    chance = generator(2)
    for _ in range(20):
        first, second = ({name: chance.integers(0, 4, size=12).tolist() for name in "ab"} for _ in range(2))
        rows = [list(zip(table["a"], table["b"], strict=True)) for table in (first, second)]
        slow = [rows[1].index(row) if rows[0].count(row) == rows[1].count(row) == 1 else -1 for row in rows[0]]
        assert unique_matches(*shared_keys([first, second], ["a", "b"])).tolist() == slow


def test_tables_of_the_callers_own_are_joined():
    hospital = {"person": [1, 2, 3], "zip": ["A", "A", "B"], "sex": ["f", "m", "f"]}
    register = {"person": [1, 9, 3, 4], "zip": ["A", "A", "B", "B"], "sex": ["f", "m", "f", "f"]}
    result = linkage(hospital, register, ["zip", "sex"], epsilon=1)
    assert result.private == {"1": pytest.approx(1 / 3)}  # 1 is named, 2 is taken for 9, and two people could be 3
    assert result.details["matched"] == pytest.approx(2 / 3)
    assert result.details["precision"] == 0.5
    assert result.sentence.startswith("PRIVATE")


def test_types_of_cells_keep_nobody_from_being_named():
    """Numbers and days as another program writes them, against texts; missing values are equal to nothing."""
    pandas = pytest.importorskip("pandas")
    births = ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]
    hospital = pandas.DataFrame({"person": [1, 2, 3, 4], "birth": pandas.to_datetime(births)})
    hospital["age"] = [34.0, 35.0, float("nan"), 1e22]
    register = {"person": ["1", "2", "3", "4"], "birth": births, "age": ["34", "35.00", None, "1" + "0" * 22]}
    result = linkage(hospital, register, ["birth", "age"])
    assert result.raw == result.details["unique"] == result.details["matched"] == 0.75
    assert result.details["blank"] == {"published": 1, "register": 1}
    assert "1 of 4 rows of published have a blank" in result.notes[0]
    codes = linkage(
        {"person": [1], "day": np.array(births[:1], "datetime64[s]")}, {"person": [1], "day": births[:1]}, ["day"]
    )
    assert (codes.raw, codes.notes) == (1, ())


def test_a_row_without_a_person_is_nobodys():
    assert linkage({"person": [None], "zip": ["A"]}, {"person": [None], "zip": ["A"]}, ["zip"]).raw == 0


@pytest.mark.parametrize("cell", ["nan", "None", "1e5", "1-2", "0x1", "12.", "", "−3", "2020-01-01 05:00:00"])
def test_texts_that_are_no_plain_numbers_stay_as_they_are(cell):
    assert spelling(cell) == cell.rstrip(".")


def test_cells_that_differ_in_a_nul_differ():
    keys = shared_keys([{"a": ["a", "a\0"]}, {"a": ["a\0", "a"]}], ["a"])
    assert [key.tolist() for key in keys] == [[0, 1], [1, 0]]


def test_one_long_cell_takes_its_own_memory_alone():
    """An array of texts would have 20,000 times the 130,000 letters: 10 GB."""
    cells = ["x" * 130_000, *map(str, range(19_999))]
    tracemalloc.start()
    try:
        assert len(np.unique(shared_keys([{"a": cells}], ["a"])[0])) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("on", [None, [], "zip", 3, [["zip"]], ["canary"]])
def test_columns_that_are_none_are_refused(on):
    table = {"person": [1], "zip": ["A"]}
    with pytest.raises(BadValue):
        linkage(table, table, on)


@pytest.mark.parametrize(
    "register", [{"zip": ["A"]}, {"person": [], "zip": []}, {"person": [1, 2], "zip": ["canary"]}, 3]
)
def test_a_register_without_the_columns_is_refused(register):
    with pytest.raises(BadValue) as refused:
        linkage({"person": [1], "zip": ["A"]}, register, ["zip"])
    assert "canary" not in str(refused.value)


# --- the curator's own synthetic table -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("own")
    chance = generator(5)
    size = 200
    rows = {
        "person": list(range(size)),
        "town": [("a", "b", "c")[town] for town in chance.integers(0, 3, size=size)],
        "age": chance.integers(0, 100, size=size).tolist(),
        "member": ["true" if coin else "false" for coin in chance.integers(0, 2, size=size)],
    }
    (place / "people.csv").write_text(as_csv(rows))
    (place / "people.toml").write_text(TOML)
    (place / "another.toml").write_text(TOML.replace("[0, 99]", "[0, 98]").replace("people", "another"))
    with dp.open(place / "people.toml") as people:
        people.synthesize().build(epsilon=1).save(place / "synthetic.parquet")
    return place


def test_the_curators_own_synthetic_table_is_held_against_its_rows(folder):
    result = on_file(folder / "synthetic.parquet", 7)
    frame = np.loadtxt(folder / "people.csv", delimiter=",", skiprows=1, dtype=str)
    rows = [tuple(cell.strip('"') for cell in line[1:]) for line in frame.tolist()]
    released = dp.synth.load(folder / "synthetic.parquet").to_pandas()
    copies = {
        (str(town), str(age), str(member).lower())
        for town, age, member in zip(released["town"], released["age"], released["member"], strict=True)
    }
    single = [row for row in rows if rows.count(row) == 1]
    assert result.raw == len(single) / len(rows) > 0.5
    assert result.private == {"1": sum(row in copies for row in single) / len(rows)}
    assert result.of_real_data
    assert 0 < result.baseline < result.raw


def test_a_synthetic_table_without_its_toml_is_refused(folder, tmp_path):
    (tmp_path / "s.parquet").write_bytes((folder / "synthetic.parquet").read_bytes())
    with pytest.raises(BadValue, match="beside the TOML"):
        on_file(tmp_path / "s.parquet", 7)


def test_a_file_that_is_no_synthetic_table_is_refused(tmp_path):
    (tmp_path / "s.parquet").write_text("canary")
    with pytest.raises(DiscreetError) as refused:
        on_file(tmp_path / "s.parquet", 7)
    assert "canary" not in str(refused.value)


def test_a_private_table_that_is_gone_is_refused(folder, tmp_path):
    for name in ("synthetic.parquet", "people.toml"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(DiscreetError):
        on_file(tmp_path / "synthetic.parquet", 7)


def test_a_private_table_without_rows_is_refused(folder, tmp_path):
    for name in ("synthetic.parquet", "people.toml"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "people.csv").write_text("person,town,age,member\n")
    with pytest.raises(BadValue, match="must have rows"):
        on_file(tmp_path / "synthetic.parquet", 7)


@pytest.mark.parametrize("pipe", ["synthetic.parquet", "people.csv", "another.toml"])
def test_a_pipe_is_not_waited_for(pipe, folder, tmp_path):
    for name in ("synthetic.parquet", "people.toml", "people.csv"):
        if name != pipe:
            (tmp_path / name).write_bytes((folder / name).read_bytes())
    os.mkfifo(tmp_path / pipe)
    if pipe == "another.toml":
        assert on_file(tmp_path / "synthetic.parquet", 7).trials == 200
    else:
        with pytest.raises(DiscreetError):
            on_file(tmp_path / "synthetic.parquet", 7)


def test_two_tomls_that_fit_are_refused_by_their_names(folder, tmp_path):
    for name in ("synthetic.parquet", "people.toml", "people.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "copy.toml").write_bytes((folder / "people.toml").read_bytes())
    with pytest.raises(BadValue, match=r"copy\.toml, people\.toml"):
        on_file(tmp_path / "synthetic.parquet", 7)


@pytest.mark.parametrize("on", ["age", [], None, 3])
def test_columns_to_join_on_are_a_list_of_names(on):
    table = {"person": [1], "age": [30]}
    with pytest.raises(BadValue, match="on must be a list of column names") as refused:
        linkage(table, table, on)
    assert f"You gave {on!r}." in str(refused.value)
