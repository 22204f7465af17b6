"""Models of a rehearsal: their promise and their quotes say that the rows are invented."""

from dataclasses import dataclass, replace
from typing import Any

from discreet.learn.heldout.fairness import Fairness
from discreet.learn.heldout.score import Score
from discreet.learn.privacy import INVENTED, Privacy
from discreet.learn.task import LearnQuote
from discreet.rehearsal import stamp


@dataclass(frozen=True)
class RehearsedScore(Score):
    """A score on invented rows."""

    def __str__(self) -> str:
        return f"{stamp.SENTENCE}\n{super().__str__()}"


@dataclass(frozen=True)
class RehearsedFairness(Fairness):
    """Rates of groups of invented rows."""

    def __str__(self) -> str:
        return f"{stamp.SENTENCE}\n{super().__str__()}"


def stamped_part(value: Any) -> Any:
    """The promise of a model, or a quote, with the stamp; a model carries its promise wherever it is shown or saved."""
    match value:
        case Privacy():
            return replace(value, covers=INVENTED)  # its receipt has the stamp
        case LearnQuote():
            return replace(value, title=stamp.titled(value.title), words=(stamp.SENTENCE, *value.words))
        case Score() | Fairness():
            kind = RehearsedScore if isinstance(value, Score) else RehearsedFairness
            marked = replace(value, model=stamp.titled(value.model), caveats=(stamp.SENTENCE, *value.caveats))
            return stamp.as_kind(kind, marked)
        case _:
            raise TypeError(f"a rehearsal has no stamp for {type(value).__name__}")
