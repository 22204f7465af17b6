"""Rebuild secret bits from sums over random subsets of them (Dinur & Nissim 2003).

    answers  y_i = Σ_j A_ij·x_j + e_i        A an m × n matrix of 0 and 1, x the n secret bits, e the errors
    linear programming                       min Σ_i |A_i·x − y_i| over 0 ≤ x_j ≤ 1, then each x_j rounded
    least squares                            min Σ_i (A_i·x − y_i)² over all real x, then each x_j rounded

Errors of o(√n) leave almost every bit to whoever asks n·log²n such sums: smaller errors do not protect, and errors of
the order √n need not.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.ceiling import guess_of_bit
from discreet.attack.given import bits, column_of, numbers
from discreet.attack.interval import mean_interval, share_interval
from discreet.attack.result import RAW, Result
from discreet.bounded import cells
from discreet.errors import bad_private
from discreet.mechanism.additive import laplace
from discreet.ndarrays import Bools, Floats, Ints
from discreet.noise.public import Generator, generator
from discreet.noise.source import SYSTEM
from discreet.plot.attack import Chart, Line
from discreet.relation import Relation

PEOPLE, SUMS, TRIALS = 128, 512, 20
METHODS = ("linear programming", "least squares")
_ERRORS = {"± √n/4": 0.25, "± √n": 1.0}  # of each answer, uniform, in units of √n
_MOST_CELLS = 4_000_000
_UNITS = "one person's bit, which is replaced"


def subset_sums(subsets: Any, answers: Any, secret: Any, *, epsilon: Any = None, delta: Any = 0) -> Result:
    """How many of the secret bits follow from these sums, by the better of both methods.

    `subsets` has a row of 0 and 1 for each answer, and `secret` is the truth, to compare with.  `epsilon` and `delta`
    are those of all answers together, under replace-one; without them the answers count as published without noise.

    >>> subset_sums([[1, 0], [1, 1]], [1, 1], [1, 0]).raw
    1.0
    """
    chosen = numbers(subsets, "subsets", dimensions=2)
    if not np.isin(chosen, (0, 1)).all() or chosen.size > _MOST_CELLS:
        rule = f"must be at most {_MOST_CELLS:,} values, each 0 or 1"
        raise bad_private("subsets", rule, "Write 1 for each person that a sum is about.")
    sums = numbers(answers, "answers", dimensions=1)
    if sums.size != len(chosen):
        raise bad_private("answers", "must be as many as subsets", "Give one answer for each row of subsets.")
    truth = bits(secret, "secret", length=chosen.shape[1])
    key = column_of(epsilon)
    total_delta = float(amounts.delta(delta, ceiling=Fraction(1, 2)))
    shares = np.array([[(guess == truth).mean() for guess in guesses(chosen, sums)]])
    best = round(float(shares.max()) * truth.size)
    ends = {key: share_interval(best, truth.size)}
    told = _result({key: shares}, truth.size, len(sums), delta=total_delta, share=float(truth.mean()), ends=ends)
    return replace(told, of_real_data=True)


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """128 invented bits, 512 sums: exact, with errors of ± √n/4 and ± √n, and with Laplace noise at each ε in all."""
    chance = generator(seed)
    columns = {RAW: np.zeros((TRIALS, 2))}
    columns |= {name: np.zeros((TRIALS, 2)) for name in (*_ERRORS, *epsilons)}
    for trial in range(TRIALS):
        chosen = chance.integers(0, 2, size=(SUMS, PEOPLE))
        secret = chance.integers(0, 2, size=PEOPLE) == 1
        exact = chosen @ secret
        for name, answers in _published_sums(exact, epsilons, chance).items():
            columns[name][trial] = [(guess == secret).mean() for guess in guesses(chosen, answers)]
    return _result(columns, PEOPLE, SUMS, delta=0.0, share=0.5, ends={})


def guesses(subsets: Any, answers: Floats) -> tuple[Bools, Bools]:
    """The bits by linear programming, and by least squares."""
    return rounded_program(subsets, answers), rounded_squares(subsets, answers)


def rounded_program(subsets: Any, answers: Floats) -> Bools:
    """Whether x_j ≥ ½ where x in the unit cube minimises Σ|A·x − y|: the program A·x − u + v = y, min Σ(u + v)."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, eye_array, hstack

    sums, people = np.shape(subsets)
    largest = np.asarray(subsets, dtype=np.float64).sum(axis=1)
    answers = np.clip(answers, 0, largest)  # beyond what a sum can be, |A·x − y| changes by a constant alone
    identity = eye_array(sums)
    optimum = linprog(
        np.concatenate([np.zeros(people), np.ones(2 * sums)]),
        A_eq=hstack([csc_array(np.asarray(subsets, dtype=np.float64)), -identity, identity], format="csc"),
        b_eq=answers,
        bounds=[(0, 1)] * people + [(0, None)] * (2 * sums),
        method="highs",
    )
    weights = np.asarray(optimum.x, dtype=np.float64)  # never None: x = 0 is feasible, and the sum is at least 0
    return np.asarray(weights[:people] >= 0.5)


