"""Private surveys: reports per CPU second beside pure-ldp, errors beside the formula, and the server's throughput."""

import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.environment import PeerUnavailable, python_of
from benchmarks.harness import ROUNDS, Job, Timings, Worker, interleaved, per_second, ratio, ratio_range, started
from benchmarks.local_accuracy import Error, errors, regret
from benchmarks.report import Aim, Report, Table, verdict

OURS, PEER = "discreet", "pure_ldp"
SERVER_SECONDS = 60.0
_WORDS = {
    "binary": "binary",
    "k-ary": "k-ary, 1,024",
    "hashed": "hashed, 1,024",
    "hashed by a pool": "hashed, pool of 1,000 hashes",
    "hadamard": "Hadamard response, 1,024",
    "unary": "OUE, 1,024",
    "subset": "subset selection, 12",
}
SAMPLES = {
    OURS: {"binary": 4_000_000, "k-ary": 4_000_000, "hashed": 4_000_000, "unary": 100_000, "subset": 1_000_000},
    PEER: {
        "binary": 20_000,
        "k-ary": 20_000,
        "hashed": 200,
        "unary": 2_000,
        "hashed by a pool": 4_000,
        "hadamard": 4_000,
    },
}
RATES = {
    "binary": Aim(at_least=5e7),
    "k-ary": Aim(at_least=2e7),
    "hashed": Aim(at_least=2e7),
    "unary": Aim(at_least=5e5),
    "subset": Aim(at_least=5e5),
}
ERROR, REGRET, SERVER = Aim(at_most=1.1), Aim(at_most=0.02), Aim(at_least=200)


def job(worker: str, law: str) -> Job:
    """A protocol at ε = 1, with as many reports as its speed allows."""
    return Job(worker, law, "1", SAMPLES[worker][law])


def report() -> Report:
    """All protocols in one interleaved run, then errors and the server."""
    notes: list[str] = []
    with ExitStack() as open_workers:
        own = open_workers.enter_context(started(Path(sys.executable), "benchmarks.local_own"))
        workers: dict[str, Worker] = {OURS: own}
        try:
            workers[PEER] = open_workers.enter_context(started(python_of(PEER), f"benchmarks.peers.{PEER}.worker"))
        except PeerUnavailable as problem:
            notes.append(f"Not measured: {problem}")
        timings = interleaved([job(worker, law) for worker in workers for law in SAMPLES[worker]], workers)
    measured, worst, server = errors(), regret(), _server(notes)
    tables = (rates_table(timings), errors_table(measured, worst), *([_server_table(server)] if server else []))
    return Report(tables, _figures(timings, measured, worst, server), tuple(notes))


PEER_ONLY = ("hashed by a pool", "hadamard")  # ways that pure-ldp has for many values; ours has one, which is exact


def rates_table(timings: Timings) -> Table:
    """Reports per CPU second, ours and the peer's."""
    has_peer = any(each.worker == PEER for each in timings)
    rows = []
    for law, aim in RATES.items():
        rate = per_second(job(OURS, law), timings)
        beside = ("", "")
        if has_peer and law in SAMPLES[PEER]:
            pair = job(PEER, law), job(OURS, law)
            low, high = ratio_range(*pair, timings)
            times = f"{ratio(*pair, timings):,.0f} ({low:,.0f}–{high:,.0f})"
            beside = (f"{per_second(job(PEER, law), timings):.2g}", times)
        rows.append((_WORDS[law], f"{rate:.3g}", aim.text(), verdict(aim, rate), *beside))
    if has_peer:
        for law in PEER_ONLY:
            pair = job(PEER, law), job(OURS, "hashed")
            low, high = ratio_range(*pair, timings)
            times = f"{ratio(*pair, timings):,.0f} ({low:,.0f}–{high:,.0f})"
            rows.append((_WORDS[law], "as hashed", "", "", f"{per_second(job(PEER, law), timings):.2g}", times))
    meaning = (
        f"Encode, aggregate and estimate at ε = 1; medians of {ROUNDS} rounds in which both take turns. The ratio is "
        "pure-ldp's CPU time per report ÷ ours, in brackets the least and largest of any round. pure-ldp is called for "
        "each report, since its call for many is a loop, on fewer reports; it draws from predictable generators and "
        "has no subset selection. Its pool of hashes is biased for ever; Hadamard response is set beside our hashing."
    )
    return Table(
        "Reports per CPU second", meaning, ("protocol", "ours", "aim", "met", "pure-ldp", "times faster"), tuple(rows)
    )


def errors_table(measured: list[Error], worst: tuple[float, str]) -> Table:
    """n·MSE beside the formula, and the regret of `auto`."""
    rows = [
        (
            f"{each.protocol}, {each.people:,} people",
            f"{each.measured:.4g}",
            f"{each.formula:.4g}",
            f"{each.ratio:.3f}",
            ERROR.text(),
            verdict(ERROR, each.ratio),
        )
        for each in measured
    ]
    lost = (f"auto, at {worst[1]}", "", "", f"{1 + worst[0]:.4f}", "≤ 1.02", verdict(REGRET, worst[0]))
    meaning = (
        "Half the people hold one value, the others all 1,024 alike, ε = 1, six surveys: mean squared error of the "
        "shares times people, "
        "and what the formula says. Last, the largest noise variance of auto over that of the best protocol that fits."
    )
    return Table("Errors", meaning, ("protocol", "n·MSE", "formula", "ratio", "aim", "met"), (*rows, lost))


def _server(notes: list[str]) -> dict[str, Any] | None:
    if find_spec("benchmarks.local_server") is None:
        notes.append("Not measured: the survey's server.")
        return None
    from benchmarks import local_server

    return dict(local_server.measure(SERVER_SECONDS))


def _server_table(server: dict[str, Any]) -> Table:
    rows = tuple((name.replace("_", " "), f"{value:,.4g}") for name, value in server.items())
    aim = SERVER.text("/s")
    meaning = (
        f"One process for {SERVER_SECONDS:g} s, open to all, with the limits of a server behind a proxy; "
        f"16 connections, the store in the temporary folder; each reply waits for a durable transaction. Aim: {aim}."
    )
    return Table("The survey's server", meaning, ("figure", "value"), rows)


def _figures(
    timings: Timings, measured: list[Error], worst: tuple[float, str], server: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "reports_per_cpu_second": [
            {"by": each.worker, "protocol": each.law, "rate": per_second(each, timings)} for each in timings
        ],
        "errors": [
            {"protocol": e.protocol, "people": e.people, "measured": e.measured, "formula": e.formula} for e in measured
        ],
        "auto": {"regret": worst[0], "where": worst[1]},
        "server": server,
    }
