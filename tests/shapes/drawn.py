"""Draws of every shape on the neighbours that pull it furthest apart: CSV → prepare → engine → plan → releases.

Private groups are asked about a crowd: they are shown only if enough units have them, so each shape is priced such that
its threshold lies where the crowd's count is, and the key is shown about every other time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path

from audit.answers import Pair, audited_answer, pull, same
from discreet.audit.report import Row
from discreet.engine import Engine
from discreet.mechanism.keys import KeySelection
from discreet.query.bound import draft_of
from discreet.query.compile.exacts import Exacts, exacts_of
from discreet.query.parts import Present, Ranks, Tops
from discreet.query.plan import Plan, plan_of
from discreet.relation import Relation
from discreet.terms import Terms
from shapes.shapes import BUDGETS, DEAR, Shape, planned
from shapes.tables import HIGH, LOW, Batch, Family, apart, opened, with_units, without_units

CROWD = 60  # units that share their groups
ROWS = (500, 100)  # of the unit with the most, and in how many groups
LEAK = Fraction(1, 10)  # a δ large enough to be seen in draws
_CHEAP, _DEAR = Fraction(1, 4), Fraction(4)  # between which the price is sought
_AT_ONCE = 400
Far = Callable[[Family, Relation], Sequence[tuple[str, str]]]
FAR = {  # to open a table costs as much as many draws
    ("with", Relation.ADD_REMOVE): [("all", "less double"), ("all", "less many"), ("empty", "different")],
    ("with", Relation.REPLACE_ONE): [("all", "other double"), ("all", "other many"), ("different", "otherwise")],
    ("without", Relation.ADD_REMOVE): [("all", "less high"), ("empty", "high")],
    ("without", Relation.REPLACE_ONE): [("all", "other high"), ("high", "low")],
}


# --- a crowd ----------------------------------------------------------------------------------------------------------


def crowd(unit: str) -> Family:
    """Two crowds, each with its own groups; the neighbours lose one unit, have it in the other crowd, or one more."""
    rows = 3 if unit == "with" else 1
    first, second = (_members(name, rows, start) for name, start in (("a", 100), ("b", 200)))
    less = {key: rows for key, rows in first.items() if key != "a0"}
    stranger = {"new": _member("new", rows, 300, 0)}
    moved = {"a0": _member("a0", rows, 200, 0)}
    tables = {"crowd": first | second, "less": less | second, "moved": first | second | moved}
    tables["stranger"] = first | second | stranger
    tables["instead"] = first | second | {"a0": _member("a0", rows, 300, 0)}
    listed = {name: [row for unit_rows in units.values() for row in unit_rows] for name, units in tables.items()}
    neighbours = {
        Relation.ADD_REMOVE: [("crowd", "less"), ("crowd", "stranger")],
        Relation.REPLACE_ONE: [("crowd", "moved"), ("crowd", "instead")],
    }
    return Family(unit, listed, neighbours, [])


def _members(name: str, rows: int, start: int) -> dict[str, list[list[str]]]:
    return {f"{name}{i}": _member(f"{name}{i}", rows, start, i) for i in range(CROWD)}


def _member(person: str, rows: int, start: int, turn: int) -> list[list[str]]:
    """A unit with a row in each group of its crowd; its numbers are high, every other unit's low."""
    cells = HIGH if turn % 2 == 0 else [*HIGH[:3], LOW[3], LOW[4], HIGH[5], HIGH[6], *LOW[7:9], HIGH[9], HIGH[10]]
    return [[person, *cells[:6], f"{own}.5", *cells[7:9], f"t{own}", str(own)] for own in range(start, start + rows)]


# --- the exact integers -----------------------------------------------------------------------------------------------


def exacts(engine: Engine, batches: Sequence[Batch]) -> dict[int, Exacts]:
    """By plan, its exact integers on the engine's table."""
    unique = list(dict.fromkeys(statement.sql for batch in batches for statement in batch.statements))
    results = {}
    for first in range(0, len(unique), _AT_ONCE):
        some = unique[first : first + _AT_ONCE]
        results |= zip(some, engine.run(some), strict=True)
    return {
        batch.plans[0]: exacts_of(
            batch.statements, [results[statement.sql] for statement in batch.statements], batch.cells
        )
        for batch in batches
    }


def swept(
    folder: Path, family: Family, names: Iterable[str], plans: Mapping[int, Plan]
) -> dict[str, dict[int, Exacts]]:
    """By table and plan the exact integers; on the first table computed twice, and the same."""
    results: dict[str, dict[int, Exacts]] = {}
    batches = apart(plans)
    for number, name in enumerate(dict.fromkeys(names)):
        with opened(folder / str(number), family.tables[name], family.unit) as engine:
            results[name] = exacts(engine, batches)
            if number == 0:
                repeated = exacts(engine, batches)
                assert all(same(exact, repeated[place]) for place, exact in results[name].items())
    return results


