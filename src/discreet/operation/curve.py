"""Measure a curve of the lectures and draw it where a picture is wanted; no table is read and nothing is charged."""

from dataclasses import dataclass
from pathlib import Path

from discreet import outputs
from discreet.errors import bad
from discreet.lecture.curve import Curve
from discreet.lecture.curves import CURVES
from discreet.lecture.curves import curve as measure
from discreet.operation.reply import Reply, envelope

MOST_SEED = 2**63 - 1
PAGES = (".html", ".htm")
CAVEATS = ("People are invented; the noise is the system's own, so measured points differ from run to run.",)


@dataclass(frozen=True)
class CurveCall:
    """A curve to be measured, and the picture to write."""

    name: str
    epsilons: tuple[str, ...] = ()
    seed: int = 1
    output: Path | None = None
    replaces: bool = False  # what is there


def curve(call: CurveCall) -> Reply[Curve]:
    """Measure and, where a file is given, draw; what could not be written is refused before anything runs."""
    require_picture(call.output, replaces=call.replaces)
    _require_name(call.name)
    measured = measure(call.name, call.epsilons, seed=call.seed)
    if call.output is not None:
        from discreet.plot.style import write

        with outputs.replacing(call.output, None) as draft:
            write(measured.figure(), draft, alt=measured.alt)
    shown = None if call.output is None else str(call.output)
    data = envelope(dataset="invented", **measured.to_json(), alt=measured.alt, file=shown, caveats=list(CAVEATS))
    return Reply(data, measured)


def _require_name(name: str) -> None:
    """Refuses what is neither a curve nor a picture of a promise."""
    from discreet.operation.promise import PROMISES
    from discreet.schema.words import suggestion

    if name not in CURVES:
        names = [*CURVES, *PROMISES]
        closest = suggestion(name, names)
        fix = f"Did you mean {closest}?" if closest is not None else "Take response, for example."
        raise bad("curve", f"must be one of {', '.join(names)}", name, fix)


def require_picture(file: Path | None, *, replaces: bool) -> None:
    """Refuses a file that no picture could be written to."""
    if file is None:
        return
    from discreet.plot.style import checked_path

    if file.suffix.lower() in PAGES:
        rule = "must be a file ending in .png or .svg: only curve worlds takes .html"
        raise bad("output", rule, str(file), f"Give a name such as {file.stem}.svg.")
    checked_path(file, flag="output")
    outputs.require_harmless(file)
    if file.is_file() and not replaces:
        raise bad("output", "must not be there yet", str(file), "Add --yes to replace it, or give another name.")
