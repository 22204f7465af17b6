"""Keys of caches: public parameters as JSON text, so that what was parsed or encoded with them is used again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernel.contract import Public

Number = TypeVar("Number", bound=np.generic)
REMEMBERED = 64  # parsed parameters, which a fit needs some ten times in every pass


def unchangeable(numbers: NDArray[Number]) -> NDArray[Number]:
    """A copy that nobody can change: what was parsed is remembered by a description of its numbers."""
    copy = numbers.copy()
    copy.flags.writeable = False
    return copy


@dataclass(frozen=True)
class Described:
    """Public parameters that are compared by a text of them, so that what was parsed from them is found again."""

    text: str
    public: Public = field(compare=False, repr=False)

    @classmethod
    def of(cls, public: Public, names: Sequence[str]) -> "Described":
        """The parameters of those names, where they are given."""
        own = {name: public[name] for name in names if name in public}
        return cls(description_of(own), own)


def description_of(parameters: Any) -> str:
    """Public parameters as a text, by which what was made with them is found again."""
    return json.dumps(parameters, default=_listing)


def _listing(value: Any) -> Any:
    """What JSON has no form for, with its type: a list and an array of equal numbers are not the same."""
    if isinstance(value, np.ndarray):
        return [type(value).__name__, value.dtype.str, list(value.shape), value.tobytes().hex()]
    return f"{type(value).__name__} {value}"
