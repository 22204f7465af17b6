"""The tables of `make bench learn`: how well models predict at each ε, linear regression, CPU time of fits and growth.

Every model of ours is at its defaults, with δ = 10⁻⁵ (0 where it says so) under add-remove, and is told the
public facts in `learn_data` and nothing else.  Tables are public, so areas and R² on test rows are shown without noise.
Without `DISCREET_DATA` the models are those of an invented table, and no aim is judged.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import learn_accuracy, learn_data, learn_linear, learn_peers, learn_speed
from benchmarks.learn_accuracy import EPSILONS, Score, best
from benchmarks.learn_speed import Growth, Logistic
from benchmarks.release_data import folder
from benchmarks.report import Aim, Report, Table, verdict

ADULT_DRAWS, PEER_DRAWS, GERMAN_SPLITS, DIABETES_SPLITS = 10, 5, 20, 5
BEST = "best of ours"
Aims = Mapping[str, tuple[float | None, ...]]  # at each ε
ADULT_AIMS: Aims = {
    BEST: (0.893, 0.909, 0.917),
    "NaiveBayes": (0.889, 0.899, 0.902),
    "NaiveBayes, δ = 0": (0.885, 0.898, 0.902),
    "LogisticRegression": (0.884, 0.897, 0.898),
    "RandomForest": (0.872, 0.882, 0.885),
}
GERMAN_AIMS: Aims = {BEST: (None, 0.71, 0.765)}
DIABETES_AIMS: Aims = {BEST: (0.648, 0.680, 0.685)}
LINEAR_AIMS: Aims = {"LinearRegression": (0.76, 0.795, None)}
WORST = Aim(at_least=0.70)  # R² at ε = 0.1
BAYES_TIME, ADDITIVE_TIME, LOGISTIC_TIME = Aim(at_most=1.5), Aim(at_most=1.2), Aim(at_most=2)
MEBIBYTE = 2**20


def report() -> Report:
    """All of it."""
    tables: list[Table] = []
    notes = [f"Not measured, as dp.learn does not have it yet: {model}." for model in learn_accuracy.absent()]
    figures: dict[str, Any] = {}
    if folder() is None:
        notes.append("Not measured: real tables; DISCREET_DATA names no folder.")
        scores = _of_splits("invented", learn_accuracy.random_splits(learn_data.invented(20_000)), 3)
        tables.append(_areas_table("How well: an invented table", "20,000 rows.", scores, {}))
        figures["invented"] = _figures(scores)
    else:
        for name, (table, scores, absent) in _real().items():
            tables.append(table)
            figures[name] = _figures(scores)
            notes += absent
    linear = learn_linear.made()
    scores, absent = learn_linear.scores(linear), learn_linear.peers(linear)
    regressions = [*scores, *absent[0]]
    logistic, growth = learn_speed.logistic(), learn_speed.growth()
    tables += [_linear_table(regressions), _logistic_table(logistic), _growth_table(growth)]
    figures |= {
        "linear regression": _figures(regressions),
        "logistic": [vars(timing) | {"ratio": timing.ratio} for timing in logistic],
        "growth": [vars(timing) | {"ratio": timing.ratio} for timing in growth],
    }
    return Report(tuple(tables), figures, tuple(dict.fromkeys([*notes, *absent[1]])))


def _real() -> dict[str, tuple[Table, list[Score], list[str]]]:
    split = learn_accuracy.adult_split()
    adult = _of_splits("Adult", split, ADULT_DRAWS)
    peers, absent = learn_peers.classified(split(0), EPSILONS, PEER_DRAWS)
    german = _of_splits("German credit", learn_accuracy.random_splits(learn_data.german()), GERMAN_SPLITS)
    diabetes = _of_splits("diabetes", learn_accuracy.random_splits(learn_data.diabetes()), DIABETES_SPLITS)
    adult_meaning = (
        f"The file's own split, income above 50,000 from 12 columns: {ADULT_DRAWS} draws of noise, of peers "
        f"{PEER_DRAWS}. diffprivlib is pure ε with a public number of rows; DP-EBM has δ = 10⁻⁵ and pays for its bins."
    )
    german_meaning = f"Bad risks among 1,000 from all 20 columns: {GERMAN_SPLITS} random splits 80 : 20."
    diabetes_meaning = (
        f"Whether a person came back, from 25 columns of a stay: {DIABETES_SPLITS} splits of persons 80 : 20. The "
        "product takes one row of each person by a hash; all rows of held-out persons are predicted. scikit-learn is "
        "given one random row of each."
    )
    return {
        "Adult": (
            _areas_table("How well: Adult", adult_meaning, [*adult, *peers], ADULT_AIMS),
            [*adult, *peers],
            absent,
        ),
        "German credit": (_areas_table("How well: German credit", german_meaning, german, GERMAN_AIMS), german, []),
        "diabetes": (
            _areas_table("How well: diabetes by person", diabetes_meaning, diabetes, DIABETES_AIMS),
            diabetes,
            [],
        ),
    }


def _of_splits(name: str, splits: Any, draws: int) -> list[Score]:
    return [
        *learn_accuracy.scores(splits, draws),
        *learn_accuracy.without_privacy(splits, 1 if name == "Adult" else draws),
    ]


def _figures(scores: Sequence[Score]) -> list[dict[str, Any]]:
    return [vars(score) | {"mean": score.mean, "deviation": score.deviation} for score in scores]


# --- tables --------------------------------------------------------------------------------------------------------


def _areas_table(title: str, meaning: str, scores: Sequence[Score], aims: Aims) -> Table:
    """A row for each model, the aims beside it; the best of ours, ε by ε, first."""
    ours = [score for score in scores if score.model in learn_accuracy.MODELS]
    top = tuple(best(ours).values())
    names = dict.fromkeys(score.model for score in scores)
    rows = (_row(name, [score for score in scores if score.model == name], aims) for name in names)
    columns = ("model", *(f"ε = {epsilon:g}" for epsilon in EPSILONS), "aims", "met", "fit CPU s")
    meaning = f"{meaning} Area under the curve on test rows, mean ± standard deviation of single draws."
    return Table(title, meaning, columns, (_row(BEST, top, aims), *rows))


def _row(name: str, scores: Sequence[Score], aims: Aims) -> tuple[str, ...]:
    seconds = "" if name == BEST else f"{max(score.fit_seconds for score in scores):.2f}"
    if scores[0].epsilon is None:  # without privacy
        return (name, "", "", _mean(scores[0]), "", "", seconds)
    goals = aims.get(name, ())
    pairs = zip(goals, scores, strict=False)
    met = [verdict(Aim(at_least=goal), score.mean) for goal, score in pairs if goal is not None]
    told = " / ".join("–" if goal is None else f"≥ {goal:g}" for goal in goals)
    return (name, *map(_mean, scores), told, ", ".join(met), seconds)


def _mean(score: Score) -> str:
    if score.mean < -10:
        return f"{score.mean:.1e}"
    return f"{score.mean:.4f}" + (f" ± {score.deviation:.4f}" if len(score.areas) > 1 else "")


def _linear_table(scores: Sequence[Score]) -> Table:
    rows = []
    for model in dict.fromkeys(score.model for score in scores):
        own = [score for score in scores if score.model == model]
        worst = min(own[0].areas)
        is_ours = model in LINEAR_AIMS
        judged = f"{worst:.3f}, aim {WORST.text()}: {verdict(WORST, worst)}" if is_ours else f"{worst:.3g}"
        rows.append((*_row(model, own, LINEAR_AIMS), "" if own[0].epsilon is None else judged))
    meaning = (
        f"{learn_linear.ROWS:,} rows, {learn_linear.FEATURES} columns uniform on ± 1, y clipped to ± 1: R² on as many "
        f"fresh rows, mean ± standard deviation of {learn_linear.DRAWS} draws; the worst is of those at ε = 0.1. "
        "diffprivlib is pure ε with a public number of rows."
    )
    columns = ("model", *(f"ε = {epsilon:g}" for epsilon in EPSILONS), "aims", "met", "fit CPU s", "worst")
    return Table("Linear regression", meaning, columns, tuple(rows))


def _logistic_table(timings: Sequence[Logistic]) -> Table:
    rows = []
    for timing in timings:
        seconds = (f"{number:.3f}" for number in (timing.reading, timing.fitting, timing.encoding, timing.solving))
        rows.append((f"{timing.epsilon:g}", *seconds, f"{timing.ratio:.2f}", verdict(LOGISTIC_TIME, timing.ratio)))
    meaning = (
        "CPU seconds, medians, one thread, the rows of Adult. Ours: columns are read from arrays of numbers and texts, "
        "then fitted, all passes, noise and gate included. scikit-learn: ColumnTransformer makes a sparse table, then "
        "LogisticRegression with its default solver until it converges."
    )
    columns = ("ε", "our reading", "our fit", "its encoding", "its fit", f"fit ÷ fit {LOGISTIC_TIME.text()}", "met")
    return Table("Time: logistic regression on arrays", meaning, columns, tuple(rows))


def _growth_table(steps: Sequence[Growth]) -> Table:
    rows = []
    for model in dict.fromkeys(step.model for step in steps):
        aim = BAYES_TIME if model == "NaiveBayes" else ADDITIVE_TIME
        for step in (step for step in steps if step.model == model):
            sizes = (f"{step.cpu:.3g}", f"{step.wall:.3g}", f"{step.baseline:.3g}")
            judged = (f"{step.ratio:.2f}", aim.text(), verdict(aim, step.ratio))
            rows.append((model, f"{step.rows:,}", *sizes, *judged, f"{step.memory / MEBIBYTE:.0f}"))
    meaning = (
        "A fit to a dataset of 12 columns at ε = 1, from plan to stored model, all processes. NaiveBayes beside its 12 "
        "GROUP BYs of class × cell, asked plainly of DuckDB on the same prepared file; AdditiveClassifier beside its "
        "passes alone, the 12 GROUP BYs and 8 sums by the same worker. Memory: the worker's peak in MiB, limit 4 GiB."
    )
    columns = ("model", "rows", "fit CPU s", "fit wall s", "baseline CPU s", "ratio", "aim", "met", "worker MiB")
    return Table("Time: counts on a dataset", meaning, columns, tuple(rows))
