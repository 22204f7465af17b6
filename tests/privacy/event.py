"""A cost as an event of dp-accounting, so that another accountant can check its price."""

import math
from typing import Any

from discreet import amounts
from discreet.errors import NotPriced
from discreet.privacy.cost import Cost, require_cost
from discreet.privacy.flat import Atom, Atoms, Choice, Concentrated, Normal, Odds, Thinned, atoms_of


def event(cost: Cost) -> Any:
    """A DpEvent that promises no more than `cost` does; integer noise is the discrete law, never Laplace.

    A choice between parts pays for all of them.  What dp-accounting has no word for is refused.
    """
    return _of_atoms(atoms_of(require_cost(cost)))


def _of_atoms(atoms: Atoms) -> Any:
    from dp_accounting import dp_event as dp

    events = [_repeated(_of_atom(atom), times) for atom, times in atoms]
    if not events:
        return dp.NoOpDpEvent()
    return events[0] if len(events) == 1 else dp.ComposedDpEvent(events)


def _repeated(event: Any, times: int) -> Any:
    from dp_accounting import dp_event as dp

    return event if times == 1 else dp.SelfComposedDpEvent(event, times)


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
            return dp.PoissonSampledDpEvent(amounts.float_up(atom.rate), _of_atoms(atom.atoms))
        case Choice():
            return dp.ComposedDpEvent([_of_atoms(part) for part in atom.parts])
        case _:
            what = "An approximate promise (ε, δ) has no event."
            raise NotPriced(what, "dp-accounting has no word for it.", "Price it with discreet.privacy.price.")
