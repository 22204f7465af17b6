"""Public facts about the numbers: the total at the top, the total of every leaf, and cells that must be 0.

    total         units (or groups) in the whole tree
    leaf_totals   the same for every leaf
    zeros         impossible combinations of places and labels: a line such as {age: 0-14, married: yes}; what a line
                  does not name may be anything

They are arguments, never read from the data, and neither measured nor protected.  They change only the fit, which is
free: the same measurement serves with and without them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet import amounts
from discreet.answer.column import label_text, plain
from discreet.errors import BadValue, bad
from discreet.ndarrays import Bools, Ints
from discreet.release.check import Table, Violations, allowed_places, require_reachable, violations
from discreet.release.tree import Tree, ancestry, tree_sums
from discreet.schema.words import suggestion

Zero = Mapping[str, str]
MOST_TOTAL = 2**40
MOST_ZEROS = 10**5  # lines
_FIX_TOTAL = "Give the number that is public, or leave it out: it is then measured like every other."
_FIX_ZEROS = 'Give, for example: [{"age": "0-14", "married": "yes"}]'


class About(Protocol):
    """The tree, attributes and labels of a table: a `Subject`, or the `Keys` of tables that were read back."""

    @property
    def tree(self) -> Tree: ...
    @property
    def attributes(self) -> tuple[str, ...]: ...
    @property
    def labels(self) -> Sequence[Sequence[Any]]: ...


@dataclass(frozen=True, eq=False)
class Known:
    """The public totals, and for each leaf and cell whether it may be above 0; None where nothing is known."""

    total: int | None = None
    leaf_totals: Ints | None = None
    zeros: tuple[Zero, ...] = ()
    allowed: Bools | None = None

    def totals(self, tree: Tree) -> Ints:
        """For each place the public total; −1 where there is none."""
        if self.leaf_totals is not None:
            return tree_sums(tree, self.leaf_totals)
        totals = np.full(len(tree), -1, dtype=np.int64)
        if self.total is not None:
            totals[0] = self.total
        return totals

    def possible(self, tree: Tree) -> Bools | None:
        """For each place and cell whether it may be above 0; None if all may."""
        return None if self.allowed is None else allowed_places(tree, self.allowed.shape[1], self.allowed)

    def words(self, tree: Tree) -> list[str]:
        """Sentences on what the table is held to."""
        sentences = []
        if self.leaf_totals is not None:
            leaves = f"Each lowest place ({len(tree.leaves):,} in all) adds up to its public total"
            sentences.append(f"{leaves}, {self.total:,} together; these cost nothing.")
        elif self.total is not None:
            sentences.append(f"The top adds up to {self.total:,}, which is public and costs nothing.")
        if self.allowed is not None:
            empty, cells = int(np.sum(~self.allowed)), self.allowed.size
            sentences.append(f"{empty:,} of {cells:,} cells of the lowest places are 0 beforehand, as was given.")
        return sentences

    def caveats(self) -> list[str]:
        """What a reader must know about these facts."""
        sentences = []
        if self.leaf_totals is not None:
            sentences.append("The totals of all lowest places were given as public numbers and are not protected here.")
        elif self.total is not None:
            sentences.append("The total at the top was given as a public number and is not protected by this release.")
        if self.allowed is not None:
            sentences.append("Cells that were said to be empty are 0 whatever was measured there.")
        return sentences

    def violations(self, tree: Tree, table: Table) -> Violations:
        """The rules that a table breaks, with these facts among them."""
        return violations(tree, table, total=self.total, leaf_totals=self.leaf_totals, allowed=self.allowed)


NOTHING = Known()


def known_of(about: About, *, total: Any = None, leaf_totals: Any = None, zeros: Iterable[Zero] | None = None) -> Known:
    """The public facts, checked; refused where no table can have them all."""
    tree = about.tree
    top = None if total is None else _number(total, "total")
    leaves = None if leaf_totals is None else _leaf_totals(leaf_totals, tree)
    if leaves is not None:
        summed_up = int(leaves.sum())
        if top is not None and top != summed_up:
            rule, fix = f"must be {summed_up}, the sum of the totals of all leaves", "Give one of the two."
            raise bad("total", rule, top, fix)
        top = summed_up
    lines = () if zeros is None else _lines(zeros)
    allowed = _allowed_cells(about, lines) if lines else None
    _require_possible(tree, top, leaves, allowed)
    return Known(top, leaves, lines, allowed)


# --- totals ----------------------------------------------------------------------------------------------------------


def _number(value: Any, name: str) -> int:
    rule = f"must be a whole number between 0 and {MOST_TOTAL}"
    number = amounts.decimal(value, name, rule, _FIX_TOTAL)
    if number.denominator != 1 or not 0 <= number <= MOST_TOTAL:
        raise bad(name, rule, value, _FIX_TOTAL)
    return int(number)


def _leaf_totals(totals: Any, tree: Tree) -> Ints:
    """The numbers in the order of the leaves, from a mapping of each leaf's name."""
    leaf = tree.levels[-1]
    if not isinstance(totals, Mapping):
        fix = f"Give a mapping, or the name of a public CSV with the columns {leaf} and total."
        raise bad("leaf_totals", f"must give a number for each {leaf}", type(totals).__name__, fix)
    names = [tree.names[place] for place in tree.leaves]
    leaves = set(names)
    spare = [name for name in totals if name not in leaves]
    if spare:
        guess = suggestion(str(spare[0]), names)
        fix = f"Did you mean {guess!r}?" if guess else "Leave it out, or add it to the tree."
        raise bad("leaf_totals", "must name leaves of the tree only", spare[0], fix)
    lacking = [name for name in names if name not in totals]
    if lacking:
        what = f"leaf_totals must have every {leaf} of the tree."
        why = f"{len(lacking):,} {'is' if len(lacking) == 1 else 'are'} missing, the first {lacking[0]!r}."
        fix = "Give the total of every leaf, or of none; totals that are not public are measured."
        raise BadValue(what, why, fix)
    numbers = [_number(totals[name], "leaf_totals") for name in names]
    if sum(numbers) > MOST_TOTAL:
        raise bad("leaf_totals", f"must add up to {MOST_TOTAL} at most", sum(numbers), "Check the numbers.")
    return np.array(numbers, dtype=np.int64)


