"""What a ledger is bound to when it is opened: dataset, unit, relation, budget and caps.

Caps stand beside the budget: typed ε of one question, typed δ of one question, typed ε of each analyst, and how many
answers may fail before the dataset closes.  All are public.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts, relation
from discreet.errors import bad
from discreet.ledger import filter as filters
from discreet.ledger.filter import Budget, EpsilonDelta, EpsilonOnly
from discreet.relation import Relation

FAILURES = 5
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Rules:
    """A budget and its caps, `max_epsilon` and `max_delta` for one question; None is no cap."""

    budget: Budget
    max_epsilon: Fraction | None = None
    max_delta: Fraction | None = None
    analysts: tuple[tuple[str, Fraction], ...] = ()
    failures: int = FAILURES

    def __post_init__(self) -> None:
        if not isinstance(self.budget, (EpsilonOnly, EpsilonDelta)):
            raise bad("budget", "must be a Budget", self.budget, "Give discreet.ledger.filter.budget(1, '1e-7').")
        epsilon = None if self.max_epsilon is None else amounts.epsilon(self.max_epsilon, "max_epsilon")
        delta = None if self.max_delta is None else amounts.probability(self.max_delta, "max_delta")
        caps: Any = self.analysts.items() if isinstance(self.analysts, Mapping) else self.analysts
        values = {
            "max_epsilon": epsilon,
            "max_delta": delta,
            "analysts": _caps(caps),
            "failures": amounts.count(self.failures, "failures", 1, 10**6),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def cap(self, analyst: str | None) -> Fraction | None:
        """The analyst's own cap, None where there is none."""
        return None if analyst is None else dict(self.analysts).get(analyst)


def _caps(pairs: Iterable[tuple[Any, Any]]) -> tuple[tuple[str, Fraction], ...]:
    caps = {text(name, "analyst"): amounts.epsilon(cap, f"cap of {name}") for name, cap in pairs}
    return tuple(sorted(caps.items()))


@dataclass(frozen=True)
class Opening:
    """What the first entry binds: `unit` names who is protected, in the curator's words."""

    dataset: str
    unit: str
    relation: Relation
    rules: Rules

    def __post_init__(self) -> None:
        object.__setattr__(self, "dataset", text(self.dataset, "dataset"))
        object.__setattr__(self, "unit", text(self.unit, "unit"))
        object.__setattr__(self, "relation", relation.relation(self.relation))
        if not isinstance(self.rules, Rules):
            raise bad("rules", "must be Rules", self.rules, "Give Rules(budget(1)).")


def text(value: Any, name: str, longest: int = _LONGEST_NAME) -> str:
    """A name: printable text of 1 to `longest` characters."""
    if not isinstance(value, str) or not 1 <= len(value) <= longest or not value.isprintable():
        raise bad(name, f"must be printable text of 1 to {longest} characters", value, "Give a short name.")
    return value


def to_json(rules: Rules) -> dict[str, Any]:
    """A JSON object with exact numbers as text."""
    return {
        "budget": filters.to_json(rules.budget),
        "max_epsilon": None if rules.max_epsilon is None else str(rules.max_epsilon),
        "max_delta": None if rules.max_delta is None else str(rules.max_delta),
        "analysts": {name: str(cap) for name, cap in rules.analysts},
        "failures": rules.failures,
    }


def from_json(data: Any) -> Rules:
    """The rules that `to_json` described.

    >>> rules = Rules(filters.budget(3, "1e-7"), max_epsilon=1, analysts={"ana": 1})
    >>> from_json(to_json(rules)) == rules
    True
    """
    epsilon, delta = data["max_epsilon"], data["max_delta"]
    return Rules(
        filters.from_json(data["budget"]),
        None if epsilon is None else Fraction(epsilon),
        None if delta is None else Fraction(delta),
        tuple((name, Fraction(cap)) for name, cap in data["analysts"].items()),
        data["failures"],
    )
