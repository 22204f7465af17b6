"""Terms: the (ε, δ) that a question or a release may take and the level of its ±, parsed once, passed as one value."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.relation import Relation

LEVEL = Fraction(95, 100)
_DELTA_CEILING = Fraction(1, 2)  # of any δ, whatever a budget allows


@dataclass(frozen=True)
class Terms:
    """What may be taken, and how often the ± holds.

    A plan has terms too: there `delta` is what is charged of it.  `typed_delta` stays as the caller gave it, and is in
    the key of what is stored; None means that δ is the table's default, so that another default asks for the same.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    level: Fraction = LEVEL
    typed_delta: Fraction | None = None

    @classmethod
    def parse(cls, epsilon: Any, delta: Any = 0, level: Any = LEVEL) -> "Terms":
        """The terms that three numbers name; refused where one of them is none.

        >>> Terms.parse(0.1, "1e-7")
        Terms(epsilon=Fraction(1, 10), delta=Fraction(1, 10000000), level=Fraction(19, 20), typed_delta=None)
        """
        return cls(
            amounts.epsilon(epsilon),
            amounts.delta(delta, ceiling=_DELTA_CEILING),
            amounts.inner_probability(level, "level"),
        )

    def cost_json(self, relation: Relation, unit: str | None) -> dict[str, str | None]:
        """What these terms charge, as every reply states it under "cost"."""
        return {
            "epsilon": amounts.text_of(self.epsilon),
            "delta": amounts.text_of(self.delta),
            "neighbours": str(relation),
            "unit": unit,
        }


def price_text(cost: Mapping[str, str | None]) -> str:
    """The ε and δ of a cost for people; a δ of 0 is left out.

    >>> price_text({"epsilon": "1", "delta": "1e-7"}), price_text({"epsilon": "1", "delta": "0"})
    ('ε = 1, δ = 1e-7', 'ε = 1')
    """
    delta = cost["delta"]
    return f"ε = {cost['epsilon']}" + ("" if delta in ("0", None) else f", δ = {delta}")
