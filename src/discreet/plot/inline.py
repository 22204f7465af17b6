"""Pictures as parts of a page that allows no style attributes and no requests, right in light and in dark."""

import io
import re
import warnings
import xml.etree.ElementTree as ET
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from discreet.inert import visible
from discreet.plot.style import rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DARK = {  # every ink of the pictures and what it is on a dark page
    "#222222": "#eeeeee",
    "#6b6b6b": "#b0b0b0",
    "#dddddd": "#444444",
    "#ffffff": "#181818",
    "#d55e00": "#f0a050",
    "#0072b2": "#56b4e9",
    "#007a5a": "#4cc9a0",
    "#b9d3e6": "#24435a",
    "#e4e4e4": "#3a3a3a",
}
# Without the class of the picture before them: what a mark refers to is matched without what it stands in.
_INKS = "\n".join(
    f'  [{part}="{light}"] {{ {part}: {dark}; }}' for light, dark in _DARK.items() for part in ("fill", "stroke")
)
STYLE = f"""
.far svg.drawn, .far img {{ width: 100%; min-width: 34rem; max-width: none; height: auto; display: block; }}
.far img {{ min-width: 44rem; background: #fff; border-radius: .3rem; }}
svg.drawn text {{ font-family: system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{
{_INKS}
}}
"""
_PIXELS_AN_INCH = 88
_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"


def svg_of(figure: "Figure", *, alt: str, name: str) -> str:
    """The picture without its heading and caption, which a page says itself; `name` keeps its marks its own.

    Every style attribute becomes presentation attributes: a policy that knows styles by their hash drops the others.
    """
    _without_words(figure)
    drawn = io.StringIO()
    with rules(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(drawn, format="svg", bbox_inches="tight", pad_inches=0.08, metadata={"Date": None})
    root = ET.fromstring(drawn.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{_SVG}style" or not child.tag.startswith(_SVG) or child.tag == f"{_SVG}metadata":
                parent.remove(child)
    box = root.attrib["viewBox"]
    for element in root.iter():
        _plain(element, name)
    root.attrib.clear()
    root.attrib |= {"class": "drawn", "viewBox": box, "role": "img", "aria-label": visible(alt)}
    root.attrib |= {"stroke-linejoin": "round"}
    title = ET.Element("title")
    title.text = visible(alt)
    root.insert(0, title)
    text = ET.tostring(root, encoding="unicode", short_empty_elements=True)
    return re.sub(r"\s*\n\s*", "\n", text)


def png_of(figure: "Figure", *, alt: str) -> str:
    """The picture as an image inside the page, with its heading and caption left to the page."""
    _without_words(figure)
    drawn = io.BytesIO()
    with rules():
        figure.savefig(drawn, format="png", bbox_inches="tight", pad_inches=0.08, dpi=_PIXELS_AN_INCH)
    return f'<img src="data:image/png;base64,{b64encode(drawn.getvalue()).decode()}" alt="{escape(visible(alt))}">'


def _without_words(figure: "Figure") -> None:
    """Removes the heading above all axes and the caption below them."""
    figure.suptitle("")
    for text in list(figure.texts):
        text.remove()


def _plain(element: "ET.Element", name: str) -> None:
    """No name spaces, no style attribute, and marks whose names no other picture of the page has."""
    element.tag = element.tag.removeprefix(_SVG)
    style = element.attrib.pop("style", "")
    for declaration in filter(None, (part.strip() for part in style.split(";"))):
        key, _, value = declaration.partition(":")
        if key.strip() != "font-family":
            element.set(key.strip(), value.strip())
    link = element.attrib.pop(_LINK, None)
    if link is not None:
        element.set("href", f"#{name}-{link.removeprefix('#')}")
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.attrib['id']}")
    for key, value in element.attrib.items():
        if value.startswith("url(#"):
            element.set(key, f"url(#{name}-{value.removeprefix('url(#')}")
