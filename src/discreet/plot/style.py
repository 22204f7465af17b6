"""One look for every picture: few inks, told apart by shape and dash as well as by colour.

Colours after Okabe & Ito (2008), which stay apart for the colour-blind.  Figures are made without pyplot: no window, no
global state, the Agg canvas.
"""

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import bad
from discreet.inert import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
INK, FAINT = "#222222", "#6b6b6b"
AS_TEXT: Any = {"parse_math": False, "usetex": False}  # a $ in a name starts no formula, a \\ no TeX
_SIZE = (9.0, 5.6)
_DPI = 150
_RULES: Any = {
    "font.size": 11.5,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "svg.fonttype": "none",
    "svg.hashsalt": "discreet",
}


@dataclass(frozen=True)
class Pen:
    """How one curve is drawn."""

    colour: str
    marker: str
    dash: str


PENS = (Pen("#D55E00", "o", "solid"), Pen("#0072B2", "s", "dashed"), Pen("#007A5A", "D", "dashdot"))


def rules() -> Any:
    """The context in which every picture is made and written."""
    import matplotlib

    return matplotlib.rc_context(_RULES)


def empty_figure() -> "tuple[Figure, Axes]":
    """A figure with one set of axes, to be filled inside `rules()`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, dpi=_DPI)
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def checked_path(path: Path, *, flag: str = "plot") -> Path:
    """The path, if a picture can be written there: a known suffix, a folder that exists, the package that draws."""
    if path.suffix.lower() not in SUFFIXES:
        raise bad(flag, "must be a file ending in .png or .svg", str(path), "Give a name such as errors.png.")
    if not path.parent.is_dir():
        raise bad(flag, "must lie in a folder that exists", str(path), "Make the folder first.")
    if find_spec("matplotlib") is None:
        raise bad(flag, "needs the package matplotlib", str(path), "Install discreet[plot].")
    return path


def write(figure: "Figure", path: Path, *, alt: str) -> None:
    """The picture as PNG or SVG, its description stored inside for who cannot see it."""
    with rules(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # drawn as a box, which is seen
        figure.savefig(checked_path(path), metadata={"Title": "Discreet", "Description": visible(alt)})
