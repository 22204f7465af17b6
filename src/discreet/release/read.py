"""A built release read back from its folder and checked against the tree: the rules, the margins, every cell once."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import BadValue, IntegrityError, bad
from discreet.release.check import violations as broken_rules
from discreet.release.measure import Form
from discreet.release.publish import tidy
from discreet.release.publish.facts import well_formed
from discreet.release.publish.files import FACTS, NOISY, TABLE, digest
from discreet.release.publish.rows import Located, Numbers, coded, located, numbers
from discreet.release.publish.tidy import Keys
from discreet.release.tree import Ints, Tree, from_branches
from discreet.schema import Schema

_RULES = {
    "sums": "sums do not hold",
    "signs": "numbers are negative",
    "fractions": "numbers are not whole",
    "totals": "totals are not the public ones",
    "places": "cells are missing, there twice or of no place in the tree",
    "margins": "margins or ranges are not as planned",
    "measured": "estimates are not what was measured",
}


@dataclass(frozen=True, eq=False)
class Checked:
    """What is said of a release, how often each rule is broken, and every problem as a sentence."""

    facts: dict[str, Any]
    violations: dict[str, int]
    problems: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Tables:
    """The numbers of a release, a row for each place of the tree."""

    tree: Tree
    fitted: Ints
    estimate: Ints


def checked(folder: Path | str, schema: Schema) -> Checked:
    """The release in a folder, checked with the schema's tree; refused only where there is none to check."""
    return found(Path(folder), schema)[0]


def found(folder: Path, schema: Schema) -> tuple[Checked, Tables | None]:
    """The same with its numbers, which are there only if nothing is broken."""
    facts, counts = _facts(folder), dict.fromkeys(_RULES, 0)
    about = _keys(facts, schema)
    problems = [*_strangers(facts, schema, about)]
    if about is None or problems:
        return Checked(facts, counts, tuple(problems)), None
    problems += _edited(folder, facts)
    table = _table(folder, about, facts, counts, problems)
    _measured(folder, about, table, counts, problems)
    tables = None if table is None or problems else Tables(about.tree, *_whole(table["n"], table["n_estimate"]))
    return Checked(facts, counts, tuple(problems)), tables


# --- the facts -------------------------------------------------------------------------------------------------------


def _facts(folder: Path) -> dict[str, Any]:
    fix = "Build one: discreet release build …"
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise bad("folder", f"must hold a built release with its {FACTS}", folder.name, fix) from None
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or not well_formed(facts):
        what, why = f"{FACTS} is not that of a release.", "It was edited, cut, or made by another version."
        raise IntegrityError(what, why, fix)
    return facts


def _keys(facts: dict[str, Any], schema: Schema) -> Keys | None:
    """What the rows must be about, from the facts and the schema's tree; None where the two do not fit."""
    trees = [one for one in schema.hierarchies if one.name == facts["hierarchy"] and one.branches]
    attributes = tuple(one["name"] for one in facts["attributes"])
    labels = tuple(tuple(one["labels"]) for one in facts["attributes"])
    views = tuple(tuple(view) for view in facts["marginals"])
    known = views and views[-1] == attributes and all(set(view) <= set(attributes) for view in views)
    if not trees or not known or facts["form"] not in tuple(Form):
        return None
    about = Keys(from_branches(trees[0].levels, trees[0].branches), attributes, labels, views, Form(facts["form"]))
    return about if about.cells(attributes) == facts["cells"] else None


def _strangers(facts: dict[str, Any], schema: Schema, about: Keys | None) -> Iterator[str]:
    """How the facts differ from the metadata they should be about."""
    unit = None if schema.unit is None else schema.unit.key
    for name, here in (("dataset", schema.name), ("unit", unit), ("neighbours", str(schema.relation))):
        if facts[name] != here:
            yield f"{FACTS}: {name} is not that of the metadata."
    if about is None:
        yield f"{FACTS}: its attributes or its hierarchy do not fit the metadata."
        return
    levels = [(one["level"], one["places"]) for one in facts["levels"]]
    if levels != list(zip(about.tree.levels, np.diff(about.tree.first).tolist(), strict=True)):
        yield f"{FACTS}: its levels are not those of the tree in the metadata."


def _edited(folder: Path, facts: dict[str, Any]) -> Iterator[str]:
    """Files that are not the bytes that were written."""
    said = facts.get("files")
    for name in (TABLE, NOISY):
        if not (folder / name).is_file():
            yield f"{name}: is missing."
        elif not isinstance(said, dict) or said.get(name) != {"sha256": digest(folder / name)}:
            yield f"{name}: was changed after it was built."


