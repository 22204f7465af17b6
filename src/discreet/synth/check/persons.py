"""Whose rows a check compares: those that the synthetic table was built from, or held-out ones."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet import envelope
from discreet.envelope import Envelope, Part
from discreet.errors import BadValue, IntegrityError, bad
from discreet.learn.heldout.split import Side
from discreet.learn.heldout.trial import are_apart, unit_plural
from discreet.learn.privacy import REHEARSED
from discreet.query.bound import path
from discreet.query.nodes import Expr, UnitIn
from discreet.run import Run
from discreet.synth.build import KIND, Build
from discreet.table import Table


@dataclass(frozen=True)
class Persons:
    """The condition on the units that are compared, what is known of whether they built the table, and their name.

    `built_on` is the state of the rows, named under the dataset's key, that the ledger says the table was built on;
    None where it holds no charge of this very table.  `is_same_state` is whether the check was of that state, None
    before its charge.
    """

    where: Expr | None
    is_apart: bool  # from the part that the build names
    built_on: str | None
    noun: str
    is_same_state: bool | None = None

    @property
    def is_held_out(self) -> bool:
        """Whether none of them built the table: a part is the same part only under the same key."""
        return self.is_apart and self.built_on is not None and self.is_same_state is True

    @property
    def words(self) -> str:
        """What is known of them, in a sentence."""
        if self.built_on is None:
            return (
                f"The ledger holds no charge of this very synthetic table: whether it was built from these {self.noun} "
                f"is not known here."
            )
        if self.is_same_state is False:
            return self._later_words
        condition = "" if self.is_same_state else " This is so if the rows and the key of the table are those of then."
        if self.is_apart:
            return f"The synthetic table was not built from these {self.noun}: they were held out.{condition}"
        return (
            f"The synthetic table was built from these very {self.noun}, so it may look better here than on others; "
            f"its ε limits by how much.{condition}"
        )

    @property
    def _later_words(self) -> str:
        """After the rows or the key changed, which one name tells of both."""
        if self.is_apart:
            return (
                f"The rows or the key of the table changed since the synthetic table was built from another part: "
                f"under another key some of these {self.noun} may have built it."
            )
        return (
            f"The rows or the key of the table changed since the synthetic table was built, maybe from these "
            f"{self.noun}, so it may look better here than on others; its ε limits by how much."
        )

    def checked(self, table: Table, receipt: str) -> "Persons":
        """The same after the charge with that receipt, which names the state that was compared."""
        entry = table.ledger.entry_of(receipt.removeprefix(REHEARSED))
        state = "" if entry is None else str(entry["snapshot"])
        return replace(self, is_same_state=self.built_on in (state, *table.ledger.older_snapshots(state)))

    def relative_share(self, built: Expr | None) -> Fraction:
        """How many units are compared for each one that the table was built from, by public facts."""
        return _share(self.where) / _share(built)


def persons_of(table: Table, build: Build, on: Any = None) -> Persons:
    """The units that built the table, or those of a part that had none in it; refused for any other part."""
    built = build.plan.subject.where
    built_on, noun = _state_of(table, build), unit_plural(table.schema)
    if on is None:
        return Persons(built, False, built_on, noun)
    if not isinstance(on, Side):
        fix = "Give one that split made: training, held_out = people.split(test=0.2)."
        raise bad("on", "must be a part of the table", type(on).__name__, fix)
    if on.table.ledger_path.resolve() != table.ledger_path.resolve():
        raise bad("on", "must be a part of the table that was synthesised", on.table.schema.name, "Split that table.")
    if not are_apart(built, on.where):
        what = f"The {on.name} are not held out: the synthetic table was built from some of them."
        why = "A check on them would look better than one on others and would not say so."
        fix = (
            "Leave out on, which checks by those that built the table; or build from the other part: "
            'training, held_out = people.split(test="0.2"), then training.synthesize().'
        )
        raise BadValue(what, why, fix)
    return Persons(on.where, True, built_on, noun)


def _state_of(table: Table, build: Build) -> str | None:
    """The state of the rows that the ledger's charge of this build names; None where it holds none.

    The charge must be of the same part, and what it stored the same numbers of the same subject: a file states whatever
    whoever wrote it liked, the receipt of another table too.
    """
    ledger, receipt = table.ledger_if_any(), build.receipt.removeprefix(REHEARSED)
    entry = None if ledger is None else ledger.entry_of(receipt)
    if ledger is None or entry is None or entry["kind"] != "purse":
        return None
    subject = build.plan.subject
    if [tuple(branch) for branch in entry["path"]] != list(path(subject.where, subject.schema)):
        return None
    purse = ledger.purse_of(entry["key"])
    stored = None if purse is None or purse.receipt.name != receipt else Run(purse, table.view).result()
    if stored is None:
        return None
    try:
        released = envelope.from_bytes(stored, KIND)
    except IntegrityError:  # the result of another room
        return None
    own, theirs = _bytes_of(subject.to_json(), build.parts), _bytes_of(released.facts["subject"], released.parts)
    return str(entry["snapshot"]) if own == theirs else None


def _bytes_of(subject: Any, parts: tuple[Part, ...]) -> bytes:
    """Equal bytes for equal subjects and parts."""
    return Envelope(KIND, "", {"subject": subject}, parts).to_bytes()


def _share(where: Expr | None) -> Fraction:
    return where.end - where.first if isinstance(where, UnitIn) else Fraction(1)
