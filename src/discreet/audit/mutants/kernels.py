"""Planted bugs of sums of kernels: rows in place of persons, parts that nobody pays for, norms without the intercept.

The exact numbers come from the kernels themselves, with parameters that the noise was not planned for.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from discreet.audit.kernel_claims import CLASS_MOMENTS, GRAM, LEAVES, SIGMA, SOFTMAX, Persons, bound_of, kernel_sum
from discreet.audit.laws import Number, Numbers
from discreet.audit.mutants.moved import moved_bug
from discreet.audit.mutants.planted import Drawn, Planted, Proven
from discreet.bounded import Sensitivity
from discreet.mechanism import additive
from discreet.privacy.cost import Pure

_NOBODY: Persons = ()
_FAR, _OTHER = (10, 1, 0), (0, 0, 1)
_THREE_ROWS: Persons = ([_FAR, _FAR, _FAR],)


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    yield from _leaves()
    yield from _class_moments()
    yield from _gram()
    wrong = "The slopes of three classes are taken for one slope, within ± 1; their norm reaches √2."
    narrow = bound_of("risk", dict(SOFTMAX) | {"slope": 1})
    yield _sum_bug("pass-softmax-slope-of-one-class", wrong, "risk", SOFTMAX, (_NOBODY, ([_FAR],)), narrow)


def _leaves() -> Iterator[Planted]:
    wrong = "Three rows of a person are counted, and the noise is that of one row."
    yield _leaf_bug("leaves-rows-not-persons", wrong, (_NOBODY, _THREE_ROWS), bound_of("leaves", LEAVES, rows=1))
    wrong = "A row lies in a leaf of each of two trees, and one tree is paid for."
    single = dict(LEAVES) | {"tests": LEAVES["tests"][:1], "sides": LEAVES["sides"][:1]}
    yield _leaf_bug("leaves-one-tree-paid", wrong, (_NOBODY, _THREE_ROWS), bound_of("leaves", single))
    wrong = "A person leaves a leaf of every tree and enters another; the noise is that of add-remove."
    replaced = (_THREE_ROWS, ([_OTHER] * 3,))
    yield _leaf_bug("leaves-replace-one-as-add-remove", wrong, replaced, bound_of("leaves", LEAVES))


def _class_moments() -> Iterator[Planted]:
    wrong = "Squares of numbers are released beside their sums, and nobody pays for them."
    numbers = dict(CLASS_MOMENTS) | {"features": [{"low": 0, "high": 10}, {"low": 0, "high": 1}], "rows": 1}
    without_squares = dict(CLASS_MOMENTS) | {"features": [{"size": 2}, {"size": 2}], "rows": 1}
    entered: tuple[Persons, Persons] = (_NOBODY, ([_FAR],))
    unpaid = bound_of("class_moments", without_squares)
    yield _sum_bug("class-moments-squares-unpaid", wrong, "class_moments", numbers, entered, unpaid)
    wrong = "Three rows of a person are added up, and the noise is that of one row."
    narrow = bound_of("class_moments", CLASS_MOMENTS, rows=1)
    entered = (_NOBODY, _THREE_ROWS)
    yield _sum_bug("class-moments-rows-not-persons", wrong, "class_moments", CLASS_MOMENTS, entered, narrow)
    wrong = "A person leaves one class and enters another; the noise is that of add-remove."
    replaced = (_THREE_ROWS, ([_OTHER] * 3,))
    narrow = bound_of("class_moments", CLASS_MOMENTS)
    name = "class-moments-replace-one-as-add-remove"
    yield _sum_bug(name, wrong, "class_moments", CLASS_MOMENTS, replaced, narrow)


def _gram() -> Iterator[Planted]:
    wrong = "A row is clipped to its norm without the intercept, which is 1 as well."
    unclipped, clipped = (dict(GRAM) | {"norm": norm} for norm in (Fraction(2), Fraction(7, 5)))
    entered: tuple[Persons, Persons] = (_NOBODY, ([(10, 1, 10)],))
    yield _sum_bug("gram-intercept-outside-norm", wrong, "gram", unclipped, entered, bound_of("gram", clipped))
    wrong = "Each of three rows of a person counts as a person of its own."
    as_persons: Persons = [[(10, 1, 10)]] * 3
    yield _sum_bug("gram-rows-not-persons", wrong, "gram", GRAM, (_NOBODY, as_persons), bound_of("gram", GRAM))
    wrong = "The target's moments are released times 14 and paid for as if times 1."
    own = bound_of("gram", dict(GRAM) | {"balance": 1})
    heavy = dict(GRAM) | {"balance": 14}
    yield _sum_bug("gram-answers-unpaid", wrong, "gram", heavy, entered, own)


def _leaf_bug(name: str, wrong: str, tables: tuple[Persons, Persons], paid: Sensitivity) -> Proven:
    """Counts by leaf with Laplace noise for another sensitivity than theirs."""
    noise = additive.laplace(paid, 1).noise
    first, second = (kernel_sum("leaves", LEAVES, table) for table in tables)

    def law(exact: Any) -> Numbers:
        return tuple(Number(noise, value) for value in exact)

    return Proven(name, wrong, Pure(Fraction(1)), [(first, second)], law)


def _sum_bug(
    name: str,
    wrong: str,
    kernel: str,
    public: Mapping[str, Any],
    tables: tuple[Persons, Persons],
    paid: Sensitivity,
) -> Drawn:
    """A sum with Gaussian noise for another sensitivity than its own."""
    first, second = (kernel_sum(kernel, public, table) for table in tables)
    return moved_bug(name, wrong, (first, second), additive.gaussian_share(paid, SIGMA, Fraction(1)))
