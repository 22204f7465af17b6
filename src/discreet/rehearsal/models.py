"""Models of a rehearsal: their promise and their quotes say that the rows are invented."""

from dataclasses import replace
from typing import Any

from discreet.learn.heldout.fairness import Fairness
from discreet.learn.heldout.score import Score
from discreet.learn.privacy import INVENTED, Privacy
from discreet.learn.task import LearnQuote
from discreet.rehearsal import stamp


def stamped_part(value: Any) -> Any:
    """The promise of a model, or a quote, with the stamp; a model carries its promise wherever it is shown or saved."""
    match value:
        case Privacy():
            return replace(value, covers=INVENTED)  # its receipt has the stamp
        case LearnQuote():
            return replace(value, title=stamp.titled(value.title), words=(stamp.SENTENCE, *value.words))
        case Score() | Fairness():
            return replace(value, model=stamp.titled(value.model), caveats=(stamp.SENTENCE, *value.caveats))
        case _:
            raise TypeError(f"a rehearsal has no stamp for {type(value).__name__}")
