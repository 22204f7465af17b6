"""Which pairs of columns are worth measuring, from noisy scores of all of them at once.

A score is how far a pair's counts lie from those of independent columns, Σ|count − expected|.  Measuring a set S of
tables with noise in the best proportion brings T(S), the expected Σ|noise| over all cells (`law`), under Gaussian noise

    T(S) = √(2/π)·(Σ_{c∈S} cells_c^(2/3))^(3/2) / m

So S should have the largest Σ scores − T(S) among graphs whose junction tree is small enough.  For each of several
ratios λ a greedy set is made in the order of score − λ·cells^(2/3), and the best of these sets is taken.  Everything
here is computed from released numbers.  One joint selection in place of one charge per round: cf. SWIFT of Google's
dpsynth (2026), and AIM's rounds (McKenna, Mullins, Sheldon & Miklau 2022).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.kernel.contract import MOST_NUMBERS
from discreet.ndarrays import Floats
from discreet.synth.law import Law
from discreet.synth.model.junction import Pair, tree_cells

_PRICES = 24  # that are tried on the same scores
_NOISE = 0.7  # of a table's noise is lost to the synthetic table: a fit over several tables averages some of it out
_DEVIATIONS = 2.0  # of a score's noise that a pair must be above its price: the best of many scores look too good
HOPELESS = 0.5  # of all units: from that deviation on, scores tell nothing


@dataclass(frozen=True)
class Room:
    """What pairs may take: the step's law and precision, what is measured anyway, and the cells of the tree.

    `singles` are the parts (`Law.parts`) of the columns that are measured beside the pairs, `required` pairs that the
    tree holds in any case, and `first` the columns that are drawn first.
    """

    law: Law
    precision: float
    singles: float
    max_cells: int
    required: tuple[Pair, ...] = ()
    first: tuple[int, ...] = ()

    def price(self, parts: float) -> float:
        """Σ of the noise that tables with these parts add to that of the single columns, as far as it is lost."""
        both = self.law.noise(self.singles + parts, self.precision)
        return _NOISE * (both - self.law.noise(self.singles, self.precision))


def worthwhile_pairs(
    scores: Floats, deviation: float, pairs: Sequence[Pair], sizes: Sequence[int], room: Room
) -> tuple[Pair, ...]:
    """The pairs to measure: none where none that fits has a score above what it costs in noise."""
    parts, worth = _parts_and_worth(scores, deviation, pairs, sizes, room)
    hopeful = np.flatnonzero(worth > 0)
    if not len(hopeful):
        return ()
    ratios = worth[hopeful] / parts[hopeful]
    best, best_places = 0.0, list[int]()
    for ratio in np.unique(np.quantile(ratios, np.linspace(0, 1, _PRICES))):
        values = worth - ratio * parts
        order = [int(place) for place in np.argsort(-values, kind="stable") if values[place] >= 0 < worth[place]]
        chosen = _places_within(order, pairs, sizes, room)
        gain = float(worth[chosen].sum()) - room.price(float(parts[chosen].sum()))
        if gain > best:
            best, best_places = gain, chosen
    return tuple(pairs[place] for place in best_places)


def is_any_worthwhile(
    scores: Floats, deviation: float, pairs: Sequence[Pair], sizes: Sequence[int], room: Room
) -> bool:
    """Whether some pair alone is worth its noise, however many cells it has.

    Where none is, no set of them is: the noise of a set is at least the sum of that of its pairs.
    """
    parts, worth = _parts_and_worth(scores, deviation, pairs, sizes, room)
    return any(own > room.price(part) for own, part in zip(worth.tolist(), parts.tolist(), strict=True))


def _parts_and_worth(
    scores: Floats, deviation: float, pairs: Sequence[Pair], sizes: Sequence[int], room: Room
) -> tuple[Floats, Floats]:
    """The parts of each pair's table, and how far its score is above what noise alone explains."""
    parts = room.law.parts(np.array([sizes[left] * sizes[right] for left, right in pairs], dtype=np.float64))
    varies = np.array([sizes[left] > 1 and sizes[right] > 1 for left, right in pairs])
    return parts, np.where(varies, scores - _DEVIATIONS * deviation, 0.0)


def _places_within(order: Sequence[int], pairs: Sequence[Pair], sizes: Sequence[int], room: Room) -> list[int]:
    """The places in order, leaving out those for which the tree, or the pass that counts, would have too many cells."""
    chosen: list[int] = []
    graph, numbers = list(room.required), 0
    for place in order:
        left, right = pairs[place]
        cells = sizes[left] * sizes[right]
        if numbers + cells > MOST_NUMBERS:
            continue
        if tree_cells(sizes, [*graph, pairs[place]], room.first) <= room.max_cells:
            chosen.append(place)
            graph.append(pairs[place])
            numbers += cells
    return chosen
