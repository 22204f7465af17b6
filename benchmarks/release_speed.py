"""Tables that add up: the real and the whole-number projection beside a general solver, and how they grow.

Ours and the solvers run in turns in one process and are charged their CPU seconds; the solvers through CVXPY, which
builds their program, and called directly, with their program already put together and their own default tolerances.
Growth is measured in a process for each size.
"""

import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.environment import ROOT
from benchmarks.memory import peak
from benchmarks.report import Aim, Report, Table, verdict
from discreet.ndarrays import Ints
from discreet.release.tree import Tree, tree_sums

OSQP, CLARABEL, WHOLE = Aim(at_least=100), Aim(at_least=50), Aim(at_most=5)
LINEAR = Aim(at_most=1.15)  # the power of cells by which CPU time grows
ROUNDS = 3
MEBIBYTE = 2**20
SHAPES = (
    *(((1, 32, 10**3), cells) for cells in (1, 8)),
    *(((1, 100, 10**4), cells) for cells in (1, 8)),
    *(((1, 316, 10**5), cells) for cells in (1, 8)),
    ((1, 46, 2154, 10**5), 1),
)
_LONG = 30  # CPU seconds after which a method is not run again
GROWTH = tuple(((1, 50, 2500, leaves), 8) for leaves in (12_500, 125_000, 1_250_000))


@dataclass(frozen=True, eq=False)
class Measured:
    """A tree, noisy counts of all its places, equal weights, and the public total."""

    tree: Tree
    noisy: Ints
    weights: Ints
    total: int

    def real(self) -> object:
        """Our real table."""
        from discreet.release.fit import duals

        return duals.projection(self.tree, self.noisy, self.weights, total=self.total)

    def whole(self) -> Ints:
        """Our whole-number table, with the real one it is looked for around."""
        from discreet.release.fit import integer

        return integer.fit(self.tree, self.noisy, self.weights, total=self.total)

    def rounded(self, solver: str) -> Ints:
        """The solver's table with each value rounded."""
        from tests.release.fits import relaxed

        return relaxed.fitted(self.tree, self.noisy, self.weights, total=self.total, solver=solver)[1]

    def broken(self, table: Ints) -> int:
        """How many sums do not hold."""
        from tests.release.fits import relaxed

        return relaxed.broken_sums(self.tree, table, self.total)


def even_tree(levels: tuple[int, ...]) -> Tree:
    """A tree with so many places on each level, children shared out evenly."""
    first = np.concatenate([[0], np.cumsum(levels)])
    parent = np.full(first[-1], -1)
    for level, (above, here) in enumerate(itertools.pairwise(levels), start=1):
        parent[first[level] : first[level + 1]] = first[level - 1] + np.arange(here) * above // here
    child = 1 + np.concatenate([[0], np.cumsum(np.bincount(parent[1:], minlength=first[-1]))])
    names = tuple(map(str, range(first[-1])))
    return Tree(tuple(f"level {level}" for level in range(len(levels))), names, parent, first, child)


def made(levels: tuple[int, ...], cells: int, *, seed: int = 1, scale: float = 5) -> Measured:
    """Small counts, half of them 0, with two-sided geometric noise on every place; seeded, for nothing is protected."""
    numbers, tree = np.random.default_rng(seed), even_tree(levels)
    leaves = numbers.poisson(3, (levels[-1], cells)) * (numbers.random((levels[-1], cells)) < 0.5)
    exact = tree_sums(tree, leaves)
    noise = numbers.geometric(1 - math.exp(-1 / scale), (2, *exact.shape))
    return Measured(tree, exact + noise[0] - noise[1], np.ones(len(tree), dtype=np.int64), int(leaves.sum()))


# --- beside the solvers --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Timing:
    """CPU seconds of each method on one shape, medians of the rounds, and the sums each of them breaks; the solvers
    called directly too, once."""

    levels: tuple[int, ...]
    cells: int
    sums: int
    seconds: dict[str, float]
    direct_seconds: dict[str, float]
    broken: dict[str, int]

    def ratio(self, slow: str, fast: str = "real") -> float:
        """CPU time of one in units of the other."""
        return self.seconds[slow] / self.seconds[fast]


