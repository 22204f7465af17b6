"""What a check found: numbers with their ±, in sentences, rows, JSON and pictures; frozen, and free to look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.errors import bad
from discreet.learn.privacy import Privacy
from discreet.synth.check.estimates import Statistic
from discreet.terms import price_text

if TYPE_CHECKING:
    from discreet.synth.check.pictures import Picture


@dataclass(frozen=True)
class Check:
    """How far a synthetic table is from the private one.

    `statistics` are all numbers; `not_asked` says what is missing and why, `caveats` what the numbers do and do not
    cover.
    """

    title: str
    statistics: tuple[Statistic, ...]
    not_asked: tuple[str, ...]
    caveats: tuple[str, ...]
    is_held_out: bool
    noun: str
    classes: tuple[str, ...]  # of the target: what most synthetic rows have, first
    level: float
    cost: dict[str, str | None]
    privacy_: Privacy
    receipt: str
    is_replayed: bool

    def find(self, name: str, *columns: str) -> Statistic | None:
        """The statistic of that name, about these columns where some are named; None where it was not asked."""
        for statistic in self.statistics:
            if statistic.name == name and (not columns or set(statistic.columns) == set(columns)):
                return statistic
        return None

    def all_of(self, name: str) -> tuple[Statistic, ...]:
        """All statistics of that name, such as "each pair"."""
        return tuple(statistic for statistic in self.statistics if statistic.name == name)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each statistic."""
        return [statistic.to_json() for statistic in self.statistics]

    def words(self) -> tuple[str, ...]:
        """All of it in plain sentences."""
        from discreet.synth.check.words import check_words

        paid = price_text(self.cost)
        price = f"It was replayed and cost 0 (when first asked, {paid})" if self.is_replayed else f"It cost {paid}"
        return (*check_words(self), *self.not_asked, *self.caveats, f"{price}; receipt {self.receipt}.")

    def pictures(self) -> "list[Picture]":
        """Pictures as SVG, each with its description and its numbers as rows."""
        from discreet.synth.check.pictures import pictures_of

        return pictures_of(self)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "title": self.title,
            "statistics": self.rows(),
            "words": list(self.words()),
            "held_out": self.is_held_out,
            "level": self.level,
            "cost": self.cost,
            "privacy": self.privacy_.to_json(),
            "receipt": self.receipt,
            "replayed": self.is_replayed,
        }

    def to_pandas(self) -> Any:
        """The statistics as a pandas frame, columns joined by commas."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise bad("frame", "needs the package pandas", "no pandas here", "Install discreet[frames].") from None
        return pandas.DataFrame([row | {"columns": ", ".join(row["columns"])} for row in self.rows()])

    @cached_property
    def most_common(self) -> str | None:
        """The class that most synthetic rows have; None without a target."""
        return self.classes[0] if self.classes else None

    def __str__(self) -> str:
        return "\n".join([f"{self.title}:", *self.words()])

    def __repr__(self) -> str:
        means = (f"{name} {statistic.value:.3f} ± {statistic.moe:.3f}" for name, statistic in _means(self.statistics))
        return f"<{self.title}: L1 {', '.join(means)}>"


def _means(statistics: Sequence[Statistic]) -> list[tuple[str, Statistic]]:
    return [(own.name, own) for own in statistics if own.name in ("columns", "pairs", "triples")]