# --- the tables ------------------------------------------------------------------------------------------------------


def _table(
    folder: Path, about: Keys, facts: dict[str, Any], counts: dict[str, int], problems: list[str]
) -> dict[str, Any] | None:
    """Every column of numbers as a table over the tree; None if some cells are not there."""
    names = (tidy.LEVEL, *about.places, *about.labelled, *tidy.VALUES)
    rows = _read(folder / TABLE, names, problems)
    if rows is None:
        return None
    where = located(about, about.attributes, rows)
    columns = {name: numbers(rows[name]) for name in tidy.VALUES}
    counts["places"] += where.lost
    problems += _told(TABLE, {"places": where.lost})
    problems += [f"{TABLE}: {name} is not a column of numbers." for name, one in columns.items() if one is None]
    table = {name: where.table(one) for name, one in columns.items() if one is not None and not where.lost}
    if len(table) < len(columns):
        return None
    new = {**_rules(about, table["n"], facts, problems), "margins": _margins(about, table, facts)}
    counts.update(new)
    problems += _told(TABLE, new)
    return table


def _rules(about: Keys, fitted: Any, facts: dict[str, Any], problems: list[str]) -> dict[str, int]:
    total = facts.get("total")
    try:
        broken = broken_rules(about.tree, fitted, total=total if isinstance(total, int) else None)
    except BadValue:
        problems.append(f"{TABLE}: its numbers are too large to be added up.")
        return {}
    return {name: getattr(broken, name) for name in ("sums", "signs", "fractions", "totals")}


def _margins(about: Keys, table: dict[str, Any], facts: dict[str, Any]) -> int:
    """Cells whose ± is not that of their level, or whose range is not estimate ± margin, cut at 0."""
    levels = [one.get("cell_moe", [one["moe"]] * about.cells(about.attributes)) for one in facts["levels"]]
    planned = np.array(levels)[about.tree.level]
    estimate, moe = table["n_estimate"], table["n_moe"]
    wrong = moe != planned
    wrong |= table["n_low"] != np.maximum(estimate - moe, 0)
    wrong |= table["n_high"] != np.maximum(estimate + moe, 0)
    return int(np.sum(wrong))


def _measured(
    folder: Path, about: Keys, table: dict[str, Any] | None, counts: dict[str, int], problems: list[str]
) -> None:
    """Counts what noisy.parquet lacks, and estimates that are not what it says was measured."""
    names = (tidy.LEVEL, *about.places, tidy.MARGINAL, *about.labelled, *tidy.MEASURED)
    rows = _read(folder / NOISY, names, problems)
    if rows is None:
        return
    which = coded(rows[tidy.MARGINAL], about.marginals)
    lost = int(np.sum(which < 0))
    for at, view in enumerate(about.views):
        part = rows.filter(tidy.pyarrow().array(which == at))
        where, measured = located(about, view, part), numbers(part["measured"])
        lost += where.lost
    counts["places"] += lost
    problems += _told(NOISY, {"places": lost})
    if measured is None:
        problems.append(f"{NOISY}: measured is not a column of numbers.")
    elif table is not None and not lost:
        counts["measured"] = int(np.sum(_estimate(about, where, measured) != table["n_estimate"]))
        problems += _told(NOISY, {"measured": counts["measured"]})


def _estimate(about: Keys, where: Located, measured: Numbers) -> Any:
    last = where.table(measured)
    if about.form is Form.PLAIN:
        return last
    return np.concatenate([last[:, :-1] - last[:, 1:], last[:, -1:]], axis=1)


def _read(path: Path, names: tuple[str, ...], problems: list[str]) -> Any:
    """The rows of a file with these columns; None, and a problem told, where it has not."""
    arrow = tidy.pyarrow()
    from pyarrow import parquet  # type: ignore[import-untyped]

    if not path.is_file():
        return None
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError, arrow.ArrowException):
        problems.append(f"{path.name}: cannot be read as Parquet.")
        return None
    if lacking := [name for name in names if table.column_names.count(name) != 1]:
        problems.append(f"{path.name}: {len(lacking):,} columns are missing or there twice.")
        return None
    return table


def _told(file: str, counts: dict[str, int]) -> list[str]:
    return [f"{file}: {count:,} {_RULES[rule]}." for rule, count in counts.items() if count]


def _whole(*tables: Any) -> list[Ints]:
    return [np.asarray(table, dtype=np.int64) for table in tables]
