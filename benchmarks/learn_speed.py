"""CPU time of fits beside what they stand on: plain GROUP BYs, their own passes, scikit-learn; and how they grow.

    naive Bayes   a fit to a dataset, from plan to stored model, ÷ the very statements that it sends, asked plainly of
                  DuckDB on the same prepared file with as many threads
    additive      a fit to a dataset ÷ its passes alone: the same statements and the same eight sums of kernels by the
                  worker, without plan, gate, noise, ledger and steps
    logistic      a fit to arrays, once its columns are read, ÷ scikit-learn's default solver on the encoded rows

Seconds are of all processes.  `python -m benchmarks.learn_speed growth ROWS ROUNDS` and `… logistic ROUNDS` measure in
this process and print JSON.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import cpu, learn_crowd, learn_data, memory
from benchmarks.environment import ROOT
from benchmarks.learn_data import Rows
from benchmarks.learn_peers import ONE_THREAD
from benchmarks.release_data import folder as data_folder

SIZES = ((10**5, 5), (10**6, 3), (10**7, 1))  # rows, rounds
ROUNDS = 5
_SECOND_LEDGER = "Each run of a benchmark has a ledger of its own; the people are invented."


@dataclass(frozen=True)
class Growth:
    """A model on so many rows: CPU and wall seconds of a fit, CPU seconds of its baseline, the worker's most memory."""

    model: str
    rows: int
    cpu: float
    wall: float
    baseline: float
    memory: int

    @property
    def ratio(self) -> float:
        """The fit in units of its baseline."""
        return self.cpu / self.baseline


@dataclass(frozen=True)
class Logistic:
    """CPU seconds at one ε: reading columns and fitting, ours and scikit-learn's, which is the same at every ε."""

    epsilon: float
    reading: float
    fitting: float
    encoding: float
    solving: float

    @property
    def ratio(self) -> float:
        """Fitting in units of solving."""
        return self.fitting / self.solving


def growth() -> list[Growth]:
    """Each size in a process of its own."""
    return [Growth(**figures) for rows, rounds in SIZES for figures in _apart("growth", rows, rounds)]


def logistic(rounds: int = ROUNDS) -> list[Logistic]:
    """In a process with one thread."""
    return [Logistic(**figures) for figures in _apart("logistic", rounds)]


def _apart(*words: object) -> Any:
    print(f"  {' '.join(map(str, words))} …", file=sys.stderr)
    command = [sys.executable, "-m", "benchmarks.learn_speed", *map(str, words)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | ONE_THREAD)
    return json.loads(told.stdout)


# --- growth on a dataset -------------------------------------------------------------------------------------------


def growth_here(rows: int, rounds: int) -> list[Growth]:
    """Both count models on one table, each with a worker of its own."""
    with tempfile.TemporaryDirectory(prefix="learn-") as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = name  # where ledgers keep their second record
        toml = folder / "crowd.toml"
        toml.write_text(learn_crowd.metadata(learn_crowd.made(rows, folder)))
        with _opened(toml) as preparing:
            preparing.prepare()
        return [_grown(toml, model, rows, rounds) for model in ("NaiveBayes", "AdditiveClassifier")]


def _opened(toml: Path) -> Any:
    from discreet.dataset import open_dataset

    return open_dataset(toml, second_ledger=_SECOND_LEDGER)


def _grown(toml: Path, model: str, rows: int, rounds: int) -> Growth:
    from discreet import learn

    prices = (1 + number / 1000 for number in itertools.count())  # no two alike: nothing is replayed
    with _opened(toml) as dataset:

        def fit() -> None:
            dataset.learn(getattr(learn, model)(), target=learn_crowd.TARGET).fit(epsilon=next(prices), delta="1e-5")

        dataset.prepare()
        with _noted() as noted:
            fit()  # loads what is needed at the first fit
        held = max(map(memory.peak, cpu.descendants(os.getpid())))
        baseline = noted.plainly if model == "NaiveBayes" else noted.passes
        baseline()  # opens and loads likewise
        fits, baselines, walls = [], [], []
        for _ in range(rounds):
            began = time.perf_counter()
            fits.append(_seconds(fit))
            walls.append(time.perf_counter() - began)
            baselines.append(_seconds(baseline))
        noted.close()
    medians = map(statistics.median, (fits, walls, baselines))
    return Growth(model, rows, *medians, held)


