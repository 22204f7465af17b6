"""The page of a release: one HTML file with its numbers inside, which makes no request.

Texts of the release are escaped here, and page.js inserts them as text nodes only.  A content security policy forbids
every request and every script or style but the two whose digests it names.
"""

import json
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from discreet.answer.column import label_text
from discreet.inert import in_json, visible
from discreet.ndarrays import Ints
from discreet.release.publish import words
from discreet.release.publish.words import Facts
from discreet.release.tree import Tree
from discreet.shares import parts_in_words

LARGEST = 6_000_000  # bytes of numbers and names in a page: more and it opens slowly
_WIDTHS = (1, 2, 4)
_TAGS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})  # inside JSON strings, so that no tag ends it
_FILES = ("table.csv", "table.parquet", "noisy.csv", "noisy.parquet", "release.json", "report.md")


@dataclass(frozen=True, eq=False)
class Tables:
    """The numbers of a release: of cells (places, cells), and of the totals of places."""

    tree: Tree
    fitted: Ints
    estimate: Ints
    radius: Ints
    totals: Ints  # estimates
    total_radius: Ints


def page(facts: Facts, tables: Tables, *, largest: int = LARGEST) -> str:
    """The HTML of the page, with as many levels from the top as fit into `largest` bytes."""
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    inside = page_data(facts, tables, largest=largest)
    shown = len(inside["levels"])
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(style, script))}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_text(words.title(facts))}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        *_body(facts, shown),
        f'<script type="application/json" id="data">{_json(inside)}</script>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(parts)


def policy(style: str, script: str) -> str:
    """The content security policy: only this style and this script, and no request."""
    own = (f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script))
    return "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'".format(*own)


# --- data ------------------------------------------------------------------------------------------------------------


def page_data(facts: Facts, tables: Tables, *, largest: int = LARGEST) -> dict[str, Any]:
    """The data that page.js reads: numbers and names of the upper levels."""
    tree, fitted, below = tables.tree, tables.fitted, np.diff(tables.tree.child)
    names: list[str] = []
    levels: list[dict[str, Any]] = []
    labels = [
        {"name": visible(attribute["name"]), "labels": _labels(facts, attribute["labels"])}
        for attribute in facts["attributes"]
    ]
    used = len(_json(labels))
    for tree_level, level in enumerate(facts["levels"]):
        rows = tree.places(tree_level)
        packed_level = {
            "name": visible(level["level"]),
            "n": packed_numbers(fitted[rows]),
            "off": packed_numbers(tables.estimate[rows] - fitted[rows]),
            "moe": packed_numbers(_without_repeats(tables.radius[rows])),
            "total_off": packed_numbers(tables.totals[rows] - fitted[rows].sum(axis=1)),
            "total_moe": packed_numbers(_without_repeats(tables.total_radius[rows, None])),
            "below": packed_numbers(below[rows]),
        }
        names_here = [visible(name) for name in tree.names[rows]]
        used += len(_json(packed_level)) + len(_json(names_here).encode())
        if used > largest:
            break
        names += names_here
        levels.append(packed_level)
    return {
        "title": visible(words.title(facts)),
        "counted": visible(words.counted_words(facts)).rstrip(","),
        "of": visible(facts.get("of") or ""),
        "counts": facts["counts"],
        "of_100": words.of_100(facts),
        "columns": words.columns(facts),
        "hundredths": words.hundredths(facts),
        "cells": facts["cells"],
        "known": bool(facts["known"]),
        "attributes": labels if levels else [],
        "levels": levels,
        "names": names,
    }


def _labels(facts: Facts, labels: list[Any]) -> list[str]:
    """Labels as texts; the last size stands for all larger ones."""
    texts = ["(empty)" if label is None else visible(label_text(label)) for label in labels]
    return [*texts[:-1], f"{texts[-1]} or more"] if facts["counts"] == "groups" else texts


def _without_repeats(rows: Ints) -> Ints:
    """One row if all rows are equal, one number if all numbers are; page.js repeats it."""
    if (rows == rows[:1]).all():
        rows = rows[:1]
    return rows[:, :1] if (rows == rows[0, 0]).all() else rows