# --- zeros -----------------------------------------------------------------------------------------------------------


def _lines(zeros: Iterable[Zero]) -> tuple[Zero, ...]:
    """The lines as texts, without their empty cells."""
    items = list(zeros) if isinstance(zeros, Iterable) and not isinstance(zeros, str | bytes | Mapping) else None
    if items is None or not all(isinstance(line, Mapping) for line in items):
        raise bad("zeros", "must be a list of lines that name what cannot be", zeros, _FIX_ZEROS)
    if len(items) > MOST_ZEROS:
        raise bad("zeros", f"must be at most {MOST_ZEROS:,} lines", len(items), "Name whole levels or labels at once.")
    if any(value is None for line in items for value in line.values()):
        fix = "Leave the name out of the line: it then stands for anything."
        raise bad("zeros", "must name what cannot be", None, fix)
    lines = tuple({str(name): str(value) for name, value in line.items() if str(value) != ""} for line in items)
    if any(not line for line in lines):
        raise bad("zeros", "must name something on every line", {}, "Leave empty lines out.")
    return lines


def _allowed_cells(about: About, lines: Sequence[Zero]) -> Bools:
    """For each leaf and cell whether it may be above 0, which no line rules out."""
    tree, names = about.tree, [*about.tree.levels, *about.attributes]
    allowed = np.ones((len(tree.leaves), *map(len, about.labels)), dtype=np.bool_)
    named = {name for line in lines for name in line}
    below = {tree_level: _below(tree, tree_level) for tree_level, name in enumerate(tree.levels) if name in named}
    texts = dict(zip(about.attributes, map(_texts, about.labels), strict=True))
    for name in set(tree.levels) & set(about.attributes) & named:
        raise bad("zeros", "must not name what is a level and an attribute", name, "Name the lowest places instead.")
    for line in lines:
        leaves: Any = slice(None)
        cell: list[Any] = [slice(None)] * len(texts)
        for name, value in line.items():
            if name in texts:
                cell[about.attributes.index(name)] = texts[name].index(_one_of(texts[name], value, f"label of {name}"))
            elif name in tree.levels:
                here = below[tree.levels.index(name)]
                inside = here[_one_of(here, value, f"{name} of the tree")]
                leaves = inside if isinstance(leaves, slice) else np.intersect1d(leaves, inside)
            else:
                _one_of(names, name, "level or attribute of this release")
        if not isinstance(leaves, slice) and not len(leaves):
            raise bad("zeros", "must name a place that there is", dict(line), "Name places that lie in each other.")
        allowed[(leaves, *cell)] = False
    return allowed.reshape(len(tree.leaves), -1)


def _below(tree: Tree, tree_level: int) -> dict[str, Ints]:
    """For each name on a level, the leaves below the places of that name, as indices among the leaves."""
    above = ancestry(tree)[tree_level][tree.leaves]
    leaves_by_name: dict[str, list[int]] = {}
    for leaf, place in enumerate(above.tolist()):
        if place >= 0:
            leaves_by_name.setdefault(tree.names[place], []).append(leaf)
    return {name: np.array(leaves) for name, leaves in leaves_by_name.items()}


def _one_of(names: Collection[str], name: str, kind: str) -> str:
    """The name, if it is one of these."""
    if name in names:
        return name
    listed = list(names)
    guess = suggestion(name, listed)
    fix = f"Did you mean {guess!r}?" if guess else f"Name one such as: {', '.join(listed[:8])}"
    raise bad("zeros", f"must name a {kind}", name, fix)


def _texts(labels: Sequence[Any]) -> list[str]:
    return ["" if label is None else label_text(plain(label)) for label in labels]


def _require_possible(tree: Tree, total: int | None, leaf_totals: Ints | None, allowed: Bools | None) -> None:
    """Refuse totals that no table with these zeros can have."""
    if allowed is None:
        return
    require_reachable(total, np.asarray(allowed.any(axis=0)))
    stuck = np.zeros(0) if leaf_totals is None else (leaf_totals > 0) & ~allowed.any(axis=1)
    if stuck.any():
        name = tree.names[tree.leaves[int(np.argmax(stuck))]]
        raise bad("leaf_totals", "must be 0 where no cell is allowed", name, "Remove a line of zeros, or give 0.")
