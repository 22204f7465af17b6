"""One HTML page about a synthetic table: its promise, what was measured, its columns, what it is not for, and a check.

The page needs no script and makes no request; all names are escaped, and every picture has its numbers as a table.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import outputs
from discreet.errors import CannotWrite, bad
from discreet.learn.saved.file import require_free
from discreet.synth.report import words
from discreet.synth.report.pictures import Picture, bars, matrix, text
from discreet.synth.report.shares import column_bars, singles
from discreet.synth.report.style import STYLE
from discreet.synth.synthetic import SyntheticTable
from discreet.terms import price_text

if TYPE_CHECKING:
    from discreet.synth.check.result import Check

_MOST_COLUMNS = 60  # that are drawn
_MOST_NUMBERS = 500
_STATISTIC = ("", "value", "low", "high", "synthetic")


def report(
    table: SyntheticTable, place: str | Path | None = None, check: "Check | None" = None, *, replace: bool = False
) -> str | Path:
    """The page as HTML, or the path that it was written to; another file is replaced only with `replace`."""
    html = page(table, check)
    if place is None:
        return html
    path = Path(place)
    if path.suffix.lower() not in (".html", ".htm"):
        raise bad("output", "must be a file ending in .html", str(path), "Give a name such as report.html.")
    toml = None if table.table is None else table.table.toml
    require_free(path, replace=replace, toml=toml)
    try:
        with outputs.replacing(path, toml) as draft:
            draft.write_text(html, encoding="utf-8")
    except OSError:
        why, fix = "Its folder is not there, may not be written, or the disk is full.", "Give another name."
        raise CannotWrite(f"The page could not be written to {str(path)!r}.", why, fix) from None
    return path


def page(table: SyntheticTable, check: "Check | None" = None) -> str:
    """The HTML of the page."""
    style = b64encode(sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
    is_invented, title = table.privacy_.is_invented, text(words.title(table))
    shown = f"REHEARSAL: {title}" if is_invented else title
    body = [
        f"<h1>{shown}</h1>",
        f'<p class="stamp">{text(words.INVENTED)}</p>' if is_invented else "",
        f"<p>{text(words.what(table))}</p>",
        *_section("What it promises", [*paragraphs(words.promise(table.privacy_))]),
        *_section("What it must not be used for", [_list(words.not_for(table))]),
        *_section("How it was built", _build_parts(table)),
        *_section("Which pairs were measured", _pairs(table)),
        *_section("Single columns", _columns(table)),
        *([] if check is None else _section("Compared with the private table", _check_parts(check))),
        *_section("Receipt", paragraphs([words.receipt(table.privacy_)])),
    ]
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{shown}</title><style>{STYLE}</style></head>\n<body>\n<main>\n"
    )
    return head + "\n".join(part for part in body if part) + "\n</main></body></html>\n"


# --- sections --------------------------------------------------------------------------------------------------------


def _build_parts(table: SyntheticTable) -> list[str]:
    privacy, plan = table.privacy_, table.build.plan
    lines = [words.method(table), plan.subject.words(), *words.impossible(table), words.rows(table)]
    price = f"Price: {price_text(privacy.to_json())}, neighbours by {privacy.relation}, protecting each {privacy.unit}."
    header = ("Step", "tables", "cells", "σ of one count", "share of the price")
    rows = [
        (step.words, f"{step.tables:,}", f"{step.cells:,}", step.deviation, step.share)
        for step in words.steps(table.measured)
    ]
    left_out = words.left_out(table)
    return [
        *paragraphs([*lines, price]),
        _table(header, rows, "What was measured, with the standard deviation of its noise"),
        *paragraphs([words.noise(plan), f"The promise covers {privacy.covers}."]),
        *(["<h3>What was left out</h3>", _list(left_out)] if left_out else []),
    ]


def _pairs(table: SyntheticTable) -> list[str]:
    chosen, subject = words.pairs(table.measured), table.build.plan.subject
    if not chosen:
        return [*paragraphs([words.method(table)])]
    places = {name: place for place, name in enumerate(subject.names)}
    pairs = [(places[measurement.columns[0]], places[measurement.columns[1]]) for measurement in chosen]
    drawn = matrix(subject.names, pairs, [words.number(measurement.deviation) for measurement in chosen])
    told = "A pair that is not filled is known only by what the filled ones imply."
    return [*paragraphs([told]), *_figure(drawn, "The pairs as a table")]


def _columns(table: SyntheticTable) -> list[str]:
    plan, own = table.build.plan, singles(table)
    names = plan.subject.names
    told = (
        f"Of 100 units ({table.privacy_.unit}), how many are in each cell of each column: what rows are drawn from. "
        "Many cells are joined to few bars. ± is of the measured counts, at 95 of 100; smoothing comes after."
    )
    parts = [*paragraphs([told])]
    for place, name in list(enumerate(names))[:_MOST_COLUMNS]:
        drawn = bars(name, column_bars(plan, own, place), "units")
        parts += [f"<h3>{text(name)}</h3>", *_figure(drawn, f"{name} as a table")]
    if len(names) > _MOST_COLUMNS:
        parts += paragraphs([f"{len(names) - _MOST_COLUMNS:,} more columns are not drawn."])
    return parts


def _check_parts(check: "Check") -> list[str]:
    """The words of a check, its pictures with their numbers, and all of its numbers."""
    parts = [_list(check.words())]
    for drawn in check.pictures():
        twin = _table(_STATISTIC, [(str(row["label"]), *_cells(row)) for row in drawn.rows], drawn.title)
        parts += [
            f'<h3>{text(drawn.title)}</h3><figure><div class="wide">{drawn.svg}</div>',
            f"<details><summary>{text(drawn.title)}, as a table</summary>{twin}</details></figure>",
        ]
    rows = [(" ".join([row["statistic"], *row["columns"]]), *_cells(row)) for row in check.rows()[:_MOST_NUMBERS]]
    every = _table(_STATISTIC, rows, "All numbers of the check")
    return [*parts, f"<details><summary>All numbers of the check</summary>{every}</details>"]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The value of a statistic, its interval, and the same number of the synthetic rows."""
    numbers = (row["value"], row["low"], row["high"], row["synthetic"])
    return tuple("" if value is None else f"{value:.3f}" for value in numbers)


# --- parts of a page -------------------------------------------------------------------------------------------------


def _section(title: str, parts: Iterable[str]) -> list[str]:
    return [f"<section><h2>{text(title)}</h2>", *parts, "</section>"]


def paragraphs(lines: Iterable[str]) -> list[str]:
    """Each line as a paragraph."""
    return [f"<p>{text(line)}</p>" for line in lines]


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{text(line)}</li>' for line in lines)}</ul>"


def _figure(picture: Picture, summary: str) -> list[str]:
    twin = _table(picture.header, picture.rows, picture.alt)
    return [
        f'<figure><div class="wide">{picture.svg}</div>',
        f"<details><summary>{text(summary)}</summary>{twin}</details></figure>",
    ]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in header)
    lines = []
    for first, *others in rows:
        cells = "".join(f"<td>{text(cell)}</td>" for cell in others)
        lines.append(f'<tr><th scope="row">{text(first)}</th>{cells}</tr>')
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="wide"><table><caption>{text(caption)}</caption>{body}</table></div>'
