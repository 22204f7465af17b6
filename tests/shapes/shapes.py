"""Every shape of question that the language accepts: one choice on each of seven axes, and a handful that covers it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product

from discreet.query.bound import draft_of
from discreet.query.nodes import Caps, Question, UnitIn
from discreet.query.plan import Plan, plan_of
from discreet.query.sql import parse_sql
from discreet.relation import Relation
from discreet.schema import Column, Schema, Unit
from discreet.terms import Terms

MOST = 3  # rows of one unit
LARGE = 2**52  # MOST rows of it are no longer exact in doubles
COLUMNS = [
    Column("region", "category", values=("north", "south", "east"), fixed_per_unit=True, null="key"),
    Column("kind", "category", values=("a", "b", "c")),
    Column("vip", "boolean", null="key"),
    Column("age", "integer", bounds=(-5, 20), bins=(-5, 0, 10, 20)),
    Column("price", "number", bounds=(-1, 3), step="0.25"),
    Column("big", "integer", bounds=(-LARGE, LARGE)),
    Column("wild", "number", null="key"),
    Column("born", "date", bounds=("2020-01-01", "2022-12-31")),
    Column("at", "datetime", bounds=("2021-01-01T00:00:00", "2021-12-31T23:59:59")),
    Column("town", "text"),
    Column("code", "integer", null="key"),
]
UNITS = {"with": Unit("person", MOST), "without": None}
POPULATION = 1_000  # where it is public, a mean among all rows under replace-one measures no count

AGGREGATES = {
    "rows": "COUNT(*)",
    "count": "COUNT(age)",
    "count wild": "COUNT(wild)",
    "count case": "COUNT(CASE WHEN vip THEN 1 END)",
    "units": "COUNT(DISTINCT person)",
    "distinct age": "COUNT(DISTINCT age)",
    "distinct town": "COUNT(DISTINCT town)",
    "distinct wild": "COUNT(DISTINCT wild)",
    "sum": "SUM(age)",
    "sum steps": "SUM(price)",
    "sum large": "SUM(big)",
    "sum flag": "SUM(vip)",
    "sum clamped": "SUM(clamp(wild, -3, 9))",
    "sum case": "SUM(CASE WHEN vip THEN age ELSE price END)",
    "sum quotient": "SUM(clamp(age / price, -3, 9))",
    "mean": "AVG(age)",
    "mean product": "AVG(age * price)",
    "variance": "VAR_SAMP(age)",
    "population variance": "VAR_POP(price)",
    "stddev": "STDDEV(age)",
    "covariance": "COVAR_SAMP(age, price)",
    "correlation": "CORR(age, price)",
    "median": "MEDIAN(age)",
    "quantile": "QUANTILE(price, 0.9)",
    "quantile clamped": "QUANTILE(clamp(wild, -3, 9), 0.25)",
    "minimum": "MIN(age)",
    "maximum": "MAX(born)",
    "mode": "MODE(kind)",
    "top": "TOP_K(region, 2)",
    "mode flag": "MODE(vip)",
}
FILTERS = {
    "none": "",
    "comparison": "age > 3",
    "unbounded": "wild >= 0",
    "fixed": "region = 'north'",
    "in": "kind IN ('a', 'b')",
    "between": "age BETWEEN 0 AND 20",
    "like": "town LIKE 't%'",
    "null": "price IS NULL OR age IS NOT NULL",
    "case": "CASE WHEN vip THEN age > 0 WHEN vip IS NULL THEN TRUE ELSE price > 0 END",
    "arithmetic": "age * 2 + price / age > 1",
    "date part": "MONTH(born) >= 6",
    "try cast": "TRY_CAST(town AS INTEGER) IS NULL",
    "and": "kind != 'b' AND age >= 0",
    "or not": "kind = 'a' OR NOT wild > 0",
    "units": "",
}
PART = UnitIn(Fraction(0), Fraction(7, 10))  # what the filter "units" keeps; no SQL names it
GROUPINGS = {
    "none": (),
    "category": ("kind",),
    "fixed": ("region",),
    "flag": ("vip",),
    "declared bins": ("BIN(age)",),
    "bins": ("BIN(wild, -1, 0, 1, 1000)",),
    "lattice": ("age",),
    "date part": ("MONTH(born)",),
    "case": ("CASE WHEN age > 5 THEN 'old' WHEN age IS NULL THEN 'none' ELSE 'young' END",),
    "two": ("kind", "vip"),
    "private": ("town",),
    "private number": ("wild",),
    "private whole": ("code",),
    "private and public": ("town", "kind"),
    "private and fixed": ("code", "region"),
}
CAPS = ("schema's", "rows", "groups")
BUDGETS = {"pure": "0", "approx": "1e-6"}
DEAR = 10**5  # what SUM(big) needs for the noise it is measured with to be narrow enough to be drawn


@dataclass(frozen=True)
class Shape:
    """One choice on each axis, by name."""

    aggregate: str
    where: str
    grouping: str
    caps: str
    budget: str
    relation: Relation
    unit: str

    @property
    def sql(self) -> str:
        keys = [f"{key} AS g{place}" for place, key in enumerate(GROUPINGS[self.grouping])]
        names = [f"g{place}" for place in range(len(keys))]
        where = f" WHERE {FILTERS[self.where]}" if FILTERS[self.where] else ""
        tail = f" GROUP BY {', '.join(names)}" if names else ""
        return f"SELECT {', '.join([*keys, f'{AGGREGATES[self.aggregate]} AS x'])} FROM people{where}{tail}"

    @property
    def question(self) -> Question:
        rows = MOST - 1 if self.unit == "with" else 1  # without a unit there is nothing lower
        caps = {"schema's": Caps(), "rows": Caps(rows=rows), "groups": Caps(groups=1)}[self.caps]
        question = replace(_question(self.sql), caps=caps)
        return replace(question, where=PART) if self.where == "units" else question

    @property
    def schema(self) -> Schema:
        return schema(self.unit, self.relation)

    @property
    def family(self) -> str:
        """Whose tables it is asked about."""
        return "with" if self.unit == "with" else "without"


AXES = {
    "aggregate": tuple(AGGREGATES),
    "where": tuple(FILTERS),
    "grouping": tuple(GROUPINGS),
    "caps": CAPS,
    "budget": tuple(BUDGETS),
    "relation": tuple(Relation),
    "unit": tuple(UNITS),
}
assert tuple(AXES) == tuple(field.name for field in fields(Shape))


@cache
def schema(unit: str, relation: Relation) -> Schema:
    """The one table, with a unit, without, or with a public population besides, under either relation."""
    population = POPULATION if unit == "population" else None
    return Schema("people", COLUMNS, UNITS.get(unit), relation, population)


@cache
def _question(sql: str) -> Question:
    return parse_sql(sql).question


def planned(shape: Shape) -> Plan:
    """The shape at ε = 1; refused by the planner where the language does not have it."""
    epsilon = DEAR if shape.aggregate == "sum large" else 1
    return plan_of(draft_of(shape.question, shape.schema), Terms.parse(epsilon, BUDGETS[shape.budget]))


# Units are counted where there are units, and private groups are found with a δ; everything else is accepted.
Choice = tuple[str, str]
Combination = frozenset[Choice]
THREES = [("aggregate", "relation", "unit"), ("grouping", "relation", "unit"), ("grouping", "caps", "unit")]
REFUSED: set[Combination] = {frozenset([("aggregate", "units"), ("unit", "without")])} | {
    frozenset([("grouping", name), ("budget", "pure")]) for name in GROUPINGS if name.startswith("private")
}


def choices(shape: Shape) -> dict[str, str]:
    """What the shape takes on each axis."""
    return {name: getattr(shape, name) for name in AXES}


def combined(chosen: Mapping[str, str]) -> set[Combination]:
    """Any two of these choices, and the threes that a handful must hold as well."""
    pairs = set(map(frozenset, combinations(chosen.items(), 2)))
    return pairs | {frozenset((name, chosen[name]) for name in names) for names in THREES if chosen.keys() >= {*names}}


def accepted(shape: Shape) -> bool:
    """Whether the language has it."""
    return not combined(choices(shape)) & REFUSED


def every() -> Iterator[Shape]:
    """Every combination, accepted or not."""
    return (Shape(*chosen) for chosen in product(*AXES.values()))


def plain() -> list[Shape]:
    """Every kind of part without a filter or a lower cap, where one unit can move it the furthest."""
    kinds = ("rows", "units", "distinct town", "sum", "median", "mode")
    choices = product(kinds, ("none",), ("none", "category", "lattice"), CAPS[:1], ("pure",), Relation, ("with",))
    return [Shape(*chosen) for chosen in choices]


def with_population() -> list[Shape]:
    """Means that divide by a public number."""
    choices = product(("mean", "mean product"), ("none",), ("none",), CAPS, BUDGETS)
    return [Shape(*chosen, Relation.REPLACE_ONE, "population") for chosen in choices]


def wanted() -> list[Combination]:
    """Every accepted combination of two choices, and of three where THREES says so."""
    axes = [*combinations(AXES, 2), *THREES]
    combinations_of = [
        frozenset(zip(names, chosen, strict=True)) for names in axes for chosen in product(*map(AXES.get, names))
    ]
    return [combination for combination in combinations_of if not any(refused <= combination for refused in REFUSED)]


def covering() -> list[Shape]:
    """Accepted shapes in which every wanted combination occurs: each begins with a missing one, greedily."""
    missing = dict.fromkeys(wanted())
    used: Counter[Choice] = Counter()
    chosen_shapes = []
    while missing:
        chosen = dict(next(iter(missing)))
        for name in [axis for axis in AXES if axis not in chosen]:
            chosen[name] = _best(name, chosen, missing, used)
        used.update(chosen.items())
        chosen_shapes.append(Shape(**chosen))
        for combination in combined(chosen):
            missing.pop(combination, None)
    return chosen_shapes


def _best(name: str, chosen: dict[str, str], missing: dict[Combination, None], used: Counter[Choice]) -> str:
    def worth(value: str) -> tuple[int, int]:
        return sum(combination in missing for combination in combined(chosen | {name: value})), -used[name, value]

    return max((value for value in AXES[name] if not combined(chosen | {name: value}) & REFUSED), key=worth)
