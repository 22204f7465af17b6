"""Flip every bit of a picture made of people and draw what remains; no table is read and nothing is charged."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet import amounts, outputs
from discreet.errors import bad
from discreet.lecture.mosaic import Mosaic, bits_of, flip_text, mosaic
from discreet.operation.curve import require_picture
from discreet.operation.reply import Reply, envelope

SIZES = (128, 4096)
DEFAULT_FLIP = Fraction(1, 4)
_LARGEST_EPSILON = 20
CAVEATS = (
    "Every bit is protected by itself; a person's tile costs the sum over its bits, so one tile of many bits is hardly "
    "protected where one bit is.",
    "Flips come from the system and take no seed, so the picture differs a little from run to run.",
)
MIDDLE = "Of your picture the middle square was taken."


@dataclass(frozen=True)
class PictureCall:
    """How bits are flipped, what of, and the file to draw."""

    flip: str | None = None
    epsilon: str | None = None
    size: int = 2048
    zoom: int | None = None
    image: Path | None = None
    seed: int = 1
    output: Path | None = None
    replaces: bool = False  # what is there


def picture(call: PictureCall) -> Reply[Mosaic]:
    """Flip, zoom out, unbias and, where a file is given, draw."""
    flip, epsilon = _strength(call)
    _require_power("size", call.size, *SIZES, such_as=2048)
    if call.zoom is not None:
        _require_power("zoom", call.zoom, 1, call.size // 16, such_as=16)
    require_picture(call.output, replaces=call.replaces)
    if call.output is not None and call.image is not None:
        outputs.require_apart(call.output, call.image, "must be another file than the image", flag="output")
    result = mosaic(_bits(call), flip=flip, epsilon=epsilon, zoom=call.zoom, seed=call.seed)
    alt: str | None = None
    if call.output is not None:
        from discreet.plot.style import write

        how = f"flipped with probability {flip_text(flip)}" if flip else f"randomised at ε = {call.epsilon}"
        alt = result.alt
        with outputs.replacing(call.output, None) as draft:
            write(result.figure(f"Every bit is {how}"), draft, alt=alt)
    facts: dict[str, Any] = result.to_json()
    shown = None if call.output is None else str(call.output)
    caveats = [*CAVEATS, *([] if call.image is None else [MIDDLE])]
    data = envelope(dataset="invented" if call.image is None else None, **facts, alt=alt, file=shown, caveats=caveats)
    return Reply(data, result)


def _strength(call: PictureCall) -> tuple[Fraction | None, Fraction | None]:
    """The flip probability or the ε, one of them."""
    if call.flip is not None and call.epsilon is not None:
        raise bad("flip", "must be left out where --eps is given", call.flip, "Give --flip or --eps.")
    if call.epsilon is not None:
        epsilon = amounts.epsilon(call.epsilon)
        if epsilon > _LARGEST_EPSILON:
            fix = "Give a number such as 1: beyond, no bit of a picture is ever flipped."
            raise bad("epsilon", f"must be at most {_LARGEST_EPSILON} here", call.epsilon, fix)
        return None, epsilon
    if call.flip is None:
        return DEFAULT_FLIP, None
    flip = amounts.inner_probability(call.flip, "flip")
    if flip == Fraction(1, 2):
        raise bad("flip", "must not be 0.5", call.flip, "Then bits say nothing at all: take 0.45 or 0.51, say.")
    least = Fraction(1, 10**9)
    if not least <= flip <= 1 - least:
        raise bad("flip", "must be 1e-9 to 1 - 1e-9", call.flip, "Give a number such as 0.25.")
    return flip, None


def _bits(call: PictureCall) -> Any:
    """People's bits, of their own picture or of the built-in one."""
    if call.image is None:
        from discreet.lecture.drawn import landscape

        return bits_of(landscape(call.size), call.seed)
    from discreet.lecture.image import darkness

    return bits_of(darkness(call.image, call.size), call.seed)


def _require_power(name: str, value: int, least: int, largest: int, *, such_as: int) -> None:
    if not least <= value <= largest or value & (value - 1):
        raise bad(name, f"must be a power of two from {least} to {largest}", value, f"Give a number such as {such_as}.")
