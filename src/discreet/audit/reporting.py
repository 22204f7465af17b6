"""Local protocols as the audit sees them: reports of people as whole numbers, and their exact laws."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit.features import Outputs
from discreet.audit.laws import OutputLaw, independent
from discreet.bounded import Sensitivity, cells
from discreet.local.code import Code
from discreet.noise.source import Source
from discreet.privacy.cost import Cost
from discreet.real import ball
from discreet.relation import Relation


@dataclass(frozen=True)
class Reporting:
    """The reports of a code about one answer, or one of each of several people, at that cost.

    Answers of neighbours are at most `apart` steps from each other: 1 where a single use is protected.
    """

    code: Code
    cost: Cost
    apart: int

    @property
    def sensitivity(self) -> Sensitivity:
        """One person's answer becomes another."""
        return cells(2, 1, Relation.REPLACE_ONE)

    def __call__(self, exact: Any, source: Source) -> Outputs:
        """A report for each person."""
        reports = self.code.draw(np.atleast_1d(np.asarray(exact, dtype=np.int64)), source)
        return np.array([int.from_bytes(row.tobytes(), "little") for row in reports])

    def many(self, exact: Any, n: int, source: Source) -> Outputs:
        """n independent runs, a row each where there are several people."""
        people = np.atleast_1d(np.asarray(exact, dtype=np.int64))
        reports = self(np.tile(people, n), source)
        return reports if people.size == 1 else reports.reshape(n, people.size)

    def exact_law(self, exact: Any) -> OutputLaw:
        """Every output with its probability; those that nobody ever sends are left out."""
        return independent([_law(self.code, int(answer)) for answer in np.atleast_1d(np.asarray(exact))])


def _law(code: Code, answer: int) -> OutputLaw:
    return {int.from_bytes(report, "little"): ball(chance) for report, chance in code.law(answer) if chance}
