"""Attribute inference: a hidden cell of a person whose other cells are known.

    from a model's answers    the value v with the largest P(v)·P(the person's own answer | known cells, v)
    from a published table    the most frequent value among the rows that are most alike

The first is model inversion (Fredrikson, Lantz, Jha, Lin, Page & Ristenpart 2014).  What both learn can be a fact about
a population, which no noise hides and none should.  So the example's hidden cells are drawn by fair coins: they follow
from nothing but the person's own row, and what is right beyond guessing has come out of that row.
"""

from pathlib import Path
from typing import Any

import numpy as np

from discreet.attack.ceiling import chance_of
from discreet.attack.given import cells_of, column_names, numbers
from discreet.attack.interval import mean_interval
from discreet.attack.models.attribute_example import DELTA, VALUES, from_models, from_tables
from discreet.attack.models.nearest import chances_of_right, codes_of
from discreet.attack.models.trials import vector
from discreet.attack.result import Result
from discreet.errors import bad, bad_private
from discreet.ndarrays import Floats
from discreet.noise.public import generator

_NORMAL = 1.96
_MOST_TARGETS, _MOST_ROWS, _MOST_VALUES = 500, 20_000, 100
_MEASURE = "share of hidden cells that are told rightly"


def attribute(
    truth: Any, *, chances: Any = None, prior: Any = None, known: Any = None, published: Any = None, column: str = ""
) -> Result:
    """How many hidden cells are told rightly, from a model's answers or from a published table.

    truth       the hidden value of each person
    chances     of a model: for each person a line, with the chance of the person's own answer if the hidden value were
                the first, the second …; `truth` then counts from 0
    prior       how frequent each value is; without it, equally
    known       {column: cells} of what the attacker knows of each person
    published   {column: cells} of a table with those columns and the hidden `column`

    >>> attribute([1, 0], chances=[[0.1, 0.9], [0.8, 0.3]]).raw
    1.0
    """
    if chances is not None:
        right, frequent = _by_model(truth, chances, prior)
    elif known is not None and published is not None:
        right, frequent = _by_table(truth, known, published, column)
    else:
        fix = "Give chances, or known, published and column."
        raise bad("attribute", "must be given a model's chances or a published table", "neither", fix)
    return _result(right, frequent, "one row of the table or of the model's rows")


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """A diagnosis of four, drawn by coins: from decision trees that learnt from it, and from synthetic tables."""
    by_model = from_models(epsilons, seed)
    by_table = from_tables(epsilons, seed)
    right = {key: float(values.mean()) for key, values in by_model.items()}
    guess = 1 / VALUES
    return Result(
        name="attribute",
        metric="cells told rightly",
        measure=f"{_MEASURE}, one of {VALUES} values, from the answers of a decision tree",
        raw=right["raw"],
        private={epsilon: right[epsilon] for epsilon in epsilons},
        baseline=guess,
        ceiling={epsilon: chance_of(float(epsilon), 0.0, without=guess) for epsilon in epsilons},
        units="one row, by add-remove; of synthetic tables too, with δ = " + DELTA,
        trials=len(by_model["raw"]),
        intervals={key: mean_interval(values, least=0, greatest=1) for key, values in by_model.items()},
        notes=(
            "Hidden values are fair coins: whatever is right beyond guessing came out of the person's own row.",
            f"From a copy of the rows {by_table['raw'].mean():.1%} are told, from synthetic tables "
            + ", ".join(f"{by_table[epsilon].mean():.1%} at ε = {epsilon}" for epsilon in epsilons)
            + ".",
        ),
        details={"from_tables": {key: float(values.mean()) for key, values in by_table.items()}},
    )


