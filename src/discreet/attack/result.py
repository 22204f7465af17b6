"""What an attack achieved: raw, under noise at each ε, by blind guessing, and at most under the promise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from discreet.attack import words

RAW = "raw"  # the key of the attack on what is published without noise


@dataclass(frozen=True)
class Line:
    """One curve of an attack's own picture: points, and how the curve is called."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """Curves that show more than one number a column: worlds after each table, errors of repeated questions."""

    x: str
    y: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    marks: tuple[str, ...] = ()  # names of the points on the x axis, where it has no scale


@dataclass(frozen=True)
class Result:
    """One attack, measured.

    `raw` is what it achieves on what is published without noise, `private` the same by ε, `baseline` what blind
    guessing achieves, `ceiling` what the promise allows at most, by ε: None where it bounds nothing.  `intervals` hold
    95 % intervals by the keys of `private` and "raw", over `trials` independent attacks.  `units` names the unit and
    the group that the ceiling is for, `measure` is what the numbers are in words.
    """

    name: str
    metric: str  # one word or two, such as "rows recovered"
    measure: str  # a whole description, such as "share of 128 secret bits that are recovered"
    raw: float | None
    private: Mapping[str, float]
    baseline: float | None
    ceiling: Mapping[str, float | None]
    units: str
    trials: int
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    better: Literal["higher", "lower"] = "higher"  # which way the attacker wins
    without: str = "without noise"  # what `raw` lacks, after a number
    chart: Chart | None = None
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)  # further numbers, by name, as JSON has them
    of_real_data: bool = False  # a success rate is itself a function of rows: for the curator alone

    @property
    def sentence(self) -> str:
        """The result in words; a failed attack found nothing, which is not the same as safe."""
        return words.sentence(self)

    def to_json(self) -> dict[str, Any]:
        """One object for programs."""
        return {
            "attack": self.name,
            "metric": self.metric,
            "measure": self.measure,
            "better": self.better,
            "raw": self.raw,
            "raw_is": self.without,
            "private": dict(self.private),
            "baseline": self.baseline,
            "ceiling": dict(self.ceiling),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "units": self.units,
            "trials": self.trials,
            "sentence": self.sentence,
            "notes": list(self.notes),
            "details": dict(self.details),
            "private_to_the_curator": self.of_real_data,
        }

    def plot(self, path: str | Path) -> Path:
        """Write the picture as PNG or SVG."""
        from discreet.plot.attack import attack_picture
        from discreet.plot.style import checked_path, write

        file = checked_path(Path(path))
        write(attack_picture(self), file, alt=words.alt_text(self))
        return file
