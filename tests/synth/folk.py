"""A small invented table of people with every type of column, as rows of persons or of persons with several rows."""

import csv

TOML = """\
[dataset]
name = "people"
source = "people.csv"
neighbours = "{neighbours}"
[unit]
key = "who"
max_rows = {max_rows}
[columns.sex]
type = "category"
values = ["f", "m"]
fixed_per_unit = true
[columns.region]
type = "category"
values = ["north", "south", "east"]
[columns.age]
type = "integer"
bounds = [0, 110]
bins = [0, 18, 40, 65, 110]
[columns.pay]
type = "number"
bounds = [0, 100]
step = 0.5
[columns.ill]
type = "boolean"
{columns}[budget]
epsilon = {epsilon}
{budget}"""
HEAD = ["who", "sex", "region", "age", "pay", "ill"]


def person(number):
    """The cells of one person, whose pay follows age and whose illness follows region; some are empty."""
    age = "" if number % 11 == 10 else (37 * number) % 100
    pay = "" if age == "" else age // 2 + number % 7
    region = ("north", "south", "east")[number % 5 % 3]
    return ["f" if number % 2 else "m", region, age, pay, int(region == "east" or number % 13 == 0)]


def rows_of(count=300, max_rows=1):
    """Rows with their person's number; persons have 1 to `max_rows` rows."""
    return [[n, *person(n)[:1], *person(n + 101 * own)[1:]] for n in range(count) for own in range(1 + n % max_rows)]


def written(
    folder, rows=None, *, max_rows=1, neighbours="add-remove", epsilon=1000, budget="delta = 1e-6\n", columns=""
):
    """The path of the metadata, beside its rows; the folder's name makes each table one of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    toml = folder / "people.toml"
    text = TOML.format(max_rows=max_rows, neighbours=neighbours, epsilon=epsilon, budget=budget, columns=columns)
    toml.write_text(text)
    fill(folder, rows_of(max_rows=max_rows) if rows is None else rows)
    return toml


def fill(folder, rows):
    """Write the table's rows."""
    with open(folder / "people.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*HEAD, "mark"])
        table.writerows([*row, f"{folder}"] for row in rows)
