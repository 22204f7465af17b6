"""Releases of a rehearsal: planned, measured, fitted, checked and published by the real code, then stamped."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.engine.protocol import Progress
from discreet.rehearsal import files, stamp
from discreet.release.face import Releasing
from discreet.release.quote import ReleaseQuote
from discreet.release.release import Release


@dataclass(frozen=True, eq=False, repr=False)
class RehearsedRelease(Release):
    """Tables that add up, over invented rows."""

    @cached_property
    def doubts(self) -> list[str]:
        """The stamp, and what `Release.doubts` says: where they stand, readers look first."""
        return [stamp.SENTENCE, *super().doubts]

    def to_arrow(self) -> Any:
        """As `Release.to_arrow`, with the stamp in every row and in the metadata."""
        return files.marked(super().to_arrow())

    def to_pandas(self) -> Any:
        """As `Release.to_pandas`, with the stamp in every row and in `attrs`."""
        frame = super().to_pandas()
        frame.attrs["discreet"] = stamp.JSON | frame.attrs["discreet"]
        return frame

    def save(self, folder: Path | str, *, replace: bool = False) -> tuple[Path, ...]:
        """As `Release.save`, stamped: `discreet release check` and `publish` do not take it for a release."""
        return files.save(self, Path(folder), replace=replace)

    def publish(self, folder: Path | str, *, replace: bool = False) -> tuple[Path, ...]:
        """As `Release.publish`, every file stamped."""
        return files.publish(self, Path(folder), replace=replace)

    def __repr__(self) -> str:
        return f"<{stamp.STAMP} on invented rows: {super().__repr__().removeprefix('<')}"


@dataclass(frozen=True, repr=False)
class RehearsedReleaseQuote(ReleaseQuote):
    """A quote whose "left now" is that of the throw-away ledger."""

    def to_json(self) -> dict[str, Any]:
        """As `ReleaseQuote.to_json`, the stamp first."""
        return stamp.JSON | super().to_json()

    def lines(self) -> list[str]:
        """As `ReleaseQuote.lines`, the stamp first."""
        return [stamp.SENTENCE, *super().lines()]


@dataclass(frozen=True, repr=False)
class RehearsedReleasing(Releasing):
    """Tables that add up, not built yet, over invented rows."""

    def quote(self, *, analyst: str | None = None, **price: Any) -> ReleaseQuote:
        """As `Releasing.quote`, stamped."""
        return stamp.as_kind(RehearsedReleaseQuote, super().quote(analyst=analyst, **price))

    def build(self, *, analyst: str | None = None, progress: Progress | None = None, **price: Any) -> RehearsedRelease:
        """As `Releasing.build`, stamped."""
        real = super().build(analyst=analyst, progress=progress, **price)
        release = stamp.as_kind(RehearsedRelease, real)
        vars(release)["fitted"] = real.fitted  # computed already
        return release

    def __repr__(self) -> str:
        return f"<{stamp.STAMP} on invented rows: {super().__repr__().removeprefix('<')}"
