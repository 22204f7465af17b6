"""Claims of the steps of a synthesis, on neighbouring tables of two columns; inputs are what the kernel itself gives.

A table is a list of persons, a person a list of rows, a row its two codes; −1 is an empty cell.  The price is large, so
that noise is only a few persons wide.  In the first pair of each claim one person alone makes a cell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.audit.claim import Claim
from discreet.audit.trial import Pair
from discreet.kernel.contract import kernel_of
from discreet.kernel.rows import UnitRows
from discreet.learn.price import price_of
from discreet.mechanism import additive
from discreet.mechanism.vectors import Vectors, vectors
from discreet.ndarrays import Ints
from discreet.relation import Relation
from discreet.schema import Column, Schema, Type, Unit
from discreet.synth.measured.expected import Expected
from discreet.synth.measuring import divided_share, pair_distances
from discreet.synth.plan import KERNEL, SCORES, SINGLES, SynthPlan, plan_of, weights
from discreet.synth.subject import subject_of
from discreet.terms import Terms

Persons = Sequence[Sequence[tuple[int, int]]]
STEPS = ("singles", "scores", "columns", "pairs")
_WIDE = 4_000  # runs of steps with many numbers
_LEFT = 1 - SINGLES - SCORES
_PERSON, _OTHER, _EMPTY = [(0, 0)], [(1, 1)], [(-1, -1)]
_ENTERED: tuple[tuple[Persons, Sequence[tuple[int, int]]], ...] = (
    ([_PERSON, _PERSON], _OTHER),
    ([], _PERSON),
    ([_PERSON, _OTHER], _EMPTY),
    ([_OTHER] * 3, [(0, 0), (0, 1), (1, 0)]),
)
_EXCHANGED = ((_OTHER, _PERSON), (_EMPTY, _PERSON), ([(0, 0)] * 3, [(1, 1)] * 3))


@dataclass(frozen=True)
class Tiny:
    """A synthesis of two columns with two values each, after its first step told that everybody is in one cell."""

    rows: int = 1  # of a person
    relation: Relation = Relation.ADD_REMOVE
    is_pure: bool = False
    epsilon: int = 4

    @cached_property
    def plan(self) -> SynthPlan:
        """The plan at that price."""
        columns = [Column(name, Type.CATEGORY, values=("a", "b")) for name in ("town", "work")]
        schema = Schema("audited", tuple(columns), Unit("who", self.rows), relation=self.relation)
        return plan_of(subject_of(schema), price_of(Terms.parse(self.epsilon, 0 if self.is_pure else "1e-6")))

    @cached_property
    def publics(self) -> dict[str, dict[str, Any]]:
        """What each step counts, each cell a group of its own; scores are of the counts of all pairs."""
        subject, plan = self.plan.subject, self.plan
        groups = [np.arange(size) for size in subject.sizes]
        shapes = [(subject.sizes[left], subject.sizes[right]) for left, right in plan.pairs]
        return {
            "singles": plan.singles_public(),
            "scores": subject.public(groups, plan.pairs, [subject.steps] * len(plan.pairs)),
            "columns": plan.singles_public(),
            "pairs": subject.public(groups, plan.pairs, weights(plan, shapes).tolist()),
        }

    @cached_property
    def mechanisms(self) -> dict[str, additive.Additive]:
        """The noise of each step, as a build plans it."""
        tables = {name: self.publics[name] for name in ("columns", "pairs")}
        shares = dict(zip(tables, divided_share(self.plan, tables, _LEFT), strict=True))
        return {
            "singles": self.plan.mechanism(self.publics["singles"], SINGLES),
            "scores": self.plan.score_mechanism(),
            **{name: self.plan.mechanism(public, shares[name]) for name, public in tables.items()},
        }

    def exact(self, step: str, persons: Persons) -> tuple[int, ...]:
        """What that step computes on these persons' rows."""
        counts = counts_of(self.publics[step], persons)
        if step != "scores":
            return tuple(counts.tolist())
        told = [np.eye(size)[0] for size in self.plan.subject.sizes]  # all in the first cell: two units
        distances = pair_distances(counts, self.plan.pairs, Expected(told), 2.0 * self.plan.subject.steps)
        return tuple(distances.tolist())

    def pairs_of_persons(self) -> tuple[tuple[Persons, Persons], ...]:
        """Neighbouring tables: somebody more, or somebody else."""
        if self.relation is Relation.ADD_REMOVE:
            return tuple((persons, [*persons, new[: self.rows]]) for persons, new in _ENTERED)
        return tuple(([_PERSON, old[: self.rows]], [_PERSON, new[: self.rows]]) for old, new in _EXCHANGED)

    def pairs_of(self, step: str) -> tuple[Pair, ...]:
        """The numbers of one step on neighbouring tables."""
        return tuple((self.exact(step, first), self.exact(step, other)) for first, other in self.pairs_of_persons())

    def whole(self) -> Vectors:
        """All steps side by side: what a build charges at once."""
        return vectors(self.mechanisms)

    def pairs_of_whole(self) -> tuple[Pair, ...]:
        """The numbers of all steps on neighbouring tables."""

        def exact(persons: Persons) -> tuple[tuple[int, ...], ...]:
            return tuple(self.exact(step, persons) for step in STEPS)

        return tuple((exact(first), exact(other)) for first, other in self.pairs_of_persons())


def counts_of(public: dict[str, Any], persons: Persons) -> Ints:
    """What the kernel gives on these persons' rows."""
    rows = np.array([row for person in persons for row in person], dtype=np.int64).reshape(-1, 2)
    starts = np.cumsum([0, *map(len, persons)])[: len(persons)].astype(np.int64)
    chunk = UnitRows({"town": rows[:, 0], "work": rows[:, 1]}, starts, len(rows))
    return kernel_of(KERNEL)(chunk, public)


def family() -> Iterator[Claim]:
    """All claims of this module; their names begin with synth."""
    for is_pure, law in ((True, "laplace"), (False, "gaussian")):
        alone, three = Tiny(is_pure=is_pure), Tiny(3, is_pure=is_pure)
        replaced = Tiny(3, Relation.REPLACE_ONE, is_pure=is_pure)
        constructor = additive.laplace if is_pure else additive.gaussian_share
        for tiny, name in ((alone, law), (three, f"{law}-persons"), (replaced, f"{law}-persons-replace-one")):
            for step in ("singles", "scores"):
                pairs = tiny.pairs_of(step)
                yield Claim(f"synth-{step}-{name}", constructor, tiny.mechanisms[step], pairs, (), _WIDE)
            yield Claim(f"synth-build-{name}", vectors, tiny.whole(), tiny.pairs_of_whole(), (), _WIDE)
