"""What a fitted model promises, as a value that travels with it: amounts, relation, unit, mechanisms and receipt."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts, inert
from discreet.learn.learner import LATTICE, Plan
from discreet.ledger.unbooked import NOWHERE
from discreet.privacy import cost as costs
from discreet.privacy import price
from discreet.privacy.cost import Cost
from discreet.relation import Relation
from discreet.schema.unit import ROW
from discreet.terms import price_text

GIVEN = "the fit alone; features given by the caller were made before it, and what made them is not covered"
WHOLE = "everything from the rows of the table to the model"
INVENTED = "invented rows alone: this is a REHEARSAL"
REHEARSED = "rehearsal-"  # begins the receipts of a rehearsal
INVENTED_WORDS = (
    "REHEARSAL: the model is of rows invented from public facts, so it says nothing about the private table."
)


@dataclass(frozen=True)
class Privacy:
    """ε and δ of one fit, for one relation and unit, and where it was charged.

    `cost` composes with others; ε and δ are one reading of it.  `public` lists what was taken as public, and `covers`
    what the promise is about.
    """

    epsilon: Fraction
    delta: Fraction
    relation: Relation
    unit: str
    max_rows: int
    cost: Cost
    mechanisms: tuple[str, ...]
    arithmetic: str
    public: Mapping[str, Any]
    covers: str
    receipt: str

    @property
    def is_charged(self) -> bool:
        """Whether a ledger holds the charge."""
        return self.receipt != NOWHERE

    @property
    def is_invented(self) -> bool:
        """Whether the model is of a rehearsal."""
        return self.covers == INVENTED

    def delta_at(self, epsilon: Any) -> Fraction:
        """The δ of this fit at another ε, by the tightest proven route."""
        return price.delta(self.cost, epsilon).value

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON; amounts are texts, exact."""
        return {
            "epsilon": amounts.text_of(self.epsilon),
            "delta": amounts.text_of(self.delta),
            "neighbours": str(self.relation),
            "unit": self.unit,
            "max_rows": self.max_rows,
            "cost": costs.to_json(self.cost),
            "mechanisms": list(self.mechanisms),
            "arithmetic": self.arithmetic,
            "public": dict(self.public),
            "covers": self.covers,
            "receipt": self.receipt,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Privacy":
        """The promise that `to_json` described."""
        return cls(
            Fraction(stored["epsilon"]),
            Fraction(stored["delta"]),
            Relation(stored["neighbours"]),
            str(stored["unit"]),
            int(stored["max_rows"]),
            costs.from_json(stored["cost"]),
            tuple(map(str, stored["mechanisms"])),
            str(stored["arithmetic"]),
            dict(stored["public"]),
            str(stored["covers"]),
            str(stored["receipt"]),
        )

    def words(self) -> str:
        """The promise in sentences."""
        amounts_text = price_text({"epsilon": amounts.text_of(self.epsilon), "delta": amounts.text_of(self.delta)})
        charged = f"It was charged: receipt {self.receipt}." if self.is_charged else "It was charged nowhere."
        if self.is_invented:
            charged = f"It was charged to a ledger that was thrown away: receipt {self.receipt}."
        lines = [
            *([INVENTED_WORDS] if self.is_invented else []),
            f"This model is differentially private with {amounts_text} for each {self.unit}, neighbours by "
            f"{self.relation}.",
            charged,
            f"The promise covers {self.covers}.",
            f"The proof is of the arithmetic that runs: {LATTICE}."
            if self.arithmetic == LATTICE
            else f"It holds for {self.arithmetic}.",
            *(f"Measured: {mechanism}." for mechanism in self.mechanisms),
        ]
        return "\n".join(map(inert.visible, lines))


def privacy_of(plan: Plan, *, receipt: str, covers: str) -> Privacy:
    """The promise of a plan that was carried out."""
    subject, terms = plan.subject, plan.price.terms
    unit = ROW if subject.schema.unit is None else subject.schema.unit.key
    return Privacy(
        terms.epsilon,
        terms.delta,
        subject.schema.relation,
        unit,
        subject.max_rows,
        plan.cost,
        plan.mechanisms,
        plan.arithmetic,
        _public(plan),
        covers,
        receipt,
    )


def _public(plan: Plan) -> dict[str, Any]:
    """What was taken as public: classes, values and bounds."""
    subject = plan.subject
    facts = {column.name: column.to_json() for column in (*subject.features, subject.target)}
    shown = {name: {key: fact[key] for key in ("values", "bounds") if key in fact} for name, fact in facts.items()}
    return {"target": subject.target.name, "columns": shown}
