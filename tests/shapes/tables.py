"""Neighbouring tables full of what breaks systems, and the exact parts of every plan on them: CSV → engine → integers.

No noise is drawn: a part is what the mechanism would have been given.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engine import Engine, Limits
from discreet.query.compile.exacts import Buckets, Exacts, exacts_of
from discreet.query.compile.statements import Statement, statements
from discreet.query.meaning.cells import Cells
from discreet.query.parts import Part, Rows
from discreet.query.plan import Plan
from discreet.query.recipe import MeanAmong
from discreet.relation import Relation
from shapes.shapes import schema

Row = list[str]
Numbers = dict[tuple[Any, int], int]  # by group and bucket
HEADER = "person,region,kind,vip,age,price,big,wild,born,at,town,code"
ODD = {
    "region": ["north", "south", "east", "nowhere", ""],
    "kind": ["a", "b", "c", "zz", "", "A"],
    "vip": ["true", "false", "", "maybe"],
    "age": ["-5", "0", "-0.0", "7", "20", "99", "", "x", "nan", "-inf", str(2**62), str(-(2**62))],
    "price": ["-1", "3", "0.6", "0", "-0.0", "nan", "inf", "-inf", "1e308", "1e400", "", str(2**62)],
    "big": ["0", "", "nan", "x"],
    "wild": ["inf", "-inf", "nan", "0", "-0.0", "1e308", "-1e308", "0.5", "5e-324", "", str(2**62)],
    "born": ["2020-01-01", "2022-12-31", "2021-07-15", "9999-12-31", "0044-03-15 (BC)", "infinity", "", "soon"],
    "at": ["2021-01-01 00:00:00", "2021-06-30 12:34:56", "infinity", "", "noon"],
    "town": ["rome", "oslo", '""', "", "12", "O'Neil; --", "t0"],
    "code": ["0", "-1", "7", str(2**62), str(-(2**62)), "1e308", "nan", ""],
}
HIGH = ["north", "a", "true", "99", "inf", str(2**62), "1e308", "9999-12-31", "infinity", "high", str(2**62)]
LOW = ["south", "b", "false", str(-(2**62)), "-inf", str(-(2**62)), "-1e308", "0044-03-15 (BC)", "", "low", "-7"]
EMPTY = [""] * len(HIGH)
_AT_ONCE = 400  # statements
KEY = bytes(range(32)).hex()  # of every table here: which rows of a unit count must not change from run to run


def ordinary(chance: random.Random, person: str, rows: int) -> list[Row]:
    """A unit with that many rows of odd cells, its region the same in most."""
    home = chance.choice(ODD["region"])
    table_rows = [[person, *map(chance.choice, ODD.values())] for _ in range(rows)]
    for row in table_rows:
        row[1] = home if chance.random() < 0.8 else row[1]
    return table_rows


def hostile(person: str, rows: int, groups: int, first: int, region: str) -> list[Row]:
    """One unit with many rows in many groups, most of them its own alone."""
    kinds, flags, prices = "abc", ("true", "false", ""), ("inf", "-inf", "0.25", "3", "nan")
    table_rows = []
    for i in range(rows):
        own = first + i % groups
        counted = [str(i % 26 - 5), prices[i % 5], "0", f"{own}.5"]
        times = [f"2021-{i % 12 + 1:02d}-11", f"2021-03-01 {i % 24:02d}:00:00"]
        table_rows.append([person, region, kinds[i % 3], flags[i % 3], *counted, *times, f"t{own}", str(own)])
    return table_rows


def different(person: str, cells: Row, first: int) -> list[Row]:
    """A unit whose rows differ in what values are told apart by, and in nothing else."""
    numbers = [str(first + i) for i in range(5)]
    return [[person, *cells[:3], own, *cells[4:6], own, *cells[7:9], f"d{own}", own] for own in numbers]


def mixed(person: str, turn: int) -> list[Row]:
    """A unit whose fixed column is not, in rows that are alike otherwise."""
    regions = ["north", "south", "east", "", "nowhere"]
    return [[person, regions[(i + turn) % 5], *(HIGH, LOW)[turn][1:5], "0", *HIGH[6:]] for i in range(5)]


@dataclass(frozen=True)
class Family:
    """Tables by name, and which of them are neighbours; `same` differ in nothing that counts."""

    unit: str
    tables: Mapping[str, list[Row]]
    neighbours: Mapping[Relation, Sequence[tuple[str, str]]]
    same: Sequence[tuple[str, str]]


def with_units(rows: int, groups: int) -> Family:
    """A dozen units, three of them as bad as can be: many rows in many groups, full duplicates, no fixed region."""
    chance = random.Random(11)
    units = {f"u{i}": ordinary(chance, f"u{i}", (6, 1, 4, 6, 5, 2, 6, 9)[i]) for i in range(8)}
    units["u1"][0][6] = "3"  # what SUM(big) is odd by
    units |= {
        "many": hostile("many", rows, groups, 1000, "north"),
        "double": [["double", *HIGH]] * 5,
        "mixed": mixed("mixed", 0),
        "": ordinary(chance, "", 12) + [["", *HIGH]] * 6,  # no id, no unit: never counted
    }
    changed = {
        "all": {},
        "less many": {"many": []},
        "less double": {"double": []},
        "less mixed": {"mixed": []},
        "less first": {"u0": []},
        "other many": {"many": hostile("many", rows, groups, 5000, "south")},
        "other double": {"double": [["double", *LOW]] * 5},
        "other mixed": {"mixed": mixed("mixed", 1)},
        "shuffled": {"": []},
    }
    tables = {name: _shuffled(units | change, name) for name, change in changed.items()}
    tables |= {
        "empty": [],
        "many": units["many"],
        "double": units["double"],
        "another": [["double", *LOW]] * 5,
        "elsewhere": [["double", *LOW[:2], *HIGH[2:]]] * 5,
        "different": different("double", HIGH, 1),
        "otherwise": different("double", LOW, 11),
        "nothing": [["double", *EMPTY]] * 4,
        "kinds": [["double", "north", kind, *HIGH[2:]] for kind in "abc"],
    }
    added = [("all", name) for name in changed if name.startswith("less")]
    replaced = [("all", name) for name in changed if name.startswith("other")]
    alone = ["many", "double", "another", "nothing", "different", "kinds"]
    swapped = [("double", name) for name in ("another", "elsewhere", "nothing")]
    neighbours = {
        Relation.ADD_REMOVE: [*added, *(("empty", name) for name in alone)],
        Relation.REPLACE_ONE: [*replaced, *swapped, ("nothing", "another"), ("different", "otherwise")],
    }
    return Family("with", tables, neighbours, [("all", "shuffled")])


def without_units() -> Family:
    """The same cells where every row is a unit of its own."""
    chance = random.Random(12)
    rows = {str(i): [["", *map(chance.choice, ODD.values())]] for i in range(60)}
    for row in rows.values():
        row[0][6] = "0"
    rows |= {"odd": [["", *EMPTY[:5], "3", *EMPTY[6:]]], "high": [["", *HIGH]], "twin": [["", *HIGH]]}
    changed = {"all": {}, "less high": {"high": []}, "less first": {"0": []}, "other high": {"high": [["", *LOW]]}}
    tables = {name: _shuffled(rows | change, name) for name, change in changed.items()}
    tables |= {"empty": [], "high": [["", *HIGH]], "low": [["", *LOW]], "nothing": [["", *EMPTY]]}
    tables["shuffled"] = _shuffled(rows, "shuffled")
    neighbours = {
        Relation.ADD_REMOVE: [("all", "less high"), ("all", "less first"), ("empty", "high"), ("empty", "low")],
        Relation.REPLACE_ONE: [("all", "other high"), ("high", "low"), ("high", "nothing")],
    }
    return Family("without", tables, neighbours, [("all", "shuffled")])


def _shuffled(units: Mapping[str, list[Row]], name: str) -> list[Row]:
    rows = [row for unit_rows in units.values() for row in unit_rows]
    random.Random(name).shuffle(rows)
    return rows


# --- the real path ---------------------------------------------------------------------------------------------------


def opened(folder: Path, rows: Sequence[Row], unit: str) -> Engine:
    """The table prepared from a CSV file; the relation has no part in it."""
    folder.mkdir(parents=True)
    (folder / "people.csv").write_text("\n".join([HEADER, *map(",".join, rows)]) + "\n")
    (folder / "people.key").touch(0o600)
    (folder / "people.key").write_text(KEY)
    limits = Limits(memory=2**29, seconds=600, threads=1)
    engine = Engine(folder, "people", schema(unit, Relation.ADD_REMOVE), folder / "people.csv", limits)
    engine.prepare(None)
    return engine


def measured_parts(plan: Plan) -> list[Part]:
    """The plan's parts, and the rows where a mean divides by a number of them that is not measured."""
    parts = [measured.part for measured in plan.measured]
    if any(isinstance(recipe, MeanAmong) for recipe in plan.draft.recipes) and Rows() not in parts:
        parts.append(Rows())
    return parts


