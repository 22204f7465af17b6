"""Show an answer to people: a table of text or HTML, every number with its ± and no more digits than the ± allows.

Keys, names and caveats may hold what rows or questions put there: they are escaped here, so that nothing runs them.
"""

import math
from html import escape
from typing import TYPE_CHECKING, Any

from discreet.amounts import text_of
from discreet.answer.column import one_text
from discreet.inert import visible
from discreet.terms import price_text

if TYPE_CHECKING:
    from discreet.answer.answer import Answer
    from discreet.answer.column import Column

_MOST_ROWS = 30
_MOST_HTML_ROWS = 200


def table(answer: "Answer") -> tuple[list[str], list[list[str]]]:
    """The header, and the rows as text."""
    return _head(answer), [_row(answer, i) for i in range(len(answer))]


def caps(answer: "Answer") -> list[str]:
    """A line for each thing that is counted under a cap, with the columns that count it."""
    counted = dict.fromkeys(c.of for c in answer.columns if c.of is not None)
    return [f"{', '.join(visible(c.name) for c in answer.columns if c.of == of)}: {visible(of)}" for of in counted]


def text(answer: "Answer") -> str:
    """Aligned columns, then what they count, what the ± means, what was paid and what remains."""
    header, lines = _head(answer), [_row(answer, i) for i in range(min(len(answer), _MOST_ROWS))]
    widths = [max(map(len, cells)) for cells in zip(header, *lines, strict=True)]
    keys = len(answer.keys)

    def line(cells: list[str]) -> str:
        sides = (c.ljust(w) if i < keys else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True)))
        return "  ".join(sides).rstrip()

    more = len(answer) - len(lines)
    note = [f"… {more:,} more rows"] if more else []
    return "\n".join([*map(line, [header, *lines]), *note, *caps(answer), caption(answer)])


def html(answer: "Answer") -> str:
    """A table with a caption and headed rows and columns; every text is escaped."""
    counted = [*(None for _ in answer.keys), *(c.of for c in answer.columns)]
    head = "".join(_html_head(name, of) for name, of in zip(_head(answer), counted, strict=True))
    body = "".join(_html_row(answer, i) for i in range(min(len(answer), _MOST_HTML_ROWS)))
    more = len(answer) - _MOST_HTML_ROWS
    note = f" {more:,} more rows are not shown." if more > 0 else ""
    notes = "".join(f"<li>{escape(visible(caveat))}</li>" for caveat in answer.caveats)
    notes = f"<ul>{notes}</ul>" if notes else ""
    title = f"<caption>{escape(caption(answer))}{note}</caption>"
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def caption(answer: "Answer") -> str:
    """One line with the level, the cost, the unit and what remains."""
    cost = answer.cost
    paid = f"cost {price_text(cost)}"
    if answer.replayed:
        paid = f"replayed, nothing new charged (first {paid})"
    who = f"per {cost['unit'] or 'row'} ({cost['neighbours']})"
    remaining = "" if answer.remaining is None else f"; remaining ε = {answer.remaining['epsilon']}"
    return visible(f"± holds with probability {percent(answer.level)}; {paid} {who}{remaining}")


def percent(level: Any) -> str:
    """A share in per cent.

    >>> from fractions import Fraction
    >>> percent(Fraction(19, 20))
    '95 %'
    """
    return f"{text_of(100 * level)} %"


def cell(column: "Column", i: int) -> str:
    """A value with its ±."""
    value, moe = one_text(column.value[i]), column.moe[i]
    if value is None:
        return "-"
    if column.ranks is not None:
        return f"{number(value, None)} {ranks(column.ranks)}"
    if column.shortfall is not None:
        return f"{label(value)} (short by < {math.ceil(column.shortfall):,} rows)"
    return number(value, None) if moe is None else f"{number(value, moe)} ± {_size(moe)}"


def ranks(error: float) -> str:
    """The ± of a value that was chosen by its rank.

    >>> ranks(0.3), ranks(12.4)
    ('± 1 rank', '± 13 ranks')
    """
    count = math.ceil(error)
    return f"± {count:,} {'rank' if count == 1 else 'ranks'}"


def number(value: Any, moe: Any) -> str:
    """Thousands apart; a float to the two leading digits of its ±.

    >>> number(1234567, 30), number(41.23456, 0.0123), number(41.23456, 12.3)
    ('1,234,567', '41.235', '41')
    >>> number(-0.00001, 0.0123)
    '0.000'
    """
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else label(value)
    shown = f"{value:,.10g}" if not moe else f"{value:,.{_decimals(moe)}f}"
    return shown if shown.strip("-0.,") else shown.removeprefix("-")


def label(value: Any) -> str:
    """A key's value as text; an empty cell as (empty), the empty text in quotes."""
    return "(empty)" if value is None else visible(str(value)) or '""'


def _size(moe: Any) -> str:
    if not isinstance(moe, float) or moe == 0:
        return f"{moe:,}"
    places = _decimals(moe)
    up = math.ceil(moe * 10**places * (1 - 1e-12)) / 10**places
    return f"{up:,.{places}f}"


def _decimals(moe: float) -> int:
    return min(max(0, 1 - math.floor(math.log10(moe))), 15)


def _head(answer: "Answer") -> list[str]:
    return [*map(visible, answer.keys), *(visible(c.name) for c in answer.columns)]


def _row(answer: "Answer", i: int) -> list[str]:
    return [*map(label, answer.labels[i]), *(cell(c, i) for c in answer.columns)]


def _html_head(name: str, of: str | None) -> str:
    """A column's name, and below it what it counts."""
    counted = "" if of is None else f"<br><small>{escape(visible(of))}</small>"
    return f'<th scope="col">{escape(name)}{counted}</th>'


def _html_row(answer: "Answer", i: int) -> str:
    cells = _row(answer, i)
    keys = len(answer.keys)
    heads = "".join(f'<th scope="row">{escape(c)}</th>' for c in cells[:keys])
    return f"<tr>{heads}{''.join(f'<td>{escape(c)}</td>' for c in cells[keys:])}</tr>"
