"""A fitted synthesis: from noisy tables to a distribution over groups, and the fine cells within each group."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.envelope import Part
from discreet.ndarrays import Bools, Floats, Ints
from discreet.synth.children.present import among_present, presence_pairs, totals_of, with_absent
from discreet.synth.measured.coarse import LEAST, MOST_GROUPS, grouped, most_groups
from discreet.synth.measured.expected import expected_of
from discreet.synth.measured.noisy import NoisyTable, groups_of, joined, tables_of
from discreet.synth.measured.single import shares
from discreet.synth.model.consistent import Zeros, consistent_targets
from discreet.synth.model.dual import Fitted, Target, fit
from discreet.synth.model.junction import Pair, junction, tree_cells
from discreet.synth.plan import SynthPlan


@dataclass(frozen=True, eq=False)
class Singles:
    """What noisy counts say of every column by itself: its shares by fine cells, and the number of units."""

    tables: tuple[NoisyTable, ...]
    shares: tuple[Floats, ...]
    total: float

    def coarse_shares(self, groups: Sequence[Ints]) -> list[Floats]:
        """The share of each group."""
        return [group_sums(own, group) for own, group in zip(self.shares, groups, strict=True)]


def group_sums(cells: Floats, group: Ints) -> Floats:
    """Numbers of fine cells added up by group."""
    return np.bincount(group, weights=cells).astype(np.float64)


def singles_of(plan: SynthPlan, parts: Sequence[Part]) -> Singles:
    """Every column from one measurement of it, or from two."""
    first, *others = [tables_of(part) for part in parts]
    tables = first
    for second in others:
        tables = [joined(own, other) for own, other in zip(tables, second, strict=True)]
    subject = plan.subject
    total, with_rows = totals_of(subject, tables)
    numbers = [with_rows if subject.is_of_rows([place]) else total for place in range(len(tables))]
    own_shares = [
        shares(table.counts, table.deviation, number, is_ordered=is_ordered)
        for table, number, is_ordered in zip(tables, numbers, subject.are_ordered, strict=True)
    ]
    return Singles(tuple(tables), tuple(with_absent(subject, own_shares, 1 - with_rows / total)), total)


def groups_for(plan: SynthPlan, singles: Singles) -> list[Ints]:
    """The groups of every column's cells by which pairs are measured.

    There are fewer where one pass could not count two columns together, or where impossible combinations join columns
    to a tree with more cells than were allowed.  `plan_of` sees to it that so few as `LEAST` are few enough.
    """
    subject, count = plan.subject, most_groups(singles.total, plan.mu)
    facts = list(zip(singles.shares, subject.are_ordered, subject.profiles, strict=True))
    while True:
        groups = [grouped(own, count, is_ordered=is_ordered, profiles=profile) for own, is_ordered, profile in facts]
        sizes = [int(group.max()) + 1 for group in groups]
        is_small = max(sizes) <= MOST_GROUPS and tree_cells(sizes, subject.zero_pairs, subject.first) <= plan.max_cells
        if count <= LEAST or is_small or (not subject.zero_pairs and max(sizes) <= MOST_GROUPS):
            return groups
        count = max(LEAST, 3 * count // 4)


def required_pairs(plan: SynthPlan) -> tuple[Pair, ...]:
    """Pairs of features that an impossible combination joins: the tree must hold each combination in one clique."""
    return tuple(dict.fromkeys((*plan.subject.zero_pairs, *presence_pairs(plan.subject))))


@dataclass(frozen=True, eq=False)
class Synthesis:
    """The distribution over groups, and for every column the share of each fine cell."""

    plan: SynthPlan
    fitted: Fitted
    groups: tuple[Ints, ...]
    singles: Singles
    pairs: tuple[NoisyTable, ...]

    @cached_property
    def rows(self) -> int:
        """How many units are drawn: public, or the noisy number."""
        return max(1, round(self.singles.total)) if self.plan.rows is None else self.plan.rows

    def within(self, feature: int) -> Floats:
        """For each group of a column the chance of each fine cell."""
        group, own = self.groups[feature], self.singles.shares[feature]
        table = np.zeros((int(group.max()) + 1, len(group)))
        table[group, np.arange(len(group))] = own
        empty = table.sum(axis=1) == 0
        members = group[None, :] == np.arange(len(table))[:, None]
        return np.where(empty[:, None] & members, 1.0, table)


def synthesis_of(
    plan: SynthPlan,
    parts: Sequence[Part],
    *,
    progress: Callable[[float], None] | None = None,
) -> Synthesis:
    """The synthesis that released parts make; it reads no rows and is the same whenever it is computed.

    `progress` gets the share of the fit that is done.
    """
    by_name = {str(part.tally["name"]): part for part in parts}
    singles = singles_of(plan, [by_name[name] for name in ("singles", "columns") if name in by_name])
    chosen = by_name.get("pairs", by_name.get("scores"))
    groups = groups_for(plan, singles) if chosen is None else groups_of(chosen)
    pairs = tuple(tables_of(by_name["pairs"])) if "pairs" in by_name else ()
    sizes = [int(group.max()) + 1 for group in groups]
    graph = {(pair.features[0], pair.features[1]) for pair in pairs} | set(required_pairs(plan))
    tree = junction(sizes, sorted(graph), plan.subject.first)
    coarse = [_coarse_target(table, group) for table, group in zip(singles.tables, groups, strict=True)]
    targets = [*coarse, *(Target(pair.features, pair.counts, pair.deviation) for pair in pairs)]
    forbidden = [
        (features, _coarse_mask(masks, [groups[f] for f in features])) for features, masks in plan.subject.zero_masks()
    ]
    targets = [among_present(plan.subject, target, groups) for target in _agreeing(plan, singles, targets, forbidden)]
    base, given = _base(plan, singles, groups)
    fitted = fit(
        tree,
        base,
        targets if graph else (),
        singles.total,
        forbidden=forbidden,
        given=given,
        progress=progress,
    )
    return Synthesis(plan, fitted, tuple(groups), singles, pairs)


def _agreeing(plan: SynthPlan, singles: Singles, targets: Sequence[Target], forbidden: Sequence[Zeros]) -> list[Target]:
    """The targets without their contradictions: those of all units, and of two tables those of units with rows.

    Of two tables the combinations are of all units, and say nothing of those with rows alone.
    """
    subject = plan.subject
    total, with_rows = totals_of(subject, singles.tables)
    own = [target for target in targets if not subject.is_of_rows(target.columns)]
    others = [target for target in targets if subject.is_of_rows(target.columns)]
    stated = forbidden if subject.absence is None else ()
    return [*consistent_targets(own, total, stated), *consistent_targets(others, with_rows, ())]


def _base(plan: SynthPlan, singles: Singles, groups: Sequence[Ints]) -> tuple[list[Floats], list[tuple[Pair, Floats]]]:
    """Where a fit begins: every column by itself, but those of a second table given presence."""
    coarse, presence = singles.coarse_shares(groups), plan.subject.presence
    if presence is None:
        return coarse, []
    given = expected_of(plan.subject, singles.shares, coarse, groups).given_presence(presence)
    dependent = {feature for pair, _ in given for feature in pair if feature != presence}
    return [np.ones_like(own) if feature in dependent else own for feature, own in enumerate(coarse)], given


def _coarse_target(table: NoisyTable, group: Ints) -> Target:
    """A column's counts by group, with the noise of as many cells as each group has."""
    counts = group_sums(table.counts, group)
    return Target(table.features, counts, table.deviation * np.sqrt(np.bincount(group)))


def _coarse_mask(masks: Sequence[Bools], groups: Sequence[Ints]) -> Bools:
    """The impossible groups: cells of one group are all in the combination or none is."""
    mask = np.ones((1,) * 0, dtype=np.bool_)
    for own, group in zip(masks, groups, strict=True):
        member = np.zeros(int(group.max()) + 1, dtype=np.bool_)
        member[group[own]] = True
        mask = np.logical_and.outer(mask, member)
    return np.asarray(mask)
