"""Amplification of a promise by sampling and by shuffling, each with its conditions.

    sampled_promise        the unit was in the sample only by chance
    shuffled_any           behind a shuffler, any ε₀-randomizer: numeric, clone rate e^(−ε₀)
    shuffled_response      behind a shuffler, k-ary randomized response for any k ≥ 2: numeric, clone rate 2/(e^ε₀+1)
    shuffled_closed_form   behind a shuffler, any ε₀-randomizer: a formula, looser

Every shuffling bound needs: one report per privacy unit; the same randomizer for every unit; `reports` = n, the reports
that reached the shuffler, a public number; neighbours by replace-one; and a reader who sees only the shuffler's output.
Against the shuffler itself, and against anyone on the line before it, the local ε₀ is all there is.  Proof page:
docs/proofs/privacy/amplify.md.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from discreet import amounts, real
from discreet.errors import bad
from discreet.privacy import clones
from discreet.privacy.cost import Approx
from discreet.relation import Relation, relation

_LEAST_DELTA = Fraction(1, 10**100)  # below, only the local promise is offered
_LARGEST_LOCAL = 40  # e⁴⁰ reports would be needed for one clone
_HALVINGS = 40
_FINEST = 10**400


class Sampling(StrEnum):
    """How the sample was drawn; the draw itself stays secret."""

    POISSON = "poisson"  # each unit in with probability p, independently
    FIXED_SIZE = "fixed-size"  # a uniformly random m of the n units, n public; p = m/n


@dataclass(frozen=True)
class Amplified:
    """The promise that is left, and which theorem says so."""

    cost: Approx
    route: str


_PROVEN = {Sampling.POISSON: Relation.ADD_REMOVE, Sampling.FIXED_SIZE: Relation.REPLACE_ONE}


def sampled_promise(
    cost: Approx, rate: Any, *, sampling: Any = Sampling.POISSON, under: Any = Relation.ADD_REMOVE
) -> Amplified:
    """(ln(1 + p(e^ε − 1)), pδ), rounded up, for an (ε, δ)-DP mechanism run on a secret sample of rate p.

    Poisson sampling under add-remove, or a sample of fixed size without replacement under replace-one, where the
    mechanism's own (ε, δ) is under the same relation (Balle, Barthe & Gaboardi 2018).  Other pairings are refused: a
    shuffled pass over the rows, say, is neither.

    >>> amounts.rounded_up(sampled_promise(Approx(1, 0), "0.01").cost.epsilon, 4)
    Decimal('0.01704')
    """
    method, neighbours, p = _sampling(sampling), relation(under), amounts.probability(rate, "rate")
    if _PROVEN[method] is not neighbours:
        fix = "Use 'poisson' under 'add-remove', or 'fixed-size' under 'replace-one'."
        raise bad("sampling", "must match the relation its theorem is about", f"{method} under {neighbours}", fix)
    route = f"{method} sampling under {neighbours}, (ln(1 + p(e^ε − 1)), pδ)"
    epsilon = real.upper(lambda: (1 + real.ball(p) * (real.ball(cost.epsilon).exp() - 1)).log()) if p else Fraction(0)
    return Amplified(_approx(min(epsilon, cost.epsilon), p * cost.delta), route)


def shuffled_any(epsilon: Any, reports: Any, delta: Any) -> Amplified:
    """The (ε, δ) of shuffled reports of any one ε₀-randomizer, the same for every unit, `epsilon` = ε₀.

    Pair: C ~ Bin(n−1, e^(−ε₀)), A ~ Bin(C, ½), Δ ~ Bern(e^ε₀/(e^ε₀+1)), (A+Δ, C−A+1−Δ) against its mirror image
    (Feldman, McMillan & Talwar 2021).  Mass cut off numerically is added to δ.  The sharper pair of the same authors'
    2023 paper was corrected by its erratum and is not valid here; see `shuffled_response`.

    >>> amounts.rounded_up(shuffled_any(1, 10**4, "1e-6").cost.epsilon, 2)
    Decimal('0.054')
    """
    return _numeric_bound(epsilon, reports, delta, Fraction(1), Fraction(0), "any ε₀-randomizer, clone rate e^(−ε₀)")


def shuffled_response(epsilon: Any, reports: Any, delta: Any) -> Amplified:
    """The (ε, δ) of shuffled k-ary randomized responses at ε₀ = `epsilon`, for any k ≥ 2.

    Pair: C ~ Bin(n−1, 2/(e^ε₀+1)), A ~ Bin(C, ½), Δ ~ Bern(e^ε₀/(e^ε₀+1)), (A+Δ, C−A+1−Δ) against its mirror image
    (Feldman, McMillan & Talwar 2023, for the randomizers its erratum leaves: R(x) ≥ (R(x₀) + R(x₁))/(e^ε₀+1) for all
    inputs x, x₀, x₁).  Mass cut off numerically is added to δ.

    >>> amounts.rounded_up(shuffled_response(1, 10**4, "1e-6").cost.epsilon, 2)
    Decimal('0.044')
    """
    return _numeric_bound(epsilon, reports, delta, Fraction(2), Fraction(1), "k-ary response, clone rate 2/(e^ε₀+1)")


def shuffled_closed_form(epsilon: Any, reports: Any, delta: Any) -> Amplified:
    """ln(1 + (E−1)/(E+1)·(8√(E·ln(4/δ))/√n + 8E/n)), rounded up; E = e^ε₀, n = `reports`, any ε₀-randomizer.

    For ε₀ ≤ ln(n/(16 ln(2/δ))) (Feldman, McMillan & Talwar 2021); beyond that, and where that is smaller, ε₀ itself.

    >>> amounts.rounded_up(shuffled_closed_form(1, 10**4, "1e-6").cost.epsilon, 3)
    Decimal('0.215')
    """
    local, n, target_delta = _shuffle_inputs(epsilon, reports, delta)
    if target_delta == 0 or not real.less(lambda: _least_reports(local, target_delta), lambda: real.ball(n)):
        return _local(local, "the closed form is out of its range")

    def formula() -> Any:
        e, size = real.ball(local).exp(), real.ball(n)
        spread = 8 * (e * (4 / real.ball(target_delta)).log() / size).sqrt() + 8 * e / size
        return (1 + (e - 1) / (e + 1) * spread).log()

    bound = real.upper(formula)
    if bound >= local:
        return _local(local, "the closed form is larger")
    return Amplified(_approx(bound, target_delta), "shuffling, closed form, any ε₀-randomizer")


def _least_reports(local: Fraction, delta: Fraction) -> Any:
    return 16 * (2 / real.ball(delta)).log() * real.ball(local).exp()


def _numeric_bound(
    epsilon: Any, reports: Any, delta: Any, numerator: Fraction, addend: Fraction, randomizer: str
) -> Amplified:
    """The numeric bound for the clone rate numerator/(E + addend)."""
    local, n, target_delta = _shuffle_inputs(epsilon, reports, delta)
    if target_delta < _LEAST_DELTA or local > _LARGEST_LOCAL:
        return _local(local, "δ or ε₀ is out of the numeric range")
    # A larger E is a weaker randomizer and a smaller rate fewer clones: both roundings are to the safe side.
    ratio = amounts.float_up(real.upper(lambda: real.ball(local).exp()))
    pair = clones.Clones(ratio, amounts.float_down(numerator / (Fraction(ratio) + addend)), n)
    threshold = _smallest_threshold(pair, target_delta, float(local))
    if threshold is None:
        return _local(local, "too few reports")
    bound = real.upper(lambda: real.ball(Fraction(threshold)).log())
    if bound >= local:
        return _local(local, "too few reports")
    return Amplified(_approx(bound, target_delta), f"shuffling, numeric, {randomizer}")


def _smallest_threshold(pair: clones.Clones, delta: Fraction, local: float) -> float | None:
    """A t = e^ε, within 2⁻⁴⁰·ε₀ of the least, at which the pair's δ is certainly at most `delta`; None if none is."""
    table, limit = clones.sheet(pair, delta), amounts.float_down(delta)
    low, high, threshold = 0.0, local, None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if clones.delta(table, math.exp(middle)) <= limit:
            high, threshold = middle, math.exp(middle)
        else:
            low = middle
    return threshold


def _shuffle_inputs(epsilon: Any, reports: Any, delta: Any) -> tuple[Fraction, int, Fraction]:
    return amounts.epsilon(epsilon), amounts.count(reports, "reports", 1), amounts.probability(delta, "delta")


def _local(epsilon: Fraction, reason: str) -> Amplified:
    """No amplification: what each report promises by itself, δ = 0."""
    return Amplified(Approx(epsilon, Fraction(0)), f"the local promise ({reason})")


def _approx(epsilon: Fraction, delta: Fraction) -> Approx:
    """(ε, δ) rounded up to what a cost can hold: ε = 0 or ≥ 10⁻⁹, δ a multiple of 10⁻⁴⁰⁰."""
    typeable = max(epsilon, amounts.MIN_EPSILON) if epsilon > 0 else Fraction(0)
    return Approx(typeable, Fraction(math.ceil(delta * _FINEST), _FINEST))


def _sampling(value: Any) -> Sampling:
    try:
        return Sampling(value)
    except ValueError:
        raise bad("sampling", "must be 'poisson' or 'fixed-size'", value, "Use 'poisson' with add-remove.") from None
