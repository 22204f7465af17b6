"""Bad trees, shares, totals and names: one clear error from public facts, before any charge; no cell is shown."""

import json
from pathlib import Path

import numpy as np
import pytest

from bad_input.desk import CELL, Desk
from discreet.errors import BadValue
from discreet.release.fit import chebyshev, duals, integer, joint, topdown
from discreet.release.tree import from_branches, from_edges
from release.fits import hay

TREE = "country,region,ward\nx,north,n1\nx,north,n2\nx,south,s1\n"
TOML = """\
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "person"
max_rows = 2
[columns.ward]
type = "category"
[columns.sex]
type = "category"
values = ["f", "m"]
[columns.household]
type = "text"
[columns.year]
type = "integer"
bounds = [1, 9000]
[columns.week]
type = "integer"
bounds = [1, 9000]
[hierarchy.geo]
levels = ["country", "region", "ward"]
tree = "geo.csv"
[budget]
epsilon = 1e6
"""
PLAIN = [f"zq{n}x0,zq{n // 2}x1,{('n1', 'n2', 's1')[n % 3]},{'fm'[n % 2]},2000,3" for n in range(40)]
ODD = [f"zq{n}x0,zq{n}x1,{ward},f,2000,3" for n, ward in enumerate(["zq1x2", "", "north", "N1", "n1 ", "zq2x2"], 100)]
WARD = '[columns.ward]\ntype = "category"'
VERBS = ("plan", "build")


def table(rows: list[str]) -> str:
    return "\n".join(["person,household,ward,sex,year,week", *rows, ""])


@pytest.fixture
def census(fresh: Desk) -> Desk:
    Path("people.csv").write_text(table(PLAIN + ODD))
    Path("people.toml").write_text(TOML)
    Path("geo.csv").write_text(TREE)
    return fresh


def refused(census: Desk, *flags: str, exit_code: int, code: str) -> str:
    """The fix of both verbs, after which the folder is what it was."""
    before = {path.name: path.read_bytes() for path in census.folder.iterdir()}
    problems = [
        census.refused("release", verb, "people.toml", *flags, exit_code=exit_code, code=code) for verb in VERBS
    ]
    assert problems[0] == problems[1] or "discreet release" in problems[0]["fix"]
    assert {path.name: path.read_bytes() for path in census.folder.iterdir()} == before
    return f"{problems[0]['what']} {problems[0]['why']} {problems[0]['fix']}"


# --- the tree --------------------------------------------------------------------------------------------------------

TREES = {
    "two parents": (TREE + "x,south,n1\n", "each ward in one region only"),
    "levels that do not nest": (TREE + "y,north,n3\n", "each region in one country only"),
    "a branch twice": (TREE + "x,south,s1\n", "different from each other"),
    "a name missing": (TREE + "x,south\n", "all 3 levels"),
    "a name too many": (TREE + "x,south,s2,s2a\n", "all 3 levels"),
    "another header": (TREE.replace("country,region,ward", "ward,region,country"), "country,region,ward"),
    "no line": ("country,region,ward\n", "tree"),
    "nothing at all": ("", "country,region,ward"),
    "bytes": ("country,region,ward\nx,n\udcffrth,n1\n", "UTF-8"),
}