def _seconds(work: Callable[[], object]) -> float:
    clock = cpu.Family()
    start = clock()
    work()
    return clock() - start


class _Noted:
    """What a fit asked of its engine, to be asked again."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.sums: list[Callable[[], object]] = []
        self.engine: Any = None
        self._connection: Any = None

    def passes(self) -> None:
        """The same statements and sums by the worker."""
        self.engine.run(self.statements)
        for compute in self.sums:
            compute()

    def plainly(self) -> None:
        """The same statements, asked of the prepared file in this process, which opens it once."""
        import duckdb

        if self._connection is None:
            threads = {"threads": self.engine.limits.threads}
            self._connection = duckdb.connect(str(self.engine.path), read_only=True, config=threads)
        for statement in self.statements:
            self._connection.execute(statement).fetchnumpy()

    def close(self) -> None:
        """Let the prepared file go."""
        if self._connection is not None:
            self._connection.close()


class _noted:
    """A context that notes statements and sums while a fit runs."""

    def __enter__(self) -> _Noted:
        from discreet.engine import Engine
        from discreet.engine.view import FileView

        noted, run, add = _Noted(), Engine.run, FileView.sum

        def run_noted(engine: Any, statements: Any, snapshot: str | None = None) -> Any:
            noted.engine = engine
            noted.statements += statements
            return run(engine, statements, snapshot)

        def sum_noted(view: Any, *arguments: Any, **options: Any) -> Any:
            bounded = add(view, *arguments, **options)
            noted.sums.append(bounded.compute)
            return bounded

        self._patches = [mock.patch.object(Engine, "run", run_noted), mock.patch.object(FileView, "sum", sum_noted)]
        for patch in self._patches:
            patch.start()
        return noted

    def __exit__(self, *_error: object) -> None:
        for patch in self._patches:
            patch.stop()


# --- logistic regression on arrays ---------------------------------------------------------------------------------


def logistic_here(rounds: int, rows: Rows | None = None) -> list[Logistic]:
    """Ours and scikit-learn's in turns, medians."""
    from discreet import learn
    from discreet.learn.input.arrays import ArrayFacts, columns_of, subject_of_arrays

    train = rows or (learn_data.adult()[0] if data_folder() else learn_data.invented(30_000))
    table = dict(train.columns)
    facts = ArrayFacts(train.facts["bounds"], train.facts["values"], train.facts["classes"])
    encoder, solver = _scikit_learn(train)
    frame = _frame(train)
    epsilons = (0.1, 1.0, 10.0)
    taken: dict[Any, list[float]] = {}
    for done in range(rounds + 1):  # the first round is not timed
        works: dict[Any, Callable[[], object]] = {
            "reading": lambda: subject_of_arrays(columns_of(table), train.target, None, facts),
            "encoding": lambda: encoder.fit_transform(frame),
        }
        encoded = encoder.fit_transform(frame)
        works["solving"] = lambda encoded=encoded: solver.fit(encoded, train.positive)  # type: ignore[misc]
        for epsilon in epsilons:
            model = learn.LogisticRegression(epsilon=epsilon, delta=1e-5, **train.facts)
            works[epsilon] = lambda model=model: model.fit(table, train.target)  # type: ignore[misc]
        for name, work in works.items():
            started = time.process_time()
            work()
            if done:
                taken.setdefault(name, []).append(time.process_time() - started)
    median = {name: statistics.median(seconds) for name, seconds in taken.items()}
    return [
        Logistic(epsilon, median["reading"], median[epsilon] - median["reading"], median["encoding"], median["solving"])
        for epsilon in epsilons
    ]


def _scikit_learn(train: Rows) -> tuple[Any, Any]:
    """Its encoder, which makes a sparse table, the faster form here, and its classifier with the default solver."""
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

    values = OneHotEncoder(categories=[list(listed) for listed in train.values.values()])
    parts = [("values", values, list(train.values)), ("numbers", MinMaxScaler(), list(train.bounds))]
    return ColumnTransformer(parts, sparse_threshold=1.0), LogisticRegression(max_iter=2000)


def _frame(train: Rows) -> Any:
    import pandas

    return pandas.DataFrame(dict(train.columns))


if __name__ == "__main__":
    _what, *_numbers = sys.argv[1:]
    _work = growth_here if _what == "growth" else logistic_here
    print(json.dumps([asdict(figures) for figures in _work(*map(int, _numbers))]))  # type: ignore[operator]
