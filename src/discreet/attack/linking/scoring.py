"""Score everybody's ratings against a few that are known of one person (Narayanan & Shmatikov 2008).

    score(c) = Σ_i w_i·[|Δr_i| ≤ 1 and |Δd_i| ≤ 14]     over known films i that candidate c rated too
    w_i = 1/ln(1 + s_i)                                 s_i people rated film i: rare films weigh more
    claimed iff (best − second)/σ > 1.5                 σ the standard deviation of all scores

Δr are stars, Δd days, both within what the attacker may be wrong by; without dates the second condition is left out.  A
sum, and not the least over i, so that a few wrong films do no harm.
"""

from dataclasses import dataclass

import numpy as np

from discreet.ndarrays import Floats, Ints

STARS, DAYS = 1, 14  # how far what is known may be from the truth
ECCENTRICITY = 1.5


@dataclass(frozen=True, eq=False)
class Histories:
    """Ratings as columns of equal length: who, which film, how many stars, and on which day."""

    users: Ints  # 0 … people − 1
    films: Ints
    stars: Floats
    days: Floats
    people: int

    def __len__(self) -> int:
        return self.users.size

    def of(self, user: int) -> "Histories":
        """The ratings of one person."""
        return self.at(np.flatnonzero(self.users == user))

    def at(self, places: Ints) -> "Histories":
        """These ratings of all."""
        return Histories(self.users[places], self.films[places], self.stars[places], self.days[places], self.people)


@dataclass(frozen=True, eq=False)
class Index:
    """Histories in the order of films."""

    histories: Histories
    starts: Ints  # of the ratings of each film

    def of_film(self, film: int) -> slice:
        """Where the ratings of that film are."""
        if film + 1 >= self.starts.size:  # none of these people rated it
            return slice(0, 0)
        return slice(int(self.starts[film]), int(self.starts[film + 1]))


def index_of(histories: Histories) -> Index:
    """The index by film."""
    films = int(histories.films.max()) + 1
    ordered = histories.at(np.argsort(histories.films, kind="stable"))
    return Index(ordered, np.searchsorted(ordered.films, np.arange(films + 1)))


def scores(index: Index, known: Histories, *, dates: bool) -> Floats:
    """The score of each person against what is known."""
    total = np.zeros(index.histories.people)
    for film, stars, day in zip(known.films.tolist(), known.stars.tolist(), known.days.tolist(), strict=True):
        place = index.of_film(film)
        is_similar = np.abs(index.histories.stars[place] - stars) <= STARS
        if dates:
            is_similar &= np.abs(index.histories.days[place] - day) <= DAYS
        raters = index.histories.users[place]
        np.add.at(total, raters[is_similar], 1 / np.log1p(max(1, raters.size)))
    return total


def best(scored: Floats) -> tuple[int, bool]:
    """The person with the best score, and whether they stand out enough to be claimed.

    >>> best(np.array([0.0, 5.0, 0.1, 0.0])), best(np.array([1.0, 1.0]))
    ((1, True), (0, False))
    """
    leader = int(scored.argmax())
    others = np.delete(scored, leader)
    spread = float(scored.std())
    return leader, bool(spread > 0 and others.size and scored[leader] - others.max() > ECCENTRICITY * spread)
