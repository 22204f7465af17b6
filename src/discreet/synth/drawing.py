"""Fit and draw a build at once and say how far that is; else both are done when the rows are first asked for."""

from discreet.engine.protocol import Progress
from discreet.synth.build import Build
from discreet.synth.drawn import Codes
from discreet.synth.model.synthesis import synthesis_of

_FITTED = 0.9  # of the time, about


def fit_now(build: Build, progress: Progress | None) -> None:
    """Fit the model, unless it is there."""
    if "synthesis" in build.__dict__:
        return

    def tell(share: float) -> None:
        if progress is not None:
            progress("fitting the model", _FITTED * share)

    tell(0.0)
    build.__dict__["synthesis"] = synthesis_of(build.plan, build.parts, progress=tell)


def draw_now(build: Build, progress: Progress) -> None:
    """Fit the model and draw the rows, unless they are there."""
    if isinstance(build.__dict__.get("rows_read"), Codes):
        return  # of a file, whose rows are there
    fit_now(build, progress)
    progress("drawing rows", _FITTED)
    _ = build.codes