def timed(levels: tuple[int, ...], cells: int, rounds: int = ROUNDS) -> Timing:
    """Every method in turn, after one untimed run of each of ours; the solvers are run once if they need minutes."""
    given = made(levels, cells)
    methods: dict[str, Callable[[], Any]] = {
        "real": given.real,
        "whole": given.whole,
        "OSQP": lambda: given.rounded("OSQP"),
        "CLARABEL": lambda: given.rounded("CLARABEL"),
    }
    given.whole()
    made((*levels[:-1], levels[-2]), 1).rounded("CLARABEL")  # loads CVXPY and the solvers
    taken: dict[str, list[float]] = {name: [] for name in methods}
    tables: dict[str, Any] = {}
    for _ in range(rounds):
        for name, method in methods.items():
            if sum(taken[name]) < _LONG:
                for _ in range(5 if name in ("real", "whole") else 1):
                    start = time.process_time()
                    tables[name] = method()
                    taken[name].append(time.process_time() - start)
    broken = {name: given.broken(table) for name, table in tables.items() if name != "real"}
    sums = int(np.count_nonzero(np.diff(given.tree.child))) * cells + 1
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    return Timing(levels, cells, sums, medians, direct_seconds(given), broken)


@dataclass(frozen=True, eq=False)
class Program:
    """min ½·xᵀPx + qᵀx over x ≥ 0 with Ex = e: the nearest table, one unknown for each place and cell."""

    squares: Any
    linear: NDArray[np.float64]
    equations: Any
    right: NDArray[np.float64]


def program(given: Measured) -> Program:
    """The program of `real`, put together without CVXPY."""
    from scipy import sparse
    from tests.release.fits import relaxed

    from discreet.release.fit import duals

    checked = duals.fit_input(given.tree, given.noisy, given.weights, scale=1, total=given.total, allowed=None)
    cells = given.noisy.shape[1]
    weights = np.repeat(given.weights.astype(np.float64), cells)
    top = sparse.coo_array((np.ones(cells), (np.zeros(cells, dtype=int), np.arange(cells))), shape=(1, weights.size))
    equations = sparse.vstack([relaxed.sums(checked), top], format="csc")
    right = np.zeros(equations.shape[0])
    right[-1] = given.total
    return Program(sparse.diags_array(weights, format="csc"), -weights * given.noisy.ravel(), equations, right)


@dataclass(frozen=True, eq=False)
class Solved:
    """A solver's real table, flat, and the CPU seconds it took."""

    table: NDArray[np.float64]
    seconds: float


def direct_seconds(given: Measured) -> dict[str, float]:
    """CPU seconds of the solvers called directly, once each."""
    asked = program(given)
    return {"OSQP": by_osqp(asked).seconds, "CLARABEL": by_clarabel(asked).seconds}


def by_osqp(asked: Program) -> Solved:
    """OSQP's table: set up and solved, its matrices already in the form it takes."""
    import osqp
    from scipy import sparse

    size = asked.linear.size
    rules = sparse.vstack([asked.equations, sparse.eye_array(size)], format="csc")
    low = np.concatenate([asked.right, np.zeros(size)])
    high = np.concatenate([asked.right, np.full(size, np.inf)])
    solver = osqp.OSQP()
    matrices = sparse.csc_matrix(asked.squares), sparse.csc_matrix(rules)
    start = time.process_time()
    solver.setup(matrices[0], asked.linear, matrices[1], low, high, verbose=False)
    solution = np.asarray(solver.solve(raise_error=False).x)
    return Solved(solution, time.process_time() - start)


