"""Choose the noise of a question's parts, its width and the shares of ε.

A question takes at most the (ε, δ) that was typed.  Numbers get Laplace or Gaussian noise, whichever makes the total
error smaller; δ is used by Gaussian noise and by key selection only, and where neither is used none is charged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

from discreet import amounts
from discreet.errors import NotAnswerable, bad
from discreet.mechanism import additive
from discreet.mechanism.keys import KeySelection, gaussian_key_selection, key_selection
from discreet.mechanism.promise import Mechanism
from discreet.mechanism.quantile import quantile
from discreet.mechanism.select import monotone_top_k, top_k
from discreet.privacy import analytic, calibrate
from discreet.privacy.cost import Cost
from discreet.query.bound import Draft, Need
from discreet.query.caps import most_groups
from discreet.query.joint import Joint, Measured
from discreet.query.parts import Distinct, Part, Present, Ranks, Rows, RowSum, Tops, Units
from discreet.query.sensitivity import Reach
from discreet.query.split import gaussian_shares, laplace_shares
from discreet.relation import Relation
from discreet.terms import Terms


@dataclass(frozen=True)
class Plan:
    """A draft with its mechanisms; the (ε, δ) of its terms is charged."""

    draft: Draft
    joint: Joint
    terms: Terms
    why: str  # the reason for this noise

    @property
    def cost(self) -> Cost:
        """Of all parts together."""
        return self.joint.cost

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The parts with their mechanisms."""
        return self.joint.measured


def plan_of(draft: Draft, terms: Terms) -> Plan:
    """The plan with the smallest total error at these terms."""
    epsilon, delta = terms.epsilon, terms.delta
    hidden = not draft.cells.public
    if hidden and delta == 0:
        raise _needs_delta(draft)
    shares = laplace_shares({need.part: (need.weight, need.sensitivity) for need in draft.needs})
    _require_enough(draft, shares, epsilon)
    numbers = tuple(need for need in draft.needs if isinstance(need.part, Rows | Units | Distinct | RowSum))
    choices = tuple(need for need in draft.needs if need not in numbers)
    laplace = tuple(
        Measured(need.part, need.sensitivity, additive.laplace(need.sensitivity, epsilon * shares[need.part]),
                 epsilon * shares[need.part])
        for need in numbers
    )  # fmt: skip
    noisy, why, normal_delta = laplace, _why_laplace(numbers, delta), Fraction(0)
    if delta and numbers:
        gaussian_delta = delta / 2 if hidden else delta
        gaussian_epsilon = sum((epsilon * shares[need.part] for need in numbers), Fraction(0))
        if _gaussian_error(numbers, float(gaussian_epsilon), float(gaussian_delta)) < _error(laplace, numbers):
            noisy, normal_delta = _gaussian(numbers, gaussian_epsilon, gaussian_delta), gaussian_delta
            shown = amounts.text_of(gaussian_delta)
            why = f"Gaussian noise: at delta = {shown} its total error is smaller than Laplace noise's."
    keys_delta = delta - normal_delta if hidden else Fraction(0)
    selections = tuple(_selection(need, epsilon * shares[need.part], keys_delta, draft) for need in choices)
    limit = most_groups(draft.cells, draft.recipes) if hidden else None
    return Plan(draft, Joint(selections + noisy, limit), replace(terms, delta=normal_delta + keys_delta), why)


def _require_enough(draft: Draft, shares: Mapping[Part, Fraction], epsilon: Fraction) -> None:
    """Refuses an ε whose shares are too small to be priced, or would need wider noise than can be drawn."""
    least = max(
        max(amounts.MIN_EPSILON, need.sensitivity.l1 / amounts.MAX_SCALE) / shares[need.part] for need in draft.needs
    )
    if least > amounts.MAX_EPSILON:
        why = "One unit can move it by more steps than there is noise for, at any epsilon."
        fix = "Under its column write narrower bounds or a coarser step, such as a thousandth of the bounds' width."
        raise NotAnswerable("A column's bounds are too many steps apart.", why, fix)
    if epsilon < least:
        enough = amounts.text_up(least, 3)
        fix = f"Give at least {enough}, or ask about fewer things at once."
        raise bad("epsilon", "is too small for all parts of this question", amounts.text_of(epsilon), fix)


