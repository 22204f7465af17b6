"""Draw one column of an answer."""

from typing import TYPE_CHECKING, Any

from discreet.answer.show import caption, label
from discreet.errors import bad
from discreet.inert import visible

if TYPE_CHECKING:
    from discreet.answer.answer import Answer
    from discreet.answer.column import Column


def picture(answer: "Answer", name: str | None, *, ax: Any = None) -> Any:
    """Bars from 0 for counts and sums, points for the rest, each with its interval."""
    from discreet.plot.answer import Mark, bars_picture, points_picture

    column = drawn_column(answer) if name is None else answer.column(name)
    if any(not _is_number(v) for v in column.value):
        raise bad("column", "must hold numbers to be drawn", column.name, "Name a column of numbers.")
    marks = [
        Mark(", ".join(map(label, keys)) if keys else visible(column.name), value, low, high)
        for keys, value, low, high in zip(answer.labels, _floats(column.value), column.low, column.high, strict=True)
    ]
    draw = points_picture if column.law is None else bars_picture
    name, keys = visible(column.name), ", ".join(map(visible, answer.keys))
    title = f"{name} by {keys}" if keys else name
    measure = name if column.of is None else f"{name}, {visible(column.of)}"
    return draw(marks, title=title, measure=measure, caption=caption(answer), ax=ax)


def drawn_column(answer: "Answer") -> "Column":
    """The column to draw if none is named: the first with a ±."""
    for column in answer.columns:
        if any(moe is not None for moe in column.moe):
            return column
    return answer.columns[0]


def _floats(values: tuple[Any, ...]) -> list[float]:
    return [float(value) for value in values]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
