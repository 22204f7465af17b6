"""Six ratings with their dates find a person among thousands of histories, and nobody after noisy counts."""

import math

import numpy as np
import pytest

from discreet.attack.ceiling import guess_of_many
from discreet.attack.linking.histories import invented_histories, movielens
from discreet.attack.linking.ratings import example, ratings
from discreet.attack.linking.scoring import Histories, best, index_of, scores
from discreet.errors import BadValue
from discreet.noise.public import generator


@pytest.fixture(scope="module")
def built_in():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DISCREET_DATA", raising=False)
        return example(("1",), 7)


def test_six_ratings_with_dates_find_nearly_everyone_and_are_sure_of_it(built_in):
    assert built_in.raw >= 0.95
    assert built_in.details["raw"]["precision"] >= 0.99
    assert "invented" in built_in.measure


def test_dates_find_more_than_films_and_stars(built_in):
    with_dates, without = built_in.chart.lines
    assert with_dates.y[1] > without.y[1] + 0.1  # two ratings
    assert built_in.details["without dates, of films with 50 raters or more"]["found"] < built_in.raw


def test_a_few_wrong_films_do_little_harm(built_in):
    assert built_in.details["2 of 6 wrong"]["found"] > 0.9


def test_after_noisy_counts_it_is_blind_guessing(built_in):
    """1,000 people at a chance of 1/1,000: more than 11 right ones happen in less than 1 run in 10⁶."""
    assert built_in.private["1"] <= 0.011
    assert built_in.private["1"] < built_in.ceiling["1"] == guess_of_many(1.0, choices=1000, group=4)


def test_the_scores_agree_with_the_formula_for_all_pairs():
    history = invented_histories(30, 60, generator(4))
    known = history.of(7).at(np.arange(5))
    index = index_of(history)
    for dates in (True, False):
        slow = np.zeros(30)
        for film, stars, day in zip(known.films, known.stars, known.days, strict=True):
            support = len(set(history.users[history.films == film]))
            for place in np.flatnonzero(history.films == film):
                fits = abs(history.stars[place] - stars) <= 1 and (not dates or abs(history.days[place] - day) <= 14)
                slow[history.users[place]] += fits / math.log(1 + support)
        assert scores(index, known, dates=dates) == pytest.approx(slow)
        assert best(slow)[0] == 7


def test_a_film_that_nobody_rated_scores_nothing():
    history = Histories(np.array([0]), np.array([3]), np.array([4.0]), np.array([1.0]), 2)
    for film in (2, 3, 9):
        known = Histories(np.array([0]), np.array([film]), np.array([4.0]), np.array([1.0]), 2)
        assert scores(index_of(history), known, dates=True).any() == (film == 3)


def test_movielens_is_read_where_it_is_at_hand(tmp_path, monkeypatch):
    folder = tmp_path / "movielens_small"
    folder.mkdir()
    (folder / "ratings.csv").write_text("userId,movieId,rating,timestamp\n5,10,4.0,820540800\n9,2,0.5,820454399\n")
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    history = movielens()
    assert history.users.tolist() == [0, 1]
    assert history.films.tolist() == [1, 0]
    assert history.days.tolist() == [1, -1]  # 1996-01-02, 1995-12-31
    monkeypatch.setenv("DISCREET_DATA", str(folder))
    assert movielens() is None


def test_ratings_of_the_callers_own_are_attacked():
    published = {"person": ["p", "p", "q", "q"], "item": "abac", "rating": [5, 4, 5, 1], "date": [1, 2, 300, 301]}
    known = {"person": ["p", "q"], "item": "aa", "rating": [4.5, 5], "date": [8, 290]}
    assert ratings(published, known).raw == 1
    assert ratings(published, known).of_real_data
    without = ratings(published, known, dates=False, epsilon="0.5")
    assert without.private == {"0.5": 0.5}  # both rated that film alike
    assert without.ceiling["0.5"] == guess_of_many(0.5, group=4)


@pytest.mark.parametrize(
    "known",
    [
        {"person": ["p"], "item": ["a"], "rating": [1]},
        {"person": ["p"], "item": ["a"], "rating": ["canary"], "date": [1]},
        {"person": ["canary"], "item": ["a"], "rating": [1], "date": [1]},
        {"person": [], "item": [], "rating": [], "date": []},
    ],
)
def test_what_is_known_of_nobody_is_refused(known):
    published = {"person": ["p", "q"], "item": ["a", "b"], "rating": [1, 2], "date": [1, 2]}
    with pytest.raises(BadValue) as refused:
        ratings(published, known)
    assert "canary" not in str(refused.value)
