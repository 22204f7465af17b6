"""What a training is paid from: a ledger, a checkpoint, both, or nothing that is durable.

    ledger alone         a purse of its own in that ledger, under a key that no other training has
    checkpoint alone     a small ledger at that place, made for this training: its budget is the plan's (ε, δ)
    both                 a purse in the ledger; the file at the checkpoint's place holds its key
    neither              charged nowhere, and everything that is shown says so

A training with a checkpoint is taken up where it stood: blocks that were stored are not drawn again, whatever rows are
handed over.  So it is paid once, and its ε is that of a training without an interruption.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet import durable, outputs
from discreet.deep.training.course import Course
from discreet.errors import BadValue, CannotWrite, bad
from discreet.learn.fit import fresh_key, ledger_of, purse_of_arrays
from discreet.ledger.filter import EpsilonDelta
from discreet.ledger.ledger import Ledger
from discreet.ledger.purse import Purse
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.schema import APPLICATION
from discreet.ledger.unbooked import Unbooked
from discreet.relation import Relation
from discreet.schema import Schema, Unit
from discreet.schema.unit import ROW
from discreet.terms import Terms

PERSON = "person"  # what a unit of the caller's is called
_FAILURES = 1000  # kills that a checkpoint survives: each may have lost one draw that nobody saw
_LONGEST_FILE = 4096
_FORMAT = "training 1"
_APPLICATION, _HEADER = 68, 72  # where a file of SQLite says whose it is, and where that ends


def schema_of(max_rows: int, has_units: bool) -> Schema:
    """The public facts of the rows: whom the training protects."""
    return Schema("arrays", (), Unit(PERSON, max_rows) if has_units else None)


@contextlib.contextmanager
def paying(course: Course, has_units: bool, ledger: Any, checkpoint: Any) -> Iterator[Purse | Unbooked]:
    """The purse of a training, charged with the plan's whole cost unless it was before."""
    if ledger is not None:
        opened = require_ledger(ledger)
        key = fresh_key() if checkpoint is None else _key_in(_place(checkpoint), course.identity(has_units))
        yield _purse(opened, course, has_units, key)
    elif checkpoint is None:
        yield Unbooked()
    else:
        with _checkpoint(_place(checkpoint), course, has_units) as own:
            yield _purse(own, course, has_units, course.identity(has_units))


def require_ledger(ledger: Any) -> Ledger:
    """The ledger of a dataset, or a ledger itself; refused where its neighbours are by replace-one."""
    opened = ledger_of(ledger)
    relation = opened.standing().opening.relation
    if relation is not Relation.ADD_REMOVE:
        fix = "Charge a ledger of add-remove; samples by coins are priced for a person who is there or not."
        raise bad("ledger", "must be one of add-remove", str(relation), fix)
    return opened


def _purse(ledger: Ledger, course: Course, has_units: bool, key: str) -> Purse:
    """The purse under that key, also one that has ended; a new one where there is none."""
    plan, memo = course.plan, {"text": f"{course.plan.steps} steps of {type(course.module).__name__}"}
    schema = schema_of(course.max_rows, has_units)
    purse = ledger.purse_of(key)
    return purse or purse_of_arrays(ledger, schema, memo, Terms(plan.epsilon, plan.delta), plan.cost, key=key)


# --- checkpoints -----------------------------------------------------------------------------------------------------


def _place(checkpoint: Any) -> Path:
    if not isinstance(checkpoint, (str, os.PathLike)):
        raise bad("checkpoint", "must be a path", type(checkpoint).__name__, 'Give a file name such as "net.training".')
    place = Path(checkpoint)
    if outputs.input_kind(place) not in (outputs.LEDGER, outputs.CHECKPOINT):  # which it is taken up from
        outputs.require_harmless(place, flag="checkpoint")
    return place


@contextlib.contextmanager
def _checkpoint(place: Path, course: Course, has_units: bool) -> Iterator[Ledger]:
    """The ledger at that place, made for this training."""
    if _read_key(place) is not None:
        fix = "Give the same ledger again, or another checkpoint."
        raise bad("checkpoint", "must be of a training without a ledger", str(place), fix)
    plan, name = course.plan, f"training {course.identity(has_units)}"
    rules = Rules(EpsilonDelta(plan.epsilon, plan.delta, 0, plan.delta, ()), failures=_FAILURES)  # type: ignore[arg-type]
    opening = Opening(name, PERSON if has_units else ROW, Relation.ADD_REMOVE, rules)
    _require_ledger_file(place)
    with Ledger.open(place) if os.path.lexists(place) else Ledger.open_or_create(place, opening) as ledger:
        if ledger.standing().opening.dataset != name:
            raise _another(place)
        yield ledger


def _require_ledger_file(place: Path) -> None:
    """Refuses, without opening it as a ledger, a file that is none: opening would change its header."""
    try:
        with place.open("rb") as file:
            header = file.read(_HEADER)
    except OSError:  # none is there, or it cannot be read: opening it says so
        return
    is_ledger = int.from_bytes(header[_APPLICATION:], "big") == APPLICATION or _is_ledger_in_log(place)
    if header and not is_ledger:
        fix = "Give the name of a file that is not there, or the checkpoint that this training began with."
        raise bad("checkpoint", "must be the file of a training", str(place), fix)


def _is_ledger_in_log(place: Path) -> bool:
    """Whether it is a ledger by its log: one that was killed early has nothing but a log, and a header without a name.

    Opened for reading alone, no file is changed.
    """
    if not os.path.lexists(f"{place}-wal"):
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)) as file:
            return bool(file.execute("PRAGMA application_id").fetchone() == (APPLICATION,))
    except sqlite3.Error:
        return False


def _key_in(place: Path, identity: str) -> str:
    """The key in the file at that place, written durably before anything is charged."""
    stored = _read_key(place)
    if stored is None:
        key = fresh_key()
        text = json.dumps({"discreet": _FORMAT, "key": key, "identity": identity})
        try:
            durable.write(place, text.encode("ascii"), new=True)
            durable.sync(place.absolute().parent)
            return key
        except FileExistsError:
            stored = _read_key(place)  # of a process that began at the same moment
        except OSError as error:
            why = f"The system says: {error.strerror or 'input/output error'}."
            raise CannotWrite(f"No checkpoint can be written to {str(place)!r}.", why, "Give another name.") from None
    if stored is None:
        fix = "Leave out the ledger, or give another checkpoint."
        raise bad("checkpoint", "must be of a training that was charged to this ledger", str(place), fix)
    if stored["identity"] != identity:
        raise _another(place)
    return str(stored["key"])


def _read_key(place: Path) -> dict[str, Any] | None:
    """What the file says; None where there is none, or where it is something else."""
    try:
        with place.open("rb") as file:
            stored = json.loads(file.read(_LONGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return None
    is_key = isinstance(stored, dict) and stored.get("discreet") == _FORMAT
    return stored if is_key and set(stored) == {"discreet", "key", "identity"} else None


def _another(place: Path) -> BadValue:
    what = "The checkpoint is that of another training."
    why = f"Module, loss, optimizer, plan, clip or another option differs from those that {str(place)!r} began with."
    return BadValue(what, why, "Put them back, or give another checkpoint: it is charged as a training of its own.")
