"""Walk through a lecture: each of its figures beside the one that Discreet computes."""

from discreet.errors import bad
from discreet.lecture.catalog import LECTURES, Lecture
from discreet.lecture.section import Section
from discreet.operation.reply import Reply, envelope

CAVEATS = (
    "Figures beside the lecture's are laws and prices, the same on every run; what pictures call measured, and what "
    "attacks achieve, was drawn now with the noise that really runs.",
    "Where a lecture prints no figure its column is empty.",
)


def lecture(number: str) -> Reply[tuple[Lecture, tuple[Section, ...]]]:
    """The sections of one lecture, computed now."""
    chosen = next((lecture for lecture in LECTURES if str(lecture.number) == number.strip()), None)
    if chosen is None:
        raise bad("lecture", f"must be a number from 1 to {len(LECTURES)}", number, "Give, say, 1.")
    sections = chosen.sections()
    data = {"number": chosen.number, "title": chosen.title, "sections": [section.to_json() for section in sections]}
    return Reply(envelope(lecture=data, caveats=list(CAVEATS)), (chosen, sections))
