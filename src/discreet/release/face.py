"""The face of releases in Python: what would be released, its price and error first, then `build`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.release import build, given
from discreet.release.known import Known, known
from discreet.release.plan import EVEN, ReleasePlan, planned
from discreet.release.quote import ReleaseQuote, quoted
from discreet.release.release import Release
from discreet.release.subject import ReleaseSpec, Subject, subject
from discreet.table import Table


@dataclass(frozen=True, repr=False)
class Releasing:
    """Tables that add up, not built yet: `plan` and `quote` cost nothing and touch no data."""

    table: Table
    wanted: ReleaseSpec

    @cached_property
    def subject(self) -> Subject:
        """What would be measured, bounded; refused where it cannot be released privately."""
        return subject(self.wanted, self.table.schema)

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
        """What would be done at that price.

        `share` locks the part of ε that a level of the tree gets, `sharing` ("even" or "least" error) parts the rest;
        δ is a hundredth of the budget's unless given.  What is public is given here and costs nothing: `total`, the
        number at the top; `leaf_totals`, that of every leaf; `zeros`, what cannot be, each line naming places and
        labels that do not go together.  The last two may be names of public CSV files.
        """
        if epsilon is None:
            raise bad("epsilon", "must be given", epsilon, "Give a number such as 1 or 0.1.")
        return planned(
            self.subject,
            self.table.terms(epsilon, delta, level),
            share=share,
            sharing=sharing,
            method=method,
            known=self._known(total, leaf_totals, zeros),
        )

    def _known(self, total: Any, leaf_totals: Any, zeros: Any) -> Known:
        about, source = self.subject, self.table.metadata.source_path
        totals = given.leaf_totals(leaf_totals, about.tree.levels[-1], source=source)
        return known(about, total=total, leaf_totals=totals, zeros=given.zeros(zeros, source=source))

    def quote(self, *, analyst: str | None = None, **price: Any) -> ReleaseQuote:
        """Cost, the ± of every level and what would remain; takes what `plan` takes."""
        made = self.plan(**price)
        return quoted(self.table, made, title=build.titled(made), analyst=analyst)

    def build(self, *, analyst: str | None = None, progress: Progress | None = None, **price: Any) -> Release:
        """The release: charged once, stored; the same again is the same for nothing.  Takes what `plan` takes."""
        return build.built(self.table, self.plan(**price), analyst=analyst, progress=progress)

    def __repr__(self) -> str:
        name = self.table.schema.name
        return f"<release of {name}: .quote(epsilon=1) costs nothing, .build(epsilon=1) measures and fits>"


def releasing(
    table: Table,
    *,
    hierarchy: str | None = None,
    by: str | Iterable[str] = (),
    count: str = "units",
    groups: str | None = None,
    largest: int | None = None,
    marginals: Iterable[Iterable[str]] | None = None,
) -> Releasing:
    """The release as it is asked for, refused here and now where it cannot be made."""
    attributes = (by,) if isinstance(by, str) else tuple(by)
    sets = None if marginals is None else tuple(one if isinstance(one, str) else tuple(one) for one in marginals)
    wanted = ReleaseSpec(hierarchy, attributes, count, groups, largest, sets)  # type: ignore[arg-type]  # str: refused there
    found = Releasing(table, wanted)
    _ = found.subject
    return found
