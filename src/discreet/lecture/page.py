"""A lecture as one HTML page: every figure that it prints beside the one that Discreet computes, and its pictures.

The page makes no request; its only script, if it has one, moves the ε of the two worlds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec

from discreet.fix import command_line
from discreet.inert import visible
from discreet.lecture.catalog import Lecture
from discreet.lecture.document import document, html_table
from discreet.lecture.picture import Picture
from discreet.lecture.section import Section, stand_ins
from discreet.lecture.worlds_page import WORLDS_SCRIPT, WORLDS_STYLE, moving_worlds
from discreet.synth.report.style import STYLE

_OWN = """
.loose { border-left: 3px solid #d55e00; padding-left: .75rem; }
code { overflow-wrap: anywhere; }
.picture { margin: 1.25rem 0; }
.picture > h3 { margin-bottom: .5rem; }
.said { color: var(--faint); font-size: .9rem; }
.far { overflow-x: auto; }
.hint { display: none; color: var(--faint); font-size: .8rem; margin: .25rem 0; }
@media (max-width: 38rem) { .hint { display: block; } }
"""
_TOLD = (
    "What the lectures print stands beside what Discreet computes with the parts that really run. Those figures are "
    "laws and prices, the same on every run. What pictures call measured, and what attacks achieve, was drawn when "
    "this page was made, with the noise that really runs, and differs a little from run to run."
)
_HINT = "Move the picture sideways to see all of it."
_UNDRAWN = "Here are only tables: pictures need the package matplotlib, which discreet[plot] installs."


@dataclass
class _Needs:
    """What the parts of a page need of it, gathered while they are written."""

    can_draw: bool
    pictures: int = 0
    worlds: str = ""
    has_images: bool = False
    styles: list[str] = field(default_factory=list)


def page(lecture: Lecture, sections: Sequence[Section]) -> str:
    """The HTML of the page; the first picture that can be dragged can be, any other is as it is printed."""
    title = f"Lecture {lecture.number}. {lecture.title}"
    needs = _Needs(find_spec("matplotlib") is not None)
    parts = [_section(section, needs) for section in sections]
    has_pictures = any(section.pictures for section in sections)
    files = [f"<p>{escape(text)}</p>"] if (text := stand_ins(sections)) else []
    undrawn = [f"<p>{_UNDRAWN}</p>"] if has_pictures and not needs.can_draw else []
    body = [f"<h1>{escape(title)}</h1>", f"<p>{_TOLD}</p>", *files, *undrawn, *parts]
    return document(
        title,
        "\n".join(body),
        style="".join((STYLE, _OWN, *dict.fromkeys(needs.styles))),
        script=WORLDS_SCRIPT if needs.worlds else "",
        data=needs.worlds,
        has_images=needs.has_images,
    )


def _section(section: Section, needs: _Needs) -> str:
    parts = [f"<h2>{escape(section.title)}</h2>", f"<p>{escape(section.text)}</p>", _table(section)]
    if section.loose:
        parts.append(f'<p class="loose">Where a lecture is loose: {escape(section.loose)}</p>')
    parts += [_picture(picture, needs) for picture in section.pictures]
    if section.command:
        parts.append(f"<p>See for yourself: <code>{escape(command_line(section.command))}</code></p>")
    return "\n".join(parts)


def _table(section: Section) -> str:
    rows = tuple((row.figure, row.printed, row.computed) for row in section.rows)
    return html_table(("figure", "the lectures", "Discreet"), rows)


def _picture(picture: Picture, needs: _Needs) -> str:
    """The heading, the picture, what it says, and its table behind a line that opens."""
    needs.pictures += 1
    heading = f"<h3>{escape(visible(picture.title))}</h3>"
    if picture.draggable is not None and not needs.worlds:
        part = moving_worlds(picture.draggable.epsilon, picture.draggable.delta)
        needs.worlds = part.data
        needs.styles.append(WORLDS_STYLE)
        inside = f'<p>{part.intro}</p><div class="moving">{part.controls}</div>{_details(part.table)}'
        return f'<div class="picture">{heading}{inside}</div>'
    table = html_table(picture.header, picture.rows)
    said = f'<figcaption class="said">{escape(visible(picture.caption))}</figcaption>'
    if not needs.can_draw:
        return f'<div class="picture">{heading}<figure>{table}{said}</figure></div>'
    drawing = _drawing(picture, needs)
    seen = f'<div class="far" tabindex="0" role="group" aria-label="{_HINT}">{drawing}</div><p class="hint">{_HINT}</p>'
    return f'<div class="picture">{heading}<figure>{seen}{said}</figure>{_details(table)}</div>'


def _drawing(picture: Picture, needs: _Needs) -> str:
    """The picture as lines and shapes of the page, or as an image inside it."""
    from discreet.plot.inline import STYLE as DRAWN_STYLE
    from discreet.plot.inline import png_of, svg_of

    needs.styles.append(DRAWN_STYLE)
    if picture.has_pixels:
        needs.has_images = True
        return png_of(picture.figure, alt=picture.alt)
    return svg_of(picture.figure, alt=picture.alt, name=f"picture{needs.pictures}")


def _details(table: str) -> str:
    return f"<details><summary>The same as a table</summary>{table}</details>"
