"""Rows of a tidy table found again on the tree: which place and which cell each is about, in whatever order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.answer.column import Plain, label_text
from discreet.ndarrays import Floats, Ints
from discreet.release.publish.tidy import LEVEL, Codes, Keys, are_whole, place_names, pyarrow
from discreet.release.tree import Tree

Numbers = Ints | Floats
EMPTY, UNKNOWN = -1, -2


@dataclass(frozen=True, eq=False)
class Located:
    """For each row its place times the cells of a place plus its cell, or −1; and how many cells lack their one row."""

    at: Ints
    shape: tuple[int, int]
    lost: int  # cells without a row, rows too many, rows about nothing known

    def table(self, numbers: Numbers) -> Any:
        """The numbers of the rows, a row for each place; all cells must have their one row."""
        found = np.empty(self.shape[0] * self.shape[1], dtype=numbers.dtype)
        found[self.at] = numbers
        return found.reshape(self.shape)


def located(about: Keys, view: Sequence[str], table: Any) -> Located:
    """Where the rows of a table belong that has the cells of this view."""
    cells = about.cells(view)
    place, cell = _place(about, table), _cell(about, view, table)
    at = np.where((place < 0) | (cell < 0), -1, place * cells + cell)
    known = np.bincount(at[at >= 0], minlength=len(about.tree) * cells)
    lost = int(np.sum(known == 0) + np.sum(np.maximum(known - 1, 0)) + np.sum(at < 0))
    return Located(at, (len(about.tree), cells), lost)


def numbers(column: Any) -> Numbers | None:
    """A column without gaps as int64 or float64; None if it is none, or has whole numbers beyond those."""
    arrow = pyarrow()
    if column.null_count or not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
        return None
    if arrow.types.is_floating(column.type):
        return np.asarray(column.to_numpy(), dtype=np.float64)
    whole = np.asarray(column.to_numpy())
    if whole.dtype == np.uint64 and whole.max(initial=0) > np.iinfo(np.int64).max:
        return None
    return np.asarray(whole, dtype=np.int64)


def are_names(column: Any) -> bool:
    """Whether a column is of a kind that names can be read from."""
    kinds, kind = pyarrow().types, column.type
    if kinds.is_dictionary(kind):
        kind = kind.value_type
        return bool(kinds.is_string(kind) or kinds.is_large_string(kind))
    of_text = (kinds.is_string, kinds.is_large_string)
    others = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_null)
    return any(fits(kind) for fits in (*of_text, *others))


def _place(about: Keys, table: Any) -> Ints:
    """The place whose path a row names; −1 if there is none, or it is not of the level the row says."""
    tree, rows = about.tree, table.num_rows
    here, wrong = np.full(rows, -1, dtype=np.int64), np.zeros(rows, dtype=np.bool_)
    open_end = np.ones(rows, dtype=np.bool_)
    for level, name in enumerate(about.places):
        code = coded(table[name], place_names(tree, level))
        named = code >= 0
        child = _child(tree, level, here, code)
        wrong |= (code == UNKNOWN) | (named & (~open_end | (child < 0)))
        here = np.where(named, child, here)
        open_end &= named
    said = coded(table[LEVEL], tree.levels)
    wrong |= (here < 0) | (said != tree.level[np.maximum(here, 0)])
    return np.where(wrong, -1, here)


def _child(tree: Tree, level: int, parent: Ints, code: Codes) -> Ints:
    """The place of a level with this parent and this name; −1 if there is none."""
    rows, names = tree.places(level), place_names(tree, level)
    number = {name: at for at, name in enumerate(names)}
    own = np.array([number[name] for name in tree.names[rows]], dtype=np.int64)
    known = (tree.parent[rows] + 1) * len(names) + own
    order = np.argsort(known, kind="stable")
    wanted = (parent + 1) * len(names) + code
    spot = np.minimum(np.searchsorted(known[order], wanted), len(order) - 1)
    return np.where((known[order][spot] == wanted) & (code >= 0), order[spot] + rows.start, -1)


def _cell(about: Keys, view: Sequence[str], table: Any) -> Ints:
    """The cell of the view that a row's labels name, row-major; −1 if there is none."""
    cell, wrong = np.zeros(table.num_rows, dtype=np.int64), np.zeros(table.num_rows, dtype=np.bool_)
    for attribute, labels, name in zip(about.attributes, about.labels, about.labelled, strict=True):
        if attribute not in view:
            wrong |= coded(table[name], ()) != EMPTY
            continue
        code = label_codes(table[name], labels)
        wrong |= code < 0
        cell = cell * len(labels) + code
    return np.where(wrong, -1, cell)


def label_codes(column: Any, labels: Sequence[Plain]) -> Codes:
    """The number of each row's label; −2 if it is none of them."""
    texts = [label_text(label) for label in labels]
    code = coded(column, texts)
    if not are_whole(labels):
        nothing = labels.index(None) if None in labels else UNKNOWN
        return np.where(code == EMPTY, np.int32(nothing), code)
    return code


def coded(column: Any, names: Sequence[str]) -> Codes:
    """The number of each row's name; −1 where it is empty, −2 if it is none of them."""
    arrow = pyarrow()
    whole = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
    if isinstance(whole, arrow.ChunkedArray):  # a column without a row has no chunk
        return np.zeros(0, dtype=np.int32)
    if not arrow.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    number = {name: at for at, name in enumerate(names)}
    values = [label_text(value) for value in whole.dictionary.to_pylist()]
    known = np.array([*(number.get(value, UNKNOWN) for value in values), EMPTY], dtype=np.int32)
    places = whole.indices.cast(arrow.int64())  # in fewer bits there may be no room for one number more
    spots = np.asarray(places.fill_null(len(values)).to_numpy(zero_copy_only=False), dtype=np.int64)
    return np.asarray(known[spots], dtype=np.int32)
