"""What an attacker can conclude despite a promise: beliefs, guesses and catches, rounded to the worse side.

    units_at_once   how many steps of the relation a question spans
    reaches         for each question that the relation protects: how far odds about one unit can move
    loss_bound      ε such that no answer moves the odds by more than e^ε, except with a stated chance
    posterior       the belief such odds leave from a prior
    guess           how often the best guess is right
    catch_rate      how many members an ideal attacker names at a rate of false alarms

Pure promises are exact formulas; every other cost is read off its whole curve δ(ε).  Proof page:
docs/proofs/privacy/odds.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from flint import arb

from discreet import amounts
from discreet.errors import NotPriced, bad
from discreet.privacy import analytic, convert
from discreet.privacy.certify import down, up
from discreet.privacy.cost import Approx, Cost, Exponential, Gaussian, Group, Pure, Response, Zcdp
from discreet.real import ball, normal_tail
from discreet.relation import Relation, relation

_MOST_UNITS = 10**6
_FAR = 4000  # e^4000 outweighs any prior that can be typed
LENIENCE = 100  # chance/δ of a plain (ε, δ): its odds bound is then ε + 0.0101
_WIDE = 1000  # μ beyond which a tail is only bounded
_SHARES = (Fraction(1, 100), Fraction(1, 8), Fraction(1, 2))
_GRID = tuple(Fraction(step, 8) for step in (0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128))


class Question(StrEnum):
    """What the attacker wants to know about one unit."""

    PRESENCE = "presence"  # are you in the data at all?
    VALUE = "value"  # which of two values is yours?


@dataclass(frozen=True)
class Belief:
    """Where the attacker's belief ends up: from `low` to `high`, whatever was published."""

    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Reach:
    """How far odds about one question can move, up or down: by e^loss at most, but for `chance`, which counts both
    directions; no loss where nothing is known."""

    question: Question
    steps: int
    loss: Fraction | None
    chance: Fraction
    best_guess: Fraction

    def to_json(self) -> dict[str, Any]:
        """Numbers as text, rounded up."""
        return {
            "question": str(self.question),
            "steps": self.steps,
            "log_factor": None if self.loss is None else amounts.text_up(self.loss, 6),
            "except_chance": amounts.text_up(self.chance, 6),
            "guess": float(amounts.rounded_up(self.best_guess, 6)),
        }


def units_at_once(question: Any, under: Any, group: Any = 1) -> int:
    """How many steps of the relation lie between the attacker's two stories about `group` units.

    Under add-remove, presence is one step and a changed value two (out with one, in with the other): "which value is
    yours" can move by 2ε.  Under replace-one a changed value is one step, and presence is not a secret.

    >>> units_at_once("value", "add-remove"), units_at_once("value", "replace-one")
    (2, 1)
    """
    kind, neighbours, size = _question(question), relation(under), amounts.count(group, "group", 1, _MOST_UNITS)
    match kind, neighbours:
        case Question.VALUE, Relation.ADD_REMOVE:
            return 2 * size
        case (Question.PRESENCE, Relation.ADD_REMOVE) | (Question.VALUE, Relation.REPLACE_ONE):
            return size
        case _:
            rule = "must be 'value' under replace-one, where the number of units is public"
            raise bad("question", rule, str(kind), "Ask about the value, or use the relation add-remove.")


def reaches(cost: Cost, under: Any, rare: Any = 0, *, group: Any = 1) -> tuple[Reach, ...]:
    """Every question about `group` units that the relation protects, in the order of `Question`: under add-remove
    presence, one step, and a value, two; under replace-one a value alone, one step.

    `rare` is the chance that an answer may move odds further towards the truth; a plain (ε, δ) has its own.

    >>> [(each.question.value, each.loss) for each in reaches(Pure(1), "add-remove")]
    [('presence', Fraction(1, 1)), ('value', Fraction(2, 1))]
    """
    kinds = list(Question) if relation(under) is Relation.ADD_REMOVE else [Question.VALUE]
    return tuple(reach(cost, under, rare, question=kind, group=group) for kind in kinds)


