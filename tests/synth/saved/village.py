"""A small table of people with a column of every kind, in a folder of its own, and its synthetic table."""

import csv
from pathlib import Path
from typing import Any

import discreet

ODD = "<script>alert(1)</script>"
TOML = """\
[dataset]
name = "people"
source = "people.csv"
neighbours = "{neighbours}"
[unit]
key = "who"
max_rows = {max_rows}
[columns.region]
type = "category"
values = ["north", "south", "east", "{odd}"]
null = "key"
{person}
[columns.age]
type = "integer"
bounds = [0, 110]
[columns.married]
type = "boolean"
[columns.rooms]
type = "integer"
values = [1, 2, 4]
[columns.pay]
type = "number"
bounds = [0.25, 99.5]
step = 0.5
null = "key"
[columns.born]
type = "date"
bounds = [1950-01-01, 2020-12-31]
[columns.seen]
type = "datetime"
bounds = [2020-01-01T00:00:00, 2020-12-31T00:00:00]
[columns.note]
type = "text"
[budget]
epsilon = 100
delta = 1e-6
"""
ZEROS = [{"age": (0, 15), "married": True}]
ROWS = 1500


def written(folder: Path, *, max_rows: int = 1, neighbours: str = "add-remove") -> Path:
    """The path of the metadata; pay and region are empty in some rows, and age and marriage go together."""
    folder.mkdir(parents=True, exist_ok=True)
    person = "fixed_per_unit = true" if max_rows > 1 else ""
    toml = folder / "people.toml"
    toml.write_text(TOML.format(max_rows=max_rows, neighbours=neighbours, odd=ODD, person=person))
    with open(folder / "people.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["who", "region", "age", "married", "rooms", "pay", "born", "seen", "note"])
        for n in range(ROWS):
            who = n // max_rows
            age = (7 * n * n + 3 * n) % 97
            region = ("north", "south", "east", "")[who * who % 7 % 4]
            pay = "" if age < 18 else 0.5 + (age * 5 + n % 9) % 198 / 2
            born, seen = f"{2020 - age % 70}-05-{1 + n % 28:02}", f"2020-06-{1 + n % 28:02}T10:00:00"
            table.writerow(
                [who, region, age, str(age > 25).lower(), (1, 2, 4)[n % 3], pay, born, seen, f"{folder} {n}"]
            )
    return toml


def built(folder: Path, **options: Any) -> Any:
    """The synthetic table at ε = 5, and the dataset, which is open."""
    people = discreet.open(written(folder, **options))
    return people.synthesize(zeros=ZEROS).build(epsilon=5), people
