"""Hierarchies: public columns that nest, such as wards in regions in a country."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.schema.words import first_twice, key, name, refusal, text

MOST_LEVELS = 20


@dataclass(frozen=True)
class Hierarchy:
    """Levels from the top down, and one branch per leaf: its name on every level, empty below a leaf that lies higher.

    `tree` is the public file the branches were read from; without branches the tree is not known yet.

    >>> Hierarchy("geo", ("region", "ward"), branches=(("north", "n1"), ("north", "n2"))).leaves
    ('n1', 'n2')
    """

    name: str
    levels: tuple[str, ...]
    tree: str | None = None
    branches: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        where = key("hierarchy", self.name) if isinstance(self.name, str) else "hierarchy"
        object.__setattr__(self, "name", name(self.name, where, "Write, for example: [hierarchy.geo]"))
        object.__setattr__(self, "levels", _levels(self.levels, self.key("levels")))
        if self.tree is not None:
            object.__setattr__(self, "tree", name(self.tree, self.key("tree"), 'Write: tree = "geo.csv"'))
        object.__setattr__(self, "branches", _branches(self))

    def key(self, field: str) -> str:
        """The dotted key of that field in the TOML."""
        return key("hierarchy", self.name, field)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The last name of each branch."""
        return tuple(next(part for part in reversed(branch) if part) for branch in self.branches)


def _levels(given: Any, where: str) -> tuple[str, ...]:
    fix = 'Write the top level first: levels = ["country", "region", "ward"]'
    if not isinstance(given, (list, tuple)) or not 2 <= len(given) <= MOST_LEVELS:
        raise refusal(where, f"must be a list of 2 to {MOST_LEVELS} levels", given, fix)
    levels = tuple(name(level, where, fix) for level in given)
    if len(set(levels)) < len(levels):
        raise refusal(where, "must be different from each other", given, fix)
    return levels


def _branches(hierarchy: Hierarchy) -> tuple[tuple[str, ...], ...]:
    where, levels = hierarchy.key("tree" if hierarchy.tree else "branches"), hierarchy.levels
    rule, fix = f"must name all {len(levels)} levels on each branch", 'Write: branches = [["north", "ward 1"], …]'
    if not isinstance(hierarchy.branches, (list, tuple)):
        raise refusal(where, rule, hierarchy.branches, fix)
    branches, parents = [], dict[tuple[int, str], str]()
    for given in hierarchy.branches:
        if not isinstance(given, (list, tuple)) or len(given) != len(levels):
            raise refusal(where, rule, given, fix)
        length = _length(given, where, fix)
        branch = tuple(text(part, where, fix) for part in given[:length]) + ("",) * (len(levels) - length)
        for depth in range(1, length):
            if parents.setdefault((depth, branch[depth]), branch[depth - 1]) != branch[depth - 1]:
                rule = f"must put each {levels[depth]} in one {levels[depth - 1]} only"
                raise refusal(where, rule, branch[depth], "Give the two places different names.")
        branches.append(branch)
    twice = first_twice(branches)
    if twice is not None:
        raise refusal(where, "must be different from each other", twice, "Remove one of the two.")
    return tuple(branches)


def _length(branch: Sequence[Any], where: str, fix: str) -> int:
    """How many levels a branch names; the others, all at its end, are empty."""
    length = next((depth for depth, part in enumerate(branch) if part == ""), len(branch))
    if length == 0 or any(part != "" for part in branch[length:]):
        raise refusal(where, "must leave names empty only at the end of a branch", list(branch), fix)
    return length
