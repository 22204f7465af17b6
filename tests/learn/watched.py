"""A fit on two neighbouring tables with one history of released numbers: what each step computed, and its noise.

Privacy of an adaptive algorithm is a claim about one history: whatever was released so far, the next step's mechanism
is the same for both tables, its exact numbers differ by at most what its noise covers, and all costs fit the price.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.bounded import Sensitivity, SideBySide
from discreet.gate import Disclosed
from discreet.learn.input import arrays
from discreet.learn.price import parse_price
from discreet.learn.steps import Steps
from discreet.ledger.inside import Inside, amount_taken, holds
from discreet.ledger.unbooked import Unbooked
from discreet.run import Run
from replay import Seeded


@dataclass(frozen=True)
class Step:
    name: str
    mechanism: Any
    stated: Any  # the sensitivity of what was computed
    exact: Any
    stored: bytes


class Watch:
    """A gate that notes every step and draws seeded noise, or hands out an earlier history."""

    def __init__(self, history=None):
        self.steps, self.history = [], history

    def __call__(self, payer, request, mechanism, bounded, *, pack, source=None):
        exact, number = bounded.compute(), len(self.steps)
        if self.history is None:
            stored = pack(mechanism(exact, Seeded(number)))
        else:
            stored = self.history[number] if number < len(self.history) else b""
        self.steps.append(Step(request.memo, mechanism, bounded.sensitivity, exact, stored))
        return Disclosed(stored, None, False)


def watched(learner, table, facts, price, history=None):
    """The plan, the steps and what the fit released; `table` is (X, y, units)."""
    X, y, units = table
    subject, view = arrays.subject_of_arrays(arrays.columns_of(X), y, units, facts)
    plan, gate = learner.plan(subject, price), Watch(history)
    released = plan.fit(Steps(Run(Unbooked(), lambda: view, gate=gate), subject, plan.price))
    return plan, gate.steps, released


def faults(learner, facts, pairs, *, epsilon=2, delta="1e-3"):
    """Every way in which the fit breaks its promise on one of the pairs, named once each."""
    price, breaches = parse_price(epsilon, delta), []
    for first, second in pairs:
        plan, steps, released = watched(learner, first, facts, price)
        try:
            other = watched(learner, second, facts, price, [step.stored for step in steps])
        except Exception as error:  # with one history both tables must take the same path
            breaches.append(f"the other table fails: {type(error).__name__}")
            continue
        breaches += _faults(plan, steps, released, *other)
    return sorted(set(breaches))


def _faults(plan, steps, released, other_plan, other_steps, other_released):
    breaches = [] if plan.cost == other_plan.cost else ["another cost"]
    if [step.name for step in steps] != [step.name for step in other_steps]:
        return [*breaches, "other steps"]
    for step, other in zip(steps, other_steps, strict=True):
        breaches += [] if step.mechanism == other.mechanism else ["another mechanism"]
        breaches += [] if step.mechanism.sensitivity.covers(step.stated) else ["the gate refuses"]
        breaches += [] if _within(step.mechanism.sensitivity, step.exact, other.exact) else ["moved beyond the noise"]
    breaches += [] if _fits(plan, steps) else ["more than the price"]
    same = released.keys() == other_released.keys() and all(
        np.array_equal(released[name], other_released[name]) for name in released
    )
    return breaches if same else [*breaches, "the result reads rows"]


def _fits(plan, steps):
    taken = Inside()
    for step in steps:
        amount = amount_taken(plan.cost, step.mechanism.cost, plan.subject.schema.relation)
        if amount is None:
            return False
        taken = taken + amount
    return holds(plan.cost, taken, plan.subject.schema.relation)


def _within(sensitivity, first, second):
    """Whether two exact results are as near as the noise covers, vector by vector."""
    if isinstance(sensitivity, SideBySide):
        return all(_within(own, first[name], second[name]) for name, own in sensitivity.parts.items())
    first, second = np.asarray(first), np.asarray(second)
    if first.shape != second.shape:
        return False
    change = [int(x) for x in (first - second).ravel()]
    squares = sum(x * x for x in change)
    largest = max(map(abs, change), default=0)
    norms = Sensitivity(sum(x != 0 for x in change), sum(map(abs, change)), squares, largest, sensitivity.relation)
    return sensitivity.covers(norms)


def reached(learner, facts, pairs, *, epsilon=2, delta="1e-3"):
    """The largest share of l2² that a pair uses in any step: 1 if the noise is not wider than it must be."""
    price, largest = parse_price(epsilon, delta), Fraction(0)
    for first, second in pairs:
        _, steps, _ = watched(learner, first, facts, price)
        _, others, _ = watched(learner, second, facts, price, [step.stored for step in steps])
        for step, other in zip(steps, others, strict=True):
            own = step.mechanism.sensitivity
            parts = own.parts.items() if isinstance(own, SideBySide) else [(None, own)]
            for name, sensitivity in parts:
                a, b = (twin.exact if name is None else twin.exact[name] for twin in (step, other))
                change = [int(x) for x in np.subtract(a, b).ravel()]
                largest = max(largest, sum(x * x for x in change) / sensitivity.l2_squared)
    return largest