def packed_numbers(values: Ints) -> dict[str, Any]:
    """Whole numbers in base 64, little-endian, of 1, 2 or 4 bytes each as the largest needs, else as doubles.

    >>> packed_numbers(np.array([1, -2]))
    {'bytes': 1, 'values': 'Af4='}
    """
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    fitting = (width for width in _WIDTHS if -(2 ** (8 * width - 1)) <= low and high < 2 ** (8 * width - 1))
    width = next(fitting, 8)
    kind = "<f8" if width == 8 else f"<i{width}"
    return {"bytes": width, "values": b64encode(values.astype(kind).tobytes()).decode()}


def _json(value: Any) -> str:
    return in_json(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).translate(_TAGS)


def _text(value: str) -> str:
    """The text, escaped for HTML."""
    return escape(visible(value))


# --- the page without its script -------------------------------------------------------------------------------------


def _body(facts: Facts, shown: int) -> Iterable[str]:
    yield '<a class="skip" href="#place">To the numbers</a>'
    yield f"<header><h1>{_text(words.title(facts))}</h1>"
    yield f"<p>{_text(words.what(facts))} {_text(words.of_100(facts))}</p>"
    yield from (f'<p class="note">{_text(doubt)}</p>' for doubt in facts["doubts"])
    links = "".join(f'<li><a href="{name}" download>{name}</a></li>' for name in _FILES)
    yield f'<nav aria-label="Downloads"><ul class="get">{links}</ul></nav></header>'
    if shown < len(facts["levels"]):
        missing = ", ".join(level["level"] for level in facts["levels"][shown:])
        yield f'<p class="note">Not on this page, for there are too many: {_text(missing)}. They are in table.csv.</p>'
    lacking = "The tree and the bars need JavaScript; the numbers are in table.csv."
    yield f'<noscript><p class="note">{lacking}</p></noscript>'
    yield '<div class="sides" data-needs-script hidden>'
    yield '<nav class="places box" aria-label="Places">'
    yield '<label for="search">Find a place</label>'
    yield '<input type="search" id="search" autocomplete="off" spellcheck="false" aria-controls="hits">'
    yield '<p id="found" class="soft" role="status"></p><ul id="hits" class="hits"></ul>'
    yield '<div id="tree" class="tree"></div></nav>'
    yield '<main class="box" id="place" tabindex="-1" aria-labelledby="chosen"></main></div>'
    yield '<p id="said" class="unseen" role="status"></p>'
    yield from _about(facts)
    yield f"<footer><p class='soft'>{_text(words.citation(facts))}</p></footer>"
    yield '<svg width="0" height="0" aria-hidden="true" focusable="false"><defs>'
    yield '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 6L6 0"/></pattern>'
    yield "</defs></svg>"


def _about(facts: Facts) -> Iterable[str]:
    """The section on protection and exactness."""
    yield '<section class="about" aria-labelledby="how"><h2 id="how">How it was protected</h2><dl>'
    entries = (
        ("Who", words.who_is_protected(facts)),
        ("What it means", " ".join(facts["promise"]["sentences"])),
        ("Price", words.spent(facts)),
        ("Noise", words.noise(facts)),
        ("What adds up", words.adds_up(facts)),
        ("Method", facts["why"]),
    )
    yield "".join(f"<dt>{name}</dt><dd>{_text(text)}</dd>" for name, text in entries)
    yield "</dl><h3>How exact each level is</h3>"
    yield '<div class="scroll"><table class="shares"><thead><tr><th scope="col" class="key">Level</th>'
    heads = ("Places", "Share of the price", "± of a number", "± of a place’s sum")
    yield "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr></thead><tbody>"
    for level, part in zip(facts["levels"], parts_in_words(words.level_shares(facts)), strict=True):
        cells = (f"{level['places']:,}", part, f"{level['moe']:,}", f"{level['total_moe']:,}")
        yield f'<tr><th scope="row" class="key">{_text(level["level"])}</th>'
        yield "".join(f"<td>{_text(cell)}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table></div><h3>What to know</h3><ul>"
    yield "".join(f"<li>{_text(line)}</li>" for line in (*facts["caveats"], *words.NOT_TO_DO)) + "</ul></section>"
