"""A small table with a target that its features tell, as arrays and as a dataset."""

import csv
from pathlib import Path

import numpy as np

TOML = """\
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "person_id"
max_rows = 2
[columns.region]
type = "category"
values = ["north", "south"]
why_public = "regions are on every map"
[columns.age]
type = "integer"
bounds = [0, 110]
[columns.income]
type = "category"
values = ["low", "high"]
[columns.code]
type = "integer"
values = [1, 2, 3]
[columns.secret]
type = "integer"
bounds = [0, 7]
[budget]
epsilon = 20
delta = 1e-6
[budget.analysts]
ana = 1
"""
FEATURES = ["region", "age", "code"]


def rows(count=400):
    """Rows of a person each, as dicts; who is older than 50 has a high income."""
    ages = [(37 * number) % 91 for number in range(count)]
    return [
        {
            "person_id": number,
            "region": ("north", "south")[number % 2],
            "age": age,
            "income": "high" if age > 50 else "low",
            "code": number % 3 + 1,
            "secret": number % 8,
        }
        for number, age in enumerate(ages)
    ]


def write_people(folder: Path) -> Path:
    """people.toml beside people.csv."""
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows(1)[0]))
        writer.writeheader()
        writer.writerows(rows())
    toml = folder / "people.toml"
    toml.write_text(TOML)
    return toml


def arrays(count=300):
    """A matrix of two columns within −3 … 3, and the class that the first one tells."""
    generator = np.random.default_rng(7)
    matrix = np.clip(generator.normal(size=(count, 2)), -3, 3)
    return matrix, np.where(matrix[:, 0] > 0, "yes", "no")