# --- which pair, at which price ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Job:
    """A shape on the neighbours that pull it furthest apart."""

    shape: Shape
    tables: tuple[str, str]
    pair: Pair


def public_jobs(folder: Path, family: Family, pairs: Sequence[tuple[str, str]], shapes: Sequence[Shape]) -> list[Job]:
    """Shapes with public groups, at ε = 1 (SUM(big) at more)."""
    plans = {place: planned(shape) for place, shape in enumerate(shapes)}
    results = swept(folder, family, chain(*pairs), plans)
    return [_furthest(shape, pairs, results, place, plans[place]) for place, shape in enumerate(shapes)]


def private_jobs(folder: Path, family: Family, relation: Relation, shapes: Sequence[Shape]) -> list[Job]:
    """Shapes with private groups: those both tables have, with the threshold at the crowd's count."""
    plans = {place: planned(shape) for place, shape in enumerate(shapes)}
    neighbours, _ = family.neighbours[relation]
    results = swept(folder, family, neighbours, plans)
    priced = [_at_count(shape, results["crowd"][place]) for place, shape in enumerate(shapes)]
    return [_furthest(shape, [neighbours], results, place, priced[place]) for place, shape in enumerate(shapes)]


def leaking_jobs(folder: Path, family: Family, relation: Relation, shapes: Sequence[Shape]) -> list[Job]:
    """Private groups that only one table has, at a δ that draws can show: a shape a grouping and cap."""
    some = list({(shape.grouping, shape.caps): shape for shape in shapes}.values())
    plans = {place: _priced(shape, Fraction(1), LEAK) for place, shape in enumerate(some)}
    _, far = family.neighbours[relation]
    results = swept(folder, family, far, plans)
    return [_furthest(shape, [far], results, place, plans[place]) for place, shape in enumerate(some)]


def _furthest(shape: Shape, pairs: Sequence[tuple[str, str]], results: Mapping, place: int, plan: Plan) -> Job:
    jobs = [
        Job(shape, (first, other), Pair(plan, results[first][place], results[other][place])) for first, other in pairs
    ]
    return max(jobs, key=lambda job: pull(job.pair))


def _priced(shape: Shape, epsilon: Fraction, delta: Fraction) -> Plan:
    dear = DEAR if shape.aggregate == "sum large" else 1
    return plan_of(draft_of(shape.question, shape.schema), Terms.parse(epsilon * dear, delta))


def _at_count(shape: Shape, exact: Exacts) -> Plan:
    """The plan at the ε whose threshold is the largest count, as nearly as thresholds go; SUM(big) has one price."""
    if shape.aggregate == "sum large":
        return planned(shape)
    count, epsilon = max([1, *exact.parts[Present()].tolist()]), Fraction(1)
    for _ in range(3):  # thresholds fall about as 1/ε
        plan = _priced(shape, epsilon, Fraction(BUDGETS["approx"]))
        (chosen,) = [measured.mechanism for measured in plan.measured if isinstance(measured.mechanism, KeySelection)]
        epsilon = min(max((epsilon * chosen.threshold / count).limit_denominator(1_000), _CHEAP), _DEAR)
    return plan


# --- the audit --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What the audit of one shape gave, beside what was charged."""

    shape: Shape
    tables: tuple[str, str]
    epsilon: float
    row: Row

    @property
    def share(self) -> float:
        """The lower bound as a share of the charge."""
        return self.row.lower_bound / self.epsilon


def jobs(folder: Path, unit: str, relation: Relation, shapes: Sequence[Shape], far: Far) -> list[Job]:
    """Every shape of this unit and relation; `far` says between which tables public groups are looked at."""
    mine = [shape for shape in shapes if shape.family == unit and shape.relation is relation]
    private = [shape for shape in mine if shape.grouping.startswith("private")]
    public = [shape for shape in mine if shape not in private]
    family = with_units(*ROWS) if unit == "with" else without_units()
    return [
        *public_jobs(folder / "public", family, far(family, relation), public),
        *private_jobs(folder / "private", crowd(unit), relation, private),
        *leaking_jobs(folder / "leaking", crowd(unit), relation, private),
    ]


def audited(job: Job, *, runs: int, alpha: float) -> Found:
    """The lower bound; where values are chosen one by one, from half as many draws."""
    chosen = any(isinstance(measured.part, Ranks | Tops) for measured in job.pair.plan.measured)
    row = audited_answer(job.shape.sql, job.pair, runs=runs // 2 if chosen else runs, alpha=alpha)
    return Found(job.shape, job.tables, float(job.pair.plan.terms.epsilon), row)


def few(family: Family, relation: Relation) -> Sequence[tuple[str, str]]:
    """The neighbours that nearly every shape is pulled furthest by."""
    return [pair for pair in family.neighbours[relation] if pair in FAR[family.unit, relation]]


def all_of(family: Family, relation: Relation) -> Sequence[tuple[str, str]]:
    """All neighbours."""
    return family.neighbours[relation]
