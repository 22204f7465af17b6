"""The state of a ledger, computed from its entries: spent amounts, charges without an answer, failures.

Only entries are stored; the books follow from them.  Reading starts at the first entry or at a checkpoint, an entry
that states the sums before it.  A chain with a charge that the filter could not have accepted, or with sums that are
not those of its entries, is refused.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

from discreet.envelope import FAILED
from discreet.ledger import account as accounts
from discreet.ledger import filter as filters
from discreet.ledger import inside as insides
from discreet.ledger import rules as stored_rules
from discreet.ledger.account import Account, Amounts, Path
from discreet.ledger.chain import Row, broken, canonical, checked_rows
from discreet.ledger.inside import Inside
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.weigh import Declared, promise, weight_of
from discreet.ledger.written import account_json, account_of, amounts_of
from discreet.privacy import cost as costs
from discreet.privacy.cost import Cost
from discreet.relation import Relation, relation

ATTEMPTS = 2  # the first, and one more after a failure
FACTS = ("analyst", "path", "snapshot", "cost", "epsilon", "delta", "memo", "purse")  # fields of every charge
_ACTS = frozenset({"open", "budget", "adopt", "second"})
_MALFORMED = (KeyError, ValueError, TypeError, AttributeError, ZeroDivisionError, IndexError)

_FAILED = hashlib.sha256(FAILED).hexdigest()


@dataclass(frozen=True)
class Attempt:
    """How far a charge without an answer got: whose attempt it is, which one, and the last known to have failed.

    A charge in a purse names that purse; its attempts are bounded by the failures of the dataset alone.
    """

    holder: str
    attempt: int = 1
    failed: int = 0
    purse: int | None = None

    @property
    def spent(self) -> bool:
        """Whether no further attempt is made under the charge."""
        return self.purse is None and self.attempt >= ATTEMPTS


@dataclass(frozen=True)
class OpenRun:
    """A run under way: its request, its analyst, its snapshot of the rows, and the key of its purse."""

    request: str
    analyst: str | None
    snapshot: str
    key: str


@dataclass(frozen=True)
class Reserve:
    """A purse that has not ended: its cost, its path, the amount taken from it, and its run."""

    cost: Cost
    path: Path
    inside: Inside = field(default_factory=Inside)
    run: OpenRun | None = None


class History:
    """Facts known only after reading from the first entry: every key, the origin of every weight, every answer."""

    def __init__(self) -> None:
        self.keys: dict[str, tuple[str, int]] = {}  # the kind and number of the last charge under each
        self.weights: list[tuple[str, Path, str | None]] = []  # cost, ε and δ as text, where, and whose
        self.answers: dict[int, tuple[int, str]] = {}  # by charge, the entry that stored it and its SHA-256
        self._words: dict[str, str] = {}

    def weigh(self, words: str, place: Path, analyst: str | None) -> None:
        """Note a charge; equal ones share their words."""
        self.weights.append((self._words.setdefault(words, words), place, analyst))


class Books:
    """Everything that follows from the entries read so far."""

    opening: Opening
    rules: Rules
    account: Account

    def __init__(self) -> None:
        self.last: Row | None = None
        self.unanswered: dict[int, Attempt] = {}
        self.analysts: dict[str, Account] = {}
        self.purses: dict[int, Reserve] = {}
        self.deaths: set[str] = set()  # holders whose death was counted
        self.carried: dict[str, list[str]] = {}  # by snapshot, ids that earlier versions gave the same content
        self.acts: list[dict[str, Any]] = []  # acts of the curator that affect all promises
        self.charges = self.failures = 0
        self.since = (0, 0)  # entries after the last checkpoint, and their characters
        self.stated = 0  # characters of the last checkpoint
        self.history: History | None = History()

    @property
    def is_closed(self) -> bool:
        """Whether so many answers failed that only the curator can open the dataset again."""
        return self.failures >= self.rules.failures

    def read(self, rows: Iterable[Row]) -> None:
        """Take in rows that follow the last one."""
        for row in checked_rows(rows, self.last):
            try:
                self._take(row, row.entry)
            except _MALFORMED:
                raise broken(f"Entry {row.number} is not an entry this ledger could hold.") from None
            self.last = row
            if row.entry["kind"] == "checkpoint":
                self.since, self.stated = (0, 0), len(row.body)
            else:
                self.since = self.since[0] + 1, self.since[1] + len(row.body)

    def taken_with(self, purse: int, amount: Inside | None) -> Inside | None:
        """The amount taken from the purse with one more charge; None if that does not fit."""
        if amount is None:
            return None
        total = self.purses[purse].inside + amount
        return total if insides.holds(self.purses[purse].cost, total, self.opening.relation) else None

    def place(self, entry: dict[str, Any]) -> Path:
        """Where in the account an entry counts: under replace-one, and without a path, at the whole table.

        A unit may have moved to another part when the table changed, so a split belongs to one snapshot.
        """
        if self.opening.relation is not Relation.ADD_REMOVE:
            return ()
        return tuple((canonical([column, entry["snapshot"]]), part) for column, part in entry["path"])

    # --- one entry ---------------------------------------------------------------------------------------------------

    def _take(self, row: Row, entry: dict[str, Any]) -> None:
        if (row.number == 1) != (entry["kind"] == "open"):
            raise broken(f"Entry {row.number} is out of place.")
        if entry["kind"] in _ACTS:
            self.acts.append(entry)
        match entry["kind"]:
            case "open":
                self._open(entry)
            case "charge" | "purse":
                self._charge(row, entry)
            case "part":
                self._part(row, entry)
            case "answer":
                self._answer(row, entry)
            case "failure":
                self._fail(entry["charge"], entry.get("died"))
            case "retry":
                self._retry(entry["charge"], entry["holder"])
            case "end":
                self._end(row, entry)
            case "budget":
                self._set_rules(stored_rules.from_json(entry["rules"]))
            case "reopen":
                self.failures, self.deaths = 0, set()
            case "checkpoint":
                self._compare(row, entry)
            case "carried":
                self.carried.setdefault(entry["snapshot"], []).extend(map(str, entry["older"]))
            case "adopt" | "format" | "second":
                pass
            case _:
                raise broken(f"Entry {row.number} is of a kind this Discreet does not know.")

    def _open(self, entry: dict[str, Any]) -> None:
        rules = stored_rules.from_json(entry["rules"])
        self.opening = Opening(entry["dataset"], entry["unit"], relation(entry["relation"]), rules)
        self.rules = rules
        self.account = accounts.empty(len(rules.budget.orders))

    def _charge(self, row: Row, entry: dict[str, Any]) -> None:
        weight = amounts_of(entry["amounts"])
        account = accounts.with_charge(self.account, self.place(entry), weight)
        if not filters.accepts(self.rules.budget, account.spent):
            raise broken(f"Entry {row.number} overspends the budget.")
        self._enter(row, entry)
        self.account = account
        self.charges += 1
        self._book(self.place(entry), entry["analyst"], weight)
        if self.history is not None:
            words = canonical([entry["cost"], entry["epsilon"], entry["delta"]])
            self.history.weigh(words, self.place(entry), entry["analyst"])
        if entry["kind"] == "purse":
            about = (entry["analyst"], entry["snapshot"], entry["key"])
            run = OpenRun(entry["request"], *about) if "request" in entry else None
            self.purses[row.number] = Reserve(costs.from_json(entry["cost"]), path_of(entry), run=run)

    def _part(self, row: Row, entry: dict[str, Any]) -> None:
        purse = self.purses[entry["purse"]]
        total = self.taken_with(entry["purse"], self._amount_taken(purse, entry))
        if total is None or not accounts.lies_in(path_of(entry), purse.path):
            raise broken(f"Entry {row.number} overspends its purse.")
        self._enter(row, entry)
        self.purses[entry["purse"]] = replace(purse, inside=total)

    def _amount_taken(self, purse: Reserve, entry: dict[str, Any]) -> Inside | None:
        """The amount that a charge in a purse took, as its entry says; entries of format 1 are priced here."""
        if "amounts" in entry:
            return insides.from_json(entry["amounts"])
        return insides.amount_taken(purse.cost, costs.from_json(entry["cost"]), self.opening.relation)

    def _enter(self, row: Row, entry: dict[str, Any]) -> None:
        if not entry.keys() >= set(FACTS):
            raise KeyError("a field is missing")
        if self.history is not None:
            kind, number = self.history.keys.get(entry["key"], (entry["kind"], 0))
            state = self.unanswered.get(number)
            if kind != entry["kind"] or (number and (state is None or state.failed < state.attempt)):
                raise broken(f"Entry {row.number} repeats a key.")
            self.history.keys[entry["key"]] = entry["kind"], row.number
        if entry["kind"] != "purse":
            self.unanswered[row.number] = Attempt(entry["holder"], purse=entry["purse"])

    def _book(self, place: Path, analyst: str | None, weight: Amounts) -> None:
        if analyst is not None:
            account = self.analysts.get(analyst, accounts.empty(0))
            self.analysts[analyst] = accounts.with_charge(account, place, Amounts(weight.epsilon))

    def _answer(self, row: Row, entry: dict[str, Any]) -> None:
        if self.unanswered.pop(entry["charge"], None) is None:
            raise broken(f"Entry {row.number} answers a second time, or a purse.")
        if self.history is not None:
            self.history.answers[entry["charge"]] = row.number, entry["sha256"]
        if entry["sha256"] == _FAILED:  # stored so that it is not drawn again, and a failure all the same
            self.failures += 1

    def _fail(self, number: int, died: str | None) -> None:
        """Count a failure; all failures of a holder that died count as one."""
        state = self.unanswered.get(number)
        if state is None or state.failed >= state.attempt:
            return
        if died not in self.deaths:
            self.failures += 1
        if died is not None:
            self.deaths.add(died)
        self.unanswered[number] = replace(state, failed=state.attempt)

    def _retry(self, number: int, holder: str) -> None:
        state = self.unanswered.get(number)
        if state is None or state.spent or state.failed < state.attempt:
            raise broken("A charge was tried more often than allowed.")
        self.unanswered[number] = replace(state, attempt=state.attempt + 1, holder=holder)

    def _end(self, row: Row, entry: dict[str, Any]) -> None:
        if self.purses.pop(entry["purse"], None) is None:
            raise broken(f"Entry {row.number} ends what is no open purse.")

    def _set_rules(self, rules: Rules) -> None:
        """Weigh all charges again in the new budget's currencies, equal ones once."""
        if self.history is None:
            raise broken("A budget was set and no checkpoint follows it.")
        self.rules = rules
        self.account, self.analysts = accounts.empty(len(rules.budget.orders)), {}
        weights: dict[str, Amounts] = {}
        for words, place, analyst in self.history.weights:
            if words not in weights:
                weights[words] = weight_of(declared_of(words, self.opening.relation), rules.budget)
            self.account = accounts.with_charge(self.account, place, weights[words])
            self._book(place, analyst, weights[words])

    # --- checkpoints -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The sums, as a checkpoint states them."""
        opening = self.opening
        bound = {"dataset": opening.dataset, "unit": opening.unit, "relation": str(opening.relation)}
        return {
            "opening": {**bound, "rules": stored_rules.to_json(opening.rules)},
            "rules": stored_rules.to_json(self.rules),
            "account": account_json(self.account),
            "analysts": {name: account_json(account) for name, account in self.analysts.items()},
            "purses": {
                str(number): [
                    costs.to_json(purse.cost),
                    list(map(list, purse.path)),
                    insides.to_json(purse.inside),
                    None if purse.run is None else asdict(purse.run),
                ]
                for number, purse in self.purses.items()
            },
            "unanswered": {
                str(number): [attempt.holder, attempt.attempt, attempt.failed, attempt.purse]
                for number, attempt in self.unanswered.items()
            },
            "deaths": sorted(self.deaths),
            "acts": self.acts,
            "charges": self.charges,
            "failures": self.failures,
            **({"carried": self.carried} if self.carried else {}),
        }

    @classmethod
    def from_checkpoint(cls, before: Row, row: Row) -> "Books":
        """The books that a checkpoint states; `before` is the row that it must follow."""
        (row,) = checked_rows([row], before)
        books = cls()
        try:
            if row.entry["kind"] != "checkpoint":
                raise ValueError("not a checkpoint")
            books._restore(row.entry["sums"])
        except _MALFORMED:
            raise broken(f"Entry {row.number} is not a checkpoint this ledger could hold.") from None
        books.last, books.stated, books.history = row, len(row.body), None
        return books

    def _restore(self, state: dict[str, Any]) -> None:
        self._open(state["opening"])
        self.rules = stored_rules.from_json(state["rules"])
        self.account = account_of(state["account"])
        self.analysts = {name: account_of(account) for name, account in state["analysts"].items()}
        for number, (cost, path, inside, run) in state["purses"].items():
            open_run = None if run is None else OpenRun(**run)
            reserve = Reserve(costs.from_json(cost), path_of({"path": path}), insides.from_json(inside), open_run)
            self.purses[int(number)] = reserve
        for number, (holder, attempt, failed, purse) in state["unanswered"].items():
            self.unanswered[int(number)] = Attempt(holder, int(attempt), int(failed), purse)
        self.deaths, self.acts = set(state["deaths"]), [dict(act) for act in state["acts"]]
        self.carried = {name: list(map(str, older)) for name, older in state.get("carried", {}).items()}
        self.charges, self.failures = int(state["charges"]), int(state["failures"])

    def _compare(self, row: Row, entry: dict[str, Any]) -> None:
        if canonical(entry["sums"]) != canonical(self.state()):
            raise broken(f"Entry {row.number} states sums that are not those of the entries before it.")


def path_of(entry: dict[str, Any]) -> Path:
    """The path of a charge in the splits."""
    return tuple((column, part) for column, part in entry["path"])


def declared_of(words: str, under: Relation) -> Declared:
    """The declared (ε, δ) of a charge, from the text of its cost, ε and δ."""
    cost, epsilon, delta = weighed_of(words)
    return Declared(epsilon, delta, promise(cost, under))


def weighed_of(words: str) -> tuple[Cost, Fraction, Fraction]:
    """Cost, ε and δ from their text."""
    cost, epsilon, delta = json.loads(words)
    return costs.from_json(cost), Fraction(epsilon), Fraction(delta)
