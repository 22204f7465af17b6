"""What privacy costs the groups of a table, and what a private model still tells of them: on the public table Adult.

    groups      accuracy and true positives of models of income, by sex and by race, at several ε
    inference   how well sex and race are told of people who are not in the table, from their other columns
    attack      how well the sex of one person in the table is told by somebody who knows all else, from a model

The persons of `split = train` are learnt from and those of `split = test` are predicted.  They are public, so shares of
them are shown without noise.  Public values are those that occur in the table; the bounds are written here.  Without
privacy means the same learner at ε = 1,000, and logistic regression by scikit-learn beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.release_data import folder
from benchmarks.report import Report, Table
from discreet import learn
from discreet.ndarrays import Floats
from discreet.noise.source import SYSTEM
from discreet.privacy import odds
from discreet.privacy.cost import Approx, Pure

EPSILONS = ("0.1", "1", "10", "1000")
DELTA = "1e-6"
DRAWS = 20
ATTACKS = 100_000
_ROWS = 50  # for a fit whose noise is attacked; it does not depend on rows
BOUNDS = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 99999),
    "capital_loss": (0, 4356),
    "hours_per_week": (1, 99),
}
CATEGORIES = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
FEATURES = (*BOUNDS, *CATEGORIES)
INCOME, RICH = "income", ">50K"
MODELS = {
    "additive": (learn.AdditiveClassifier, DELTA),
    "logistic": (learn.LogisticRegression, DELTA),
    "naive Bayes": (learn.NaiveBayes, None),
}
INFERRED = (  # what is told, of whom there are two kinds, and from what it is not told
    ("sex", "Male", ()),
    ("sex", "Male", ("relationship",)),
    ("race", "White", ()),
)
_ABSENT = "Not measured: groups, inference and the attack; DISCREET_DATA names no folder with adult."


@dataclass(frozen=True, eq=False)
class Adult:
    """The rows to learn from, the rows to predict, and the values of every category."""

    train: Any
    test: Any
    values: Mapping[str, list[str]]


def adult() -> Adult | None:
    """The table, if it is there."""
    import pandas

    place = folder()
    file = None if place is None else place / "adult" / "adult.csv.gz"
    if file is None or not file.exists():
        return None
    rows = pandas.read_csv(file, keep_default_na=False)
    values = {name: sorted(set(map(str, rows[name]))) for name in (*CATEGORIES, INCOME)}
    return Adult(rows[rows["split"] == "train"], rows[rows["split"] == "test"], values)


def report(draws: int = DRAWS, attacks: int = ATTACKS) -> Report:
    """All three, as means ± standard deviations over draws of the noise."""
    table = adult()
    if table is None:
        return Report((), {}, (_ABSENT,))
    measured = [*group_rows(table, draws)], [*inference_rows(table, draws)], [*attack_rows(table, attacks)]
    return Report(
        (
            _drawn("What privacy costs groups", "Percent of persons, over draws of the noise.", measured[0]),
            _drawn("What is told of strangers", "Percent of persons who are not in the table.", measured[1]),
            _drawn("What is told of one person", "Right guesses of 100, half of all are by chance.", measured[2]),
        ),
        {"groups": measured[0], "inference": measured[1], "attack": measured[2], "draws": draws, "attacks": attacks},
    )


# --- groups ----------------------------------------------------------------------------------------------------------


def group_rows(table: Adult, draws: int = DRAWS) -> Iterator[dict[str, Any]]:
    """For each model, ε and group: its persons, accuracy, true positives and those predicted to be rich."""
    for model in MODELS:
        for epsilon in EPSILONS:
            fitted = [_fitted(table, model, epsilon, FEATURES, INCOME).predict(table.test) for _ in range(draws)]
            yield from _by_group(table, model, epsilon, fitted)
    yield from _by_group(table, "scikit-learn", "none", [_peer_scores(table, FEATURES, INCOME, RICH) > 0.5])


def _by_group(table: Adult, model: str, epsilon: str, predicted: Sequence[Any]) -> Iterator[dict[str, Any]]:
    is_rich = (table.test[INCOME] == RICH).to_numpy()
    said = [answers if answers.dtype == bool else answers == RICH for answers in predicted]
    for column in ("sex", "race"):
        groups = table.values[column]
        members = {group: (table.test[column] == group).to_numpy() for group in groups}
        shares = {group: _shares(said, is_rich, members[group]) for group in groups}
        for group in groups:
            facts = {"model": model, "epsilon": epsilon, "by": column, "group": group}
            yield facts | {"persons": int(members[group].sum())} | {k: _both(v) for k, v in shares[group].items()}
        gaps = {name: np.ptp([shares[group][name] for group in groups], axis=0) for name in shares[groups[0]]}
        yield {"model": model, "epsilon": epsilon, "by": column, "group": "gap", "persons": len(is_rich)} | {
            name: _both(gap) for name, gap in gaps.items()
        }


def _shares(said: Sequence[Any], is_rich: Any, members: Any) -> dict[str, Floats]:
    return {
        "accuracy": np.array([(answers == is_rich)[members].mean() for answers in said]),
        "tpr": np.array([answers[members & is_rich].mean() for answers in said]),
        "said": np.array([answers[members].mean() for answers in said]),
    }


# --- inference -------------------------------------------------------------------------------------------------------


def inference_rows(table: Adult, draws: int = DRAWS) -> Iterator[dict[str, Any]]:
    """How well a column of strangers is told: accuracy, balanced accuracy and AUC, by the additive model."""
    for target, positive, hidden in INFERRED:
        kinds = Adult(_two_kinds(table.train, target, positive), _two_kinds(table.test, target, positive), table.values)
        features = tuple(name for name in (*FEATURES, INCOME) if name not in (target, *hidden))
        facts = {"told": target, "without": ", ".join(hidden) or "nothing"}
        for epsilon in EPSILONS:
            scores = [
                _fitted(kinds, "additive", epsilon, features, target, _KINDS).predict_proba(kinds.test)[:, 1]
                for _ in range(draws)
            ]
            yield facts | {"model": "additive", "epsilon": epsilon} | _told(kinds, target, scores)
        peer = [_peer_scores(kinds, features, target, _KINDS[1])]
        yield facts | {"model": "scikit-learn", "epsilon": "none"} | _told(kinds, target, peer)


_KINDS = ("another", "this one")


def _two_kinds(rows: Any, target: str, positive: str) -> Any:
    return rows.assign(**{target: np.where(rows[target] == positive, _KINDS[1], _KINDS[0])})


def _told(table: Adult, target: str, scores: Sequence[Floats]) -> dict[str, Any]:
    from sklearn.metrics import roc_auc_score

    is_own = (table.test[target] == _KINDS[1]).to_numpy()
    share = float((table.train[target] == _KINDS[1]).mean())  # a cut at the share weighs both kinds alike
    balanced = [((own > share)[is_own].mean() + (own <= share)[~is_own].mean()) / 2 for own in scores]
    return {
        "commonest": _percent(max(is_own.mean(), 1 - is_own.mean())),
        "accuracy": _both(np.array([((own > 0.5) == is_own).mean() for own in scores])),
        "balanced": _both(np.array(balanced)),
        "auc": _both(np.array([roc_auc_score(is_own, own) for own in scores])),
    }


# --- one person ------------------------------------------------------------------------------------------------------


def attack_rows(table: Adult, attacks: int = ATTACKS) -> Iterator[dict[str, Any]]:
    """The likelier sex of one person, from the noisy counts of naive Bayes and the exact counts of all others."""
    rows = table.train.iloc[:_ROWS]
    for features in (FEATURES, ("sex",)):
        for epsilon in EPSILONS[:-1]:
            model = _estimator(table, "naive Bayes", epsilon, features, INCOME).fit(rows[list(features)], rows[INCOME])
            share = _right_guesses(model.fit_.plan.tables.noise["sex"], attacks)
            yield {
                "columns": len(features),
                "epsilon": epsilon,
                "right": _percent(share),
                "sd": _percent(np.sqrt(share * (1 - share) / attacks)),
                "presence at most": _percent(odds.guess(Pure(Fraction(epsilon)))),
                "value at most": _percent(odds.guess(Pure(Fraction(epsilon)), units=2)),
            }


def _right_guesses(mechanism: Any, attacks: int) -> float:
    """The share of attacks that are right: of two counts one is higher by 1, and each has the fit's own noise.

    All that is known is taken off, so the counts are (1, 0) or (0, 1); the likelier of the two is guessed, and a coin
    decides where both are equally likely.
    """
    truth = np.arange(attacks) % 2
    noisy = mechanism(np.stack([1 - truth, truth], axis=1), SYSTEM)
    first, second = (np.abs(noisy - story).sum(axis=1) for story in ([1, 0], [0, 1]))
    coins = mechanism(np.zeros(attacks, dtype=np.int64), SYSTEM) > 0
    return float((np.where(first == second, coins, first > second) == truth).mean())


def advantage_limit(epsilon: Any, delta: Any = 0) -> float:
    """(e^ε − 1 + 2δ)/(e^ε + 1): right guesses less wrong ones about presence, at most.

    >>> round(advantage_limit(1), 3)
    0.462
    """
    return float(2 * odds.guess(Approx(epsilon, delta) if delta else Pure(epsilon)) - 1)


# --- models ----------------------------------------------------------------------------------------------------------


def _estimator(
    table: Adult, model: str, epsilon: str, features: Sequence[str], target: str, classes: Any = None
) -> Any:
    kind, delta = MODELS[model]
    bounds = {name: BOUNDS[name] for name in features if name in BOUNDS}
    values = {name: table.values[name] for name in features if name not in BOUNDS}
    listed = list(table.values[target] if classes is None else classes)
    return kind(epsilon=epsilon, delta=delta, bounds=bounds, values=values, classes=listed)


class _Fitted:
    """A model that takes the columns it was fitted to from any rows."""

    def __init__(self, model: Any, features: Sequence[str]) -> None:
        self._model, self._features = model, list(features)

    def predict(self, rows: Any) -> Any:
        return self._model.predict(rows[self._features])

    def predict_proba(self, rows: Any) -> Floats:
        scores: Floats = self._model.predict_proba(rows[self._features])
        return scores


def _fitted(
    table: Adult, model: str, epsilon: str, features: Sequence[str], target: str, classes: Any = None
) -> _Fitted:
    estimator = _estimator(table, model, epsilon, features, target, classes)
    return _Fitted(estimator.fit(table.train[list(features)], table.train[target]), features)


def _peer_scores(table: Adult, features: Sequence[str], target: str, positive: str) -> Floats:
    """Probabilities by scikit-learn's logistic regression on scaled numbers and one column for each value."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [name for name in features if name in BOUNDS]
    others = [name for name in features if name not in BOUNDS]
    columns = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), others))
    peer = make_pipeline(columns, LogisticRegression(max_iter=1000))
    peer.fit(table.train[list(features)], (table.train[target] == positive).to_numpy())
    scores: Floats = peer.predict_proba(table.test[list(features)])[:, 1]
    return scores


# --- figures ---------------------------------------------------------------------------------------------------------


def _both(shares: Floats) -> tuple[float, float]:
    """Mean and standard deviation, in percent."""
    spread = float(np.std(shares, ddof=1)) if len(shares) > 1 else 0.0
    return round(100 * float(np.mean(shares)), 1), round(100 * spread, 1)


def _percent(share: Any) -> float:
    return round(100 * float(share), 1)


def _drawn(title: str, meaning: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = tuple(rows[0])
    return Table(title, meaning, columns, tuple(tuple(_cell(row[name]) for name in columns) for row in rows))


def _cell(figure: Any) -> str:
    return f"{figure[0]} ± {figure[1]}" if isinstance(figure, tuple) else str(figure)
