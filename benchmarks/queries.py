"""The tables of `make bench queries`: what protection costs beside plain DuckDB, and what peers take."""

from typing import Any

from benchmarks import asking, people
from benchmarks.asking import PEERS, PREPARE_BESIDE, QUESTIONS, Measured, Run, Sizes
from benchmarks.harness import Job, ratio, ratio_range
from benchmarks.report import Aim, Report, Table, verdict

AS_PLAIN = Aim(at_most=1.0)
PREPARED_ONCE = Aim(at_most=80)
OVERHEAD = Aim(at_most=50)
FASTER = Aim(at_least=10)
_NOT_AVAILABLE, _NOT_MEASURED = "— not available", "— not measured"


def report() -> Report:
    """All questions at all sizes."""
    return reported(asking.measured(Sizes()))


def reported(measured: Measured) -> Report:
    """The tables and figures of a run."""
    tables = (_engine_table(measured), _prepare_table(measured), _ask_table(measured), _peer_table(measured))
    figures = {
        "engine": [
            _engine_figure(rows, question, run) for rows, run in measured.engine.items() for question in QUESTIONS
        ],
        "prepare": [
            _compared(asking.prepare(rows), _beside(rows), run, PREPARED_ONCE) for rows, run in measured.prepare.items()
        ],
        "ask": [_ask_figure(question, measured) for question in QUESTIONS],
        "peers": [figure for rows, run in measured.beside.items() for figure in _peer_figures(rows, run)],
        "cap": people.CAP,
    }
    return Report(tables, figures, measured.notes)


def _beside(rows: int) -> Job:
    return asking.plain(PREPARE_BESIDE, rows)


# --- figures: plain JSON values ------------------------------------------------------------------------------------


def _compared(top: Job, bottom: Job, run: Run, aim: Aim) -> dict[str, Any]:
    """Both times in milliseconds and their ratio, by CPU and by wall."""
    low, high = ratio_range(top, bottom, run.cpu)
    figure = ratio(top, bottom, run.cpu)
    return {
        "of": f"{top.worker} {top.law}",
        "over": f"{bottom.worker} {bottom.law}",
        "rows": int(top.scale),
        "cpu_ms": [run.milliseconds(job)[0] for job in (top, bottom)],
        "wall_ms": [run.milliseconds(job)[1] for job in (top, bottom)],
        "ratio": {"median": figure, "least": low, "largest": high},
        "wall_ratio": ratio(top, bottom, run.wall),
        "aim": aim.text(),
        "met": aim.met(figure),
    }


def _engine_figure(rows: int, question: str, run: Run) -> dict[str, Any]:
    return _compared(asking.engine(question, rows), asking.plain(question, rows), run, AS_PLAIN)


def _ask_figure(question: str, measured: Measured) -> dict[str, Any]:
    job = asking.ask(question, measured.sizes.tiny)
    cpu, wall = measured.asks.milliseconds(job)
    worst = 1000 * max(measured.asks.wall[job])
    return {"question": question, "cpu_ms": cpu, "wall_ms": wall, "wall_ms_largest": worst, "met": OVERHEAD.met(wall)}


def _peer_figures(rows: int, run: Run) -> list[dict[str, Any]]:
    jobs = [asking.peer(name, question, rows) for question in QUESTIONS for name in PEERS]
    return [_compared(job, asking.ask(job.law, rows), run, FASTER) for job in jobs if job in run.cpu]


# --- tables: text --------------------------------------------------------------------------------------------------


def _engine_table(measured: Measured) -> Table:
    columns = ("question", "rows", "kept", "plain CPU ms", "ours CPU ms", "CPU ratio", "wall ratio", "aim", "met")
    rows = []
    for size, run in measured.engine.items():
        kept = f"{people.kept(size):.0%}"
        for question in QUESTIONS:
            figure = _engine_figure(size, question, run)
            ours, plain = figure["cpu_ms"]
            aim = (AS_PLAIN.text(), verdict(AS_PLAIN, figure["ratio"]["median"]))
            wall = f"{figure['wall_ratio']:.2f}"
            rows.append((question, f"{size:,}", kept, _short(plain), _short(ours), _ratio_text(figure), wall, *aim))
    meaning = (
        "Ratio = CPU time of our engine on the prepared table, every person bounded, ÷ that of plain DuckDB on the "
        f"Parquet file; medians of {measured.sizes.rounds} rounds by turns, in brackets the least and largest of any. "
        f"Kept: the share of rows that {people.CAP} per person leave, which is all that ours holds. A plain count of "
        "all rows is read off the footer of the file. Plan, noise and ledger are not in it: they are below."
    )
    return Table("Engine time beside plain DuckDB", meaning, columns, tuple(rows))


