"""Answers and quotes of a rehearsal are those of the real code with a stamp on every form in which they leave.

In Python an answer has its own rows and columns, so that code which will be given the real one runs as it is.  Whatever
is printed, drawn, converted or written is `marked`: a column `rehearsal` in every row, and words around it.
"""

from dataclasses import dataclass, replace
from html import escape
from typing import Any

from discreet.answer.answer import Answer
from discreet.answer.derived import Derived
from discreet.answer.quote import Quote
from discreet.rehearsal import stamp


@dataclass(frozen=True, repr=False)
class MarkedAnswer(Answer):
    """An answer as it is shown: the stamp is its first key."""

    def __repr__(self) -> str:
        return f"{stamp.SENTENCE}\n{super().__repr__()}"

    def _repr_html_(self) -> str:
        return f"<p><strong>{escape(stamp.SENTENCE)}</strong></p>{super()._repr_html_()}"

    def to_json(self) -> dict[str, Any]:
        """As `Answer.to_json`, the stamp first."""
        return stamp.JSON | super().to_json()

    def provenance(self) -> dict[str, Any]:
        """As `Answer.provenance`, the stamp first."""
        return stamp.JSON | super().provenance()


@dataclass(frozen=True, repr=False)
class RehearsedAnswer(Answer):
    """An answer about invented rows."""

    @property
    def marked(self) -> MarkedAnswer:
        """The answer as it may leave."""
        names = [*self.keys, *(name for c in self.columns for name in (c.name, f"{c.name}_moe"))]
        return replace(
            stamp.as_kind(MarkedAnswer, self),
            dataset=stamp.titled(self.dataset),
            keys=(stamp.free_column(names), *self.keys),
            labels=tuple((stamp.CELL, *label) for label in self.labels),
            caveats=(stamp.SENTENCE, *self.caveats),
        )

    _outgoing = marked

    def explain(self) -> str:
        """As `Answer.explain`, the stamp first."""
        return f"{stamp.SENTENCE}\n{super().explain()}"

    def __repr__(self) -> str:
        return repr(self.marked)

    def _repr_html_(self) -> str:
        return self.marked._repr_html_()

    def plot(self, column: str | None = None, *, ax: Any = None) -> Any:
        """As `Answer.plot`; title and axis are stamped."""
        from discreet.answer.picture import picture

        name = None if column is None else stamp.titled(self.column(column).name)
        columns = tuple(replace(plain, name=stamp.titled(plain.name)) for plain in self.columns)
        return picture(replace(self, columns=columns), name, ax=ax)

    def to_json(self) -> dict[str, Any]:
        """As `Answer.to_json`, marked."""
        return self.marked.to_json()

    def provenance(self) -> dict[str, Any]:
        """As `Answer.provenance`, marked."""
        return self.marked.provenance()

    def to_bytes(self) -> bytes:
        """As `Answer.to_bytes`, marked."""
        return self.marked.to_bytes()

    def share(self, column: str) -> tuple[Derived, ...]:
        """As `Answer.share`, with stamped names."""
        return tuple(map(_titled, super().share(column)))

    def difference(self, column: str, a: Any, b: Any) -> Derived:
        """As `Answer.difference`, with a stamped name."""
        return _titled(super().difference(column, a, b))

    def column_difference(self, a: str, b: str) -> tuple[Derived, ...]:
        """As `Answer.column_difference`, with stamped names."""
        return tuple(map(_titled, super().column_difference(a, b)))

    def ratio(self, a: str, b: str) -> tuple[Derived, ...]:
        """As `Answer.ratio`, with stamped names."""
        return tuple(map(_titled, super().ratio(a, b)))


@dataclass(frozen=True, repr=False)
class RehearsedQuote(Quote):
    """A quote whose "left now" is that of the throw-away ledger."""

    def to_json(self) -> dict[str, Any]:
        """As `Quote.to_json`, the stamp first."""
        return stamp.JSON | super().to_json()

    def lines(self) -> list[str]:
        """As `Quote.lines`, the stamp first."""
        return [stamp.SENTENCE, *super().lines()]


def _titled(derived: Derived) -> Derived:
    return replace(derived, name=stamp.titled(derived.name))


def marked(answer: Answer) -> Answer:
    """The answer as it may leave: as it is, or marked where it is of a rehearsal."""
    return answer.marked if isinstance(answer, RehearsedAnswer) else answer


def headline(answer: Answer) -> list[str]:
    """What stands above an answer: the stamp, or nothing."""
    return [stamp.SENTENCE] if isinstance(answer, RehearsedAnswer | MarkedAnswer) else []
