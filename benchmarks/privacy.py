"""What a price costs: a privacy loss distribution of many steps, and the Rényi price of one question.

Prices are cached by value, so every run asks about a slightly different σ or ε that no cache has seen.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from benchmarks.report import Aim, Report, Table, verdict
from benchmarks.start import cpu_and_wall
from discreet.privacy import pld, price
from discreet.privacy.cost import Cost, Exponential, Gaussian, Pure, Repeated, Sampled
from discreet.privacy.flat import atoms_of
from discreet.privacy.renyi import ORDERS
from discreet.privacy.routes import Bound

RUNS = 5
STEPS, RATE, DELTA = 10**4, Fraction(1, 100), Fraction(1, 10**5)
_CALLS = 50  # a price below a millisecond is timed over this many, all different
_ORDER = Fraction(8)
_FIRST = f"""
from discreet.privacy import price
from discreet.privacy.cost import Gaussian, Repeated, Sampled
price.epsilon(Repeated(Sampled("0.01", Gaussian(1)), {STEPS}), "1e-5")
"""


@dataclass(frozen=True)
class Timed:
    """A name, the CPU seconds of each run, and the aim."""

    name: str
    seconds: tuple[float, ...]
    aim: Aim | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def report() -> Report:
    """Medians of runs that take turns."""
    timings = [*_long_training(), *_questions()]
    rows = tuple(
        (t.name, _shown(t.median), "" if t.aim is None else t.aim.text(" s"), verdict(t.aim, t.median)) for t in timings
    )
    meaning = f"CPU seconds, medians of {RUNS}; every run prices a cost that no cache has seen."
    figures = [
        {"price": t.name, "cpu_seconds": t.median, "met": None if t.aim is None else t.aim.met(t.median)}
        for t in timings
    ]
    return Report((Table("Prices", meaning, ("price", "CPU time", "aim", "met"), rows),), figures)


def _long_training() -> list[Timed]:
    """ε at δ = 10⁻⁵ of 10⁴ steps of the sampled Gaussian at rate 0.01, σ = 1."""
    by_loss, whole, first = [], [], []
    pld.epsilon_at(atoms_of(_training(0)), DELTA)  # loads dp-accounting, which `first` counts
    for run in range(1, RUNS + 1):
        by_loss.append(_seconds(lambda n: pld.epsilon_at(atoms_of(_training(n)), DELTA), 2 * run))
        whole.append(_seconds(lambda n: price.epsilon(_training(n), DELTA), 2 * run + 1))
        first.append(cpu_and_wall([sys.executable, "-c", _FIRST])[0])
    what = "ε of 10⁴ sampled Gaussian steps"
    return [
        Timed(f"{what}, privacy loss distribution", tuple(by_loss), Aim(at_most=1)),
        Timed(f"{what}, best of all routes", tuple(whole), Aim(at_most=1)),
        Timed(f"{what}, in a new process, imports included", tuple(first)),
    ]


def _questions() -> list[Timed]:
    """The Rényi price of one question at one order, and at all orders that are tried for an ε."""
    timings: list[Timed] = []
    for name, question in QUESTIONS.items():
        seconds: list[float] = []
        every: list[float] = []
        for run in range(RUNS):
            fresh = range(run * 2 * _CALLS, (run * 2 + 1) * _CALLS)
            seconds.append(statistics.median(_seconds(partial(_renyi, question, (_ORDER,)), n) for n in fresh))
            every.append(_seconds(partial(_renyi, question, ORDERS), fresh.stop))
        timings.append(Timed(f"Rényi, {name}, one order", tuple(seconds), Aim(at_most=0.001)))
        timings.append(Timed(f"Rényi, {name}, all {len(ORDERS)} orders", tuple(every)))
    return timings


def _renyi(question: Callable[[int], Cost], orders: Iterable[Fraction], n: int) -> list[Bound]:
    return [price.renyi(question(n), order) for order in orders]


def _training(n: int) -> Cost:
    return Repeated(Sampled(RATE, Gaussian(1 + Fraction(n, 10**6))), STEPS)


QUESTIONS: dict[str, Callable[[int], Cost]] = {
    "Laplace count": lambda n: Pure(Fraction(1, 10) + Fraction(n, 10**6)),
    "exponential choice": lambda n: Exponential(Fraction(1, 5) + Fraction(n, 10**6)),
    "Gaussian sum": lambda n: Gaussian(4 + Fraction(n, 10**6)),
    "sampled Gaussian": lambda n: Sampled(RATE, Gaussian(2 + Fraction(n, 10**6))),
}


def _seconds(priced: Callable[[int], object], n: int) -> float:
    start = time.process_time()
    priced(n)
    return time.process_time() - start


def _shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1000:.3g} ms"