def _prepare_table(measured: Measured) -> Table:
    rows = []
    for size, run in measured.prepare.items():
        figure = _compared(asking.prepare(size), _beside(size), run, PREPARED_ONCE)
        ours, plain = figure["cpu_ms"]
        wall = f"{figure['wall_ms'][0] / 1000:.2f}"
        aim = (PREPARED_ONCE.text(), verdict(PREPARED_ONCE, figure["ratio"]["median"]))
        rows.append((f"{size:,}", _short(plain), f"{ours / 1000:.2f}", wall, _ratio_text(figure), *aim))
    meaning = (
        f"Ratio = CPU time of preparing a table once, start of the engine included, ÷ plain DuckDB's {PREPARE_BESIDE}."
    )
    columns = ("rows", "plain CPU ms", "prepare CPU s", "prepare wall s", "CPU ratio", "aim", "met")
    return Table("Preparing once", meaning, columns, tuple(rows))


def _ask_table(measured: Measured) -> Table:
    rows = []
    for question in QUESTIONS:
        figure = _ask_figure(question, measured)
        times = (_short(figure["wall_ms"]), _short(figure["wall_ms_largest"]), _short(figure["cpu_ms"]))
        rows.append((question, *times, OVERHEAD.text(" ms"), verdict(OVERHEAD, figure["wall_ms"])))
    meaning = (
        f"A whole `ask` on {measured.sizes.tiny:,} rows in a warm process, from text to stored answer with all waits "
        f"for the disk; medians of {measured.sizes.asks}. The aim is for wall time."
    )
    columns = ("question", "wall ms", "largest", "CPU ms", "aim", "met")
    return Table("What asking adds", meaning, columns, tuple(rows))


def _peer_table(measured: Measured) -> Table:
    columns = (
        "question",
        "rows",
        "plain CPU ms",
        "our ask CPU ms",
        *(f"{name} CPU ms, ratio" for name in PEERS),
        "aim",
        "met",
    )
    rows = []
    for size, run in measured.beside.items():
        figures = {figure["of"]: figure for figure in _peer_figures(size, run)}
        asked = dict(measured.sizes.beside)[size]
        for question in QUESTIONS:
            own = [_short(run.milliseconds(make(question, size))[0]) for make in (asking.plain, asking.ask)]
            cells = [_peer_cell(figures, name, question) if name in asked else "" for name in PEERS]
            ratios = [f["ratio"]["median"] for f in figures.values() if f["of"].endswith(f" {question}")]
            aim = (FASTER.text(), verdict(FASTER, *ratios)) if ratios else ("", "")
            rows.append((question, f"{size:,}", *own, *cells, *aim))
    meaning = (
        "Ratio = the peer's CPU time ÷ that of our whole `ask`; 10 means ours takes a tenth. All bound each person to "
        f"{people.CAP} rows at ε = 1; medians of {measured.sizes.peer_rounds} rounds by turns. Ours has prepared its "
        "table, SmartNoise has it in memory, OpenDP scans the file; set-up before the first question is in no time. "
        f"“{_NOT_AVAILABLE[2:]}”: the peer has no such question with whole persons bounded."
    )
    return Table("Beside peers", meaning, columns, tuple(rows))


def _peer_cell(figures: dict[str, dict[str, Any]], name: str, question: str) -> str:
    if question not in PEERS[name]:
        return _NOT_AVAILABLE
    figure = figures.get(f"{name} {question}")
    return _NOT_MEASURED if figure is None else f"{_short(figure['cpu_ms'][0])}, {_ratio_text(figure)}"


def _ratio_text(figure: dict[str, Any]) -> str:
    speedup = figure["ratio"]
    return f"{_short(speedup['median'])} ({_short(speedup['least'])}–{_short(speedup['largest'])})"


def _short(number: float) -> str:
    return f"{number:.3g}" if number < 100 else f"{number:,.0f}"
