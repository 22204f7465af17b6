"""A section of a lecture, walked through: what the lectures print beside what Discreet computes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.fix import Fix, command_line
from discreet.lecture.picture import Picture

_STANDS_FOR = {
    "people.toml": "people.toml stands for a dataset of your own.",
    "tax.toml": "tax.toml stands for a survey of your own.",
}


@dataclass(frozen=True)
class Row:
    """One figure: its name, what the lectures print, and what Discreet computes; "" where none prints it."""

    figure: str
    printed: str
    computed: str


@dataclass(frozen=True)
class Section:
    """A topic of a lecture with its figures.

    `loose` says where the lecture is loose or wrong, and what is right; `command` shows more.  Figures are the same on
    every run; what `pictures` call measured is not.
    """

    title: str
    text: str
    rows: tuple[Row, ...]
    loose: str = ""
    command: Fix | None = None
    pictures: tuple[Picture, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """One object for programs."""
        figures = [{"figure": row.figure, "printed": row.printed, "computed": row.computed} for row in self.rows]
        return {
            "title": self.title,
            "text": self.text,
            "figures": figures,
            "loose": self.loose,
            "command": None if self.command is None else command_line(self.command),
            "pictures": [picture.to_json() for picture in self.pictures],
        }


def stand_ins(sections: Sequence[Section]) -> str:
    """What the files in the sections' commands stand for; "" where no command has one."""
    files = {section.command.arguments.get("metadata") for section in sections if section.command is not None}
    return " ".join(sentence for file, sentence in _STANDS_FOR.items() if file in files)


def rows_of(*figures: Sequence[str]) -> tuple[Row, ...]:
    """Rows from triples: figure, printed, computed."""
    return tuple(Row(*figure) for figure in figures)


def short(value: Any, digits: int = 4) -> str:
    """A number with so many significant digits, thousands apart.

    >>> short(0.05769230), short(10), short(1455389376)
    ('0.05769', '10', '1,455,389,376')
    """
    number = float(value)
    if number == int(number) and abs(number) < 10**15:
        return f"{int(number):,}"
    return f"{number:,.{digits}g}" if abs(number) < 1000 else f"{number:,.1f}"
