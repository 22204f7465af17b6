"""What a k-anonymous table leaves of a secret, for somebody whose age and sex are known, and what two of them leave.

    left by one table      the secrets of all rows that fit what is known
    left by several        those that every table leaves (Ganta, Kasiviswanathan & Smith 2008)

Hiding in a group of k says nothing about how many secrets the group has: two may be left, or one (Machanavajjhala et
al. 2007), and k-anonymity does not compose.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.ceiling import chance_of
from discreet.attack.given import column_names, column_of
from discreet.attack.interval import share_interval
from discreet.attack.invented import invented_dataset
from discreet.attack.linking.keys import columns_of
from discreet.attack.linking.mondrian import groups
from discreet.attack.result import RAW, Result
from discreet.errors import bad, bad_private
from discreet.ndarrays import Bools, Floats, Ints
from discreet.noise.public import Generator, generator
from discreet.plot.attack import Chart, Line

SECRET = "diagnosis"
HOSPITAL = {  # printed in Kearns & Roth, The Ethical Algorithm (2019), with names as *
    "age": ["60-70", "60-70", "60-70", "60-70", "60-70", "50-60", "50-60", "50-60", "50-60"],
    "sex": ["Male", "Female", "Male", "Female", "Male", "Female", "Male", "Male", "Female"],
    "zip": ["191**"] * 9,
    "smoker": ["Y", "N", "Y", "N", "Y", "N", "Y", "Y", "N"],
    "diagnosis": [
        *("Heart disease", "Arthritis", "Lung cancer", "Crohn's disease", "Lung cancer"),
        *("HIV", "Lyme disease", "Seasonal allergies", "Ulcerative colitis"),
    ],
}
CLINIC = {  # invented here: another table that Rebecca is in too
    "age": ["50-60", "50-60", "50-60", "40-50", "40-50"],
    "sex": ["Female", "Female", "Female", "Female", "Female"],
    "zip": ["1910*"] * 3 + ["191**"] * 2,
    "diagnosis": ["HIV", "Migraine", "Anaemia", "Asthma", "Migraine"],
}
REBECCA = {"age": 55, "sex": "Female"}
K, PEOPLE, BOTH, SECRETS = 5, 2_000, 0.5, 50
TRIALS, _WOMEN = 1_000, 2
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)\s*[-–]\s*(-?\d+(?:\.\d+)?)")
_TOML = """
[unit]
key = "person"
max_rows = 1
[columns.trial]
type = "integer"
bounds = [0, {last}]
fixed_per_unit = true
[columns.diagnosis]
type = "category"
values = {diagnoses}
[budget]
epsilon = {epsilon}
"""


def anonymous(tables: Iterable[Any], known: Mapping[str, Any], *, secret: str = SECRET) -> Result:
    """How likely a guess of one person's secret is right, from all these tables that the person is in.

    `known` are the person's values of some columns.  A cell fits a value that is equal to it, lies in its range "50-60"
    or agrees with it up to the * that stand for anything; a column that a table lacks tells nothing.  The guess is the
    most frequent value of the rows that fit, among those that every table leaves, in the table where its share is most.

    >>> result = anonymous([HOSPITAL], REBECCA)
    >>> result.details["left"][-1], result.raw
    (['HIV', 'Ulcerative colitis'], 0.5)
    """
    if column_names(tables):
        raise bad("tables", "must be a list of tables", "one table", "Put it into a list: [table].")
    tables = list(tables) if isinstance(tables, Iterable) else []
    if not tables:
        raise bad("tables", "must be a list of one table or more", 0, "Give a list of tables.")
    if not isinstance(known, Mapping):
        raise bad_private("known", "must be the person's values by column", 'Write {"age": 55, "sex": "Female"}.')
    strange = [name for name in known if not any(name in column_names(table) for table in tables)]
    if strange:
        raise bad("known", "must be of columns that a table has", str(strange[0]), "Correct the column's name.")
    counts = [_secret_counts(table, known, secret=secret) for table in tables]
    left = [set(fitting) for fitting in counts]
    together = set.intersection(*left)
    if not together:
        raise bad_private("known", "must fit a row of each table, with one secret in all", "Check the person's values.")
    everything = Counter(str(cell) for cell in columns_of(tables[0], [secret], "tables")[secret])
    steps = [set.intersection(*left[: count + 1]) for count in range(len(left))]
    risk = max(_greatest_share({value: fitting[value] for value in together}) for fitting in counts)
    told = _result({column_of(None): risk}, len(everything), [set(everything), *steps], secret=secret)
    return replace(told, baseline=_greatest_share(everything), of_real_data=True)


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """Rebecca, 55, in the printed hospital table and in an invented second one; then noisy counts of her group."""
    chance = generator(seed)
    by_hospital, by_clinic = (secrets_left(table, REBECCA, secret=SECRET) for table in (HOSPITAL, CLINIC))
    everything = sorted(set(HOSPITAL[SECRET]))
    certain = certain_by_releases(chance)
    women = chance.integers(0, len(everything), size=(TRIALS, _WOMEN))  # the first of each group is Rebecca
    exact = np.zeros((TRIALS, len(everything)))
    np.add.at(exact, (np.arange(TRIALS)[:, None], women), 1)
    hits = {RAW: _right_guesses(exact, women, chance)}
    hits |= {epsilon: _right_guesses(_counts(everything, women, epsilon), women, chance) for epsilon in epsilons}
    return _result(
        {name: count / TRIALS for name, count in hits.items()},
        len(everything),
        [set(everything), by_hospital, by_hospital & by_clinic],
        secret=SECRET,
        hits=hits,
        details={"two_releases": certain},
    )


def secrets_left(table: Any, known: Mapping[str, Any], *, secret: str) -> set[str]:
    """The secrets of the rows that fit what is known of a person."""
    return set(_secret_counts(table, known, secret=secret))


def _greatest_share(counts: Mapping[str, int]) -> float:
    return max(counts.values()) / sum(counts.values())


def _secret_counts(table: Any, known: Mapping[str, Any], *, secret: str) -> Counter[str]:
    """How many rows that fit what is known of a person have each secret."""
    names = [name for name in known if name in column_names(table)]
    columns = columns_of(table, [*names, secret], "tables")
    rows = range(len(columns[secret]))
    fitting = (row for row in rows if all(fits(columns[name][row], known[name]) for name in names))
    return Counter(str(columns[secret][row]) for row in fitting)


def fits(cell: Any, value: Any) -> bool:
    """Whether a generalised cell can stand for that value.

    >>> [fits(*pair) for pair in (("50-60", 55), ("191**", 19146), ("191**", 19246), ("*", "x"), ("Female", "Female"))]
    [True, True, False, True, True]
    """
    text, meant = str(cell).strip(), str(value).strip()
    if text in ("*", meant):
        return True
    span = _RANGE.fullmatch(text)
    if span is not None:
        try:
            return float(span[1]) <= float(meant) <= float(span[2])
        except ValueError:
            return False
    pattern = re.escape(text).replace(r"\*", ".")
    return "*" in text and re.fullmatch(pattern, meant) is not None


def certain_by_releases(chance: Generator) -> dict[str, float]:
    """Of people in two k-anonymous releases over different people, whose secret is certain by one and by both.

    2,000 invented patients each, half of them in both, and 50 diagnoses, some frequent and some rare.  One table has
    ages and zip codes, the other ages and days of admission, generalised by Mondrian with k = 5.
    """
    size = int(PEOPLE * (2 - BOTH))
    ages, codes, days = (chance.integers(low, high, size=size) for low, high in ((18, 90), (0, 100), (0, 365)))
    shares = 1 / (5 + np.arange(SECRETS))
    secrets = chance.choice(SECRETS, size=size, p=shares / shares.sum())
    releases = ((codes, np.arange(PEOPLE)), (days, np.arange(size - PEOPLE, size)))
    left = [_possible(groups(_traits(ages, other, rows), K), secrets[rows]) for other, rows in releases]
    shared = int(PEOPLE * BOTH)
    by_first, by_second = left[0][-shared:], left[1][:shared]
    return {
        "people in both": float(shared),
        "certain by one release": float((by_first.sum(axis=1) == 1).mean()),
        "certain by both": float(((by_first & by_second).sum(axis=1) == 1).mean()),
        "left by one release": float(by_first.sum(axis=1).mean()),
        "left by both": float((by_first & by_second).sum(axis=1).mean()),
    }


def _traits(ages: Ints, other: Ints, rows: Ints) -> Floats:
    return np.column_stack([ages[rows], other[rows]]).astype(np.float64)


def _possible(labels: Ints, secrets: Ints) -> Bools:
    """For each row, which secrets its group has."""
    table = np.zeros((labels.max() + 1, SECRETS), dtype=bool)
    table[labels, secrets] = True
    result: Bools = table[labels]
    return result


def _right_guesses(counts: Floats, women: Ints, chance: Generator) -> int:
    """How often the largest count names Rebecca's diagnosis; of equal ones any is guessed."""
    ties = chance.random(counts.shape) / 2
    return int(((counts + ties).argmax(axis=1) == women[:, 0]).sum())


