"""A release as tidy Arrow tables: a row for each cell of each place, names dictionary-encoded.

    table   level, a column for each level of the tree, one for each attribute, then n and its margins
    noisy   level and places as above, the marginal, its cell, what was measured and the scale of its noise

Names of levels below a place are empty.  A column whose name is taken gets a `_` appended.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.answer.column import Plain, label_text, plain
from discreet.errors import bad
from discreet.ndarrays import Ints
from discreet.release.measure import Form
from discreet.release.tree import Tree, ancestry

if TYPE_CHECKING:
    from discreet.release.release import Release

LEVEL, MARGINAL = "level", "marginal"
VALUES = ("n", "n_moe", "n_low", "n_high", "n_estimate")
APPROXIMATE = "n_moe_approx"
MEASURED = ("measured", "scale")
_RESERVED = (LEVEL, MARGINAL, *VALUES, APPROXIMATE, *MEASURED)
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Keys:
    """The key columns of the rows: places, attributes with their labels, and the views that were measured."""

    tree: Tree
    attributes: tuple[str, ...]
    labels: tuple[tuple[Plain, ...], ...]
    views: tuple[tuple[str, ...], ...]  # attributes of each marginal; the last has all of them
    form: Form

    @cached_property
    def place_columns(self) -> tuple[str, ...]:
        """The column of each level of the tree."""
        return self._columns[: self.tree.depth]

    @cached_property
    def label_columns(self) -> tuple[str, ...]:
        """The column of each attribute."""
        return self._columns[self.tree.depth :]

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        return distinct((*self.tree.levels, *self.attributes), _RESERVED)

    @cached_property
    def marginals(self) -> tuple[str, ...]:
        """What each view is called."""
        if self.form is Form.FROM_TOP:
            return distinct(f"{' × '.join(view)} or more" for view in self.views)
        return distinct(" × ".join(view) or "total" for view in self.views)

    def cells(self, view: Sequence[str]) -> int:
        """How many cells a place has in a view."""
        return prod(len(labels) for name, labels in zip(self.attributes, self.labels, strict=True) if name in view)


def keys(release: "Release") -> Keys:
    """The keys of a release."""
    subject = release.plan.subject
    labels = tuple(tuple(map(plain, each)) for each in subject.labels)
    views = tuple(marginal.names for marginal in subject.design.marginals)
    return Keys(subject.tree, subject.attributes, labels, views, subject.design.form)


def distinct(names: Iterable[str], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """The names, with _ appended until each differs from all before it and from those taken; case is ignored.

    >>> distinct(["country", "level", "Country"], ["level"])
    ('country', 'level_', 'Country_')
    """
    seen, result = {name.casefold() for name in taken}, []
    for name in names:
        while name.casefold() in seen:
            name += "_"
        seen.add(name.casefold())
        result.append(name)
    return tuple(result)


# --- the tables ------------------------------------------------------------------------------------------------------


def table(release: "Release") -> Any:
    """The tidy table that adds up, as an Arrow table: one row for each place and cell."""
    about = keys(release)
    numbers = (release.fitted, release.radius, release.low, release.high, release.estimate)
    columns = _key_columns(about, [about.attributes])
    columns |= {name: each.ravel() for name, each in zip(VALUES, numbers, strict=True)}
    if release.approximate is not None:
        columns[APPROXIMATE] = release.approximate.radius.ravel()
    return _arrow(columns)


def noisy(release: "Release") -> Any:
    """The measurements, as an Arrow table: one row for each place and number of each marginal."""
    about, measurement = keys(release), release.plan.measurement
    columns = _key_columns(about, about.views)
    counts = [len(about.tree) * about.cells(view) for view in about.views]
    which = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    columns[MARGINAL] = _name_column(which, about.marginals)
    columns[MEASURED[0]] = np.concatenate([release.noisy[:, each].ravel() for each in measurement.columns])
    widths = np.array([[float(width(mechanism.noise)) for mechanism in level] for level in measurement.mechanisms])
    columns[MEASURED[1]] = np.concatenate(
        [
            np.repeat(widths[about.tree.level, index], about.cells(view))  # the noise is that of the place's level
            for index, view in enumerate(about.views)
        ]
    )
    order = [LEVEL, *about.place_columns, MARGINAL, *about.label_columns, *MEASURED]
    return _arrow({name: columns[name] for name in order})


def width(law: Any) -> Any:
    """The scale of Laplace noise, the σ of Gaussian noise."""
    return law.scale if hasattr(law, "scale") else law.sigma


def _arrow(columns: dict[str, Any]) -> Any:
    return pyarrow().table(columns)


def _key_columns(about: Keys, views: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Level, places and attributes of the rows of these views, one view after the other."""
    coded = [codes(about, view) for view in views]
    joined = [np.concatenate(each) if len(each) > 1 else each[0] for each in zip(*coded, strict=True)]
    depth = about.tree.depth
    columns = {LEVEL: _name_column(joined[0], about.tree.levels)}
    for tree_level, name in enumerate(about.place_columns):
        columns[name] = _name_column(joined[1 + tree_level], place_names(about.tree, tree_level))
    for index, name in enumerate(about.label_columns):
        columns[name] = _label_column(joined[1 + depth + index], about.labels[index])
    return columns


