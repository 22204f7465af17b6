"""Find a person among ratings without names from a few ratings that are known of them, with and without dates.

The attacker knows some films of one person, each to ± 1 star and ± 14 days, as from a conversation, and takes whose
history has the best score (`scoring`); Narayanan & Shmatikov (2008) did so with the Netflix Prize's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.ceiling import guess_of_many
from discreet.attack.given import column_of, numbers
from discreet.attack.interval import share_interval
from discreet.attack.linking.histories import invented_histories, movielens, redrawn
from discreet.attack.linking.keys import columns_of
from discreet.attack.linking.scoring import DAYS, STARS, Histories, Index, best, index_of, scores
from discreet.attack.result import RAW, Result
from discreet.errors import bad_private
from discreet.ndarrays import Ints
from discreet.noise.public import Generator, generator
from discreet.plot.attack import Chart, Line

KNOWN, WRONG = 6, 2  # ratings that the attacker knows; how many of them are of other films in one variant
COUNTS = (1, 2, 3, 4, 6, 8)
_COLUMNS = ("person", "item", "rating", "date")
_OFTEN = 50  # raters of a film that tells little
_GROUP = 4  # two people whose histories change places: two removals and two additions
_INVENTED = (1_000, 2_000)  # people, films


@dataclass(frozen=True)
class Hits:
    """Of so many people: whose best score was right, how many were claimed, and how many of these rightly."""

    right: int
    claimed: int
    rightly: int
    people: int

    @property
    def share(self) -> float:
        """Right ones among all people."""
        return self.right / self.people

    @property
    def precision(self) -> float:
        """Right ones among those claimed; 0 where nobody is."""
        return self.rightly / max(1, self.claimed)


def ratings(published: Any, known: Any, *, dates: bool = True, epsilon: Any = None) -> Result:
    """How many people are found in published ratings from what is known of each.

    Both are tables with the columns person, item, rating and, where `dates`, date as a number of days.  The published
    `person` is a pseudonym that tells nothing; what is known has the true one, to score with.

    >>> history = {"person": [1, 1, 2, 2], "item": ["a", "b", "a", "c"], "rating": [5, 4, 5, 1]}
    >>> ratings(history, {"person": [1, 2], "item": ["b", "c"], "rating": [4, 2]}, dates=False).raw
    1.0
    """
    names = _COLUMNS if dates else _COLUMNS[:3]
    tables = [columns_of(table, names, what) for table, what in ((published, "published"), (known, "known"))]
    history, parts = _as_histories(tables)
    people = np.unique(parts.users)
    if people.max() >= history.people:
        raise bad_private("known", "must be of people in the published table", "Leave out the others.")
    hits = _hits_of(index_of(history), {int(user): parts.of(int(user)) for user in people}, dates=dates)
    columns = {column_of(epsilon): hits}
    told = _result(columns, history.people, f"from what is known of {hits.people:,} of them", {}, None)
    return replace(told, of_real_data=True)


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """Six ratings of each person, held against MovieLens or invented ratings, and against what noisy counts give."""
    chance = generator(seed)
    table = movielens()
    source = "of MovieLens" if table is not None else "invented"
    history = table if table is not None else invented_histories(*_INVENTED, chance)
    index = index_of(history)
    known = {user: _remembered(history.of(user), KNOWN, chance) for user in range(history.people)}
    columns = {RAW: _hits_of(index, known, dates=True)}
    variants = {
        "without dates": _hits_of(index, known, dates=False),
        f"{WRONG} of {KNOWN} wrong": _hits_of(index, _with_wrong(known, history, chance), dates=True),
        f"without dates, of films with {_OFTEN} raters or more": _hits_of(
            index, _of_often_rated(history, chance), dates=False
        ),
    }
    chart = _chart(index, chance)
    for epsilon in epsilons:
        columns[epsilon] = _hits_of(index_of(redrawn(history, epsilon, chance)), known, dates=True)
    measure = f"by {KNOWN} ratings to ± {STARS} star and ± {DAYS} days ({source})"
    return _result(columns, history.people, measure, variants, chart)


def _hits_of(index: Index, known: Mapping[int, Histories], *, dates: bool) -> Hits:
    """The attack on each person of whom something is known."""
    guesses = [(user, *best(scores(index, part, dates=dates))) for user, part in known.items()]
    return Hits(
        right=sum(user == leader for user, leader, _ in guesses),
        claimed=sum(is_claimed for _, _, is_claimed in guesses),
        rightly=sum(is_claimed and user == leader for user, leader, is_claimed in guesses),
        people=len(guesses),
    )


def _remembered(own: Histories, count: int, chance: Generator) -> Histories:
    """So many ratings of one person, as somebody else remembers them."""
    part = own.at(chance.choice(len(own), size=min(count, len(own)), replace=False))
    return replace(
        part,
        stars=part.stars + chance.integers(-STARS, STARS + 1, size=len(part)),
        days=part.days + chance.integers(-DAYS, DAYS + 1, size=len(part)),
    )


def _of_often_rated(history: Histories, chance: Generator) -> dict[int, Histories]:
    """Six ratings of films that many rated, of each person who has as many."""
    often = history.at(np.flatnonzero(np.bincount(history.films)[history.films] >= _OFTEN))
    parts = {user: often.of(user) for user in range(history.people)}
    return {user: _remembered(part, KNOWN, chance) for user, part in parts.items() if len(part) >= KNOWN}


def _with_wrong(known: Mapping[int, Histories], history: Histories, chance: Generator) -> dict[int, Histories]:
    """The same with two films that somebody else rated."""

    def swapped(part: Histories) -> Histories:
        other = history.at(chance.integers(0, len(history), size=WRONG))
        return replace(part, films=np.concatenate([part.films[:-WRONG], other.films]))

    return {user: swapped(part) for user, part in known.items()}


def _as_histories(tables: list[dict[str, list[Any]]]) -> tuple[Histories, Histories]:
    """Both tables with people and items as numbers, those of the published table first."""
    people: dict[str, int] = {}
    items: dict[str, int] = {}
    coded = []
    for table in tables:
        users = _codes(table["person"], people)
        films = _codes(table["item"], items)
        stars = numbers(table["rating"], "rating", dimensions=1)
        days = numbers(table["date"], "date", dimensions=1) if "date" in table else np.zeros(len(users))
        coded.append(Histories(users, films, stars, days, int(users.max()) + 1))
    return coded[0], coded[1]


def _codes(cells: list[Any], codes: dict[str, int]) -> Ints:
    return np.array([codes.setdefault(str(cell), len(codes)) for cell in cells], dtype=np.int64)


def _chart(index: Index, chance: Generator) -> Chart:
    """The share that is found by how many ratings are known, with dates and without."""
    shares: dict[str, list[float]] = {"with dates": [], "without dates": []}
    for count in COUNTS:
        history = index.histories
        known = {user: _remembered(history.of(user), count, chance) for user in range(history.people)}
        for name, row in shares.items():
            row.append(_hits_of(index, known, dates=name == "with dates").share)
    lines = tuple(Line(name, tuple(map(float, COUNTS)), tuple(row)) for name, row in shares.items())
    return Chart("ratings known of a person", "share of people found", lines)


def _result(
    columns: Mapping[str, Hits], people: int, how: str, variants: Mapping[str, Hits], chart: Chart | None
) -> Result:
    private = [name for name in columns if name != RAW]
    described = {**columns, **variants}
    return Result(
        name="ratings",
        metric="people found",
        measure=f"share of people found among {people:,} histories {how}",
        raw=columns[RAW].share if RAW in columns else None,
        private={name: columns[name].share for name in private},
        baseline=1 / people,
        ceiling={
            name: guess_of_many(float(amounts.epsilon(name)), choices=max(2, people), group=_GROUP) for name in private
        },
        units="two people whose histories change places, a group of four",
        trials=next(iter(columns.values())).people,
        intervals={name: share_interval(hits.right, hits.people) for name, hits in columns.items()},
        chart=chart,
        notes=tuple(f"{name[:1].upper()}{name[1:]}: {hits.share:.3f}." for name, hits in variants.items()),
        details={
            name: {"found": hits.share, "claimed": hits.claimed / hits.people, "precision": hits.precision}
            for name, hits in described.items()
        },
    )
