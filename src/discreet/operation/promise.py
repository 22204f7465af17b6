"""Draw a promise: two worlds and their band, beliefs after an answer, the odometer of a budget."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet import amounts, outputs
from discreet.errors import bad
from discreet.lecture.picture import Picture
from discreet.lecture.pictures import odometer_picture, posterior_picture, two_worlds_picture
from discreet.operation.curve import PAGES, require_picture
from discreet.operation.reply import Reply, envelope

PROMISES = ("worlds", "posterior", "odometer")
CAVEATS = ("These are laws and prices, not draws: they are the same on every run.",)
_LEAST, _LARGEST = Fraction(1, 100), 20  # beyond, one line covers the other or none of the noise is seen
_BUDGET = "3"
_CHARGES = (("people by ward", "0.5"), ("average age", "0.25"), ("most common diagnosis", "0.1"))


@dataclass(frozen=True)
class PromiseCall:
    """A picture's name and its promise; without ε it has the usual ones."""

    name: str
    epsilons: tuple[str, ...] = ()
    delta: str | None = None
    budget: str | None = None
    output: Path | None = None
    replaces: bool = False  # what is there


def promise(call: PromiseCall) -> Reply[Picture]:
    """The picture with its table and, where a file is given, drawn into it; nothing is charged."""
    is_page = call.name == "worlds" and call.output is not None and call.output.suffix.lower() in PAGES
    if is_page and call.output is not None:
        _require_page(call.output, replaces=call.replaces)
    else:
        require_picture(call.output, replaces=call.replaces)
    picture = _picture(call)
    if call.output is not None:
        with outputs.replacing(call.output, None) as draft:
            if is_page:
                draft.write_text(_page(picture), encoding="utf-8")
            else:
                from discreet.plot.style import write

                write(picture.figure, draft, alt=picture.alt)
    shown = None if call.output is None else str(call.output)
    facts: dict[str, Any] = picture.to_json()
    return Reply(envelope(dataset=None, curve=call.name, **facts, file=shown, caveats=list(CAVEATS)), picture)


def require_fitting(name: str, delta: str | None, budget: str | None) -> None:
    """Refuses a δ that no picture of that name has, and a budget likewise."""
    if delta is not None and name != "worlds":
        raise bad("delta", "goes with worlds alone", delta, "Leave --delta out.")
    if budget is not None and name != "odometer":
        raise bad("budget", "goes with odometer alone", budget, "Leave --budget out.")


def _picture(call: PromiseCall) -> Picture:
    require_fitting(call.name, call.delta, call.budget)
    for epsilon in call.epsilons if call.name != "odometer" else ():
        if not _LEAST <= amounts.epsilon(epsilon) <= _LARGEST:
            raise bad("epsilon", f"must be {float(_LEAST):g} to {_LARGEST} here", epsilon, "Give a number such as 1.")
    if call.name == "worlds":
        if len(call.epsilons) > 1:
            raise bad("epsilon", "must be one for worlds", len(call.epsilons), "A page has them all: -o worlds.html.")
        return two_worlds_picture(call.epsilons[0] if call.epsilons else 1, call.delta or 0)
    if call.name == "posterior":
        return posterior_picture(call.epsilons or ("0.1", "1", "3"))
    charges = [(f"answer {place}", cost) for place, cost in enumerate(call.epsilons, 1)] or list(_CHARGES)
    return odometer_picture(charges, amounts.epsilon(call.budget or _BUDGET, "budget"))


def _page(picture: Picture) -> str:
    from discreet.lecture.worlds_page import two_worlds_page

    if picture.draggable is None:  # pragma: no cover
        raise TypeError("Two worlds can be dragged.")
    return two_worlds_page(picture.draggable.epsilon, picture.draggable.delta)


def _require_page(file: Path, *, replaces: bool) -> None:
    if not file.parent.is_dir():
        raise bad("output", "must lie in a folder that exists", str(file), "Make the folder first.")
    outputs.require_harmless(file)
    if file.is_file() and not replaces:
        raise bad("output", "must not be there yet", str(file), "Add --yes to replace it, or give another name.")