def reach(cost: Cost, under: Any, rare: Any = 0, *, question: Any, group: Any = 1) -> Reach:
    """How far odds about one question can move, for `group` units."""
    steps = units_at_once(question, under, group)
    towards = exception_chance(cost, rare, units=steps)
    loss = loss_bound(cost, towards, units=steps) if towards < 1 else None
    chance = Fraction(1) if loss is None else either_way(towards, loss)
    return Reach(_question(question), steps, loss if chance < 1 else None, chance, guess(cost, units=steps))


def either_way(chance: Fraction, loss: Fraction) -> Fraction:
    """How often odds move by more than e^loss up or down: η + e^(−loss)·η, rounded up, at most 1.

    η = `chance` is that of moving them too far towards the truth; away from it the chance is at most e^(−loss) of that.

    >>> float(either_way(Fraction(1, 10**4), Fraction(0))), either_way(Fraction(0), Fraction(1))
    (0.0002, Fraction(0, 1))
    """
    return min(Fraction(1), up(lambda: ball(chance) * (1 + ball(-loss).exp()))) if chance else Fraction(0)


def exception_chance(cost: Cost, rare: Any, *, units: int = 1) -> Fraction:
    """How often odds may move too far towards the truth: `rare`, but for a plain (ε, δ) 100 times its δ for so many
    units, at most 1.

    >>> float(exception_chance(Approx(0, "1e-6"), 0, units=2))
    0.0002
    """
    if not isinstance(cost, Approx):
        return amounts.probability(rare, "chance")
    return min(Fraction(1), LENIENCE * convert.group_approx(cost.epsilon, cost.delta, units)[1])


def posterior(loss: Any, prior: Any) -> Belief:
    """[p/(p + (1−p)e^ε), p·e^ε/(p·e^ε + 1−p)]: where a belief p can go when odds move by at most e^ε, ε = `loss` ≥ 0.

    >>> belief = posterior(Fraction(1, 10), "0.4")
    >>> round(float(belief.low), 4), round(float(belief.high), 4)
    (0.3763, 0.4242)
    """
    p, epsilon = amounts.inner_probability(prior, "prior"), _loss(loss)
    if epsilon > _FAR:
        return Belief(Fraction(0), Fraction(1))
    low = down(lambda: 1 / (1 + ball((1 - p) / p) * ball(epsilon).exp()))
    high = up(lambda: 1 / (1 + ball((1 - p) / p) * ball(-epsilon).exp()))
    return Belief(low, min(Fraction(1), high))


def response_posterior(prior: Any, yes_if_true: Any, yes_if_false: Any) -> Fraction:
    """Bayes' rule after a "yes": p·a/(p·a + (1−p)·b), exactly; a, b = Pr[yes] of those it is true and false for.

    >>> response_posterior("0.02", "3/4", "1/4")   # two fair coins: 0.0577
    Fraction(3, 52)
    """
    p = amounts.inner_probability(prior, "prior")
    hit, slip = amounts.probability(yes_if_true, "yes_if_true"), amounts.probability(yes_if_false, "yes_if_false")
    if hit == slip == 0:
        raise bad(
            "yes_if_true", "must be above 0 when yes_if_false is 0", hit, "Give the chance of a yes, such as 3/4."
        )
    return p * hit / (p * hit + (1 - p) * slip)


def loss_bound(cost: Cost, chance: Any, *, units: int = 1) -> Fraction:
    """ε such that, except with probability ≤ `chance`, no answer moves the odds of `units` units by more than e^ε.

    Pure promises need no exception.  Otherwise δ(ε') ≥ Pr[loss > ε]·(1 − e^(ε'−ε)) for every ε' < ε, whatever is done
    to the outcome: with δ(ε') = s·chance, ε = ε' − ln(1 − s), the best of a few shares s.  For a Gaussian the best of
    all is ln(Pr[N > z]/Pr[N > z + μ]), μ = units/σ, Pr[N > z] ≤ chance, rounded or not; the law of the continuous loss,
    μ²/2 + μ·z, is too small for the rounded one.  The chance is that of moving the odds towards the truth; that of
    moving them as far away from it is at most e^(−ε) times as large and comes on top.

    >>> loss_bound(Pure(1), 0, units=2)
    Fraction(2, 1)
    """
    allowed, units = amounts.probability(chance, "chance"), _steps(units)
    certain = _epsilons(cost, Fraction(0), units)
    if certain and (allowed == 0 or isinstance(cost, Pure | Response | Exponential)):
        return certain[0]
    if not 0 < allowed < 1:
        rule = "must be above 0 and below 1 for a promise with a δ: some rare answers may move the odds further"
        raise bad("chance", rule, chance, "Give a number such as 1e-6.")
    if isinstance(cost, Gaussian):
        return _normal_loss(_normal_point(allowed), Fraction(units) / cost.sigma)
    bounds = [_beyond(epsilon, share) for share in _SHARES for epsilon in _epsilons(cost, share * allowed, units)]
    if not bounds:
        rule = "must be at least twice the promise's own δ: nothing is known about rarer answers"
        raise bad("chance", rule, chance, "Give a chance of 100 δ or more.")
    return min(certain + bounds)


