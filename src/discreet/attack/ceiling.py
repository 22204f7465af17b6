"""The most that an (ε, δ) promise leaves to any attacker, from the odds of the same promise.

A ceiling is for the group whose rows differ between the two worlds: for k units at once the loss is k·ε.
"""

import math

_MOST_LOSS = 700.0


def group_terms(epsilon: float, delta: float, group: int) -> tuple[float, float]:
    """(kε, δ·(e^{kε} − 1)/(e^ε − 1)): the promise for k units at once (Dwork & Roth 2014, Theorem 2.2, for δ too).

    >>> group_terms(1.0, 0.0, 4)
    (4.0, 0.0)
    """
    if delta == 0 or group == 1:
        return group * epsilon, delta
    growth = sum(_exp(unit * epsilon) for unit in range(group))
    return group * epsilon, min(1.0, delta * growth)


def _exp(loss: float) -> float:
    """e^loss, or 10³⁰⁴ where it leaves the floats: far above 1 over any chance that is not 0."""
    return math.exp(min(loss, _MOST_LOSS))


def guess_of_many(epsilon: float, delta: float = 0.0, *, choices: float = 2, group: int = 1) -> float:
    """The best guess of a secret with `choices` equally likely values: min(1, e^ε/(e^ε + m − 1) + δ).

    Condition: replacing the secret changes `group` units.  Two choices give e^ε/(1 + e^ε).

    >>> round(guess_of_many(1.0), 4), round(guess_of_many(0.0, choices=4), 2)
    (0.7311, 0.25)
    """
    loss, chance = group_terms(epsilon, delta, group)
    return min(1.0, 1 / (1 + (choices - 1) * math.exp(-loss)) + chance)


def guess_of_bit(epsilon: float, delta: float = 0.0, *, share: float = 0.5, group: int = 1) -> float:
    """The best guess of a bit that is 1 with chance p: max(p + (1−p)δ, 1−p + pδ, (e^ε + δ)/(1 + e^ε)).

    Condition: replacing the bit changes `group` units, and the attacker knows p, in `share`.

    >>> round(guess_of_bit(1.0), 4), guess_of_bit(1.0, share=0.9)
    (0.7311, 0.9)
    """
    loss, chance = group_terms(epsilon, delta, group)
    by_answers = (1 + chance * math.exp(-loss)) / (1 + math.exp(-loss))
    often = max(share, 1 - share)
    return max(by_answers, often + (1 - often) * chance)


def caught(epsilon: float, delta: float = 0.0, *, false_alarms: float, group: int = 1) -> float:
    """The most members caught at a rate of false alarms α: min(e^ε·α + δ, 1 − e^{−ε}(1 − δ − α)).

    >>> round(caught(1.0, false_alarms=0.01), 4)
    0.0272
    """
    loss, chance = group_terms(epsilon, delta, group)
    return min(1.0, _exp(loss) * false_alarms + chance, 1 - math.exp(-loss) * (1 - chance - false_alarms))


def chance_of(epsilon: float, delta: float, *, without: float, group: int = 1) -> float:
    """The most likely that an event is when its chance without the group's rows is `without`: e^{kε}·p + δ.

    >>> round(chance_of(1.0, 0.0, without=1e-4), 6)
    0.000272
    """
    return caught(epsilon, delta, false_alarms=without, group=group)
