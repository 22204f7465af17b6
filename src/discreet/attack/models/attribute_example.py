"""Invented people with a hidden diagnosis, drawn by coins; trees that learnt from it, and tables that hold it."""

from typing import Any

import numpy as np

from discreet.attack.models.nearest import chances_of_right
from discreet.attack.packages import require
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import generator

VALUES, DELTA = 4, "1e-6"
_PEOPLE, _KNOWN, _ANSWERS, _TREES = 128, 7, 8, 40
_ROWS, _AGES, _ZIPS = 1000, 100, 40
_TOML = """
[columns.age]
type = "integer"
bounds = [0, {oldest}]
[columns.zip]
type = "integer"
values = {zips}
[columns.sex]
type = "integer"
values = [0, 1]
[columns.diagnosis]
type = "integer"
values = {diagnoses}
[budget]
epsilon = 1000
delta = {delta}
"""


def from_models(epsilons: tuple[str, ...], seed: int) -> dict[str, Floats]:
    """By column, for each tree the share of its people whose diagnosis is told from its answers."""
    right: dict[str, list[float]] = {key: [] for key in ("raw", *epsilons)}
    chance = generator(seed)
    for _ in range(_TREES):
        known = chance.integers(2, size=(_PEOPLE, _KNOWN))
        hidden, answers = chance.integers(VALUES, size=_PEOPLE), chance.integers(_ANSWERS, size=_PEOPLE)
        for key in right:
            tree = _plain_tree if key == "raw" else _private_tree(key)
            right[key].append(float(_chances_told(tree(known, hidden, answers), known, hidden, answers).mean()))
    return {key: np.array(shares) for key, shares in right.items()}


def from_tables(epsilons: tuple[str, ...], seed: int) -> dict[str, Floats]:
    """By column, for each person the chance that the diagnosis is told from a published table: a copy, or synthetic."""
    chance = generator(seed)
    sizes = (_AGES, _ZIPS, 2, VALUES)
    people = np.column_stack([chance.integers(size, size=_ROWS) for size in sizes])
    known, hidden = people[:, :-1], people[:, -1]
    right = {"raw": chances_of_right(known, hidden, known, hidden)}
    for epsilon in epsilons:
        published = _synthetic(people, epsilon)
        right[epsilon] = chances_of_right(known, hidden, published[:, :-1], published[:, -1])
    return right


def _chances_told(tree: Any, known: Ints, hidden: Ints, answers: Ints) -> Floats:
    """Every value is put in, and the tree's chance of the person's own answer decides."""
    from discreet.attack.models.attribute import inverted

    everybody = np.arange(len(known))
    chances = [tree(known, np.full(len(known), value))[everybody, answers] for value in range(VALUES)]
    return inverted(np.stack(chances, axis=1), hidden, np.full(VALUES, 1 / VALUES))


def _plain_tree(known: Ints, hidden: Ints, answers: Ints) -> Any:
    """A tree that grows until it is right about everybody."""
    require("sklearn")
    from sklearn.tree import DecisionTreeClassifier

    def columns(cells: Ints, values: Ints) -> Floats:
        return np.column_stack([cells, np.eye(VALUES)[values]])

    tree = DecisionTreeClassifier(random_state=0).fit(columns(known, hidden), answers)
    seen = tree.classes_.astype(np.int64)

    def chances(cells: Ints, values: Ints) -> Floats:
        table = np.zeros((len(cells), _ANSWERS))
        table[:, seen] = tree.predict_proba(columns(cells, values))
        return table

    return chances


def _private_tree(epsilon: str) -> Any:
    """The product's tree at that ε, without δ."""
    from discreet.learn import DecisionTree

    def columns(cells: Ints, values: Ints) -> dict[str, list[int]]:
        table = {f"known{place}": column.tolist() for place, column in enumerate(cells.T)}
        return {**table, "diagnosis": values.tolist()}

    def fit(known: Ints, hidden: Ints, answers: Ints) -> Any:
        values = {**{f"known{place}": [0, 1] for place in range(_KNOWN)}, "diagnosis": list(range(VALUES))}
        tree = DecisionTree(epsilon=epsilon, values=values, classes=list(range(_ANSWERS)))
        tree.fit(columns(known, hidden), answers.tolist())
        return lambda cells, put_in: tree.predict_proba(columns(cells, put_in))

    return fit


def _synthetic(people: Ints, epsilon: str) -> Ints:
    """The product's synthetic table of these people."""
    from discreet.attack.invented import invented_dataset

    names = ("age", "zip", "sex", "diagnosis")
    toml = _TOML.format(oldest=_AGES - 1, zips=list(range(_ZIPS)), diagnoses=list(range(VALUES)), delta=DELTA)
    with invented_dataset(toml, {name: column.tolist() for name, column in zip(names, people.T, strict=True)}) as rows:
        table = rows.synthesize().build(epsilon=epsilon, delta=DELTA).to_arrow()
    return np.column_stack([np.array(table.column(name).to_pylist(), dtype=np.int64) for name in names])
