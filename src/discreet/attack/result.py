"""What an attack achieved: raw, under noise at each ε, by blind guessing, and at most under the promise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from discreet import outputs
from discreet.attack import words
from discreet.plot.attack import Chart, Column, attack_picture

RAW = "raw"  # the key of the attack on what is published without noise


@dataclass(frozen=True)
class Result:
    """One attack, measured.

    `raw` is what it achieves on what is published without noise, `private` the same by ε, `baseline` what blind
    guessing achieves, `ceiling` what the promise allows at most, by ε: None where it bounds nothing.  `intervals` hold
    95 % intervals, or what `intervals_are` says, by the keys of `private` and "raw", over `trials` independent attacks.
    `units` names the unit and the group that the ceiling is for, `measure` is what the numbers are in words.
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
    bounds_any_attacker: bool = True  # else `ceiling` is for what this attack does alone
    intervals_are: str = "95 %"  # else what the ends of `intervals` are
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
            "intervals_are": self.intervals_are,
            "units": self.units,
            "trials": self.trials,
            "sentence": self.sentence,
            "notes": list(self.notes),
            "details": dict(self.details),
            "private_to_the_curator": self.of_real_data,
        }

    @property
    def columns(self) -> tuple[Column, ...]:
        """The numbers of the picture, from left to right."""
        keys = [] if self.raw is None else [(RAW, self.without, self.raw)]
        keys += [(epsilon, f"ε = {epsilon}", value) for epsilon, value in self.private.items()]
        return tuple(
            Column(label, value, *self.intervals.get(key, (value, value)), ceiling=self.ceiling.get(key))
            for key, label, value in keys
        )

    def picture(self) -> Any:
        """The attack's own curves where it has some, else a point for each column with its interval."""
        return attack_picture(
            self.columns if self.chart is None else self.chart,
            title=f"{self.name.replace('_', ' ')}: {self.metric}",
            measure=self.metric,
            guessing=self.baseline,
            caption=words.caption(self),
        )

    def plot(self, path: str | Path) -> Path:
        """Write the picture as PNG or SVG; a file that is there is replaced, unless it is an input of a dataset."""
        from discreet.plot.style import checked_path, write

        file = checked_path(Path(path))
        with outputs.replacing(file, flag="plot") as draft:
            write(self.picture(), draft, alt=words.alt_text(self))
        return file