@pytest.mark.parametrize("name", TREES)
def test_file_that_holds_no_tree_is_refused(census: Desk, name: str) -> None:
    content, said = TREES[name]
    Path("geo.csv").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert said in refused(census, "--eps", "1", exit_code=3, code="metadata")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('tree = "geo.csv"', 'tree = "nowhere.csv"', "not there"),
        ('tree = "geo.csv"', 'tree = "people.csv"', "private table"),
        ('tree = "geo.csv"', "", "country,region,ward"),
        (WARD, WARD + '\nvalues = ["n1", "n2", "s1", "zz"]', "zz"),
        (WARD, WARD + '\nvalues = ["n1", "n2"]', "s1"),
        ('[columns.ward]\ntype = "category"', '[columns.area]\ntype = "category"', "ward"),
        ('[hierarchy.geo]\nlevels = ["country", "region", "ward"]\ntree = "geo.csv"\n', "", "[hierarchy.geo]"),
    ],
    ids=[
        "no file",
        "the table itself",
        "no tree",
        "a value too many",
        "a value too few",
        "no such column",
        "no hierarchy",
    ],
)
def test_hierarchy_that_does_not_fit_the_metadata_is_refused(census: Desk, old: str, new: str, said: str) -> None:
    assert old in TOML
    Path("people.toml").write_text(TOML.replace(old, new))
    assert said in refused(census, "--eps", "1", exit_code=3, code="metadata")


def test_level_called_like_the_one_above_several_tops_is_refused(census: Desk) -> None:
    Path("people.toml").write_text(TOML.replace('"country", "region"', '"all", "region"'))
    Path("geo.csv").write_text("all,region,ward\nx,north,n1\ny,south,s1\n")
    assert "'all'" in refused(census, "--eps", "1", exit_code=3, code="metadata")


