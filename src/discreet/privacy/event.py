"""A cost in dp-accounting's own words, for those who want to check a price with another accountant."""

import math
from typing import Any

from discreet import amounts
from discreet.errors import NotPriced
from discreet.privacy.cost import Cost, checked
from discreet.privacy.flat import Atom, Choice, Concentrated, Normal, Odds, Terms, Thinned, terms


def event(cost: Cost) -> Any:
    """A DpEvent that promises no more than `cost` does; integer noise is the discrete law, never Laplace.

    A choice between parts pays for all of them.  What dp-accounting has no word for is refused.
    """
    return _of_terms(terms(checked(cost)))


def _of_terms(found: Terms) -> Any:
    from dp_accounting import dp_event as dp

    events = [_often(_of_atom(atom), times) for atom, times in found]
    if not events:
        return dp.NoOpDpEvent()
    return events[0] if len(events) == 1 else dp.ComposedDpEvent(events)


def _often(one: Any, times: int) -> Any:
    from dp_accounting import dp_event as dp

    return one if times == 1 else dp.SelfComposedDpEvent(one, times)


def _of_atom(atom: Atom) -> Any:
    from dp_accounting import dp_event as dp

    match atom:
        case Odds(delta=0):
            # Two-sided geometric noise on a count: its loss is ±ε, randomized response under either relation.
            return dp.DiscreteLaplaceDpEvent(amounts.float_up(atom.epsilon), 1)
        case Normal():
            return dp.GaussianDpEvent(math.nextafter(1 / math.sqrt(amounts.float_up(atom.mu_squared)), 0.0))
        case Concentrated():
            return dp.ZCDpEvent(amounts.float_up(atom.rho))
        case Thinned():
            return dp.PoissonSampledDpEvent(amounts.float_up(atom.rate), _of_terms(atom.terms))
        case Choice():
            return dp.ComposedDpEvent([_of_terms(part) for part in atom.parts])
        case _:
            what = "An approximate promise (ε, δ) has no event."
            raise NotPriced(what, "dp-accounting has no word for it.", "Price it with discreet.privacy.price.")