def _counts(everything: Sequence[str], women: Ints, epsilon: str) -> Floats:
    """Noisy counts by trial and diagnosis, where each diagnosis is any of all with equal chance.

    In each trial Rebecca's group has two women, as printed: her, and one more.  One question counts the women of all
    trials by diagnosis, and each woman is in one trial.
    """
    columns: dict[str, Sequence[Any]] = {
        "person": list(range(_WOMEN * TRIALS)),
        "trial": [trial for trial in range(TRIALS) for _ in range(_WOMEN)],
        "diagnosis": [everything[place] for place in women.ravel().tolist()],
    }
    toml = _TOML.format(last=TRIALS - 1, diagnoses=list(everything), epsilon=epsilon)
    counts = np.zeros((TRIALS, len(everything)))
    with invented_dataset(toml, columns) as dataset:
        text = "SELECT trial, diagnosis, COUNT(*) AS n FROM invented GROUP BY trial, diagnosis"
        for row in dataset.sql(text).ask(epsilon=epsilon).rows:
            counts[row["trial"], everything.index(row["diagnosis"])] = row["n"]
    return counts


def _result(
    columns: Mapping[str, float],
    choices: int,
    steps: Sequence[set[str]],
    *,
    secret: str,
    hits: Mapping[str, int] | None = None,
    details: Mapping[str, Any] | None = None,
) -> Result:
    private = {name: share for name, share in columns.items() if name != RAW}
    marks = ("no table", *(f"table {number}" for number in range(1, len(steps))))
    places, sizes = tuple(map(float, range(len(steps)))), tuple(float(len(step)) for step in steps)
    two = (details or {}).get("two_releases")
    notes = [f"Left by {mark}: {', '.join(sorted(step))}." for mark, step in zip(marks[1:], steps[1:], strict=True)]
    if two is not None:
        notes.append(
            f"Of {two['people in both']:,.0f} invented people in two {K}-anonymous tables, the {secret} of "
            f"{two['certain by one release']:.3f} is certain by one table, and of {two['certain by both']:.3f} by both."
        )
    return Result(
        name="anonymous",
        metric="right guesses",
        measure=f"chance that one of {choices} values of {secret} is guessed rightly, of somebody in a table",
        raw=columns.get(RAW),
        private=private,
        baseline=1 / choices,
        ceiling={name: chance_of(float(amounts.epsilon(name)), 0.0, without=1 / choices) for name in private},
        units=f"one person, in the table or not, whose {secret} is independent of all other rows",
        trials=TRIALS if hits else 1,
        intervals={name: share_interval(count, TRIALS) for name, count in (hits or {}).items()},
        without="by the exact counts of her group" if hits else "by the rows as they are",
        chart=Chart(
            "tables seen so far",
            f"values of {secret} that are left for a person",
            (Line("left", places, sizes),),
            marks=marks,
        ),
        notes=tuple(notes),
        details={"left": [sorted(step) for step in steps], **(details or {})},
    )