def test_sizes_without_a_unit_are_refused(census: Desk) -> None:
    Path("people.toml").write_text(TOML.replace('[unit]\nkey = "person"\nmax_rows = 2\n', ""))
    flags = ("--groups", "household", "--largest", "3", "--eps", "1")
    assert "[unit]" in refused(census, *flags, exit_code=3, code="metadata")


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([("a", "b"), ("b", "a")], "no cycle"),
        ([("top", "x"), ("a", "b"), ("b", "c"), ("c", "a")], "no cycle"),
        ([("top", "a"), ("a", "a")], "one parent only"),
        ([("top", "a"), ("top", "b"), ("a", "c"), ("b", "c")], "one parent only"),
        ([("one", "a"), ("two", "b")], "one place at the top"),
        ([], "one place at the top"),
    ],
    ids=["a circle", "a circle beside", "itself", "two parents", "two tops", "nothing"],
)
def test_edges_that_make_no_tree_are_refused(edges: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(BadValue, match=said):
        from_edges(edges)


# --- flags -----------------------------------------------------------------------------------------------------------

FLAGS = [
    (["--hierarchy", "gio"], "'geo'"),
    (["--hierarchy", ""], "'geo'"),
    (["--by", "sexx"], "'sex'"),
    (["--by", "sex,"], "--by sex,age"),
    (["--by", "sex,SEX"], "Remove one"),
    (["--by", "ward"], "Leave it out"),
    (["--by", "person"], "Declare it"),
    (["--count", "heads"], "units"),
    (["--groups", "household"], "such as 8"),
    (["--groups", "household", "--largest", "0"], "8"),
    (["--groups", "household", "--largest", "2.5"], "8"),
    (["--groups", "household", "--largest", "1e9"], "8"),
    (["--groups", "house", "--largest", "3"], "'household'"),
    (["--groups", "ward", "--largest", "3"], "households"),
    (["--groups", "household", "--largest", "3", "--by", "sex"], "one after the other"),
    (["--largest", "3"], "groups"),
    (["--share", "wrad=0.5"], "'ward'"),
    (["--share", "ward=nan"], "0.5"),
    (["--share", "ward=inf"], "0.5"),
    (["--share", "ward=-0.5"], "0.5"),
    (["--share", "ward=0"], "0.5"),
    (["--share", "ward=1"], "0.5"),
    (["--share", "ward=0.6", "--share", "region=0.4"], "less than 1"),
    (["--share", "ward=0.6", "--share", "region=0.3", "--share", "country=0.2"], "add up to 1"),
    (["--share", "ward=0.2", "--share", "region=0.3", "--share", "country=0.2"], "add up to 1"),
    (["--sharing", "fair"], "even"),
    (["--method", "magic"], "auto"),
    (["--method", "joint"], "auto"),
    (["--groups", "household", "--largest", "3", "--method", "integer"], "auto"),
    (["--total", "-1"], "1000"),
    (["--total", "nan"], "1000"),
    (["--total", "1.5"], "1000"),
    (["--total", "1e14"], "leave it out"),
    (["--level", "1"], "0.95"),
    (["--delta", "0.5"], "1e-7"),
    (["--delta", "1e-9"], "--delta"),
]


@pytest.mark.parametrize(("flags", "fix"), FLAGS, ids=[" ".join(flags) for flags, _ in FLAGS])
def test_flag_that_makes_no_sense_is_refused(census: Desk, flags: list[str], fix: str) -> None:
    assert fix in refused(census, "--eps", "1", *flags, exit_code=2, code="bad-value")


GIVEN = {
    "a leaf is missing": ("--leaf-totals", "ward,total\nn1,1\nn2,2\n", "every leaf"),
    "a leaf is not in the tree": ("--leaf-totals", "ward,total\nn1,1\nn2,2\ns1,3\ns9,4\n", "add it to the tree"),
    "negative": ("--leaf-totals", "ward,total\nn1,1\nn2,-2\ns1,3\n", "whole number"),
    "no number": ("--leaf-totals", "ward,total\nn1,1\nn2,nan\ns1,3\n", "whole number"),
    "a place that is none": ("--zeros", "ward\ns9\n", "n1, n2, s1"),
    "a label that is none": ("--zeros", "sex\nd\n", "f, m"),
    "a column that is none": ("--zeros", "age\n3\n", "level or attribute"),
}


@pytest.mark.parametrize(("flag", "text", "said"), GIVEN.values(), ids=GIVEN)
def test_public_numbers_that_do_not_fit_the_tree_are_refused(census: Desk, flag: str, text: str, said: str) -> None:
    Path("given.csv").write_text(text)
    assert said in refused(census, "--eps", "1", "--by", "sex", flag, "given.csv", exit_code=2, code="bad-value")


FILES = {
    "not there": None,
    "empty": b"",
    "a header with a gap": b"ward\nn1,1\n",
    "not UTF-8": b"ward,total\n\xff,1\n",
    "no CSV": b'ward,total\n"n1,1\n',
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
@pytest.mark.parametrize("flag", ["--leaf-totals", "--zeros"])
def test_public_files_of_another_kind_are_refused(census: Desk, flag: str, content: bytes | None) -> None:
    if content is not None:
        Path("given.csv").write_bytes(content)
    before = sorted(path.name for path in census.folder.iterdir())
    for verb in VERBS:
        said = census.refused(
            "release", verb, "people.toml", "--eps", "1", flag, "given.csv", exit_code=3, code="metadata"
        )
        assert flag.strip("-").replace("-", "_") in said["what"] + said["why"]
    assert sorted(path.name for path in census.folder.iterdir()) == before


@pytest.mark.parametrize("flag", ["--leaf-totals", "--zeros"])
def test_private_table_given_as_a_public_file_stays_unread(census: Desk, flag: str) -> None:
    said = census.refused(
        "release", "build", "people.toml", "--eps", "1", flag, "people.csv", exit_code=3, code="metadata"
    )
    assert "not the private table" in said["what"]


@pytest.mark.parametrize("price", ["0", "-1", "nan", "inf", "x", "", "1e7", "1e-9"])
def test_text_that_is_no_price_is_refused(census: Desk, price: str) -> None:
    refused(census, "--eps", price, exit_code=2, code="bad-value")


def test_noise_too_wide_for_the_fit_is_refused_before_the_charge(census: Desk) -> None:
    said = refused(census, "--eps", "1e-8", "--share", "ward=0.98", "--by", "sex,week", exit_code=2, code="bad-value")
    assert "too small" in said


def test_cells_that_are_private_or_too_many_are_refused(census: Desk) -> None:
    assert "values = " in refused(census, "--eps", "1", "--by", "household", exit_code=4, code="not-answerable")
    assert "bins" in refused(census, "--eps", "1", "--by", "year,week", exit_code=4, code="not-answerable")


def test_several_hierarchies_must_be_told_apart(census: Desk) -> None:
    more = '[hierarchy.geo2]\nlevels = ["region", "ward"]\nbranches = [["a", "n1"], ["a", "n2"], ["a", "s1"]]\n'
    Path("people.toml").write_text(TOML + more)
    assert "geo, geo2" in refused(census, "--eps", "1", exit_code=2, code="bad-value")
    census.answered("release", "plan", "people.toml", "--eps", "1", "--hierarchy", "geo2")


# --- the rows --------------------------------------------------------------------------------------------------------


def test_rows_of_no_known_place_are_dropped_and_never_reported(census: Desk) -> None:
    """At ε = 10⁵ for each level the noise is 0 but for a chance of e^-30000, so that exact numbers can be compared."""
    said = []
    for rows in (PLAIN + ODD, PLAIN):
        Path("people.csv").write_text(table(rows))
        reply = census.answered("release", "build", "people.toml", "--eps", "4e5", "--yes")
        out, err = census.said(["release", "build", "people.toml", "--eps", "4e5", "--yes"], 0)
        facts = json.loads(Path("people.release/release.json").read_text())
        for changing in ("receipt", "remaining"):
            reply.pop(changing)
        facts.pop("receipt")
        facts.pop("files")
        said.append((reply, facts, out, [line for line in err.splitlines() if not line.startswith(("re", "cost"))]))
    assert said[0] == said[1]
    assert "40" in said[0][2]  # all plain rows, and none of the odd ones
    written = b"".join(path.read_bytes() for path in Path("people.release").iterdir())
    assert not CELL.search(written.decode("latin-1"))


# --- what the fits are given -----------------------------------------------------------------------------------------

SMALL = from_branches(("top", "leaf"), [("x", "a"), ("x", "b")])
NOISY = np.array([[5], [2], [4]])
EVEN = np.ones(3, dtype=np.int64)
FITS = {"integer": integer.fit, "topdown": topdown.fit, "chebyshev": chebyshev.fit, "prices": duals.projection}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize(
    "weights",
    [
        np.array([1.0, np.nan, 1.0]),
        np.array([1, 0, 1]),
        np.array([1, -1, 1]),
        np.array([1, 2**21, 1]),
        np.array([1, 1]),
    ],
    ids=["nan", "zero", "negative", "too heavy", "too few"],
)
def test_values_that_are_no_weights_are_refused(name: str, weights: np.ndarray) -> None:
    with pytest.raises(BadValue, match="weights"):
        FITS[name](SMALL, NOISY, weights)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("total", [-1, float("nan"), 1.5, 2**62, True])
def test_value_that_is_no_total_is_refused(name: str, total: object) -> None:
    with pytest.raises(BadValue, match="total"):
        FITS[name](SMALL, NOISY, EVEN, total=total)


@pytest.mark.parametrize("name", FITS)
def test_total_that_no_cell_may_hold_is_refused(name: str) -> None:
    nowhere = np.zeros((2, 1), dtype=np.bool_)
    with pytest.raises(BadValue, match="total"):
        FITS[name](SMALL, NOISY, EVEN, total=3, allowed=nowhere)
    assert FITS[name](SMALL, NOISY, EVEN, total=0, allowed=nowhere).tolist() == [[0], [0], [0]]


def test_nan_is_no_measurement() -> None:
    for noisy in (np.array([[np.nan], [1.0], [2.0]]), np.array([[5], [2]])):
        with pytest.raises(BadValue, match="noisy"):
            integer.fit(SMALL, noisy, EVEN)
        with pytest.raises(BadValue, match="noisy"):
            hay.estimates(SMALL, noisy, EVEN)
        with pytest.raises(BadValue):
            joint.cumulative_counts(SMALL, noisy, EVEN)
