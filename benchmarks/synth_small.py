"""When does a small database pay?  The worst error over K counting queries, beside noise on every answer.

split Laplace     ε/K for each answer                      Gaussian   all answers in one, (ε, 10⁻⁹)
fitted            the same noisy answers, fitted to a table of N rows over the cells: free
small database    drawn where it can be enumerated, else its bounds at the best size
noisy cells       Laplace noise on the counts of all cells, which are made to be at least 0 and to sum to N
engine            a synthetic table, (ε, 10⁻⁹), from which every query is answered

Rows are invented, ε = 1, one row is replaced, and all know the cells, the number of rows N, and that no value is
missing.  A query that is asked twice, or turned round, is answered once.  All errors are of shares, at most so large in
95 of 100 draws.  Where bounds are compared, beyond what can be enumerated, noise is as it was drawn, neither fitted nor
made to be at least 0, which would help it.
`python -m benchmarks.synth_small` measures and prints.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.report import Report, Table, machine
from benchmarks.synth_small_engine import engine_errors, engine_shares
from benchmarks.synth_small_noise import DELTA, EPSILON, LEVEL, Noise, quantile
from discreet.ndarrays import Bools, Floats, Ints
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM
from discreet.synth.small.lesson import invented_histogram, lesson, worst_errors
from discreet.synth.small.multisets import number_of_multisets
from discreet.synth.small.selection import Selection, selection_of
from discreet.synth.small.size import Setting, Size

QUERIES = (1, 3, 10, 30, 100, 1_000)  # drawn: of the 127 that differ on eight cells
BOUNDED_QUERIES = (1, 10, 100, 10**3, 10**4, 10**5, 10**6, 10**8, 10**10)
CELLS = 8
ROWS = (1_000, 10_000)
GROWTH, GROWTH_QUERIES = (300, 1_000, 3_000, 10_000, 30_000), 100
KEPT = (("0.2", 1_000), ("1", 400), ("1", 4_000))  # ε and rows of the tables whose bounds are tried
KEPT_RUNS = 1_000
SETTINGS = ((2**10, 10**4), (2**20, 10**5))  # cells and rows of the notes: only bounds
LARGEST_SIZE = 14  # 116,280 databases over eight cells
RUNS, NOISE_RUNS = 100, 400
_FURTHEST = 10**15  # queries


# --- small databases -------------------------------------------------------------------------------------------------


def setting(queries: int, cells: int, rows: int, size: int) -> Setting:
    """The public numbers of a selection of that size, for queries that tell all cells apart."""
    alpha = Fraction(math.sqrt(math.log(2 * queries) / (2 * size)))
    miss = Fraction(str(round(1 - LEVEL, 9)))
    return Setting(Size(size, alpha), queries, cells, min(cells, 2 ** min(queries, 60)), 1, rows, 1, EPSILON, miss)


def best(queries: int, cells: int, rows: int, kind: str, largest: int = 2**12) -> tuple[int, float]:
    """The size with the least bound of that kind, and the bound: a rule on public numbers alone."""
    sizes = sorted({min(largest, round(1.05**step)) for step in range(180)})
    return min(((size, getattr(setting(queries, cells, rows, size), kind)) for size in sizes), key=lambda pair: pair[1])


def random_queries(queries: int, cells: int, seed: int) -> Bools:
    """The different ones among K random sets of cells: how often one is drawn changes no worst error."""
    if cells > 16:
        raise ValueError("only for few cells")
    sets = np.unique(generator(seed).integers(0, 2**cells, queries))
    truths: Bools = (sets[:, None] >> np.arange(cells)[None, :] & 1).astype(np.bool_)
    return truths


def small_selection(queries: int, rows: int, seed: int = 1) -> Selection:
    """A selection for K random queries on eight cells, at the size with our least bound."""
    truths = random_queries(queries, CELLS, seed)
    sizes = range(1, LARGEST_SIZE + 1)
    listed = (selection_of(truths, epsilon=EPSILON, public_rows=rows, size=size) for size in sizes)
    return min(listed, key=lambda selection: selection.bound)


def small_figures(
    queries: int, rows: int, runs: int = RUNS, seed: int = 1, engine: Floats | None = None
) -> dict[str, Any]:
    """Worst errors of draws for an invented table, beside the bounds and all rivals; `engine` has shares of tables."""
    selection = small_selection(queries, rows, seed)
    histogram = invented_histogram(CELLS, rows, seed)
    drawn = selection.mechanism.many(selection.counts(histogram), runs, SYSTEM)
    queries_by_cell = selection.candidates.truths[:, selection.candidates.atom_of]
    shares = engine_shares(histogram, runs, epsilon=EPSILON, delta=DELTA) if engine is None else engine
    return Noise(rows).answered(queries_by_cell, histogram, NOISE_RUNS) | {
        "size": selection.candidates.size,
        "databases": number_of_multisets(selection.candidates.size, CELLS),
        "different": selection.setting.told_apart,
        "drawn": quantile(worst_errors(selection, histogram, drawn)),
        "exact": selection.law(histogram.tolist()).quantile(LEVEL),
        "bound": selection.bound,
        "lecture": selection.lecture_bound,
        "cells": Noise(rows).cells_answered(queries_by_cell, histogram, NOISE_RUNS),
        "engine": quantile(engine_errors(queries_by_cell, histogram, shares)),
    }


def rivals_by_rows(sizes: tuple[int, ...], queries: tuple[int, ...], runs: int = RUNS) -> dict[str, Any]:
    """The figures of all methods by the number of rows and of queries; the synthetic tables serve all queries."""
    told = {}
    for rows in sizes:
        histogram: Ints = invented_histogram(CELLS, rows, 1)
        shares = engine_shares(histogram, runs, epsilon=EPSILON, delta=DELTA)
        told[str(rows)] = {str(number): small_figures(number, rows, runs, engine=shares) for number in queries}
    return told


def kept_figures(runs: int = KEPT_RUNS) -> list[dict[str, Any]]:
    """How many of so many draws are within the bounds, which promise 95 of 100; by the exact law too."""
    told = []
    for (epsilon, rows), size in [(setting, size) for setting in KEPT for size in ("lecture", "tight")]:
        truths = random_queries(12, CELLS, 3)
        alpha = "0.6" if size == "lecture" else "0.4"
        own = selection_of(truths, epsilon=epsilon, public_rows=rows, size=size, alpha=alpha, level=str(LEVEL))
        seen = lesson(own, invented_histogram(CELLS, rows, 2), runs)
        told.append(
            {
                "epsilon": epsilon,
                "rows": rows,
                "size": f"{own.candidates.size}, {size}",
                "lecture": own.lecture_bound,
                "bound": own.bound,
                "worst": float(seen.errors.max()),
                "within lecture": float((seen.errors <= own.lecture_bound).mean()),
                "within": seen.within,
                "promised": LEVEL,
                "exact miss": float(seen.law.chances[seen.law.errors >= own.bound].sum()),
            }
        )
    return told


# --- where curves cross ----------------------------------------------------------------------------------------------


def crossing(cells: int, rows: int, kind: str, rival: str) -> int | None:
    """The least K, to one digit, from which the bound at its best size is below the noise; None up to 10¹⁵."""
    compared = Noise(rows)

    def pays(queries: int) -> bool:
        return bool(best(queries, cells, rows, kind)[1] < getattr(compared, rival)(queries))

    return next((queries for queries in _round_numbers() if pays(queries)), None)


def cells_crossing(queries: int, rows: int) -> int | None:
    """The least power of two of cells from which our bound is below the noise on cells; None up to 2⁶⁰."""
    powers = (2**power for power in range(1, 61))
    return next((n for n in powers if best(queries, n, rows, "bound")[1] < Noise(rows).cells(queries, n)), None)


def _round_numbers() -> Iterator[int]:
    for power in range(round(math.log10(_FURTHEST))):
        yield from (digits * 10**power for digits in range(1, 10))


def figures(runs: int = RUNS) -> dict[str, Any]:
    """All figures: draws on eight cells, bounds on the settings of the notes, and where curves cross."""
    return {
        "epsilon": float(EPSILON),
        "delta": float(DELTA),
        "level": LEVEL,
        "drawn": rivals_by_rows(ROWS, QUERIES, runs),
        "growth": rivals_by_rows(GROWTH, (GROWTH_QUERIES,), runs),
        "kept": kept_figures(KEPT_RUNS),
        "bounds": {f"{cells} cells, {rows} rows": bound_figures(cells, rows) for cells, rows in SETTINGS},
    }


def bound_figures(cells: int, rows: int) -> dict[str, Any]:
    """Bounds by K beside errors of noise, and from which K on they pay."""
    compared = Noise(rows)
    by_queries = {}
    for queries in BOUNDED_QUERIES:
        size, lecture = best(queries, cells, rows, "lecture_bound")
        by_queries[str(queries)] = {
            "size": size,
            "lecture": lecture,
            "bound": best(queries, cells, rows, "bound")[1],
            "laplace": compared.laplace(queries),
            "gaussian": compared.gaussian(queries),
            "cells": compared.cells(queries, cells),
        }
    kinds = {"lecture": "lecture_bound", "bound": "bound"}
    crossings = {
        f"{name} below {rival}": crossing(cells, rows, kind, rival)
        for name, kind in kinds.items()
        for rival in ("laplace", "gaussian")
    }
    return {"queries": by_queries, "crossings": crossings, "cells": cells_crossing(10**6, rows)}


def tables(told: dict[str, Any]) -> tuple[Table, ...]:
    """The figures as tables."""
    meaning = (
        f"Worst error of shares over K random counting queries on {CELLS} cells, in 95 of 100 draws at most; ε = 1, "
        "δ = 10⁻⁹ for Gaussian noise and the engine. All know the cells, the number of rows, and that no value is "
        "missing. Fitted: noisy answers that are moved, for nothing, to the nearest ones that a table of so many rows "
        "could give. Noisy cells are made to be at least 0 and to sum to the number of rows; they and the engine "
        f"answer all queries from one release. {RUNS} draws of the engine and of small databases, whose law is exact "
        f"besides; {NOISE_RUNS} of noise."
    )
    growing = f"The same for {GROWTH_QUERIES} queries, by the number of rows."
    bounded = [
        (name, f"{int(queries):,}", f"{line['size']:,}", *(_text(line[key]) for key in _BOUNDED))
        for name, own in told["bounds"].items()
        for queries, line in own["queries"].items()
    ]
    bounds_meaning = (
        "Where a small database cannot be enumerated: its bounds at the best sizes, beside noise as it was drawn, "
        "neither fitted nor made to be at least 0; it would err less then."
    )
    heads = ("table", "queries", "rows", "lecture's bound", "our bound", "split Laplace", "Gaussian", "noisy cells")
    return (
        Table("Small databases, drawn", meaning, _DRAWN_HEADS, _drawn_rows(told["drawn"])),
        Table("Small databases, by rows", growing, _DRAWN_HEADS, _drawn_rows(told["growth"])),
        _kept_table(told["kept"]),
        Table("Small databases, bounds", bounds_meaning, heads, tuple(bounded)),
    )


_RIVALS = {
    "laplace": "split Laplace",
    "laplace fitted": "Laplace, fitted",
    "gaussian": "Gaussian",
    "gaussian fitted": "Gaussian, fitted",
    "cells": "noisy cells",
    "engine": "the engine",
}
_DRAWN = (*_RIVALS, "drawn", "exact", "bound")
_DRAWN_HEADS = (
    "rows",
    "queries",
    "different",
    "N̂",
    *_RIVALS.values(),
    "small database",
    "exact",
    "our bound",
)
_BOUNDED = ("lecture", "bound", "laplace", "gaussian", "cells")


def _drawn_rows(told: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            f"{int(rows):,}",
            f"{int(queries):,}",
            str(line["different"]),
            str(line["size"]),
            *(_text(line[name]) for name in _DRAWN),
        )
        for rows, by_queries in told.items()
        for queries, line in by_queries.items()
    )


def _kept_table(told: list[dict[str, Any]]) -> Table:
    meaning = (
        "Worst errors of draws for an invented table beside the bounds, which are for any table: the share of draws "
        "within them, and the exact chance of a miss."
    )
    numbers = ("lecture", "bound", "worst", "within lecture", "within", "promised")
    heads = ("ε", "rows", "N̂", "lecture's bound", "our bound", "worst draw", *numbers[3:], "exact miss")
    rows = [
        (
            line["epsilon"],
            f"{line['rows']:,}",
            line["size"],
            *(f"{line[key]:.3f}" for key in numbers),
            f"{line['exact miss']:.1e}",
        )
        for line in told
    ]
    return Table("Small databases, bounds kept", meaning, heads, tuple(rows))


def notes(told: dict[str, Any]) -> tuple[str, ...]:
    """When a small database pays, in sentences, and at how many queries by its bounds."""
    lines = [when_it_pays(told), below_all(told)]
    for name, own in told["bounds"].items():
        crossings = ", ".join(f"{what} {_count(number)}" for what, number in own["crossings"].items())
        power = "at no number of cells tried" if own["cells"] is None else f"at 2^{own['cells'].bit_length() - 1} cells"
        lines.append(
            f"{name}, where bounds are first below noise as it was drawn, not fitted and not made to be at "
            f"least 0, of the numbers tried (one digit and zeros): {crossings}; bound below noisy cells {power}, of "
            "the powers of two tried, for a million queries."
        )
    return tuple(lines)


def when_it_pays(told: dict[str, Any]) -> str:
    """From how many queries on, and up to how many rows, the exact law is below each rival, of those tried."""
    parts = [
        f"with {int(rows):,} rows " + ", ".join(f"below {name} {_first(lines, key)}" for key, name in _RIVALS.items())
        for rows, lines in told["drawn"].items()
    ]
    growth = {rows: by_queries[str(GROWTH_QUERIES)] for rows, by_queries in told["growth"].items()}
    ends = ", ".join(f"below {name} {_last(growth, key)}" for key, name in _RIVALS.items())
    queries = f"with {next(iter(growth.values()))['different']} different queries {ends}"
    head = f"When does a small database pay? On {CELLS} cells at ε = 1, of the numbers of queries and of rows tried:"
    return f"{head} {'; '.join([*parts, queries])}."


def below_all(told: dict[str, Any]) -> str:
    """Where the exact law is below every rival at once, of all that was tried."""
    lines = {
        (int(rows), line["different"]): line
        for part in ("drawn", "growth")
        for rows, by_queries in told[part].items()
        for line in by_queries.values()
    }
    won = [place for place, line in lines.items() if all(line["exact"] < line[rival] for rival in _RIVALS)]
    places = ", ".join(f"{different} different queries with {rows:,} rows" for rows, different in sorted(won))
    where = (
        f"at {len(won)} of the {len(lines)} settings tried: {places}"
        if won
        else (f"at none of the {len(lines)} settings tried")
    )
    return f"Below all rivals at once, fitted noise among them: {where}."


def _first(lines: dict[str, Any], rival: str) -> str:
    """The least number of different queries from which on every error is below the rival's."""
    first = None
    for line in reversed(lines.values()):
        if line["exact"] >= line[rival]:
            break
        first = line["different"]
    return f"at none of the {len(lines)} tried" if first is None else f"from {first} different queries on"


def _last(lines: dict[str, Any], rival: str) -> str:
    """The largest number of rows up to which every error is below the rival's."""
    last = None
    for rows, line in lines.items():
        if line["exact"] >= line[rival]:
            break
        last = int(rows)
    return f"at none of the {len(lines)} tried" if last is None else f"up to {last:,} rows"


def _count(queries: int | None) -> str:
    return "at none" if queries is None else f"at {queries:,} queries"


def _text(error: float) -> str:
    return "1 or more" if error >= 1 else f"{error:.4f}"


def report() -> Report:
    """All figures as a report of their own."""
    told = figures()
    return Report(tables(told), told, notes(told))


def main() -> None:
    """Measure and print."""
    own = report()
    print(machine())
    for table in own.tables:
        print(
            f"\n{table.title}\n{table.meaning}\n"
            + "\n".join("  ".join(f"{text:>15}" for text in row) for row in (table.columns, *table.rows))
        )
    print("\n" + "\n".join(own.notes))


if __name__ == "__main__":
    main()
