"""A small invented census: metadata, random rows of all odd kinds, and the tables of its leaves counted row by row."""

import csv
import random
from collections import Counter
from pathlib import Path

import numpy as np

WARDS = ["n1", "n2", "n3", "s1", "s2"]
TREE = "country,region,ward\nx,north,n1\nx,north,n2\nx,north,n3\nx,south,s1\nx,south,s2\n"
SEXES = ["f", "m"]
EDGES = [0, 18, 65, 99]
HEADER = ["person", "household", "ward", "sex", "age"]
TOML = """\
[dataset]
name = "people"
source = "people.csv"
neighbours = "{neighbours}"
{unit}
[columns.ward]
type = "category"
[columns.sex]
type = "category"
values = ["f", "m"]
[columns.age]
type = "integer"
bounds = [0, 99]
bins = [0, 18, 65, 99]
{household}
[hierarchy.geo]
levels = ["country", "region", "ward"]
tree = "geo.csv"
[budget]
epsilon = {epsilon}
{more}
"""
UNIT = '[unit]\nkey = "{key}"\nmax_rows = {max_rows}'
HOUSEHOLD = '[columns.household]\ntype = "text"'


def written(folder, *, key="person", max_rows=1, epsilon=3, neighbours="add-remove", more="", rows=()):
    """people.toml in the folder, with its tree and its table."""
    unit = "" if key is None else UNIT.format(key=key, max_rows=max_rows)
    household = HOUSEHOLD if key == "person" else ""
    text = TOML.format(unit=unit, household=household, epsilon=epsilon, neighbours=neighbours, more=more)
    (folder / "people.toml").write_text(text)
    (folder / "geo.csv").write_text(TREE)
    put(folder, rows)
    return folder / "people.toml"


def put(folder: Path, rows):
    """The table, in this order."""
    with (folder / "people.csv").open("w", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows([HEADER, *rows])


def one(person, household, ward="n1", sex="f", age=30):
    return [person, household, ward, sex, age]


def drawn(seed, *, cap, of="person"):
    """Rows of about thirty units.

    A unit has rows in one cell, and perhaps others that are empty or of no known ward, sex or household.  Whoever has
    more rows than count has them all alike, so that it does not matter which of them do.
    """
    chance = random.Random(seed)
    rows = []
    for number in range(chance.randrange(20, 40)):
        home, cell = chance.randrange(12), (chance.choice(WARDS), chance.choice(SEXES), chance.randrange(-5, 110))
        whose = (number, home) if of == "person" else (chance.randrange(100), number)
        many = chance.random() < 0.2
        if many:
            rows += [one(*whose, *cell)] * (cap + chance.randrange(1, 4))
            continue
        for _ in range(chance.randrange(1, cap + 1)):
            ward, sex, age = cell
            if chance.random() < 0.25:
                ward = chance.choice(["", "atlantis", "N1 "])
            if chance.random() < 0.15:
                sex = chance.choice(["", "?", "F"])
            if chance.random() < 0.15:
                age = chance.choice(["", "old"])
            rows.append(one(*(("", whose[1]) if chance.random() < 0.05 else whose), ward, sex, age))
    chance.shuffle(rows)
    return rows


# --- the slow twin ---------------------------------------------------------------------------------------------------


def kept(rows, *, unit, cap):
    """The rows that count; without a unit each row is one."""
    if unit is None:
        return rows
    column, seen, kept_rows = HEADER.index(unit), Counter(), []
    for row in rows:
        if row[column] != "" and seen[row[column]] < cap:
            seen[row[column]] += 1
            kept_rows.append(row)
    return kept_rows


def age_bin(text):
    """The bin's number; cells beyond the bounds count as the nearer end."""
    try:
        years = min(max(int(float(text)), EDGES[0]), EDGES[-1])
    except ValueError:
        return None
    return min(sum(years >= edge for edge in EDGES[1:]), len(EDGES) - 2)


def cell(row, by):
    """Ward and labels of a row as numbers; None where one is not known."""
    _, _, ward, sex, age = row
    known = {"age": age_bin(age), "sex": SEXES.index(sex) if sex in SEXES else None}
    codes = [WARDS.index(ward) if ward in WARDS else None, *(known[name] for name in by)]
    return None if None in codes else tuple(codes)


def counted(rows, *, by=(), unit=None, cap=1, units=False):
    """The leaves' counts of rows, or of units in the one cell they are in."""
    table = np.zeros((len(WARDS), *({"sex": 2, "age": 3}[name] for name in by)), dtype=np.int64)
    if not units:
        for row in kept(rows, unit=unit, cap=cap):
            if (place := cell(row, by)) is not None:
                table[place] += 1
    else:
        at_unit = HEADER.index(unit)
        where = {}
        for row in kept(rows, unit=unit, cap=cap):
            if (place := cell(row, by)) is not None:
                where.setdefault(row[at_unit], set()).add(place)
        for cells in where.values():
            (place,) = cells
            table[place] += 1
    return table.reshape(len(WARDS), -1)


def sized(rows, *, unit, cap, group, largest):
    """The leaves' groups by size; a group counts in every ward it has rows in."""
    column = HEADER.index(group)
    members = Counter(
        (row[2], row[column]) for row in kept(rows, unit=unit, cap=cap) if row[2] in WARDS and row[column] != ""
    )
    table = np.zeros((len(WARDS), largest), dtype=np.int64)
    for (ward, _), size in members.items():
        table[WARDS.index(ward), min(size, largest) - 1] += 1
    return table