@dataclass(frozen=True)
class Batch:
    """Plans, by their places, that the same statements measure."""

    cells: Cells
    statements: tuple[Statement, ...]
    plans: tuple[int, ...]


def apart(plans: Mapping[int, Plan]) -> list[Batch]:
    """Every plan by the very statements that would answer it."""
    return [_batch([plan], (place,)) for place, plan in plans.items()]


def together(plans: Mapping[int, Plan]) -> list[Batch]:
    """All plans about the same rows and groups side by side, as one question with many outputs would be."""
    alike = defaultdict(list)
    for place, plan in plans.items():
        alike[plan.draft.cells, plan.draft.question.where, plan.draft.caps].append(place)
    return [_batch([plans[place] for place in places], tuple(places)) for places in alike.values()]


def _batch(plans: Sequence[Plan], places: tuple[int, ...]) -> Batch:
    draft = plans[0].draft
    parts = list(dict.fromkeys(part for plan in plans for part in measured_parts(plan)))
    compiled = statements(draft.schema, draft.cells, draft.question.where, draft.caps, parts)
    return Batch(draft.cells, compiled, places)


def measured(engine: Engine, batches: Sequence[Batch]) -> dict[int, dict[Part, Numbers]]:
    """The exact parts of every plan on the engine's table."""
    unique = list(dict.fromkeys(statement.sql for batch in batches for statement in batch.statements))
    results = {}
    for first in range(0, len(unique), _AT_ONCE):
        some = unique[first : first + _AT_ONCE]
        results |= zip(some, engine.run(some), strict=True)
    numbers_of = {}
    for batch in batches:
        exact = exacts_of(batch.statements, [results[statement.sql] for statement in batch.statements], batch.cells)
        numbers = {part: _numbers(exact, part) for part in exact.parts}
        numbers_of |= dict.fromkeys(batch.plans, numbers)
    return numbers_of


def _numbers(exact: Exacts, part: Part) -> Numbers:
    """What is not 0, by group and bucket."""
    values, numbers = exact.parts[part], defaultdict(int)
    if isinstance(values, Buckets):
        for cell, bucket, count in zip(values.cell, values.bucket, values.count, strict=True):
            numbers[exact.keys[int(cell)], int(bucket)] += int(count)
    else:
        numbers |= {(key, 0): int(value) for key, value in zip(exact.keys, values, strict=True)}
    return {place: number for place, number in numbers.items() if number}
