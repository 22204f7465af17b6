"""The reply of an operation: data for programs, and the value itself for surfaces that draw it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from discreet.errors import DiscreetError
from discreet.fix import Fix, Spelling, in_python

Value = TypeVar("Value", covariant=True)


@dataclass(frozen=True)
class Reply(Generic[Value]):
    """`next` are operations that can follow; a `problem` is an error that comes with something to show."""

    data: Mapping[str, Any]
    value: Value
    next: tuple[Fix, ...] | None = None
    problem: DiscreetError | None = None

    @property
    def exit(self) -> int:
        """The status of a process that did this and nothing else."""
        return 0 if self.problem is None else self.problem.exit

    def to_json(self, spell: Spelling = in_python) -> dict[str, Any]:
        """One object for programs, with operations as that surface spells them."""
        problem = {} if self.problem is None else self.problem.to_json(spell)
        following = {} if self.next is None else {"next": [spell(fix) for fix in self.next]}
        return {**problem, **self.data, **following}


def envelope(**parts: Any) -> dict[str, Any]:
    """The keys of every successful reply, with those of the operation; "rehearsal" comes first."""
    rehearsed = {"rehearsal": True} if parts.get("rehearsal") else {}
    absent = dict.fromkeys(("dataset", "cost", "remaining", "receipt"))
    return {**rehearsed, "ok": True, "format": 1, **absent, "caveats": []} | parts
