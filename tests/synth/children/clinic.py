"""Invented patients and their visits: two small tables of the same units, as datasets with ledgers of their own."""

import contextlib

import numpy as np
import pandas

import discreet as dp

MOST = 6
PATIENTS = """\
[dataset]
name = "patients"
source = "patients.csv"
neighbours = "{neighbours}"
{population}[unit]
key = "patient"
max_rows = 1
[columns.age]
type = "integer"
bounds = [0, 89]
bins = [0, 30, 60, 89]
[columns.sex]
type = "category"
values = ["f", "m"]
[columns.weight]
type = "number"
bounds = [0, 200]
step = 0.5
bins = [0, 50, 100, 200]
[columns.note]
type = "text"
[budget]
epsilon = {epsilon}
{budget}"""
VISITS = """\
[dataset]
name = "visits"
source = "visits.csv"
neighbours = "{neighbours}"
{population}[unit]
key = "{key}"
max_rows = {max_rows}
[columns.reason]
type = "category"
values = ["heart", "check", "cold"]
[columns.day]
type = "date"
bounds = [2024-01-01, 2024-12-31]
bins = [2024-01-01, 2024-07-01, 2024-12-31]
[columns.age]
type = "integer"
bounds = [0, 89]
bins = [0, 30, 60, 89]
[columns.urgent]
type = "boolean"
[budget]
epsilon = {epsilon}
{budget}"""
BUDGET = 'delta = "1e-6"\n'


def patients_of(count=400, seed=1):
    """Persons of whom the old come more often and for other reasons; some ages are empty."""
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 90, count)
    return pandas.DataFrame({
        "patient": np.arange(count) + 1000,
        "age": pandas.array(np.where(age % 10 == 9, -1, age), "Int64").astype(object),
        "sex": draw.choice(["f", "m"], count),
        "weight": draw.integers(60, 240, count) / 2,
        "note": [f"secret {n}" for n in range(count)],
        "old": age > 59,
    }).replace({-1: None})  # fmt: skip


def visits_of(patients, seed=2, max_rows=MOST):
    """Between none and `max_rows` visits of each, and one of somebody who is no patient."""
    draw = np.random.default_rng(seed)
    old = patients["old"].to_numpy()
    counts = np.minimum(draw.poisson(np.where(old, 3.0, 0.7)), max_rows)
    owner = np.repeat(np.arange(len(patients)), counts)
    reason = np.where(
        old[owner], draw.choice(["heart", "check"], len(owner)), draw.choice(["cold", "check"], len(owner))
    )
    visits = pandas.DataFrame({
        "patient": patients["patient"].to_numpy()[owner],
        "reason": reason,
        "day": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(draw.integers(0, 365, len(owner)), unit="D"),
        "age": draw.integers(0, 90, len(owner)),
        "urgent": draw.random(len(owner)) < 0.3,
    })  # fmt: skip
    visits["day"] = visits["day"].dt.strftime("%Y-%m-%d")
    stranger = {"patient": 1, "reason": "heart", "day": "2024-02-03", "age": 1, "urgent": True}
    return pandas.concat([visits, pandas.DataFrame([stranger])], ignore_index=True)


def fill(folder, patients, visits):
    """Write both sources; a column that nobody declared makes each test's tables its own."""
    patients.drop(columns="old", errors="ignore").assign(mark=str(folder)).to_csv(folder / "patients.csv", index=False)
    visits.assign(mark=str(folder)).to_csv(folder / "visits.csv", index=False)


def written(
    folder, patients=None, visits=None, *, max_rows=MOST, neighbours="add-remove", key="patient", rows_epsilon=None,
    epsilon=1000, budget=BUDGET, rows_budget=None, population="",
):  # fmt: skip
    """Both tables with their metadata; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"neighbours": neighbours, "population": population, "max_rows": max_rows, "key": key}
    texts = {
        "patients": PATIENTS.format(**facts, epsilon=epsilon, budget=budget),
        "visits": VISITS.format(
            **facts, epsilon=epsilon if rows_epsilon is None else rows_epsilon,
            budget=budget if rows_budget is None else rows_budget,
        ),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
    patients = patients_of() if patients is None else patients
    fill(folder, patients, visits_of(patients) if visits is None else visits)
    return folder


@contextlib.contextmanager
def opened(folder, **options):
    """Both datasets."""
    patients, visits = folder / "patients.toml", folder / "visits.toml"
    with dp.open(patients, **options) as persons, dp.open(visits, **options) as rows:
        yield persons, rows


def task(persons, visits, **options):
    return persons.synthesize(children={"visits": visits}, **options)


def spent(*datasets):
    """ε that each ledger has charged, 0 where there is none."""
    standings = [dataset.budget for dataset in datasets]
    return [0 if standing is None else standing.spent.epsilon for standing in standings]
