"""Starts within one second: a reference and two more, on neighbours."""

import shlex
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.audit.bounds import ALPHA, Odds
from discreet.audit.clock import Clock
from discreet.audit.command import Command, command_of
from discreet.audit.sameness import TESTS_ALPHA, Second, Short, findings_of_a_second, starts_of_a_second
from discreet.ndarrays import Floats
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM

TABLES = (Path("without.csv"), Path("with.csv"))
CLAIM = Odds(Fraction(1))


def draws(exact: int) -> Floats:
    return np.asarray(exact + DiscreteLaplace(Fraction(1)).draw(2_000, SYSTEM), dtype=np.float64)


def program(text: str) -> Command:
    return command_of(f"{shlex.quote(sys.executable)} -c {shlex.quote(text)} {{table}} {{repeats}}")


def test_the_same_noise_on_neighbours_is_refuted_and_fresh_noise_is_not() -> None:
    """A true claim falls at most once in 10⁶ audits."""
    fresh = [Second(draws(0), draws(0), draws(1)) for _ in range(2)]
    assert not any(finding.is_refuted for finding in findings_of_a_second(CLAIM, fresh, "a.csv"))
    noise = [draws(0) for _ in range(2)]
    clocked = [Second(same, same, same + 1) for same in noise]
    worst = max(findings_of_a_second(CLAIM, clocked, "a.csv"), key=lambda finding: finding.excess)
    assert worst.is_refuted
    assert str(worst.event) == "y repeats an earlier start on a.csv in the same second"


def test_all_tests_together_take_the_whole_level() -> None:
    assert 2 * TESTS_ALPHA + len(findings_of_a_second(CLAIM, [Second(*[draws(0)] * 3)] * 2, "")) * TESTS_ALPHA == ALPHA


def test_both_rounds_lie_in_a_second_each() -> None:
    clock = program("import sys, time; print(f'{int(time.time())}\\n' * int(sys.argv[2]), end='')")
    rounds = starts_of_a_second(clock, TABLES, Short.of(0.05, 0.01, 5), Clock(60, time.monotonic()))
    assert len(rounds) == 2
    assert all(np.array_equal(second.reference, second.first) for second in rounds)
    assert [len(second.second) for second in rounds] == [5, 5]


def test_too_little_time_and_a_failing_start_leave_them_out() -> None:
    right = program("import sys; print('1\\n' * int(sys.argv[2]), end='')")
    assert starts_of_a_second(right, TABLES, Short(5, 0.1), Clock(2, time.monotonic())) == []
    wrong = program("raise SystemExit(3)")
    assert starts_of_a_second(wrong, TABLES, Short(5, 0.1), Clock(60, time.monotonic())) == []
    assert findings_of_a_second(CLAIM, [], "a.csv") == []
