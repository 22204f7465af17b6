"""The ledger as a fold over its entries: who spent what, what was answered, what failed.

Entries are the only truth; this is what follows from them, kept up to date as they come.  A chain that tells of a
charge the filter could not have accepted is refused, so a ledger that can be read was never overspent.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.ledger import account as accounts
from discreet.ledger import filter as filters
from discreet.ledger import rules as stored_rules
from discreet.ledger.account import Account, Amounts, Path
from discreet.ledger.chain import Row, broken, canonical, checked
from discreet.ledger.purse import fits
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.weigh import Typed, amounts, promise
from discreet.privacy import cost as costs
from discreet.privacy.cost import Cost, Repeated
from discreet.relation import Relation, relation

ATTEMPTS = 2  # the first, and one more after a failure
IDENTITY = ("analyst", "path", "snapshot", "cost", "epsilon", "delta", "memo", "purse")  # what makes two charges one


@dataclass(frozen=True)
class Charge:
    """One charge and how far it got: RESERVED until `answer` names the entry that stored it."""

    row: Row
    entry: dict[str, Any]
    holder: str = ""  # whose attempt it is
    attempt: int = 1
    failed: int = 0  # the last attempt known to have failed
    answer: dict[str, Any] | None = None

    @property
    def cost(self) -> Cost:
        """What was charged."""
        return costs.from_json(self.entry["cost"])

    @property
    def state(self) -> str:
        """RESERVED or COMMITTED; both count as spent."""
        return "RESERVED" if self.answer is None else "COMMITTED"

    @property
    def path(self) -> Path:
        """Where it was charged."""
        return tuple((column, part) for column, part in self.entry["path"])


def identity(entry: dict[str, Any]) -> str:
    """What must be equal for a key to stand for the same question: as text, since in Python 1 == True."""
    return canonical({name: entry[name] for name in IDENTITY})


class Books:
    """All that follows from the entries read so far."""

    opening: Opening
    rules: Rules
    account: Account

    def __init__(self) -> None:
        self.last: Row | None = None
        self.charges: dict[int, Charge] = {}
        self.keys: dict[str, int] = {}
        self.analysts: dict[str, Account] = {}
        self.purses: dict[int, Counter[Cost]] = {}
        self.failures = 0

    @property
    def closed(self) -> bool:
        """Whether so many answers failed that only the curator opens the dataset again."""
        return self.failures >= self.rules.failures

    def read(self, rows: Iterable[Row]) -> None:
        """Take in rows that follow the last one."""
        for row in checked(rows, self.last):
            try:
                self._take(row, row.entry)
            except (KeyError, ValueError, TypeError, AttributeError, ZeroDivisionError):
                raise broken(f"Entry {row.number} is not an entry this ledger could hold.") from None
            self.last = row

    def check_costs(self) -> None:
        """Refuse a ledger with a charge whose cost cannot be read; only a full check looks at all of them."""
        for number, charge in self.charges.items():
            try:
                costs.from_json(charge.entry["cost"])
            except (KeyError, ValueError, TypeError):
                raise broken(f"Entry {number} has no cost that can be read.") from None

    def charge_of(self, key: str) -> Charge | None:
        """The charge under that key."""
        number = self.keys.get(key)
        return None if number is None else self.charges[number]

    def has_room(self, purse: int, cost: Cost) -> bool:
        """Whether one more charge of `cost` fits into the purse."""
        inside = self.purses[purse] + Counter([cost])
        whole = [Repeated(one, times) for one, times in inside.items()]
        return fits(self.charges[purse].cost, whole, self.opening.relation)

    def _take(self, row: Row, entry: dict[str, Any]) -> None:
        if (row.number == 1) != (entry["kind"] == "open"):
            raise broken(f"Entry {row.number} is out of place.")
        match entry["kind"]:
            case "open":
                self._open(entry)
            case "charge" | "purse":
                self._charge(row, entry)
            case "part":
                self._part(row, entry)
            case "answer":
                self._answer(entry)
            case "failure":
                self._fail(entry["charge"])
            case "retry":
                self._retry(entry["charge"], entry["holder"])
            case "budget":
                self._set_rules(stored_rules.from_json(entry["rules"]))
            case "reopen":
                self.failures = 0
            case "adopt":
                pass
            case _:
                raise broken(f"Entry {row.number} is of a kind this Discreet does not know.")

    def _open(self, entry: dict[str, Any]) -> None:
        rules = stored_rules.from_json(entry["rules"])
        self.opening = Opening(entry["dataset"], entry["unit"], relation(entry["relation"]), rules)
        self.rules = rules
        self.account = accounts.opened(len(rules.budget.orders))

    def _charge(self, row: Row, entry: dict[str, Any]) -> None:
        charge = Charge(row, entry, entry["holder"])
        weight = _amounts(entry["amounts"])
        account = accounts.charged(self.account, self.place(entry), weight)
        if not filters.accepts(self.rules.budget, account.spent):
            raise broken(f"Entry {row.number} overspends the budget.")
        self._enter(charge)
        self.account = account
        self._book(entry, weight)
        if entry["kind"] == "purse":
            self.purses[row.number] = Counter()

    def _part(self, row: Row, entry: dict[str, Any]) -> None:
        charge, purse = Charge(row, entry, entry["holder"]), entry["purse"]
        if not accounts.lies_in(charge.path, self.charges[purse].path) or not self.has_room(purse, charge.cost):
            raise broken(f"Entry {row.number} overspends its purse.")
        self._enter(charge)
        self.purses[purse][charge.cost] += 1

    def _enter(self, charge: Charge) -> None:
        if charge.entry["key"] in self.keys:
            raise broken(f"Entry {charge.row.number} repeats a key.")
        if not charge.entry.keys() >= set(IDENTITY):
            raise KeyError("a field is missing")
        self.keys[charge.entry["key"]] = charge.row.number
        self.charges[charge.row.number] = charge

    def _book(self, entry: dict[str, Any], weight: Amounts) -> None:
        if entry["analyst"] is not None:
            own = self.analysts.get(entry["analyst"], accounts.opened(0))
            self.analysts[entry["analyst"]] = accounts.charged(own, self.place(entry), Amounts(weight.epsilon))

    def _answer(self, entry: dict[str, Any]) -> None:
        charge = self.charges[entry["charge"]]
        if charge.answer is not None or charge.entry["kind"] == "purse":
            raise broken(f"Entry {entry['n']} answers a second time, or a purse.")
        self.charges[entry["charge"]] = replace(charge, answer=entry)

    def _fail(self, number: int) -> None:
        charge = self.charges[number]
        if charge.answer is None and charge.failed < charge.attempt:
            self.failures += 1
            self.charges[number] = replace(charge, failed=charge.attempt)

    def _retry(self, number: int, holder: str) -> None:
        charge = self.charges[number]
        if charge.answer is not None or charge.attempt >= ATTEMPTS or charge.failed < charge.attempt:
            raise broken("A charge was tried more often than allowed.")
        self.charges[number] = replace(charge, attempt=charge.attempt + 1, holder=holder)

    def _set_rules(self, rules: Rules) -> None:
        """Weigh all charges again in the new budget's currencies."""
        self.rules = rules
        self.account, self.analysts = accounts.opened(len(rules.budget.orders)), {}
        known: dict[str, Amounts] = {}
        for entry in [c.entry for c in self.charges.values() if c.entry["kind"] != "part"]:
            words = canonical([entry["cost"], entry["epsilon"], entry["delta"]])
            if words not in known:
                question = typed_of(entry, costs.from_json(entry["cost"]), self.opening.relation)
                known[words] = amounts(question, rules.budget)
            self.account = accounts.charged(self.account, self.place(entry), known[words])
            self._book(entry, known[words])

    def place(self, entry: dict[str, Any]) -> Path:
        """Where in the account an entry counts: under replace-one, and without a path, at the whole table.

        A unit may have moved to another part when the table changed, so a split belongs to one snapshot.
        """
        if self.opening.relation is not Relation.ADD_REMOVE:
            return ()
        return tuple((canonical([column, entry["snapshot"]]), part) for column, part in entry["path"])


def typed_of(entry: dict[str, Any], cost: Cost, under: Relation) -> Typed:
    """The question as it was typed, from its entry."""
    return Typed(Fraction(entry["epsilon"]), Fraction(entry["delta"]), promise(cost, under))


def amounts_json(weight: Amounts) -> dict[str, Any]:
    """Amounts as they are stored."""
    parts = {name: str(getattr(weight, name)) for name in ("epsilon", "delta", "keys")}
    return {**parts, "renyi": [str(value) for value in weight.renyi]}


def _amounts(data: dict[str, Any]) -> Amounts:
    found = Amounts(
        _fraction(data["epsilon"]),
        _fraction(data["delta"]),
        _fraction(data["keys"]),
        tuple(int(value) for value in data["renyi"]),
    )
    if found.epsilon < 0 or found.delta < 0 or found.keys < 0 or min(found.renyi, default=0) < 0:
        raise ValueError("a negative amount")
    return found


def _fraction(stored: str) -> Fraction:
    top, _, bottom = stored.partition("/")
    return Fraction(int(top), int(bottom or 1))
