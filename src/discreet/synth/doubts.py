"""Sentences on declared impossible combinations that contradict what was measured; free, from released numbers.

A combination is doubted if its cells were counted at more than six standard deviations of their noise: once in 10⁹.
"""

import numpy as np

from discreet.ndarrays import Bools, Ints
from discreet.synth.build import Build
from discreet.synth.measured.noisy import NoisyTable, groups_of, tables_of

_SURE = 6.0


def doubts_of(build: Build) -> list[str]:
    """A sentence for each declared combination of one column, or of a measured pair, that was counted."""
    subject, tables = build.plan.subject, _tables(build)
    if subject.absence is not None:
        return []  # what was declared is of all units, and tables of the second one are not
    sentences = []
    for features, masks in subject.zero_masks():
        if features not in tables:
            continue
        table, groups = tables[features]
        cells = np.ones((), dtype=np.bool_)
        for feature, mask in zip(features, masks, strict=True):
            cells = np.logical_and.outer(cells, _by_group(mask, groups[feature]))
        count, deviation = float(table.counts[cells].sum()), table.deviation * float(np.sqrt(cells.sum()))
        if count > _SURE * deviation:
            names = " and ".join(subject.names[feature] for feature in features)
            sentences.append(
                f"A combination of {names} that was declared impossible was counted: {count:,.0f} ± "
                f"{2 * deviation:,.0f}. The table cannot meet both, and other columns suffer: "
                "build it without that combination."
            )
    return sentences


def _tables(build: Build) -> dict[tuple[int, ...], tuple[NoisyTable, list[Ints]]]:
    """The measured tables by their features, each with the groups that it was counted by; the last one of a column."""
    tables = dict[tuple[int, ...], tuple[NoisyTable, list[Ints]]]()
    for part in build.parts:
        if part.tally["name"] != "scores":
            tables.update({table.features: (table, groups_of(part)) for table in tables_of(part)})
    return tables


def _by_group(mask: Bools, group: Ints) -> Bools:
    """The groups that are in the combination: cells of one group all are, or none is."""
    inside: Bools = np.bincount(group, weights=mask) > 0
    return inside
