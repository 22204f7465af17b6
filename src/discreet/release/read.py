"""Read a built release from its folder and check it: the rules, the margins, and one row for every cell."""

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
from discreet.release.known import Known, known_of
from discreet.release.margins import Margins, margins
from discreet.release.measure import Form, all_cells, marginal
from discreet.release.publish import stated, tidy
from discreet.release.publish.facts import LAWS, columns, number, well_formed
from discreet.release.publish.files import FACTS, NOISY, PUBLISHED, TABLE, digest
from discreet.release.publish.page import Tables
from discreet.release.publish.rows import are_names, location_of, name_codes, numbers
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
    """The facts of a release, how often each rule is broken, and every problem as a sentence."""

    facts: dict[str, Any]
    violations: dict[str, int]
    problems: tuple[str, ...]


def check_release(folder: Path | str, schema: Schema) -> Checked:
    """Read and check the release in a folder; refused only where there is none."""
    return read_release(Path(folder), schema)[0]


def read_release(folder: Path, schema: Schema) -> tuple[Checked, Tables | None]:
    """Read and check a release; its numbers are returned only if nothing is broken."""
    facts, counts = _facts(folder), dict.fromkeys(_RULES, 0)
    about = _keys(facts, schema)
    problems = [f"{FACTS}: {problem}" for problem in stated.wrong_metadata(facts, schema, about)]
    if about is None or problems:
        return Checked(facts, counts, tuple(problems)), None
    about_subject = stated.subject_of(facts, schema, about)
    if about_subject is None:
        return Checked(facts, counts, (f"{FACTS}: its cells or labels are not those of the metadata.",)), None
    laws = stated.noises(facts, about)
    known, planned = _known_and_margins(facts, about, laws)
    if laws is None or known is None or planned is None:
        return Checked(facts, counts, (f"{FACTS}: its totals, zeros or noise do not fit the tree.",)), None
    stated_problems = [
        *stated.wrong_facts(facts, about, about_subject, known),
        *stated.wrong_prices(facts, about, about_subject.design.level_sensitivity, laws),
    ]
    problems = [*(f"{FACTS}: {problem}" for problem in stated_problems), *_changed_files(folder, facts)]
    table = _table(folder, about, known, facts["resimulated"], counts, problems)
    noisy = _measured_numbers(folder, about, [float(scale) for _, scale in laws], counts, problems)
    if table is not None and noisy is not None:
        broken = _wrong_margins(planned, table, noisy, facts)
        counts.update(broken)
        problems += _sentences(TABLE, broken)
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
    """The keys that the rows must have, from the facts and the schema's tree; None where the two contradict each other
    or there are more cells than a release can have."""
    trees = [
        hierarchy for hierarchy in schema.hierarchies if hierarchy.name == facts["hierarchy"] and hierarchy.branches
    ]
    attributes = tuple(attribute["name"] for attribute in facts["attributes"])
    labels = tuple(tuple(attribute["labels"]) for attribute in facts["attributes"])
    views = tuple(tuple(view) for view in facts["marginals"])
    has_views = views and views[-1] == attributes and all(tuple(dict.fromkeys(view)) == view for view in views)
    has_views = has_views and len(set(views)) == len(views) and all(set(view) <= set(attributes) for view in views)
    cells = prod(map(len, labels))  # before anything of that size is made
    if not trees or not has_views or facts["form"] not in tuple(Form) or cells != facts["cells"]:
        return None
    tree = from_branches(trees[0].levels, trees[0].branches)
    if cells * len(tree.leaves) > MOST_CELLS or (len(views) > 1 and cells > MOST_TOGETHER):
        return None
    return Keys(tree, attributes, labels, views, Form(facts["form"]))


def _known_and_margins(
    facts: dict[str, Any], about: Keys, laws: list[tuple[str, Fraction]] | None
) -> tuple[Known | None, Margins | None]:
    """The public facts and the margins that the facts imply; None where they contradict the tree."""
    tree, totals = about.tree, facts["leaf_totals"]
    if laws is None or (totals is not None and len(totals) != len(tree.leaves)):
        return None, None
    leaves = None if totals is None else dict(zip((tree.names[leaf] for leaf in tree.leaves), totals, strict=True))
    sizes = [len(labels) for labels in about.labels]
    coarse = [marginal(view, about.attributes, sizes) for view in about.views[:-1]]
    marginals = [*coarse, all_cells(about.attributes, about.cells(about.attributes))]
    try:
        known = known_of(about, total=facts["total"], leaf_totals=leaves, zeros=facts["zeros"])
        noise = [[LAWS[law](scale)] * len(marginals) for law, scale in laws]
        return known, margins(tree, about.form, marginals, noise, level=number(facts["level"]), known=known)
    except BadValue:
        return None, None


def _changed_files(folder: Path, facts: dict[str, Any]) -> Iterator[str]:
    """Sentences on files that are missing or whose bytes were changed."""
    files = facts.get("files")
    listed = files if isinstance(files, dict) else {}
    for name in dict.fromkeys((TABLE, NOISY, *(name for name in PUBLISHED if name in listed))):
        if not (folder / name).is_file():
            yield f"{name}: is missing."
        elif listed.get(name) != {"sha256": digest(folder / name)}:
            yield f"{name}: was changed after it was built."