def on_file(path: Path, seed: int) -> Result:
    """Each column of the private table in turn, from a synthetic table that lies beside the TOML of its own.

    The column that is told best beyond its most frequent value is reported, and all are in the details: beside what a
    synthetic table tells stands what all other private rows tell of a row that is left out.
    """
    from discreet.attack.linking.own import epsilon_of, of_its_table, source_columns, texts

    synthetic, people = of_its_table(path)
    names = [column.name for column in synthetic.build.plan.subject.columns]
    if len(names) < 2:
        raise bad("on", "must have two columns or more for this attack", str(path), "Build it of more columns.")
    arrow, chance = synthetic.to_arrow(), generator(seed)
    released = [texts(arrow.column(name).to_pylist()) for name in names]
    private = [texts(cells) for cells in source_columns(people, names).values()]
    theirs, own = codes_of([released, private])
    if not len(theirs) or not len(own):
        raise bad_private("table", "must have rows, and so must the synthetic one", "There is nothing to tell.")
    theirs, own = (codes[chance.permutation(len(codes))[:_MOST_ROWS]] for codes in (theirs, own))
    epsilon, by_column = epsilon_of(synthetic), {}
    for place, name in enumerate(names):
        if len(np.unique(own[:, place])) <= _MOST_VALUES:
            by_column[name] = _figures(
                np.delete(own, place, 1), own[:, place], np.delete(theirs, place, 1), theirs[:, place]
            )
    if not by_column:
        rule = f"must have a column with at most {_MOST_VALUES} values for this attack"
        raise bad("on", rule, str(path), "Build it of categories too.")
    worst = max(by_column, key=lambda name: by_column[name]["told"] - by_column[name]["most_frequent"])
    figures = by_column[worst]
    targets = min(_MOST_TARGETS, len(own))
    error = _NORMAL * (figures["told"] * (1 - figures["told"]) / targets) ** 0.5
    return Result(
        name="attribute", metric="cells told rightly", raw=None,
        measure=f"{_MEASURE}, of {worst} from all other columns",
        private={epsilon: figures["told"]}, baseline=figures["most_frequent"], ceiling={},
        units="one row; no ceiling is known where other rows tell the same", trials=targets, of_real_data=True,
        intervals={epsilon: (max(0.0, figures["told"] - error), min(1.0, figures["told"] + error))},
        notes=(
            f"Blind guessing is the most frequent value. From all other private rows, without the person's own, "
            f"{figures['other_rows']:.1%} are told: what reaches no further is a fact about the population.",
            f"Of {len(by_column)} columns this one is told best beyond guessing, so the interval is too short.",
        ),
        details={"by_column": by_column},
    )  # fmt: skip


def _figures(known: Any, truth: Any, published: Any, values: Any) -> dict[str, float]:
    """How many cells are told by the synthetic table, by all other private rows, and by the most frequent value."""
    few = slice(0, _MOST_TARGETS)
    return {
        "told": float(chances_of_right(known[few], truth[few], published, values).mean()),
        "other_rows": float(chances_of_right(known[few], truth[few], known, truth, own=True).mean()),
        "most_frequent": float(np.bincount(truth).max() / len(truth)),
    }


def inverted(chances: Floats, truth: Any, prior: Floats) -> Floats:
    """For each person, the chance that the likeliest value is the true one; equal ones are equally likely guessed."""
    scores = chances * prior
    is_best = scores == scores.max(axis=1, keepdims=True)
    right: Floats = is_best[np.arange(len(truth)), truth] / is_best.sum(1)
    return right


def _by_model(truth: Any, chances: Any, prior: Any) -> tuple[Floats, float]:
    lines = numbers(chances, "chances", dimensions=2)
    places = vector(truth, "truth", len(lines))
    shares = np.full(lines.shape[1], 1 / lines.shape[1]) if prior is None else vector(prior, "prior", lines.shape[1])
    if not np.isin(places, np.arange(lines.shape[1])).all():
        raise bad_private("truth", "must be the place of each hidden value, from 0", "Give one for each person.")
    whole = places.astype(np.int64)
    return inverted(lines, whole, shares), float(np.bincount(whole).max() / len(whole))


def _by_table(truth: Any, known: Any, published: Any, column: str) -> tuple[Floats, float]:
    names, others = column_names(known), column_names(published)
    absent = [name for name in (*names, column) if name not in others]
    if absent or not names or column in names:
        fix = "Name the hidden column, and give in `known` some others of the published table."
        raise bad("column", "must be hidden and published, and known columns published too", absent or column, fix)
    theirs = [cells_of(published[name]) or [] for name in (*names, column)]
    ours = [cells_of(cells) or [] for cells in (*(known[name] for name in names), truth)]
    if not ours[-1] or not theirs[0] or len({*map(len, ours)}) > 1 or len({*map(len, theirs)}) > 1:
        fix = "Give a cell for each row, and for each person the truth."
        raise bad_private("columns", "must be of one length in each table, and not empty", fix)
    try:
        own, other = codes_of([ours, theirs])
    except TypeError:
        raise bad_private("cells", "must be numbers, texts or dates", "Take lists and sets apart.") from None
    right = chances_of_right(own[:, :-1], own[:, -1], other[:, :-1], other[:, -1])
    return right, float(np.bincount(own[:, -1]).max() / len(own))


def _result(right: Floats, frequent: float, units: str) -> Result:
    return Result(
        name="attribute", metric="cells told rightly", measure=_MEASURE, raw=float(right.mean()), private={},
        baseline=frequent, ceiling={}, units=units, trials=len(right),
        intervals={"raw": mean_interval(right, least=0, greatest=1)} if len(right) > 1 else {},
        without="by this attack", of_real_data=True,
        notes=("Blind guessing is the most frequent value; what other rows tell as well is a fact about them all.",),
    )  # fmt: skip
