"""Sentences about results; a private stamp where the rows are real."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.attack.result import Result

STAMP = "PRIVATE: a success rate is a function of rows. It is the curator's alone and must not be published."
_EXACT = 1e15  # whole numbers from here on have digits that a double rounds
_FAILED = "That this attack failed does not say that another would."
_ONE_RELEASE = "hold for any attacker against one release at that ε; what else was published about a person adds up."


def number(value: float | None) -> str:
    """Three significant digits, or a whole number that a double still holds, thousands apart; — where there is none.

    >>> number(0.97312), number(1455389376.0), number(1e-12), number(75455088718862424), number(None), number(math.inf)
    ('0.973', '1,455,389,376', '1e-12', '7.55e16', '—', '∞')
    """
    if value is None:
        return "—"
    if math.isinf(value):
        return "∞"
    if abs(value) >= _EXACT:
        return powers(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def powers(value: float) -> str:
    """Three significant digits with a power of ten where it is large.

    >>> powers(7.5455e16), powers(12345678), powers(123)
    ('7.55e16', '1.23e7', '123')
    """
    return f"{value:.3g}".replace("e+0", "e").replace("e+", "e")


def with_interval(result: "Result", key: str, value: float | None) -> str:
    """The number with the ends of its interval, where it has one.

    The ends are what `intervals_are` says, over the attack's own trials.
    """
    ends = result.intervals.get(key)
    return number(value) if ends is None else f"{number(value)} ({number(ends[0])} to {number(ends[1])})"


def counted(number: int, noun: str) -> str:
    """The number with its noun in the singular or plural.

    >>> counted(1, "table"), counted(1200, "person")
    ('1 table', '1,200 persons')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def sentence(result: "Result") -> str:
    """The result in words, behind the stamp where it has rows of somebody's own."""
    return f"{STAMP} {comparison(result)}" if result.of_real_data else comparison(result)


def comparison(result: "Result") -> str:
    """What was achieved raw and under each ε, beside blind guessing and the ceiling."""
    clauses = [f"{result.measure[:1].upper()}{result.measure[1:]}"]
    parts = [] if result.raw is None else [f"{number(result.raw)} {result.without}"]
    for epsilon, value in result.private.items():
        ceiling = result.ceiling.get(epsilon)
        bound = "" if ceiling is None else f" (at {'most' if result.better == 'higher' else 'least'} {number(ceiling)})"
        parts.append(f"{number(value)} at ε = {epsilon}{bound}")
    if not parts:  # of one's own data, without the truth to compare with
        parts.append("not measured, as the truth was not given")
    if result.baseline is not None:
        parts.append(f"{number(result.baseline)} by blind guessing")
    text = f"{clauses[0]}: {', '.join(parts)}."
    if result.raw is None and not result.private:
        text += " What was recovered stands in the details."
    nothing = [epsilon for epsilon in result.private if not beats_guessing(result, epsilon)]
    if result.baseline is not None and nothing:
        text += f" At ε = {', '.join(nothing)} the attack found nothing above blind guessing."
    beyond = [epsilon for epsilon in result.private if is_beyond(result, epsilon)]
    if beyond:
        reason = "chance, in one of 40 runs, or a wrong claim"
        text += f" At ε = {', '.join(beyond)} its whole interval is beyond the ceiling: {reason}."
    return text


def is_beyond(result: "Result", key: str) -> bool:
    """Whether the interval lies beyond what the promise allows any attacker, so that the promise does not hold."""
    ends, ceiling = result.intervals.get(key), result.ceiling.get(key)
    if ends is None or ceiling is None or not result.bounds_any_attacker:
        return False
    return ends[0] > ceiling if result.better == "higher" else ends[1] < ceiling


def beats_guessing(result: "Result", key: str) -> bool:
    """Whether the attack's interval, or its number where there is none, lies beyond blind guessing."""
    value = result.raw if key == "raw" else result.private[key]
    if result.baseline is None or value is None:
        return True
    low, high = result.intervals.get(key, (value, value))
    return low > result.baseline if result.better == "higher" else high < result.baseline


def alt_text(result: "Result") -> str:
    """The description of the picture for who cannot see it."""
    return f"{result.sentence} {_bounds(result)} are for {result.units}." if is_bounded(result) else result.sentence


def caption(result: "Result") -> str:
    """What stands under the picture."""
    stamp = "PRIVATE, for the curator alone. " if result.of_real_data else ""
    about = f"{_bounds(result)} are for {result.units}; " if _draws_bounds(result) else ""
    return f"{stamp}{about}{counted(result.trials, 'trial')}."


def caveats(result: "Result") -> list[str]:
    """What its numbers do not say: where it failed, and where they are bounded for any attacker."""
    keys = [*([] if result.raw is None else ["raw"]), *result.private]
    failed = [] if all(beats_guessing(result, key) for key in keys) else [_FAILED]
    return [*failed, f"{_bounds(result)} {_ONE_RELEASE}"] if _bounds_anybody(result) else failed


def is_bounded(result: "Result") -> bool:
    """Whether the promise bounds the attack at some ε."""
    return any(ceiling is not None for ceiling in result.ceiling.values())


def _draws_bounds(result: "Result") -> bool:
    """Whether the picture shows bounds: columns do, and curves where one of them is the ceilings or floors."""
    bounds = ("ceiling", "floor")
    lines = None if result.chart is None else [line.name for line in result.chart.lines]
    return is_bounded(result) and (lines is None or any(word in name for name in lines for word in bounds))


def _bounds_anybody(result: "Result") -> bool:
    return is_bounded(result) and result.bounds_any_attacker


def _bounds(result: "Result") -> str:
    return "Ceilings" if result.better == "higher" else "Floors"