# --- the tables ------------------------------------------------------------------------------------------------------


def _table(
    folder: Path, about: Keys, known: Known, runs: int | None, counts: dict[str, int], problems: list[str]
) -> dict[str, Any] | None:
    """Every column of numbers as a table (places, cells); None if cells are missing."""
    values = columns(about, runs)["values"]
    rows = _read_rows(folder / TABLE, (tidy.LEVEL, *about.place_columns, *about.label_columns), values, problems)
    if rows is None:
        return None
    location = location_of(about, about.attributes, rows)
    columns_read = {name: numbers(rows[name]) for name in values}
    counts["places"] += location.lost
    problems += _sentences(TABLE, {"places": location.lost})
    problems += [
        f"{TABLE}: {name} is not a column of numbers." for name, column in columns_read.items() if column is None
    ]
    table = {
        name: location.table(column)
        for name, column in columns_read.items()
        if column is not None and not location.lost
    }
    if len(table) < len(columns_read):
        return None
    try:
        broken = asdict(known.violations(about.tree, table["n"]))
    except BadValue:
        problems.append(f"{TABLE}: its numbers are too large to be added up.")
        return table
    counts.update(broken)
    problems += _sentences(TABLE, broken)
    return table


def _measured_numbers(
    folder: Path, about: Keys, scales: list[float], counts: dict[str, int], problems: list[str]
) -> Ints | None:
    """The measured numbers, a row for each place, the marginals side by side; None if some are missing."""
    keys = (tidy.LEVEL, *about.place_columns, tidy.MARGINAL, *about.label_columns)
    rows = _read_rows(folder / NOISY, keys, tidy.MEASURED, problems)
    if rows is None:
        return None
    measured, widths = (numbers(rows[name]) for name in tidy.MEASURED)
    if measured is None or measured.dtype != np.int64 or widths is None:
        problems.append(f"{NOISY}: measured is not a column of whole numbers, or scale none of numbers.")
        return None
    which = name_codes(rows[tidy.MARGINAL], about.marginals)
    lost, wrong = int(np.sum(which < 0)), 0
    tables: list[Any] = []
    for index, view in enumerate(about.views):
        rows_of_view = which == index
        location = location_of(about, view, rows.select(keys).filter(tidy.pyarrow().array(rows_of_view)))
        lost += location.lost
        if not location.lost:
            tables.append(location.table(measured[rows_of_view]))
            wrong += int(np.sum(location.table(widths[rows_of_view]) != np.array(scales)[about.tree.level, None]))
    counts["places"] += lost
    problems += _sentences(NOISY, {"places": lost})
    if wrong:
        problems.append(f"{NOISY}: {wrong:,} scales are not those of the noise.")
    return None if lost else np.concatenate(tables, axis=1)


def _wrong_margins(planned: Margins, table: dict[str, Any], noisy: Ints, facts: dict[str, Any]) -> dict[str, int]:
    """How many cells have another ± than planned or a range other than estimate ± margin, cut at 0; and how many have
    another estimate than the measured numbers give."""
    estimate, moe = table["n_estimate"], table["n_moe"]
    wrong = moe != planned.radius
    wrong |= table["n_low"] != np.maximum(estimate - moe, 0)
    wrong |= table["n_high"] != np.maximum(estimate + moe, 0)
    approximate = table.get(tidy.APPROXIMATE, moe)
    wrong |= ~((approximate >= 0) & (approximate == np.floor(approximate)))
    wrong_levels = [
        planned.largest(tree_level) != (level["moe"], level["total_moe"])
        for tree_level, level in enumerate(facts["levels"])
    ]
    wrong_levels.append(planned.unbiased.way != facts["estimates"])
    try:
        measured = int(np.sum(planned.cells(noisy) != estimate))
    except BadValue:  # so large that they cannot be added up: nobody measured that
        measured = estimate.size
    return {"margins": int(np.sum(wrong)) + sum(wrong_levels), "measured": measured}


def _read_rows(path: Path, keys: Sequence[str], values: Sequence[str], problems: list[str]) -> Any:
    """Read the rows of a file; None, with a problem added, where it does not have exactly these columns."""
    arrow = tidy.pyarrow()
    from pyarrow import parquet  # type: ignore[import-untyped]

    if not path.is_file():
        return None
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError, arrow.ArrowException):
        problems.append(f"{path.name}: cannot be read as Parquet.")
        return None
    column_names, names = table.column_names, (*keys, *values)
    if lacking := [name for name in names if column_names.count(name) != 1]:
        problems.append(f"{path.name}: {len(lacking):,} columns are missing or there twice.")
    elif len(column_names) > len(names):
        problems.append(f"{path.name}: {len(column_names) - len(names):,} columns are not those of a release.")
    elif not all(are_names(table[name]) for name in keys):
        problems.append(f"{path.name}: a column is of another kind.")
    else:
        return table
    return None


def _sentences(file: str, counts: dict[str, int]) -> list[str]:
    return [f"{file}: {_RULES[rule]}: {count:,}." for rule, count in counts.items() if count]
