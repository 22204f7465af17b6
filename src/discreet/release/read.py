"""A built release read back from its folder and checked against the tree: the rules, the margins, every cell once."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import BadValue, IntegrityError, bad
from discreet.release.known import Known, known
from discreet.release.margins import Margins, margins
from discreet.release.measure import Form, marginal, whole
from discreet.release.publish import tidy
from discreet.release.publish.facts import LAWS, well_formed
from discreet.release.publish.files import FACTS, NOISY, TABLE, digest
from discreet.release.publish.page import Tables
from discreet.release.publish.rows import coded, located, numbers
from discreet.release.publish.tidy import Keys
from discreet.release.tree import Ints, from_branches
from discreet.release.unbiased import Laws
from discreet.schema import Schema

_RULES = {
    "sums": "sums do not hold",
    "signs": "numbers are negative",
    "fractions": "numbers are not whole",
    "totals": "totals are not the public ones",
    "zeros": "cells are not 0 that must be",
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
    known, planned = _planned(facts, about)
    if known is None or planned is None:
        return Checked(facts, counts, (f"{FACTS}: its totals, zeros or noise do not fit the tree.",)), None
    problems += _edited(folder, facts)
    table = _table(folder, about, known, facts["resimulated"], counts, problems)
    noisy = _measured(folder, about, counts, problems)
    if table is not None and noisy is not None:
        new = _compared(planned, table, noisy, facts)
        counts.update(new)
        problems += _told(TABLE, new)
    if table is None or noisy is None or problems:
        return Checked(facts, counts, tuple(problems)), None
    fitted, estimate = (np.asarray(table[name], dtype=np.int64) for name in ("n", "n_estimate"))
    totals = (planned.totals(noisy), planned.total_radius)
    return Checked(facts, counts, ()), Tables(about.tree, fitted, estimate, planned.radius, *totals)


# --- the facts -------------------------------------------------------------------------------------------------------


def _facts(folder: Path) -> dict[str, Any]:
    fix = "Build one: discreet release build …"
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except OSError:
        raise bad("folder", f"must hold a built release with its {FACTS}", folder.name, fix) from None
    except (ValueError, RecursionError):  # not UTF-8, not JSON, or nested without end
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


def _planned(facts: dict[str, Any], about: Keys) -> tuple[Known | None, Margins | None]:
    """What was given as public and how numbers are estimated; None where that does not fit the tree."""
    tree, totals = about.tree, facts["leaf_totals"]
    noises = [[(noise["law"], Fraction(noise["scale"])) for noise in one["noise"]] for one in facts["levels"]]
    short = totals is not None and len(totals) != len(tree.leaves)
    if short or any(len(each) != len(about.views) for each in noises):
        return None, None
    leaves = None if totals is None else dict(zip((tree.names[leaf] for leaf in tree.leaves), totals, strict=True))
    sizes = [len(labels) for labels in about.labels]
    coarse = [marginal(view, about.attributes, sizes) for view in about.views[:-1]]
    seen = [*coarse, whole(about.attributes, about.cells(about.attributes))]
    try:
        given = known(about, total=facts["total"], leaf_totals=leaves, zeros=facts["zeros"])
        laws: Laws = [[LAWS[law](scale) for law, scale in each] for each in noises]
        return given, margins(tree, about.form, seen, laws, level=Fraction(facts["level"]), known=given)
    except BadValue:
        return None, None


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
    folder: Path, about: Keys, known: Known, runs: int | None, counts: dict[str, int], problems: list[str]
) -> dict[str, Any] | None:
    """Every column of numbers as a table over the tree; None if some cells are not there."""
    values = tidy.VALUES if runs is None else (*tidy.VALUES, tidy.APPROXIMATE)
    rows = _read(folder / TABLE, (tidy.LEVEL, *about.places, *about.labelled, *values), problems)
    if rows is None:
        return None
    where = located(about, about.attributes, rows)
    columns = {name: numbers(rows[name]) for name in values}
    counts["places"] += where.lost
    problems += _told(TABLE, {"places": where.lost})
    problems += [f"{TABLE}: {name} is not a column of numbers." for name, one in columns.items() if one is None]
    table = {name: where.table(one) for name, one in columns.items() if one is not None and not where.lost}
    if len(table) < len(columns):
        return None
    try:
        new = asdict(known.violations(about.tree, table["n"]))
    except BadValue:
        problems.append(f"{TABLE}: its numbers are too large to be added up.")
        return table
    counts.update(new)
    problems += _told(TABLE, new)
    return table


def _measured(folder: Path, about: Keys, counts: dict[str, int], problems: list[str]) -> Ints | None:
    """What was measured, a row for each place, the marginals side by side; None if some of it is not there."""
    names = (tidy.LEVEL, *about.places, tidy.MARGINAL, *about.labelled, *tidy.MEASURED)
    rows = _read(folder / NOISY, names, problems)
    if rows is None:
        return None
    which = coded(rows[tidy.MARGINAL], about.marginals)
    lost = int(np.sum(which < 0))
    tables: list[Any] = []
    for at, view in enumerate(about.views):
        part = rows.filter(tidy.pyarrow().array(which == at))
        where, measured = located(about, view, part), numbers(part["measured"])
        lost += where.lost
        tables.append(None if measured is None or where.lost else where.table(measured))
    counts["places"] += lost
    problems += _told(NOISY, {"places": lost})
    if lost:
        return None
    if any(one is None or one.dtype != np.int64 for one in tables):
        problems.append(f"{NOISY}: measured is not a column of whole numbers.")
        return None
    return np.concatenate(tables, axis=1)


def _compared(planned: Margins, table: dict[str, Any], noisy: Ints, facts: dict[str, Any]) -> dict[str, int]:
    """Cells whose ± is not the planned one or whose range is not estimate ± margin, cut at 0; and cells whose estimate
    is not that of what was measured."""
    estimate, moe = table["n_estimate"], table["n_moe"]
    wrong = moe != planned.radius
    wrong |= table["n_low"] != np.maximum(estimate - moe, 0)
    wrong |= table["n_high"] != np.maximum(estimate + moe, 0)
    rough = table.get(tidy.APPROXIMATE, moe)
    wrong |= ~((rough >= 0) & (rough == np.floor(rough)))
    told = [planned.largest(at) != (one["moe"], one["total_moe"]) for at, one in enumerate(facts["levels"])]
    told.append(planned.unbiased.way != facts["estimates"])
    try:
        measured = int(np.sum(planned.cells(noisy) != estimate))
    except BadValue:  # so large that they cannot be added up: nobody measured that
        measured = estimate.size
    return {"margins": int(np.sum(wrong)) + sum(told), "measured": measured}


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
