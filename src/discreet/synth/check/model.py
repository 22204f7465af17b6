"""What the synthetic rows teach about one column: a model that real rows are predicted by, one row of each unit."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.kernel.encode import Feature
from discreet.learn.heldout.trial import Scored, Trial, trial_of
from discreet.learn.privacy import Privacy
from discreet.learn.probabilities import softmax
from discreet.learn.subject import Subject, require_classes, subject_of
from discreet.ledger.ledger import Ledger
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import generator
from discreet.query.nodes import Expr
from discreet.synth.build import Build
from discreet.synth.check.logistic import Line, line_of
from discreet.synth.check.tables import tables_of
from discreet.synth.column.choice import near_name
from discreet.synth.drawn import seed_of

MOST_ROWS = 50_000  # of the synthetic rows that are learnt from


@dataclass(frozen=True, eq=False)
class SyntheticModel:
    """A logistic model of one column, learnt from synthetic rows; a predictor of `learn.heldout`."""

    build: Build
    subject: Subject
    privacy: Privacy
    title: str = "logistic model of the synthetic rows"

    def predictor(self) -> "SyntheticModel":
        """Itself, as scores ask a model for what predicts."""
        return self

    @cached_property
    def places(self) -> list[int]:
        """Where the features lie among the columns of the synthetic table."""
        names = self.build.plan.subject.column_names
        return [names.index(feature.column) for feature in self.subject.features]

    @cached_property
    def groups(self) -> tuple[Ints, ...]:
        """For each feature the group of each cell, as triples are compared."""
        groups = tables_of(self.build, "triples").groups
        return tuple(groups[place] for place in self.places)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """For each class how it differs from the rest; of two classes for the second alone."""
        rows = self._rows
        codes = [
            group[self.build.codes.columns[place][rows]] for group, place in zip(self.groups, self.places, strict=True)
        ]
        sizes = [int(group.max()) + 1 for group in self.groups]
        target = self._classes[rows]
        known = target >= 0
        codes, target = [code[known] for code in codes], target[known]
        classes = range(1, 2) if len(self.subject.classes) == 2 else range(len(self.subject.classes))
        return tuple(line_of(codes, sizes, target == place) for place in classes)

    @property
    def _rows(self) -> Ints:
        """All rows, or as many as are learnt from, chosen by a seed from the released numbers."""
        rows = self.build.codes.rows
        if rows <= MOST_ROWS:
            return np.arange(rows)
        chosen: Ints = generator(seed_of(self.build.parts) + 2).permutation(rows)[:MOST_ROWS]
        return chosen

    @cached_property
    def _classes(self) -> Ints:
        """The class of each synthetic row; −1 where the cell is empty."""
        place = self.build.plan.subject.column_names.index(self.subject.target.column)
        values = self.build.plan.subject.columns[place].values or ()
        of_code = [self.subject.classes.index(value) for value in values]
        return np.array([*of_code, -1])[self.build.codes.columns[place]]

    @property
    def majority(self) -> int:
        """The class that most synthetic rows have."""
        counts = np.bincount(self._classes[self._classes >= 0], minlength=len(self.subject.classes))
        return int(np.argmax(counts))

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """The probability of each class for each row."""
        own = self.build.plan.subject.columns
        codes = [
            group[Feature.parse(own[place].described).codes(columns[feature.name])]
            for group, place, feature in zip(self.groups, self.places, self.subject.features, strict=True)
        ]  # −1, an empty cell, is the last
        lines = [line.of(codes) for line in self.lines]
        if len(lines) == 1:
            lines = [np.zeros(len(lines[0])), lines[0]]
        return softmax(np.stack(lines, axis=1))

    def digest(self) -> str:
        """A hash of all that predictions follow from."""
        hashed = hashlib.sha256(b"discreet model of synthetic rows 1")
        for line in self.lines:
            for weights in (np.array([line.intercept]), *line.weights):
                hashed.update(np.ascontiguousarray(weights, dtype="<f8").tobytes())
        return hashed.hexdigest()

    def is_stored(self, ledger: Ledger) -> bool:
        """Whether that ledger holds the charge of the synthetic table."""
        return ledger.entry_of(self.privacy.receipt) is not None


def trial_for(build: Build, privacy: Privacy, target: Any, where: Expr | None) -> Trial:
    """The trial on real rows of a model of that column; refused where it has no classes or stands alone."""
    own = build.plan.subject
    if not isinstance(target, str) or target not in own.column_names:
        declared = isinstance(target, str) and own.schema.find(target) is not None
        listed = ", ".join(own.column_names[:12])
        fix = f"Name one of {listed}." if declared else near_name(own.schema, target, own.column_names)
        raise bad("target", "must be a column of the synthetic table", target, fix)
    features = [name for name in own.column_names if name != target]
    if not features:
        raise bad("target", "must have another column to be learnt from", target, "Synthesise more columns.")
    subject = subject_of(own.schema, target, features, where=own.where)
    require_classes(subject)
    return trial_of(own.schema, SyntheticModel(build, subject, privacy), where=where)


def class_counts(scored: Scored, classes: int) -> Ints:
    """How many rows of each class are predicted wrongly, then how many rightly."""
    is_right = (scored.predicted == scored.target).astype(np.int64)
    return np.bincount(is_right * classes + scored.target, minlength=2 * classes).astype(np.int64)
