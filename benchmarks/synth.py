"""The tables of `make bench synth`: errors of synthetic tables beside twins, peers and yardsticks; classifiers that are
learnt from them; growth; and what the other parts of `synth_…` measure.

δ = 10⁻⁹ under add-remove.  Tables are public, so errors are shown without noise.  `python -m benchmarks.synth adult`
(diabetes, german, pums, learnt, growth, peers, two) measures one part.
"""

import importlib
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import (
    synth_aim,
    synth_classify,
    synth_data,
    synth_error,
    synth_growth,
    synth_own,
    synth_peers,
    synth_twins,
    synth_two,
)
from benchmarks.release_data import folder
from benchmarks.report import Aim, Report, Table, machine, verdict
from benchmarks.synth_data import Coded
from benchmarks.synth_error import Score
from benchmarks.synth_growth import Growth
from benchmarks.synth_own import INDEPENDENT, OURS, QUICK
from discreet.synth.plan import MAX_CELLS

EPSILONS = (0.1, 1.0, 10.0)
DRAWS, FEW_ROWS_DRAWS = 5, 20  # 1,000 rows vary more
AIM_SEEDS, MST_SEEDS, PEER_SEEDS = (0,), (0, 1, 2, 3, 4), (0,)
PEER_EPSILONS = {"MST": EPSILONS, "AIM": (1.0,)}  # AIM takes minutes
PEER_LIMIT, GROWTH_LIMIT = 900, 300  # seconds by the clock on the wall, for each table of a peer
PEER_COLUMNS = (5, 10, 20)
PLAIN, PLAIN_EMPTY = "plain noisy columns", "plain noisy columns, empty cells too"
INDEPENDENTS = (INDEPENDENT, PLAIN, PLAIN_EMPTY)  # private columns without any relation
ADULT_AIMS = {OURS: (0.35, 0.160, 0.125), QUICK: (0.36, 0.175, 0.17)}
ADULT_SECONDS = {OURS: Aim(at_most=60), QUICK: Aim(at_most=1)}
AREA = Aim(at_least=0.89)  # of a classifier on test rows, at ε = 1
# Of each module the function that measures; its tables(figures) shows them, and notes(figures), where there is one.
PARTS = {"synth_small": "figures", "synth_cover": "cover_figures"}
MEBIBYTE = 2**20
SMARTNOISE_MIB = 1  # `MODEL_MIB` of its own module, which only its environment can import
_FEW_ROWS = 1000
_ABSENT = "Not measured: errors on real tables and classifiers; DISCREET_DATA names no folder."


def report() -> Report:
    """All of it; without real data, errors are those of an invented table."""
    parts = [accuracy_report("invented")] if folder() is None else [part() for part in _real_parts()]
    parts += [growth_report(), *map(_part_report, PARTS), two_report()]
    return _joined([*parts, *([Report((), {}, (_ABSENT,))] if folder() is None else [])])


def _real_parts() -> list[Callable[[], Report]]:
    return [
        *(lambda name=name: accuracy_report(name) for name in ("adult", "diabetes", "german", "pums")),
        learnt_report,
    ]


def accuracy_report(name: str) -> Report:
    """How far synthetic tables are from one table; Adult beside twins and peers too."""
    rows = synth_data.invented(5000) if name == "invented" else getattr(synth_data, name)()
    draws = FEW_ROWS_DRAWS if len(rows) <= _FEW_ROWS else DRAWS
    scores = [*synth_own.own_scores(rows, EPSILONS, draws), *yardsticks(rows, draws)]
    notes: tuple[str, ...] = ()
    if name == "adult":
        scores += synth_twins.twin_scores(MST_SEEDS, EPSILONS, rows, ("MST",))
        scores += synth_twins.twin_scores(AIM_SEEDS, EPSILONS, rows, ("AIM",))
        peers = peers_report(rows)
        scores += [Score(**figure) for figure in peers.figures["peers"]]
        notes = peers.notes
    return Report((errors_table(rows, scores),), {rows.name: _figures(scores)}, notes)


def peers_report(rows: Coded | None = None) -> Report:
    """What mbi and SmartNoise make of Adult, each in an environment of its own."""
    table = synth_data.adult() if rows is None else rows
    scores, notes = list[Score](), list[str]()
    for method, epsilons in PEER_EPSILONS.items():
        tables, absent = synth_peers.peer_tables(table, epsilons, PEER_SEEDS, methods=(method,), limit=PEER_LIMIT)
        notes += absent
        for peer_table in tables:
            name = f"{peer_table.peer} {peer_table.method}"
            scores.append(
                synth_error.score(
                    table, name, peer_table.epsilon, peer_table.seed, peer_table.codes, peer_table.seconds
                )
            )
    tables_shown = (errors_table(table, scores),) if scores else ()
    return Report(tables_shown, {"peers": _figures(scores)}, tuple(dict.fromkeys(notes)))


