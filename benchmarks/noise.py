"""Samples per CPU second: exact integer noise beside NumPy's insecure generators, OpenDP and diffprivlib."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environment import PeerUnavailable, python_of
from benchmarks.harness import ROUNDS, Job, Timings, Worker, interleaved, per_second, ratio, ratio_range, started
from benchmarks.report import Aim, Report, Table, verdict

OURS = "discreet"
SCALES = ("0.5", "10", "1000")
_MANY, _FEW, _LOOPED, _SINGLY, _SLOWEST = 10**6, 10**5, 10**4, 10**3, 500

Law = tuple[str, str]  # worker, its name for the law

LAWS: dict[Law, int] = {  # and how many samples a round takes
    (OURS, "discrete Laplace"): _MANY,
    (OURS, "rounded Gaussian"): _MANY,
    (OURS, "discrete Gaussian"): _MANY,
    (OURS, "discrete Laplace, singly"): _SINGLY,
    ("numpy", "laplace"): _MANY,
    ("numpy", "normal"): _MANY,
    ("opendp", "discrete Laplace"): _FEW,
    ("opendp", "discrete Gaussian"): _FEW,
    ("opendp", "discrete Laplace, singly"): _SINGLY,
    ("diffprivlib", "Laplace"): _LOOPED,
    ("diffprivlib", "Geometric"): _LOOPED,
    ("diffprivlib", "GaussianDiscrete"): _LOOPED,
}
_SLOW = {("diffprivlib", "GaussianDiscrete", "1000"): _SLOWEST}  # its cost grows with the scale


@dataclass(frozen=True)
class Comparison:
    """CPU time of one sample of `top` over that of one of `bottom`."""

    top: Law
    bottom: Law
    aim: Aim | None = None


_HUNDRED = Aim(at_least=100)
FASTER = (
    Comparison(("opendp", "discrete Laplace"), (OURS, "discrete Laplace"), _HUNDRED),
    Comparison(("opendp", "discrete Gaussian"), (OURS, "rounded Gaussian"), _HUNDRED),
    Comparison(("opendp", "discrete Gaussian"), (OURS, "discrete Gaussian"), _HUNDRED),
    Comparison(("opendp", "discrete Laplace, singly"), (OURS, "discrete Laplace, singly")),
    Comparison(("diffprivlib", "Geometric"), (OURS, "discrete Laplace")),
    Comparison(("diffprivlib", "Laplace"), (OURS, "discrete Laplace")),
    Comparison(("diffprivlib", "GaussianDiscrete"), (OURS, "discrete Gaussian")),
)
SLOWER = (
    Comparison((OURS, "discrete Laplace"), ("numpy", "laplace"), Aim(at_most=3)),
    Comparison((OURS, "rounded Gaussian"), ("numpy", "normal"), Aim(at_most=8)),
    Comparison((OURS, "discrete Gaussian"), ("numpy", "normal"), Aim(at_most=8)),
)


def job(law: Law, scale: str) -> Job:
    """The law at a scale, with as many samples as its speed allows."""
    return Job(*law, scale, _SLOW.get((*law, scale), LAWS[law]))


def report() -> Report:
    """All laws at all scales in one interleaved run; a peer that cannot be set up is left out and named."""
    notes: list[str] = []
    with ExitStack() as open_workers:
        workers: dict[str, Worker] = {}
        for name in dict.fromkeys(worker for worker, _ in LAWS):
            try:
                workers[name] = open_workers.enter_context(started(*_program(name)))
            except PeerUnavailable as problem:
                notes.append(f"Not measured: {problem}")
        timings: dict[Job, Any] = {}
        for scale in SCALES:  # laws alternate within a scale
            timings.update(interleaved([job(law, scale) for law in LAWS if law[0] in workers], workers))
    return reported(timings, tuple(notes))


def _program(worker: str) -> tuple[Path, str]:
    if worker == OURS:
        return Path(sys.executable), "benchmarks.own"
    return python_of(worker), f"benchmarks.peers.{worker}.worker"


def reported(timings: Timings, notes: tuple[str, ...] = ()) -> Report:
    """The tables and figures of a run."""
    measured = {job.worker for job in timings}
    laws = [law for law in LAWS if law[0] in measured]
    rates = {law: [per_second(job(law, scale), timings) for scale in SCALES] for law in laws}
    rate_rows = tuple((*law, *(f"{rate:.2g}" for rate in rates[law])) for law in laws)
    how = f"Medians of {ROUNDS} rounds in which all take turns; samplers are warm."
    tables = (
        Table("Samples per CPU second", how, ("by", "law", *(f"scale {s}" for s in SCALES)), rate_rows),
        _ratio_table(
            "How many times faster than peers",
            "Ratio = the peer's CPU time per sample ÷ ours; 100 means ours takes a hundredth. "
            "In brackets the least and largest of any round. Samples are drawn as one long vector but for those drawn "
            "singly, a call each: ours cuts each of these from a batch of 1,024, so that its time tells nothing.",
            [c for c in FASTER if c.top[0] in measured],
            timings,
        ),
        _ratio_table(
            "How many times NumPy's time",
            "Ratio = our CPU time per sample ÷ NumPy's; 3 means three times as long. NumPy's draws are continuous, "
            "floating-point and from a predictable generator: a limit of speed, not a choice.",
            [c for c in SLOWER if c.bottom[0] in measured],
            timings,
        ),
    )
    return Report(tables, _figures(rates, timings, measured), notes)


def _ratio_table(title: str, meaning: str, comparisons: list[Comparison], timings: Timings) -> Table:
    columns = ("CPU time of", "over", *(f"scale {s}" for s in SCALES), "aim", "met")
    rows = []
    for c in comparisons:
        figures = _ratios(c, timings)
        shown = [f"{_short(figure)} ({_short(low)}–{_short(high)})" for figure, low, high in figures]
        aim = "" if c.aim is None else c.aim.text()
        rows.append((" ".join(c.top), " ".join(c.bottom), *shown, aim, verdict(c.aim, *(f[0] for f in figures))))
    return Table(title, meaning, columns, tuple(rows))


def _ratios(c: Comparison, timings: Timings) -> list[tuple[float, float, float]]:
    pairs = [(job(c.top, scale), job(c.bottom, scale)) for scale in SCALES]
    return [(ratio(top, bottom, timings), *ratio_range(top, bottom, timings)) for top, bottom in pairs]


def _short(number: float) -> str:
    return f"{number:.3g}" if number < 100 else f"{number:,.0f}"


def _figures(rates: dict[Law, list[float]], timings: Timings, measured: set[str]) -> dict[str, Any]:
    comparisons = [c for c in (*FASTER, *SLOWER) if {c.top[0], c.bottom[0]} <= measured]
    return {
        "scales": SCALES,
        "samples_per_cpu_second": [{"by": by, "law": law, "rates": rates[by, law]} for by, law in rates],
        "ratios": [
            {
                "cpu_time_of": " ".join(c.top),
                "over": " ".join(c.bottom),
                "ratios": [{"median": m, "least": low, "largest": high} for m, low, high in _ratios(c, timings)],
                "aim": None if c.aim is None else c.aim.text(),
                "met": None if c.aim is None else c.aim.met(*(f[0] for f in _ratios(c, timings))),
            }
            for c in comparisons
        ],
        "rounds": ROUNDS,
    }
