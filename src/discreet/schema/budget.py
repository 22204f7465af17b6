"""The budget as the curator wrote it; the ledger fixes it at opening."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.amounts import DELTA_CEILING, MAX_EPSILON, MIN_EPSILON
from discreet.schema.words import flag, key, name, number, refusal, toml_value


@dataclass(frozen=True)
class Budget:
    """ε and δ of the whole dataset, ε caps of analysts and of one question, and the ceiling of every δ.

    >>> Budget(3, "1e-7", analysts={"ana": 1}).cap("ana")
    Fraction(1, 1)
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    analysts: tuple[tuple[str, Fraction], ...] = ()
    max_epsilon_per_question: Fraction | None = None
    max_delta: Fraction = DELTA_CEILING
    share_answers: bool = False

    def __post_init__(self) -> None:
        self._set("epsilon", _epsilon(self.epsilon, key("budget", "epsilon"), None))
        self._set("max_delta", _ceiling(self.max_delta))
        self._set("delta", _delta(self.delta, self.max_delta))
        self._set("analysts", _caps(self.analysts, self.epsilon))
        if self.max_epsilon_per_question is not None:
            where = key("budget", "max_epsilon_per_question")
            self._set("max_epsilon_per_question", _epsilon(self.max_epsilon_per_question, where, self.epsilon))
        self._set("share_answers", flag(self.share_answers, key("budget", "share_answers")))

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    def cap(self, analyst: str) -> Fraction | None:
        """The analyst's own cap, or None where only the dataset's budget binds."""
        return dict(self.analysts).get(analyst)


def _epsilon(value: Any, where: str, limit: Fraction | None) -> Fraction:
    field = where.rpartition(".")[2]
    rule, fix = "must be a decimal number between 1e-9 and 1e6", f"Write, for example: {field} = 1"
    parsed = number(value, where, rule, fix)
    if not MIN_EPSILON <= parsed <= MAX_EPSILON:
        raise refusal(where, rule, value, fix)
    if limit is not None and parsed > limit:
        rule = f"must be at most the dataset's epsilon, {toml_value(limit)}"
        raise refusal(where, rule, value, f"Write: {field} = {toml_value(limit)}")
    return parsed


def _ceiling(value: Any) -> Fraction:
    where, rule, fix = key("budget", "max_delta"), "must be at least 0 and below 1", "Write: max_delta = 1e-6"
    parsed = number(value, where, rule, fix)
    if not 0 <= parsed < 1:
        raise refusal(where, rule, value, fix)
    return parsed


def _delta(value: Any, ceiling: Fraction) -> Fraction:
    where = key("budget", "delta")
    rule = f"must be a decimal number between 0 and its ceiling {toml_value(ceiling)}"
    lower = min(ceiling, Fraction(1, 10**7))
    fix = f"Write: delta = {toml_value(lower)} (a public population under [dataset] makes the ceiling 1/population)."
    parsed = number(value, where, rule, fix)
    if not 0 <= parsed <= ceiling:
        raise refusal(where, rule, value, fix)
    return parsed


def _caps(value: Any, limit: Fraction) -> tuple[tuple[str, Fraction], ...]:
    where = key("budget", "analysts")
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, (tuple, list)) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        fix = "Write: [budget.analysts] and below it: ana = 1"
        raise refusal(where, "must be a table of names and their epsilon", value, fix)
    caps = {}
    for analyst, cap in pairs:
        named = name(analyst, where, "Write, for example: ana = 1")
        caps[named] = _epsilon(cap, key("budget", "analysts", named), limit)
    return tuple(sorted(caps.items()))
