"""Ratings to be attacked: MovieLens where it is at hand, else invented ones; and those redrawn from noisy counts."""

import csv
import os
from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.invented import invented_dataset
from discreet.attack.linking.scoring import Histories
from discreet.dataset import Dataset
from discreet.ndarrays import Floats
from discreet.noise.public import Generator

MAX_ROWS = 20  # ratings of a person that a count looks at
_FIRST = date(1996, 1, 1)
_SECONDS, _EPOCH = 86_400, (_FIRST - date(1970, 1, 1)).days
_YEAR, _YEARS = 365, 24
_ONE_DAY = 0.55  # of the raters of MovieLens, who rated everything on one day
_TOML = """
[unit]
key = "person"
max_rows = {max_rows}
[columns.film]
type = "integer"
bounds = [0, {last_film}]
[columns.stars]
type = "category"
values = {stars}
[columns.year]
type = "integer"
bounds = [0, {last_year}]
[budget]
epsilon = {epsilon}
"""
_SCALE = ["0.5", "1.0", "1.5", "2.0", "2.5", "3.0", "3.5", "4.0", "4.5", "5.0"]


def movielens() -> Histories | None:
    """The small MovieLens table (Harper & Konstan 2015) in the folder `DISCREET_DATA`; None where there is none."""
    file = Path(os.environ.get("DISCREET_DATA", "")) / "movielens_small" / "ratings.csv"
    if not file.is_file():
        return None
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    users, films = (
        np.unique([int(row[name]) for row in rows], return_inverse=True)[1] for name in ("userId", "movieId")
    )
    stars = np.array([float(row["rating"]) for row in rows])
    days = np.array([int(row["timestamp"]) // _SECONDS - _EPOCH for row in rows], dtype=np.float64)
    return Histories(users, films, stars, days, int(users.max()) + 1)


def invented_histories(people: int, films: int, chance: Generator) -> Histories:
    """Films by Zipf's law, 20 ratings or more each, more than half of the people on a single day."""
    shares, parts = 1 / (10 + np.arange(films)), []
    for user in range(people):
        size = min(films // 2, 20 + int(chance.exponential(60)))
        first = int(chance.integers(0, _YEAR * _YEARS - 1000))
        spread = 1 if chance.random() < _ONE_DAY else 1000
        chosen = chance.choice(films, size=size, replace=False, p=shares / shares.sum())
        stars = np.clip(np.round(chance.normal(7, 2, size=size)), 1, 10) / 2
        days = (first + chance.integers(0, spread, size=size)).astype(np.float64)
        parts.append(Histories(np.full(size, user), chosen, stars, days, people))
    return Histories(
        np.concatenate([part.users for part in parts]),
        np.concatenate([part.films for part in parts]),
        np.concatenate([part.stars for part in parts]),
        np.concatenate([part.days for part in parts]),
        people,
    )


def redrawn(histories: Histories, epsilon: str, chance: Generator) -> Histories:
    """As many histories, drawn from noisy counts of films, stars and years: three questions on a budget of ε.

    How many people and ratings there are is public here; which person a history has the number of means nothing.
    """
    films, years = int(histories.films.max()) + 1, int(histories.days.max()) // _YEAR + 1
    facts = {"max_rows": MAX_ROWS, "last_film": films - 1, "last_year": years - 1, "stars": _SCALE, "epsilon": epsilon}
    columns = {
        "person": histories.users.tolist(),
        "film": histories.films.tolist(),
        "stars": [str(value) for value in histories.stars.tolist()],
        "year": (histories.days.astype(int) // _YEAR).tolist(),
    }
    each = amounts.epsilon(epsilon)
    with invented_dataset(_TOML.format(**facts), columns) as dataset:
        by_film = _shares(dataset, "film", range(films), each / 2)
        by_stars = _shares(dataset, "stars", _SCALE, each / 4)
        by_year = _shares(dataset, "year", range(years), each / 4)
    size, people = len(histories), histories.people
    on = chance.choice(years, size=people, p=by_year) * _YEAR + chance.integers(0, _YEAR, size=people)
    users = np.sort(chance.integers(0, people, size=size))
    stars = np.array(_SCALE, dtype=np.float64)[chance.choice(len(_SCALE), size=size, p=by_stars)]
    return Histories(users, chance.choice(films, size=size, p=by_film), stars, on[users].astype(np.float64), people)


def _shares(dataset: Dataset, column: str, values: Iterable[Any], epsilon: Fraction) -> Floats:
    """The shares of these values by noisy counts, of which those below 0 are taken for 0."""
    answer = dataset.sql(f"SELECT {column}, COUNT(*) AS ratings FROM invented GROUP BY {column}").ask(epsilon=epsilon)
    by_value = {row[column]: row["ratings"] for row in answer.rows}
    counts = np.array([max(0, by_value[value]) for value in values], dtype=np.float64)
    return counts / counts.sum() if counts.any() else np.full(counts.size, 1 / counts.size)
