"""The three steps of a synthesis through its run: each is charged, drawn, stored, and only then looked at.

What a step measures may follow from what earlier ones released (which pairs, which groups); how much of the price it
takes is public.  So the whole is a composition of mechanisms with fixed σ or ε, whichever tables they are given
(docs/proofs/synth/engine.md).  What was chosen is stored beside the noisy numbers: a step that is taken up again is
read as it was drawn.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import envelope
from discreet.bounded import Bounded, SideBySide, side_by_side
from discreet.engine.protocol import Progress
from discreet.envelope import Envelope, Part
from discreet.errors import BadValue
from discreet.mechanism.vectors import vectors
from discreet.ndarrays import Ints
from discreet.query.tags import TAGS
from discreet.run import Run
from discreet.synth.children.counted import counted_of_both
from discreet.synth.law import law_of
from discreet.synth.measured.expected import Expected
from discreet.synth.measured.noisy import tables_part
from discreet.synth.model.junction import Pair
from discreet.synth.plan import KERNEL, SCORES, SynthPlan, score_sensitivity, weights

STEP = "synthesis step"
PROOF = "synth/engine.md"
_PASS_NUMBERS = 2**19  # counted in one pass: a kernel gives at most twice as many
_SHARE_DIGITS = 2**30


@dataclass(frozen=True)
class Measuring:
    """The run of one synthesis."""

    run: Run
    plan: SynthPlan
    progress: Progress | None = None

    def singles(self) -> Part:
        """Every column by its fine cells."""
        public = self.plan.singles_public()
        share = self.plan.singles_share
        mechanism = self.plan.mechanism(public, share)
        exact = self._counts(public)

        def stored(noisy: Ints) -> list[Part]:
            return [tables_part("singles", public, share, mechanism, noisy)]

        (part,) = self._step("singles", mechanism, exact, stored)
        return part

    def scores(self, groups: Sequence[Ints], expected: Expected, total: float) -> Part:
        """How far the counts of every pair lie from those that are expected of single columns."""
        plan, unit = self.plan, self.plan.subject.steps
        mechanism = plan.score_mechanism()
        facts = {
            "name": "scores",
            "share": str(SCORES),
            "groups": [group.tolist() for group in groups],
            "pairs": plan.pairs,
            "steps": unit,
        }

        def stored(noisy: Ints) -> list[Part]:
            return [Part(facts, TAGS.plain(mechanism.noise), noisy)]

        (part,) = self._step("scores", mechanism, self._distances(groups, expected, total), stored)
        return part

    def tables(self, groups: Sequence[Ints], pairs: Sequence[Pair], share: Fraction) -> tuple[Part, ...]:
        """Every column once more, and the chosen pairs by groups, in one step."""
        plan = self.plan
        sizes = [int(group.max()) + 1 for group in groups]
        publics = {"columns": plan.singles_public()}
        if pairs:
            shapes = [(sizes[left], sizes[right]) for left, right in pairs]
            publics["pairs"] = plan.subject.public(groups, pairs, weights(plan, shapes).tolist())
        try:
            parts = dict(zip(publics, divided_share(plan, publics, share), strict=True))
            mechanisms = {name: plan.mechanism(public, parts[name]) for name, public in publics.items()}
        except BadValue:  # wider noise than can be drawn: columns alone have more of the price than in the first step
            if not pairs:
                raise
            return self.tables(groups, (), share)
        exact = side_by_side({name: self._counts(public) for name, public in publics.items()})

        def stored(noisy: dict[str, Ints]) -> list[Part]:
            return [
                tables_part(name, public, parts[name], mechanisms[name], noisy[name])
                for name, public in publics.items()
            ]

        return self._step("tables", vectors(mechanisms), exact, stored)

    def _counts(self, public: dict[str, Any]) -> Bounded[Ints]:
        """What the kernel counts of the subject's units."""
        subject = self.plan.subject
        if subject.absence is not None:
            return counted_of_both(self.run.view, subject, KERNEL, public)
        return self.run.view.sum(KERNEL, subject.column_names, public, where=subject.where)

    def _distances(self, groups: Sequence[Ints], expected: Expected, total: float) -> Bounded[Ints]:
        """Σ|count − expected| of every pair, in steps, counted in as many passes as there are numbers."""
        plan, unit = self.plan, self.plan.subject.steps
        batches = pair_batches(plan.pairs, [int(group.max()) + 1 for group in groups])
        publics = [plan.subject.public(groups, batch, [unit] * len(batch)) for batch in batches]
        counted = {str(place): self._counts(public) for place, public in enumerate(publics)}

        def distances(exact: dict[str, Ints]) -> Ints:
            numbers = [pair_distances(exact[str(i)], batch, expected, total * unit) for i, batch in enumerate(batches)]
            return np.concatenate(numbers)

        both = side_by_side(counted)
        if not isinstance(both.sensitivity, SideBySide):
            raise TypeError
        moved = max(both.sensitivity.parts[str(i)].l1 / len(batch) for i, batch in enumerate(batches))
        return both.then(distances, score_sensitivity(moved, len(plan.pairs), plan.subject), proof=PROOF)

    def _step(
        self, name: str, mechanism: Any, exact: Bounded[Any], parts: Callable[[Any], list[Part]]
    ) -> tuple[Part, ...]:
        """What the step released, drawn and stored now or before."""
        if self.progress is not None:
            self.progress(f"measuring: {name}", 0.0)

        def pack(noisy: Any) -> bytes:
            return Envelope(STEP, envelope.version(), {}, tuple(parts(noisy))).to_bytes()

        return envelope.from_bytes(self.run.step(name, mechanism, exact, pack=pack), STEP).parts


def divided_share(plan: SynthPlan, publics: Mapping[str, dict[str, Any]], share: Fraction) -> list[Fraction]:
    """The share divided between columns and pairs as the law of the noise wants; exact, adding up to it."""
    law = law_of(plan.price)
    sums = []
    for public in publics.values():
        sizes = [int(group.max()) + 1 for group in public["groups"]]
        cells = np.array([np.prod([sizes[place] for place in clique]) for clique in public["cliques"]], dtype=float)
        sums.append(float(law.parts(cells).sum()))
    # For both laws the best shares of 1/σ², or of ε, are in proportion to these sums.
    first = Fraction(round(_SHARE_DIGITS * sums[0] / sum(sums)), _SHARE_DIGITS) * share
    return [first, share - first][: len(publics)]


def pair_batches(pairs: Sequence[Pair], sizes: Sequence[int]) -> list[list[Pair]]:
    """The pairs in order, as many together as one pass counts."""
    batches: list[list[Pair]] = [[]]
    length = 0
    for left, right in pairs:
        cells = sizes[left] * sizes[right]
        if batches[-1] and length + cells > _PASS_NUMBERS:
            batches.append([])
            length = 0
        batches[-1].append((left, right))
        length += cells
    return batches


def pair_distances(counts: Ints, pairs: Sequence[Pair], expected: Expected, total: float) -> Ints:
    """Σ|count − expected| of each pair, in whole steps."""
    distances, start = [], 0
    for pair in pairs:
        steps = np.rint(total * expected.of(pair)).astype(np.int64).ravel()
        end = start + steps.size
        distances.append(int(np.abs(counts[start:end] - steps).sum()))
        start = end
    return np.array(distances, dtype=np.int64)
