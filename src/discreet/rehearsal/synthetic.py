"""Synthetic tables of a rehearsal: every row says that it is of invented rows, as do quote, promise and pages."""

from dataclasses import dataclass, replace
from typing import Any

from discreet.rehearsal import files, stamp
from discreet.rehearsal.models import stamped_part as stamped_promise
from discreet.synth.answers.answer import SyntheticAnswer
from discreet.synth.check.pictures import Picture, pictures_of
from discreet.synth.check.quote import CheckQuote
from discreet.synth.check.result import Check
from discreet.synth.quote import SynthQuote
from discreet.synth.small.plan import SmallPlan
from discreet.synth.small.result import SmallDatabase
from discreet.synth.synthetic import SyntheticTable


@dataclass(frozen=True, eq=False, repr=False)
class RehearsedSyntheticTable(SyntheticTable):
    """A synthetic table like invented rows; in Python it has the rows and columns of a real one."""

    def to_pandas(self) -> Any:
        """As `SyntheticTable.to_pandas`, with the stamp in every row and in `attrs`."""
        frame = super().to_pandas()
        frame[stamp.free_column(frame.columns)] = stamp.CELL
        frame.attrs["discreet"] = stamp.JSON | frame.attrs.get("discreet", {})
        return frame

    def to_arrow(self) -> Any:
        """As `SyntheticTable.to_arrow`, with the stamp in every row and in the metadata."""
        return files.marked(super().to_arrow())

    def __repr__(self) -> str:
        return f"<{stamp.STAMP} on invented rows: {super().__repr__().removeprefix('<')}"


@dataclass(frozen=True, repr=False)
class MarkedSyntheticAnswer(SyntheticAnswer):
    """An answer of such a table as it is shown: the stamp is its first key."""

    def provenance(self) -> dict[str, Any]:
        """As `SyntheticAnswer.provenance`, the stamp first."""
        return stamp.JSON | super().provenance()


@dataclass(frozen=True, repr=False)
class RehearsedSyntheticAnswer(SyntheticAnswer):
    """An answer of a synthetic table like invented rows; in Python it has the rows and columns of a real one."""

    @property
    def _outgoing(self) -> SyntheticAnswer:
        return replace(
            stamp.as_kind(MarkedSyntheticAnswer, self),
            dataset=stamp.titled(self.dataset),
            keys=(stamp.free_column([*self.keys, *(column.name for column in self.columns)]), *self.keys),
            labels=tuple((stamp.CELL, *label) for label in self.labels),
            notes=(stamp.SENTENCE, *self.notes),
        )


@dataclass(frozen=True, eq=False, repr=False)
class RehearsedSmallPlan(SmallPlan):
    """The plan of a small database of invented rows."""

    @property
    def title(self) -> str:
        """As `SmallPlan.title`, the stamp first."""
        return stamp.titled(super().title)

    @property
    def words(self) -> tuple[str, ...]:
        """As `SmallPlan.words`, the stamp first."""
        return (stamp.SENTENCE, *super().words)

    def to_json(self) -> dict[str, Any]:
        """As `SmallPlan.to_json`, the stamp first."""
        return stamp.JSON | super().to_json()


@dataclass(frozen=True, eq=False, repr=False)
class RehearsedSmallDatabase(SmallDatabase):
    """A small database like invented rows; in Python it has the rows of a real one."""

    def to_json(self) -> dict[str, Any]:
        """As `SmallDatabase.to_json`, the stamp first and in every row."""
        told = super().to_json()
        rows = [{stamp.free_column(row): stamp.CELL} | row for row in told["database"]]
        return stamp.JSON | told | {"database": rows}

    def __repr__(self) -> str:
        return f"{stamp.SENTENCE}\n{super().__repr__()}"


@dataclass(frozen=True, repr=False)
class RehearsedCheck(Check):
    """A check on invented rows."""

    def rows(self) -> list[dict[str, Any]]:
        """As `Check.rows`, with the stamp in every row."""
        return [stamp.JSON | row for row in super().rows()]

    def to_json(self) -> dict[str, Any]:
        """As `Check.to_json`, the stamp first."""
        return stamp.JSON | super().to_json()

    def pictures(self) -> list[Picture]:
        """As `Check.pictures`, with the stamp in each of them."""
        return pictures_of(self, stamp.SENTENCE)


def stamped_part(value: Any) -> Any:
    """The quote of a synthetic table or of a small database, or one of these itself, with the stamp."""
    match value:
        case SynthQuote() | CheckQuote():
            return replace(value, title=stamp.titled(value.title), words=(stamp.SENTENCE, *value.words))
        case SyntheticTable():
            marked = replace(value, privacy_=stamped_promise(value.privacy_))
            return stamp.as_kind(RehearsedSyntheticTable, marked)
        case Check():
            marked_check = replace(
                value,
                title=stamp.titled(value.title),
                caveats=(stamp.SENTENCE, *value.caveats),
                privacy_=stamped_promise(value.privacy_),
            )
            return stamp.as_kind(RehearsedCheck, marked_check)
        case SyntheticAnswer():
            return stamp.as_kind(RehearsedSyntheticAnswer, value)
        case SmallPlan():
            return stamp.as_kind(RehearsedSmallPlan, value)
        case SmallDatabase():
            return stamp.as_kind(RehearsedSmallDatabase, value)
        case _:
            raise TypeError(f"a rehearsal has no stamp for {type(value).__name__}")
