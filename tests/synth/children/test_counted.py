"""How far one person moves what is counted of two tables, by brute force: leaving both, or either of them alone."""

import numpy as np
import pandas
import pytest

from discreet.kernel.contract import kernel_of
from discreet.synth.children.counted import counted_of_both
from discreet.synth.children.present import with_absent
from discreet.synth.plan import KERNEL

from .clinic import fill, opened, patients_of, task, visits_of, written

FEW = ["age", "sex", "reason", "urgent"]


def parameters(subject):
    """Every column, and every pair, by fine cells."""
    sizes = subject.sizes
    cliques = [(place,) for place in range(len(sizes))]
    cliques += [(left, right) for right in range(len(sizes)) for left in range(right)]
    steps = subject.steps
    return subject.public([np.arange(size) for size in sizes], cliques, [steps + n for n in range(len(cliques))])


def counts(folder, patients, visits, given):
    fill(folder, patients, visits)
    with opened(folder) as (persons, rows):
        joined = task(persons, rows, columns=FEW)
        view = joined.table.view()
        try:
            return counted_of_both(view, joined.subject, KERNEL, given).compute()
        finally:
            view.close()


def visits_as(visits, who):
    """Three visits of somebody."""
    return visits.iloc[:3].assign(patient=who)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_one_person_moves_counts_at_most_as_the_kernel_says(tmp_path, neighbours):
    patients = patients_of(30)
    visits = visits_of(patients)
    folder = written(tmp_path, patients, visits, neighbours=neighbours)
    with opened(folder) as (persons, rows):
        subject = task(persons, rows, columns=FEW).subject
    given = parameters(subject)
    bound = kernel_of(KERNEL).sensitivity(given, subject.limit)
    often = visits["patient"].value_counts().index[0]
    never = next(who for who in patients["patient"] if who not in set(visits["patient"]))
    visits = pandas.concat([visits, visits_as(visits, 5)])  # of nobody, until a patient 5 is there
    before, largest = counts(folder, patients, visits, given), 0
    for stays, goes in ((True, True), (False, True), (False, False)):
        fewer = patients if stays else patients[patients["patient"] != often]
        left = visits[visits["patient"] != often] if goes else visits
        if neighbours == "replace-one" and stays:  # somebody else comes to visits in this person's place
            left = pandas.concat([left, visits_as(visits, never)])
        elif neighbours == "replace-one":
            fewer = pandas.concat([fewer, patients.iloc[:1].assign(patient=5)])
        moved = np.abs(counts(folder, fewer, left, given) - before)
        largest = max(largest, int(moved.sum()))
        assert moved.sum() <= bound.l1
        assert (moved.astype(object) ** 2).sum() <= bound.l2_squared
        assert moved.max() <= bound.linf
        assert (moved > 0).sum() <= bound.l0
    assert largest > 0.9 * bound.l1 / (1 if neighbours == "add-remove" else 2)


def test_tables_of_the_second_are_of_units_with_rows_alone(tmp_path):
    patients = patients_of(60)
    visits = visits_of(patients)
    folder = written(tmp_path, patients, visits)
    with opened(folder) as (persons, rows):
        subject = task(persons, rows, columns=FEW).subject
    given = parameters(subject)
    exact = counts(folder, patients, visits, given)
    with_rows = visits.loc[visits["patient"] != 1, "patient"].nunique()
    start = 0
    for clique, weight in zip(given["cliques"], given["weights"], strict=True):
        length = int(np.prod([subject.sizes[feature] for feature in clique]))
        units = exact[start : start + length].sum() / weight
        expected = with_rows if subject.is_of_rows(clique) else len(patients)
        assert abs(units - expected) < 0.01
        start += length
    assert subject.names.index("has visits") == subject.presence


def test_shares_of_all_units_follow_from_those_with_rows(tmp_path):
    with opened(written(tmp_path, patients_of(10))) as (persons, rows):
        subject = task(persons, rows, columns=FEW).subject
    shares = [np.full(size, 1 / size) for size in subject.sizes]
    whole = with_absent(subject, shares, 0.25)
    assert all(abs(own.sum() - 1) < 1e-12 for own in whole)
    assert whole[subject.presence].tolist() == [0.25, 0.75, 0.0]
    reason = subject.names.index("reason")
    assert whole[reason].tolist() == [0.1875, 0.1875, 0.1875, 0.4375]
    assert (whole[0] == shares[0]).all()
