"""What must hold between neighbours: every norm of every part's change, the keys that show a unit, and the charge."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt

from flint import arb

from audit.answers import added_up
from discreet import real
from discreet.mechanism.keys import KeySelection
from discreet.privacy import price
from discreet.privacy.cost import Gaussian
from discreet.query.joint import Measured
from discreet.query.parts import Part, Present, Ranks, Rows, Tops
from discreet.query.plan import Plan
from discreet.query.recipe import MeanAmong
from shapes.tables import Numbers


@dataclass(frozen=True)
class Violation:
    """A promise, what was reached and what had been promised."""

    promise: str
    part: Part | None
    reached: object
    claimed: object


def change(before: Numbers, after: Numbers) -> dict:
    """How far each number moved, over the union of groups, private ones too."""
    moves = {place: before.get(place, 0) - after.get(place, 0) for place in before.keys() | after.keys()}
    return {place: move for place, move in moves.items() if move}


def norms(part: Part, moves: dict) -> dict[str, int]:
    """The norms of a change; what is chosen by counts is in so many groups, each with cells of its own."""
    sizes = [abs(move) for move in moves.values()]
    chosen = isinstance(part, Ranks | Tops)
    return {
        "l0": len({group for group, _ in moves}) if chosen else len(sizes),
        "l1": sum(sizes),
        "l2_squared": sum(size * size for size in sizes),
        "linf": max(sizes, default=0),
    }


def violations(plan: Plan, before: dict[Part, Numbers], after: dict[Part, Numbers]) -> Iterator[Violation]:
    """Whatever the plan promises that these neighbours break."""
    for measured in plan.measured:
        if measured.sensitivity.relation is not plan.draft.schema.relation:
            yield Violation("relation", measured.part, plan.draft.schema.relation, measured.sensitivity.relation)
        if not measured.mechanism.sensitivity.covers(measured.sensitivity):
            yield Violation("mechanism", measured.part, measured.sensitivity, measured.mechanism.sensitivity)
        for name, moved in norms(measured.part, change(before[measured.part], after[measured.part])).items():
            if moved > getattr(measured.sensitivity, name):
                yield Violation(name, measured.part, moved, getattr(measured.sensitivity, name))
        if isinstance(measured.part, Present):
            yield from _shown(measured, before[measured.part], after[measured.part])
            yield from _shown(measured, after[measured.part], before[measured.part])
    for recipe in plan.draft.recipes:
        if isinstance(recipe, MeanAmong) and change(before[Rows()], after[Rows()]):
            yield Violation("public number of rows", recipe.total, change(before[Rows()], after[Rows()]), 0)


def differences(plan: Plan, before: dict[Part, Numbers], after: dict[Part, Numbers]) -> Iterator[Violation]:
    """Parts that are not the same on tables that differ in nothing that counts."""
    for part in (measured.part for measured in plan.measured):
        if moves := change(before[part], after[part]):
            yield Violation("same", part, moves, 0)


def _shown(measured: Measured, before: Numbers, after: Numbers) -> Iterator[Violation]:
    """Keys that only the first table has: that any is released must be within the δ of the cost, by the exact law."""
    mechanism = measured.mechanism
    assert isinstance(mechanism, KeySelection)
    counts = [number for place, number in before.items() if place not in after]

    def any_released() -> arb:
        hidden = sum(((-mechanism.noise.above(mechanism.threshold - count)).log1p() for count in counts), start=arb(0))
        return -hidden.expm1()

    charged = added_up(mechanism.cost)[1]
    if counts and not real.less(any_released, lambda: real.ball(charged)):
        yield Violation("delta of keys", measured.part, counts, charged)


def overcharged(plan: Plan) -> Iterator[Violation]:
    """Whether the parts cost more than what is charged: ε and δ add up, Gaussians by μ² = Σ 1/σ²."""
    epsilon, delta, mu_squared = added_up(plan.cost)
    room = plan.terms.epsilon - epsilon
    if room < 0 or (mu_squared and room == 0):
        yield Violation("epsilon", None, epsilon, plan.terms.epsilon)
    elif mu_squared:
        mu = Fraction(isqrt(floor(mu_squared * 10**60)) + 1, 10**30)  # rounded up: the dearer side
        delta += price.delta(Gaussian(1 / mu), room).value
    if delta > plan.terms.delta:
        yield Violation("delta", None, delta, plan.terms.delta)