def _gaussian(numbers: tuple[Need, ...], epsilon: Fraction, delta: Fraction) -> tuple[Measured, ...]:
    """One Gaussian mechanism on all parts side by side, each part scaled by its share of μ² = 1/σ²."""
    sigma = calibrate.gaussian_sigma(epsilon, delta)
    shares = gaussian_shares({need.part: (need.weight, need.sensitivity) for need in numbers})
    return tuple(
        Measured(need.part, need.sensitivity, additive.gaussian_share(need.sensitivity, sigma, shares[need.part]), None)
        for need in numbers
    )


def _gaussian_error(numbers: tuple[Need, ...], epsilon: float, delta: float) -> float:
    """`_error` of Gaussian noise: (Σ √(w·(l2/u)²))²·σ², since μ_i² is shared out by these roots.

    In floats: they decide which noise is taken and never how much of it.
    """
    roots = sum(sqrt(float(need.weight * need.sensitivity.l2_squared / need.sensitivity.linf**2)) for need in numbers)
    return (roots * analytic.rough_sigma(epsilon, delta)) ** 2


def _selection(need: Need, epsilon: Fraction, delta: Fraction, draft: Draft) -> Measured:
    """A part that is chosen rather than counted, with its mechanism."""
    mechanism: Mechanism
    match need.part:
        case Ranks(q=q):
            mechanism = quantile(need.sensitivity, epsilon, q=q)
        case Tops(k=k):
            monotone = draft.reach.relation is Relation.ADD_REMOVE
            mechanism = (monotone_top_k if monotone else top_k)(need.sensitivity, epsilon, k)
        case Present():
            mechanism = _keys(draft.reach, epsilon, delta)
        case _:
            raise TypeError(type(need.part).__name__)
    return Measured(need.part, need.sensitivity, mechanism, epsilon)


def _keys(reach: Reach, epsilon: Fraction, delta: Fraction) -> KeySelection:
    """The selection with the lower threshold; Gaussian noise, with half of δ, wins where a unit is in many groups."""
    laplace = key_selection(reach.groups, epsilon, delta, relation=reach.relation)
    if reach.groups == 1:
        return laplace
    sigma = calibrate.gaussian_sigma(epsilon, delta / 2) * additive.root_up(laplace.sensitivity.l2_squared)
    normal = gaussian_key_selection(reach.groups, additive.readable_sigma(sigma), delta / 2, relation=reach.relation)
    return min(laplace, normal, key=lambda selection: selection.threshold)


def _error(measured: tuple[Measured, ...], needs: tuple[Need, ...]) -> float:
    """Σ weight · variance, in squares of each part's own unit."""
    total = 0.0
    for part, need in zip(measured, needs, strict=True):
        if isinstance(part.mechanism, additive.Additive):
            total += float(need.weight) * part.mechanism.variance / float(need.sensitivity.linf) ** 2
    return total


def _why_laplace(numbers: tuple[Need, ...], delta: Fraction) -> str:
    if not numbers:
        return "Nothing is counted or added up, so no noise is added: values are chosen at random near the best."
    if delta == 0:
        return "Laplace noise: without a delta there is no other."
    return f"Laplace noise: its total error is not larger than Gaussian noise's at delta = {amounts.text_of(delta)}."


def _needs_delta(draft: Draft) -> NotAnswerable:
    names = ", ".join(cells.key.name for cells in draft.cells.keys if cells.labels is None)
    why = f"The values of {names} are not public, and to find them privately takes a delta above 0."
    fix = 'List them in the metadata: values = ["…"], or give --delta (the budget needs a delta too).'
    return NotAnswerable("These groups cannot be found without a delta.", why, fix)
