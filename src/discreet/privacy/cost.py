"""Descriptions of privacy promises: a closed union of frozen values, and their JSON.

Names and meanings of stored costs never change and none is ever removed: a ledger must be readable for ever.
Accountants (price.py) are functions that interpret a cost and refuse what they do not know.
"""

import re
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import bad

_MOST_TIMES = 10**9


@dataclass(frozen=True)
class Pure:
    """ε-DP: every event's odds move by at most e^ε."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _set(self, epsilon=amounts.epsilon(self.epsilon))


@dataclass(frozen=True)
class Response:
    """Randomized response at ε: the loss is ±ε exactly, the worst any ε-DP mechanism can be (Kairouz et al. 2015)."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _set(self, epsilon=amounts.epsilon(self.epsilon))


@dataclass(frozen=True)
class Exponential:
    """The exponential mechanism at ε: ε-bounded range, so ε-DP and ε²/8-zCDP (Cesar & Rogers 2021)."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _set(self, epsilon=amounts.epsilon(self.epsilon))


@dataclass(frozen=True)
class Approx:
    """(ε, δ)-DP and nothing more is known."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _set(self, epsilon=_epsilon_or_zero(self.epsilon), delta=amounts.probability(self.delta, "delta"))


@dataclass(frozen=True)
class Zcdp:
    """ρ-zero-concentrated DP: Rényi divergence of order α at most αρ, for every α > 1 (Bun & Steinke 2016)."""

    rho: Fraction

    def __post_init__(self) -> None:
        _set(self, rho=amounts.positive(self.rho, "rho"))


@dataclass(frozen=True)
class Gaussian:
    """A continuous Gaussian, rounded or not, with `sigma` per unit of l2 sensitivity: μ = 1/sigma."""

    sigma: Fraction

    def __post_init__(self) -> None:
        _set(self, sigma=amounts.positive(self.sigma, "sigma"))


@dataclass(frozen=True)
class Sampled:
    """`cost` on a Poisson sample: each unit is in with probability `rate`, independently."""

    rate: Fraction
    cost: "Cost"

    def __post_init__(self) -> None:
        _set(self, rate=amounts.probability(self.rate, "rate"), cost=_inside(self.cost))


@dataclass(frozen=True)
class Repeated:
    """`cost`, `times` times in sequence."""

    cost: "Cost"
    times: int

    def __post_init__(self) -> None:
        _set(self, cost=_inside(self.cost), times=amounts.count(self.times, "times", 1, _MOST_TIMES))


@dataclass(frozen=True)
class Together:
    """All of these on the same units (sequential composition); of none, nothing."""

    costs: "tuple[Cost, ...]"

    def __post_init__(self) -> None:
        _set(self, costs=_costs(self.costs))


@dataclass(frozen=True)
class Apart:
    """Each on its own part of the units, parts fixed beforehand: a unit meets only one (parallel composition).

    Sound under add-remove when a unit's part cannot change; under replace-one a unit may leave one part and enter
    another and pays for both.
    """

    costs: "tuple[Cost, ...]"

    def __post_init__(self) -> None:
        _set(self, costs=_costs(self.costs))


@dataclass(frozen=True)
class Group:
    """`cost` read as a promise to `size` units at once."""

    cost: "Cost"
    size: int

    def __post_init__(self) -> None:
        _set(self, cost=_inside(self.cost), size=amounts.count(self.size, "size", 1, _MOST_TIMES))


Cost = Pure | Response | Exponential | Approx | Zcdp | Gaussian | Sampled | Repeated | Together | Apart | Group

KINDS = (Pure, Response, Exponential, Approx, Zcdp, Gaussian, Sampled, Repeated, Together, Apart, Group)
_NAMES = "pure response exponential approx zcdp gaussian sampled repeated together apart group"  # as they are stored
_KINDS: dict[str, type[Any]] = dict(zip(_NAMES.split(), KINDS, strict=True))
_NAMED = {kind: name for name, kind in _KINDS.items()}
_DEEPEST = 50
_STORED = re.compile(r"\d+(/\d*[1-9]\d*)?", re.ASCII)
_LONGEST_STORED = 1000


def to_json(cost: Cost) -> dict[str, Any]:
    """A JSON object with exact numbers as text.

    >>> to_json(Repeated(Sampled("0.01", Gaussian(1)), 1000))["cost"]["rate"]
    '1/100'
    """
    return {"kind": _NAMED[type(cost)]} | {f.name: _plain(getattr(cost, f.name)) for f in fields(cost)}


def from_json(data: Any, depth: int = 0) -> Cost:
    """The cost that `to_json` described; anything else is refused."""
    fix = "Give what `to_json` printed."
    if depth > _DEEPEST or not isinstance(data, dict) or data.get("kind") not in list(_KINDS):
        raise bad("cost", f"must be a JSON object whose kind is one of {', '.join(_KINDS)}", data, fix)
    kind = _KINDS[data["kind"]]
    names = {f.name for f in fields(kind)}
    if set(data) != names | {"kind"}:
        raise bad(f"cost {data['kind']}", f"must have exactly the keys kind, {', '.join(sorted(names))}", data, fix)
    values: dict[str, Any] = {name: data[name] for name in names}
    if "cost" in values:
        values["cost"] = from_json(values["cost"], depth + 1)
    if "costs" in values:
        if not isinstance(values["costs"], list):
            raise bad("costs", "must be a JSON list", data, fix)
        values["costs"] = tuple(from_json(c, depth + 1) for c in values["costs"])
    values |= {name: _number(value) for name, value in values.items() if isinstance(value, str)}
    cost: Cost = kind(**values)
    return cost


def _number(text: str) -> Any:
    """A stored Fraction, which may be longer than anyone may type; other text stays text, and its field refuses it."""
    short = len(text) <= _LONGEST_STORED and _STORED.fullmatch(text)
    return Fraction(text) if short else text


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [to_json(c) for c in value]
    if isinstance(value, Fraction):
        return str(value)
    return value if isinstance(value, int) else to_json(value)


def _set(cost: Any, /, **values: Any) -> None:
    """Set fields of a frozen cost while it is made, so that they hold exact Fractions whatever was typed."""
    for name, value in values.items():
        object.__setattr__(cost, name, value)


def require_cost(value: Any) -> "Cost":
    """The value itself if it is a cost, otherwise refused; every cost is nested at most 50 deep."""
    if not isinstance(value, Cost):
        raise bad("cost", "must be a Cost", value, "Give Pure(1), Gaussian(2), Together((…)) and so on.")
    return value


def _inside(value: Any) -> "Cost":
    """A cost that one more layer may hold."""
    cost = require_cost(value)
    if _depth(cost) >= _DEEPEST:
        raise bad("cost", f"must be nested at most {_DEEPEST} deep", type(value).__name__, "Flatten it by Together.")
    return cost


def _costs(values: Any) -> "tuple[Cost, ...]":
    if not isinstance(values, (tuple, list)):
        raise bad("costs", "must be a tuple of costs", values, "Give (Pure(1), Gaussian(2)) and so on.")
    return tuple(_inside(value) for value in values)


def _depth(cost: "Cost") -> int:
    match cost:
        case Sampled() | Repeated() | Group():
            return 1 + _depth(cost.cost)
        case Together() | Apart():
            return 1 + max(map(_depth, cost.costs), default=0)
        case _:
            return 1


def _epsilon_or_zero(value: Any) -> Fraction:
    parsed = amounts.decimal(value, "epsilon")
    return parsed if parsed == 0 else amounts.epsilon(value)


FREE = Together(())
