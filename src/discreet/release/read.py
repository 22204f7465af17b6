"""A built release read back from its folder and checked against the tree: the rules, the margins, every cell once."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import BadValue, IntegrityError, bad
from discreet.fix import Fix
from discreet.ndarrays import Ints
from discreet.release.known import Known, known
from discreet.release.margins import Margins, margins
from discreet.release.measure import Form, marginal, whole
from discreet.release.publish import stated, tidy
from discreet.release.publish.facts import LAWS, columns, number, well_formed
from discreet.release.publish.files import FACTS, NOISY, PUBLISHED, TABLE, digest
from discreet.release.publish.page import Tables
from discreet.release.publish.rows import are_names, coded, located, numbers
from discreet.release.publish.tidy import Keys
from discreet.release.subject import MOST_CELLS, MOST_TOGETHER
from discreet.release.tree import from_branches
from discreet.schema import Schema

_RULES = {
    "sums": "sums that do not hold",
    "signs": "negative numbers",
    "fractions": "numbers that are not whole",
    "totals": "totals other than the public ones",
    "zeros": "cells that must be 0 and are not",
    "places": "cells that are missing, there twice or of no place in the tree",
    "margins": "margins or ranges that are not as planned",
    "measured": "estimates that are not what was measured",
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
    problems = [f"{FACTS}: {problem}" for problem in stated.strangers(facts, schema, about)]
    if about is None or problems:
        return Checked(facts, counts, tuple(problems)), None
    what = stated.meant(facts, schema, about)
    if what is None:
        return Checked(facts, counts, (f"{FACTS}: its cells or labels are not those of the metadata.",)), None
    laws = stated.noises(facts, about)
    given, planned = _planned(facts, about, laws)
    if laws is None or given is None or planned is None:
        return Checked(facts, counts, (f"{FACTS}: its totals, zeros or noise do not fit the tree.",)), None
    said = [*stated.misstated(facts, about, what, given), *stated.mispriced(facts, about, what.design.level, laws)]
    problems = [*(f"{FACTS}: {problem}" for problem in said), *_edited(folder, facts)]
    table = _table(folder, about, given, facts["resimulated"], counts, problems)
    noisy = _measured(folder, about, [float(scale) for _, scale in laws], counts, problems)
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
    fix = Fix("Build one:", "release build")
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
    """What the rows must be about, from the facts and the schema's tree; None where the two do not fit, or where there
    are more cells than any release has."""
    trees = [one for one in schema.hierarchies if one.name == facts["hierarchy"] and one.branches]
    attributes = tuple(one["name"] for one in facts["attributes"])
    labels = tuple(tuple(one["labels"]) for one in facts["attributes"])
    views = tuple(tuple(view) for view in facts["marginals"])
    known = views and views[-1] == attributes and all(tuple(dict.fromkeys(view)) == view for view in views)
    known = known and len(set(views)) == len(views) and all(set(view) <= set(attributes) for view in views)
    cells = prod(map(len, labels))  # before anything of that size is made
    if not trees or not known or facts["form"] not in tuple(Form) or cells != facts["cells"]:
        return None
    tree = from_branches(trees[0].levels, trees[0].branches)
    if cells * len(tree.leaves) > MOST_CELLS or (len(views) > 1 and cells > MOST_TOGETHER):
        return None
    return Keys(tree, attributes, labels, views, Form(facts["form"]))


def _planned(
    facts: dict[str, Any], about: Keys, laws: list[tuple[str, Fraction]] | None
) -> tuple[Known | None, Margins | None]:
    """What was given as public and how numbers are estimated; None where that does not fit the tree."""
    tree, totals = about.tree, facts["leaf_totals"]
    if laws is None or (totals is not None and len(totals) != len(tree.leaves)):
        return None, None
    leaves = None if totals is None else dict(zip((tree.names[leaf] for leaf in tree.leaves), totals, strict=True))
    sizes = [len(labels) for labels in about.labels]
    coarse = [marginal(view, about.attributes, sizes) for view in about.views[:-1]]
    seen = [*coarse, whole(about.attributes, about.cells(about.attributes))]
    try:
        given = known(about, total=facts["total"], leaf_totals=leaves, zeros=facts["zeros"])
        noise = [[LAWS[law](scale)] * len(seen) for law, scale in laws]
        return given, margins(tree, about.form, seen, noise, level=number(facts["level"]), known=given)
    except BadValue:
        return None, None


def _edited(folder: Path, facts: dict[str, Any]) -> Iterator[str]:
    """Files that are not the bytes that were written."""
    said = facts.get("files")
    listed = said if isinstance(said, dict) else {}
    for name in dict.fromkeys((TABLE, NOISY, *(name for name in PUBLISHED if name in listed))):
        if not (folder / name).is_file():
            yield f"{name}: is missing."
        elif listed.get(name) != {"sha256": digest(folder / name)}:
            yield f"{name}: was changed after it was built."


# --- the tables ------------------------------------------------------------------------------------------------------


def _table(
    folder: Path, about: Keys, known: Known, runs: int | None, counts: dict[str, int], problems: list[str]
) -> dict[str, Any] | None:
    """Every column of numbers as a table over the tree; None if some cells are not there."""
    values = columns(about, runs)["values"]
    rows = _read(folder / TABLE, (tidy.LEVEL, *about.places, *about.labelled), values, problems)
    if rows is None:
        return None
    where = located(about, about.attributes, rows)
    found = {name: numbers(rows[name]) for name in values}
    counts["places"] += where.lost
    problems += _told(TABLE, {"places": where.lost})
    problems += [f"{TABLE}: {name} is not a column of numbers." for name, one in found.items() if one is None]
    table = {name: where.table(one) for name, one in found.items() if one is not None and not where.lost}
    if len(table) < len(found):
        return None
    try:
        new = asdict(known.violations(about.tree, table["n"]))
    except BadValue:
        problems.append(f"{TABLE}: its numbers are too large to be added up.")
        return table
    counts.update(new)
    problems += _told(TABLE, new)
    return table


def _measured(
    folder: Path, about: Keys, scales: list[float], counts: dict[str, int], problems: list[str]
) -> Ints | None:
    """What was measured, a row for each place, the marginals side by side; None if some of it is not there."""
    keys = (tidy.LEVEL, *about.places, tidy.MARGINAL, *about.labelled)
    rows = _read(folder / NOISY, keys, tidy.MEASURED, problems)
    if rows is None:
        return None
    measured, widths = (numbers(rows[name]) for name in tidy.MEASURED)
    if measured is None or measured.dtype != np.int64 or widths is None:
        problems.append(f"{NOISY}: measured is not a column of whole numbers, or scale none of numbers.")
        return None
    which = coded(rows[tidy.MARGINAL], about.marginals)
    lost, wrong = int(np.sum(which < 0)), 0
    tables: list[Any] = []
    for at, view in enumerate(about.views):
        here = which == at
        where = located(about, view, rows.select(keys).filter(tidy.pyarrow().array(here)))
        lost += where.lost
        if not where.lost:
            tables.append(where.table(measured[here]))
            wrong += int(np.sum(where.table(widths[here]) != np.array(scales)[about.tree.level, None]))
    counts["places"] += lost
    problems += _told(NOISY, {"places": lost})
    if wrong:
        problems.append(f"{NOISY}: {wrong:,} scales are not those of the noise.")
    return None if lost else np.concatenate(tables, axis=1)


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


def _read(path: Path, keys: Sequence[str], values: Sequence[str], problems: list[str]) -> Any:
    """The rows of a file with these columns; None, and a problem told, where it has not, or has others."""
    arrow = tidy.pyarrow()
    from pyarrow import parquet  # type: ignore[import-untyped]

    if not path.is_file():
        return None
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError, arrow.ArrowException):
        problems.append(f"{path.name}: cannot be read as Parquet.")
        return None
    there, names = table.column_names, (*keys, *values)
    if lacking := [name for name in names if there.count(name) != 1]:
        problems.append(f"{path.name}: {len(lacking):,} columns are missing or there twice.")
    elif len(there) > len(names):
        problems.append(f"{path.name}: {len(there) - len(names):,} columns are not those of a release.")
    elif not all(are_names(table[name]) for name in keys):
        problems.append(f"{path.name}: a column is of another kind.")
    else:
        return table
    return None


def _told(file: str, counts: dict[str, int]) -> list[str]:
    return [f"{file}: {_RULES[rule]}: {count:,}." for rule, count in counts.items() if count]
