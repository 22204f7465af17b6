"""The curator's own rows for an attack on a file: `members.csv` and `others.csv` in the folder of that file.

members.csv   rows that the file was made from
others.csv    rows of the same population that it was not made from: what the attack achieves on them is its baseline
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.attack.packages import require
from discreet.errors import bad, bad_private

if TYPE_CHECKING:
    from discreet.learn.heldout.predictor import Predictor

MEMBERS, OTHERS = "members.csv", "others.csv"
_HOW = (
    f"Divide the rows by person before the fit, for instance every fifth person to {OTHERS} and all else to {MEMBERS}, "
    f"with the columns' names in the first line of both, and fit to {MEMBERS} alone."
)
_NET = b"discreet net "  # begins the file of a net


@dataclass(frozen=True)
class Beside:
    """The two files of rows beside a file."""

    members: Path
    others: Path


def beside(path: Path) -> Beside:
    """The rows beside that file; refused unless both files are there."""
    pair = Beside(path.parent / MEMBERS, path.parent / OTHERS)
    for file in (pair.members, pair.others):
        if not file.is_file():
            rule = f"must lie in one folder with {MEMBERS}, rows it was made from, and {OTHERS}, rows it was not"
            raise bad("on", rule, str(path), _HOW)
    return pair


def texts(path: Path, columns: list[str]) -> list[tuple[str, ...]]:
    """The cells of these columns as texts, a tuple a row."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            absent = [name for name in columns if name not in (reader.fieldnames or [])]
            rows = [tuple(row[name] or "" for name in columns) for row in reader] if not absent else []
    except (OSError, UnicodeDecodeError, csv.Error):
        raise bad_private(path.name, "must be a CSV in UTF-8 that you may read", "Write it again.") from None
    if absent:
        raise bad_private(
            path.name, f"must have the column {absent[0]!r}", "Give all columns of the file it is beside."
        )
    return rows


def require_enough(path: Path, rows: int, least: int) -> None:
    """Refuses a file of rows that are too few for a share of them."""
    if rows < least:
        raise bad_private(path.name, f"must have {least} rows or more", "Give more rows of the same population.")


def model_in(path: Path) -> "Predictor":
    """What predicts in the file of a model or of a table net."""
    from discreet.learn.heldout.predictor import predictor_of
    from discreet.learn.saved import file

    stored = file.read_bytes(path)
    if not stored.startswith(_NET):
        return predictor_of(file.from_bytes(stored))
    require("torch")
    from discreet.deep.table.saved import net_of

    return predictor_of(net_of(stored))


def class_chances(predictor: "Predictor", path: Path, *, least: int) -> Any:
    """The chance that the model gives to the own class of each row that has one, of which there must be so many."""
    import numpy as np

    from discreet.learn.input.file_rows import read_rows

    subject = predictor.subject
    classes = [str(name) for name in subject.classes]
    if not classes:
        raise bad("model", "must predict classes for this attack", "a model of a number", "Give one of classes.")
    targets = [row[0] for row in texts(path, [subject.target.name])]
    require_enough(path, len(targets), least)
    places = np.array([classes.index(name) if name in classes else -1 for name in targets])
    chances = predictor.scores(subject.encoded(read_rows(path, subject)))
    has_class = places >= 0
    require_enough(path, int(has_class.sum()), least)
    return chances[has_class, places[has_class]]
