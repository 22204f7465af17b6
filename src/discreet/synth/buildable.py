"""What a build would refuse later, refused before anything is spent: public facts alone decide it.

A step that needs wider noise than can be drawn, or a pass with more numbers than one counts, would leave a build that
was paid for and can never be finished.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.passes import kernel_pass
from discreet.errors import BadValue, bad
from discreet.ndarrays import Bools, Ints
from discreet.synth.measured.coarse import MOST_GROUPS, most_least_groups
from discreet.synth.model.junction import junction, tree_cells
from discreet.synth.model.possible import possible_cells

if TYPE_CHECKING:
    from discreet.synth.plan import SynthPlan

MOST_DEVIATION = 10**7  # of the noisy number of units, of which so many would have to be drawn


def require_buildable(plan: "SynthPlan") -> None:
    """Refuses a plan that cannot be carried out whatever the rows."""
    from discreet.synth.plan import KERNEL

    try:
        kernel_pass(plan.subject.schema, KERNEL, plan.subject.column_names, plan.singles_public())
    except BadValue as refusal:
        fix = "Name fewer columns, or fewer values and bins: a synthetic table counts all of them in one pass."
        raise refusal.with_fix(fix) from None
    _require_columns_noise(plan)
    _require_pairs_noise(plan)
    _require_total(plan)
    _require_tree(plan)


def _require_columns_noise(plan: "SynthPlan") -> None:
    try:
        plan.mechanism(plan.singles_public(), plan.singles_share)
    except BadValue:
        rule = f"must be larger for {len(plan.subject.sizes)} columns: their noise would be wider than can be drawn"
        raise bad("epsilon", rule, str(plan.price.terms.epsilon), "Spend more, or name fewer columns.") from None


def _require_pairs_noise(plan: "SynthPlan") -> None:
    if plan.with_pairs:
        try:
            plan.score_mechanism()
        except BadValue:
            rule = f"must be larger for {len(plan.pairs):,} pairs of columns: noise would hide which of them matter"
            fix = "Write: method='independent', name fewer columns, or spend more."
            raise bad("epsilon", rule, str(plan.price.terms.epsilon), fix) from None


def _require_total(plan: "SynthPlan") -> None:
    """Refuses a price at which the number of rows would be mere noise, and too many to draw."""
    if plan.rows is None and plan.total_deviation > MOST_DEVIATION:
        rule = f"must be larger: the number of rows would be noise with a deviation of {plan.total_deviation:,.0f}"
        fix = "Spend more, name fewer columns, or give rows, a public number."
        raise bad("epsilon", rule, str(plan.price.terms.epsilon), fix)


def _require_tree(plan: "SynthPlan") -> None:
    """Refuses impossible combinations that join columns to more cells than are allowed, or that leave no row."""
    subject, pairs = plan.subject, plan.subject.zero_pairs
    if not pairs:
        return
    facts = list(zip(subject.profiles, subject.are_ordered, strict=True))
    sizes = [most_least_groups(profile, is_ordered=is_ordered) for profile, is_ordered in facts]
    cells = tree_cells(sizes, pairs, subject.first)
    if cells > plan.max_cells or max(sizes) > MOST_GROUPS:
        rule = f"must not join columns to more than max_cells = {plan.max_cells:,} cells, nor divide one into too many"
        fix = "Leave out combinations of many columns, name whole groups of values, or give more max_cells."
        raise bad("zeros", rule, f"up to {cells:,}", fix)
    kinds = [int(profile.max()) + 1 for profile, _ in facts]
    forbidden = [(features, _profile_mask(masks, features, facts)) for features, masks in subject.zero_masks()]
    if not all(table.any() for table in possible_cells(junction(kinds, pairs), forbidden)):
        fix = "Look for two combinations that together forbid every value of a column."
        raise bad("zeros", "must leave some rows possible", f"{len(subject.zeros)} combinations", fix)


def _profile_mask(masks: Sequence[Bools], features: Sequence[int], facts: Sequence[tuple[Ints, bool]]) -> Bools:
    """An impossible combination over the profiles of its features."""
    mask = np.ones((), dtype=np.bool_)
    for own, feature in zip(masks, features, strict=True):
        profile = facts[feature][0]
        member = np.zeros(int(profile.max()) + 1, dtype=np.bool_)
        member[profile[own]] = True
        mask = np.logical_and.outer(mask, member)
    return np.asarray(mask)
