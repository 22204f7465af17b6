"""A small table of people for small databases: its metadata, its rows and its queries."""

import csv

TOML = """\
[dataset]
name = "people"
source = "people.csv"
neighbours = "{neighbours}"
[unit]
key = "who"
max_rows = {max_rows}
[columns.ill]
type = "boolean"
[columns.region]
type = "category"
values = ["north", "south", "east"]
null = "key"
[columns.age]
type = "integer"
bounds = [0, 110]
bins = [0, 18, 40, 110]
[columns.rooms]
type = "integer"
bounds = [1, 6]
[columns.pay]
type = "number"
bounds = [0, 100]
step = 0.5
[columns.note]
type = "text"
[columns.born]
type = "date"
bounds = [2000-01-01, 2000-01-09]
[budget]
epsilon = {epsilon}
"""
ROWS = 600
QUERIES = ["ill", "age >= 40 AND ill", "region = 'north' OR NOT ill", "age < 18"]


def written(folder, *, max_rows=1, neighbours="add-remove", epsilon=100, rows=ROWS, mark="one"):
    """The path of the metadata; every tenth row has an empty age, region or illness."""
    folder.mkdir(parents=True, exist_ok=True)
    toml = folder / "people.toml"
    toml.write_text(TOML.format(max_rows=max_rows, neighbours=neighbours, epsilon=epsilon))
    with open(folder / "people.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["who", "ill", "region", "age", "rooms", "pay", "note", "born", "mark"])
        for n in range(rows):
            ill, age = "" if n % 10 == 9 and n % 3 == 0 else int(n % 3 == 0), "" if n % 10 == 8 else (7 * n) % 111
            region = "" if n % 10 == 7 else ("north", "south", "east")[n % 7 % 3]
            pay, born = (n % 203) / 2, f"2000-01-{1 + n % 9:02}"
            table.writerow([n, ill, region, age, 1 + n % 6, pay, "x", born, f"{mark} {folder}"])
    return toml