def yardsticks(rows: Coded, draws: int) -> list[Score]:
    """Plain noisy columns at each ε; columns and rows without privacy."""
    scores = []
    for draw in range(draws):
        random = np.random.default_rng(draw)
        for epsilon in EPSILONS:
            for name, sizes in ((PLAIN, rows.sizes), (PLAIN_EMPTY, rows.cells)):
                codes = synth_error.private_independent(rows.codes, sizes, epsilon, random)
                scores.append(synth_error.score(rows, name, epsilon, draw, codes))
        for name, codes in (
            ("independent, no privacy", synth_error.independent(rows.codes, random)),
            ("bootstrap, no privacy", synth_error.bootstrap(rows.codes, random)),
        ):
            scores.append(synth_error.score(rows, name, None, draw, codes))
    return scores


def learnt_report(draws: int = DRAWS) -> Report:
    """Classifiers learnt from synthetic rows of Adult's train part, tested on its test part."""
    train, test = synth_data.adult_split()
    areas: dict[tuple[str, float | None], list[dict[str, float]]] = {}
    for own in synth_own.own_tables(train, EPSILONS, draws, (OURS, QUICK)):
        areas.setdefault((own.method, own.epsilon), []).append(synth_classify.areas(own.codes, test))
        print(f"  classifiers of {own.method} at ε = {own.epsilon:g}, draw {own.draw}", file=sys.stderr)
    areas["real rows", None] = [synth_classify.areas(train.codes, test)]
    figures = [
        {
            "rows": method,
            "epsilon": epsilon,
            "classifier": classifier,
            "areas": [each[classifier] for each in draws_areas],
        }
        for (method, epsilon), draws_areas in areas.items()
        for classifier in draws_areas[0]
    ]
    return Report((learnt_table(figures),), {"classifiers": figures})


def growth_report() -> Report:
    """Time and memory by rows and by columns."""
    figures, notes = synth_growth.growth()
    told = [asdict(growth) | {"seconds": growth.seconds} for growth in figures]
    peers = peer_growth_report()
    tables = (growth_table(figures), *peers.tables)
    return Report(tables, {"growth": told, **peers.figures}, (*notes, *peers.notes))


def peer_growth_report() -> Report:
    """What peers take for the tables that grow in columns, by MST."""
    figures, notes = list[dict[str, Any]](), list[str]()
    for columns in PEER_COLUMNS:
        rows = synth_data.invented(synth_growth.ROWS_OF_COLUMNS, columns=columns)
        tables, absent = synth_peers.peer_tables(rows, (1.0,), methods=("MST",), limit=GROWTH_LIMIT)
        notes += absent
        figures += [
            {"peer": peer_table.peer, "columns": columns, "seconds": peer_table.seconds} for peer_table in tables
        ]
    lines = tuple((figure["peer"], str(figure["columns"]), f"{figure['seconds']:.3g}") for figure in figures)
    meaning = (
        f"MST on {synth_growth.ROWS_OF_COLUMNS:,} rows at ε = 1, once, first calls and compilation included, while "
        "ours is warm and its table prepared; of mbi the fit and the rows alone, of measurements made before."
    )
    shown = (Table("Growth of peers", meaning, ("peer", "columns", "CPU s"), lines),) if lines else ()
    return Report(shown, {"growth of peers": figures}, tuple(dict.fromkeys(notes)))


def two_report() -> Report:
    """Persons and their rows as two tables beside flat ones: invented patients, and hospital stays where they lie."""
    clinics = [synth_two.invented(), *([] if folder() is None else [synth_two.hospital()])]
    scores = [score for clinic in clinics for score in synth_two.scores(clinic)]
    names = [field.name for field in fields(scores[0]) if field.name not in ("clinic", "method", "epsilon", "draw")]
    lines = []
    for mean in synth_two.means(scores):
        numbers = (getattr(mean, name) for name in names)
        shown = ("–" if number is None else f"{number:.3f}" for number in numbers)
        lines.append((mean.clinic, f"{mean.epsilon:g}", mean.method, str(mean.draw), *shown))
    meaning = (
        "Flat rows without persons: at most k rows of a person are kept, each under Gaussian noise of μ/k, so that "
        "k have the μ of (ε, δ). Mean Σ|p − q|, not halved: of how many rows a person has, of columns of rows, of "
        "pairs of a person's column and a row's, of pairs of a row's columns, and of persons' columns; CPU seconds. "
        "Means over draws."
    )
    columns = ("table", "ε", "method", "draws", *names)
    figures = {"two tables": [asdict(score) for score in scores]}
    return Report((Table("Two tables", meaning, columns, tuple(lines)),), figures)


