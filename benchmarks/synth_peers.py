"""Synthetic tables of other systems, each made in an environment of its own from the same coded table."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.environment import ROOT, PeerUnavailable, python_of
from benchmarks.learn_peers import ONE_THREAD
from benchmarks.synth_data import Coded
from benchmarks.synth_price import DELTA
from discreet.ndarrays import Ints

PEERS = ("mbi", "smartnoise_synth")
METHODS = ("MST", "AIM")
LIMIT = 3600  # seconds by the clock on the wall


@dataclass(frozen=True, eq=False)
class PeerTable:
    """Synthetic codes of one peer and method, and the CPU seconds they took."""

    peer: str
    method: str
    epsilon: float
    seed: int
    codes: Ints
    seconds: float


def peer_tables(
    rows: Coded,
    epsilons: Sequence[float],
    seeds: Sequence[int] = (0,),
    *,
    peers: Sequence[str] = PEERS,
    methods: Sequence[str] = METHODS,
    limit: float = LIMIT,
) -> tuple[list[PeerTable], list[str]]:
    """Every peer's tables, and a sentence for each that is not there: no environment, a failure, out of time."""
    tables: list[PeerTable] = []
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "codes.npz"
        np.savez(path, codes=rows.codes, sizes=np.array(rows.sizes))
        for peer in peers:
            try:
                python = python_of(peer)
            except PeerUnavailable as error:
                notes.append(f"Not measured: {error}.")
                continue
            for method, epsilon, seed in product(methods, epsilons, seeds):
                empty = PeerTable(peer, method, epsilon, seed, rows.codes[:0], 0.0)
                try:
                    tables.append(_table(python, path, empty, limit))
                except PeerUnavailable as error:
                    notes.append(f"Not measured: {error}.")
    for note in notes:
        print(note, file=sys.stderr)
    return tables, notes


def _table(python: Path, path: Path, wanted: PeerTable, limit: float) -> PeerTable:
    """The wanted table with its codes and seconds; `PeerUnavailable` if the peer fails or takes too long."""
    result = path.with_name("result.npy")
    words = (wanted.method, wanted.epsilon, DELTA, wanted.seed)
    command = [python, "-m", f"benchmarks.peers.{wanted.peer}.synth", path, result, *words]
    what = f"{wanted.peer}'s {wanted.method} at ε = {wanted.epsilon:g}"
    try:
        done = subprocess.run(
            list(map(str, command)), stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | ONE_THREAD,
            timeout=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise PeerUnavailable(f"{what} took more than {limit:g} s") from None
    if done.returncode:
        raise PeerUnavailable(f"{what} failed with exit code {done.returncode}")
    seconds = json.loads(done.stdout.splitlines()[-1])["seconds"]
    return replace(wanted, codes=np.load(result), seconds=seconds)