def curve(cost: Cost, *, units: int = 1) -> Callable[[Fraction], Fraction]:
    """δ as a function of ε ≥ 0, for `units` units at once; each value surely not too small."""
    units = _steps(units)
    match cost:
        case Pure(epsilon=epsilon) | Response(epsilon=epsilon) | Exponential(epsilon=epsilon):
            return lambda x: convert.delta_of_pure(convert.group_pure(epsilon, units), x)
        case Approx(epsilon=epsilon, delta=delta):
            total, leak = convert.group_approx(epsilon, delta, units)
            return lambda x: leak + (1 - leak) * convert.delta_of_pure(total, x)
        case Gaussian(sigma=sigma):
            return lambda x: analytic.delta_of_square(Fraction(units) ** 2 / sigma**2, x)
        case Zcdp(rho=rho):
            total = convert.group_zcdp(rho, units)
            return lambda x: _zcdp_distance(total) if x == 0 else convert.delta_of_zcdp(total, x)
        case _:
            from discreet.privacy import price

            return lambda x: price.delta(_together(cost, units), x).value


def guess(cost: Cost, prior: Any = Fraction(1, 2), *, units: int = 1) -> Fraction:
    """How often the best guess between two stories is right: max(p, 1−p) + min(p, 1−p)·δ(|ln(p/(1−p))|).

    At p = ½ this is ½ + δ(0)/2, for pure ε e^ε/(1+e^ε), for a Gaussian Φ(μ/2).

    >>> round(float(guess(Pure(1))), 4)
    0.7311
    """
    p = amounts.inner_probability(prior, "prior")
    likely, unlikely = max(p, 1 - p), min(p, 1 - p)
    epsilon = down(lambda: ball(likely / unlikely).log()) if likely > unlikely else Fraction(0)
    epsilon = epsilon if epsilon >= amounts.MIN_EPSILON else Fraction(0)  # a smaller ε has a larger δ: the safe side
    return min(Fraction(1), likely + unlikely * curve(cost, units=units)(epsilon))


def laplace_guess(epsilon: Any) -> Fraction:
    """1 − e^(−ε/2)/2: the best 50/50 guess from a count with *continuous* Laplace noise of scale 1/ε.

    Integer noise, which Discreet adds, allows `guess`, a little more: there a count is randomized response.
    """
    exact = amounts.epsilon(epsilon)
    return up(lambda: 1 - (-ball(exact) / 2).exp() / 2)


def catch_rate(cost: Cost, false_alarms: Any, *, units: int = 1) -> Fraction:
    """The most members caught at false-alarm rate a: least of 1, e^ε·a + δ, 1 − e^(−ε)(1 − δ − a) on the curve.

    Gaussian: Φ(Φ⁻¹(a) + μ).

    >>> round(float(catch_rate(Pure(2), "0.01")), 3)
    0.074
    """
    alarms, units = amounts.inner_probability(false_alarms, "false_alarms"), _steps(units)
    match cost:
        case Gaussian(sigma=sigma):
            return analytic.catch_rate(Fraction(units) ** 2 / sigma**2, alarms)
        case Pure(epsilon=epsilon) | Response(epsilon=epsilon) | Exponential(epsilon=epsilon):
            points = [(convert.group_pure(epsilon, units), Fraction(0))]
        case Approx(epsilon=epsilon, delta=delta):
            points = [convert.group_approx(epsilon, delta, units)]
        case Zcdp():
            delta_at = curve(cost, units=units)
            points = [(epsilon, delta_at(epsilon)) for epsilon in _GRID]
        case _:
            from discreet.privacy import price

            return price.tradeoff(_together(cost, units), alarms).value
    return min(_catch_at(epsilon, delta, alarms) for epsilon, delta in points)


