"""Public tables over real trees: UK household sizes, US voting districts, Rhode Island blocks; invented ones else.

They are read from the folder `DISCREET_DATA`; each is exact and public, so that errors may be shown.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.release_speed import even_tree
from discreet.ndarrays import Ints
from discreet.noise.public import generator
from discreet.release.tree import Tree, from_branches, tree_sums

SIZES = (*(f"hh{size}" for size in range(1, 8)), "hh8plus")
GROUPS = ("hisp", "white", "black", "aian", "asian", "nhpi", "other", "two")
LARGEST_BLOCK = 300


@dataclass(frozen=True, eq=False)
class Exact:
    """A name, a tree and the exact table of all its places."""

    name: str
    tree: Tree
    table: Ints

    @property
    def total(self) -> int:
        """Everything at the top."""
        return int(self.table[0].sum())


def folder() -> Path | None:
    """Where real data lie, if they do."""
    given = os.environ.get("DISCREET_DATA")
    return Path(given) if given and Path(given).is_dir() else None


def uk(*, lowest: str = "lsoa") -> Exact:
    """Households by size 1 … 8 or more: country, district, middle area and, if that is the lowest, small area."""
    import pandas

    rows = pandas.read_csv(_file("uk_household_size_2021/ts017_lsoa.csv.gz"), keep_default_na=False)
    names = ["lad_name", "msoa_name", "lsoa_name"][: 3 if lowest == "lsoa" else 2]
    return _exact(f"UK households to {lowest}", ("uk", *names), rows, names, list(SIZES))


def us() -> Exact:
    """People by eight groups: country, state, county, voting district."""
    import pandas

    rows = pandas.read_csv(_file("us_census_2020/vtd_population_2020.csv.gz"), dtype=str, keep_default_na=False)
    rows["district"] = [f"{state}-{place}" for state, place in zip(rows["state"], rows["GEOID20"], strict=True)]
    rows["county"] = [f"{state} {county}" for state, county in zip(rows["state"], rows["county"], strict=True)]
    return _exact(
        "US voting districts", ("us", "state", "county", "district"), rows, ["state", "county", "district"],
        [f"pop_{group}" for group in GROUPS],
    )  # fmt: skip


def rhode_island() -> Exact:
    """Blocks as groups, by population 0 … 300 or more: state, county, tract."""
    import pandas

    rows = pandas.read_csv(_file("us_census_2020/ri_block_population_2010.csv.gz"), dtype={"GEOID": str, "tract": str})
    sizes = np.minimum(rows["pop"].to_numpy(), LARGEST_BLOCK)
    tree = from_branches(
        ("state", "county", "tract"),
        {("ri", geo[2:5], tract) for geo, tract in zip(rows["GEOID"], rows["tract"], strict=True)},
    )
    place = {tree.names[leaf]: number for number, leaf in enumerate(tree.leaves)}
    leaves = np.zeros((len(place), LARGEST_BLOCK + 1), dtype=np.int64)
    np.add.at(leaves, (np.array([place[tract] for tract in rows["tract"]]), sizes), 1)
    return Exact("Rhode Island blocks", tree, tree_sums(tree, leaves))


def invented(leaves: int, cells: int, branching: Sequence[int] = (30, 20), seed: int = 7) -> Exact:
    """A tree with so many leaves and skewed counts, made from its seed in no time."""
    draw = generator(seed)
    tree = even_tree(_levels(leaves, branching))
    table = np.floor(draw.exponential(20, (leaves, cells)) * draw.random((leaves, 1)) * 2).astype(np.int64)
    return Exact(f"invented, {leaves:,} leaves", tree, tree_sums(tree, table))


def _levels(leaves: int, branching: Sequence[int]) -> tuple[int, ...]:
    """How many places each level has: one at the top, then as many as these factors leave."""
    sizes = [leaves]
    for factor in reversed(branching):
        sizes.insert(0, max(1, sizes[0] // factor))
    return (1, *sizes) if sizes[0] > 1 else tuple(sizes)


def _file(name: str) -> Path:
    home = folder()
    if home is None:
        raise FileNotFoundError("DISCREET_DATA names no folder")
    return home / name


def _exact(name: str, levels: tuple[str, ...], rows: object, names: list[str], cells: list[str]) -> Exact:
    import pandas

    assert isinstance(rows, pandas.DataFrame)
    branches = [(levels[0], *each) for each in rows[names].itertuples(index=False, name=None)]
    order: dict[tuple[str, ...], int] = {}
    place = np.array([order.setdefault(branch, len(order)) for branch in branches])
    numbers = np.zeros((len(order), len(cells)), dtype=np.int64)
    np.add.at(numbers, place, rows[cells].to_numpy(dtype=np.int64))
    tree = from_branches(levels, order)
    by_path = {tree.path(int(leaf)): row for row, leaf in enumerate(tree.leaves)}
    leaves = np.zeros_like(numbers)
    leaves[[by_path[branch] for branch in order]] = numbers
    return Exact(name, tree, tree_sums(tree, leaves))
