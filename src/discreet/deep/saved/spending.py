"""What the first steps of a training would have cost alone, computed again from the promise of its net."""

from fractions import Fraction

from discreet.errors import BadValue
from discreet.learn.privacy import Privacy
from discreet.privacy import price
from discreet.privacy.cost import Repeated, Sampled

_POINTS = 12


def spending(privacy: Privacy) -> tuple[tuple[int, Fraction], ...]:
    """Some numbers of steps with their ε at the δ of the promise; refused where steps are not all that was paid."""
    match privacy.cost:
        case Repeated(cost=Sampled() as step, times=times):
            counts = sorted({-(-times * place // _POINTS) for place in range(1, _POINTS + 1)})
            return tuple((count, price.epsilon(Repeated(step, count), privacy.delta).value) for count in counts)
        case _:
            why = "Its cost is not that of equal steps with samples alone."
            raise BadValue("There is no picture of what this net spent.", why, "Leave out the picture.")