def _catch_at(epsilon: Fraction, delta: Fraction, alarms: Fraction) -> Fraction:
    if epsilon > _FAR:
        return Fraction(1)
    straight = up(lambda: ball(alarms) * ball(epsilon).exp() + ball(delta))
    missed = max(Fraction(0), down(lambda: (1 - ball(delta) - ball(alarms)) * ball(-epsilon).exp()))
    return min(Fraction(1), straight, 1 - missed)


def _beyond(epsilon: Fraction, share: Fraction) -> Fraction:
    return up(lambda: ball(epsilon) - ball(1 - share).log())


def _epsilons(cost: Cost, delta: Fraction, units: int) -> list[Fraction]:
    """The cost's ε at δ for so many units, or nothing if it has none."""
    match cost:
        case Pure(epsilon=epsilon) | Response(epsilon=epsilon) | Exponential(epsilon=epsilon):
            return [convert.group_pure(epsilon, units)]
        case Approx():
            epsilon, leak = convert.group_approx(cost.epsilon, cost.delta, units)
            return [epsilon] if leak <= delta else []
        case Gaussian() | Zcdp() if delta == 0:
            return []
        case Zcdp(rho=rho):
            return [convert.epsilon_of_zcdp(convert.group_zcdp(rho, units), delta)]
        case _:
            from discreet.privacy import price

            try:
                return [price.epsilon(_together(cost, units), delta).value]
            except NotPriced:
                return []


def _together(cost: Cost, units: int) -> Cost:
    return cost if units == 1 else Group(cost, units)


def _zcdp_distance(rho: Fraction) -> Fraction:
    """δ(0), the total variation, of ρ-zCDP: min(√(ρ/2), √(1 − e^(−ρ))) (Pinsker; Bretagnolle & Huber 1979)."""
    return min(up(lambda: (ball(rho) / 2).sqrt()), up(lambda: (-(-ball(rho)).expm1()).sqrt()), Fraction(1))


def _normal_point(chance: Fraction) -> Fraction:
    """A z ≥ 0 with Pr[N(0, 1) > z] ≤ chance, certified; Pr[N > √(2 ln(1/chance))] ≤ chance is the way out."""
    if chance > Fraction(1, 10**300):
        z = Fraction(max(0.0, -NormalDist().inv_cdf(float(chance))) + 1e-9)
        if up(lambda: normal_tail(ball(z))) <= chance:
            return z
    return up(lambda: (-2 * ball(chance).log()).sqrt())


def _normal_loss(z: Fraction, mu: Fraction) -> Fraction:
    """ln(Pr[N > z]/Pr[N > z + μ]) for z ≥ 0, rounded up; where the second is too small to be enclosed, by Pr[N > z] ≤
    e^(−z²/2)/2 and Pr[N > x] ≥ x·e^(−x²/2)/((x² + 1)·√2π)."""
    far = z + mu
    if mu > _WIDE:
        return mu * mu / 2 + mu * z + up(lambda: ball(far + 1 / far).log() + (arb.pi() / 2).log() / 2)
    return up(lambda: (normal_tail(ball(z)) / normal_tail(ball(far))).log())


def _loss(value: Any) -> Fraction:
    """A loss as typed, or a result of `loss_bound`, whose Fractions may be longer than anyone may type."""
    rule, fix = "must be a decimal number of at least 0", "Give a number such as 1, or what `loss_bound` returned."
    parsed = value if isinstance(value, Fraction) else amounts.decimal(value, "loss", rule, fix)
    if parsed < 0:
        raise bad("loss", rule, value, fix)
    return parsed


def _steps(units: Any) -> int:
    return amounts.count(units, "units", 1, 2 * _MOST_UNITS)


def _question(value: Any) -> Question:
    try:
        return Question(value)
    except ValueError:
        raise bad("question", "must be 'presence' or 'value'", value, "Ask 'presence' under add-remove.") from None