def _name_column(code: Codes, names: Sequence[str]) -> Any:
    """A dictionary column; −1 is empty."""
    arrow = pyarrow()
    indices = arrow.array(code, mask=code < 0)
    return arrow.DictionaryArray.from_arrays(indices, arrow.array(list(names), arrow.string()))


def _label_column(code: Codes, labels: Sequence[Plain]) -> Any:
    """A column of labels: whole numbers as numbers, all else as names; an empty label is NULL."""
    if are_whole(labels):
        return pyarrow().array(np.array(labels, dtype=np.int64)[code], mask=code < 0)
    texts = ["" if label is None else label_text(label) for label in labels]
    empty = np.array([label is None for label in labels])
    return _name_column(np.where(empty[code], np.int32(-1), code), texts)


def are_whole(labels: Sequence[Plain]) -> bool:
    """Whether an attribute's column holds numbers."""
    return all(isinstance(label, int) and not isinstance(label, bool) for label in labels)


# --- rows in numbers -------------------------------------------------------------------------------------------------


def codes(about: Keys, view: Sequence[str]) -> list[Codes]:
    """For each row of a view: its level, its name on each level (−1 below), its labels (−1 if not in the view)."""
    tree, cells = about.tree, about.cells(view)
    columns = [np.repeat(tree.level.astype(np.int32), cells)]
    for tree_level, ancestors in enumerate(ancestry(tree)):
        columns.append(np.repeat(place_codes(tree, tree_level, ancestors), cells))
    step = cells
    for name, labels in zip(about.attributes, about.labels, strict=True):
        if name not in view:
            columns.append(np.full(len(tree) * cells, -1, dtype=np.int32))
            continue
        step //= len(labels)
        label = np.arange(cells, dtype=np.int32) // step % len(labels)
        columns.append(np.tile(label.astype(np.int32), len(tree)))
    return columns


def place_names(tree: Tree, tree_level: int) -> list[str]:
    """The names of a level, each once, in the order of the places."""
    return list(dict.fromkeys(tree.names[tree.places(tree_level)]))


def place_codes(tree: Tree, tree_level: int, ancestors: Ints) -> Codes:
    """The number of each ancestor's name among `place_names`; −1 where there is none."""
    rows = tree.places(tree_level)
    number = {name: code_of_name for code_of_name, name in enumerate(place_names(tree, tree_level))}
    code = np.array([number[name] for name in tree.names[rows]], dtype=np.int32)
    return np.where(ancestors < 0, np.int32(-1), code[np.maximum(ancestors - rows.start, 0)])


def pyarrow() -> Any:
    """The package pyarrow, refused with how to install it where it is missing."""
    try:
        import pyarrow as found  # type: ignore[import-untyped]
    except ImportError:
        raise bad("frame", "needs the package pyarrow", "no pyarrow here", "Install discreet[frames].") from None
    return found
