"""The source has nothing to repeat: not after a fork, not in a spawned worker, not in threads, not for any seed."""

import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from discreet import noise, real
from discreet.noise import cells, lattice, source
from discreet.noise.source import SYSTEM
from replay import Exhausted, Replay

WORKERS = 8
ROWS = 12_500  # 8 × 12,500 = 10⁵ rows of four draws at scale 10⁶: some 86 bits each, a chance repeat has odds of 1e-15
forks = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def rows_of_draws(_: int = 0) -> bytes:
    laplace = noise.discrete_laplace(10**6, (ROWS, 2))
    return np.hstack([laplace, noise.rounded_gaussian(10**6, (ROWS, 2))]).tobytes()


def distinct_rows(parts):
    rows = np.concatenate([np.frombuffer(part, dtype=np.int64).reshape(-1, 4) for part in parts])
    assert rows.shape == (WORKERS * ROWS, 4)
    return len(np.unique(rows, axis=0))


@forks
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_eight_processes_repeat_no_row_of_draws(method):
    rows_of_draws()  # warm caches are what a fork would copy
    with multiprocessing.get_context(method).Pool(WORKERS) as pool:
        parts = pool.map(rows_of_draws, range(WORKERS), chunksize=1)
    assert distinct_rows(parts) == WORKERS * ROWS


def test_eight_threads_repeat_no_row_of_draws():
    with ThreadPoolExecutor(WORKERS) as pool:
        parts = list(pool.map(rows_of_draws, range(WORKERS)))
    assert distinct_rows(parts) == WORKERS * ROWS


def test_repeated_rows_would_be_noticed():
    part = rows_of_draws()
    assert distinct_rows([part] * WORKERS) == ROWS


@pytest.mark.parametrize("n", [1, 64, 65, 1000, 1 << 16, (1 << 16) + 1])
def test_words_are_distinct_at_every_size(n):
    """2·65,537 words of 64 bits: a chance repeat has odds of 5e-10."""
    both = np.concatenate([SYSTEM.words(n), SYSTEM.words(n)])
    assert both.dtype == np.uint64
    assert np.unique(both).size == 2 * n


def test_a_request_for_no_words_gives_none():
    assert SYSTEM.words(0).size == 0


@pytest.mark.parametrize("n", [64, 8192])
def test_every_bit_is_fair_in_both_forms(n):
    """N = 2¹⁹ words either way; 64 binomial counts beyond 7 standard deviations: false alarm below 2e-10."""
    total = 1 << 19
    counts = np.zeros(64)
    for _ in range(total // n):
        words = SYSTEM.words(n)
        counts += np.unpackbits(words.view(np.uint8)).reshape(n, 64).sum(axis=0)
    assert np.abs(counts - total / 2).max() < 7 * np.sqrt(total) / 2


def test_each_request_draws_a_fresh_key(monkeypatch):
    asked = []

    def recorded(size):
        asked.append(size)
        return bytes(size)

    monkeypatch.setattr(os, "urandom", recorded)
    first, second = SYSTEM.words(1000), SYSTEM.words(1000)
    assert asked == [48, 48]  # a key of 32 bytes and a counter of 16, each time
    assert (first == second).all(), "all else equal, the stream depends on the key alone"


def test_a_failing_kernel_is_an_error_and_not_weak_noise(monkeypatch):
    def broken(size):
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", broken)
    with pytest.raises(OSError, match="no entropy"):
        noise.discrete_laplace(10, 5)


def test_seeds_change_nothing():
    def seeded():
        np.random.seed(1)
        random.seed(1)
        return noise.discrete_laplace(10**9, 8).tolist() + noise.rounded_gaussian(10**9, 8).tolist()

    assert not set(seeded()) & set(seeded())


def test_environment_variables_change_nothing():
    code = "from discreet import noise; print(*noise.discrete_laplace(10**12, 8))"
    seeds = {"PYTHONHASHSEED": "0", "SEED": "0", "DISCREET_SEED": "0", "DISCREET_INSECURE": "1", "RANDOM_SEED": "0"}
    run = [
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | seeds, capture_output=True, check=True, timeout=60
        )
        for _ in range(2)
    ]
    first, second = (set(done.stdout.split()) for done in run)
    assert len(first) == len(second) == 8
    assert not first & second


def test_system_source_keeps_no_state():
    assert vars(SYSTEM) == {}
    assert pickle.loads(pickle.dumps(SYSTEM)) == SYSTEM


def drawn_in_child(timeout: float) -> bool:
    """Whether a forked child can draw from every stage before the timeout."""
    child = os.fork()
    if child == 0:
        try:
            noise.discrete_laplace(3, 10)
            noise.rounded_gaussian(10**12, 200)
            real.floor(lambda: real.ball(1).exp(), 100)
            os._exit(0)
        finally:
            os._exit(1)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


@forks
def test_fork_while_another_thread_holds_the_precision_does_not_hang():
    noise.rounded_gaussian(10, 1)
    inside, leave = threading.Event(), threading.Event()

    def holder():
        with real.precision(300):
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=holder)
    thread.start()
    try:
        assert inside.wait(10)
        assert drawn_in_child(20)
    finally:
        leave.set()
        thread.join()


@pytest.mark.parametrize("kind", [lattice.Rounding, cells.Cells, source.System])
def test_no_value_computes_itself_under_a_lock(kind):
    """`functools.cached_property` holds a lock in Python 3.11, which a fork may copy while held."""
    assert not [name for name, member in vars(kind).items() if hasattr(member, "lock")]


def test_replay_hands_out_its_words_and_then_raises():
    given = Replay([1, 2, 3])
    assert given.words(2).tolist() == [1, 2]
    with pytest.raises(Exhausted):
        given.words(2)
