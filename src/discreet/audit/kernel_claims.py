"""Claims of the noise on sums of kernels, as models are fitted to them; inputs are what the kernel itself gives.

A table is a list of persons, a person a list of rows, a row its cells with the answer last.  Pairs are one person more:
alone, beside others, at the ends of the ranges, and with three rows; or one person in the place of another.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.claim import Claim
from discreet.audit.trial import Pair
from discreet.bounded import RowLimit, Sensitivity
from discreet.kernel.contract import kernel_of
from discreet.kernel.rows import UnitRows
from discreet.mechanism import additive
from discreet.mechanism.vectors import vectors
from discreet.relation import Relation

Cells = tuple[float, ...]
Persons = Sequence[Sequence[Cells]]
SIGMA = Fraction(1)
_WIDE = 4_000  # runs of kernels with many numbers

LOGISTIC: Mapping[str, Any] = {
    "loss": "logistic",
    "features": [{"low": 0, "high": 10}, {"size": 2}],
    "target": {"size": 2},
    "weights": np.array([2**22, 2**22, 0, 2**22]),  # slopes near 1
    "centre": np.array([0, 100, 512, 512]),
    "norm": Fraction(5, 4),
    "rows": 3,
}
SOFTMAX: Mapping[str, Any] = {  # two features by their cells, which are looked up together, and three classes
    "loss": "softmax",
    "features": [{"edges": [0, 5, 10]}, {"size": 2}],
    "target": {"size": 3},
    "weights": np.array([*[0] * 10, 2**24, *[0] * 4]),  # every row is surely of the third class
    "norm": Fraction(5, 4),
    "rows": 3,
}
LEAVES: Mapping[str, Any] = {  # two trees of two tests each
    "features": [{"edges": [0, 5, 10]}, {"size": 2}],
    "target": {"size": 2},
    "tests": np.array([[0, 1], [1, 0]]),
    "sides": np.array([[[0, 1, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]]]),
    "rows": 3,
}
CLASS_MOMENTS: Mapping[str, Any] = {
    "features": [{"low": 0, "high": 10}, {"size": 2}],
    "target": {"size": 2},
    "rows": 3,
}
GRAM: Mapping[str, Any] = {
    "features": [{"low": 0, "high": 10}, {"size": 2}],
    "target": {"low": 0, "high": 10},
    "norm": Fraction(3, 2),
    "balance": 7,
    "rows": 3,
}
_PERSON, _OTHER, _FAR = (5, 0, 0), (0, 1, 1), (10, 1, 0)
_ENTERED: tuple[tuple[Persons, Sequence[Cells]], ...] = (
    ((), [_FAR]),
    (([_PERSON], [_OTHER]), [_FAR]),
    (([_FAR], [_FAR]), [_OTHER]),
    (([_PERSON],), [_FAR, _FAR, _FAR]),
)
_REPLACED = (([_FAR], [_OTHER]), ([_PERSON], [_FAR]), ([_FAR] * 3, [_OTHER] * 3))


def family() -> Iterator[Claim]:
    """All claims of this module."""
    noise = additive.gaussian_share(bound_of("risk", LOGISTIC), Fraction(1, 2), Fraction(1, 4))
    yield Claim("gradient-pass", additive.gaussian_share, noise, _entry_pairs("risk", LOGISTIC))
    noise = additive.gaussian_share(bound_of("risk", SOFTMAX), SIGMA, Fraction(1))
    yield Claim("gradient-pass-softmax", additive.gaussian_share, noise, _entry_pairs("risk", SOFTMAX), (), _WIDE)
    yield from _leaves()
    for kernel, public in (("class_moments", CLASS_MOMENTS), ("gram", GRAM)):
        name = kernel.replace("_", "-")
        laplace = additive.laplace(bound_of(kernel, public), 1)
        yield Claim(f"{name}-laplace", additive.laplace, laplace, _entry_pairs(kernel, public), (), _WIDE)
        noise = additive.gaussian_share(bound_of(kernel, public), SIGMA, Fraction(1))
        yield Claim(f"{name}-gaussian", additive.gaussian_share, noise, _entry_pairs(kernel, public), (), _WIDE)
        noise = additive.gaussian_share(bound_of(kernel, public, Relation.REPLACE_ONE), SIGMA, Fraction(1))
        pairs = _replacement_pairs(kernel, public)
        yield Claim(f"{name}-gaussian-replace-one", additive.gaussian_share, noise, pairs, (), _WIDE)


def _leaves() -> Iterator[Claim]:
    """Counts move by few whole numbers, so their laws are short."""
    moves = {
        Relation.ADD_REMOVE: _entry_pairs("leaves", LEAVES),
        Relation.REPLACE_ONE: _replacement_pairs("leaves", LEAVES),
    }
    for relation, plain_pairs in moves.items():
        pairs = tuple(((first,), (second,)) for first, second in plain_pairs)
        own, ending = bound_of("leaves", LEAVES, relation), "" if relation is Relation.ADD_REMOVE else "-replace-one"
        laplace = vectors({"leaves": additive.laplace(own, 1)})
        yield Claim(f"leaves-laplace{ending}", vectors, laplace, pairs, pairs, _WIDE)
        gaussian = vectors({"leaves": additive.gaussian_share(own, SIGMA, Fraction(1))})
        yield Claim(f"leaves-gaussian{ending}", vectors, gaussian, pairs, pairs, _WIDE)


def bound_of(
    kernel: str, public: Mapping[str, Any], relation: Relation = Relation.ADD_REMOVE, rows: int = 3
) -> Sensitivity:
    """How far one person of at most so many rows moves the sum, by the kernel's own formula."""
    return kernel_of(kernel).sensitivity(public, RowLimit(rows, relation))


def kernel_sum(kernel: str, public: Mapping[str, Any], persons: Persons) -> tuple[int, ...]:
    """What the kernel gives on these persons' rows."""
    rows = [row for person in persons for row in person]
    starts = np.cumsum([0, *map(len, persons)])[: len(persons)].astype(np.int64)
    kinds = [np.int64 if "size" in described else np.float64 for described in (*public["features"], public["target"])]
    columns = {f"x{place}": np.array([row[place] for row in rows], kind) for place, kind in enumerate(kinds)}
    return tuple(kernel_of(kernel)(UnitRows(columns, starts, len(rows)), public).tolist())


def _entry_pairs(kernel: str, public: Mapping[str, Any]) -> tuple[Pair, ...]:
    return tuple(
        (kernel_sum(kernel, public, persons), kernel_sum(kernel, public, [*persons, new])) for persons, new in _ENTERED
    )


def _replacement_pairs(kernel: str, public: Mapping[str, Any]) -> tuple[Pair, ...]:
    sums = [[kernel_sum(kernel, public, [[_PERSON], person]) for person in pair] for pair in _REPLACED]
    return tuple((first, second) for first, second in sums)
