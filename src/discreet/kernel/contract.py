"""What a kernel is, which there are, and what may be sent to one.

A kernel is Σ over units of a function of that unit's rows and of public parameters, in whole lattice steps.
The function must not see where in a chunk its unit lies, nor what lies beside it: with sums in another order, or by a
library that treats the last rows of a block apart, one unit more would change the last digit of others' numbers, and
rounding would make whole steps of that.  So kernels use operations that are rounded one element at a time.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import bad
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints
from discreet.schema import Column
from discreet.schema.words import suggestion

Public = Mapping[str, Any]

# A unit moves no number by more, and no pass adds up more units: sums stay within 2⁶².
MOST_STEPS, MOST_UNITS = 2**30, 2**32
MOST_NUMBERS = 2**20  # that one kernel gives
_HOME = "discreet.kernel."
KERNELS = {
    "risk": f"{_HOME}risk:RISK",
    "gram": f"{_HOME}gram:GRAM",
    "leaves": f"{_HOME}leaves:LEAVES",
    "class_moments": f"{_HOME}class_moments:CLASS_MOMENTS",
    "marginals": f"{_HOME}marginals:MARGINALS",
}


class Kernel(Protocol):
    """A sum over units, computed chunk by chunk."""

    def require(self, public: Public, columns: Sequence[Column]) -> None:
        """Refuses parameters and columns that it has no meaning for: all of it public, before anything is charged."""

    def length(self, public: Public) -> int:
        """How many numbers it gives."""

    def per_row(self, public: Public) -> int:
        """How many numbers it makes of one row while it adds up: with more of them a chunk holds fewer rows."""

    def sensitivity(self, public: Public, limit: RowLimit) -> Sensitivity:
        """How far one unit moves them, in steps, from public facts alone."""

    def __call__(self, chunk: UnitRows, public: Public) -> Ints:
        """The sum over the chunk's units; those of all chunks are added up."""


def kernel_of(name: str) -> Kernel:
    """The kernel of that name; a name that is not in the table is refused.

    >>> kernel_of("class_moments").length({"features": [{"low": 0, "high": 9}], "target": {"size": 2}})
    6
    """
    if not isinstance(name, str) or name not in KERNELS:
        similar = suggestion(name, KERNELS) if isinstance(name, str) else None
        fix = f"Did you mean {similar!r}?" if similar else f"There are {', '.join(map(repr, KERNELS))}."
        raise bad("kernel", "must be one that there is", name, fix)
    module, _, attribute = KERNELS[name].partition(":")
    if not module.startswith(_HOME):
        raise bad("kernel", f"must lie in {_HOME}*", module, "Move it there.")
    kernel: Kernel = getattr(import_module(module), attribute)
    return kernel


def plain(public: Any, name: str = "public") -> Any:
    """A copy of public parameters that nobody can change any more, of plain values and arrays of numbers alone."""
    if public is None or isinstance(public, (bool, int, float, str, Decimal, Fraction)):
        return public
    if isinstance(public, np.generic) and public.dtype.kind in "biuf":
        return public.item()
    if type(public) is np.ndarray and public.dtype.kind in "biuf":
        copy = public.copy()
        copy.flags.writeable = False
        return copy
    if isinstance(public, (list, tuple)):
        return [plain(part, name) for part in public]
    if isinstance(public, Mapping) and all(isinstance(key, str) for key in public):
        return {str(key): plain(part, f"{name}[{key!r}]") for key, part in public.items()}
    rule = "must be plain: numbers, texts, lists, dicts with text keys, and numpy arrays of numbers"
    raise bad(name, rule, type(public).__name__, "Send what it holds as plain values.")


def require_keys(public: Public, needed: Sequence[str], optional: Sequence[str]) -> None:
    """Refuses parameters that are missing or that the kernel does not know."""
    known = [*needed, *optional]
    for key in public:
        if key not in known:
            similar = suggestion(key, known)
            raise bad("public", "must hold known parameters only", key, f"Did you mean {similar!r}?" if similar else "")
    for key in needed:
        if key not in public:
            raise bad("public", f"must hold {key!r}", sorted(public), f"Give {', '.join(map(repr, needed))}.")
