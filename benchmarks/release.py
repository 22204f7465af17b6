"""The tables of `make bench release`: speed beside general solvers, growth, whole countries, and errors of methods."""

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks import release_accuracy, release_data, release_speed
from benchmarks.release_accuracy import Score
from benchmarks.release_data import Exact
from benchmarks.report import Aim, Report, Table

RUNS = 30
EPSILONS = ("0.1", "0.5", "1")
COUNTRIES = {"uk": Aim(most=10), "us": Aim(most=60)}
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
        [release_data.uk(lowest="msoa"), release_data.rhode_island()] if there else [release_data.invented(2000, 8)]
    )
    for subject in subjects:
        scores = release_accuracy.scores(subject, EPSILONS, runs)
        tables.append(_scores_table(subject, scores, runs))
        figures[subject.name] = [asdict(score) for score in scores]
    return Report(tuple(tables), figures, (*speed.notes, *([] if there else [_ABSENT])))


def _country(exact: Exact, aim: Aim) -> dict[str, Any]:
    """CPU and wall seconds of measuring and fitting one whole country at ε = 1, each method once."""
    from discreet.noise.laplace import DiscreteLaplace
    from discreet.noise.source import SYSTEM
    from discreet.release import check, integer, topdown

    weights = np.ones(len(exact.tree), dtype=np.int64)
    found: dict[str, Any] = {
        "name": exact.name,
        "places": len(exact.tree),
        "cells": exact.table.shape[1],
        "aim": aim.text(" s"),
    }
    for name, method in (("integer", integer.fitted), ("topdown", topdown.fitted)):
        start, began = time.process_time(), time.perf_counter()
        noise = DiscreteLaplace(exact.tree.depth).drawn(exact.table.size, SYSTEM).reshape(exact.table.shape)
        table = method(exact.tree, exact.table + noise, weights, total=exact.total)
        passed, wall = time.process_time() - start, time.perf_counter() - began
        broken = check.violations(exact.tree, table, total=exact.total).count
        found[name] = {"cpu": passed, "wall": wall, "violations": broken, "met": aim.met(wall)}
    return found


def _countries_table(countries: list[dict[str, Any]]) -> Table:
    rows = []
    for one in countries:
        for method in ("integer", "topdown"):
            took = one[method]
            size = f"{one['places']:,} × {one['cells']}"
            figures = (f"{took['cpu']:.2f}", f"{took['wall']:.2f}", str(took["violations"]))
            rows.append((one["name"], size, method, *figures, one["aim"], "yes" if took["met"] else "no"))
    meaning = "Noise on every place and the fit, once, compiled before; the tree is read beforehand."
    return Table(
        "Whole countries",
        meaning,
        ("table", "places × cells", "method", "CPU s", "wall s", "broken", "aim", "met"),
        tuple(rows),
    )


def _scores_table(exact: Exact, scores: list[Score], runs: int) -> Table:
    levels = exact.tree.levels
    columns = (
        "ε",
        "method",
        *(f"L1 {level}" for level in levels),
        *(f"EMD {level}" for level in levels),
        "false positives",
        "broken",
    )
    rows = []
    for score in scores:
        sizes = [f"{number:,.0f}" for number in (*score.l1, *score.emd)]
        sizes[len(levels) - 1] += f" ± {score.error:,.0f}"
        rows.append(
            (score.epsilon, score.method, *sizes, f"{score.false_positives[-1]:.1%}", f"{score.violations:,.0f}")
        )
    meaning = (
        f"Sums over the places of a level, means of {runs} runs; behind ± the standard error. Protected: a person in "
        "a group; the number of groups at the top, for Kuo's of every leaf, is public."
    )
    return Table(f"How exact: {exact.name}", meaning, columns, tuple(rows))
