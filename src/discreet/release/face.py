"""Releases in Python: `plan` and `quote` tell price and error, `build` measures and fits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.release import build, given
from discreet.release.known import Known, known_of
from discreet.release.plan import EVEN, ReleasePlan, plan_of
from discreet.release.quote import ReleaseQuote, quote_of
from discreet.release.release import Release
from discreet.release.subject import ReleaseSpec, Subject, subject
from discreet.table import Table


@dataclass(frozen=True, repr=False)
class Releasing:
    """A release that is not built yet; `plan` and `quote` cost nothing and read no data."""

    table: Table
    spec: ReleaseSpec

    @cached_property
    def subject(self) -> Subject:
        """What would be measured, and its sensitivity; refused where it cannot be bounded."""
        return subject(self.spec, self.table.schema)

    def plan(
        self,
        *,
        epsilon: Any = None,
        delta: Any = None,
        level: Any = None,
        share: Mapping[str, Any] | None = None,
        sharing: str = EVEN,
        method: str = "auto",
        total: int | None = None,
        leaf_totals: Mapping[str, int] | Path | str | None = None,
        zeros: Iterable[Mapping[str, str]] | Path | str | None = None,
    ) -> ReleasePlan:
        """The plan at that price.

        `share` locks the share of ε of a level; `sharing` ("even" or "least" error) divides the rest.  δ is a hundredth
        of the budget's unless given.  Public facts cost nothing: `total`, the number at the top; `leaf_totals`, the
        number of every leaf; `zeros`, impossible combinations of places and labels, one on each line.  The last two may
        be names of public CSV files.
        """
        if epsilon is None:
            raise bad("epsilon", "must be given", epsilon, "Give a number such as 1 or 0.1.")
        return plan_of(
            self.subject,
            self.table.terms(epsilon, delta, level),
            share=share,
            sharing=sharing,
            method=method,
            known=self._known_of(total, leaf_totals, zeros),
        )

    def _known_of(self, total: Any, leaf_totals: Any, zeros: Any) -> Known:
        about, source = self.subject, self.table.metadata.source_path
        totals = given.leaf_totals(leaf_totals, about.tree.levels[-1], source=source)
        return known_of(about, total=total, leaf_totals=totals, zeros=given.zeros(zeros, source=source))

    def quote(self, *, analyst: str | None = None, **price: Any) -> ReleaseQuote:
        """Cost, the ± of every level and what would remain; takes what `plan` takes."""
        plan = self.plan(**price)
        return quote_of(self.table, plan, title=build.title(plan), analyst=analyst)

    def build(self, *, analyst: str | None = None, progress: Progress | None = None, **price: Any) -> Release:
        """Build the release: charged once and stored; an equal one is free.  Takes what `plan` takes."""
        return build.build(self.table, self.plan(**price), analyst=analyst, progress=progress)

    def __repr__(self) -> str:
        name = self.table.schema.name
        return f"<release of {name}: .quote(epsilon=1) costs nothing, .build(epsilon=1) measures and fits>"


def releasing(
    table: Table, *, by: str | Iterable[str], marginals: Iterable[Iterable[str]] | None, **spec: Any
) -> Releasing:
    """A release to be planned and built, by the fields of a `ReleaseSpec`; refused here where it cannot be bounded."""
    attributes = (by,) if isinstance(by, str) else tuple(by)
    sets = (
        None if marginals is None else tuple(names if isinstance(names, str) else tuple(names) for names in marginals)
    )
    release = Releasing(table, ReleaseSpec(by=attributes, marginals=sets, **spec))  # type: ignore[arg-type]  # str: refused there
    _ = release.subject
    return release