def by_clarabel(asked: Program) -> Solved:
    """Clarabel's table, likewise."""
    import clarabel
    from scipy import sparse

    size = asked.linear.size
    rules = sparse.csc_matrix(sparse.vstack([asked.equations, -sparse.eye_array(size)], format="csc"))
    right = np.concatenate([asked.right, np.zeros(size)])
    cones = [clarabel.ZeroConeT(asked.right.size), clarabel.NonnegativeConeT(size)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    squares = sparse.csc_matrix(asked.squares)
    start = time.process_time()
    solution = np.asarray(clarabel.DefaultSolver(squares, asked.linear, rules, right, cones, settings).solve().x)
    return Solved(solution, time.process_time() - start)


# --- growth --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Growth:
    """One method on one size: CPU and wall seconds, and the most memory of its process, in bytes: tree, inputs and
    their making, table and work."""

    method: str
    cells: int
    cpu: float
    wall: float
    memory: int
    broken: int


def grown(method: str, levels: tuple[int, ...], cells: int) -> Growth:
    """Measured in a process of its own, compiled code already loaded."""
    code = (
        "import json; from dataclasses import asdict; from benchmarks import release_speed as r;"
        f"print(json.dumps(asdict(r.grown_here({method!r}, {levels!r}, {cells}))))"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return Growth(**json.loads(told.stdout))


def grown_here(method: str, levels: tuple[int, ...], cells: int) -> Growth:
    """One method, once, in this process."""
    tree = made((1, 2, 4), 1)
    getattr(tree, method)()
    given = made(levels, cells)
    start, began = time.process_time(), time.perf_counter()
    table = getattr(given, method)()
    passed, wall, memory = time.process_time() - start, time.perf_counter() - began, peak()
    broken = given.broken(table) if method == "whole" else 0
    return Growth(method, levels[-1] * cells, passed, wall, memory, broken)


def compiling() -> dict[str, float]:
    """CPU seconds of the first fit of a process: with nothing compiled before, and with compiled code on disk."""
    code = (
        "import time; from benchmarks import release_speed as r; given = r.made((1, 2, 4), 1);"
        "start = time.process_time(); given.whole(); print(time.process_time() - start)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        first, second = (
            float(subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT,
                                 env=environment).stdout)
            for _ in range(2)
        )  # fmt: skip
    return {"compiled anew": first, "compiled before": second}


# --- the tables ----------------------------------------------------------------------------------------------------


def report(shapes: tuple[tuple[tuple[int, ...], int], ...] = SHAPES, growth: Any = GROWTH) -> Report:
    """Both tables and what compiling costs."""
    timings = [timed(*shape) for shape in shapes]
    steps = [grown(method, *size) for method in ("real", "whole") for size in growth]
    first = compiling()
    figures = {
        "timings": [asdict(timing) for timing in timings],
        "growth": [asdict(step) for step in steps],
        "compiling": first,
    }
    told = ", ".join(f"{seconds:.1f} s {name}" for name, seconds in first.items())
    note = f"The first fit of a process takes {told} (CPU), which is not in the ratios."
    return Report((_beside(timings), _growing(steps)), figures, (note,))


def _beside(timings: list[Timing]) -> Table:
    aims = (f"OSQP ÷ real {OSQP.text()} (direct)", f"Clarabel ÷ real {CLARABEL.text()} (direct)")
    columns = (
        "leaves × cells",
        "levels",
        "real s",
        "whole s",
        "OSQP s",
        "Clarabel s",
        *aims,
        f"whole ÷ real {WHOLE.text()}",
        "broken: ours, rounded QP",
    )
    rows = []
    for timing in timings:
        large = timing.levels[-1] >= 10**5
        whole = timing.ratio("whole")
        cells = [f"{timing.seconds[name]:.3g}" for name in ("real", "whole", "OSQP", "CLARABEL")]
        for solver, aim in (("OSQP", OSQP), ("CLARABEL", CLARABEL)):
            ratio, direct = timing.ratio(solver), timing.direct_seconds[solver] / timing.seconds["real"]
            cells.append(f"{ratio:.0f} ({direct:.0f}) {verdict(aim if large else None, ratio)}")
        broken = f"{timing.broken['whole']}, {timing.broken['CLARABEL']} of {timing.sums}"
        shape = (f"{timing.levels[-1]:,} × {timing.cells}", str(len(timing.levels)))
        rows.append((*shape, *cells, f"{whole:.1f} {verdict(WHOLE, whole)}", broken))
    meaning = (
        "CPU seconds, medians; the solvers through CVXPY, the aim with them, and in brackets the ratio of a solver "
        "called directly on the same program, once, put together beforehand, at its own default tolerances. "
        "The whole-number table includes the real one."
    )
    return Table("Beside general solvers", meaning, columns, tuple(rows))


def _growing(steps: list[Growth]) -> Table:
    rows = []
    for method in dict.fromkeys(step.method for step in steps):
        own = [step for step in steps if step.method == method]
        for step, before in zip(own, [None, *own], strict=False):
            power = math.log(step.cpu / before.cpu) / math.log(step.cells / before.cells) if before else None
            told = "" if power is None else f"{power:.2f} {verdict(LINEAR, power)}"
            memory = f"{step.memory / MEBIBYTE:.0f} MiB, {step.memory / step.cells:.0f} bytes a cell"
            rows.append(
                (method, f"{step.cells:,}", f"{step.cpu:.3g}", f"{step.wall:.3g}", memory, told, str(step.broken))
            )
    columns = (
        "table",
        "leaves × cells",
        "CPU s",
        "wall s",
        "most memory",
        f"power {LINEAR.text()}",
        "broken sums",
    )
    return Table("From few cells to many", "Each size in a process of its own, compiled before.", columns, tuple(rows))