def _part_report(name: str) -> Report:
    if find_spec(f"benchmarks.{name}") is None:
        return Report((), {}, (f"Not measured: benchmarks.{name} is not there.",))
    part = importlib.import_module(f"benchmarks.{name}")
    figures = getattr(part, PARTS[name])()
    notes = part.notes(figures) if hasattr(part, "notes") else ()
    return Report(tuple(part.tables(figures)), {name.removeprefix("synth_"): figures}, tuple(notes))


def _joined(parts: Sequence[Report]) -> Report:
    figures: dict[str, Any] = {}
    for part in parts:
        figures |= part.figures
    tables = (table for part in parts for table in part.tables)
    return Report(tuple(tables), figures, tuple(note for part in parts for note in part.notes))


def _figures(scores: Sequence[Score]) -> list[dict[str, Any]]:
    return [asdict(score) for score in scores]


# --- tables --------------------------------------------------------------------------------------------------------


def errors_table(rows: Coded, scores: Sequence[Score]) -> Table:
    """A row for each method."""
    names = dict.fromkeys(score.method for score in scores)
    lines = []
    for name in names:
        own = [score for score in scores if score.method == name]
        judged = _judged_by_aims(own) if rows.name == "Adult" else _beside_independent(own, scores)
        lines.append(_errors_row(name, own, *judged))
    columns = ("method", *(f"ε = {epsilon:g}" for epsilon in EPSILONS), "aims", "met", "1-way", "2-way", "CPU s", "met")
    return Table(f"How far: {rows.name}", _errors_meaning(rows), columns, tuple(lines))


def _errors_meaning(rows: Coded) -> str:
    """What the numbers are, and where methods do not stand on equal feet."""
    meaning = (
        f"{len(rows):,} rows, {len(rows.sizes)} columns. Mean Σ|p − q| over all triples of columns, not halved, mean ± "
        "standard deviation of single draws; of one and of two columns at ε = 1. CPU seconds at each ε. Ours: defaults "
        f"(max_cells = {MAX_CELLS:,}), from task to frame, warm and on a prepared table; quick: max_cells = "
        f"{synth_own.QUICK_CELLS:,}. Ours can be told by zeros that no cell is empty, and here it is not told; "
        "an empty cell counts as one more. Ours uses the order of ordered columns, no other method does. "
        "Constants of ours (shares .30, .05 and .65, groups, slack, deviations) were chosen with Adult and German "
        "credit in view; the PUMS sample was not in view. Plain noisy columns (equal shares, no smoothing) are a weak "
        "yardstick. "
    )
    return meaning + (_ADULT_MEANING if rows.name == "Adult" else _ASIDE_MEANING)


_ASIDE_MEANING = "The aim is the best of the private independent columns; even: within two standard errors of it."
_ADULT_MEANING = (
    "Twins are priced by ρ-zCDP as published, ours by the exact δ of Gaussian noise, which is 5 % less noise at ε = 1. "
    f"The AIM twin has all triples as its workload and a model of {synth_aim.LIMITS.model_cells:,} cells "
    f"({8 * synth_aim.LIMITS.model_cells // MEBIBYTE} MiB); AIM is of {len(AIM_SEEDS)} seed, MST twins of "
    f"{len(MST_SEEDS)}, peers of {len(PEER_SEEDS)}. Seconds of twins are warm, from codes. mbi fits what the twins "
    "measured, and its seconds are without measuring; peers are cold, compilation included. SmartNoise's AIM has "
    f"pairs and {SMARTNOISE_MIB} MiB; SmartNoise reads the values of columns from the rows, and gets the exact number "
    "of rows."
)


def _judged_by_aims(own: Sequence[Score]) -> tuple[str, str]:
    """The aims of a method on Adult, and whether its means meet them."""
    aims = ADULT_AIMS.get(own[0].method, ())
    pairs = zip(aims, _by_epsilon(own), strict=False)
    met = (verdict(Aim(at_most=aim), _mean(scores)) for aim, scores in pairs)
    return " / ".join(f"≤ {aim:.3f}" for aim in aims), ", ".join(met)


def _beside_independent(own: Sequence[Score], scores: Sequence[Score]) -> tuple[str, str]:
    """The best private independent columns at each ε, and on which side of them ours are."""
    if own[0].method not in (OURS, QUICK):
        return "", ""
    goals, sides = [], []
    for place, epsilon in enumerate(EPSILONS):
        rivals = [_by_epsilon([score for score in scores if score.method == name])[place] for name in INDEPENDENTS]
        rival = min((each for each in rivals if each), key=_mean)
        goals.append(f"{epsilon:g}: {_mean(rival):.3f} ({rival[0].method})")
        sides.append(side(_by_epsilon(own)[place], rival))
    return "; ".join(goals), ", ".join(sides)


