"""The full check of a ledger from its first entry: costs → amounts → sums → decisions, and the stored answers.

An entry may weigh more than its cost does today, because later versions may know tighter prices.  It never weighs less.
"""

from collections.abc import Iterable
from typing import Any

from discreet.errors import DiscreetError
from discreet.ledger import inside as insides
from discreet.ledger import refusal
from discreet.ledger.account import Amounts
from discreet.ledger.books import Books, weighed_of
from discreet.ledger.chain import Row, broken, canonical
from discreet.ledger.rules import Rules
from discreet.ledger.weigh import Declared, declared, weight_of
from discreet.ledger.written import amounts_of
from discreet.privacy import cost as costs


def verify(rows: Iterable[Row], digests: dict[int, tuple[int, str]]) -> Books:
    """The books of a whole ledger, everything in them checked; `digests` are those of the stored answers."""
    books = Auditor()
    books.read(rows)
    answers = {} if books.history is None else books.history.answers
    for number in sorted(answers.keys() | digests.keys()):
        if answers.get(number) != digests.get(number):
            raise broken(f"The answer of charge {number} is not what was stored.")
    return books


class Auditor(Books):
    """Books that compute the weight of every entry again, and whether it was allowed."""

    def __init__(self) -> None:
        super().__init__()
        self._declared: dict[str, Declared] = {}
        self._weights: dict[str, Amounts] = {}

    def _set_rules(self, rules: Rules) -> None:
        if rules.budget != self.rules.budget:
            self._weights = {}
        super()._set_rules(rules)

    def _charge(self, row: Row, entry: dict[str, Any]) -> None:
        words = canonical([entry["cost"], entry["epsilon"], entry["delta"]])
        try:
            declaration = self._declared.get(words) or self._declaration_of(words)
            needed = self._weights.get(words) or weight_of(declaration, self.rules.budget)
        except (DiscreetError, KeyError, ValueError, TypeError):
            raise broken(f"Entry {row.number} has no cost that can be read, or types less than it.") from None
        self._declared[words], self._weights[words] = declaration, needed
        weight = amounts_of(entry["amounts"])
        if weight.or_more(needed) != weight:
            raise broken(f"Entry {row.number} weighs less than its cost.")
        place = self.place(entry)
        if self.is_closed or refusal.over_budget(self, declaration, weight, path=place, analyst=entry["analyst"]):
            raise broken(f"Entry {row.number} overspends the budget or a cap, or came after the dataset was closed.")
        super()._charge(row, entry)

    def _declaration_of(self, words: str) -> Declared:
        cost, epsilon, delta = weighed_of(words)
        return declared(cost, self.opening.relation, epsilon=epsilon or None, delta=delta)

    def _part(self, row: Row, entry: dict[str, Any]) -> None:
        purse = self.purses[entry["purse"]]
        try:
            needed = insides.amount_taken(purse.cost, costs.from_json(entry["cost"]), self.opening.relation)
        except (DiscreetError, KeyError, ValueError, TypeError):
            raise broken(f"Entry {row.number} has no cost that can be read.") from None
        stated = self._amount_taken(purse, entry)
        if needed is None or stated is None or not stated.covers(needed):
            raise broken(f"Entry {row.number} takes less from its purse than its cost.")
        if self.is_closed:
            raise broken(f"Entry {row.number} came after the dataset was closed.")
        super()._part(row, entry)
