"""Walk through a lecture: each of its figures beside the one that Discreet computes."""

from discreet.errors import bad
from discreet.lecture.catalog import LECTURES, Lecture
from discreet.lecture.section import Section
from discreet.operation.reply import Reply, envelope

CAVEATS = (
    "Figures are laws and prices, not draws: they are the same on every run.",
    "Where a lecture prints no figure its column is empty.",
)


def lecture(number: str) -> Reply[tuple[Lecture, tuple[Section, ...]]]:
    """The sections of one lecture, computed now."""
    chosen = next((lecture for lecture in LECTURES if str(lecture.number) == number.strip()), None)
    if chosen is None:
        raise bad("lecture", f"must be a number from 1 to {len(LECTURES)}", number, "Give, say, 1.")
    sections = tuple(topic() for topic in chosen.topics)
    data = {"number": chosen.number, "title": chosen.title, "sections": [section.to_json() for section in sections]}
    return Reply(envelope(lecture=data, caveats=list(CAVEATS)), (chosen, sections))
