"""A picture as a value: its words, its table, and how it is drawn, which happens only where somebody looks at it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.inert import visible

Rows = tuple[tuple[str, ...], ...]
_BRIEF = 8


@dataclass(frozen=True)
class Draggable:
    """The promise that two worlds begin at on a page, where their ε can be moved."""

    epsilon: Any
    delta: Any = 0


@dataclass(frozen=True)
class Picture:
    """What a picture shows: a heading, what it says in sentences, the same as a table, and a figure of matplotlib."""

    title: str
    caption: str
    alt: str
    header: tuple[str, ...]
    rows: Rows
    draw: Callable[[], Any]
    brief: Rows = ()  # the rows for a terminal, where all are too many
    has_pixels: bool = False  # too many places to be lines and shapes
    draggable: Draggable | None = None

    @property
    def figure(self) -> Any:
        """The figure, drawn now."""
        return self.draw()

    @property
    def short_rows(self) -> Rows:
        """The rows for a terminal: those that were chosen, or some of all, the first and the last among them."""
        if self.brief or len(self.rows) <= _BRIEF:
            return self.brief or self.rows
        places = sorted({round(step * (len(self.rows) - 1) / (_BRIEF - 1)) for step in range(_BRIEF)})
        return tuple(self.rows[place] for place in places)

    def write(self, path: str | Path) -> Path:
        """Write it as PNG or SVG, with its words inside."""
        from discreet.plot.style import checked_path, write

        file = checked_path(Path(path))
        write(self.figure, file, alt=self.alt)
        return file

    def to_json(self) -> dict[str, Any]:
        """The words and the table for programs."""
        table = {"header": list(self.header), "rows": [list(row) for row in self.rows]}
        return {"title": self.title, "sentence": self.caption, "alt": visible(self.alt), "table": table}
