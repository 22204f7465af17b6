"""`discreet picture`: flip every bit of a picture made of people and show what remains."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import amounts
from discreet.cli.drawing import fact_list, text_table, unwrapped_text
from discreet.cli.reply import AsJson, Reply, Yes

if TYPE_CHECKING:
    from discreet.lecture.mosaic import Mosaic

_MOST = 2**20


def picture(
    flip: Annotated[str | None, typer.Option(metavar="P", help="Probability that a bit is flipped; 0.25.")] = None,
    eps: Annotated[
        str | None, typer.Option("--eps", "--epsilon", metavar="ε", help="ε of a bit, in place of --flip.")
    ] = None,
    size: Annotated[str, typer.Option(metavar="N", help="Bits a side, a power of two.")] = "2048",
    zoom: Annotated[str | None, typer.Option(metavar="Z", help="Side of a block; by default what is needed.")] = None,
    image: Annotated[Path | None, typer.Option(metavar="FILE", help="PNG or JPEG; its middle square is taken.")] = None,
    seed: Annotated[str, typer.Option(metavar="N", help="Seed of the people's bits; the flips take none.")] = "1",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Draw it into FILE, .png or .svg.")
    ] = None,
    json: AsJson = False,
    yes: Yes = False,
) -> Reply:
    """Flip every bit of a picture made of people and show what remains.

    Example: discreet picture --flip 0.38 -o picture.png
    """
    from discreet.operation.curve import MOST_SEED
    from discreet.operation.picture import PictureCall
    from discreet.operation.picture import picture as operation

    people = amounts.whole(seed, "seed", 0, MOST_SEED, such_as=1)
    side = amounts.whole(size, "size", 1, _MOST, such_as=2048)
    block = None if zoom is None else amounts.whole(zoom, "zoom", 1, _MOST, such_as=16)
    call = PictureCall(flip, eps, side, block, image, people, output, yes)
    done = operation(call)
    return Reply(done.to_json(), lambda: _picture(done.value, output, is_own=image is not None))


def _picture(mosaic: "Mosaic", file: Path | None, *, is_own: bool) -> Any:
    """One person's tile before and after, the table of zooms, and the result."""
    from rich.console import Group
    from rich.padding import Padding

    from discreet.operation.picture import MIDDLE

    tiles = zip(mosaic.tile(sent=False), mosaic.tile(sent=True), strict=True)
    header = ("block", "picture", "expected", "correlation")
    rows = [(f"{z.block}²", f"{z.blocks}²", f"{z.expected:.3f}", f"{z.correlation:.3f}") for z in mosaic.zooms]
    image = [("image", MIDDLE)] if is_own else []
    facts = [*image, ("result", mosaic.sentence), *([("drawn", str(file))] if file is not None else [])]
    return Group(
        unwrapped_text(f"{'one person':18}what they send\n" + "\n".join(f"{a}  {b}" for a, b in tiles)),
        Padding(text_table(header, rows, keys=0), (1, 0)),
        fact_list(facts),
    )
