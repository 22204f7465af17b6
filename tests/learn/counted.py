"""What tests of models from counts share: a subject of invented persons, exact sums of their rows, and neighbours."""

import numpy as np

from discreet.bounded import Sensitivity
from discreet.learn.fit import fit_arrays
from discreet.learn.input.arrays import ArrayFacts, subject_of_arrays
from discreet.learn.price import parse_price
from learn.people import CLASSES, rows_of

FEATURES = ["age", "sex", "region"]
PUBLIC = {"bounds": {"age": (18, 90)}, "values": {"sex": ["f", "m"], "region": ["n", "s", "w"]}, "classes": CLASSES}
HUGE = {"epsilon": 1_000_000}


def features(columns):
    return {name: columns[name] for name in FEATURES}


def persons(count=30, seed=5, rows=4):
    return rows_of(count, seed, rows=rows)


def subject_and_view(columns, *, max_rows=1, relation="add-remove", target="sick", classes=CLASSES):
    facts = ArrayFacts(PUBLIC["bounds"], PUBLIC["values"], classes, None, relation, max_rows)
    return subject_of_arrays(features(columns), columns[target], columns["id"], facts)


def fit_of(learner, columns, *, epsilon=1, delta=None, **options):
    subject, view = subject_and_view(columns, **options)
    return fit_arrays(learner, subject, parse_price(epsilon, delta), view)


def without(columns, person):
    """The table less one person."""
    return {name: column[columns["id"] != person] for name, column in columns.items()}


def replaced(columns, person, by):
    """The table with one person's rows made those of another, and of the other class."""
    table = {name: column.copy() for name, column in columns.items()}
    for name in ("age", "sex", "region", "sick"):
        table[name][columns["id"] == person] = by[name]
    return table


def moved_by(kernel, public, tables, relation):
    """The norms by which a kernel's sums of two tables differ, from the persons in whom they differ.

    Rows of arrays are ordered by a hash whose key is drawn anew each time, so persons in both are left out.
    """
    own = [_by_person(table) for table in tables]
    change = 0
    for mine, other, sign in ((own[0], own[1], 1), (own[1], own[0], -1)):
        differing = [rows for person, rows in mine.items() if str(rows) != str(other.get(person))]
        change = change + sign * sum(_exact(kernel, public, rows) for rows in differing)
    size = np.abs(change)
    return Sensitivity(int((size > 0).sum()), int(size.sum()), int((size**2).sum()), int(size.max()), relation)


def _by_person(columns):
    return {
        person: {name: column[columns["id"] == person] for name, column in columns.items()}
        for person in np.unique(columns["id"]).tolist()
    }


def _exact(kernel, public, columns):
    subject, view = subject_and_view(columns, max_rows=4)
    return view.sum(kernel, subject.columns, public).compute()
