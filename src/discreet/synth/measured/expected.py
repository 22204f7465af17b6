"""What a pair's counts would be if nothing but the single columns were known, for scores to be measured against.

    one table           s_a ⊗ s_b
    two tables          (1 − q)·r_a ⊗ r_b      with a feature of the second, r being its shares among units with rows

where q is the share of units without a row there, which are not counted in tables of the second.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.ndarrays import Floats, Ints
from discreet.synth.model.junction import Pair
from discreet.synth.subject import Subject


@dataclass(frozen=True, eq=False)
class Expected:
    """Shares of each feature by groups, of units without rows, and the group of each feature that these have."""

    shares: Sequence[Floats]
    absent: float = 0.0
    absent_groups: Mapping[int, int] = field(default_factory=dict)

    def of(self, pair: Pair) -> Floats:
        """The share of each cell of the pair."""
        left, right = (
            self._present(feature) if feature in self.absent_groups else self.shares[feature] for feature in pair
        )
        is_of_rows = not self.absent_groups.keys().isdisjoint(pair)
        return np.outer(left, right) * (max(1 - self.absent, 0.0) if is_of_rows else 1.0)

    def given_presence(self, presence: int) -> list[tuple[Pair, Floats]]:
        """For each feature of the second table its chances given presence: that is where a fit begins.

        The product of single columns would give units without rows hardly any chance: all of their cells must be
        absent together.  A fit that begins there must move far, and its slack holds it back.
        """
        given = []
        for feature in [feature for feature in self.absent_groups if feature != presence]:
            table = np.tile(self._present(feature), (len(self.shares[presence]), 1))
            table[self.absent_groups[presence]] = 0.0
            table[self.absent_groups[presence], self.absent_groups[feature]] = 1.0
            is_first = presence < feature
            given.append(((presence, feature) if is_first else (feature, presence), table if is_first else table.T))
        return given

    def _present(self, feature: int) -> Floats:
        """The shares among units with rows, adding up to 1."""
        rest = self.shares[feature].copy()
        rest[self.absent_groups[feature]] -= min(self.absent, float(rest[self.absent_groups[feature]]))
        total = float(rest.sum())
        return rest / total if total > 0 else np.full(len(rest), 1 / len(rest))


def expected_of(subject: Subject, fine: Sequence[Floats], coarse: Sequence[Floats], groups: Sequence[Ints]) -> Expected:
    """What is expected of pairs before any of them was measured, from shares of each feature by cells and by groups."""
    presence, absent = subject.presence, subject.absent_codes
    share = 0.0 if presence is None else float(fine[presence][absent[presence]])
    return Expected(coarse, share, {feature: int(groups[feature][code]) for feature, code in absent.items()})
