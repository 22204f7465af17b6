"""Quick attacks as pictures of a lecture: what they achieve without noise and under it was drawn now."""

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.attack import words
from discreet.attack.catalog import ATTACKS
from discreet.attack.result import RAW, Result
from discreet.lecture.picture import Picture, Rows
from discreet.mechanism.response import Survey, two_coins
from discreet.noise.source import SYSTEM
from discreet.privacy.odds import response_posterior

if TYPE_CHECKING:
    from discreet.plot.attack import Chart

_EPSILON, _SEED = "1", 7
_PEOPLE, _SHARES = 100_000, ("0.02", "0.1", "0.2", "0.3", "0.4", "0.5")


def shame() -> Picture:
    """Name and shame, against δ."""
    return of_result(_example("shame"), "Someone is named all the same", notes=1)


def anonymous() -> Picture:
    """Rebecca's diagnosis, after one k-anonymous table and after two."""
    return of_result(_example("anonymous"), "What tables without names leave of one secret")


def differencing() -> Picture:
    """Two counts and the person between them."""
    return of_result(_example("differencing"), "Two counts, one person between them")


def ages() -> Picture:
    """The databases that the lecture's means leave, without noise."""
    from discreet.attack.consistent.ages import AGES
    from discreet.attack.consistent.left import worlds

    return of_result(worlds(AGES.tables[:3], AGES.people), "Databases that are left after each mean")


def coins() -> Picture:
    """Who says yes and did dodge, of many invented people with two coins, beside Bayes' rule p·¾/(p·¾ + (1 − p)·¼)."""
    from discreet.plot.attack import Chart, Line, attack_picture

    survey = two_coins()
    said = {share: _yes_and_dodged(survey, share) for share in _SHARES}
    bayes = [float(response_posterior(share, survey.said_yes(1), survey.said_yes(0))) for share in _SHARES]
    x = tuple(map(float, _SHARES))
    lines = (
        Line("after a yes, measured", x, tuple(hits / yes for yes, hits in said.values())),
        Line("after a yes, by Bayes' rule", x, tuple(bayes)),
        Line("before", x, x),
    )
    chart = Chart("share of people who dodged", "share of those who said yes", lines)
    yes, hits = said[_SHARES[0]]
    title = "Whoever said yes: did they dodge?"
    caption = (
        f"Of {_PEOPLE:,} people 2 % did dodge. Two coins made {yes:,} say yes, of whom {hits:,} did: {hits / yes:.4f}, "
        f"where Bayes' rule has {bayes[0]:.4f}. By plain answers it would be all of them."
    )

    def draw() -> Any:
        return attack_picture(chart, title=title, measure="", guessing=None, caption=caption)

    return Picture(title, caption, f"{title} {caption}", *_chart_table(chart), draw)


def _yes_and_dodged(survey: Survey, share: str) -> tuple[int, int]:
    """How many of the people say yes, and how many of those did dodge."""
    truth = np.arange(_PEOPLE) < round(float(share) * _PEOPLE)
    said_yes = survey(truth.astype(np.int64), SYSTEM) == 1
    return int(said_yes.sum()), int((said_yes & truth).sum())


def of_result(result: Result, title: str, *, notes: int | None = None) -> Picture:
    """An attack as it ended, with its own curves where it has some, and so many of its notes."""
    has_ceiling = any(ceiling is not None for ceiling in result.ceiling.values())
    about = (words.caption(result),) if has_ceiling else ()
    caption = " ".join((result.sentence, *result.notes[:notes], *about))
    limit = "at most" if result.better == "higher" else "at least"
    in_columns = ("published", "the attack", limit), _column_rows(result)
    header, rows = in_columns if result.chart is None else _chart_table(result.chart)
    return Picture(title, caption, words.alt_text(result), header, rows, result.picture)


def _example(name: str) -> Result:
    return ATTACKS[name].example((_EPSILON,), _SEED)


def _column_rows(result: Result) -> Rows:
    """A row for each column of the picture, then blind guessing."""
    keys = [*([] if result.raw is None else [RAW]), *result.private]
    rows = [
        (column.label, words.with_interval(result, key, column.value), words.number(column.ceiling))
        for key, column in zip(keys, result.columns, strict=True)
    ]
    guessing = [] if result.baseline is None else [("blind guessing", words.number(result.baseline), "—")]
    return (*rows, *guessing)


def _chart_table(chart: "Chart") -> tuple[tuple[str, ...], Rows]:
    """The points of an attack's own curves, a column for each curve."""
    header = (chart.x, *(line.name for line in chart.lines))
    places = chart.marks or tuple(words.number(x) for x in chart.lines[0].x)
    columns = [[words.number(y) for y in line.y] for line in chart.lines]
    return header, tuple((place, *cells) for place, *cells in zip(places, *columns, strict=True))
