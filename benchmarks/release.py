"""The tables of `make bench release`: speed beside solvers, growth, whole countries, errors of methods and of totals,
and margins.

`python -m benchmarks.release` measures the margins alone.
"""

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks import release_accuracy, release_data, release_speed
from benchmarks.release_accuracy import Margin, Public, Score, Top
from benchmarks.release_data import Exact
from benchmarks.report import Aim, Report, Table, machine

RUNS = 30
EPSILONS = ("0.1", "0.5", "1")
DRAWS = 10
TOTALS = 10  # runs without a public total
ENDS = ("0.1", "1")  # ε of margins and of totals
EVERY = 15  # districts of the UK
COUNTRIES = {"uk": Aim(at_most=10), "us": Aim(at_most=60)}
_ABSENT = "Not measured: real countries and errors on them; DISCREET_DATA names no folder."


def report(runs: int = RUNS) -> Report:
    """All of it; without real data, errors are those of invented places."""
    speed = release_speed.report()
    there = release_data.folder() is not None
    countries = (
        [_country(release_data.uk(), COUNTRIES["uk"]), _country(release_data.us(), COUNTRIES["us"])] if there else []
    )
    tables, figures = [*speed.tables], {"speed": speed.figures, "countries": countries}
    if there:
        tables.append(_countries_table(countries))
    subjects = (
        [release_data.uk(lowest="msoa"), release_accuracy.with_people(release_data.rhode_island())]
        if there
        else [release_data.invented(2000, 8)]
    )
    for subject in subjects:
        scores = release_accuracy.scores(subject, EPSILONS, runs)
        tables += [_scores_table(subject, public, scores, runs) for public in Public]
        figures[subject.name] = [asdict(score) for score in scores]
    totals, held = without_total(), margins(max(2, runs // 10))
    figures |= {"without a public total": totals.figures, "margins": held.figures}
    return Report((*tables, *totals.tables, *held.tables), figures, (*speed.notes, *([] if there else [_ABSENT])))


def without_total(runs: int = TOTALS) -> Report:
    """What holding the top to the measured total does where none is public."""
    subjects = [release_data.invented(2000, 8)]
    if release_data.folder() is not None:
        subjects = [release_data.uk(), release_data.rhode_island()]
    tops = [(subject, release_accuracy.without_total(subject, ENDS, runs)) for subject in subjects]
    figures = {subject.name: [asdict(top) for top in each] for subject, each in tops}
    return Report(tuple(_totals_table(subject, each, runs) for subject, each in tops), figures)


def margins(draws: int = DRAWS) -> Report:
    """How often the ± of a release hold: proven ones of estimates, re-simulated ones of fitted numbers."""
    subjects = [release_data.invented(200, 8, (10,))]
    if release_data.folder() is not None:
        subjects = [
            release_accuracy.part(release_data.uk(), EVERY),
            release_accuracy.with_people(release_data.rhode_island()),
        ]
    results = [(subject, release_accuracy.margins(subject, ENDS, draws)) for subject in subjects]
    figures = {subject.name: [asdict(margin) for margin in each] for subject, each in results}
    return Report(tuple(_margins_table(subject, each, draws) for subject, each in results), figures)


def _country(exact: Exact, aim: Aim) -> dict[str, Any]:
    """CPU and wall seconds of measuring and fitting one whole country at ε = 1, each method once."""
    from discreet.noise.laplace import DiscreteLaplace
    from discreet.noise.source import SYSTEM
    from discreet.release import check
    from discreet.release.fit import integer, topdown

    weights = np.ones(len(exact.tree), dtype=np.int64)
    countries: dict[str, Any] = {
        "name": exact.name,
        "places": len(exact.tree),
        "cells": exact.table.shape[1],
        "aim": aim.text(" s"),
    }
    for name, method in (("integer", integer.fit), ("topdown", topdown.fit)):
        start, began = time.process_time(), time.perf_counter()
        noise = DiscreteLaplace(exact.tree.depth).draw(exact.table.size, SYSTEM).reshape(exact.table.shape)
        table = method(exact.tree, exact.table + noise, weights, total=exact.total)
        passed, wall = time.process_time() - start, time.perf_counter() - began
        broken = check.violations(exact.tree, table, total=exact.total).count
        countries[name] = {"cpu": passed, "wall": wall, "violations": broken, "met": aim.met(wall)}
    return countries


def _countries_table(countries: list[dict[str, Any]]) -> Table:
    rows = []
    for country in countries:
        for method in ("integer", "topdown"):
            took = country[method]
            size = f"{country['places']:,} × {country['cells']}"
            figures = (f"{took['cpu']:.2f}", f"{took['wall']:.2f}", str(took["violations"]))
            rows.append((country["name"], size, method, *figures, country["aim"], "yes" if took["met"] else "no"))
    meaning = "Noise on every place and the fit, once, compiled before; the tree is read beforehand."
    return Table(
        "Whole countries",
        meaning,
        ("table", "places × cells", "method", "CPU s", "wall s", "broken", "aim", "met"),
        tuple(rows),
    )


def _scores_table(exact: Exact, public: Public, scores: list[Score], runs: int) -> Table:
    levels = exact.tree.levels
    columns = (
        "ε",
        "method",
        *(f"L1 {level}" for level in levels),
        *(f"EMD {level}" for level in levels),
        "people",
        "false positives",
        "broken",
    )
    rows = []
    for score in scores:
        if score.public is not public:
            continue
        sizes = [f"{number:,.0f}" for number in (*score.l1, *score.emd, score.people)]
        sizes[len(levels) - 1] += f" ± {score.error:,.0f}"
        sizes[2 * len(levels) - 1] += f" ± {score.emd_error:,.0f}"
        rows.append(
            (score.epsilon, score.method, *sizes, f"{score.false_positives[-1]:.1%}", f"{score.violations:,.0f}")
        )
    meaning = (
        f"Sums over the places of a level, means of {runs} runs; behind ± the standard error. Protected: a person in "
        f"a group. Public of the number of groups, for all methods alike: {public}; every other number is noisy. EMD "
        "sums sizes from the smallest on, so that a group too few counts as one of the largest size; people sums the "
        "lowest level's from the largest on, so that it counts as one of nobody."
    )
    return Table(f"How exact: {exact.name}, public: {public}", meaning, columns, tuple(rows))


def _totals_table(exact: Exact, tops: list[Top], runs: int) -> Table:
    columns = ("ε", "top held to", *(f"L1 {level}" for level in exact.tree.levels), "total off by")
    rows = []
    for top in tops:
        sizes = [f"{number:,.0f}" for number in top.l1]
        rows.append((top.epsilon, top.held, *sizes[:-1], f"{sizes[-1]} ± {top.error:,.0f}", f"{top.total:,.0f}"))
    meaning = (
        "The nearest whole table of all (M_H) and the nearest with the total measured at the top, or 0, as a release "
        f"has it: means of {runs} runs, behind ± the standard error. The exact total is {exact.total:,}."
    )
    return Table(f"Without a public total: {exact.name}", meaning, columns, tuple(rows))


def _margins_table(exact: Exact, margins: list[Margin], draws: int) -> Table:
    columns = ("form", "ε", "level", "interval", "held", "0", "1–9", "10 or more", "totals", "mean width")
    rows = []
    for margin in margins:
        shares = (
            "–" if np.isnan(share) else f"{share:.1%}"
            for share in (margin.empty, margin.below_10, margin.large, margin.totals)
        )
        held = f"{margin.held:.1%} ± {margin.error:.1%}"
        rows.append((margin.form, margin.epsilon, margin.level, margin.interval, held, *shares, f"{margin.width:,.1f}"))
    meaning = (
        f"Of all cells of a level, and of those with such an exact number, the share whose interval of 95 % holds it: "
        f"{draws} releases, behind ± the standard error. Widths are cut at 0. Proven: of the unbiased estimate. "
        "Re-simulated: of the fitted number, 99 runs, approximate; of its own runs: by those of the cell alone, "
        "without its level."
    )
    return Table(f"Margins: {exact.name}", meaning, columns, tuple(rows))


if __name__ == "__main__":
    from benchmarks.__main__ import _print

    _print(machine(), margins())
