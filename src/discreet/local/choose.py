"""The protocol with the shortest report that errs within 2 % of the least, for an ε and so many values, and why.

    n·(variance by noise), averaged over the k values  =  q(1 − q)/(p − q)² + (1 − p − q)/(k(p − q))

whatever the true shares are, since they add up to 1.  Among the protocols within 2 % of the least, the one with the
shortest report is taken.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

from discreet.errors import BadValue, bad
from discreet.local.code import ValueCode, mean_noise
from discreet.local.field import digits_of, orders
from discreet.local.hashing_code import LARGEST_CELLS, hashed_code
from discreet.local.response_code import response_code
from discreet.local.subset_code import SubsetCode, subset_code
from discreet.local.unary_code import unary_code

TOLERANCE = Fraction(102, 100)
_BUILDERS: dict[str, Callable[[Fraction, int], ValueCode]] = {
    "k-ary": response_code,
    "subset": subset_code,
    "unary": unary_code,
}


def best_code(epsilon: Fraction, size: int, max_bytes: int | None) -> tuple[str, ValueCode, str]:
    """The name of the best protocol, its code and why."""
    fitting = [(name, code) for name, code in _candidates(epsilon, size) if _fits(code, max_bytes)]
    if not fitting:
        rule = f"must have room for a report about {size:,} values"
        raise bad("max_bytes", rule, max_bytes, "Give a number such as 4, or leave it out.")
    least = min(mean_noise(code) for _, code in fitting)
    close = [(name, code) for name, code in fitting if mean_noise(code) <= TOLERANCE * least]
    name, code = min(close, key=lambda pair: (pair[1].report_bytes, mean_noise(pair[1])))
    return name, code, _reason(name, code, fitting, max_bytes)


@lru_cache(256)
def best_order(epsilon: Fraction, size: int) -> int:
    """The order of the field whose linear hashing errs least."""
    return min(_orders(size), key=lambda order: mean_noise(hashed_code(epsilon, size, order)))


def _candidates(epsilon: Fraction, size: int) -> Iterator[tuple[str, ValueCode]]:
    for name, build in _BUILDERS.items():
        try:
            code = build(epsilon, size)
        except BadValue:  # ε is too small for so many values in 32 bits, or they are too many for sets
            continue
        if not isinstance(code, SubsetCode) or code.chosen > 1:  # a set of one value is k-ary response
            yield name, code
    for order in _orders(size):
        yield "hashed", hashed_code(epsilon, size, order)


def _orders(size: int) -> list[int]:
    return [order for order in orders() if order ** (digits_of(order, size) + 1) <= LARGEST_CELLS]


def _fits(code: ValueCode, max_bytes: int | None) -> bool:
    return max_bytes is None or code.report_bytes <= max_bytes


def _reason(name: str, code: ValueCode, fitting: list[tuple[str, ValueCode]], max_bytes: int | None) -> str:
    """Why that one, with the error of each in standard deviations of a share for a report."""
    spread: dict[str, Fraction] = {}
    for rival, other in fitting:
        spread[rival] = min(spread.get(rival, mean_noise(other)), mean_noise(other))
    listed = ", ".join(
        f"{rival} {float(noise) ** 0.5:.3g}" for rival, noise in sorted(spread.items(), key=lambda x: x[1])
    )
    room = "" if max_bytes is None else f" with at most {max_bytes} bytes"
    plural = "byte" if code.report_bytes == 1 else "bytes"
    return (
        f"{name} has the shortest report ({code.report_bytes} {plural}) among those{room} whose variance is within 2 % "
        f"of the least; standard error of a share times √n by noise: {listed}."
    )
