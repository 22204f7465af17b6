"""A lecture as one HTML page: every figure that it prints beside the one that Discreet computes.

The page makes no request; its only script, if it has one, moves the ε of the two worlds.
"""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape

from discreet.fix import command_line
from discreet.lecture.catalog import Lecture
from discreet.lecture.section import Section
from discreet.synth.report.style import STYLE

_OWN = ".loose { border-left: 3px solid #d55e00; padding-left: .75rem; }\ncode { overflow-wrap: anywhere; }\n"


def page(lecture: Lecture, sections: Sequence[Section]) -> str:
    """The HTML of the page."""
    title = f"Lecture {lecture.number}. {lecture.title}"
    style = STYLE + _OWN
    policy = f"default-src 'none'; style-src 'sha256-{_digest(style)}'; base-uri 'none'; form-action 'none'"
    told = (
        "What the lecture prints stands beside what Discreet computes with the parts that really run. The figures are "
        "laws and prices, not draws: they are the same on every run."
    )
    body = [f"<h1>{escape(title)}</h1>", f"<p>{told}</p>", *(_section(section) for section in sections)]
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body>\n<main>\n"
    )
    return head + "\n".join(body) + "\n</main></body></html>\n"


def _section(section: Section) -> str:
    parts = [f"<h2>{escape(section.title)}</h2>", f"<p>{escape(section.text)}</p>", _table(section)]
    if section.loose:
        parts.append(f'<p class="loose">Where the lecture is loose: {escape(section.loose)}</p>')
    if section.command:
        parts.append(f"<p>See for yourself: <code>{escape(command_line(section.command))}</code></p>")
    return "\n".join(parts)


def _table(section: Section) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(row.figure)}</th><td>{escape(row.printed)}</td><td>{escape(row.computed)}</td></tr>"
        for row in section.rows
    )
    head = "<thead><tr><th>figure</th><th>the lecture</th><th>Discreet</th></tr></thead>"
    return f'<div class="wide"><table>{head}<tbody>{rows}</tbody></table></div>'


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
