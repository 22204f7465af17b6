"""Show an answer of synthetic rows: a table of text or HTML, each number with its ± and what that covers."""

from html import escape

from discreet.answer.show import cell, label, percent
from discreet.inert import visible
from discreet.synth.answers.answer import SyntheticAnswer
from discreet.terms import price_text

_MOST_ROWS, _MOST_HTML_ROWS = 30, 200


def text(answer: SyntheticAnswer) -> str:
    """Aligned columns, then what ± means."""
    shown = min(len(answer), _MOST_ROWS)
    lines = [_head(answer), *(_row(answer, index) for index in range(shown))]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    keys = len(answer.keys)
    aligned = [
        "  ".join(
            own.ljust(width) if place < keys else own.rjust(width)
            for place, (own, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    more = [f"… {len(answer) - shown:,} more rows"] if len(answer) > shown else []
    return "\n".join([*aligned, *more, *map(visible, answer.notes), caption(answer)])


def html(answer: SyntheticAnswer) -> str:
    """A table with a caption and headed rows and columns; every text is escaped."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in _head(answer))
    rows = [_row(answer, index) for index in range(min(len(answer), _MOST_HTML_ROWS))]
    keys = len(answer.keys)
    body = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{escape(own)}</th>' for own in row[:keys])
        + "".join(f"<td>{escape(own)}</td>" for own in row[keys:])
        + "</tr>"
        for row in rows
    )
    more = len(answer) - len(rows)
    left_out = f" {more:,} more rows are not shown." if more else ""
    notes = "".join(f"<li>{escape(visible(note))}</li>" for note in answer.notes)
    title = f"<caption>{escape(caption(answer))}{left_out}</caption>"
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><ul>{notes}</ul>"


def caption(answer: SyntheticAnswer) -> str:
    """One line: the level, and that nothing is charged."""
    return visible(
        f"± at {percent(answer.level)}; from synthetic rows, nothing charged (table: {price_text(answer.cost)})"
    )


def _head(answer: SyntheticAnswer) -> list[str]:
    return [*map(visible, answer.keys), *(visible(own.name) for own in answer.columns)]


def _row(answer: SyntheticAnswer, index: int) -> list[str]:
    numbers = [f"{cell(own, index)} ({kinds[index]})" for own, kinds in zip(answer.columns, answer.kinds, strict=True)]
    return [*map(label, answer.labels[index]), *numbers]
