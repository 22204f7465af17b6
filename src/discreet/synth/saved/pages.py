"""How many bytes a Parquet file takes unpacked, by the heads of its pages: readers make room for what these say.

The footer states sizes too, and nothing compares them with the pages.  A head is a struct of Thrift's compact protocol:

    struct    fields, then 0
    field     step of its number · 16 + kind, then its value; a step of 0 has the number itself behind it
    kinds     1, 2 truth · 3 byte · 5 i32 · 6 i64 · 8 bytes with their length · 12 struct

Whole numbers are varints of 7 bits a byte, zigzag: 0, 1, 2 stand for 0, −1, 1.  Other kinds of fields and pages are
refused, and encodings in which a few bytes give long texts: Discreet writes none.
"""

from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from discreet.learn.saved.rebuild import Unlike

_DATA, _DICTIONARY = 0, 2
_HEADS = {_DATA: 5, _DICTIONARY: 7}  # the field with the facts of each kind of page
_ENCODINGS = {0, 2, 3, 8}  # plain, by a dictionary (both names), in runs
_LEAST = 4  # bytes of a value in a dictionary
_I32, _DEEPEST, _LONGEST = 5, 3, 10  # a head holds facts, these hold statistics; bytes of a varint
Fields = dict[int, tuple[int, Any]]


def require_unpacked(path: Path, metadata: Any, most_bytes: int) -> None:
    """Refuses, as ValueError, a file whose pages say more than so many bytes, or are none that Discreet writes."""
    left = most_bytes
    with path.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as file:
        for place in range(metadata.num_row_groups):
            group = metadata.row_group(place)
            for column in map(group.column, range(group.num_columns)):
                rows = 0
                for size, values in _pages(file, column):
                    left, rows = left - size, rows + values
                    if left < 0:
                        raise Unlike("the rows are too long")
                if not rows == column.num_values == group.num_rows:
                    raise Unlike("a column has another number of rows")


def _pages(file: mmap, column: Any) -> Iterator[tuple[int, int]]:
    """Of each page of one column in one row group its bytes unpacked, the head included, and its number of rows."""
    start = column.data_page_offset
    if column.dictionary_page_offset:
        start = min(start, column.dictionary_page_offset)
    end = start + column.total_compressed_size
    if not 0 <= start <= end <= len(file):
        raise Unlike("a column lies outside of the file")
    while start < end:
        head, behind = _struct(file, start, _DEEPEST)
        kind, unpacked, packed = (_whole(head, field) for field in (1, 2, 3))
        if kind not in _HEADS:
            raise Unlike("there is a page of another kind")
        fields = head[_HEADS[kind]][1]
        if _whole(fields, 2) not in _ENCODINGS:
            raise Unlike("a page is encoded otherwise")
        values = _whole(fields, 1)
        if kind == _DICTIONARY and _LEAST * values > unpacked:
            raise Unlike("a dictionary has fewer values than it says")
        yield behind - start + unpacked, values if kind == _DATA else 0
        start = behind + packed
    if start != end:
        raise Unlike("the pages of a column end elsewhere")


def _whole(fields: Fields, field: int) -> int:
    """A whole number of 32 bits that is not negative."""
    kind, value = fields[field]
    if kind != _I32 or not 0 <= value < 2**31:
        raise Unlike("a page has no size")
    return int(value)


def _struct(file: mmap, start: int, depth: int) -> tuple[Fields, int]:
    """The fields of the struct that begins there, with their kinds, and where it ends."""
    fields, number = Fields(), 0
    while (first := file[start]) != 0:
        start, kind = start + 1, first & 15
        if first >> 4:
            number += first >> 4
        else:
            number, start = _number(file, start)
        if not 0 < number < 2**15 or number in fields:  # readers cut the number to 16 bits, and take the last of two
            raise Unlike("a page says something twice")
        value, start = _value(file, start, kind, depth)
        fields[number] = kind, value
    return fields, start + 1


def _value(file: mmap, start: int, kind: int, depth: int) -> tuple[Any, int]:
    """The value of that kind that begins there, None where it does not matter, and where it ends."""
    match kind:
        case 1 | 2:
            return None, start
        case 3:
            return None, start + 1
        case 5 | 6:
            return _number(file, start)
        case 8:
            length, start = _varint(file, start)
            return None, start + length
        case 12 if depth > 1:
            return _struct(file, start, depth - 1)
        case _:
            raise Unlike("a page has another head")


def _number(file: mmap, start: int) -> tuple[int, int]:
    code, start = _varint(file, start)
    return (code >> 1) ^ -(code & 1), start


def _varint(file: mmap, start: int) -> tuple[int, int]:
    code = 0
    for digit in range(_LONGEST):
        byte = file[start + digit]
        code |= (byte & 127) << 7 * digit
        if byte < 128:
            return code, start + digit + 1
    raise Unlike("a number has no end")
