"""Find the place and the cell of each row of a tidy table; rows may come in any order."""

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
    """The flat index of each row, place · cells + cell or −1, and how many cells do not have exactly one row."""

    index: Ints
    shape: tuple[int, int]
    lost: int  # cells without a row, repeated rows, rows of no place or cell

    def table(self, numbers: Numbers) -> Any:
        """The numbers as a table (places, cells); every cell must have exactly one row."""
        cells = np.empty(self.shape[0] * self.shape[1], dtype=numbers.dtype)
        cells[self.index] = numbers
        return cells.reshape(self.shape)


def location_of(about: Keys, view: Sequence[str], table: Any) -> Located:
    """The location of each row of a table that has the cells of this view."""
    cells = about.cells(view)
    place, cell = _place(about, table), _cell(about, view, table)
    index = np.where((place < 0) | (cell < 0), -1, place * cells + cell)
    counts = np.bincount(index[index >= 0], minlength=len(about.tree) * cells)
    lost = int(np.sum(counts == 0) + np.sum(np.maximum(counts - 1, 0)) + np.sum(index < 0))
    return Located(index, (len(about.tree), cells), lost)


def numbers(column: Any) -> Numbers | None:
    """A column without NULL as int64 or float64; None if it is not numeric or exceeds int64."""
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
    """Whether names can be read from a column of this type."""
    kinds, kind = pyarrow().types, column.type
    if kinds.is_dictionary(kind):
        kind = kind.value_type
        return bool(kinds.is_string(kind) or kinds.is_large_string(kind))
    of_text = (kinds.is_string, kinds.is_large_string)
    others = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_null)
    return any(fits(kind) for fits in (*of_text, *others))


def _place(about: Keys, table: Any) -> Ints:
    """The place whose path a row names; −1 if there is none or its level is not the stated one."""
    tree, rows = about.tree, table.num_rows
    place, wrong = np.full(rows, -1, dtype=np.int64), np.zeros(rows, dtype=np.bool_)
    open_end = np.ones(rows, dtype=np.bool_)
    for tree_level, name in enumerate(about.place_columns):
        code = name_codes(table[name], place_names(tree, tree_level))
        named = code >= 0
        child = _child(tree, tree_level, place, code)
        wrong |= (code == UNKNOWN) | (named & (~open_end | (child < 0)))
        place = np.where(named, child, place)
        open_end &= named
    stated = name_codes(table[LEVEL], tree.levels)
    wrong |= (place < 0) | (stated != tree.level[np.maximum(place, 0)])
    return np.where(wrong, -1, place)


def _child(tree: Tree, tree_level: int, parent: Ints, code: Codes) -> Ints:
    """The place of a level with this parent and this name; −1 if there is none."""
    rows, names = tree.places(tree_level), place_names(tree, tree_level)
    number = {name: code_of_name for code_of_name, name in enumerate(names)}
    name_numbers = np.array([number[name] for name in tree.names[rows]], dtype=np.int64)
    keys = (tree.parent[rows] + 1) * len(names) + name_numbers
    order = np.argsort(keys, kind="stable")
    key = (parent + 1) * len(names) + code
    index = np.minimum(np.searchsorted(keys[order], key), len(order) - 1)
    return np.where((keys[order][index] == key) & (code >= 0), order[index] + rows.start, -1)


def _cell(about: Keys, view: Sequence[str], table: Any) -> Ints:
    """The cell of the view that a row's labels name, row-major; −1 if there is none."""
    cell, wrong = np.zeros(table.num_rows, dtype=np.int64), np.zeros(table.num_rows, dtype=np.bool_)
    for attribute, labels, name in zip(about.attributes, about.labels, about.label_columns, strict=True):
        if attribute not in view:
            wrong |= name_codes(table[name], ()) != EMPTY
            continue
        code = label_codes(table[name], labels)
        wrong |= code < 0
        cell = cell * len(labels) + code
    return np.where(wrong, -1, cell)


def label_codes(column: Any, labels: Sequence[Plain]) -> Codes:
    """The index of each row's label among the labels; −2 if it is none of them."""
    texts = [label_text(label) for label in labels]
    code = name_codes(column, texts)
    if not are_whole(labels):
        nothing = labels.index(None) if None in labels else UNKNOWN
        return np.where(code == EMPTY, np.int32(nothing), code)
    return code


def name_codes(column: Any, names: Sequence[str]) -> Codes:
    """The index of each row's name among the names; −1 where it is empty, −2 if it is none of them."""
    arrow = pyarrow()
    whole = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
    if isinstance(whole, arrow.ChunkedArray):  # a column without a row has no chunk
        return np.zeros(0, dtype=np.int32)
    if not arrow.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    number = {name: code for code, name in enumerate(names)}
    values = [label_text(value) for value in whole.dictionary.to_pylist()]
    codes = np.array([*(number.get(value, UNKNOWN) for value in values), EMPTY], dtype=np.int32)
    indices = whole.indices.cast(arrow.int64())  # in fewer bits there may be no room for one number more
    positions = np.asarray(indices.fill_null(len(values)).to_numpy(zero_copy_only=False), dtype=np.int64)
    return np.asarray(codes[positions], dtype=np.int32)
