"""All of a ledger computed anew from its first entry: costs → amounts → sums → decisions, and the stored answers.

An entry may weigh more than its cost does now: later versions may know tighter prices.  It never weighs less.
"""

from collections.abc import Iterable
from typing import Any

from discreet.errors import DiscreetError
from discreet.ledger import inside as insides
from discreet.ledger import refusal
from discreet.ledger.account import Amounts
from discreet.ledger.books import Books, costs_of
from discreet.ledger.chain import Row, broken, canonical
from discreet.ledger.rules import Rules
from discreet.ledger.weigh import Typed, typed, weight_of
from discreet.ledger.written import amounts_of
from discreet.privacy import cost as costs


def verified(rows: Iterable[Row], digests: dict[int, tuple[int, str]]) -> Books:
    """The books of a whole ledger, everything in them checked; `digests` are those of the stored answers."""
    books = Auditor()
    books.read(rows)
    wanted = {} if books.history is None else books.history.answers
    for number in sorted(wanted.keys() | digests.keys()):
        if wanted.get(number) != digests.get(number):
            raise broken(f"The answer of charge {number} is not what was stored.")
    return books


class Auditor(Books):
    """Books that take no entry's word for what it weighs, nor for its having been allowed."""

    def __init__(self) -> None:
        super().__init__()
        self._typed: dict[str, Typed] = {}
        self._weights: dict[str, Amounts] = {}

    def _set_rules(self, rules: Rules) -> None:
        if rules.budget != self.rules.budget:
            self._weights = {}
        super()._set_rules(rules)

    def _charge(self, row: Row, entry: dict[str, Any]) -> None:
        words = canonical([entry["cost"], entry["epsilon"], entry["delta"]])
        try:
            question = self._typed.get(words) or self._question(words)
            needed = self._weights.get(words) or weight_of(question, self.rules.budget)
        except (DiscreetError, KeyError, ValueError, TypeError):
            raise broken(f"Entry {row.number} has no cost that can be read, or types less than it.") from None
        self._typed[words], self._weights[words] = question, needed
        weight = amounts_of(entry["amounts"])
        if weight.or_more(needed) != weight:
            raise broken(f"Entry {row.number} weighs less than its cost.")
        place = self.place(entry)
        if self.closed or refusal.over_budget(self, question, weight, path=place, analyst=entry["analyst"]):
            raise broken(f"Entry {row.number} overspends the budget or a cap, or came after the dataset was closed.")
        super()._charge(row, entry)

    def _question(self, words: str) -> Typed:
        cost, epsilon, delta = costs_of(words)
        return typed(cost, self.opening.relation, epsilon=epsilon or None, delta=delta)

    def _part(self, row: Row, entry: dict[str, Any]) -> None:
        purse = self.purses[entry["purse"]]
        try:
            needed = insides.taken(purse.cost, costs.from_json(entry["cost"]), self.opening.relation)
        except (DiscreetError, KeyError, ValueError, TypeError):
            raise broken(f"Entry {row.number} has no cost that can be read.") from None
        said = self._taken(purse, entry)
        if needed is None or said is None or not said.covers(needed):
            raise broken(f"Entry {row.number} takes less from its purse than its cost.")
        if self.closed:
            raise broken(f"Entry {row.number} came after the dataset was closed.")
        super()._part(row, entry)