def rounded_squares(subsets: Any, answers: Floats) -> Bools:
    """Whether x_j ≥ ½ where x minimises ‖A·x − y‖²; of several such x, the shortest."""
    weights = np.linalg.lstsq(np.asarray(subsets, dtype=np.float64), answers, rcond=None)[0]
    return np.asarray(weights >= 0.5)


def _published_sums(exact: Ints, epsilons: tuple[str, ...], chance: Generator) -> dict[str, Floats]:
    """The same sums as each column publishes them."""
    published = {RAW: exact.astype(np.float64)}
    for name, share in _ERRORS.items():
        bound = share * PEOPLE**0.5
        published[name] = exact + chance.uniform(-bound, bound, size=exact.size)
    for epsilon in epsilons:
        mechanism = laplace(cells(exact.size, 1, Relation.REPLACE_ONE), epsilon)  # one bit moves each sum by at most 1
        published[epsilon] = mechanism(exact, SYSTEM).astype(np.float64)
    return published


def _result(
    columns: Mapping[str, Floats],
    people: int,
    sums: int,
    *,
    delta: float,
    share: float,
    ends: Mapping[str, tuple[float, float]],
) -> Result:
    """The result from the shares of bits by column, trial and method; the method is chosen once for a column.

    `share` is that of ones among the secret bits, by the law that they are drawn by or as they are.
    """
    means = {name: shares.mean(axis=0) for name, shares in columns.items()}
    best = {name: int(mean.argmax()) for name, mean in means.items()}
    reported = [name for name in columns if name not in _ERRORS]
    intervals = dict(ends) or {name: mean_interval(columns[name][:, best[name]], greatest=1) for name in reported}
    by_name = {name: dict(zip(METHODS, map(float, mean), strict=True)) for name, mean in means.items()}
    private = {name: float(means[name].max()) for name in reported if name != RAW}
    ceiling = {epsilon: guess_of_bit(float(amounts.epsilon(epsilon)), delta, share=share) for epsilon in private}
    return Result(
        name="subset_sums",
        metric="bits recovered",
        measure=f"share of {people} secret bits that follow from {sums} sums over subsets",
        raw=None if RAW not in means else float(means[RAW].max()),
        private=private,
        baseline=max(share, 1 - share),
        ceiling=ceiling,
        units=_UNITS,
        trials=len(next(iter(columns.values()))),
        intervals=intervals,
        chart=_chart(by_name, ceiling) if len(columns) > 1 else None,
        notes=tuple(f"Answers with errors of {name}: {means[name].max():.3f}." for name in _ERRORS if name in means),
        details={"people": people, "sums": sums, "by_method": by_name},
    )


def _chart(by_name: Mapping[str, Mapping[str, float]], ceiling: Mapping[str, float]) -> Chart:
    """Both methods by column, and the ceilings."""
    places = {name: float(place) for place, name in enumerate(by_name)}
    lines = [
        Line(method, tuple(places.values()), tuple(by_name[name][method] for name in places)) for method in METHODS
    ]
    lines.append(Line("ceiling", tuple(places[name] for name in ceiling), tuple(ceiling.values())))
    marks = tuple("exact" if name == RAW else name if name in _ERRORS else f"ε = {name}" for name in places)
    return Chart("answers", "share of bits recovered", tuple(lines), marks=marks)
