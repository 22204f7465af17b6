"""Small invented tables for tests of learning: persons with an age, a sex, a region, a target and a number."""

import csv

import numpy as np

CLASSES = ("no", "yes")


def rows_of(persons, seed, *, rows=1, groups=(0.6, 0.4)):
    """Columns by name; a person's rows differ, so that it shows which of them count."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(persons), rows)
    age, sex = rng.integers(18, 90, persons)[person], rng.choice(["f", "m"], persons, p=groups)[person]
    region = rng.choice(["n", "s", "w"], len(person))
    line = (age - 50) / 15 + (sex == "m") * 0.8 + (region == "w") * 0.5 + rng.logistic(size=len(person))
    pay = np.round(100 + 3 * age + 20 * rng.normal(size=len(person)), 1)
    sick = np.where(line > 0.5, "yes", "no")
    return {"id": person + 1000 * seed, "age": age, "sex": sex, "region": region, "sick": sick, "pay": pay}


def write(folder, columns, *, max_rows=1, relation="add-remove", unit=True, epsilon=1_000_000):
    """The table and its metadata; the path of the metadata."""
    names = [name for name in columns if unit or name != "id"]
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*(columns[name].tolist() for name in names), strict=True))
    head = f'[unit]\nkey = "id"\nmax_rows = {max_rows}\n' if unit else ""
    (folder / "people.toml").write_text(
        f"""[dataset]
name = "people"
source = "people.csv"
neighbours = "{relation}"
{head}[budget]
epsilon = {epsilon}
[columns.age]
type = "integer"
bounds = [18, 90]
[columns.sex]
type = "category"
values = ["f", "m"]
[columns.region]
type = "category"
values = ["n", "s", "w"]
[columns.sick]
type = "category"
values = ["no", "yes"]
[columns.pay]
type = "number"
bounds = [0, 500]
"""
    )
    return folder / "people.toml"
