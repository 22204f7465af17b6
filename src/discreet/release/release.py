"""A release: its measured numbers, the fitted table and the ± of every number.

Three tables of one shape, a row for each place and a column for each cell:

    estimate   unbiased, from what was measured (unbiased.py);  ± `radius` holds with the stated probability
    fitted     whole, not negative, and every place the sum of those in it
    noisy      the measurement itself, with a column for each number of each marginal
"""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.ndarrays import Ints
from discreet.release.caps import counted_of
from discreet.release.check import Violations
from discreet.release.doubts import doubts
from discreet.release.fit import choice
from discreet.release.plan import ReleasePlan

if TYPE_CHECKING:
    from discreet.release.resimulated import Resimulated


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Tables that add up, with their errors and their cost."""

    plan: ReleasePlan
    noisy: Ints
    receipt: str | None = None
    replayed: bool = False
    remaining: dict[str, Any] | None = None
    toml: Path | None = None  # the metadata, whose files no output may replace
    approximate: "Resimulated | None" = None  # of `fitted`, beside the proven ± of `estimate`

    @cached_property
    def fitted(self) -> Ints:
        """The table to publish: whole, not negative, and it adds up.  A function of the measured numbers."""
        return choice.table_of(self.plan, self.noisy)

    @cached_property
    def estimate(self) -> Ints:
        """The unbiased estimate of every cell; 0 where nothing can be."""
        return self.plan.margins.cells(self.noisy)

    @property
    def radius(self) -> Ints:
        """± of every estimate, at the level of the plan."""
        return self.plan.margins.radius

    @cached_property
    def totals(self) -> Ints:
        """The unbiased estimate of every place's total, nearer than the sum of its cells' estimates."""
        return self.plan.margins.totals(self.noisy)

    @property
    def total_radius(self) -> Ints:
        """± of every place's total."""
        return self.plan.margins.total_radius

    @property
    def low(self) -> Ints:
        """The lower ends, cut at 0."""
        return np.asarray(np.maximum(self.estimate - self.radius, 0), dtype=np.int64)

    @property
    def high(self) -> Ints:
        """The upper ends, cut at 0."""
        return np.asarray(np.maximum(self.estimate + self.radius, 0), dtype=np.int64)

    @cached_property
    def violations(self) -> Violations:
        """How many sums, signs and totals the fitted table breaks: none."""
        return self.plan.known.violations(self.plan.subject.tree, self.fitted)

    def resimulated(self, runs: int | None = None, *, progress: Progress | None = None) -> "Release":
        """The release with an approximate ± of every fitted number, `n_moe_approx` in its tables.

        The noise is drawn again `runs` times, as if the fitted table were the exact one.  This costs nothing and
        guarantees nothing (docs/proofs/release/resimulated.md).
        """
        from discreet.release.resimulated import RUNS, resimulate

        approximate = resimulate(self.plan, self.noisy, runs=RUNS if runs is None else runs, progress=progress)
        return replace(self, approximate=approximate)

    @cached_property
    def doubts(self) -> list[str]:
        """Sentences on public numbers that contradict the measured ones."""
        return doubts(self.plan, self.noisy)

    # --- forms -------------------------------------------------------------------------------------------------------

    def to_arrow(self) -> Any:
        """An Arrow table, a row for each cell of each place: level, path, labels, n, n_moe, n_low, n_high, n_estimate.

        The schema's metadata `discreet` says what n counts where a cap can bind, as JSON.
        """
        from discreet.release.publish import tidy

        return tidy.table(self).replace_schema_metadata({"discreet": json.dumps({"of": counted_of(self.plan.subject)})})

    def to_pandas(self) -> Any:
        """The same as a pandas table; `attrs["discreet"]` says what n counts."""
        frame = self.to_arrow().to_pandas()
        frame.attrs["discreet"] = {"of": counted_of(self.plan.subject)}
        return frame

    def to_polars(self) -> Any:
        """The same as a Polars table."""
        try:
            import polars
        except ImportError:
            raise bad("frame", "needs the package polars", "no polars here", "Install discreet[frames].") from None
        return polars.from_arrow(self.to_arrow())

    def save(self, folder: Path | str, *, replace: bool = False) -> tuple[Path, ...]:
        """Write the built release: its facts, its table and its measurements; return the paths."""
        from discreet.release.publish import files

        return files.save(self, folder, replace=replace)

    def publish(self, folder: Path | str, *, replace: bool = False) -> tuple[Path, ...]:
        """Write those files with CSV beside them, a page and a report; return the paths."""
        from discreet.release.publish import files

        files.require_harmless(Path(folder), files.PUBLISHED, self.toml)
        files.save(self, folder, replace=replace)
        return files.publish(folder, self.plan.subject.schema, folder, replace=True, toml=self.toml)

    def __repr__(self) -> str:
        subject, of = self.plan.subject, counted_of(self.plan.subject)
        counted = "" if of is None else f"; {of}"
        return (
            f"<release of {subject.schema.name} over {subject.spec.hierarchy}: {len(subject.tree):,} places × "
            f"{subject.cells:,} cells{counted}; epsilon {self.plan.terms.epsilon}; receipt {self.receipt}>"
        )
