"""Repeat a question until its noise averages out, with a ledger and without one.

    fresh noise in each of k answers    the error of their mean is σ/√k, with σ² the variance of the noise
    the same question, with a ledger    the stored answer again: it stays σ for all k
    the budget split over k questions   each has noise of scale k/ε: it grows as √k

Errors are root mean squares.  Least error under ε: for two worlds whose counts are j apart, outputs O and any guess
t(O) between them, ½(E₀|t| + E₁|j − t|) ≥ ½·j·Σ min(P₀(O), P₁(O)) ≥ j/(1 + e^{jε}), and a root mean square is no less
than a mean.  Where N counts in a row are equally likely, p pairs that are j apart hold 2p of them, which leaves 2p/N of
this.  The floor is the greatest over j.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.given import column_of, numbers
from discreet.attack.interval import mean_interval
from discreet.attack.reconstruction.wards import WARDS, answered_counts, question, refusal_beyond, ward_dataset
from discreet.attack.result import RAW, Result
from discreet.bounded import scalar
from discreet.dataset import Dataset
from discreet.errors import bad_private
from discreet.mechanism.additive import laplace
from discreet.ndarrays import Floats
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM
from discreet.plot.attack import Chart, Line

REPEATS = 1_024  # of each question
PER_REPEAT = "1"  # ε of each answer where nobody keeps a ledger
_MOST = 100  # people in a ward
_AGAIN = 20  # how often the ledger is asked the same; all answers have the same bytes


def averaging(answers: Any, truth: Any, *, epsilon: Any = None) -> Result:
    """How far the mean of repeated answers is from the truth.

    `answers` has a row for each question and a column for each repeat, `truth` the exact answer of each question.
    `epsilon` is that of one question with all its repeats together, under add-remove; without it nothing bounds them.

    >>> averaging([[9, 11], [21, 20]], [10, 20.5]).raw
    0.0
    """
    repeated, exact = numbers(answers, "answers", dimensions=2), numbers(truth, "truth", dimensions=1)
    if len(repeated) != exact.size or exact.size < 2:
        raise bad_private("truth", "must hold the exact answer of each of two or more questions", "Give one each.")
    key, errors = column_of(epsilon), means_by_repeats(repeated - exact[:, None])
    line = Line("mean of the first k answers", tuple(map(float, errors)), tuple(map(typical, errors.values())))
    floors = {} if epsilon is None else {key: least_error(float(amounts.epsilon(epsilon)))}
    told = _result({key: errors[max(errors)]}, (line,), floors, repeats=repeated.shape[1])
    return replace(told, of_real_data=True)


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """1,000 wards counted 1,024 times: at ε = 1 each time and charged nowhere, and through a ledger with ε in all."""
    exact = generator(seed).integers(0, _MOST + 1, size=WARDS)
    noise = laplace(scalar(1), PER_REPEAT)(np.zeros((WARDS, REPEATS), dtype=np.int64), SYSTEM)
    unbooked = {count: _in_range(exact + mean) - exact for count, mean in means_by_repeats(noise).items()}
    counts = tuple(map(float, unbooked))
    lines = [Line(f"no ledger, ε = {PER_REPEAT} each", counts, tuple(map(typical, unbooked.values())))]
    columns, refusals = {RAW: unbooked[REPEATS]}, {}
    for epsilon in epsilons:
        with ward_dataset(exact.tolist(), epsilon) as wards:
            answers = _repeated_answers(wards, epsilon)
            refusals[epsilon] = refusal_beyond(wards, question())  # at another ε it would be a new draw
        columns[epsilon] = _in_range(answers.mean(axis=1)) - exact
        error = typical(columns[epsilon])
        lines.append(Line(f"ledger, the same question, ε = {epsilon} in all", counts, (error,) * len(counts)))
        split = tuple(typical(_split_errors(exact, epsilon, int(repeats))) for repeats in counts)
        lines.append(Line(f"ledger, ε = {epsilon} split over k questions", counts, split))
    slope = slope_of(lines[0])
    floors = {epsilon: least_error(float(amounts.epsilon(epsilon)), worlds=_MOST + 1) for epsilon in epsilons}
    return _result(
        columns,
        tuple(lines),
        floors,
        repeats=REPEATS,
        baseline=typical(exact - _MOST / 2),
        slope=slope,
        refusals=refusals,
    )


def means_by_repeats(errors: Any) -> dict[int, Floats]:
    """The mean of the first k errors of each question, for k = 1, 2, 4, … and all of them.

    >>> means_by_repeats(np.array([[1.0, -1.0, 3.0]]))
    {1: array([1.]), 2: array([0.]), 3: array([1.])}
    """
    repeats = errors.shape[1]
    sums = errors.cumsum(axis=1)
    counts = sorted({2**power for power in range(repeats.bit_length())} | {repeats})
    return {count: sums[:, count - 1] / count for count in counts}


def typical(errors: Any) -> float:
    """The root of the mean square.

    >>> typical([3, -3])
    3.0
    """
    return float(np.sqrt(np.square(errors).mean()))


def least_error(epsilon: float, worlds: int | None = None) -> float:
    """max over j of (2p/N)·j/(1 + e^{jε}), of N counts in a row that are equally likely, or of two worlds alone.

    >>> round(least_error(1.0), 4), round(least_error(1.0, worlds=101), 4)
    (0.2689, 0.2663)
    """
    if worlds is None:
        best = 1.2785 / epsilon  # where the continuous maximum lies: e^x·(x − 1) = 1
        steps = {max(1, math.floor(best)), max(1, math.ceil(best))}
        return max(_apart(step, epsilon) for step in steps)
    return max(2 * pairs_apart(step, worlds) / worlds * _apart(step, epsilon) for step in range(1, worlds))


def pairs_apart(step: int, worlds: int) -> int:
    """How many pairs a step apart can be formed of so many worlds in a row, each in one pair at most.

    >>> pairs_apart(1, 5), pairs_apart(3, 5)
    (2, 2)
    """
    length, longer = divmod(worlds, step)  # of the chains of worlds a step apart, of which some have one more
    return longer * ((length + 1) // 2) + (step - longer) * (length // 2)


def _apart(step: int, epsilon: float) -> float:
    return step / (1 + math.exp(min(step * epsilon, 700)))


def slope_of(line: Line) -> float:
    """Least-squares slope of log error against log k."""
    x, y = np.log(line.x), np.log(line.y)
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


def _in_range(counts: Any) -> Floats:
    """What the attacker knows of a ward: it has 0 to 100 people."""
    return np.asarray(np.clip(counts, 0, _MOST), dtype=np.float64)


def _split_errors(exact: Any, epsilon: str, questions: int) -> Floats:
    """Errors of the mean of so many answers at ε/k each, with fresh noise for each ward."""
    mechanism = laplace(scalar(1), amounts.epsilon(epsilon) / questions)
    noise = mechanism(np.zeros((WARDS, questions), dtype=np.int64), SYSTEM)
    return np.asarray(_in_range(exact + noise.mean(axis=1)) - exact)


def _repeated_answers(wards: Dataset, epsilon: str) -> Floats:
    """The answers to the same question at all of ε, again and again: a column for each time."""
    return np.column_stack([answered_counts(wards, question(), epsilon) for _ in range(_AGAIN)])


def _interval(errors: Floats) -> tuple[float, float]:
    low, high = mean_interval(errors**2, least=0)
    return math.sqrt(low), math.sqrt(high)


def _result(
    columns: Mapping[str, Floats],
    lines: tuple[Line, ...],
    floors: Mapping[str, float],
    *,
    repeats: int,
    baseline: float | None = None,
    slope: float | None = None,
    refusals: Mapping[str, str] | None = None,
) -> Result:
    notes = [f"A fresh draw is refused: {said}" for said in (refusals or {}).values()]
    if slope is not None:
        notes.insert(0, f"Without a ledger the error falls as k^{slope:.3f}, with k the number of repeats.")
    return Result(
        name="averaging",
        metric="error of the mean",
        measure=f"root mean square error of a count after {repeats:,} repeats of its question",
        raw=None if RAW not in columns else typical(columns[RAW]),
        private={name: typical(errors) for name, errors in columns.items() if name != RAW},
        baseline=baseline,
        ceiling=floors,
        units="one person, who is counted or not",
        trials=len(next(iter(columns.values()))),
        intervals={name: _interval(errors) for name, errors in columns.items()},
        better="lower",
        without="without a ledger",
        chart=Chart("times k the question was asked", "error of the mean", lines, log_x=True, log_y=True),
        notes=tuple(notes),
        details={
            "slope": slope,
            "curves": {line.name: dict(zip(map(int, line.x), line.y, strict=True)) for line in lines},
        },
    )
