"""Whether the charges of an adaptive algorithm fit inside the cost that was reserved for it.

One rule per kind of reserved cost, each a fully adaptive filter by itself: Σε and Σδ for a pure or approximate purse
(Rogers et al. 2016), Σρ for a zCDP purse (Feldman & Zrnic 2021), Σ1/σ² for a Gaussian purse spent on Gaussians only
(Smith & Thakurta 2022), and for any other cost a slot of its own for every charge.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.errors import NotPriced
from discreet.ledger.weigh import promise
from discreet.privacy import price, renyi
from discreet.privacy.cost import Approx, Cost, Gaussian, Pure, Response, Together, Zcdp
from discreet.privacy.flat import Normal, dominates, terms
from discreet.relation import Relation

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.standing import Receipt


def fits(reserved: Cost, charged: Sequence[Cost], under: Relation) -> bool:
    """Whether all that was charged is inside what was reserved.

    >>> fits(Pure(1), [Pure("0.5"), Pure("0.5")], Relation.ADD_REMOVE)
    True
    >>> fits(Zcdp(1), [Gaussian(1), Gaussian(1), Pure("0.1")], Relation.ADD_REMOVE)
    False
    """
    whole = Together(tuple(_plain(cost, under) for cost in charged))
    match reserved:
        case Pure() | Response():
            return _within(whole, reserved.epsilon, Fraction(0))
        case Approx():
            return _within(whole, reserved.epsilon, reserved.delta)
        case Zcdp():
            return _concentration(whole, reserved.rho)
        case Gaussian():
            found = terms(whole)
            return not found or (
                len(found) == 1 and isinstance(found[0][0], Normal) and found[0][0].mu_squared <= reserved.sigma**-2
            )
        case _:
            return dominates(terms(_plain(reserved, under)), terms(whole))


def _plain(cost: Cost, under: Relation) -> Cost:
    """The cost under the ledger's relation, each δ as a failure of its own."""
    found = promise(cost, under)
    return Together((found.cost, Approx(Fraction(0), found.apart))) if found.apart else found.cost


def _within(whole: Cost, epsilon: Fraction, delta: Fraction) -> bool:
    odds = renyi.whole_odds(terms(whole))
    return odds is not None and odds.epsilon <= epsilon and odds.delta <= delta


def _concentration(whole: Cost, rho: Fraction) -> bool:
    try:
        return price.zcdp(whole).value <= rho
    except NotPriced:
        return False


class Purse:
    """A sub-ledger: its charges are durable entries of their own and cost nothing more, as long as they fit."""

    def __init__(self, ledger: "Ledger", receipt: "Receipt") -> None:
        self._ledger, self.receipt = ledger, receipt

    def charge(
        self, path: Any, cost: Cost, memo: Any, key: str, *, epsilon: Any = None, delta: Any = None
    ) -> "Receipt":
        """A reservation inside the purse, or BudgetExceeded; keys are the ledger's, so name the run in them."""
        return self._ledger.charge_part(self.receipt, path, cost, memo, key, epsilon=epsilon, delta=delta)

    def commit(self, receipt: "Receipt", answer: bytes) -> None:
        """As `Ledger.commit`."""
        self._ledger.commit(receipt, answer)

    def fail(self, receipt: "Receipt") -> None:
        """As `Ledger.fail`."""
        self._ledger.fail(receipt)

    def stored(self, key: str) -> bytes | None:
        """As `Ledger.stored`."""
        return self._ledger.stored(key)
