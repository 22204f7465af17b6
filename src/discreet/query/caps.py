"""Limit the length of an answer by public facts alone, so that every answer that is charged for fits into the ledger.

    a text that rows are grouped by   at most 250 characters if its values are not public; a longer one counts as NULL
    an answer by private groups       at most 100,000 groups, MOST_CELLS numbers and 192 MiB, but at least one group; if
                                      more are selected, the first of them in the order of their keys are released
    an answer by public groups        at most MOST_CELLS numbers and 192 MiB; a longer one is refused before the charge

Groups are private if their values are not declared.  The ledger stores answers of up to 256 MiB each.  Sizes are the
most that an answer can take in JSON, with the longest escape that each character can need.
"""

from discreet.errors import NotAnswerable
from discreet.query.meaning.cells import MOST_CELLS, Cells, KeyCells, Label
from discreet.query.recipe import PickedTop, Recipe
from discreet.schema import Type

MOST_LETTERS = 250
MOST_PRIVATE_GROUPS = 100_000
ROOM = 192 * 2**20
_NUMBER = 128  # bytes of a result: its value, both its ends and its ±
_KEY = 40  # bytes of a key that is a number, a date or NULL
_LETTER = 12  # bytes of an escaped character beyond 16 bits, the longest there is
_MARKS = 4  # quotes, comma and space around a label


def require_storable(cells: Cells, recipes: tuple[Recipe, ...]) -> None:
    """Refuse an answer by public groups that is too long to be stored: it would be charged and then lost."""
    if not cells.public:
        return
    numbers = cells.size * len(recipes)
    if numbers > MOST_CELLS:
        why = f"All public groups appear in every column, and {numbers:,} numbers are more than {MOST_CELLS:,}."
        raise NotAnswerable("The answer would be too long.", why, "Ask for fewer columns at once, or for fewer groups.")
    if cells.size * row_bytes(cells, recipes) > ROOM:
        why = f"Its {cells.size:,} groups, with labels of this length, may take more than {ROOM // 2**20} MiB."
        raise NotAnswerable("The answer would be too long.", why, "Ask for fewer columns at once, or for fewer groups.")


def most_groups(cells: Cells, recipes: tuple[Recipe, ...]) -> int:
    """The largest number of private groups that an answer may have, at least 1."""
    return max(1, min(MOST_PRIVATE_GROUPS, MOST_CELLS // len(recipes), ROOM // row_bytes(cells, recipes)))


def row_bytes(cells: Cells, recipes: tuple[Recipe, ...]) -> int:
    """The most bytes that a row of the answer can take: its keys and its columns."""
    return sum(map(_key_bytes, cells.keys)) + sum(map(_column_bytes, recipes))


def _key_bytes(key: KeyCells) -> int:
    """The most bytes of a key: of its longest public label, or of the longest text that a private key can be."""
    if key.labels is not None:
        return max(map(_label_bytes, key.labels), default=_KEY)
    return MOST_LETTERS * _LETTER + _MARKS if key.type in (Type.TEXT, Type.CATEGORY) else _KEY


def _column_bytes(recipe: Recipe) -> int:
    """The most bytes of a column in one row; most frequent values take those of their labels too."""
    if not isinstance(recipe, PickedTop):
        return _NUMBER
    return _NUMBER + recipe.part.k * max(map(_label_bytes, recipe.part.values))


def _label_bytes(label: Label) -> int:
    """The most bytes of a label; a printable ASCII character takes at most two."""
    if isinstance(label, int) and -(2**63) <= label < 2**63:
        return len(str(label)) + _MARKS
    if not isinstance(label, str):
        return _KEY
    return len(label) * (2 if label.isascii() and label.isprintable() else _LETTER) + _MARKS
