"""The constructors of protocols: what `dp.local` offers."""

from typing import Any

from discreet import amounts
from discreet.local.choose import best_code, best_order
from discreet.local.hashing_code import hashed_code
from discreet.local.number_protocol import NumberProtocol, number_protocol
from discreet.local.protocol import YES_NO, ValueProtocol, values_of
from discreet.local.response_code import response_code, two_fair_coins
from discreet.local.subset_code import subset_code
from discreet.local.unary_code import unary_code

_MOST_BITS = 2**16


def two_coins() -> ValueProtocol:
    """The lectures' survey: heads, the truth; tails, what a second fair coin says.  ε = ln 3.

    >>> p = two_coins()
    >>> {report[0]: str(chance) for report, chance in p.law("yes").items()}
    {0: '1/4', 1: '3/4'}
    """
    return ValueProtocol("two coins", YES_NO, two_fair_coins(), "Two fair coins, as people can toss them by hand.")


def binary(epsilon: Any) -> ValueProtocol:
    """A yes or no at any ε: the truth with probability e^ε/(1 + e^ε).

    >>> round(float(binary(1).code.truth), 4)
    0.7311
    """
    return ValueProtocol("binary", YES_NO, response_code(amounts.epsilon(epsilon), 2), "Two values have no better way.")


def kary(epsilon: Any, values: Any) -> ValueProtocol:
    """One of k values, or another: errs less than hashing where k is below about 3e^ε + 2; sets take over earlier.

    >>> kary(1, ["red", "green", "blue"]).report_bytes
    1
    """
    listed = values_of(values)
    code = response_code(amounts.epsilon(epsilon), len(listed))
    return ValueProtocol("k-ary", listed, code, "A report is a value, so it is short; its error grows with √k.")


def hashed(epsilon: Any, values: Any, field: Any = None) -> ValueProtocol:
    """A seed and a symbol of GF(field): short reports for many values; without `field` the order that errs least.

    >>> p = hashed(1, 1024)
    >>> p.code.order, p.code.outputs, p.report_bytes
    (4, 4096, 2)
    """
    listed, bound = values_of(values), amounts.epsilon(epsilon)
    order = best_order(bound, len(listed)) if field is None else amounts.count(field, "field", 2, 256)
    code = hashed_code(bound, len(listed), order)
    why = f"A report is a seed and a symbol of GF({order}): up to 10⁵ values its error hardly grows."
    return ValueProtocol("hashed", listed, code, why)


def subset(epsilon: Any, values: Any) -> ValueProtocol:
    """A set of values that holds the true one more often than any other: errs least here for up to 256 values.

    >>> p = subset(1, 12)
    >>> p.code.chosen, p.report_bytes
    (3, 2)
    """
    listed = values_of(values)
    code = subset_code(amounts.epsilon(epsilon), len(listed))
    why = f"A report is a set of {code.chosen} of {len(listed)} values: for many people none has a smaller worst error."
    return ValueProtocol("subset", listed, code, why)


def unary(epsilon: Any, values: Any) -> ValueProtocol:
    """A bit for each value, the form of RAPPOR with the better bits: as accurate as hashing, but k bits long."""
    listed = values_of(values)
    amounts.count(len(listed), "values", 2, _MOST_BITS)
    code = unary_code(amounts.epsilon(epsilon), len(listed))
    return ValueProtocol("unary", listed, code, "A report has a bit for each value, so it is long and easy to read.")


def number(epsilon: Any, low: Any, high: Any, step: Any, protects: str = "person") -> NumberProtocol:
    """A number in [low, high]; `protects` the "person" or one "use", which is a step.

    >>> number(1, 0, 24, 1).report_bytes
    1
    """
    return number_protocol(epsilon, low, high, step, protects)


def auto(epsilon: Any, values: Any, max_bytes: Any = None) -> ValueProtocol:
    """The shortest report that errs within 2 % of the least for so many values; `why` says how it was chosen.

    >>> auto(1, 3).name, auto(1, 12).name, auto(1, 1024).name
    ('k-ary', 'subset', 'hashed')
    """
    listed, bound = values_of(values), amounts.epsilon(epsilon)
    room = None if max_bytes is None else amounts.count(max_bytes, "max_bytes", 1)
    name, code, why = best_code(bound, len(listed), room)
    return ValueProtocol(name, listed, code, why)
