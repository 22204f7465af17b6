"""The published tables of two small databases: Garfinkel's census block, and the five ages of a lecture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.attack.consistent.left import METRIC, Step, Worlds, remark, staircase, steps_of
from discreet.attack.consistent.published import Rule, Universe
from discreet.attack.invented import invented_dataset

JOINT_LEVEL = Fraction(95, 100)  # all intervals of all noisy tables hold at once
CAP = 100_000


@dataclass(frozen=True)
class Example:
    """True persons, who could be there, and tables about groups of them: the SQL condition beside each."""

    name: str
    persons: tuple[dict[str, Any], ...]
    columns: Mapping[str, Sequence[Any]]
    tables: tuple[dict[str, Any], ...]
    conditions: tuple[str, ...]  # of the same tables, as a question's WHERE
    oldest: int
    rules: tuple[Rule, ...] = ()

    @property
    def people(self) -> dict[str, Any]:
        """The first argument about persons that `worlds` takes."""
        return {"count": len(self.persons), "columns": self.columns, "truth": self.persons}


def worlds_left(example: Example, epsilons: Sequence[str], seed: int) -> Worlds:
    """The worlds that exact tables leave, and those that the same tables leave with noise at each ε."""
    raw, who, given = steps_of(example.tables, example.people, example.rules, cap=CAP, seed=seed)
    columns: dict[str, tuple[Step, ...]] = {"without noise": raw}
    for epsilon in epsilons:
        noisy = noisy_tables(example, amounts.epsilon(epsilon))
        columns[f"ε = {epsilon}"] = steps_of(noisy, example.people, example.rules, cap=CAP, seed=seed)[0]
    last = {epsilon: columns[f"ε = {epsilon}"][-1] for epsilon in epsilons}
    notes = [remark(raw[-1]), _intervals_note(last)]
    persons = len(example.persons)
    return Worlds(
        example.name,
        METRIC,
        f"databases of {persons} persons that fit all {given} tables",
        raw=raw[-1].height,
        private={epsilon: step.height for epsilon, step in last.items()},
        baseline=float(who.worlds),
        ceiling=dict.fromkeys(epsilons),  # how many databases fit an interval is bounded by no promise
        units=f"all {persons} persons together",
        trials=1,
        intervals={epsilon: _ends(step, who) for epsilon, step in last.items()},
        better="lower",
        chart=staircase(columns, who),
        notes=tuple(notes),
        details={
            "steps": [step.to_json() for step in raw],
            "steps_private": {epsilon: [step.to_json() for step in columns[f"ε = {epsilon}"]] for epsilon in epsilons},
            "before": who.worlds,
        },
        steps=raw,
    )


def noisy_tables(example: Example, epsilon: Fraction) -> list[dict[str, Any]]:
    """The same groups asked of Discreet, count, sum and median of each, all of them together at ε.

    A number becomes the interval that its ± gives; all intervals hold together with probability 95 %.
    """
    each = epsilon / len(example.tables)
    level = 1 - (1 - JOINT_LEVEL) / (3 * len(example.tables))
    columns: dict[str, list[Any]] = {"person": list(range(len(example.persons)))}
    columns |= {name: [person[name] for person in example.persons] for name in example.columns}
    tables = []
    with invented_dataset(_toml(example, epsilon), columns) as dataset:
        for table, condition in zip(example.tables, example.conditions, strict=True):
            where = f" WHERE {condition}" if condition else ""
            question = f"SELECT COUNT(*) AS n, SUM(age) AS total, MEDIAN(age) AS middle FROM invented{where}"
            answer = dataset.sql(question).ask(epsilon=each, level=level)
            row = answer.rows[0]
            ranks = answer.to_json()["columns"][2]["ranks"]
            moes = {column.name: column for column in answer.columns}
            tables.append(
                {
                    "name": table["name"],
                    "where": table.get("where", {}),
                    "count": _around(row["n"], moes["n"].moe[0]),
                    "sum": _around(row["total"], moes["total"].moe[0]),
                    "median": row["middle"],
                    "ranks": int(ranks) + 1,
                }
            )
    return tables


def _around(value: Any, moe: Any) -> tuple[Fraction, Fraction]:
    middle, half = Fraction(value), Fraction(moe)
    return middle - half, middle + half


def _toml(example: Example, epsilon: Fraction) -> str:
    lines = ['[unit]\nkey = "person"\nmax_rows = 1\n']
    lines.append(f'[columns.age]\ntype = "integer"\nbounds = [0, {example.oldest}]\n')
    for name, values in example.columns.items():
        if name != "age":
            listed = ", ".join(f'"{value}"' for value in values)
            lines.append(f'[columns.{name}]\ntype = "category"\nvalues = [{listed}]\n')
    return "".join(lines) + f'[budget]\nepsilon = "{amounts.text_of(epsilon)}"\n'


def _ends(step: Step, who: Universe) -> tuple[float, float]:
    if step.count is not None:
        return float(step.count), float(step.count)
    if step.estimate is not None:
        return step.estimate.low, step.estimate.high
    return float(step.more_than or 0), float(who.worlds)


def _intervals_note(last: Mapping[str, Step]) -> str:
    left = ", ".join(f"{step.text} at ε = {epsilon}" for epsilon, step in last.items())
    return f"A noisy number admits every world within its ±; all ± hold together with probability 95 %: {left}."