def side(own: Sequence[Score], rival: Sequence[Score]) -> str:
    """Below, above, or even: within two standard errors of the difference of means."""
    difference = _mean(own) - _mean(rival)
    error = sum(statistics.variance([score.three_way for score in each]) / len(each) for each in (own, rival)) ** 0.5
    return "even" if abs(difference) <= 2 * error else "below" if difference < 0 else "above"


def _by_epsilon(scores: Sequence[Score]) -> list[list[Score]]:
    return [[score for score in scores if score.epsilon == epsilon] for epsilon in EPSILONS]


def _errors_row(name: str, scores: Sequence[Score], aims: str, met: str) -> tuple[str, ...]:
    if scores[0].epsilon is None:
        return (name, "", _spread(scores), "", "", "", *_narrow(scores), "", "")
    by_epsilon = _by_epsilon(scores)
    seconds = [statistics.median(score.seconds for score in own) if own else 0.0 for own in by_epsilon]
    limit = ADULT_SECONDS.get(name) if scores[0].table == "Adult" else None
    shown = " / ".join(f"{taken:.2g}" if taken < 100 else f"{taken:.0f}" for taken in seconds) if any(seconds) else ""
    judged = "" if limit is None else f"{limit.text(' s')}: {verdict(limit, *seconds)}"
    return (name, *map(_spread, by_epsilon), aims, met, *_narrow(by_epsilon[1]), shown, judged)


def _mean(scores: Sequence[Score]) -> float:
    return statistics.fmean(score.three_way for score in scores) if scores else float("nan")


def _spread(scores: Sequence[Score]) -> str:
    if not scores:
        return "–"
    errors = [score.three_way for score in scores]
    return f"{_mean(scores):.3f}" + (f" ± {statistics.stdev(errors):.3f}" if len(errors) > 1 else "")


def _narrow(scores: Sequence[Score]) -> tuple[str, str]:
    """Of one and of two columns."""
    if not scores:
        return "–", "–"
    return (
        f"{statistics.fmean(score.one_way for score in scores):.3f}",
        f"{statistics.fmean(score.two_way for score in scores):.3f}",
    )


def learnt_table(figures: Sequence[Mapping[str, Any]]) -> Table:
    """A row for each classifier and kind of rows."""
    lines = []
    for rows, classifier in dict.fromkeys((figure["rows"], figure["classifier"]) for figure in figures):
        own = [figure for figure in figures if (figure["rows"], figure["classifier"]) == (rows, classifier)]
        if own[0]["epsilon"] is None:
            lines.append((rows, classifier, "", f"{own[0]['areas'][0]:.4f}", "", "", ""))
            continue
        means = {figure["epsilon"]: statistics.fmean(figure["areas"]) for figure in own}
        cells = (f"{means[epsilon]:.4f}" for epsilon in EPSILONS)
        lines.append((rows, classifier, *cells, AREA.text(), verdict(AREA, means[1.0])))
    meaning = (
        "Area under the curve on Adult's test rows, income above 50,000 from 13 columns. Learnt from synthetic rows, "
        "which were built from train rows alone, mean of draws; the aim is for ε = 1. Constants of ours were chosen "
        "with Adult in view."
    )
    columns = ("learnt from", "classifier", *(f"ε = {epsilon:g}" for epsilon in EPSILONS), "aim at ε = 1", "met")
    return Table("How well: train on synthetic rows, test on real ones", meaning, columns, tuple(lines))


def growth_table(figures: Sequence[Growth]) -> Table:
    """A row for each size."""
    lines = []
    for growth in figures:
        parts = (growth.counting, growth.choosing, growth.fitting, growth.drawing, growth.seconds, growth.wall)
        memories = (growth.own_memory, growth.worker_memory)
        lines.append(
            (
                f"{growth.rows:,}",
                str(growth.columns),
                str(growth.pairs),
                *(f"{seconds:.3g}" for seconds in parts),
                *(f"{held / MEBIBYTE:.0f}" for held in memories),
            )
        )
    meaning = (
        "One build at ε = 1 with its defaults, in a process that has built before. Counting: the worker's passes. "
        "Choosing: noise, gate, groups and pairs. Fitting: the distribution. Drawing: codes and a frame. Memory: the "
        "most of our process, pandas and SciPy included, and of the worker, in MiB."
    )
    columns = ("rows", "columns", "pairs", "counting", "choosing", "fitting", "drawing", "CPU s", "wall s")
    return Table("Growth", meaning, (*columns, "our MiB", "worker MiB"), tuple(lines))


def main(arguments: Sequence[str]) -> None:
    """Some parts, as tables."""
    from benchmarks.__main__ import _print

    other = {"learnt": learnt_report, "growth": growth_report, "peers": peers_report, "two": two_report}
    for name in arguments:
        part = other[name]() if name in other else accuracy_report(name)
        _print(machine(), part)


if __name__ == "__main__":
    main(sys.argv[1:])
